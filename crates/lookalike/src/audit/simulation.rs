//! Checks that the intervals cover the true value, in thousands of audits of collections with known
//! recall. The audits use the production code to draw documents, keep neighbours and judge.

use super::draw::{DocumentSample, IdHasher, SampledDocument};
use super::neighbours::{Bins, DocumentNeighbours, Neighbours};
use super::{Audit, Interval, JudgedBy};
use crate::digest::InputsDigest;
use crate::read::BlockNumber;
use lookalike_core::hash::SplitMix64;
use lookalike_core::params::Measure;
use lookalike_core::verify::Overlap;
use lookalike_test_support::is_soak;

const CONFIDENCE: f64 = 0.95;

/// The number of audits of one population.
fn audits() -> u64 {
    if is_soak() { 1_000 } else { 250 }
}

/// A collection of true pairs. Each has a similarity and is found or missed.
struct Population {
    ids: Vec<String>,
    /// The neighbours of each document: the neighbour's index, the overlap, and whether the pair is
    /// found.
    neighbours: Vec<Vec<(usize, Overlap, bool)>>,
    bins: Bins,
}

impl Population {
    /// Creates clusters from pairs of a size and a count. All documents of a cluster are
    /// neighbours. `recall` takes the size of a pair's cluster and the similarity of the pair, from
    /// 0.8 to 1, and returns the probability that the pair is found.
    fn new(sizes: &[(usize, usize)], recall: impl Fn(usize, f64) -> f64) -> Self {
        let mut random = SplitMix64::new(5);
        let mut this = Self {
            ids: Vec::new(),
            neighbours: Vec::new(),
            bins: Bins::new(Measure::Jaccard, 0.8),
        };
        for &(size, times) in sizes {
            for _ in 0..times {
                let start = this.ids.len();
                this.ids.extend((start..start + size).map(|number| format!("doc-{number}")));
                this.neighbours.resize(this.ids.len(), Vec::new());
                for a in start..start + size {
                    for b in a + 1..start + size {
                        let shared = 80 + random.below(21);
                        let overlap = Overlap { intersection: shared, left: 100, right: shared };
                        let found = random.next_f64() < recall(size, overlap.jaccard());
                        this.neighbours[a].push((b, overlap, found));
                        this.neighbours[b].push((a, overlap, found));
                    }
                }
            }
        }
        this
    }

    /// The recall by document of the pairs that `counts` selects.
    fn recall(&self, counts: impl Fn(&Overlap) -> bool) -> f64 {
        let shares: Vec<f64> = self
            .neighbours
            .iter()
            .filter_map(|neighbours| {
                let counted = || neighbours.iter().filter(|(_, overlap, _)| counts(overlap));
                let all = counted().count();
                let found = counted().filter(|(.., found)| *found).count();
                (all > 0).then(|| found as f64 / all as f64)
            })
            .collect();
        shares.iter().sum::<f64>() / shares.len() as f64
    }

    fn audit(&self, sample: usize, seed: u64) -> Audit {
        let hasher = IdHasher::new(seed);
        let mut drawn = DocumentSample::new(sample);
        for (number, id) in self.ids.iter().enumerate() {
            let id_hash = hasher.document(id);
            if drawn.wants(id_hash) {
                let position = (BlockNumber { source: 0, index: 0 }, number as u32);
                let document =
                    SampledDocument { position, fingerprint: 0, reference: false, set: Vec::new() };
                drawn.insert(id_hash, id.clone(), document);
            }
        }
        let sample = drawn.into_documents().map(|(id, document)| {
            let mut sampled = DocumentNeighbours::new(id, &self.bins);
            for (other, overlap, _) in &self.neighbours[document.position.1 as usize] {
                sampled.add(hasher, &self.bins, &self.ids[*other], overlap);
            }
            sampled
        });
        let neighbours = Neighbours {
            inputs: InputsDigest::default(),
            population: self.ids.len() as u64,
            bins: self.bins.clone(),
            seed,
            confidence: CONFIDENCE,
            times: Vec::new(),
            sample: sample.collect(),
        };
        let mut judge = neighbours.judge_by(JudgedBy::Pairs);
        for (a, neighbours) in self.neighbours.iter().enumerate() {
            for (b, ..) in neighbours.iter().filter(|(b, _, found)| a < *b && *found) {
                judge.pair(&self.ids[a], &self.ids[*b]);
            }
        }
        judge.finish()
    }

    /// The share of intervals that cover the true value: for all pairs, and for the range from 0.9.
    fn coverage(&self, sample: usize) -> (f64, f64) {
        let overall_recall = self.recall(|_| true);
        let range = self.recall(|overlap| {
            overlap.reaches(Measure::Jaccard, 0.9) && !overlap.reaches(Measure::Jaccard, 0.95)
        });
        // The true value is summed in another order, so allow for rounding.
        let holds = |interval: Interval, truth: f64| {
            interval.low <= truth + 1e-12 && truth - 1e-12 <= interval.high
        };
        let mut overall = 0;
        let mut within = 0;
        for seed in 0..audits() {
            let audit = self.audit(sample, seed);
            overall += u64::from(holds(audit.overall.interval, overall_recall));
            within += u64::from(holds(audit.ranges[2].figures.interval, range));
        }
        (overall as f64 / audits() as f64, within as f64 / audits() as f64)
    }
}

/// The minimum coverage: the stated rate, minus three standard deviations of a share of 1,000
/// audits. The bound is the same for fewer audits.
fn least() -> f64 {
    CONFIDENCE - 3.0 * (CONFIDENCE * (1.0 - CONFIDENCE) / 1_000.0).sqrt()
}

#[test]
fn intervals_reach_their_nominal_coverage() {
    let recalls = [0.5, 0.8, 0.95, 0.99, 0.999];
    for &recall in if is_soak() { &recalls[..] } else { &recalls[2..4] } {
        let population = Population::new(&[(1, 500), (2, 400), (3, 100)], |_, _| recall);
        let (overall, within) = population.coverage(150);
        println!("recall {recall}: covered {overall}, in a range {within}");
        assert!(overall >= least() && within >= least(), "{recall}: {overall} {within}");
    }
}

#[test]
fn varied_recall_keeps_interval_coverage() {
    let by_size = |size, _| if size > 10 { 0.3 } else { 0.99 };
    let by_similarity = |_, similarity: f64| (similarity - 0.8) * 4.0 + 0.2;
    let sizes = &[(1, 300), (2, 250), (5, 60), (30, 12)];
    for population in [Population::new(sizes, by_size), Population::new(sizes, by_similarity)] {
        let (overall, within) = population.coverage(120);
        println!("covered {overall}, in a range {within}");
        assert!(overall >= least() && within >= least(), "{overall} {within}");
    }
}

#[test]
fn a_sample_of_everything_covers_too() {
    let population = Population::new(&[(2, 40), (4, 10)], |_, _| 0.7);
    let (overall, within) = population.coverage(10_000);
    assert!(overall >= least() && within >= least(), "{overall} {within}");
}

/// The bootstrap is approximate, but must be close for samples of this size.
#[test]
fn recall_by_pair_is_about_right() {
    let population = Population::new(&[(1, 300), (2, 300), (4, 150), (6, 60)], |_, _| 0.8);
    let mut all = 0u32;
    let mut found = 0u32;
    for (.., was_found) in population.neighbours.iter().flatten() {
        all += 1;
        found += u32::from(*was_found);
    }
    let truth = f64::from(found) / f64::from(all);
    let covered = (0..300).filter(|seed| {
        let audit = population.audit(300, *seed);
        let interval = audit.overall.pair_interval.unwrap();
        interval.low <= truth && truth <= interval.high
    });
    let share = covered.count() as f64 / 300.0;
    assert!(share > 0.9, "{share}");
}

#[test]
fn full_sample_reports_exact_recall() {
    let population = Population::new(&[(1, 10), (2, 30), (5, 8)], |_, _| 0.6);
    let audit = population.audit(1_000, 3);
    let pairs: usize = population.neighbours.iter().map(Vec::len).sum();
    let found = population.neighbours.iter().flatten().filter(|(.., found)| *found).count();
    assert_eq!((audit.sampled, audit.overall.documents, audit.overall.pairs), (110, 100, 220));
    assert_eq!(pairs, 220);
    let share = found as f64 / pairs as f64;
    assert!((audit.overall.pair_recall.unwrap() - share).abs() < 1e-12);
    let by_range: u64 = audit.ranges.iter().map(|range| range.figures.pairs).sum();
    assert_eq!(by_range, 220);
}
