//! What is asked for, and perhaps a sample, in; bands and rows out.

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

/// A sample of a collection, and what shingle rules make of it.
#[derive(Debug)]
pub struct MeasuredSample {
    /// Documents drawn.
    pub sample: TextSample,
    /// What each rule makes of them.
    pub profiles: Vec<Profile>,
    /// How many documents of the sample the normal form `fold` changes.
    pub folding: FoldingEffect,
    /// The profile of the rule in use on the folded texts, where the form changes some.
    pub folded: Option<Profile>,
    /// The place of the rule in use.
    current: usize,
}

impl MeasuredSample {
    /// Draws `size` documents and measures them by `rules`, of which `used` is one.
    ///
    /// # Errors
    /// As those of [`sample`] and [`measure`].
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

    /// Pairs of the sample at `threshold` or above by the rule in use: as the texts are, and
    /// folded. `None` where the form changes no document, or where not all documents are compared.
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

    /// The place of the rule in use among the profiles.
    pub fn current(&self) -> usize {
        self.current
    }

    /// The profile of the rule in use.
    pub fn used(&self) -> Option<&Profile> {
        self.profiles.get(self.current)
    }

    /// Which rule to use. See [`advise`].
    pub fn advice(&self, threshold: f64) -> Option<Advice> {
        advise(&self.profiles, self.current, threshold)
    }
}

fn length(rule: &ShingleRule) -> (Unit, usize) {
    (rule.unit(), rule.size())
}

/// The rules to measure: those of the lengths named and the one in use, in order of length, or the
/// usual ones where none is named. All have the settings of the one in use.
pub fn rules_to_try(used: &ShingleRule, tried: &[ShingleRule]) -> Vec<ShingleRule> {
    if tried.is_empty() {
        return usual_rules(used);
    }
    let mut rules: Vec<ShingleRule> = tried.iter().chain([used]).cloned().collect();
    rules.sort_by_key(|rule| (rule.unit() as u8, rule.size()));
    rules.dedup_by_key(|rule| length(rule));
    rules.into_iter().map(|rule| settings_of(used, rule)).collect()
}

/// A choice of bands and rows, and what it is for.
#[derive(Debug, Clone)]
pub struct BandPlan {
    /// The similarity from which on pairs are to be found.
    pub threshold: f64,
    /// The share of pairs at the threshold that is to be found.
    pub recall: f64,
    /// What a run over the collection costs.
    pub cost: Cost,
    /// What a run takes by default.
    pub usual: Choice,
    /// The cheapest for the documents measured; the usual one where there are none.
    pub best: Choice,
    /// Whether documents were measured: at least two with a token.
    pub measured: bool,
    /// Why runs may find less than predicted, if there is a reason.
    pub recall_caveat: Option<RecallCaveat>,
}

/// Chooses bands and rows for `params`, which were made of `builder`.
///
/// Only what was measured speaks against what a run takes by default, and bands or rows
/// that are named stay. The plan is for `documents`; else for as many as the collection has that
/// was measured, else for a million. How many there are does not decide the choice on its own: a
/// run does not know it either when it begins.
///
/// # Errors
/// [`ParamsError`] where no choice of that length reaches the recall.
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
    // Fewer than two documents have no pair to tell anything by.
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
    /// What to expect of a choice.
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
    fn a_number_alone_changes_the_cost_and_no_choice() {
        for documents in [1, 100, 1_000_000_000_000] {
            let plan = planned(&ParamsBuilder::default(), None, Some(documents));
            assert_eq!((plan.best, plan.cost.documents), (plan.usual, documents));
            assert!(!plan.measured);
        }
        assert_eq!(planned(&ParamsBuilder::default(), None, None).cost.documents, 1_000_000);
    }

    #[test]
    fn what_is_measured_decides() {
        // A third of the shingles of any two are the same, so a run by default would
        // compare far too many.
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
        // Nothing to compare, and still known to be one.
        let plan = planned(&ParamsBuilder::default(), Some(&measured(&texts[..1])), None);
        assert_eq!((plan.best, plan.cost.documents, plan.measured), (plan.usual, 1, false));
    }

    #[test]
    fn rules_are_in_order_and_one_of_each() {
        let rule = |text: &str| text.parse::<ShingleRule>().unwrap();
        let used = rule("words:5").with_frequencies(true);
        let rules = rules_to_try(&used, &[rule("chars:9"), rule("words:3"), rule("words:5")]);
        let lengths: Vec<_> = rules.iter().map(length).collect();
        assert_eq!(lengths, [(Unit::Words, 3), (Unit::Words, 5), (Unit::Chars, 9)]);
        assert!(rules.iter().all(ShingleRule::frequencies));
        assert_eq!(rules_to_try(&used, &[]).len(), usual_rules(&used).len());
    }
}
