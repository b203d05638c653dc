//! Errors of the estimates of signatures, summarised.

/// The error of one pair's estimate.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairError {
    /// The exact similarity, where the file has it.
    pub(super) exact: Option<f64>,
    /// Estimate minus exact value.
    pub(super) error: f64,
    /// What theory gives for it.
    pub(super) standard_error: f64,
}

/// How far the estimates of signatures are from the exact values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimates {
    /// Pairs with an estimate.
    pub pairs: u64,
    /// Mean of estimate − exact value.
    pub bias: f64,
    /// Mean of |estimate − exact value|.
    pub mean_absolute_error: f64,
    /// Root of the mean squared error.
    pub rms_error: f64,
    /// What theory gives for `rms_error`: the root of the mean of J(1−J)/k (Broder 1997).
    pub expected_rms_error: f64,
}

impl Estimates {
    /// `None` for no errors.
    pub(super) fn of(errors: impl Iterator<Item = PairError>) -> Option<Self> {
        let (mut pairs, mut sums) = (0u64, [0.0; 4]);
        for PairError { error, standard_error, .. } in errors {
            pairs += 1;
            let terms = [error, error.abs(), error * error, standard_error * standard_error];
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum += term;
            }
        }
        let [bias, mean_absolute_error, square, expected] = sums.map(|sum| sum / pairs as f64);
        let (rms_error, expected_rms_error) = (square.sqrt(), expected.sqrt());
        let all = Self { pairs, bias, mean_absolute_error, rms_error, expected_rms_error };
        (pairs > 0).then_some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::SignatureEstimate;
    use lookalike_core::hash::SplitMix64;
    use lookalike_core::params::Scheme;
    use lookalike_core::signature::Signer;
    use lookalike_core::verify::{self, Overlap};

    /// Sets drawn with a fixed seed: no bias beyond four standard errors of the mean, and an RMS
    /// error within four standard errors of what theory gives.
    #[test]
    fn bias_and_rms_error_agree_with_theory() {
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
                // Each pair has hash functions of its own.
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
    fn no_errors_have_no_summary() {
        assert_eq!(Estimates::of(std::iter::empty()), None);
    }
}
