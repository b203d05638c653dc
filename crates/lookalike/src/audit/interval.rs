//! Computes the exact confidence interval of a probability from successes and trials.
//!
//! Clopper and Pearson (*The use of confidence or fiducial limits illustrated in the case of the
//! binomial*, 1934): the tails are the observed number of successes or more, and the observed
//! number or fewer. The interval contains every p for which both tails have a probability of at
//! least (1 − confidence) / 2. It covers the true value at least as often as stated, for any number
//! of trials and any probability. It is exact, not an approximation.

use serde::Serialize;

/// The closed range from `low` to `high`, both from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The distance between the ends.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}

/// Returns the Clopper–Pearson interval of a probability after `successes` of `trials`. Without
/// trials, returns the interval from 0 to 1. `confidence` is above 0 and below 1. Takes some
/// microseconds; a tenth of a millisecond for a million trials.
pub fn clopper_pearson(successes: u64, trials: u64, confidence: f64) -> Interval {
    if trials == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let successes = successes.min(trials);
    let tail = (1.0 - confidence) / 2.0;
    Interval {
        low: lower_end(successes, trials, tail),
        high: 1.0 - lower_end(trials - successes, trials, tail),
    }
}

/// Returns the number of trials for an interval no wider than `width`, if the share of successes
/// remains the same. `None` without trials, or if 2³³ trials do not suffice.
pub fn trials_for_width(successes: u64, trials: u64, confidence: f64, width: f64) -> Option<u64> {
    const MOST: u64 = 10_000_000_000;
    let share = (trials > 0).then(|| successes as f64 / trials as f64)?;
    let narrow = |n: u64| {
        let successes = (share * n as f64).round() as u64;
        clopper_pearson(successes, n, confidence).width() <= width
    };
    let mut high = 1;
    while !narrow(high) {
        high *= 2;
        if high > MOST {
            return None;
        }
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if narrow(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// The probability p with P(X ≥ k) = tail for X binomial of n and p, or 0 if k is 0. Bisects,
/// because the tail grows with p.
fn lower_end(k: u64, n: u64, tail: f64) -> f64 {
    if k == 0 {
        return 0.0;
    }
    if k == n {
        // P(X ≥ n) = pⁿ.
        return libm::pow(tail, 1.0 / n as f64);
    }
    let mut low = 0.0;
    let mut high = k as f64 / n as f64;
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if upper_tail(k, n, middle) < tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// P(X ≥ k) for X binomial of n and p, 0 < p < k/n. Computes each term from the previous one by the
/// ratio of neighbouring binomial terms. The terms decrease, so only the first ones matter.
fn upper_tail(k: u64, n: u64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let mut term = 1.0;
    let mut sum = 1.0;
    for i in k..n {
        term *= (n - i) as f64 / (i + 1) as f64 * odds;
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    let log = log_choose(n, k) + k as f64 * libm::log(p) + (n - k) as f64 * libm::log1p(-p);
    libm::exp(log) * sum
}

/// ln (n choose k).
fn log_choose(n: u64, k: u64) -> f64 {
    log_factorial(n) - log_factorial(k) - log_factorial(n - k)
}

/// ln n!. Adds logarithms for small n, otherwise uses Stirling's series, whose relative error is
/// below 3 · 10⁻¹⁶ from n = 32 on.
fn log_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|i| libm::log(i as f64)).sum();
    }
    let x = n as f64;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * x * x)) / (x * x)) / x;
    (x + 0.5) * libm::log(x) - x + 0.5 * libm::log(2.0 * std::f64::consts::PI) + series
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64, error: f64) -> bool {
        (a - b).abs() <= error
    }

    /// Expected values: the roots of the binomial tails, computed by mpmath with 30 digits.
    #[test]
    fn known_intervals() {
        for (k, n, confidence, low, high) in [
            (1, 2, 0.95, 0.012_579_117_093_4, 0.987_420_882_907),
            (8, 10, 0.95, 0.443_904_537_692, 0.974_789_273_673),
            (95, 100, 0.95, 0.887_165_088_895, 0.983_568_120_818),
            (7, 20, 0.9, 0.177_310_917_574, 0.558_034_511_315),
            (499, 500, 0.99, 0.985_234_928_61, 0.999_989_974_967),
            (1_990, 2_000, 0.95, 0.990_824_104_93, 0.997_599_780_244),
            (123_456, 1_000_000, 0.95, 0.122_811_841_63, 0.124_102_340_277),
            (999_999, 1_000_000, 0.95, 0.999_994_428_369, 0.999_999_974_682),
        ] {
            let got = clopper_pearson(k, n, confidence);
            assert!(close(got.low, low, 1e-9) && close(got.high, high, 1e-9), "{k}/{n}: {got:?}");
        }
    }

    #[test]
    fn extremes() {
        let empty = clopper_pearson(0, 0, 0.95);
        assert!(close(empty.low, 0.0, 0.0) && close(empty.high, 1.0, 0.0));
        for n in [1, 2, 368, 1_000_000] {
            let (zero, all) = (clopper_pearson(0, n, 0.95), clopper_pearson(n, n, 0.95));
            assert!(close(zero.low, 0.0, 0.0) && close(all.high, 1.0, 0.0), "{n}");
            assert!(close(zero.high, 1.0 - 0.025f64.powf(1.0 / n as f64), 1e-12), "{n}");
            assert!(close(all.low, 1.0 - zero.high, 1e-15), "{n}");
        }
        assert!(close(clopper_pearson(9, 3, 0.95).high, 1.0, 0.0));
    }

    #[test]
    fn trials_for_width_match_known_values() {
        // 1 − 0.025^(1/n) ≤ 0.01 from n = 368 on.
        assert_eq!(trials_for_width(50, 50, 0.95, 0.01), Some(368));
        assert_eq!(trials_for_width(0, 0, 0.95, 0.01), None);
        assert_eq!(trials_for_width(1, 2, 0.95, 1e-9), None);
        let n = trials_for_width(90, 100, 0.95, 0.02).unwrap();
        assert!((3_400..3_700).contains(&n), "{n}");
    }

    proptest! {
        /// The tails at the ends of the interval, summed term by term, have the requested
        /// probability.
        #[test]
        fn ends_reach_tail_probability(n in 1u64..400, share in 0.0f64..=1.0, c in 0.5f64..0.999) {
            let k = (share * n as f64).round() as u64;
            let Interval { low, high } = clopper_pearson(k, n, c);
            let sum = |p: f64, range: std::ops::RangeInclusive<u64>| -> f64 {
                let term = |i| log_choose(n, i) + i as f64 * p.ln() + (n - i) as f64 * (-p).ln_1p();
                range.map(|i| term(i).exp()).sum()
            };
            let tail = (1.0 - c) / 2.0;
            if k > 0 && k < n {
                prop_assert!(close(sum(low, k..=n), tail, 1e-9));
                prop_assert!(close(sum(high, 0..=k), tail, 1e-9));
                prop_assert!(low < k as f64 / n as f64 && high > k as f64 / n as f64);
            }
            prop_assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
        }
    }
}
