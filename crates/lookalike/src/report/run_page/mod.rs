//! Collects the content of the HTML page of a run.
//!
//! ```text
//! groups, first pass → samples ─ read again → texts
//! first groups → descriptions and one pair each ─ read again → GroupTexts
//! parameters, counts, sources, audit, texts → Page
//! groups, second pass, and skipped items → Streams
//! ```

mod address;
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
use address::{folder_of, relative_address};
use lookalike_core::params::Measure;
use reasons::Reasons;
use std::io;
use std::path::{Path, PathBuf};

/// The most pairs to show side by side.
const SAMPLES: usize = 12;
/// The most bytes to keep of each of these texts. This is more than the page shows, so that the
/// page mentions the rest.
const SAMPLE_BYTES: usize = 1 << 15;
/// The most documents to read again for heading, source and date. They are the keepers and the
/// first duplicates of the groups that the page contains as HTML.
const DESCRIBED: usize = 500;
/// The most duplicates of one group among these documents.
const DESCRIBED_DUPLICATES: usize = 20;
/// The most groups whose headings the page shows.
const DESCRIBED_GROUPS: usize = 50;
/// The most inputs to name in the heading.
const NAMED: usize = 3;

/// Writes the page of a run. Texts of the groups that it shows are read again.
///
/// # Errors
/// The output cannot be written, a temporary file cannot be read, or an input cannot be read again.
pub fn write(output: Output, subject: &RunSubject<'_>) -> Result<(), OutputError> {
    let RunSubject { findings, options, .. } = *subject;
    let measure = options.params.measure();
    // An index without texts has none to show.
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
    let texts = if findings.has_texts() {
        group_texts(findings, measure, folder_of(output.path()).as_deref())?
    } else {
        Vec::new()
    };
    let mut texts = texts.into_iter();
    let mut groups = findings.groups.iter().map(|group| {
        let mut group = page_group(group?, &reasons, measure);
        if let Some(GroupTexts { keeper, duplicates, sample }) = texts.next() {
            group.about = Some(keeper);
            for (duplicate, about) in group.duplicates.iter_mut().zip(duplicates) {
                duplicate.about = Some(about);
            }
            group.sample = Some(sample);
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
    // Documents in memory and in an index have no source name.
    let Some(last) = names.pop() else { return "Near-duplicates".to_owned() };
    let list = if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) };
    format!("Near-duplicates in {list}")
}

/// Returns the pairs to show, and reads their texts again.
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
    choice.chosen().into_iter().map(|pair| sample(findings, pair)).collect()
}

/// Returns a pair, and reads its texts again.
fn sample(findings: &Findings, pair: ChosenPair) -> Result<html::PageSample, OutputError> {
    let [keeper, duplicate] = pair.documents;
    Ok(html::PageSample {
        keeper: pair.keeper,
        duplicate: pair.duplicate,
        similarity: pair.similarity,
        keeper_text: beginning(findings, keeper)?,
        duplicate_text: beginning(findings, duplicate)?,
    })
}

fn beginning(findings: &Findings, document: DocumentNumber) -> Result<String, OutputError> {
    let text = findings.text(document)?;
    // A copy releases the memory of a long text.
    Ok(text[..text.floor_char_boundary(SAMPLE_BYTES)].to_owned())
}

fn millionths(duplicate: &engine::Duplicate, measure: Measure) -> u32 {
    html::millionths(&duplicate.overlap.six_decimals_of(measure)).unwrap_or_default()
}

fn page_group(group: engine::Group, reasons: &Reasons, measure: Measure) -> html::PageGroup {
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
        sample: None,
    }
}

/// Parts of a group's texts that were read again.
struct GroupTexts {
    keeper: html::About,
    /// The descriptions of the first duplicates.
    duplicates: Vec<html::About>,
    /// The keeper and the least similar duplicate.
    sample: html::PageSample,
}

/// Reads the texts of the first groups. Links to files are relative to `folder`.
fn group_texts(
    findings: &Findings,
    measure: Measure,
    folder: Option<&Path>,
) -> Result<Vec<GroupTexts>, OutputError> {
    let mut texts = Vec::new();
    let mut remaining = DESCRIBED;
    for (at, group) in findings.groups.iter().take(DESCRIBED_GROUPS).enumerate() {
        let engine::Group { keeper, duplicates } = group.map_err(FindError::of_io)?;
        // Reserve one description for this keeper and for every later one.
        let spare = remaining.saturating_sub(DESCRIBED_GROUPS - at);
        let most = spare.min(DESCRIBED_DUPLICATES);
        let described = duplicates
            .iter()
            .take(most)
            .map(|duplicate| about(findings, duplicate.document, folder))
            .collect::<Result<Vec<_>, OutputError>>()?;
        remaining -= described.len() + 1;
        let similarity = |duplicate: &&engine::Duplicate| millionths(duplicate, measure);
        let Some(least) = duplicates.iter().min_by_key(similarity) else { break };
        let pair = ChosenPair {
            similarity: similarity(&least),
            documents: [keeper.document, least.document],
            duplicate: least.id.clone(),
            keeper: keeper.id,
        };
        texts.push(GroupTexts {
            keeper: about(findings, keeper.document, folder)?,
            duplicates: described,
            sample: sample(findings, pair)?,
        });
    }
    Ok(texts)
}

fn about(
    findings: &Findings,
    document: DocumentNumber,
    folder: Option<&Path>,
) -> Result<html::About, OutputError> {
    let Description { title, first_words, source, line, date } = findings.describe(document)?;
    let heading = title.unwrap_or(first_words);
    let date = date.unwrap_or_default();
    if let Some(line) = line {
        let source = format!("{source}, line {line}");
        return Ok(html::About { heading, source, date, file: String::new() });
    }
    // The id of a document without a line begins with its file, so the source is left empty.
    let file = folder.and_then(|folder| relative_address(folder, Path::new(&source)));
    Ok(html::About { heading, source: String::new(), date, file: file.unwrap_or_default() })
}

/// Iterates over skipped items, then empty documents.
fn skipped(findings: &Findings) -> impl Iterator<Item = io::Result<PageSkipped>> + '_ {
    let unread = findings.skipped.iter().map(|item| item.map(PageSkipped::from));
    let empty = findings.empty.iter().map(|id| {
        Ok(PageSkipped { id: Some(id?), reason: EMPTY.to_owned(), ..PageSkipped::default() })
    });
    unread.chain(empty)
}
