//! The distribution of the pairs within groups: whether one group has most of them.
//!
//! The predicted recall is the mean over seeds. It is a good estimate for one run if the pairs are
//! independent of each other, such as the pairs of many small groups. In a large cluster of
//! documents that share most of their shingles, pairs of the same similarity have nearly the same
//! values in their signatures. So one seed finds nearly all of them or misses many.

/// The minimum number of documents of a large group.
const LARGE_GROUP: u64 = 50;

/// The size of the largest group, and the number of pairs within all groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupConcentration {
    /// Documents of the largest group, its keeper included; 0 without groups.
    pub largest: u64,
    /// Pairs of documents that are in one group: n(n − 1)/2 for each group of n.
    pub pairs: u64,
}

impl GroupConcentration {
    /// Counts a group with this many duplicates.
    pub(crate) fn add(&mut self, duplicates: u64) {
        let size = duplicates.saturating_add(1);
        self.largest = self.largest.max(size);
        self.pairs = self.pairs.saturating_add(pairs_of(size));
    }

    /// The share of the pairs that are in the largest group, 0 to 1.
    pub fn largest_share(&self) -> f64 {
        pairs_of(self.largest) as f64 / self.pairs.max(1) as f64
    }

    /// Whether the recall of the run depends on one cluster: the largest group has fifty documents
    /// or more, and at least half of the pairs.
    pub fn is_concentrated(&self) -> bool {
        self.largest >= LARGE_GROUP && self.largest_share() >= 0.5
    }
}

fn pairs_of(size: u64) -> u64 {
    let (even, odd) =
        if size.is_multiple_of(2) { (size, size.max(1) - 1) } else { (size - 1, size) };
    (even / 2).saturating_mul(odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_dominant_groups_are_concentrated() {
        let of = |sizes: &[u64]| {
            let mut concentration = GroupConcentration::default();
            for size in sizes {
                concentration.add(size - 1);
            }
            concentration
        };
        assert_eq!(of(&[]), GroupConcentration { largest: 0, pairs: 0 });
        assert_eq!(of(&[2, 3, 4]), GroupConcentration { largest: 4, pairs: 1 + 3 + 6 });
        assert!(!of(&[]).is_concentrated() && !of(&[49]).is_concentrated());
        assert!(of(&[50]).is_concentrated() && of(&[50, 50]).is_concentrated());
        assert!(!of(&[50, 50, 2]).is_concentrated());
        assert!(of(&[100, 2, 3, 4]).largest_share() > 0.99);
        assert!(of(&[u64::MAX, u64::MAX]).is_concentrated());
    }
}
