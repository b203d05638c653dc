//! What the components of a batch gave: duplicates, pairs, related documents.

use lookalike_core::verify::Overlap;

/// What documents with equal shingles overlap by; their sizes are not counted.
pub(crate) const EQUAL: Overlap = Overlap { intersection: 1, left: 1, right: 1 };

/// Two members, their overlap, and the number of equal values of their signatures.
pub(crate) type VerifiedPair = (u32, u32, Overlap, Option<u32>);

/// What components gave, by place in the batch.
#[derive(Debug, Default)]
pub(crate) struct BatchResult {
    /// Duplicate, keeper, overlap with the keeper on the left.
    pub(crate) duplicates: Vec<(u32, u32, Overlap)>,
    /// Verified pairs of members, where they were asked for, and how many values of their
    /// signatures are equal, where that was asked for.
    pub(crate) pairs: Vec<VerifiedPair>,
    /// Kept document without a group, the most similar duplicate of another one, and their overlap
    /// with the former on the left; where they were asked for.
    pub(crate) related: Vec<(u32, u32, Overlap)>,
    /// Pairs whose sets were compared, whatever the result.
    pub(crate) compared: u64,
}

impl BatchResult {
    /// Takes in what other components gave.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.duplicates.append(&mut other.duplicates);
        self.pairs.append(&mut other.pairs);
        self.related.append(&mut other.related);
        self.compared += other.compared;
    }
}
