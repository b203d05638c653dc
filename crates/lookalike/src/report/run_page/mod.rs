//! Findings → what the HTML page of a run is made of.
//!
//! ```text
//! groups, first pass → samples ─ read again → texts
//! parameters, counts, sources, audit, texts → Page
//! groups, second pass, and what was skipped → Streams
//! ```

mod parameters;
mod reasons;
mod subject;

pub use subject::RunSubject;

use super::html::{self, ChosenPair, PageSkipped, SampleChoice, Streams};
use super::{EMPTY, Output, notes};
use crate::engine::{self, DocumentNumber, FindError, Findings, Grouping};
use crate::outcome::KeepReason;
use crate::read::Description;
use crate::report::error::OutputError;
use lookalike_core::params::Measure;
use reasons::Reasons;
use std::io;
use std::path::PathBuf;

/// Pairs shown side by side.
const SAMPLES: usize = 12;
/// Bytes of each text that are kept for that: more than the page shows, so that it says so.
const SAMPLE_BYTES: usize = 1 << 16;
/// Documents of groups that are read again for heading, source and date: of the groups that the
/// page has as HTML the keeper and the first duplicates.
const DESCRIBED: usize = 500;
/// Duplicates of a group among them.
const DESCRIBED_DUPLICATES: usize = 20;
/// Groups of which the page shows headings.
const DESCRIBED_GROUPS: usize = 50;
/// Inputs named in the heading.
const NAMED: usize = 3;

/// Writes the page of a run. Texts of the groups that it shows are read again.
///
/// # Errors
/// The output cannot be written, a temporary file cannot be read, or an input cannot be read again.
pub fn write(output: Output, subject: &RunSubject<'_>) -> Result<(), OutputError> {
    let RunSubject { findings, options, .. } = *subject;
    let measure = options.params.measure();
    // An index may keep no texts to show.
    let samples = if findings.has_texts() { samples(findings, measure)? } else { Vec::new() };
    let reasons = Reasons::new(&options.keep, findings.decisions.is_some());
    let mut notes = notes::of(findings).map_err(FindError::of_io)?;
    notes.extend(notes::better_setting(findings));
    let page = html::Page {
        title: &title(subject.inputs),
        parameters: &parameters::rows(subject),
        counts: findings.counts,
        notes: &notes,
        params: &options.params,
        concentration: findings.concentration,
        audit: subject.audit,
        sources: &findings.sources,
        reasons: reasons.texts(),
        chains: options.grouping == Grouping::Components,
        samples: &samples,
        times: &findings.times,
    };
    let mut abouts = if findings.has_texts() { abouts(findings)? } else { Vec::new() }.into_iter();
    let mut groups = findings.groups.iter().map(|group| {
        let mut group = shown(group?, &reasons, measure);
        let mut of_group = abouts.next().unwrap_or_default().into_iter();
        group.about = of_group.next();
        for (duplicate, about) in group.duplicates.iter_mut().zip(of_group) {
            duplicate.about = Some(about);
        }
        Ok(group)
    });
    let mut skipped = skipped(findings);
    output.finish(|out| {
        html::write(out, &page, Streams { groups: &mut groups, skipped: &mut skipped })
    })
}

fn title(inputs: &[PathBuf]) -> String {
    let name = |input: &PathBuf| match input.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => input.display().to_string(),
    };
    let mut names: Vec<String> = inputs.iter().take(NAMED).map(name).collect();
    if let Some(more) = inputs.len().checked_sub(NAMED).filter(|more| *more > 0) {
        names.push(format!("{more} more"));
    }
    // Documents in memory and in an index have no name.
    let Some(last) = names.pop() else { return "Near-duplicates".to_owned() };
    let list = if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) };
    format!("Near-duplicates in {list}")
}

/// The pairs to show, and their texts, which are read again.
fn samples(findings: &Findings, measure: Measure) -> Result<Vec<html::PageSample>, OutputError> {
    let mut choice = SampleChoice::new(SAMPLES);
    for group in findings.groups.iter() {
        let engine::Group { keeper, duplicates } = group.map_err(FindError::of_io)?;
        for duplicate in &duplicates {
            let similarity = millionths(duplicate, measure);
            let documents = [keeper.document, duplicate.document];
            choice.offer(&keeper.id, &duplicate.id, similarity, documents);
        }
    }
    let sample = |pair: ChosenPair| {
        let [keeper, duplicate] = pair.documents;
        Ok(html::PageSample {
            keeper: pair.keeper,
            duplicate: pair.duplicate,
            similarity: pair.similarity,
            keeper_text: beginning(findings, keeper)?,
            duplicate_text: beginning(findings, duplicate)?,
        })
    };
    choice.chosen().into_iter().map(sample).collect()
}

fn beginning(findings: &Findings, document: DocumentNumber) -> Result<String, OutputError> {
    let text = findings.text(document)?;
    // A copy, so that the memory of a long text is given back.
    Ok(text[..text.floor_char_boundary(SAMPLE_BYTES)].to_owned())
}

fn millionths(duplicate: &engine::Duplicate, measure: Measure) -> u32 {
    html::millionths(&duplicate.overlap.six_decimals_of(measure)).unwrap_or_default()
}

fn shown(group: engine::Group, reasons: &Reasons, measure: Measure) -> html::PageGroup {
    let engine::Group { keeper, duplicates } = group;
    let duplicate = |duplicate: engine::Duplicate| html::PageDuplicate {
        about: None,
        similarity: millionths(&duplicate, measure),
        bytes: duplicate.bytes,
        reason: reasons.place(KeepReason::of(&keeper, &duplicate)),
        id: duplicate.id,
    };
    html::PageGroup {
        duplicates: duplicates.into_iter().map(duplicate).collect(),
        keeper: keeper.id,
        about: None,
        bytes: keeper.bytes,
        reference: keeper.reference,
    }
}

/// What the documents of the first groups are recognised by, of each the keeper first. They are
/// read again.
fn abouts(findings: &Findings) -> Result<Vec<Vec<html::About>>, OutputError> {
    let mut abouts = Vec::new();
    let mut left = DESCRIBED;
    for (at, group) in findings.groups.iter().take(DESCRIBED_GROUPS).enumerate() {
        let engine::Group { keeper, duplicates } = group.map_err(FindError::of_io)?;
        // Every later keeper has its turn.
        let spare = left.saturating_sub(DESCRIBED_GROUPS - at);
        let most = spare.min(DESCRIBED_DUPLICATES);
        let duplicates = duplicates.iter().take(most).map(|each| each.document);
        let documents = [keeper.document].into_iter().chain(duplicates);
        let of_group: Vec<_> = documents
            .map(|document| about(findings, document))
            .collect::<Result<_, OutputError>>()?;
        left -= of_group.len();
        abouts.push(of_group);
    }
    Ok(abouts)
}

fn about(findings: &Findings, document: DocumentNumber) -> Result<html::About, OutputError> {
    let Description { title, first_words, source, line, date } = findings.describe(document)?;
    // Without a line, the id of a document begins with its file.
    let source = line.map(|line| format!("{source}, line {line}")).unwrap_or_default();
    let heading = title.unwrap_or(first_words);
    Ok(html::About { heading, source, date: date.unwrap_or_default() })
}

/// First what was not read, then the empty documents.
fn skipped(findings: &Findings) -> impl Iterator<Item = io::Result<PageSkipped>> + '_ {
    let unread = findings.skipped.iter().map(|item| item.map(PageSkipped::from));
    let empty = findings.empty.iter().map(|id| {
        Ok(PageSkipped { id: Some(id?), reason: EMPTY.to_owned(), ..PageSkipped::default() })
    });
    unread.chain(empty)
}
