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
