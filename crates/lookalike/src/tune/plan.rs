//! Chooses bands and rows for requested parameters, from a sample if there is one.

use super::advice::{Advice, advise};
use super::document_sample::{TextSample, sample};
use super::profile::{Profile, measure};
use super::rules::{settings_of, usual_rules};
use crate::engine::FindError;
use crate::folding::{FOLD, FoldingEffect};
use crate::progress::Progress;
use crate::read::{Collection, TextNormalizer};
use lookalike_core::curve::{self, Banding, Choice, Cost};
use lookalike_core::error::ParamsError;
use lookalike_core::params::{Params, ParamsBuilder, RecallCaveat, ShingleRule, Unit};

/// A sample of a collection, measured by shingle rules.
#[derive(Debug)]
pub struct MeasuredSample {
    /// The drawn documents.
    pub sample: TextSample,
    /// The profiles of the sample, one per rule.
    pub profiles: Vec<Profile>,
    /// The number of documents of the sample that the normal form `fold` changes.
    pub folding: FoldingEffect,
    /// The profile of the current rule on the folded texts, if folding changes any text.
    pub folded: Option<Profile>,
    /// The index of the current rule.
    current: usize,
}

impl MeasuredSample {
    /// Draws `size` documents and measures them by `rules`, which include `used`.
    ///
    /// # Errors
    /// Errors of [`sample`] and [`measure`].
    pub fn of(
        collection: &Collection,
        size: usize,
        seed: u64,
        rules: &[ShingleRule],
        used: &ShingleRule,
        progress: &dyn Progress,
    ) -> Result<Self, FindError> {
        let sample = sample(collection, size, seed, progress)?;
        let profiles = measure(&sample.texts, rules, progress)?;
        let current = rules.iter().position(|rule| length(rule) == length(used));
        let folding = FoldingEffect::of_texts(&sample.texts, used, collection.normalization());
        let folded = if folding.changed() > 0 {
            let mut words = TextNormalizer::default();
            let texts: Vec<String> =
                sample.texts.iter().map(|text| words.of(text, FOLD).to_owned()).collect();
            measure(&texts, std::slice::from_ref(used), progress)?.pop()
        } else {
            None
        };
        Ok(Self { sample, profiles, folding, folded, current: current.unwrap_or(rules.len()) })
    }

    /// Returns the numbers of pairs of the sample that reach `threshold` by the current rule: with
    /// the original texts, and with the folded texts. `None` if the form changes no document, or if
    /// not all documents are compared.
    pub fn pairs_by_folding(&self, threshold: f64) -> Option<(u64, u64)> {
        let used = self.used()?;
        let folded = self.folded.as_ref()?;
        let count = |profile: &Profile| {
            let found = &profile.similarities;
            let similar = found.above_zero().iter().filter(|s| **s >= threshold).count() as u64;
            (found.documents() == profile.documents as u64).then_some(similar)
        };
        Some((count(used)?, count(folded)?))
    }

    /// The index of the current rule among the profiles.
    pub fn current(&self) -> usize {
        self.current
    }

    /// The profile of the current rule.
    pub fn used(&self) -> Option<&Profile> {
        self.profiles.get(self.current)
    }

    /// The recommended rule. See [`advise`].
    pub fn advice(&self, threshold: f64) -> Option<Advice> {
        advise(&self.profiles, self.current, threshold)
    }
}

fn length(rule: &ShingleRule) -> (Unit, usize) {
    (rule.unit(), rule.size())
}

/// The rules to measure: the given lengths and the current one, in order of length. If no lengths
/// are given, the usual rules. All have the settings of the current rule.
pub fn rules_to_try(used: &ShingleRule, tried: &[ShingleRule]) -> Vec<ShingleRule> {
    if tried.is_empty() {
        return usual_rules(used);
    }
    let mut rules: Vec<ShingleRule> = tried.iter().chain([used]).cloned().collect();
    rules.sort_by_key(|rule| (rule.unit() as u8, rule.size()));
    rules.dedup_by_key(|rule| length(rule));
    rules.into_iter().map(|rule| settings_of(used, rule)).collect()
}

/// A choice of bands and rows, and its purpose.
#[derive(Debug, Clone)]
pub struct BandPlan {
    /// The minimum similarity of the pairs to find.
    pub threshold: f64,
    /// The requested recall for the pairs whose similarity equals the threshold.
    pub recall: f64,
    /// The cost of a run over the collection.
    pub cost: Cost,
    /// The default of a run.
    pub usual: Choice,
    /// The cheapest choice for the measured documents; the default without measured documents.
    pub best: Choice,
    /// Whether at least two documents with a token were measured.
    pub measured: bool,
    /// The reason why runs may find less than predicted, if there is one.
    pub recall_caveat: Option<RecallCaveat>,
}

/// Chooses bands and rows for `params`, which were created from `builder`.
///
/// Only measurements can replace the default of a run, and given bands or rows are kept. The plan
/// is for `documents`. If it is `None`, the plan is for the number of documents in the measured
/// collection, or for a million without measurements. Without measurements, this number does not
/// affect the choice, because a run does not know it when it begins.
///
/// # Errors
/// [`ParamsError`] if no choice with the given number of values reaches the recall.
pub fn plan(
    builder: &ParamsBuilder,
    params: &Params,
    measured: Option<&MeasuredSample>,
    documents: Option<u64>,
) -> Result<BandPlan, ParamsError> {
    let threshold = params.threshold();
    let recall = params.recall();
    let num_hashes = params.num_hashes();
    let bands = params.bands();
    let rows = params.rows();
    let usual = Choice { num_hashes, bands, rows };
    // Fewer than two documents have no pair to measure.
    let used = measured.and_then(MeasuredSample::used);
    let used = used.filter(|profile| profile.similarities.pairs() > 0);
    let mut cost = Cost::default();
    cost.documents =
        documents.or(measured.map(|measured| measured.sample.documents)).unwrap_or(cost.documents);
    if let Some(profile) = used {
        cost = profile.similarities.cost(cost.documents).with_set_size(profile.median_shingles);
    }
    let by_hand = builder.bands.is_some() || builder.rows.is_some();
    let best = if used.is_none() || by_hand {
        usual
    } else {
        curve::choose_for(threshold, recall, builder.num_hashes, &cost)?
    };
    let measured = used.is_some();
    let recall_caveat = params.recall_caveat();
    Ok(BandPlan { threshold, recall, cost, usual, best, measured, recall_caveat })
}

impl BandPlan {
    /// Returns the expected behaviour of a choice.
    pub fn banding(&self, choice: Choice) -> Banding {
        let Choice { bands, rows, .. } = choice;
        let recall = curve::candidate_probability(self.threshold, bands, rows);
        Banding {
            bands,
            rows,
            recall,
            reaches: recall >= self.recall,
            steepest: curve::steepest(bands, rows),
            candidates: self.cost.candidates(bands, rows) * self.cost.documents as f64,
            cost_ns: self.cost.per_document_ns(choice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;

    fn measured(texts: &[&str]) -> MeasuredSample {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let rules = vec![ShingleRule::new(Unit::Words, 5).unwrap()];
        let profiles = measure(&texts, &rules, &NoProgress).unwrap();
        let documents = texts.len() as u64;
        let sample = TextSample { texts, documents, skipped: Vec::new() };
        let (folding, folded) = (FoldingEffect::default(), None);
        MeasuredSample { sample, profiles, folding, folded, current: 0 }
    }

    fn planned(
        builder: &ParamsBuilder,
        measured: Option<&MeasuredSample>,
        documents: Option<u64>,
    ) -> BandPlan {
        plan(builder, &Params::new(builder).unwrap(), measured, documents).unwrap()
    }

    #[test]
    fn document_count_changes_cost_only() {
        for documents in [1, 100, 1_000_000_000_000] {
            let plan = planned(&ParamsBuilder::default(), None, Some(documents));
            assert_eq!((plan.best, plan.cost.documents), (plan.usual, documents));
            assert!(!plan.measured);
        }
        assert_eq!(planned(&ParamsBuilder::default(), None, None).cost.documents, 1_000_000);
    }

    #[test]
    fn measured_similarities_decide_the_plan() {
        // Any two documents share a third of their shingles, so the default of a run would compare
        // far too many.
        let numbered = |name: &str| (0..20).map(|k| format!("{name}{k}")).collect::<Vec<_>>();
        let same = numbered("same").join(" ");
        let own = |text: usize| numbered(&format!("own{text}x")).join(" ");
        let texts: Vec<String> = (0..60).map(|text| format!("{same} {}", own(text))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let alike = measured(&texts);
        let plan = planned(&ParamsBuilder::default(), Some(&alike), Some(1_000_000));
        assert!(plan.measured && plan.best != plan.usual);
        let by_hand = ParamsBuilder { bands: Some(21), rows: Some(6), ..ParamsBuilder::default() };
        let plan = planned(&by_hand, Some(&alike), Some(1_000_000));
        assert_eq!(plan.best, plan.usual);
        // There is nothing to compare, and the plan states that nothing was measured.
        let plan = planned(&ParamsBuilder::default(), Some(&measured(&texts[..1])), None);
        assert_eq!((plan.best, plan.cost.documents, plan.measured), (plan.usual, 1, false));
    }

    #[test]
    fn tried_rules_are_sorted_and_distinct() {
        let rule = |text: &str| text.parse::<ShingleRule>().unwrap();
        let used = rule("words:5").with_frequencies(true);
        let rules = rules_to_try(&used, &[rule("chars:9"), rule("words:3"), rule("words:5")]);
        let lengths: Vec<_> = rules.iter().map(length).collect();
        assert_eq!(lengths, [(Unit::Words, 3), (Unit::Words, 5), (Unit::Chars, 9)]);
        assert!(rules.iter().all(ShingleRule::frequencies));
        assert_eq!(rules_to_try(&used, &[]).len(), usual_rules(&used).len());
    }
}
