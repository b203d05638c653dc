//! Summarises the errors of estimates from signatures.

use serde::Serialize;

/// The error of one pair's estimate.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairError {
    /// The exact similarity, if the file has it.
    pub(super) exact: Option<f64>,
    /// Estimate minus exact value.
    pub(super) error: f64,
    /// The standard error expected by theory.
    pub(super) standard_error: f64,
}

/// The errors of estimates from signatures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimates {
    /// Pairs with an estimate.
    pub pairs: u64,
    /// Mean of estimate − exact value.
    pub bias: f64,
    /// Mean of |estimate − exact value|.
    pub mean_absolute_error: f64,
    /// Root of the mean squared error.
    pub rms_error: f64,
    /// The expected `rms_error`: the root of the mean of J(1−J)/k (Broder 1997).
    pub expected_rms_error: f64,
}

impl Estimates {
    /// Summarises errors; `None` if there are none.
    pub(super) fn of(errors: impl Iterator<Item = PairError>) -> Option<Self> {
        let mut pairs = 0u64;
        let mut sums = [0.0; 4];
        for PairError { error, standard_error, .. } in errors {
            pairs += 1;
            let terms = [error, error.abs(), error * error, standard_error * standard_error];
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum += term;
            }
        }
        let [bias, mean_absolute_error, square, expected] = sums.map(|sum| sum / pairs as f64);
        let rms_error = square.sqrt();
        let expected_rms_error = expected.sqrt();
        let all = Self { pairs, bias, mean_absolute_error, rms_error, expected_rms_error };
        (pairs > 0).then_some(all)
    }
}

/// The errors of pairs whose exact similarity is in a range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EstimateRange {
    /// The least exact similarity.
    pub from: f64,
    /// The upper end, which is excluded. The range from 1 to 1 contains equal sets.
    pub to: f64,
    /// The errors of these pairs.
    #[serde(flatten)]
    pub estimates: Estimates,
}

/// The number of ranges between the similarities 0 and 1.
const RANGES: u32 = 10;
/// Similarities in files have six decimals.
const MILLION: u32 = 1_000_000;

impl EstimateRange {
    /// Returns ten ranges of similarities below 1, then the range of equal sets. Ranges without a
    /// pair are omitted. Pairs without a known exact similarity are not counted.
    pub(super) fn all(errors: &(impl Iterator<Item = PairError> + Clone)) -> Vec<Self> {
        let in_range = |range: u32| {
            let errors = errors.clone().filter(move |error| error.range() == Some(range));
            let start = |range: u32| f64::from(range.min(RANGES)) / f64::from(RANGES);
            let from = start(range);
            let to = start(range + 1);
            Estimates::of(errors).map(|estimates| Self { from, to, estimates })
        };
        (0..=RANGES).filter_map(in_range).collect()
    }
}

impl PairError {
    /// The index of the range that contains the exact similarity.
    fn range(&self) -> Option<u32> {
        let millionths = (self.exact? * f64::from(MILLION)).round() as u32;
        Some(millionths.min(MILLION) / (MILLION / RANGES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SignatureEstimate;
    use lookalike_core::hash::SplitMix64;
    use lookalike_core::params::Scheme;
    use lookalike_core::signature::Signer;
    use lookalike_core::verify::{self, Overlap};

    /// Sets drawn with a fixed seed: the bias is within four standard errors of the mean, and the
    /// RMS error within four standard errors of its expected value.
    #[test]
    fn bias_and_rms_error_match_theory() {
        const PAIRS: usize = 600;
        let num_hashes = 128;
        for scheme in [Scheme::FastSimilarity, Scheme::MultiplyShift] {
            let mut random = SplitMix64::new(7);
            let errors = (0..PAIRS).map(|i| {
                let shared = 300 + 200 * (i % 3);
                let all: Vec<u32> = (0..1000).map(|_| random.next_u32()).collect();
                let (both, rest) = all.split_at(shared);
                let (left, right) = rest.split_at(rest.len() / 2);
                let exact = Overlap {
                    intersection: shared as u64,
                    left: (shared + left.len()) as u64,
                    right: (shared + right.len()) as u64,
                };
                // Each pair has its own hash functions.
                let mut signer = Signer::new(scheme, num_hashes, i as u64);
                let mut sign = |own: &[u32]| signer.sign(&[both, own].concat()).to_vec();
                let equal = verify::estimate_at_least(&sign(left), &sign(right), 0).unwrap() as u32;
                let estimate = SignatureEstimate { equal, num_hashes: num_hashes as u32 };
                let (error, expected) = (estimate.error(&exact), estimate.standard_error(&exact));
                PairError { exact: None, error, standard_error: expected }
            });
            let found = Estimates::of(errors).unwrap();
            let most = 4.0 * found.expected_rms_error / (PAIRS as f64).sqrt();
            assert!(found.bias.abs() < most, "{scheme:?}: {found:?}");
            let ratio = found.rms_error / found.expected_rms_error;
            assert!(
                (ratio - 1.0).abs() < 4.0 / (2.0 * PAIRS as f64).sqrt(),
                "{scheme:?}: {found:?}"
            );
            assert_eq!(found.pairs, PAIRS as u64);
        }
    }

    #[test]
    fn ranges_are_tenths_and_equal_sets() {
        let error =
            |exact: Option<f64>, error: f64| PairError { exact, error, standard_error: 0.1 };
        let errors = [
            error(Some(0.599_999), 0.1),
            error(Some(0.6), 0.2),
            error(Some(0.7), -0.1),
            error(Some(0.65), -0.4),
            error(Some(0.999_999), 0.3),
            error(Some(1.0), 0.0),
            error(None, 0.9),
        ];
        let ranges = EstimateRange::all(&errors.into_iter());
        let bounds: Vec<_> = ranges.iter().map(|range| (range.from, range.to)).collect();
        assert_eq!(bounds, [(0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.9, 1.0), (1.0, 1.0)]);
        let pairs: Vec<u64> = ranges.iter().map(|range| range.estimates.pairs).collect();
        assert_eq!(pairs, [1, 2, 1, 1, 1]);
        let Estimates { bias, mean_absolute_error, rms_error, .. } = ranges[1].estimates;
        assert!((bias + 0.1).abs() < 1e-12 && (mean_absolute_error - 0.3).abs() < 1e-12);
        assert!((rms_error - 0.1f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn no_pairs_yield_no_estimates() {
        assert_eq!(EstimateRange::all(&std::iter::empty()), []);
        assert_eq!(Estimates::of(std::iter::empty()), None);
    }
}
