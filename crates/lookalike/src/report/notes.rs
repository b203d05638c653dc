//! Findings → notes: sentences about the documents of a run. Each kind of note has a function.

use super::phrases::{count, one_line, setting_options, thousands};
use crate::engine::{BetterSetting, DecisionCounts, EmptyCopies, Findings, MailRemovals, NoEffect};
use crate::folding::FoldingEffect;
use std::io;

/// Returns all notes except [`better_setting`]. Each note is one line, without a line break.
///
/// # Errors
/// A temporary file cannot be read.
pub fn of(findings: &Findings) -> io::Result<Vec<String>> {
    let mut notes = Vec::from_iter(empty_copies(findings.textless_copies.empty_copies())?);
    notes.extend(findings.decisions.iter().flat_map(decisions));
    notes.extend(line_ids(&findings.line_ids));
    notes.extend(cut_from_mail(&findings.cut_from_mail));
    notes.extend(folding(&findings.folding));
    Ok(notes)
}

/// The note on a setting that finds more, if the run found few documents.
pub fn better_setting(findings: &Findings) -> Option<String> {
    let BetterSetting { used, better } = findings.better_setting.as_ref()?;
    Some(format!(
        "{} of {} have a near-duplicate here, and {} with {} ({} share a passage). Try these \
         options for {} (docs/guides/choosing.md)",
        thousands(used.with_neighbour),
        count(used.documents, "document"),
        thousands(better.with_neighbour),
        setting_options(&better.setting, &used.setting),
        thousands(better.with_passage),
        better.setting.job.name()
    ))
}

fn empty_copies(copies: &EmptyCopies) -> io::Result<Option<String>> {
    let Some(first) = copies.iter().next() else { return Ok(None) };
    let (copy, first) = first?;
    let are = if copies.len() == 1 { "is" } else { "are" };
    let number = thousands(copies.len());
    let copy = one_line(&copy);
    let first = one_line(&first);
    Ok(Some(format!("{number} of the empty ones {are} identical to another: {copy} to {first}")))
}

/// How many decisions were applied, and why others were not.
fn decisions(counts: &DecisionCounts) -> Vec<String> {
    let mut parts =
        vec![count(counts.in_force, "decision"), format!("{} applied", thousands(counts.applied))];
    let reasons = [
        (NoEffect::Changed, "of texts that have changed since"),
        (NoEffect::Unknown, "of documents that are not here"),
        (NoEffect::Empty, "of pairs with a document without a token"),
    ];
    for (reason, phrase) in reasons {
        let number = counts.count(reason);
        if number > 0 {
            parts.push(format!("{} {phrase}", thousands(number)));
        }
    }
    let mut notes = vec![parts.join(", ")];
    if let Some(first) = counts.contradictions.first() {
        let [a, b] = &first.documents;
        let [line, other] = first.lines;
        notes.push(format!(
            "{} among decisions, the first on lines {line} and {other}, about {} and {}",
            count(counts.contradictions.len() as u64, "contradiction"),
            one_line(a),
            one_line(b)
        ));
    }
    notes
}

/// The note on files whose records have no id. Names the first file.
pub fn line_ids(files: &[String]) -> Option<String> {
    let first = one_line(files.first()?);
    let have = if files.len() == 1 { "has" } else { "have" };
    Some(format!(
        "{} of JSON {have} no field \"id\", so ids are FILE:LINE; first {first}",
        count(files.len() as u64, "file")
    ))
}

/// How much was left out of messages.
fn cut_from_mail(cut: &MailRemovals) -> Vec<String> {
    let mut notes = Vec::new();
    if cut.quoting_messages > 0 {
        let messages = count(cut.quoting_messages, "message");
        notes.push(format!("{messages} read without quoted text; --quotes keep reads it"));
    }
    if cut.signed_messages > 0 {
        notes.push(format!(
            "{} read without signatures: {}, {}",
            count(cut.signed_messages, "message"),
            count(cut.signature_words, "word"),
            count(cut.signature_bytes, "byte")
        ));
    }
    notes
}

/// The note on documents whose shingles the normal form `fold` changes. Returns `None` if they are
/// less than 1 % of the sample.
fn folding(effect: &FoldingEffect) -> Option<String> {
    if effect.changed() == 0 || effect.changed() * 100 < effect.documents() {
        return None;
    }
    let scripts: Vec<String> = effect
        .by_script()
        .map(|(script, count)| format!("{script} {}", thousands(count)))
        .collect();
    Some(format!(
        "{} of {} contain letters that other texts may write in another way ({}), such as é in one \
         or two characters. --normalize fold treats these as equal; `lookalike tune` measures the \
         effect",
        thousands(effect.changed()),
        count(effect.documents(), "document"),
        scripts.join(", ")
    ))
}
