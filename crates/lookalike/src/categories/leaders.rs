//! Leaders: documents that define the categories below topics, by similarity.

use lookalike_core::band::bucket_keys;
use lookalike_core::hash::mix64;
use lookalike_core::params::Scheme;
use lookalike_core::signature::Signer;
use lookalike_core::verify::overlap;
use std::collections::HashMap;

/// Values of a signature.
const NUM_HASHES: usize = 128;
/// Bands and rows. A document and a leader with a Jaccard similarity of 0.5 are compared with
/// probability 0.996. For 0.43, the minimum if a document joins by containment at level 0.8, the
/// probability is 0.97.
const BANDS: usize = 42;
const ROWS: usize = 3;

/// The bucket keys of a document's words.
pub(super) type WordKeys = [u64; BANDS];

/// Signs sets of words. Reuses its buffers.
#[derive(Debug)]
pub(super) struct WordSigner {
    signer: Signer,
    upper: Vec<u32>,
}

impl WordSigner {
    pub(super) fn new() -> Self {
        Self { signer: Signer::new(Scheme::FastSimilarity, NUM_HASHES, 1), upper: Vec::new() }
    }

    /// The bucket keys of a set that is not empty.
    pub(super) fn keys(&mut self, words: &[u64]) -> WordKeys {
        self.upper.clear();
        self.upper.extend(words.iter().map(|hash| (hash >> 32) as u32));
        let mut keys = [0; BANDS];
        bucket_keys(self.signer.sign(&self.upper), ROWS, &mut keys);
        keys
    }
}

/// The level of a category, which determines how similar its documents are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CategoryLevel {
    /// 0.2: documents with a common vocabulary, by k-means. No similarity is guaranteed.
    Topic,
    /// 0.5: documents with half of their words in common with a leader.
    Related,
    /// 0.8: documents with four of five words in common with a leader.
    Alike,
}

impl CategoryLevel {
    /// As a number, 0.2, 0.5 or 0.8.
    pub fn similarity(self) -> f64 {
        self.tenths() as f64 / 10.0
    }

    pub(super) fn tenths(self) -> u64 {
        match self {
            Self::Topic => 2,
            Self::Related => 5,
            Self::Alike => 8,
        }
    }

    /// Whether two sets of words reach this level: by Jaccard, or because the larger set contains
    /// nearly all of the smaller and has at most twice as many words. "Nearly all" is a share of at
    /// least (1 + level) / 2.
    fn joins(self, intersection: u64, sizes: [u64; 2]) -> bool {
        let tenths = self.tenths();
        let least = sizes[0].min(sizes[1]);
        let most = sizes[0].max(sizes[1]);
        let union = least + most - intersection;
        let is_contained = 2 * least >= most && 20 * intersection >= (10 + tenths) * least;
        10 * intersection >= tenths * union || is_contained
    }
}

/// Leaders, each within a parent category, with an index to find them.
#[derive(Debug, Clone, Default)]
pub(super) struct Leaders {
    /// The words of each leader: hashes, ascending.
    sets: Vec<Vec<u64>>,
    /// The parent category of each leader.
    parents: Vec<u32>,
    buckets: HashMap<u64, Vec<u32>>,
}

impl Leaders {
    /// Adds a leader and returns its place.
    pub(super) fn add(&mut self, parent: u32, words: Vec<u64>, keys: &WordKeys) -> usize {
        let place = self.sets.len();
        for key in keys {
            self.buckets.entry(within(parent, *key)).or_default().push(place as u32);
        }
        self.sets.push(words);
        self.parents.push(parent);
        place
    }

    /// Returns the leader in `parent` with the greatest Jaccard similarity to these words, among
    /// the leaders that `level` joins with the words. If several have this similarity, returns the
    /// first. `found` is a buffer.
    pub(super) fn closest(
        &self,
        parent: u32,
        level: CategoryLevel,
        (words, keys): (&[u64], &WordKeys),
        found: &mut Vec<u32>,
    ) -> Option<usize> {
        found.clear();
        for key in keys {
            found.extend(self.buckets.get(&within(parent, *key)).into_iter().flatten());
        }
        found.sort_unstable();
        found.dedup();
        let mut best: Option<(usize, [u64; 2])> = None;
        for place in found.iter().map(|place| *place as usize) {
            // A leader of another parent, with probability 2⁻⁶⁴.
            if self.parents[place] != parent {
                continue;
            }
            let common = overlap(words, &self.sets[place]);
            let sizes = [common.left, common.right];
            let union = common.union();
            let is_closer = best.is_none_or(|(_, [intersection, of])| {
                u128::from(common.intersection) * u128::from(of)
                    > u128::from(intersection) * u128::from(union)
            });
            if is_closer && level.joins(common.intersection, sizes) {
                best = Some((place, [common.intersection, union]));
            }
        }
        best.map(|(place, _)| place)
    }
}

/// A bucket key within a category.
fn within(parent: u32, key: u64) -> u64 {
    mix64(key ^ u64::from(parent).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Selects the leaders of a level. In the order of the documents, each document that is not similar
/// to an earlier leader becomes a leader. Then drops the leaders that are the closest leader of
/// fewer than `least` documents. A document consists of its parent, its words and their keys.
pub(super) fn select<'a>(
    documents: impl Iterator<Item = (u32, &'a [u64], &'a WordKeys)> + Clone,
    level: CategoryLevel,
    least: u32,
) -> Vec<(u32, Vec<u64>)> {
    let mut leaders = Leaders::default();
    let mut found = Vec::new();
    for (parent, words, keys) in documents.clone() {
        if leaders.closest(parent, level, (words, keys), &mut found).is_none() {
            leaders.add(parent, words.to_vec(), keys);
        }
    }
    let mut members = vec![0; leaders.sets.len()];
    for (parent, words, keys) in documents {
        if let Some(place) = leaders.closest(parent, level, (words, keys), &mut found) {
            members[place] += 1;
        }
    }
    let all = leaders.parents.into_iter().zip(leaders.sets).zip(members);
    all.filter(|(_, members)| *members >= least).map(|(leader, _)| leader).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(range: std::ops::Range<u64>) -> Vec<u64> {
        let mut words: Vec<u64> = range.map(|word| mix64(word + 1)).collect();
        words.sort_unstable();
        words
    }

    #[test]
    fn levels_join_by_jaccard_or_containment() {
        let (related, alike) = (CategoryLevel::Related, CategoryLevel::Alike);
        assert!(related.joins(10, [15, 15]) && !related.joins(9, [15, 15]));
        assert!(alike.joins(8, [10, 8]) && !alike.joins(7, [9, 8]));
        // 9 of 10 words in one of 20 are enough, but not in one of more than 20.
        assert!(alike.joins(9, [10, 20]) && !alike.joins(9, [10, 21]) && !alike.joins(8, [10, 20]));
        assert!(related.joins(15, [40, 20]) && !related.joins(14, [40, 20]));
    }

    #[test]
    fn closest_leader_belongs_to_the_parent() {
        let mut signer = WordSigner::new();
        let mut leaders = Leaders::default();
        for (parent, words) in [(1, set(0..20)), (1, set(0..24)), (2, set(0..22))] {
            let keys = signer.keys(&words);
            leaders.add(parent, words, &keys);
        }
        let (words, mut found) = (set(0..23), Vec::new());
        let keys = signer.keys(&words);
        let mut closest =
            |parent, level| leaders.closest(parent, level, (&words, &keys), &mut found);
        assert_eq!(closest(1, CategoryLevel::Alike), Some(1));
        assert_eq!(closest(2, CategoryLevel::Alike), Some(2));
        assert_eq!(closest(3, CategoryLevel::Related), None);
    }

    #[test]
    fn small_leaders_are_excluded() {
        let mut signer = WordSigner::new();
        let sets = [set(0..20), set(100..120), set(0..21), set(1..20), set(100..121)];
        let keys: Vec<_> = sets.iter().map(|words| signer.keys(words)).collect();
        let documents = sets.iter().zip(&keys).map(|(words, keys)| (7, words.as_slice(), keys));
        let leaders = |least| select(documents.clone(), CategoryLevel::Related, least);
        assert_eq!(leaders(2), [(7, set(0..20)), (7, set(100..120))]);
        assert_eq!(leaders(3), [(7, set(0..20))]);
        assert!(leaders(4).is_empty());
    }
}
