//! Decisions that are to be added to the log of an index, compared with the last ones that their
//! authors have seen.

use super::decision::{DecisionTarget, ReviewDecision};
use super::log::each_of_index;
use crate::error::Error;
use lookalike_index::index::Index;
use std::collections::HashMap;
use std::sync::Arc;

/// The most conflicts of an error, and the most bytes of their ids.
const LISTED: usize = 1_000;
const LISTED_BYTES: usize = 1 << 20;

/// A decision that was not added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionConflict {
    /// Its place among those that were given, from 0.
    pub position: usize,
    /// The document or the pair that the conflict is about.
    pub documents: Vec<String>,
    /// Why it was not added.
    pub cause: ConflictCause,
}

/// Why a decision was not added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictCause {
    /// The last decision about the document or pair, which its author has not seen.
    Decided(Arc<ReviewDecision>),
    /// The index has no document with one of the ids.
    Unknown,
}

/// Conflicts, the first ones listed.
#[derive(Debug, Default)]
pub(super) struct Conflicts {
    pub(super) listed: Vec<DecisionConflict>,
    pub(super) total: u64,
    bytes: usize,
}

impl Conflicts {
    pub(super) fn add(
        &mut self,
        position: usize,
        target: DecisionTarget<'_>,
        cause: ConflictCause,
    ) {
        self.total += 1;
        let documents = [Some(target.0), target.1];
        let documents: Vec<String> = documents.into_iter().flatten().map(str::to_owned).collect();
        self.bytes += documents.iter().map(String::len).sum::<usize>();
        if self.listed.is_empty() || self.listed.len() < LISTED && self.bytes <= LISTED_BYTES {
            self.listed.push(DecisionConflict { position, documents, cause });
        }
    }
}

/// The last decisions of a log about some targets.
pub(super) struct LastDecisions<'d> {
    /// The place in `last` of each target.
    places: HashMap<DecisionTarget<'d>, usize>,
    last: Vec<Option<Arc<ReviewDecision>>>,
    /// The number up to which the log was read.
    pub(super) through: u64,
}

impl<'d> LastDecisions<'d> {
    /// The targets of some decisions. What all their authors have seen of the log is not read.
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

    /// Reads what was added to the log since the last call.
    pub(super) fn read(&mut self, index: &Index) -> Result<(), Error> {
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

    /// Lists the targets of a decision that were decided about after what its author has seen.
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
