//! Trials in, the figures of an audit out.

use super::interval::{Interval, clopper_pearson, trials_for_width};
use super::neighbours::Neighbours;
use super::resample::{self, WeightedShare};
use serde::Serialize;

/// What decided whether the run found a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgedBy {
    /// The verified pairs it reported: found is what is among them.
    Pairs,
    /// Its groups: found is every pair of which not both documents were kept. Two kept documents
    /// that resemble each other were missed, whatever groups they are in.
    Groups,
}

/// What became of the true neighbours of one document, all or those in one range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trial {
    /// Whether the drawn one was found.
    pub(super) found: bool,
    /// How many there are.
    pub(super) neighbours: u64,
    /// The share found, of all or of an even sample of them.
    pub(super) share: f64,
    /// Whether that is the share of all.
    pub(super) exact: bool,
}

/// Figures for all true neighbours, or for those in one range of similarity.
///
/// `recall` is by document: the probability that a neighbour is found which is drawn evenly from
/// those of an evenly drawn document that has one. `pair_recall` is by pair: a document with a
/// hundred neighbours counts a hundred times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// Sampled documents that have a true neighbour: as many trials.
    pub documents: u64,
    /// How many of the neighbours drawn for them were found.
    pub found: u64,
    /// Found per document, or the mean share of a document's neighbours that was found, where all
    /// are known; none without documents.
    pub recall: Option<f64>,
    /// The exact (Clopper–Pearson) interval; from 0 to 1 without documents. Where all documents
    /// were drawn and all of their neighbours judged, `recall` is known, and both ends are it.
    pub interval: Interval,
    /// True neighbours of the sampled documents, all of them.
    pub pairs: u64,
    /// The share of them that was found; estimated where a document has many.
    pub pair_recall: Option<f64>,
    /// Its interval by resampling documents: approximate, and of no width where nothing was
    /// missed, which proves nothing.
    pub pair_interval: Option<Interval>,
}

/// Figures of one range of similarity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SimilarityRange {
    /// The least similarity.
    pub from: f64,
    /// Similarities are below; 1 and `from` 1 mean equal sets.
    pub to: f64,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Measured recall.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audit {
    /// What decided whether a pair was found.
    pub judged_by: JudgedBy,
    /// How often an interval holds the truth, at least.
    pub confidence: f64,
    /// Drew the sample.
    pub seed: u64,
    /// Documents that could be drawn: those with a token.
    pub population: u64,
    /// Documents that were drawn.
    pub sampled: u64,
    /// All true neighbours.
    #[serde(flatten)]
    pub overall: Figures,
    /// Ranges of similarity from the threshold up, equal sets last.
    pub ranges: Vec<SimilarityRange>,
}

impl Audit {
    /// From one line per sampled document: the range of the neighbour drawn from all, and what
    /// became of the neighbours in each range.
    pub(super) fn new(
        neighbours: &Neighbours,
        judged_by: JudgedBy,
        trials: &[(Option<usize>, Vec<Option<Trial>>)],
    ) -> Self {
        let figures = |trials: &[Trial]| Figures::new(trials, neighbours);
        let overall = trials.iter().filter_map(|(first, bins)| {
            let there = || bins.iter().flatten();
            let pairs = there().map(|trial| trial.neighbours).sum();
            let found: f64 = there().map(|trial| trial.share * trial.neighbours as f64).sum();
            let first = (*bins.get((*first)?)?)?;
            let exact = there().all(|trial| trial.exact);
            let share = found / pairs as f64;
            Some(Trial { found: first.found, neighbours: pairs, share, exact })
        });
        let ranges = (0..neighbours.bins.len()).map(|bin| {
            let there = trials.iter().filter_map(|(_, bins)| *bins.get(bin)?);
            let (from, to) = neighbours.bins.range(bin);
            SimilarityRange { from, to, figures: figures(&there.collect::<Vec<_>>()) }
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

    /// Whether every document that could be drawn was.
    pub fn is_complete(&self) -> bool {
        self.sampled == self.population
    }

    /// Whether the recall of these figures is known and not estimated: all documents were drawn,
    /// and the ends of the interval are the recall.
    pub fn is_known(&self, figures: &Figures) -> bool {
        self.is_complete() && figures.recall.is_some() && figures.interval.width() == 0.0
    }

    /// How many documents a sample needs, if shares stay as they are, for an interval no wider than
    /// `width`: the size of the whole sample, not of an addition. `None` where none of the sampled
    /// documents has a neighbour, and where the collection has not as many documents.
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
