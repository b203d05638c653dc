//! Measures a sample by a shingle rule.

use super::rules::settings_of;
use super::similarities::{RelatedPairs, SampleSimilarities, sets, similarities};
use crate::progress::{Interruption, Progress, Stage};
use lookalike_core::params::ShingleRule;
use lookalike_core::shingle::Shingler;
use std::time::Instant;

/// A rule is too long if more than this share of the documents has fewer tokens than a shingle.
const MAX_SHORT_SHARE: f64 = 0.05;
/// A rule is saturated if unrelated documents have at least this mean similarity. At 0.05 they
/// share a tenth of their shingles. The means for articles of 260 words are 0.10 for single words,
/// 0.06 for five characters, 0.012 for two words, and below 0.001 from three words on.
const SATURATED_MEAN: f64 = 0.05;

/// The measurements of a sample by a shingle rule.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The rule.
    pub rule: ShingleRule,
    /// The number of documents with at least one token. All other values except `empty` are about
    /// these documents.
    pub documents: usize,
    /// Documents without a token.
    pub empty: usize,
    /// Documents with fewer tokens than a shingle. Each is one shingle, and is similar only to
    /// documents with the same tokens.
    pub short: usize,
    /// The median number of shingles in a document's set.
    pub median_shingles: usize,
    /// Different shingles in all documents.
    pub vocabulary: usize,
    /// The number of these that occur in more than one document.
    pub shared: usize,
    /// The similarities of the documents to each other. Only some documents are compared if all
    /// would take more than about a second.
    pub similarities: SampleSimilarities,
}

impl Profile {
    /// The share of documents with fewer tokens than a shingle, 0 to 1.
    pub fn short_share(&self) -> f64 {
        self.short as f64 / self.documents.max(1) as f64
    }

    /// The share of the vocabulary that occurs in more than one document, 0 to 1.
    pub fn shared_share(&self) -> f64 {
        self.shared as f64 / self.vocabulary.max(1) as f64
    }

    /// Whether unrelated documents are similar: they share a tenth of their shingles on average, or
    /// one such pair in a thousand reaches half of the threshold.
    pub fn is_saturated(&self, threshold: f64) -> bool {
        self.similarities.unrelated_mean() >= SATURATED_MEAN
            || self.similarities.unrelated_quantile(0.999) >= threshold / 2.0
    }

    /// Whether too many documents are shorter than a shingle.
    pub fn is_too_long(&self) -> bool {
        self.short_share() > MAX_SHORT_SHARE
    }

    /// The number of tokens, far from each other, that can be replaced in a document of median
    /// length before the similarity to the original falls below the threshold. Each replacement
    /// changes `k` of `n` shingles, so the similarity after `e` replacements is (n − ek)/(n + ek).
    pub fn tolerated_changes(&self, threshold: f64) -> f64 {
        let n = self.median_shingles as f64;
        let k = self.rule.size() as f64;
        n * (1.0 - threshold) / (k * (1.0 + threshold))
    }
}

/// Measures a sample by each rule. Takes O(n log n) time for `n` shingles in the sample, and at
/// most about a second per rule to compare the documents.
///
/// # Errors
/// [`Interruption`] if the caller cancels.
pub fn measure(
    texts: &[String],
    rules: &[ShingleRule],
    progress: &dyn Progress,
) -> Result<Vec<Profile>, Interruption> {
    let start = Instant::now();
    progress.begin(Stage::Measure, Some((texts.len() * (rules.len() + 1)) as u64));
    let related = RelatedPairs::of(texts, progress)?;
    progress.advance((texts.len() - related.documents) as u64)?;
    let profiles = rules.iter().map(|rule| profile(texts, rule, &related, progress));
    let profiles = profiles.collect::<Result<Vec<_>, _>>()?;
    progress.end(Stage::Measure, start.elapsed());
    Ok(profiles)
}

fn profile(
    texts: &[String],
    rule: &ShingleRule,
    related: &RelatedPairs,
    progress: &dyn Progress,
) -> Result<Profile, Interruption> {
    let tokens = ShingleRule::new(rule.unit(), 1).map(|single| settings_of(rule, single));
    let mut counter = tokens.map(|single| Shingler::new(&single)).ok();
    let sets = sets(texts, rule, progress)?;
    let mut short = 0;
    for (text, set) in texts.iter().zip(&sets) {
        // A set of at least two shingles has enough tokens.
        if let Some(counter) = counter.as_mut().filter(|_| set.len() == 1) {
            short += usize::from(counter.shingle(text).hashes.len() < rule.size());
        }
    }
    let mut sizes: Vec<usize> = sets.iter().map(Vec::len).filter(|size| *size > 0).collect();
    sizes.sort_unstable();
    let (vocabulary, shared) = vocabulary(&sets);
    progress.advance(0)?;
    Ok(Profile {
        rule: rule.clone(),
        documents: sizes.len(),
        empty: texts.len() - sizes.len(),
        short,
        median_shingles: sizes.get(sizes.len() / 2).copied().unwrap_or(0),
        vocabulary,
        shared,
        similarities: similarities(&sets, related, progress)?,
    })
}

/// Returns the number of different shingles, and the number of shingles in more than one document.
fn vocabulary(sets: &[Vec<u64>]) -> (usize, usize) {
    let mut all: Vec<u64> = sets.iter().flatten().copied().collect();
    all.sort_unstable();
    let runs = || all.chunk_by(|a, b| a == b);
    (runs().count(), runs().filter(|run| run.len() > 1).count())
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "fractions that are computed in one way")]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use lookalike_core::params::Unit;

    fn words(size: usize) -> ShingleRule {
        ShingleRule::new(Unit::Words, size).unwrap()
    }

    fn measure(texts: &[String], rules: &[ShingleRule]) -> Vec<Profile> {
        super::measure(texts, rules, &NoProgress).unwrap()
    }

    #[test]
    fn a_profile_by_hand() {
        let texts = ["a b c d", "b c d e", "x y", "--", "a b c d"].map(str::to_owned);
        let profile = &measure(&texts, &[words(3)])[0];
        // {abc bcd} {bcd cde} {xy}, and {abc bcd} repeated.
        assert_eq!((profile.documents, profile.empty, profile.short), (4, 1, 1));
        assert_eq!((profile.vocabulary, profile.shared, profile.median_shingles), (4, 2, 2));
        let third = 1.0 / 3.0;
        assert_eq!(profile.similarities.above_zero(), [third, third, 1.0]);
        assert_eq!(profile.short_share(), 0.25);
        assert_eq!(measure(&texts, &[words(2)])[0].short, 0);
        assert_eq!(measure(&[], &[words(3)])[0].similarities.pairs(), 0);
    }

    #[test]
    fn tolerated_changes_match_the_known_value() {
        let text: Vec<String> = (0..137).map(|i| format!("w{i}")).collect();
        let profile = &measure(&[text.join(" ")], &[words(5)])[0];
        assert_eq!(profile.median_shingles, 133);
        // Two distant changes leave a similarity of 123/143 = 0.86, and three leave 118/148 =
        // 0.797.
        assert!((2.95..2.96).contains(&profile.tolerated_changes(0.8)));
    }
}
