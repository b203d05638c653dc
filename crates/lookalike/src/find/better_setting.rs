//! If a run found few groups in a small collection, measures other settings exactly on all its
//! documents.

use crate::engine::Setting;
use crate::engine::{BetterSetting, FindError, FindOptions, Findings, ids};
use crate::progress::Progress;
use crate::tune::{SettingTexts, better_setting, measure_settings, settings_to_compare};
use std::ops::RangeInclusive;

/// The number of documents with a token in a collection that is measured.
const DOCUMENTS: RangeInclusive<u64> = 20..=1_000;
/// The maximum number of bytes of texts in a collection that is measured.
const MOST_BYTES: u64 = 4 << 20;
/// A run found few groups if less than `1 / FEW` of the documents are in a group.
const FEW: u64 = 10;
/// The maximum number of meetings to count for a setting. Two documents meet in each shingle that
/// they share.
const MOST_MEETINGS: u64 = 50_000_000;

/// Returns a setting that finds clearly more than the run. Returns `None` if the run found many
/// groups, if the collection is not small, or if no measured setting finds clearly more.
pub(super) fn better_setting_of(
    findings: &Findings,
    options: &FindOptions,
    progress: &dyn Progress,
) -> Result<Option<BetterSetting>, FindError> {
    let counts = &findings.counts;
    let documents = counts.documents - counts.empty;
    let grouped = counts.groups + counts.duplicates;
    let bytes: u64 = findings.sources.iter().map(|source| source.bytes).sum();
    let is_small = DOCUMENTS.contains(&documents) && bytes <= MOST_BYTES;
    if !is_small || FEW * grouped >= documents || !findings.has_texts() {
        return Ok(None);
    }
    let mut texts = Vec::new();
    let mut reference = Vec::new();
    for document in ids::first(findings.documents.len()) {
        if findings.documents.state(document).is_active() {
            // If a file changed meanwhile, only the hint is left out.
            let Ok(text) = findings.text(document) else { return Ok(None) };
            texts.push(text);
            let block = findings.documents.block_of(document);
            reference.push(findings.documents.store.blocks[block].notes.reference);
            progress.advance(0)?;
        }
    }
    let texts = SettingTexts {
        texts: &texts,
        reference: &reference,
        without_stop_words: findings.normalization.stop_words_by_language,
        most_meetings: MOST_MEETINGS,
    };
    let settings = settings_to_compare(Setting::in_use(&options.params), &texts);
    let profiles = measure_settings(&settings, &texts, progress)?;
    let better = better_setting(&profiles).cloned();
    Ok(profiles.into_iter().next().zip(better).map(|(used, better)| BetterSetting { used, better }))
}
