//! Adds decisions to the log of an index, unless their authors have not seen the last ones.

use super::conflict::{ConflictCause, Conflicts};
use super::decision::{DecisionTarget, ReviewDecision};
use super::error::DecisionError;
use super::log::each_of_index;
use crate::read::Content;
use lookalike_index::backend::Snapshot;
use lookalike_index::entry::{IndexRecord, RecordFields};
use lookalike_index::index::Index;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Counts of decisions added to an index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AddedDecisions {
    /// The number of added decisions.
    pub added: u64,
    /// The number of added decisions that name a document which is not in the index.
    pub unknown: u64,
    /// The number of the last decision of the index.
    pub last: u64,
}

/// How to handle decisions about documents that are not in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownDocuments {
    /// The decisions are added and counted, for example if they come from the log of another index.
    Keep,
    /// The decisions are conflicts, so the documents of the index bound the size of the log.
    Refuse,
}

/// Adds decisions to the log of an index, all or none. A decision without hashes gets the hashes of
/// the texts that the index keeps, and a decision without a time gets `now`.
///
/// A decision conflicts with the log if its author has not [`seen`](ReviewDecision::seen) the last
/// decision about its pair or documents. Without `seen`, any earlier decision about them is a
/// conflict. Decisions of one call do not conflict with each other. Cost: reads the log from the
/// least `seen` on.
///
/// # Errors
/// [`DecisionError::Conflicts`] with the decisions that were not seen, and with the documents that
/// are not in the index if these are refused; read and write errors of the index.
pub fn add_to_index(
    index: &Index,
    decisions: Vec<ReviewDecision>,
    now: &str,
    of_unknown: UnknownDocuments,
) -> Result<AddedDecisions, DecisionError> {
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
            return Err(DecisionError::Conflicts { conflicts: listed, total });
        }
        // If this returns `None`, another writer has added decisions, which may be about the same
        // documents.
        if let Some(last) = index.add_decisions(&entries, Some(last.through))? {
            let added = entries.len() as u64;
            let unknown = unknown.len() as u64;
            return Ok(AddedDecisions { added, unknown, last });
        }
    }
}

/// Adds missing hashes of texts and missing times to decisions. Also returns the positions of
/// decisions about documents that are not in the index.
fn completed(
    index: &Index,
    mut decisions: Vec<ReviewDecision>,
    now: &str,
) -> Result<(Vec<ReviewDecision>, HashSet<usize>), DecisionError> {
    let mut unknown = HashSet::new();
    // All documents come from one snapshot, which is dropped before the log is written.
    let mut mentioned = MentionedDocuments { snapshot: index.snapshot()?, read: HashMap::new() };
    for (position, decision) in decisions.iter_mut().enumerate() {
        decision.when.get_or_insert_with(|| now.to_owned());
        let documents = decision.documents.iter().map(|id| mentioned.document(id));
        let documents = documents.collect::<Result<Vec<MentionedDocument>, DecisionError>>()?;
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

/// A document that a decision names, as found in the index.
#[derive(Debug, Clone, Copy)]
struct MentionedDocument {
    is_stored: bool,
    /// The hash of its text, if the index keeps the text.
    content: Option<Content>,
}

impl MentionedDocuments {
    fn document(&mut self, id: &str) -> Result<MentionedDocument, DecisionError> {
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

/// The last decisions of a log about some targets.
pub(super) struct LastDecisions<'d> {
    /// The index into `last` for each target.
    places: HashMap<DecisionTarget<'d>, usize>,
    last: Vec<Option<Arc<ReviewDecision>>>,
    /// The number up to which the log was read.
    pub(super) through: u64,
}

impl<'d> LastDecisions<'d> {
    /// Collects the targets of some decisions, to read the last decisions about them. Skips the
    /// part of the log that all their authors have seen.
    pub(super) fn new(decisions: &'d [ReviewDecision]) -> Self {
        let mut places = HashMap::new();
        for target in decisions.iter().flat_map(ReviewDecision::targets) {
            let next = places.len();
            places.entry(target).or_insert(next);
        }
        let last = vec![None; places.len()];
        let seen = decisions.iter().map(|decision| decision.seen.unwrap_or(0));
        Self { places, last, through: seen.min().unwrap_or(u64::MAX) }
    }

    /// Reads the entries added to the log since the last call.
    pub(super) fn read(&mut self, index: &Index) -> Result<(), DecisionError> {
        let Self { places, last, through } = self;
        each_of_index(index, *through, &mut |decision| {
            *through = decision.line;
            // A note is not part of a conflict.
            let decision = Arc::new(ReviewDecision { note: None, ..decision });
            for target in decision.targets() {
                if let Some(place) = places.get(&target) {
                    last[*place] = Some(Arc::clone(&decision));
                }
            }
        })
    }

    /// Adds a conflict for each target about which the log has a later decision than the author of
    /// this decision has seen.
    pub(super) fn compare(
        &self,
        position: usize,
        decision: &ReviewDecision,
        conflicts: &mut Conflicts,
    ) {
        for target in decision.targets() {
            let last = self.places.get(&target).and_then(|place| self.last[*place].as_ref());
            if let Some(last) = last.filter(|last| last.line > decision.seen.unwrap_or(0)) {
                conflicts.add(position, target, ConflictCause::Decided(Arc::clone(last)));
            }
        }
    }
}
