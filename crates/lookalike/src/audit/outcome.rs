//! Computes the figures of an audit from trials.

use super::interval::{Interval, clopper_pearson, trials_for_width};
use super::neighbours::Neighbours;
use super::resample::{self, WeightedShare};
use serde::Serialize;

/// The part of a report that determines whether the run found a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgedBy {
    /// The verified pairs. A pair was found if the report lists it.
    Pairs,
    /// The groups. A pair was found unless both documents were kept. Two similar documents that
    /// were both kept were missed, regardless of their groups.
    Groups,
}

/// The result for the true neighbours of one document: for all of them, or for one range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trial {
    /// Whether the drawn neighbour was found.
    pub(super) found: bool,
    /// The number of neighbours.
    pub(super) neighbours: u64,
    /// The found share of all neighbours, or of a random sample of them.
    pub(super) share: f64,
    /// Whether the share covers all neighbours.
    pub(super) exact: bool,
}

/// Figures for all true neighbours, or for one range of similarity.
///
/// `recall` is by document. If a document with neighbours is drawn at random, and then one of its
/// neighbours, `recall` is the probability that this neighbour was found. `pair_recall` is by pair:
/// a document with a hundred neighbours counts a hundred times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// The number of sampled documents with a true neighbour. Each is a trial.
    pub documents: u64,
    /// The number of drawn neighbours that were found.
    pub found: u64,
    /// The found share of the drawn neighbours. If all documents were drawn and all their
    /// neighbours judged, the mean of the documents' found shares. `None` without documents.
    pub recall: Option<f64>,
    /// The exact (Clopper–Pearson) interval of `recall`; from 0 to 1 without documents. If all
    /// documents were drawn and all their neighbours judged, both ends equal `recall`.
    pub interval: Interval,
    /// The number of true neighbours of the sampled documents.
    pub pairs: u64,
    /// The found share of these pairs. Estimated for documents with many neighbours.
    pub pair_recall: Option<f64>,
    /// The interval of `pair_recall`, approximated by resampling documents. If no pair was missed,
    /// its width is zero, although pairs outside the sample may have been missed.
    pub pair_interval: Option<Interval>,
}

/// Figures of one range of similarity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SimilarityRange {
    /// The least similarity.
    pub from: f64,
    /// The upper end, which is excluded. The range from 1 to 1 contains equal sets.
    pub to: f64,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Measured recall.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audit {
    /// The part of the report that determined which pairs were found.
    pub judged_by: JudgedBy,
    /// The minimum probability that an interval covers the true value.
    pub confidence: f64,
    /// The random seed of the sample.
    pub seed: u64,
    /// The number of documents with at least one token. Only these could be drawn.
    pub population: u64,
    /// The number of drawn documents.
    pub sampled: u64,
    /// All true neighbours.
    #[serde(flatten)]
    pub overall: Figures,
    /// Ranges of similarity from the threshold up, equal sets last.
    pub ranges: Vec<SimilarityRange>,
}

impl Audit {
    /// Computes the figures from one entry per sampled document. An entry consists of the range of
    /// the neighbour drawn from all, and of the trial in each range.
    pub(super) fn new(
        neighbours: &Neighbours,
        judged_by: JudgedBy,
        trials: &[(Option<usize>, Vec<Option<Trial>>)],
    ) -> Self {
        let figures = |trials: &[Trial]| Figures::new(trials, neighbours);
        let overall = trials.iter().filter_map(|(first, bins)| {
            let bin_trials = || bins.iter().flatten();
            let pairs = bin_trials().map(|trial| trial.neighbours).sum();
            let found: f64 = bin_trials().map(|trial| trial.share * trial.neighbours as f64).sum();
            let first = (*bins.get((*first)?)?)?;
            let exact = bin_trials().all(|trial| trial.exact);
            let share = found / pairs as f64;
            Some(Trial { found: first.found, neighbours: pairs, share, exact })
        });
        let ranges = (0..neighbours.bins.len()).map(|bin| {
            let bin_trials = trials.iter().filter_map(|(_, bins)| *bins.get(bin)?);
            let (from, to) = neighbours.bins.range(bin);
            SimilarityRange { from, to, figures: figures(&bin_trials.collect::<Vec<_>>()) }
        });
        Self {
            judged_by,
            confidence: neighbours.confidence,
            seed: neighbours.seed,
            population: neighbours.population,
            sampled: neighbours.sample.len() as u64,
            overall: figures(&overall.collect::<Vec<_>>()),
            ranges: ranges.collect(),
        }
    }

    /// Whether every document with at least one token was drawn.
    pub fn is_complete(&self) -> bool {
        self.sampled == self.population
    }

    /// Whether the recall of these figures is known, not estimated: all documents were drawn, and
    /// both ends of the interval equal the recall.
    pub fn is_known(&self, figures: &Figures) -> bool {
        self.is_complete() && figures.recall.is_some() && figures.interval.width() == 0.0
    }

    /// Returns the sample size that yields an interval no wider than `width`, if the shares remain
    /// the same. `None` if no sampled document has a neighbour, or if the collection has fewer
    /// documents.
    pub fn sample_for_width(&self, width: f64) -> Option<u64> {
        let Figures { documents, found, .. } = self.overall;
        let trials = trials_for_width(found, documents, self.confidence, width)?;
        let needed = u128::from(trials) * u128::from(self.sampled);
        let sample = u64::try_from(needed.div_ceil(u128::from(documents.max(1)))).ok()?;
        (sample <= self.population).then_some(sample)
    }
}

impl Figures {
    fn new(trials: &[Trial], neighbours: &Neighbours) -> Self {
        let documents = trials.len() as u64;
        let found = trials.iter().filter(|trial| trial.found).count() as u64;
        let weighted = trials.iter().map(|trial| WeightedShare {
            pairs: trial.neighbours,
            found: trial.share * trial.neighbours as f64,
        });
        let weighted: Vec<WeightedShare> = weighted.collect();
        let recall = (documents > 0).then(|| found as f64 / documents as f64);
        let interval = clopper_pearson(found, documents, neighbours.confidence);
        let pairs = weighted.iter().map(|each| each.pairs).sum();
        let pair_recall = resample::share(&weighted);
        let complete = neighbours.sample.len() as u64 == neighbours.population;
        if complete && documents > 0 && trials.iter().all(|trial| trial.exact) {
            let shares: f64 = trials.iter().map(|trial| trial.share).sum();
            let known = (shares / documents as f64).min(1.0);
            let at = |value: f64| Interval { low: value, high: value };
            let recall = Some(known);
            let pair_interval = pair_recall.map(at);
            let interval = at(known);
            return Self { documents, found, recall, interval, pairs, pair_recall, pair_interval };
        }
        Self {
            documents,
            found,
            recall,
            interval,
            pairs,
            pair_recall,
            pair_interval: resample::interval(&weighted, neighbours.confidence, neighbours.seed),
        }
    }
}
