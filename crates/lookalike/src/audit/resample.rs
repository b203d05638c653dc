//! Computes the interval of a pair-weighted share by a bootstrap over documents (Efron and
//! Tibshirani, *An introduction to the bootstrap*, 1993, percentiles).
//!
//! The pairs of one document are found or missed together. So the bootstrap draws documents with
//! all their pairs, not single pairs.

use super::interval::Interval;
use lookalike_core::hash::SplitMix64;

/// The number of resamples.
pub(super) const RESAMPLES: usize = 1_000;

/// The pairs of one document: their number, and the number of found pairs, which may be estimated
/// from the kept neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WeightedShare {
    pub(super) pairs: u64,
    pub(super) found: f64,
}

/// The found share of all pairs; `None` without pairs.
pub(super) fn share(documents: &[WeightedShare]) -> Option<f64> {
    let pairs: u64 = documents.iter().map(|each| each.pairs).sum();
    let found: f64 = documents.iter().map(|each| each.found).sum();
    (pairs > 0).then(|| (found / pairs as f64).min(1.0))
}

/// The percentile interval of [`share`]; `None` without pairs. Deterministic for a seed.
pub(super) fn interval(
    documents: &[WeightedShare],
    confidence: f64,
    seed: u64,
) -> Option<Interval> {
    share(documents)?;
    let mut random = SplitMix64::new(seed ^ documents.len() as u64);
    let mut shares = Vec::with_capacity(RESAMPLES);
    let mut resampled = Vec::with_capacity(documents.len());
    for _ in 0..RESAMPLES {
        resampled.clear();
        resampled.extend(
            (0..documents.len()).filter_map(|_| {
                documents.get(random.below(documents.len() as u64) as usize).copied()
            }),
        );
        shares.extend(share(&resampled));
    }
    shares.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    let last = shares.len().checked_sub(1)?;
    let place = |share: f64| (share * last as f64) as usize;
    let low = *shares.get(place(tail))?;
    let high = *shares.get(last - place(tail))?;
    Some(Interval { low, high })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "the values are meant to be exact")]

    use super::*;

    fn documents(n: u64, pairs: impl Fn(u64) -> (u64, f64)) -> Vec<WeightedShare> {
        let each = |i| {
            let (pairs, share) = pairs(i);
            WeightedShare { pairs, found: pairs as f64 * share }
        };
        (0..n).map(each).collect()
    }

    #[test]
    fn equal_documents_have_zero_width_intervals() {
        let equal = documents(40, |_| (3, 0.5));
        assert_eq!(share(&equal), Some(0.5));
        assert_eq!(interval(&equal, 0.95, 1), Some(Interval { low: 0.5, high: 0.5 }));
        assert_eq!((share(&[]), interval(&[], 0.95, 1)), (None, None));
    }

    #[test]
    fn single_pairs_have_binomial_interval() {
        let pairs = documents(400, |i| (1, f64::from(u8::from(i % 5 != 0))));
        let found = interval(&pairs, 0.95, 3).unwrap();
        // 0.8 ± 1.96·√(0.8·0.2/400) = 0.8 ± 0.039.
        assert!((found.low - 0.761).abs() < 0.01 && (found.high - 0.839).abs() < 0.01, "{found:?}");
        assert_eq!(interval(&pairs, 0.95, 3).unwrap(), found);
    }

    #[test]
    fn a_large_cluster_widens_the_interval() {
        let narrow = documents(200, |i| (1, f64::from(u8::from(i % 2 == 0))));
        let wide =
            documents(200, |i| (if i < 4 { 500 } else { 1 }, f64::from(u8::from(i % 2 == 0))));
        let width = |pairs: &[WeightedShare]| interval(pairs, 0.95, 1).unwrap().width();
        assert!(width(&wide) > 3.0 * width(&narrow));
    }
}
