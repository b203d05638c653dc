//! Measurements of a sample of the documents, and the advised shingle.

use super::layout::{heading, percent, six, write_table};
use crate::cmd::CommandError;
use crate::output::terminal::Style;
use lookalike::core::params::{Params, ShingleRule};
use lookalike::error::Error;
use lookalike::progress::NoProgress;
use lookalike::read::SkippedItem;
use lookalike::report::json::{FoldingView, SettingView};
use lookalike::report::phrases::{count, one_line, setting_options, thousands};
use lookalike::tune::{
    self, Advice, AdviceReason, Profile, RELATED_WORDS, Setting, SettingProfile, SettingTexts,
    TextSample,
};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Maximum number of documents that are compared by several settings.
const MOST_COMPARED: usize = 2_000;
/// Maximum number of meetings of two documents in a shingle that are counted for a setting.
const MOST_MEETINGS: u64 = 400_000_000;

/// Measurements of a sample of the input, and the advice that follows from them.
pub(super) struct SampleAdvice {
    of: tune::MeasuredSample,
    /// The setting in use, then others.
    settings: Vec<SettingProfile>,
    advice: Option<Advice>,
}

impl SampleAdvice {
    /// Compares the documents of a sample by other settings.
    pub(super) fn new(
        of: tune::MeasuredSample,
        params: &Params,
        without_stop_words: bool,
    ) -> Result<Self, CommandError> {
        let advice = of.advice(params.threshold());
        let texts = SettingTexts {
            texts: of.sample.texts.get(..MOST_COMPARED).unwrap_or(&of.sample.texts),
            reference: &[],
            without_stop_words,
            most_meetings: MOST_MEETINGS,
        };
        let settings = tune::settings_to_compare(Setting::in_use(params), &texts);
        let settings =
            tune::measure_settings(&settings, &texts, &NoProgress).map_err(Error::from)?;
        Ok(Self { of, settings, advice })
    }

    /// Writes the table of shingles and the advice.
    pub(super) fn write(&self, out: &mut impl Write, threshold: f64) -> io::Result<()> {
        let TextSample { texts, documents, skipped } = &self.of.sample;
        let documents = count(*documents, "document");
        writeln!(out, "{documents}, {} drawn", thousands(texts.len() as u64))?;
        write_skipped(out, skipped)?;
        let Some(used) = self.of.used() else { return Ok(()) };
        if used.empty > 0 {
            writeln!(out, "{} of them without a token", thousands(used.empty as u64))?;
        }
        writeln!(out)?;
        if used.empty == used.documents {
            return writeln!(out, "Too few documents with a token to measure or advise a shingle.");
        }
        heading(out, "Shingles", "")?;
        write_table(out, &self.lines(threshold), [2, 1], |line| line == self.of.current() + 2)?;
        writeln!(
            out,
            "\nUnrelated: Jaccard similarity of documents with no {RELATED_WORDS} words in a row \
             in common. Tolerated changes: scattered\ntokens replaced in a document of median \
             length \
             before it falls below {threshold}."
        )?;
        let compared = used.similarities.documents();
        if self.of.profiles.iter().any(|p| p.similarities.documents() < p.documents as u64) {
            writeln!(
                out,
                "Where comparing all would take long, fewer documents were compared ({} for {}).",
                thousands(compared),
                used.rule
            )?;
        }
        if let Some(advice) = self.advice {
            let style = Style::BOLD;
            writeln!(out, "\n{style}{}{style:#}", self.sentence(advice, threshold))?;
            self.write_settings(out)?;
        } else {
            writeln!(out, "\nToo few documents with a token to advise a shingle.")?;
        }
        self.write_folding(out, threshold)
    }

    /// Writes how many documents have a neighbour by each setting, and which setting finds clearly
    /// more.
    fn write_settings(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(used) = self.settings.first() else { return Ok(()) };
        let better = tune::better_setting(&self.settings).map(|better| better.setting.job);
        writeln!(out)?;
        let compared = count(used.documents, "document");
        heading(out, "Settings", &format!("{compared}, each compared with each"))?;
        let header = [
            ["", "with a", "sharing a", "", "99 % of", ""],
            ["setting", "neighbour", "passage", "pairs", "pairs below", ""],
        ];
        let mut lines: Vec<Vec<String>> =
            header.iter().map(|row| row.iter().map(|&text| text.to_owned()).collect()).collect();
        for profile in &self.settings {
            let setting = &profile.setting;
            let options = match setting.job {
                tune::SettingJob::InUse => "these options".to_owned(),
                _ => setting_options(setting, &used.setting),
            };
            lines.push(vec![
                options,
                thousands(profile.with_neighbour),
                thousands(profile.with_passage),
                thousands(profile.pairs),
                format!("{:.3}", profile.background),
                setting.job.name().to_owned(),
            ]);
        }
        let place = self.settings.iter().position(|result| Some(result.setting.job) == better);
        write_table(out, &lines, [2, 1], |line| Some(line) == place.map(|place| place + 2))?;
        writeln!(
            out,
            "\nA neighbour reaches the threshold. A passage is three shingles of five words in \
             common that few other\ndocuments have. docs/guides/choosing.md names the setting for \
             each job, and how many false\npairs to expect."
        )?;
        let Some(sentence) = self.better_sentence() else { return Ok(()) };
        let style = Style::BOLD;
        writeln!(out, "\n{style}{sentence}{style:#}")
    }

    /// Returns a sentence about the setting that finds clearly more than the setting in use.
    fn better_sentence(&self) -> Option<String> {
        let used = self.settings.first()?;
        let better = tune::better_setting(&self.settings)?;
        Some(format!(
            "For {}, use {}:\n{} of {} have a neighbour by it, {} of them share a passage \
             with it; by the setting in use, {} have one.",
            better.setting.job.name(),
            setting_options(&better.setting, &used.setting),
            thousands(better.with_neighbour),
            count(better.documents, "document"),
            thousands(better.with_passage),
            thousands(used.with_neighbour)
        ))
    }

    /// Writes the effect of the normal form `fold`.
    fn write_folding(&self, out: &mut impl Write, threshold: f64) -> io::Result<()> {
        let effect = &self.of.folding;
        if effect.changed() == 0 {
            return Ok(());
        }
        let scripts: Vec<String> =
            effect.by_script().map(|(script, n)| format!("{script} {}", thousands(n))).collect();
        writeln!(
            out,
            "\n--normalize fold changes the shingles of {} of the {} drawn: {}.",
            thousands(effect.changed()),
            count(effect.documents(), "document"),
            scripts.join(", ")
        )?;
        let Some((now, folded)) = self.of.pairs_by_folding(threshold) else { return Ok(()) };
        let similar = thousands(folded);
        writeln!(
            out,
            "Pairs of them at {threshold} or more: {} without folding, {similar} with folding.",
            thousands(now)
        )
    }

    /// The table of shingles, with two lines of header.
    fn lines(&self, threshold: f64) -> Vec<Vec<String>> {
        let header = [
            ["", "per", "", "in several", "unrelated", "99.9 % of", "shorter", "changes", ""],
            [
                "",
                "document",
                "different",
                "documents",
                "mean",
                "them up to",
                "documents",
                "tolerated",
                "",
            ],
        ];
        let mut lines: Vec<Vec<String>> =
            header.iter().map(|row| row.iter().map(|&text| text.to_owned()).collect()).collect();
        for (place, profile) in self.of.profiles.iter().enumerate() {
            let found = &profile.similarities;
            let unit_size = profile.rule.to_string();
            let note = match (profile.is_saturated(threshold), profile.is_too_long()) {
                (true, _) => "unrelated documents look alike",
                (_, true) => "many documents are shorter",
                _ if place == self.of.current() => "in use",
                _ => "",
            };
            lines.push(vec![
                unit_size.split(' ').next().unwrap_or_default().to_owned(),
                thousands(profile.median_shingles as u64),
                thousands(profile.vocabulary as u64),
                percent(profile.shared_share()),
                format!("{:.4}", found.unrelated_mean()),
                format!("{:.4}", found.unrelated_quantile(0.999)),
                percent(profile.short_share()),
                format!("{:.1}", profile.tolerated_changes(threshold)),
                note.to_owned(),
            ]);
        }
        lines
    }

    /// The advice and its reason.
    fn sentence(&self, advice: Advice, threshold: f64) -> String {
        let used = &self.of.profiles[advice.current];
        let better = &self.of.profiles[advice.advised];
        let quantile =
            |profile: &Profile| format!("{:.3}", profile.similarities.unrelated_quantile(0.999));
        let shorter = |profile: &Profile| match profile.short {
            0 => "none".to_owned(),
            _ => percent(profile.short_share()),
        };
        match advice.reason {
            AdviceReason::Fits if tune::better_setting(&self.settings).is_some() => format!(
                "Another setting than {} at {threshold} finds clearly more: see Settings. Under \
                 {}, 99.9 % of unrelated pairs are\nat most {} alike.",
                used.rule,
                used.rule,
                quantile(used)
            ),
            AdviceReason::Fits => format!(
                "Keep {}: 99.9 % of unrelated pairs are at most {} alike, far from the threshold \
                 of {threshold},\nand {} of the documents are shorter than a shingle.",
                used.rule,
                quantile(used),
                shorter(used)
            ),
            AdviceReason::Saturated => format!(
                "Use --shingle {} instead of {}: unrelated documents look alike under it. Their \
                 mean similarity is {:.3} and\none pair in a thousand is above {}; with {} these \
                 are {:.3} and {}.",
                short_name(&better.rule),
                short_name(&used.rule),
                used.similarities.unrelated_mean(),
                quantile(used),
                short_name(&better.rule),
                better.similarities.unrelated_mean(),
                quantile(better)
            ),
            AdviceReason::TooLong => format!(
                "Use --shingle {} instead of {}: {} of the documents are shorter than that, and \
                 can only\nbe similar to documents of the very same tokens; with {} these are {}.",
                short_name(&better.rule),
                short_name(&used.rule),
                percent(used.short_share()),
                short_name(&better.rule),
                shorter(better)
            ),
            AdviceReason::NoneFits => format!(
                "None of these suits: unrelated documents look alike, or many documents are \
                 shorter than a shingle.\nThe least evil is --shingle {}. Look at what the \
                 documents have in common (templates, navigation, signatures)\n\
                 and take it out before.",
                short_name(&better.rule)
            ),
        }
    }

    /// Returns the measurements and the advice as JSON.
    pub(super) fn json(&self, threshold: f64) -> Value {
        let profile = |profile: &Profile| {
            let found = &profile.similarities;
            json!({
                "shingle": profile.rule.to_string(),
                "documents": profile.documents,
                "empty": profile.empty,
                "shorter": profile.short,
                "median_shingles": profile.median_shingles,
                "vocabulary": profile.vocabulary,
                "in_several_documents": profile.shared,
                "compared": found.documents(),
                "unrelated_pairs": found.unrelated_pairs(),
                "unrelated_mean": six(found.unrelated_mean()),
                "unrelated_p999": six(found.unrelated_quantile(0.999)),
                "changes_borne": six(profile.tolerated_changes(threshold)),
                "saturated": profile.is_saturated(threshold),
                "too_long": profile.is_too_long(),
            })
        };
        let histogram = self.of.used().map(|used| {
            let mut steps = [0u64; 20];
            for similarity in used.similarities.above_zero() {
                steps[((similarity * 20.0) as usize).min(19)] += 1;
            }
            json!({ "pairs": used.similarities.pairs(), "above_zero_by_0.05": steps })
        });
        let advice = self.advice.map(|advice| {
            let reason = match advice.reason {
                AdviceReason::Fits => "fits",
                AdviceReason::Saturated => "saturated",
                AdviceReason::TooLong => "too_long",
                AdviceReason::NoneFits => "none_fits",
            };
            json!({
                "shingle": self.of.profiles[advice.advised].rule.to_string(),
                "reason": reason,
                "sentence": self.sentence(advice, threshold),
            })
        });
        json!({
            "documents": self.of.sample.documents,
            "drawn": self.of.sample.texts.len(),
            "skipped": self.of.sample.skipped.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "shingles": self.of.profiles.iter().map(profile).collect::<Vec<_>>(),
            "similarities": histogram,
            "advice": advice,
            "settings": self.settings.iter().map(SettingView::from).collect::<Vec<_>>(),
            "better_setting": tune::better_setting(&self.settings).map(|better| json!({
                "setting": SettingView::from(better),
                "sentence": self.better_sentence(),
            })),
            "folding": (self.of.folding.changed() > 0).then(|| json!({
                "effect": FoldingView::of(&self.of.folding),
                "pairs": self.of.pairs_by_folding(threshold).map(|(as_is, folded)| json!({
                    "as_is": as_is,
                    "folded": folded,
                })),
            })),
        })
    }
}

/// How many records could not be read, and the first few of them.
fn write_skipped(out: &mut impl Write, skipped: &[SkippedItem]) -> io::Result<()> {
    if skipped.is_empty() {
        return Ok(());
    }
    writeln!(out, "{} skipped:", thousands(skipped.len() as u64))?;
    for item in skipped.iter().take(3) {
        writeln!(out, "  {}", one_line(&item.to_string()))?;
    }
    if skipped.len() > 3 {
        writeln!(out, "  … and {} more; --json lists them", thousands(skipped.len() as u64 - 3))?;
    }
    Ok(())
}

/// The name of a rule without its settings, such as `words:5`.
fn short_name(rule: &ShingleRule) -> String {
    rule.to_string().split(' ').next().unwrap_or_default().to_owned()
}
