//! Divisions of documents into groups, and the agreement of two such divisions.

use super::pair::{NumberedPair, PairScore};
use lookalike_core::disjoint_sets::DisjointSets;
use std::cmp::Ordering;

/// A division of documents 0 … n−1 into groups.
pub(super) struct Partition {
    /// The group of each document. Group numbers are arbitrary.
    labels: Vec<u32>,
    /// Documents by group, ascending within each.
    order: Vec<u32>,
}

impl Partition {
    /// Creates a partition. `labels[d]` is the group of document `d`.
    pub(super) fn new(labels: Vec<u32>) -> Self {
        let mut order: Vec<u32> = (0..labels.len() as u32).collect();
        order.sort_unstable_by_key(|d| (labels[*d as usize], *d));
        Self { labels, order }
    }

    /// Creates the connected components of pairs of documents below `len`.
    pub(super) fn of_pairs(len: usize, pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut sets = DisjointSets::new(len);
        pairs.for_each(|(a, b)| sets.join(a, b));
        Self::new((0..len as u32).map(|document| sets.first(document)).collect())
    }

    /// Whether both are in the same group.
    pub(super) fn joins(&self, a: u32, b: u32) -> bool {
        self.labels[a as usize] == self.labels[b as usize]
    }

    fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.order.chunk_by(|a, b| self.joins(*a, *b))
    }

    /// The number of pairs of documents in the same group.
    pub(super) fn pairs(&self) -> u64 {
        self.groups().map(|group| of_two(group.len())).sum()
    }

    /// The number of pairs that are in the same group in both partitions of the same documents.
    pub(super) fn shared_pairs(&self, other: &Self) -> u64 {
        let label = |d: u32| (self.labels[d as usize], other.labels[d as usize]);
        let mut order = self.order.clone();
        order.sort_unstable_by_key(|d| label(*d));
        order.chunk_by(|a, b| label(*a) == label(*b)).map(|cell| of_two(cell.len())).sum()
    }

    /// Returns the first `most` pairs in the same group for which `is_selected` is true. Skips
    /// groups that `other` does not divide, because they contain no such pairs.
    pub(super) fn first_pairs(
        &self,
        most: usize,
        other: Option<&Self>,
        is_selected: impl Fn(u32, u32) -> bool,
    ) -> Vec<NumberedPair> {
        let mut found: Vec<NumberedPair> = Vec::new();
        for group in self.groups() {
            // After this position, all documents are in the same group of the other partition.
            let mixed = match other {
                Some(other) => {
                    let last = group.len() - 1;
                    let differs = |d: &u32| !other.joins(*d, group[last]);
                    group.iter().rposition(differs).map_or(0, |place| place + 1)
                }
                None => group.len(),
            };
            let rows = group[..mixed].iter().enumerate();
            let pairs = rows.flat_map(|(i, a)| group[i + 1..].iter().map(move |b| (*a, *b)));
            let pairs = pairs.filter(|(a, b)| is_selected(*a, *b)).take(most);
            found.extend(pairs.map(|(a, b)| NumberedPair { a, b, score: PairScore::default() }));
            // Keep only the smallest pairs, to limit memory.
            if found.len() > 1_000 * most {
                shorten(&mut found, most);
            }
        }
        shorten(&mut found, most);
        found
    }
}

fn shorten(pairs: &mut Vec<NumberedPair>, most: usize) {
    pairs.sort_unstable_by_key(NumberedPair::key);
    pairs.truncate(most);
}

fn of_two(n: usize) -> u64 {
    let n = n as u64;
    n * n.saturating_sub(1) / 2
}

/// Computes the adjusted Rand index of two divisions of the same n documents (Hubert and Arabie,
/// *Comparing partitions*, 1985), with the counts as integers and one division at the end:
///
/// ```text
/// I = Σ C(nᵢⱼ, 2)   A = Σ C(aᵢ, 2)   B = Σ C(bⱼ, 2)   T = C(n, 2)
/// (I − AB/T) / ((A + B)/2 − AB/T)  =  2 (T·I − A·B) / (T·(A + B) − 2·A·B)
/// ```
///
/// The denominator is 0 exactly if both divisions consist of single documents, or both of one
/// group, or there are fewer than two documents. The divisions are equal then, and the index is 1.
pub(super) fn adjusted_rand_index(x: &Partition, y: &Partition) -> f64 {
    let total = u128::from(of_two(x.labels.len()));
    let index = x.shared_pairs(y);
    let a = x.pairs();
    let b = y.pairs();
    let index = u128::from(index);
    let a = u128::from(a);
    let b = u128::from(b);
    // T is below 2⁶³ and the others are at most T, so nothing here reaches 2¹²⁸.
    let denominator = total * (a + b) - 2 * a * b;
    if denominator == 0 {
        return 1.0;
    }
    let reached = 2 * total * index;
    let expected = 2 * a * b;
    match reached.cmp(&expected) {
        Ordering::Less => -((expected - reached) as f64 / denominator as f64),
        _ => (reached - expected) as f64 / denominator as f64,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "the values are meant to be exact")]

    use super::*;

    fn index(x: &[u32], y: &[u32]) -> f64 {
        adjusted_rand_index(&Partition::new(x.to_vec()), &Partition::new(y.to_vec()))
    }

    #[test]
    fn known_values_of_the_index() {
        // Expected values from scikit-learn.
        assert_eq!(index(&[0, 0, 1, 1], &[1, 1, 0, 0]), 1.0);
        assert!((index(&[0, 0, 1, 2], &[0, 0, 1, 1]) - 0.571_428_571_428_571_4).abs() < 1e-15);
        assert!((index(&[0, 0, 1, 1], &[0, 1, 0, 1]) + 0.5).abs() < 1e-15);
        assert_eq!(index(&[0, 0, 0, 0], &[0, 1, 2, 3]), 0.0);
    }

    #[test]
    fn degenerate_divisions_agree_with_themselves() {
        assert_eq!(index(&[], &[]), 1.0);
        assert_eq!(index(&[0], &[7]), 1.0);
        assert_eq!(index(&[0, 1, 2], &[2, 0, 1]), 1.0);
        assert_eq!(index(&[5, 5, 5], &[1, 1, 1]), 1.0);
    }

    #[test]
    fn the_largest_collections_do_not_overflow() {
        // Counts of 2³² documents, set manually.
        let total = u128::from(of_two(u32::MAX as usize));
        assert!(total.checked_mul(total + total).is_some());
        assert!((2 * total).checked_mul(total).is_some());
    }

    #[test]
    fn pairs_join_to_components() {
        let joined = Partition::of_pairs(6, [(0, 1), (4, 5), (1, 5)].into_iter());
        assert!(joined.joins(0, 4) && !joined.joins(2, 3));
        assert_eq!(joined.pairs(), 6);
    }

    #[test]
    fn first_pairs_are_smallest_divided_pairs() {
        let partition = Partition::new(vec![9, 9, 9, 9, 1, 1]);
        let other = Partition::new(vec![0, 0, 0, 1, 2, 3]);
        let first = |most| {
            let pairs = partition.first_pairs(most, Some(&other), |a, b| !other.joins(a, b));
            pairs.iter().map(NumberedPair::key).collect::<Vec<_>>()
        };
        assert_eq!(first(9), [(0, 3), (1, 3), (2, 3), (4, 5)]);
        assert_eq!(first(2), [(0, 3), (1, 3)]);
    }
}
