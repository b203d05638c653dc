//! The similarities of the documents of a sample to each other.

use super::shared_shingles::{MOST_DOCUMENTS, MOST_MEETINGS, shared_shingles};
use crate::progress::{Interruption, Progress};
use lookalike_core::curve::Cost;
use lookalike_core::params::{ShingleRule, Unit};
use lookalike_core::shingle::Shingler;
use lookalike_core::verify::Overlap;

/// Documents that share this number of words in a row are related, regardless of their other
/// content.
pub const RELATED_WORDS: usize = 10;

/// The exact Jaccard similarities of all pairs of some documents.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SampleSimilarities {
    documents: u64,
    above_zero: Vec<f64>,
    unrelated_pairs: u64,
    unrelated_above_zero: Vec<f64>,
}

impl SampleSimilarities {
    /// The number of documents that were compared with each other.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The number of compared pairs: n(n − 1)/2.
    pub fn pairs(&self) -> u64 {
        self.documents * self.documents.saturating_sub(1) / 2
    }

    /// The similarities above 0 of all pairs, ascending; the others are 0.
    pub fn above_zero(&self) -> &[f64] {
        &self.above_zero
    }

    /// The number of pairs of documents that do not share [`RELATED_WORDS`] words in a row.
    pub fn unrelated_pairs(&self) -> u64 {
        self.unrelated_pairs
    }

    /// The mean over the unrelated pairs, 0 to 1; 0 without such pairs.
    pub fn unrelated_mean(&self) -> f64 {
        // `sum` is not used, because it returns −0 for an empty list.
        let sum = self.unrelated_above_zero.iter().fold(0.0, |sum, similarity| sum + similarity);
        sum / self.unrelated_pairs.max(1) as f64
    }

    /// The least similarity that at least this share (0 to 1) of the unrelated pairs does not
    /// exceed; 0 without such pairs.
    pub fn unrelated_quantile(&self, share: f64) -> f64 {
        let pairs = self.unrelated_pairs;
        let rank = ((share.clamp(0.0, 1.0) * pairs as f64).ceil() as u64).clamp(1, pairs.max(1));
        let zeros = pairs.saturating_sub(self.unrelated_above_zero.len() as u64);
        rank.checked_sub(zeros + 1)
            .and_then(|i| self.unrelated_above_zero.get(i as usize).copied())
            .unwrap_or(0.0)
    }

    /// The cost of a run over `documents` documents like these.
    pub fn cost(&self, documents: u64) -> Cost {
        Cost::of_sample(documents, self.documents, self.above_zero.iter().copied())
    }
}

/// The shingle sets of documents. The set of a document without tokens is empty.
pub(super) fn sets(
    texts: &[String],
    rule: &ShingleRule,
    progress: &dyn Progress,
) -> Result<Vec<Vec<u64>>, Interruption> {
    let mut shingler = Shingler::new(rule);
    let mut set = Vec::new();
    let copy = |text: &String| {
        shingler.set(text, &mut set);
        progress.advance(1)?;
        Ok(set.clone())
    };
    texts.iter().map(copy).collect()
}

/// Whether each pair of documents shares [`RELATED_WORDS`] words in a row, as bits.
pub(super) struct RelatedPairs {
    pub(super) documents: usize,
    bits: Vec<u64>,
}

impl RelatedPairs {
    pub(super) fn of(texts: &[String], progress: &dyn Progress) -> Result<Self, Interruption> {
        let documents = texts.len().min(MOST_DOCUMENTS);
        let mut related = Self { documents, bits: vec![0; (documents * documents).div_ceil(64)] };
        if let Ok(rule) = ShingleRule::new(Unit::Words, RELATED_WORDS) {
            let sets = sets(&texts[..documents], &rule, progress)?;
            shared_shingles(&sets, MOST_MEETINGS, progress, |a, b, _| {
                let bit = a * documents + b;
                related.bits[bit / 64] |= 1 << (bit % 64);
            })?;
        }
        Ok(related)
    }

    /// Returns whether `a` and `b` are related. `a` must precede `b`.
    fn get(&self, a: usize, b: usize) -> bool {
        let bit = a * self.documents + b;
        b < self.documents && self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }
}

/// Returns the exact similarities of all pairs of documents, given as ascending sets. Compares only
/// the first documents if all would take too long. Leaves out empty documents.
pub(super) fn similarities(
    sets: &[Vec<u64>],
    related: &RelatedPairs,
    progress: &dyn Progress,
) -> Result<SampleSimilarities, Interruption> {
    let mut found = SampleSimilarities::default();
    let compared = shared_shingles(sets, MOST_MEETINGS, progress, |a, b, intersection| {
        let left = sets[a].len() as u64;
        let right = sets[b].len() as u64;
        let jaccard = Overlap { intersection, left, right }.jaccard();
        found.above_zero.push(jaccard);
        if !related.get(a, b) {
            found.unrelated_above_zero.push(jaccard);
        }
    })?;
    let full: Vec<usize> = (0..compared).filter(|&a| !sets[a].is_empty()).collect();
    found.documents = full.len() as u64;
    for (at, &a) in full.iter().enumerate() {
        found.unrelated_pairs +=
            full[at + 1..].iter().filter(|&&b| !related.get(a, b)).count() as u64;
    }
    found.above_zero.sort_unstable_by(f64::total_cmp);
    found.unrelated_above_zero.sort_unstable_by(f64::total_cmp);
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "fractions that are computed in one way")]
mod tests {
    use super::super::profile::measure;
    use super::*;
    use crate::progress::NoProgress;
    use lookalike_core::verify;
    use proptest::prelude::*;

    fn unrelated() -> RelatedPairs {
        RelatedPairs { documents: 0, bits: Vec::new() }
    }

    fn naive(sets: &[Vec<u64>]) -> Vec<f64> {
        let mut all = Vec::new();
        for (i, a) in sets.iter().enumerate() {
            for b in &sets[i + 1..] {
                all.push(verify::overlap(a, b).jaccard());
            }
        }
        all.retain(|similarity| *similarity > 0.0);
        all.sort_unstable_by(f64::total_cmp);
        all
    }

    proptest! {
        #[test]
        fn similarities_equal_naive_similarities(
            sets in prop::collection::vec(prop::collection::btree_set(0u64..40, 0..20), 0..25),
        ) {
            let sets: Vec<Vec<u64>> = sets.into_iter().map(|s| s.into_iter().collect()).collect();
            let found = similarities(&sets, &unrelated(), &NoProgress).unwrap();
            let full = sets.iter().filter(|set| !set.is_empty()).count() as u64;
            prop_assert_eq!(found.documents(), full);
            prop_assert_eq!(found.above_zero(), naive(&sets));
            prop_assert_eq!(found.unrelated_pairs(), found.pairs());
            prop_assert_eq!(&found.unrelated_above_zero, &found.above_zero);
        }
    }

    #[test]
    fn quantiles_include_disjoint_pairs() {
        let above_zero = vec![0.25, 0.75];
        let found = SampleSimilarities {
            documents: 5,
            above_zero: above_zero.clone(),
            unrelated_pairs: 10,
            unrelated_above_zero: above_zero,
        };
        assert_eq!((found.pairs(), found.unrelated_mean()), (10, 0.1));
        let shares = [0.0, 0.5, 0.8, 0.81, 0.9, 0.91, 1.0];
        let quantiles = shares.map(|share| found.unrelated_quantile(share));
        assert_eq!(quantiles, [0.0, 0.0, 0.0, 0.25, 0.25, 0.75, 0.75]);
        let empty = SampleSimilarities::default();
        let expected = (0, 0.0, 0.0);
        assert_eq!(
            (empty.pairs(), empty.unrelated_mean(), empty.unrelated_quantile(0.9)),
            expected
        );
    }

    #[test]
    fn ten_shared_words_make_documents_related() {
        let ten = "one two three four five six seven eight nine ten";
        let texts = [format!("a {ten} b"), format!("c {ten}"), "two three".to_owned()];
        let related = RelatedPairs::of(&texts, &NoProgress).unwrap();
        assert_eq!([(0, 1), (0, 2), (1, 2)].map(|(a, b)| related.get(a, b)), [true, false, false]);
        let single = &measure(&texts, &[ShingleRule::new(Unit::Words, 1).unwrap()], &NoProgress)
            .unwrap()[0]
            .similarities;
        // 10/13 is related; 2/12 and 2/11 are not.
        assert_eq!(single.above_zero(), [2.0 / 12.0, 2.0 / 11.0, 10.0 / 13.0]);
        assert_eq!((single.pairs(), single.unrelated_pairs()), (3, 2));
        assert_eq!(single.unrelated_quantile(1.0), 2.0 / 11.0);
    }
}
