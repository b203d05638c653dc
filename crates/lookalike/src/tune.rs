//! What a collection says about the choice of parameters: a sample in, measurements and advice out.
//!
//! ```text
//! collection  sample → 2,000 documents  measure(rule) → Profile { similarities, vocabulary, … }
//!   profiles  advise → which shingle, and why        similarities  plan → bands, rows, cost
//! ```
//!
//! Most pairs of a large collection are unrelated. What a rule makes of them decides two things:
//! how many become candidates, which is time, and whether "similar" means anything. A text of `l`
//! characters holds almost any shingle of `k` unless the number of possible shingles, cᵏ for an
//! alphabet of c letters that are really used (about 20 in English), is far greater than `l`. Here
//! nothing is assumed about alphabets: the pairs of the sample are compared. Two documents count as
//! unrelated where they have no [`RELATED_WORDS`] words in a row in common.

mod auto;
mod plan;
mod settings;

pub use auto::{ChosenBands, choose_bands};
pub use plan::{BandPlan, MeasuredSample, plan, rules_to_try};
pub use settings::{
    Setting, SettingChanges, SettingJob, SettingProfile, SettingTexts, better_setting,
    measure_settings, settings_to_compare,
};

use crate::error::Error;
use crate::progress::{Interruption, Progress, Stage};
use crate::read::{
    BlockNumber, Collection, Document, DocumentPosition, DocumentSink, ReadBuffers, SkippedItem,
};
use lookalike_core::curve::Cost;
use lookalike_core::error::ParamsError;
use lookalike_core::hash;
use lookalike_core::params::{ShingleRule, Unit};
use lookalike_core::shingle::Shingler;
use lookalike_core::verify::Overlap;
use std::collections::BinaryHeap;
use std::time::Instant;

/// Documents in a sample when the user says nothing: two million pairs, of which 2,000 lie above
/// the 99.9th percentile.
pub const SAMPLE_DOCUMENTS: usize = 2_000;

/// Shingle lengths that are tried when the user names none.
pub const LENGTHS: [(Unit, usize); 10] = [
    (Unit::Words, 1),
    (Unit::Words, 2),
    (Unit::Words, 3),
    (Unit::Words, 4),
    (Unit::Words, 5),
    (Unit::Words, 7),
    (Unit::Words, 10),
    (Unit::Chars, 5),
    (Unit::Chars, 9),
    (Unit::Chars, 13),
];

/// Documents that share this many words in a row are related, whatever else they hold.
pub const RELATED_WORDS: usize = 10;

/// Documents of a sample that are compared at most: 12 million pairs.
const MOST_DOCUMENTS: usize = 5_000;
/// Shingles that are held at a time to compare a sample, 16 bytes each.
const MOST_SHINGLES: usize = 8_000_000;
/// Meetings of two documents in a shingle that are counted; about a second.
const MOST_MEETINGS: u64 = 1_000_000_000;
/// A rule is too long where more than this share of the documents has fewer tokens than a shingle.
const MOST_SHORT: f64 = 0.05;
/// A rule is saturated where unrelated documents have this similarity in the mean. At 0.05 they
/// share a tenth of their shingles. Measured on articles of 260 words: 0.10 for single words, 0.06
/// for five characters, 0.012 for two words, below 0.001 from three words on.
const SATURATED_MEAN: f64 = 0.05;

/// Documents drawn from a collection.
#[derive(Debug)]
pub struct TextSample {
    /// Texts of the sample in random order, so that the first few are a sample, too.
    pub texts: Vec<String>,
    /// Documents of the collection.
    pub documents: u64,
    /// Records and files that could not be read as documents, in no promised order.
    pub skipped: Vec<SkippedItem>,
}

/// Draws `size` documents, or all where there are fewer. One pass on one thread; memory for the
/// texts of the sample.
///
/// A document is drawn by the hash of its id and the seed, so the sample depends on the documents
/// there are, and neither on their order nor on how they are split into files.
///
/// # Errors
/// [`Error::Read`] where the collection cannot be read, [`Error::Interrupted`] where it is not
/// wanted any more.
pub fn sample(
    collection: &Collection,
    size: usize,
    seed: u64,
    progress: &dyn Progress,
) -> Result<TextSample, Error> {
    let start = Instant::now();
    progress.begin(Stage::Draw, collection.bytes());
    let mut draw = Draw {
        size,
        seed: hash::mix64(seed),
        block: None,
        drawn: BinaryHeap::new(),
        documents: 0,
        skipped: Vec::new(),
    };
    let (mut scratch, mut reported) = (ReadBuffers::default(), 0);
    while let Some(block) = collection.next_block()? {
        draw.block = Some(block.number());
        block.read(&mut scratch, &mut draw)?;
        let read = collection.bytes_read();
        progress.advance(read.saturating_sub(reported))?;
        reported = read;
    }
    progress.end(Stage::Draw, start.elapsed());
    let texts = draw.drawn.into_sorted_vec().into_iter().map(|drawn| drawn.text).collect();
    Ok(TextSample { texts, documents: draw.documents, skipped: draw.skipped })
}

/// The documents with the least hashes so far.
struct Draw {
    size: usize,
    seed: u64,
    block: Option<BlockNumber>,
    drawn: BinaryHeap<DrawnDocument>,
    documents: u64,
    skipped: Vec<SkippedItem>,
}

/// Ordered by the hash; equal ids are in reading order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct DrawnDocument {
    key: u64,
    id: String,
    place: (Option<BlockNumber>, DocumentPosition),
    text: String,
}

impl DocumentSink for Draw {
    fn document(&mut self, document: &Document<'_>) {
        let &Document { id, text, place, .. } = document;
        self.documents += 1;
        let key = hash::mix64(hash::token_hash(id.as_bytes()) ^ self.seed);
        let full = self.drawn.len() >= self.size;
        if full && self.drawn.peek().is_none_or(|last| last.key < key) {
            return;
        }
        let place = (self.block, place);
        self.drawn.push(DrawnDocument { key, id: id.to_owned(), place, text: text.to_owned() });
        if full {
            self.drawn.pop();
        }
    }

    fn skipped(&mut self, skipped: SkippedItem) {
        self.skipped.push(skipped);
    }
}

/// The exact Jaccard similarities of all pairs of some documents.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SampleSimilarities {
    documents: u64,
    above_zero: Vec<f64>,
    unrelated_pairs: u64,
    unrelated_above_zero: Vec<f64>,
}

impl SampleSimilarities {
    /// Documents that were compared, each with each.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Pairs that were compared: n(n − 1)/2.
    pub fn pairs(&self) -> u64 {
        self.documents * self.documents.saturating_sub(1) / 2
    }

    /// The similarities above 0 of all pairs, ascending; the others are 0.
    pub fn above_zero(&self) -> &[f64] {
        &self.above_zero
    }

    /// Pairs of documents without [`RELATED_WORDS`] words in a row in common.
    pub fn unrelated_pairs(&self) -> u64 {
        self.unrelated_pairs
    }

    /// The mean over the unrelated pairs, 0 to 1; 0 where there are none.
    pub fn unrelated_mean(&self) -> f64 {
        // Not `sum`, which is −0 for nothing.
        let sum = self.unrelated_above_zero.iter().fold(0.0, |sum, similarity| sum + similarity);
        sum / self.unrelated_pairs.max(1) as f64
    }

    /// The least similarity that at least this share (0 to 1) of the unrelated pairs does not
    /// exceed; 0 where there are none.
    pub fn unrelated_quantile(&self, share: f64) -> f64 {
        let pairs = self.unrelated_pairs;
        let rank = ((share.clamp(0.0, 1.0) * pairs as f64).ceil() as u64).clamp(1, pairs.max(1));
        let zeros = pairs.saturating_sub(self.unrelated_above_zero.len() as u64);
        rank.checked_sub(zeros + 1)
            .and_then(|i| self.unrelated_above_zero.get(i as usize).copied())
            .unwrap_or(0.0)
    }

    /// What a run over `documents` documents like these costs.
    pub fn cost(&self, documents: u64) -> Cost {
        Cost::of_sample(documents, self.documents, self.above_zero.iter().copied())
    }
}

/// What a shingle rule makes of a sample.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The rule.
    pub rule: ShingleRule,
    /// Documents with a token; the other counts are about these.
    pub documents: usize,
    /// Documents without a token.
    pub empty: usize,
    /// Documents of fewer tokens than a shingle. Each is one shingle, and similar only to documents
    /// of the same tokens.
    pub short: usize,
    /// The median number of shingles in a document's set.
    pub median_shingles: usize,
    /// Different shingles in all documents.
    pub vocabulary: usize,
    /// How many of these occur in more than one document.
    pub shared: usize,
    /// How similar the documents are to each other. Fewer documents are compared than there are
    /// where comparing all would take more than about a second.
    pub similarities: SampleSimilarities,
}

impl Profile {
    /// The share of documents of fewer tokens than a shingle, 0 to 1.
    pub fn short_share(&self) -> f64 {
        self.short as f64 / self.documents.max(1) as f64
    }

    /// The share of the vocabulary that occurs in more than one document, 0 to 1.
    pub fn shared_share(&self) -> f64 {
        self.shared as f64 / self.vocabulary.max(1) as f64
    }

    /// Whether unrelated documents look alike: they share a tenth of their shingles in the mean, or
    /// one such pair in a thousand comes half of the way to the threshold.
    pub fn is_saturated(&self, threshold: f64) -> bool {
        self.similarities.unrelated_mean() >= SATURATED_MEAN
            || self.similarities.unrelated_quantile(0.999) >= threshold / 2.0
    }

    /// Whether too many documents are shorter than a shingle.
    pub fn is_too_long(&self) -> bool {
        self.short_share() > MOST_SHORT
    }

    /// How many tokens, far from each other, can be replaced in a document of median length before
    /// the similarity to the original falls below the threshold: each changes `k` of `n` shingles,
    /// so `e` of them leave (n − ek)/(n + ek).
    pub fn tolerated_changes(&self, threshold: f64) -> f64 {
        let (n, k) = (self.median_shingles as f64, self.rule.size() as f64);
        n * (1.0 - threshold) / (k * (1.0 + threshold))
    }
}

/// Measures a sample by each rule. O(n log n) in the shingles of the sample, and about a second at
/// most per rule to compare its documents.
///
/// # Errors
/// [`Interruption`] where it is not wanted any more.
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
        // A set of two shingles or more has all tokens it needs.
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

/// The shingle sets of documents, empty for those without tokens.
fn sets(
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

/// The lengths of [`LENGTHS`] and that of `rule`, each with the settings of `rule` for case, words,
/// stop words and frequencies.
pub fn usual_rules(rule: &ShingleRule) -> Vec<ShingleRule> {
    let mut lengths = LENGTHS.to_vec();
    if !lengths.contains(&(rule.unit(), rule.size())) {
        lengths.push((rule.unit(), rule.size()));
    }
    rules(rule, &lengths).unwrap_or_default()
}

/// The same for other lengths.
///
/// # Errors
/// [`ParamsError::ShingleSize`] for a length out of range.
pub fn rules(
    rule: &ShingleRule,
    lengths: &[(Unit, usize)],
) -> Result<Vec<ShingleRule>, ParamsError> {
    lengths
        .iter()
        .map(|&(unit, size)| Ok(settings_of(rule, ShingleRule::new(unit, size)?)))
        .collect()
}

/// `other` with everything of `rule` but its unit and size.
fn settings_of(rule: &ShingleRule, other: ShingleRule) -> ShingleRule {
    other
        .with_tokens(rule.tokens())
        .with_case(rule.case())
        .with_frequencies(rule.frequencies())
        .with_stop_words(rule.stop_words().cloned())
}

/// Different shingles, and those in more than one document.
fn vocabulary(sets: &[Vec<u64>]) -> (usize, usize) {
    let mut all: Vec<u64> = sets.iter().flatten().copied().collect();
    all.sort_unstable();
    let runs = || all.chunk_by(|a, b| a == b);
    (runs().count(), runs().filter(|run| run.len() > 1).count())
}

/// Which pairs of documents share [`RELATED_WORDS`] words in a row, a bit each.
struct RelatedPairs {
    documents: usize,
    bits: Vec<u64>,
}

impl RelatedPairs {
    fn of(texts: &[String], progress: &dyn Progress) -> Result<Self, Interruption> {
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

    /// For `a` before `b`.
    fn get(&self, a: usize, b: usize) -> bool {
        let bit = a * self.documents + b;
        b < self.documents && self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }
}

/// The exact similarities of all pairs of documents, given as ascending sets; of the first
/// documents only, where all would take too long. Empty documents are left out.
fn similarities(
    sets: &[Vec<u64>],
    related: &RelatedPairs,
    progress: &dyn Progress,
) -> Result<SampleSimilarities, Interruption> {
    let mut found = SampleSimilarities::default();
    let compared = shared_shingles(sets, MOST_MEETINGS, progress, |a, b, intersection| {
        let (left, right) = (sets[a].len() as u64, sets[b].len() as u64);
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

/// Tells of each pair of documents that share a shingle, as `(earlier, later, shared shingles)`,
/// and gives the number of documents that were compared: the first ones only, where all would take
/// too long. Counts through an inverted index, so pairs that share nothing cost nothing.
fn shared_shingles(
    sets: &[Vec<u64>],
    most_meetings: u64,
    progress: &dyn Progress,
    mut pair: impl FnMut(usize, usize, u64),
) -> Result<usize, Interruption> {
    let mut total = 0;
    let fits = sets.iter().take(MOST_DOCUMENTS).take_while(|set| {
        total += set.len();
        total <= MOST_SHINGLES
    });
    let documents = fits.count();
    let postings = postings(&sets[..documents]);
    let lists: Vec<&[(u64, u32)]> = postings.chunk_by(|a, b| a.0 == b.0).collect();
    let documents = affordable(&lists, documents, most_meetings);
    let mut places: Vec<Vec<(u32, u32)>> = vec![Vec::new(); documents];
    for (list, members) in lists.iter().enumerate() {
        let inside = members.partition_point(|member| (member.1 as usize) < documents);
        // The last one has no later document.
        for (at, member) in members[..inside].iter().enumerate().take(inside.saturating_sub(1)) {
            places[member.1 as usize].push((list as u32, at as u32 + 1));
        }
    }
    let mut shared = vec![0u32; documents];
    for (document, places) in places.iter().enumerate() {
        progress.advance(0)?;
        for &(list, from) in places {
            for member in &lists[list as usize][from as usize..] {
                match shared.get_mut(member.1 as usize) {
                    Some(count) => *count += 1,
                    None => break,
                }
            }
        }
        for (other, count) in shared.iter_mut().enumerate().skip(document + 1) {
            if *count > 0 {
                pair(document, other, u64::from(std::mem::take(count)));
            }
        }
    }
    Ok(documents)
}

/// Every shingle with every document that has it, by shingle, then document; those of one document
/// alone left out.
fn postings(sets: &[Vec<u64>]) -> Vec<(u64, u32)> {
    let mut all = Vec::with_capacity(sets.iter().map(Vec::len).sum());
    for (document, set) in (0u32..).zip(sets) {
        all.extend(set.iter().map(|shingle| (*shingle, document)));
    }
    all.sort_unstable();
    let mut kept = 0;
    let mut start = 0;
    while start < all.len() {
        let length =
            all[start..].iter().take_while(|(shingle, _)| *shingle == all[start].0).count();
        if length > 1 {
            all.copy_within(start..start + length, kept);
            kept += length;
        }
        start += length;
    }
    all.truncate(kept);
    all
}

/// The number of first documents that meet at most `most` times in a shingle, two by two.
fn affordable(lists: &[&[(u64, u32)]], mut documents: usize, most: u64) -> usize {
    loop {
        let inside = |list: &&[(u64, u32)]| {
            let n = list.partition_point(|member| (member.1 as usize) < documents) as u64;
            n * n.saturating_sub(1) / 2
        };
        let meetings: u64 = lists.iter().map(inside).sum();
        if meetings <= most || documents <= 2 {
            return documents;
        }
        let share = (most as f64 / meetings as f64).sqrt();
        documents = ((documents as f64 * share) as usize).clamp(2, documents - 1);
    }
}

/// Why a shingle rule is advised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdviceReason {
    /// The rule in use has no fault.
    Fits,
    /// Unrelated documents look alike under the rule in use, and do not under the advised one.
    Saturated,
    /// Many documents are shorter than a shingle of the rule in use.
    TooLong,
    /// Every rule that was tried is saturated or too long; the advised one is least so.
    NoneFits,
}

/// Which of some rules to use, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice {
    /// The place of the advised rule among the profiles.
    pub advised: usize,
    /// The place of the rule in use among the profiles.
    pub current: usize,
    /// Why.
    pub reason: AdviceReason,
}

/// Advises a rule: the one in use, at place `current`, unless unrelated documents look alike under
/// it or many documents are shorter than its shingle; then the nearest length of the same unit that
/// has neither fault, else of the other units. Nothing where no two documents could be compared, or
/// `current` is no place.
pub fn advise(profiles: &[Profile], current: usize, threshold: f64) -> Option<Advice> {
    let used = profiles.get(current).filter(|profile| profile.similarities.pairs() > 0)?;
    let fits = |profile: &Profile| !profile.is_saturated(threshold) && !profile.is_too_long();
    let advice = |advised, reason| Some(Advice { advised, current, reason });
    if fits(used) {
        return advice(current, AdviceReason::Fits);
    }
    let distance = |profile: &Profile| {
        let other_unit = profile.rule.unit() != used.rule.unit();
        (other_unit, profile.rule.size().abs_diff(used.rule.size()))
    };
    let mut places: Vec<usize> = (0..profiles.len()).collect();
    places.sort_by_key(|&place| distance(&profiles[place]));
    let reason =
        if used.is_saturated(threshold) { AdviceReason::Saturated } else { AdviceReason::TooLong };
    if let Some(&place) = places.iter().find(|&&place| fits(&profiles[place])) {
        return advice(place, reason);
    }
    let open: Vec<usize> =
        places.iter().copied().filter(|&place| !profiles[place].is_saturated(threshold)).collect();
    let short = |place: &usize| (profiles[*place].short_share() * 1e6) as u64;
    let mean = |place: &usize| (profiles[*place].similarities.unrelated_mean() * 1e6) as u64;
    let least = open.iter().min_by_key(|p| short(p)).or(places.iter().min_by_key(|p| mean(p)));
    advice(*least?, AdviceReason::NoneFits)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "fractions that are computed in one way")]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::read::{Format, ReadOptions};
    use lookalike_core::verify;
    use proptest::prelude::*;
    use std::fmt::Write;
    use std::fs;

    fn words(size: usize) -> ShingleRule {
        ShingleRule::new(Unit::Words, size).unwrap()
    }

    fn measure(texts: &[String], rules: &[ShingleRule]) -> Vec<Profile> {
        super::measure(texts, rules, &NoProgress).unwrap()
    }

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
        fn similarities_are_those_of_the_double_loop(
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

        #[test]
        fn fewer_documents_where_all_are_too_many(
            sets in prop::collection::vec(prop::collection::btree_set(0u64..20, 1..9), 3..25),
            most in 1u64..500,
        ) {
            let sets: Vec<Vec<u64>> = sets.into_iter().map(|s| s.into_iter().collect()).collect();
            let postings = postings(&sets);
            let lists: Vec<&[(u64, u32)]> = postings.chunk_by(|a, b| a.0 == b.0).collect();
            let documents = affordable(&lists, sets.len(), most);
            let meetings: usize = (0..documents)
                .flat_map(|i| (i + 1..documents).map(move |j| (i, j)))
                .map(|(i, j)| verify::overlap(&sets[i], &sets[j]).intersection as usize)
                .sum();
            prop_assert!(documents == 2 || meetings as u64 <= most);
            prop_assert!((2..=sets.len()).contains(&documents));
        }
    }

    #[test]
    fn quantiles_count_the_pairs_that_share_nothing() {
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
        let none = SampleSimilarities::default();
        let expected = (0, 0.0, 0.0);
        assert_eq!((none.pairs(), none.unrelated_mean(), none.unrelated_quantile(0.9)), expected);
    }

    #[test]
    fn documents_with_ten_words_in_common_are_related() {
        let ten = "one two three four five six seven eight nine ten";
        let texts = [format!("a {ten} b"), format!("c {ten}"), "two three".to_owned()];
        let related = RelatedPairs::of(&texts, &NoProgress).unwrap();
        assert_eq!([(0, 1), (0, 2), (1, 2)].map(|(a, b)| related.get(a, b)), [true, false, false]);
        let single = &measure(&texts, &[words(1)])[0].similarities;
        // 10/13 is related; 2/12 and 2/11 are not.
        assert_eq!(single.above_zero(), [2.0 / 12.0, 2.0 / 11.0, 10.0 / 13.0]);
        assert_eq!((single.pairs(), single.unrelated_pairs()), (3, 2));
        assert_eq!(single.unrelated_quantile(1.0), 2.0 / 11.0);
    }

    #[test]
    fn a_profile_by_hand() {
        let texts = ["a b c d", "b c d e", "x y", "--", "a b c d"].map(str::to_owned);
        let profile = &measure(&texts, &[words(3)])[0];
        // {abc bcd} {bcd cde} {xy} and {abc bcd} again.
        assert_eq!((profile.documents, profile.empty, profile.short), (4, 1, 1));
        assert_eq!((profile.vocabulary, profile.shared, profile.median_shingles), (4, 2, 2));
        let third = 1.0 / 3.0;
        assert_eq!(profile.similarities.above_zero(), [third, third, 1.0]);
        assert_eq!(profile.short_share(), 0.25);
        assert_eq!(measure(&texts, &[words(2)])[0].short, 0);
        assert_eq!(measure(&[], &[words(3)])[0].similarities.pairs(), 0);
    }

    #[test]
    fn changes_that_are_tolerated() {
        let text: Vec<String> = (0..137).map(|i| format!("w{i}")).collect();
        let profile = &measure(&[text.join(" ")], &[words(5)])[0];
        assert_eq!(profile.median_shingles, 133);
        // Two far changes leave 123 of 143 shingles, 0.86; three 118 of 148, 0.797.
        assert!((2.95..2.96).contains(&profile.tolerated_changes(0.8)));
    }

    fn drawn(files: &[(&str, String)], size: usize, seed: u64) -> (Vec<String>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let mut paths = Vec::new();
        for (name, content) in files {
            paths.push(folder.path().join(name));
            fs::write(&paths[paths.len() - 1], content).unwrap();
        }
        let options = ReadOptions { format: Some(Format::Lines), ..ReadOptions::default() };
        let collection = Collection::open(&paths, &options).unwrap();
        let sample = sample(&collection, size, seed, &NoProgress).unwrap();
        (sample.texts, sample.documents)
    }

    #[test]
    fn a_sample_depends_on_the_documents_alone() {
        let lines: Vec<String> = (0..5_000).map(|i| format!("d{i} text {i}\n")).collect();
        let (whole, documents) = drawn(&[("a", lines.concat())], 100, 1);
        assert_eq!((whole.len(), documents), (100, 5_000));
        let mut parts = [String::new(), String::new()];
        for (i, line) in lines.iter().rev().enumerate() {
            write!(parts[i % 2], "{line}").unwrap();
        }
        let [first, second] = parts;
        let split = drawn(&[("b", first), ("c", second)], 100, 1);
        assert_eq!(split, (whole.clone(), 5_000));
        assert_ne!(drawn(&[("a", lines.concat())], 100, 2).0, whole);
        assert_eq!(drawn(&[("a", lines.concat())], 9_000, 1).0.len(), 5_000);
        assert_eq!(drawn(&[("a", lines.concat())], 10, 1).0, whole[..10]);
    }

    /// Documents of `length` words drawn from `vocabulary` words.
    fn texts(documents: u64, length: usize, vocabulary: u64) -> Vec<String> {
        let mut random = hash::SplitMix64::new(1);
        let mut word = || format!("w{}", random.below(vocabulary));
        (0..documents).map(|_| (0..length).map(|_| word()).collect::<Vec<_>>().join(" ")).collect()
    }

    fn advised(texts: &[String], sizes: &[usize], current: usize) -> (usize, AdviceReason) {
        let rules: Vec<ShingleRule> = sizes.iter().map(|&size| words(size)).collect();
        let profiles = measure(texts, &rules);
        let advice = advise(&profiles, current, 0.8).unwrap();
        (sizes[advice.advised], advice.reason)
    }

    #[test]
    fn advice_has_its_reason() {
        // 40 words, 300 tokens a document: one- and two-word shingles are everywhere.
        let same = texts(60, 300, 40);
        assert_eq!(advised(&same, &[1, 2, 3, 5], 3), (5, AdviceReason::Fits));
        assert_eq!(advised(&same, &[1, 2, 3, 5], 0), (3, AdviceReason::Saturated));
        assert_eq!(advised(&same, &[1], 0), (1, AdviceReason::NoneFits));
        // Four words each: a shingle of five is longer than all.
        let short = texts(60, 4, 5_000);
        assert_eq!(advised(&short, &[1, 2, 3, 5], 3), (3, AdviceReason::TooLong));
        assert_eq!(advise(&[], 0, 0.8), None);
        assert_eq!(advise(&measure(&short[..1], &[words(5)]), 0, 0.8), None);
    }

    #[test]
    fn rules_keep_their_settings() {
        let rule = words(6).with_frequencies(true);
        let usual = usual_rules(&rule);
        assert_eq!(usual.len(), LENGTHS.len() + 1);
        assert!(usual.iter().all(ShingleRule::frequencies));
        assert!(rules(&rule, &[(Unit::Words, 0)]).is_err());
    }
}
