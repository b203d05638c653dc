//! The decisions that an index keeps: read from its log, and added to it.

use super::conflict::{ConflictCause, Conflicts, LastDecisions};
use super::decision::ReviewDecision;
use super::file::decision;
use crate::error::{DecisionError, Error};
use crate::read::Content;
use lookalike_index::backend::Snapshot;
use lookalike_index::entry::{IndexRecord, RecordFields};
use lookalike_index::index::Index;
use std::collections::{HashMap, HashSet};

/// How many decisions are read at a time. Reading ends with the page of the first that is wrong.
const PAGE: usize = 128;

/// What became of decisions that were added to an index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AddedDecisions {
    /// How many were added.
    pub added: u64,
    /// How many of them name a document that is not in the index.
    pub unknown: u64,
    /// The number of the last decision of the index.
    pub last: u64,
}

/// The decisions of an index that are numbered above `after`, by their numbers, which are the lines
/// of the decisions.
///
/// # Errors
/// As [`each_of_index`].
pub fn of_index(index: &Index, after: u64) -> Result<Vec<ReviewDecision>, Error> {
    let mut decisions = Vec::new();
    each_of_index(index, after, &mut |decision| decisions.push(decision))?;
    Ok(decisions)
}

/// Gives the decisions of an index that are numbered above `after` to `each`, one after the other;
/// some at a time are in memory.
///
/// # Errors
/// Read errors of the index, [`Error::Decisions`] for an entry that is no decision; `each` has
/// then had those before it.
pub fn each_of_index(
    index: &Index,
    after: u64,
    each: &mut dyn FnMut(ReviewDecision),
) -> Result<(), Error> {
    let (mut snapshot, mut after) = (index.snapshot()?, after);
    let mut page = Vec::with_capacity(PAGE);
    loop {
        let count = snapshot.decisions(after, PAGE, &mut |line, json| {
            page.push((line, decision(json.as_bytes(), line)));
            Ok(())
        })?;
        for (line, parsed) in page.drain(..) {
            let parsed = parsed.map_err(|problem| DecisionError::Line {
                path: index.name().into(),
                line,
                problem,
            })?;
            parsed.into_iter().for_each(&mut *each);
            after = line;
        }
        if count < PAGE {
            return Ok(());
        }
    }
}

/// Whether decisions about documents that an index does not have are added to its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownDocuments {
    /// They are added and counted, for example from a log of another index.
    Keep,
    /// They are conflicts, so that the log is bounded by the documents.
    Refuse,
}

/// Adds decisions to the log of an index, all or none. A decision without hashes gets those of the
/// texts that the index keeps, and one without a time gets `now`.
///
/// A decision is added only if nothing was decided about its pair or documents after the decision
/// that its author has [`seen`](ReviewDecision::seen), or at all where it names none. Decisions of
/// one call do not conflict with each other. Cost: the log is read from the least `seen` on.
///
/// # Errors
/// [`DecisionError::Conflicts`] with the decisions that were not seen, and the documents that the
/// index does not have where they are refused; read and write errors of the index.
pub fn add_to_index(
    index: &Index,
    decisions: Vec<ReviewDecision>,
    now: &str,
    of_unknown: UnknownDocuments,
) -> Result<AddedDecisions, Error> {
    let (decisions, unknown) = completed(index, decisions, now)?;
    let entries: Vec<String> = decisions.iter().map(ReviewDecision::to_json).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let mut last = LastDecisions::new(&decisions);
    loop {
        last.read(index)?;
        let mut conflicts = Conflicts::default();
        for (position, decision) in decisions.iter().enumerate() {
            if of_unknown == UnknownDocuments::Refuse && unknown.contains(&position) {
                for target in decision.targets() {
                    conflicts.add(position, target, ConflictCause::Unknown);
                }
            } else {
                last.compare(position, decision, &mut conflicts);
            }
        }
        let Conflicts { listed, total, .. } = conflicts;
        if total > 0 {
            return Err(DecisionError::Conflicts { conflicts: listed, total }.into());
        }
        // Otherwise another writer has added decisions, which may be about the same documents.
        if let Some(last) = index.add_decisions(&entries, Some(last.through))? {
            let (added, unknown) = (entries.len() as u64, unknown.len() as u64);
            return Ok(AddedDecisions { added, unknown, last });
        }
    }
}

/// Decisions with the hashes of texts and the time that they do not name, and the places of those
/// about documents that the index does not have.
fn completed(
    index: &Index,
    mut decisions: Vec<ReviewDecision>,
    now: &str,
) -> Result<(Vec<ReviewDecision>, HashSet<usize>), Error> {
    let mut unknown = HashSet::new();
    // All are about the documents of one moment, and the snapshot ends before the log is written.
    let mut mentioned = MentionedDocuments { snapshot: index.snapshot()?, read: HashMap::new() };
    for (position, decision) in decisions.iter_mut().enumerate() {
        decision.when.get_or_insert_with(|| now.to_owned());
        let documents = decision.documents.iter().map(|id| mentioned.document(id));
        let documents = documents.collect::<Result<Vec<MentionedDocument>, Error>>()?;
        if decision.contents.is_empty()
            && documents.iter().any(|document| document.content.is_some())
        {
            decision.contents = documents.iter().map(|document| document.content).collect();
        }
        if documents.iter().any(|document| !document.is_stored) {
            unknown.insert(position);
        }
    }
    Ok((decisions, unknown))
}

/// The documents that decisions name, each read once.
struct MentionedDocuments {
    snapshot: Box<dyn Snapshot>,
    read: HashMap<String, MentionedDocument>,
}

/// What an index has of a document that a decision names.
#[derive(Debug, Clone, Copy)]
struct MentionedDocument {
    is_stored: bool,
    /// The hash of its text, where the index keeps it.
    content: Option<Content>,
}

impl MentionedDocuments {
    fn document(&mut self, id: &str) -> Result<MentionedDocument, Error> {
        if let Some(read) = self.read.get(id) {
            return Ok(*read);
        }
        let wanted = RecordFields { text: true, ..RecordFields::default() };
        let number = self.snapshot.number_of(id)?;
        let mut document = MentionedDocument { is_stored: number.is_some(), content: None };
        self.snapshot.records(number.as_slice(), wanted, &mut |record: &IndexRecord| {
            document.content = record.text.as_ref().map(|text| Content::of(text.as_bytes()));
            Ok(())
        })?;
        self.read.insert(id.to_owned(), document);
        Ok(document)
    }
}
