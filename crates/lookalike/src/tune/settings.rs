//! Counts the documents with a neighbour, by the run's setting and by the settings of
//! `docs/guides/choosing.md`.
//!
//! ```text
//! texts ─ candidates (settings) ─ neighbours (exact, all pairs) → SettingProfile …
//!   ─ better_setting → the setting that finds clearly more pairs above the background
//! ```
//!
//! It is unknown which pairs users would call similar, and most pairs of a collection are
//! unrelated. Two measurements determine whether the pairs of a setting are well above that
//! background:
//!
//! * Jaccard: 99 of 100 pairs of the collection reach at most half of the threshold.
//! * Containment: nine of ten documents with a neighbour share a *passage* with a neighbour. A
//!   passage is three shingles of five words that at most a fifth of the documents have. Texts on
//!   one subject can share many words and no passage. Of 300 newswire articles drawn at random, 112
//!   have a neighbour by a bag of words without stop words at 0.4, and 25 of these share a passage
//!   with a neighbour. Of 100 students' answers with copies among them, 60 have a neighbour by two
//!   words at 0.3, and all 60 share a passage.

use super::rules::settings_of;
use super::shared_shingles::shared_shingles;
use crate::engine::{Setting, SettingJob, SettingProfile};
use crate::progress::{Interruption, Progress};
use crate::read::language_of;
use crate::stop_words::stop_words;
use lookalike_core::params::{Measure, ShingleRule, Unit};
use lookalike_core::shingle::Shingler;
use lookalike_core::verify::Overlap;
use std::collections::{BTreeMap, HashSet};

/// The number of documents that determine the language of the stop words.
const LANGUAGE_SAMPLE: usize = 100;
/// One in this number of pairs may be above the background.
const BACKGROUND_PAIRS: u64 = 100;
/// The number of words of a shingle of a passage.
const PASSAGE_WORDS: usize = 5;
/// The number of common shingles of [`PASSAGE_WORDS`] words that form a passage.
const PASSAGE_SHINGLES: u64 = 3;
/// A shingle in more than `1 / PASSAGE_DOCUMENTS` of the documents does not count for a passage.
const PASSAGE_DOCUMENTS: usize = 5;
/// Among the clearly better settings, the first that finds this share of the maximum is
/// recommended.
const NEARLY_MOST: f64 = 0.95;
/// The least number of shingles in a contained set. Containment of a smaller set is chance. For
/// example, a title shares its words with many texts.
const LEAST_CONTAINED: u64 = 10;

/// The documents for measuring settings.
pub struct SettingTexts<'a> {
    /// The texts.
    pub texts: &'a [String],
    /// Whether each text belongs to a reference collection. Two such texts are not a pair. If this
    /// slice is shorter than `texts`, the remaining texts are not references.
    pub reference: &'a [bool],
    /// Whether the stop words of its language have already been removed from each text.
    pub without_stop_words: bool,
    /// The most meetings to count for each setting. Two documents meet in each shingle that they
    /// share.
    pub most_meetings: u64,
}

impl SettingTexts<'_> {
    fn is_reference(&self, document: usize) -> bool {
        self.reference.get(document).copied().unwrap_or(false)
    }

    fn sets(
        &self,
        rule: &ShingleRule,
        progress: &dyn Progress,
    ) -> Result<Vec<Vec<u64>>, Interruption> {
        let mut shingler = Shingler::new(rule);
        let set_of = |text: &String| {
            let mut set = Vec::new();
            shingler.set(text, &mut set);
            progress.advance(0)?;
            Ok(set)
        };
        self.texts.iter().map(set_of).collect()
    }
}

/// Returns the current setting, then the settings of `docs/guides/choosing.md` that find further
/// pairs.
pub fn settings_to_compare(used: Setting, texts: &SettingTexts<'_>) -> Vec<Setting> {
    let words = |size| {
        let rule = ShingleRule::new(Unit::Words, size).ok()?;
        Some(settings_of(&used.rule, rule))
    };
    let bag_without_stop_words = || {
        let bag = words(1)?;
        if texts.without_stop_words || bag.stop_words().is_some() {
            return Some(bag);
        }
        let list = stop_words(most_frequent_language(texts.texts)?).ok()?;
        Some(bag.with_stop_words(Some(list)))
    };
    let same = Some(used.rule.clone());
    let all = [
        (SettingJob::Versions, Measure::Jaccard, same.clone(), 0.5),
        (SettingJob::Parts, Measure::Containment, same, 0.5),
        (SettingJob::ShortRecords, Measure::Jaccard, words(1), 0.8),
        (SettingJob::Revised, Measure::Containment, words(2), 0.3),
        (SettingJob::Rewritten, Measure::Containment, bag_without_stop_words(), 0.4),
    ];
    let mut settings = vec![used];
    for (job, measure, rule, threshold) in all {
        let Some(rule) = rule else { continue };
        let setting = Setting { job, measure, rule, threshold };
        // The containment of a pair is at least its Jaccard similarity.
        let is_narrower = measure == Measure::Jaccard && settings[0].measure != measure;
        if !is_narrower && !settings[0].covers(&setting) {
            settings.push(setting);
        }
    }
    settings
}

/// Returns the ISO 639-1 code of the most frequent language of the first documents. Among equally
/// frequent ones, the first by code.
fn most_frequent_language(texts: &[String]) -> Option<&'static str> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for language in texts.iter().take(LANGUAGE_SAMPLE).filter_map(|text| language_of(text)) {
        *counts.entry(language).or_default() += 1;
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(language, _)| language)
}

/// The numbers of compared documents and pairs.
struct ComparedDocuments {
    /// All documents.
    count: u64,
    /// Pairs with at least one document that is not a reference.
    pairs: u64,
}

impl ComparedDocuments {
    /// Counts the documents whose set is not empty.
    fn with_token(sets: &[Vec<u64>], texts: &SettingTexts<'_>) -> Self {
        let full = || (0..sets.len()).filter(|document| !sets[*document].is_empty());
        let count = full().count() as u64;
        let references = full().filter(|document| texts.is_reference(*document)).count() as u64;
        let pairs_of = |n: u64| n * n.saturating_sub(1) / 2;
        Self { count, pairs: pairs_of(count) - pairs_of(references) }
    }
}

/// Measures settings exactly. Leaves out settings by which not all documents can be compared within
/// the limits.
///
/// # Errors
/// [`Interruption`] if the caller cancels.
pub fn measure_settings(
    settings: &[Setting],
    texts: &SettingTexts<'_>,
    progress: &dyn Progress,
) -> Result<Vec<SettingProfile>, Interruption> {
    let Some(used) = settings.first() else { return Ok(Vec::new()) };
    let Some(passages) = passages(&used.rule, texts, progress)? else { return Ok(Vec::new()) };
    let mut profiles = Vec::new();
    let mut with_token = None;
    for setting in settings {
        let sets = texts.sets(&setting.rule, progress)?;
        // The shares of all settings refer to the same documents.
        let with_token =
            with_token.get_or_insert_with(|| ComparedDocuments::with_token(&sets, texts));
        profiles.extend(neighbours(setting, &sets, texts, with_token, &passages, progress)?);
    }
    Ok(profiles)
}

/// Returns the pairs of documents that share a passage; `None` if not all can be compared.
fn passages(
    used: &ShingleRule,
    texts: &SettingTexts<'_>,
    progress: &dyn Progress,
) -> Result<Option<HashSet<(usize, usize)>>, Interruption> {
    let Ok(rule) = ShingleRule::new(Unit::Words, PASSAGE_WORDS) else { return Ok(None) };
    let mut sets = texts.sets(&rule.with_tokens(used.tokens()), progress)?;
    let most = (sets.len() / PASSAGE_DOCUMENTS).max(2);
    let mut all: Vec<u64> = sets.iter().flatten().copied().collect();
    all.sort_unstable();
    let phrases: HashSet<u64> =
        all.chunk_by(|a, b| a == b).filter(|run| run.len() > most).map(|run| run[0]).collect();
    for set in &mut sets {
        set.retain(|shingle| !phrases.contains(shingle));
    }
    let mut pairs = HashSet::new();
    let compared = shared_shingles(&sets, texts.most_meetings, progress, |a, b, shared| {
        if shared >= PASSAGE_SHINGLES {
            pairs.insert((a, b));
        }
    })?;
    Ok((compared == sets.len()).then_some(pairs))
}

fn neighbours(
    setting: &Setting,
    sets: &[Vec<u64>],
    texts: &SettingTexts<'_>,
    documents: &ComparedDocuments,
    passages: &HashSet<(usize, usize)>,
    progress: &dyn Progress,
) -> Result<Option<SettingProfile>, Interruption> {
    let Setting { measure, threshold, .. } = *setting;
    let mut similarities = Vec::new();
    let mut has_neighbour = vec![false; sets.len()];
    let mut pairs = 0;
    let mut has_passage = vec![false; sets.len()];
    let compared = shared_shingles(sets, texts.most_meetings, progress, |a, b, intersection| {
        if texts.is_reference(a) && texts.is_reference(b) {
            return;
        }
        let left = sets[a].len() as u64;
        let right = sets[b].len() as u64;
        if measure == Measure::Containment && left.min(right) < LEAST_CONTAINED {
            return;
        }
        let overlap = Overlap { intersection, left, right };
        similarities.push(overlap.similarity(measure));
        if overlap.reaches(measure, threshold) {
            pairs += 1;
            has_neighbour[a] = true;
            has_neighbour[b] = true;
            if passages.contains(&(a, b)) {
                has_passage[a] = true;
                has_passage[b] = true;
            }
        }
    })?;
    if compared < sets.len() {
        return Ok(None);
    }
    similarities.sort_unstable_by(|a, b| f64::total_cmp(b, a));
    let rank = (documents.pairs / BACKGROUND_PAIRS) as usize;
    let count = |has: &[bool]| has.iter().filter(|has| **has).count() as u64;
    Ok(Some(SettingProfile {
        setting: setting.clone(),
        documents: documents.count,
        with_neighbour: count(&has_neighbour),
        with_passage: count(&has_passage),
        pairs,
        background: similarities.get(rank).copied().unwrap_or(0.0),
    }))
}

/// Returns the profile of a setting that finds clearly more than the current setting, which is the
/// first profile. Such a setting finds at least twice as many documents with a neighbour and at
/// least a tenth of all documents, and is well above the background. Among several, returns the
/// first that finds 95 % of the maximum.
pub fn better_setting(profiles: &[SettingProfile]) -> Option<&SettingProfile> {
    let (used, alternatives) = profiles.split_first()?;
    if used.setting.job != SettingJob::InUse {
        return None;
    }
    let better = || alternatives.iter().filter(|profile| profile.is_better_than(used));
    let most = better().map(|profile| profile.with_neighbour).max()? as f64;
    better().find(|profile| profile.with_neighbour as f64 >= NEARLY_MOST * most)
}
