//! Counts the true neighbours of a sample, and keeps a few of them, drawn evenly.
//!
//! All neighbours of a sampled document are counted in each range of similarity, but only the
//! [`KEPT`] neighbours with the smallest hashes are kept. They are a simple random sample. So a
//! document with a million copies takes no more memory than a document with a few. If all documents
//! are drawn, more neighbours are kept.

use super::draw::IdHasher;
use crate::digest::InputsDigest;
use crate::id_sample::IdSample;
use crate::progress::Stage;
use lookalike_core::params::Measure;
use lookalike_core::verify::Overlap;
use std::time::Duration;

/// Neighbours kept per sampled document and range of similarity.
pub(super) const KEPT: usize = 16;
/// The number of neighbours of all documents together to keep per range, if all documents are
/// drawn. Each document still keeps at least [`KEPT`]. Suffices for all neighbours in a collection
/// of a thousand documents.
const KEPT_OF_ALL: usize = 1_000_000;
/// Ranges from the threshold to below 1.
const RANGES: u32 = 4;

/// The ranges of similarity: four equal ranges from the threshold to 1, for example from 0.8, 0.85,
/// 0.9 and 0.95, and a last range of only 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bins {
    measure: Measure,
    /// The start of each range, ascending; the last is 1.
    starts: Vec<f64>,
    /// The maximum number of neighbours kept per document and range.
    kept: usize,
}

impl Bins {
    pub(super) fn new(measure: Measure, threshold: f64) -> Self {
        let step = |i| {
            let start = threshold + (1.0 - threshold) * f64::from(i) / f64::from(RANGES);
            // Rounded to the usual notation: 0.85, not 0.8500000000000001.
            (start * 1e6).round() / 1e6
        };
        let mut starts = vec![threshold];
        starts.extend((1..RANGES).map(step));
        starts.push(1.0);
        starts.dedup_by(|later, earlier| *later <= *earlier);
        Self { measure, starts, kept: KEPT }
    }

    /// Keeps more neighbours, for audits in which all `documents` of the collection are drawn.
    pub(super) fn of_all(self, documents: usize) -> Self {
        Self { kept: KEPT.max(KEPT_OF_ALL / documents.max(1)), ..self }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns the start and the end of a range. The end is excluded, except in the last range,
    /// from 1 to 1.
    pub(super) fn range(&self, i: usize) -> (f64, f64) {
        let start = |i: usize| self.starts.get(i).copied().unwrap_or(1.0);
        (start(i), start(i + 1))
    }

    /// Returns the range of a pair that reaches the threshold. Compares exact fractions.
    fn of(&self, overlap: &Overlap) -> usize {
        self.starts.iter().rposition(|start| overlap.reaches(self.measure, *start)).unwrap_or(0)
    }
}

/// The true neighbours of one document in one range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BinTally {
    pub(super) count: u64,
    /// Ids of the neighbours with the smallest hashes.
    pub(super) kept: IdSample<String, ()>,
}

impl BinTally {
    fn new(most: usize) -> Self {
        Self { count: 0, kept: IdSample::new(most) }
    }

    fn add(&mut self, id_hash: u64, id: &str) {
        self.count += 1;
        self.keep(id_hash, id);
    }

    /// Keeps the id of a neighbour that is already counted, if its hash is small enough.
    pub(super) fn keep(&mut self, id_hash: u64, id: &str) {
        if self.kept.wants(id_hash) {
            self.kept.insert(id_hash, id.to_owned(), (), |(), ()| false);
        }
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.kept.merge(other.kept, |(), ()| false);
    }
}

/// The true neighbours of one sampled document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocumentNeighbours {
    pub(super) id: String,
    pub(super) bins: Vec<BinTally>,
}

impl DocumentNeighbours {
    pub(super) fn new(id: String, bins: &Bins) -> Self {
        Self { id, bins: vec![BinTally::new(bins.kept); bins.len()] }
    }

    /// Counts a true neighbour: another document with this overlap.
    pub(super) fn add(
        &mut self,
        hasher: IdHasher,
        bins: &Bins,
        neighbour: &str,
        overlap: &Overlap,
    ) {
        if let Some(tally) = self.bins.get_mut(bins.of(overlap)) {
            tally.add(hasher.neighbour(&self.id, neighbour), neighbour);
        }
    }

    /// Adds the counts of another thread.
    pub(super) fn merge(&mut self, other: Self) {
        for (bin, other_bin) in self.bins.iter_mut().zip(other.bins) {
            bin.merge(other_bin);
        }
    }

    /// The range of the neighbour with the smallest hash.
    pub(super) fn first_bin(&self) -> Option<usize> {
        let firsts = self.bins.iter().enumerate();
        let firsts = firsts.filter_map(|(bin, tally)| Some((tally.kept.keys().next()?, bin)));
        firsts.min().map(|(_, bin)| bin)
    }
}

/// A sample of a collection's documents, with the counts of all their true neighbours.
/// [`judge_by`](Self::judge_by) compares a report with the sample.
#[derive(Debug, Clone)]
pub struct Neighbours {
    pub(super) inputs: InputsDigest,
    pub(super) population: u64,
    pub(super) bins: Bins,
    pub(super) seed: u64,
    pub(super) confidence: f64,
    /// The times of the stages that found the neighbours.
    pub(super) times: Vec<(Stage, Duration)>,
    /// The sampled documents, in the order in which they were drawn.
    pub(super) sample: Vec<DocumentNeighbours>,
}

impl Neighbours {
    /// The inputs that were read in the search. They must equal the inputs of the audited report.
    pub fn inputs(&self) -> InputsDigest {
        self.inputs
    }

    /// The number of documents with at least one token. Only these can be drawn.
    pub fn population(&self) -> u64 {
        self.population
    }

    /// The number of drawn documents.
    pub fn sampled(&self) -> usize {
        self.sample.len()
    }

    /// Returns the ids of the sampled documents and of the kept neighbours. An id may occur
    /// repeatedly. Other ids of a report are irrelevant.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.sample.iter().flat_map(|each| {
            let kept = each.bins.iter().flat_map(|tally| tally.kept.keys());
            std::iter::once(each.id.as_str()).chain(kept.map(|(_, id)| id.as_str()))
        })
    }

    /// The number of true neighbours of all sampled documents. A pair of two sampled documents
    /// counts twice.
    pub fn pairs(&self) -> u64 {
        self.sample.iter().flat_map(|each| &each.bins).map(|tally| tally.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(intersection: u64) -> Overlap {
        Overlap { intersection, left: 1_000, right: intersection }
    }

    #[test]
    fn bins_span_threshold_to_equality() {
        let starts = |threshold| Bins::new(Measure::Jaccard, threshold).starts;
        assert_eq!(starts(0.8), [0.8, 0.85, 0.9, 0.95, 1.0]);
        assert_eq!(starts(0.5), [0.5, 0.625, 0.75, 0.875, 1.0]);
        assert_eq!(starts(1.0), [1.0]);
        assert_eq!(starts(0.999_999), [0.999_999, 1.0]);
        let bins = Bins::new(Measure::Jaccard, 0.8);
        let places = [800, 849, 850, 900, 949, 950, 999, 1_000].map(|n| bins.of(&overlap(n)));
        assert_eq!(places, [0, 0, 1, 2, 2, 3, 3, 4]);
        assert_eq!((bins.range(0), bins.range(4)), ((0.8, 0.85), (1.0, 1.0)));
    }

    #[test]
    fn kept_neighbours_are_uniform_samples() {
        let bins = Bins::new(Measure::Jaccard, 0.8);
        let ids: Vec<String> = (0..200).map(|n| format!("n{n}")).collect();
        let mut times = [0u32; 200];
        for seed in 0..2_000 {
            let hasher = IdHasher::new(seed);
            let mut parts = [(); 2].map(|()| DocumentNeighbours::new("a".to_owned(), &bins));
            for (n, id) in ids.iter().enumerate() {
                parts[n % 2].add(hasher, &bins, id, &overlap(900 + n as u64 % 2));
            }
            let [mut merged, other] = parts;
            merged.merge(other);
            let tally = &merged.bins[2];
            assert_eq!((tally.count, tally.kept.keys().count()), (200, KEPT));
            for (_, id) in tally.kept.keys() {
                times[id[1..].parse::<usize>().unwrap()] += 1;
            }
        }
        // 2,000 draws of 16 in 200: 160, standard deviation 12.
        assert!(times.iter().all(|n| (105..215).contains(n)), "{times:?}");
    }
}
