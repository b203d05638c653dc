//! A pair of a report or a truth file.

/// A similarity in a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FileSimilarity {
    pub(super) value: f64,
    /// Digits after the decimal point.
    pub(super) decimals: u8,
}

/// The similarities of a pair in its file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct PairScore {
    pub(super) jaccard: Option<FileSimilarity>,
    /// The containment. Only files of runs with this measure have it, besides the Jaccard
    /// similarity.
    pub(super) containment: Option<FileSimilarity>,
}

impl PairScore {
    /// Returns the similarity by the measure of the file's run.
    pub(super) fn measured(self) -> Option<FileSimilarity> {
        self.containment.or(self.jaccard)
    }

    /// Returns the similarities of both by the same measure: containment if both have it.
    pub(super) fn comparable(self, other: Self) -> Option<[FileSimilarity; 2]> {
        let both = |a: Option<FileSimilarity>, b: Option<FileSimilarity>| Some([a?, b?]);
        both(self.containment, other.containment).or_else(|| both(self.jaccard, other.jaccard))
    }
}

/// Two documents by number, the lesser first; numbers are in the order of the ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberedPair {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) score: PairScore,
}

impl NumberedPair {
    pub(super) fn key(&self) -> (u32, u32) {
        (self.a, self.b)
    }
}
