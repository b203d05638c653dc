//! Decisions that were not added to the log of an index, and the reasons.

use super::decision::{DecisionTarget, ReviewDecision};
use std::sync::Arc;

/// The most conflicts of an error, and the most bytes of their ids.
const LISTED: usize = 1_000;
const LISTED_BYTES: usize = 1 << 20;

/// A decision that was not added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionConflict {
    /// Its position among the passed decisions, from 0.
    pub position: usize,
    /// The document or the pair that the conflict is about.
    pub documents: Vec<String>,
    /// The reason.
    pub cause: ConflictCause,
}

/// The reason why a decision was not added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictCause {
    /// The last decision about the document or pair, which its author has not seen.
    Decided(Arc<ReviewDecision>),
    /// One of the ids is not in the index.
    Unknown,
}

/// Conflicts. Only the first ones are listed.
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
