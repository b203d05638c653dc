//! Results of the components of a batch: duplicates, pairs and related documents.

use crate::engine::ids::BatchIndex;
use lookalike_core::verify::Overlap;

/// The overlap of documents with equal shingles; their sizes are not counted.
pub(crate) const EQUAL: Overlap = Overlap { intersection: 1, left: 1, right: 1 };

/// A document that is not kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecidedDuplicate {
    pub(crate) document: BatchIndex,
    pub(crate) keeper: BatchIndex,
    /// The keeper is on the left.
    pub(crate) overlap: Overlap,
}

/// Two documents whose similarity reaches the threshold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VerifiedPair {
    pub(crate) a: BatchIndex,
    pub(crate) b: BatchIndex,
    pub(crate) overlap: Overlap,
    /// The number of equal values of their signatures, if estimates are requested.
    pub(crate) equal_values: Option<u32>,
}

/// A kept document without a group, and the most similar duplicate of another keeper.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RelatedPair {
    pub(crate) document: BatchIndex,
    pub(crate) neighbour: BatchIndex,
    /// The kept document is on the left.
    pub(crate) overlap: Overlap,
}

/// Results of some components of a batch.
#[derive(Debug, Default)]
pub(crate) struct BatchResult {
    pub(crate) duplicates: Vec<DecidedDuplicate>,
    /// Pairs of documents that represent members, if pairs are listed.
    pub(crate) pairs: Vec<VerifiedPair>,
    /// Empty unless related documents are requested.
    pub(crate) related: Vec<RelatedPair>,
    /// Pairs whose sets were compared, whatever the result.
    pub(crate) compared: u64,
}

impl BatchResult {
    /// Adds the results of other components.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.duplicates.append(&mut other.duplicates);
        self.pairs.append(&mut other.pairs);
        self.related.append(&mut other.related);
        self.compared += other.compared;
    }
}
