//! Chooses the same bands and rows as datasketch: the pair with the least weighted sum of the
//! probabilities of false positives and false negatives. Integrates by the first quadrature of
//! `SciPy`'s `quad`.
//!
//! The choice between bands can depend on the last bit of an integral. Sums are therefore computed
//! in the order of QUADPACK, which no quadrature crate promises. For Jaccard similarity, a
//! recurrence computes exact integrals, so that only a few pairs remain to be integrated in
//! QUADPACK's order.
//!
//! No quadrature crate has been compared in speed (November 2026).

/// The absolute and relative error that `quad` accepts.
const TOLERANCE: f64 = 1.49e-8;
/// Maximum number of intervals into which `quad` divides the range.
const INTERVALS: usize = 50;
/// Largest expected difference between a weighted sum of integrals by `quad` and the exact sum.
/// Much more than [`TOLERANCE`], because `quad` may underestimate its error.
const MARGIN: f64 = 1e-4;

/// Nodes of the 21-point Kronrod rule. Every second node belongs to the 10-point Gauss rule.
const NODES: [f64; 11] = [
    0.995_657_163_025_808_1,
    0.973_906_528_517_171_7,
    0.930_157_491_355_708_2,
    0.865_063_366_688_984_5,
    0.780_817_726_586_416_9,
    0.679_409_568_299_024_4,
    0.562_757_134_668_604_7,
    0.433_395_394_129_247_2,
    0.294_392_862_701_460_2,
    0.148_874_338_981_631_22,
    0.0,
];
const KRONROD: [f64; 11] = [
    0.011_694_638_867_371_874,
    0.032_558_162_307_964_725,
    0.054_755_896_574_351_995,
    0.075_039_674_810_919_96,
    0.093_125_454_583_697_6,
    0.109_387_158_802_297_64,
    0.123_491_976_262_065_84,
    0.134_709_217_311_473_34,
    0.142_775_938_577_060_09,
    0.147_739_104_901_338_49,
    0.149_445_554_002_916_9,
];
const GAUSS: [f64; 5] = [
    0.066_671_344_308_688_14,
    0.149_451_349_150_580_6,
    0.219_086_362_515_982_04,
    0.269_266_719_309_996_35,
    0.295_524_224_714_752_87,
];

/// An interval, its integral and the estimated error.
#[derive(Clone, Copy)]
struct QuadratureInterval {
    from: f64,
    to: f64,
    integral: f64,
    error: f64,
    /// The integral of the deviation from the mean.
    spread: f64,
}

/// The Kronrod rule over one interval, with the error estimate of QUADPACK.
fn part(function: &impl Fn(f64) -> f64, from: f64, to: f64) -> QuadratureInterval {
    let centre = 0.5 * (from + to);
    let half = 0.5 * (to - from);
    let middle = function(centre);
    let mut kronrod = middle * KRONROD[10];
    let mut gauss = 0.0;
    let mut absolute = kronrod.abs();
    let mut values = [(0.0, 0.0); 10];
    // Add the nodes of both rules first: QUADPACK rounds its sums in this order, which decides
    // ties.
    for k in [1, 3, 5, 7, 9, 0, 2, 4, 6, 8] {
        let offset = half * NODES[k];
        let below = function(centre - offset);
        let above = function(centre + offset);
        values[k] = (below, above);
        kronrod += KRONROD[k] * (below + above);
        absolute += KRONROD[k] * (below.abs() + above.abs());
        if k % 2 == 1 {
            gauss += GAUSS[k / 2] * (below + above);
        }
    }
    let mean = kronrod * 0.5;
    let mut spread = KRONROD[10] * (middle - mean).abs();
    for (weight, pair) in KRONROD.iter().zip(values) {
        spread += weight * ((pair.0 - mean).abs() + (pair.1 - mean).abs());
    }
    let absolute = absolute * half.abs();
    let spread = spread * half.abs();
    let mut error = ((kronrod - gauss) * half).abs();
    if spread != 0.0 && error != 0.0 {
        error = spread * libm::pow(200.0 * error / spread, 1.5).min(1.0);
    }
    if absolute > f64::MIN_POSITIVE / (50.0 * f64::EPSILON) {
        error = error.max(50.0 * f64::EPSILON * absolute);
    }
    QuadratureInterval { from, to, integral: kronrod * half, error, spread }
}

/// The integral of `function`. Halves the worst interval until the error is small enough.
fn integral(function: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    let allowed = |total: f64| TOLERANCE.max(TOLERANCE * total.abs());
    let first = part(&function, from, to);
    let mut total = first.integral;
    let mut error = first.error;
    let is_sure = error <= allowed(total) && (error - first.spread).abs() > 0.0;
    if is_sure || error == 0.0 {
        return total;
    }
    let mut parts = vec![first];
    while parts.len() < INTERVALS {
        let worst = (0..parts.len())
            .max_by(|&a, &b| parts[a].error.total_cmp(&parts[b].error).then(b.cmp(&a)))
            .unwrap_or(0);
        let halved = parts[worst];
        let middle = 0.5 * (halved.from + halved.to);
        let mut one = part(&function, halved.from, middle);
        let mut two = part(&function, middle, halved.to);
        total += (one.integral + two.integral) - halved.integral;
        error += (one.error + two.error) - halved.error;
        if two.error > one.error {
            std::mem::swap(&mut one, &mut two);
        }
        parts[worst] = one;
        parts.push(two);
        if error <= allowed(total) {
            break;
        }
    }
    parts.iter().map(|part| part.integral).fold(0.0, |sum, integral| sum + integral)
}

/// The bands and rows with the least error; (0, 0) if all errors are NaN.
fn least_error<E>(
    num_perm: usize,
    most_rows: usize,
    mut check: impl FnMut() -> Result<(), E>,
    error: impl Fn(f64, f64) -> f64,
) -> Result<(usize, usize), E> {
    let mut best = (f64::INFINITY, (0, 0));
    for bands in 1..=num_perm {
        check()?;
        for rows in 1..=most_rows.min(num_perm / bands) {
            let error = error(bands as f64, rows as f64);
            if error < best.0 {
                best = (error, (bands, rows));
            }
        }
    }
    Ok(best.1)
}

/// The costs of wrong answers in [`jaccard_bands`] and [`containment_bands`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorWeights {
    /// The cost of a pair below the threshold that shares a band.
    pub false_positive: f64,
    /// The cost of a pair above the threshold that shares no band.
    pub false_negative: f64,
}

/// The errors of 1, 2, … bands of `rows` values, from exact integrals. By integration by parts,
/// `∫₀ˣ (1−sʳ)ᵇ ds = (x·(1−xʳ)ᵇ + r·b·∫₀ˣ (1−sʳ)ᵇ⁻¹ ds) / (1 + r·b)`.
fn exact_errors(threshold: f64, rows: usize, weights: ErrorWeights) -> impl Iterator<Item = f64> {
    let rows = rows as f64;
    let miss = 1.0 - libm::pow(threshold, rows);
    let mut partial = threshold;
    let mut total = 1.0;
    let mut misses = 1.0;
    (1_u32..).map(move |bands| {
        let values = rows * f64::from(bands);
        misses *= miss;
        partial = (threshold * misses + values * partial) / (1.0 + values);
        total *= values / (1.0 + values);
        weights.false_positive * (threshold - partial) + weights.false_negative * (total - partial)
    })
}

/// The areas of false positives and of false negatives, as `quad` of `SciPy` integrates them. False
/// positives are the probability of a hit below the threshold, false negatives the probability of a
/// miss above it.
pub fn error_areas(threshold: f64, bands: f64, rows: f64) -> (f64, f64) {
    let hit = |s: f64| 1.0 - libm::pow(1.0 - libm::pow(s, rows), bands);
    (integral(hit, 0.0, threshold), integral(|s| 1.0 - hit(s), threshold, 1.0))
}

/// The error of a number of bands and rows, as `quad` integrates it.
fn jaccard_error(threshold: f64, bands: usize, rows: usize, weights: ErrorWeights) -> f64 {
    let (positive, negative) = error_areas(threshold, bands as f64, rows as f64);
    positive * weights.false_positive + negative * weights.false_negative
}

/// Bands and rows for a threshold of Jaccard similarity; (0, 0) if all errors are NaN. If several
/// pairs have the least error, chooses fewer bands, then fewer rows. Calls `check` between parts of
/// the work.
///
/// # Errors
/// The errors of `check`.
pub fn jaccard_bands<E>(
    threshold: f64,
    num_perm: usize,
    weights: ErrorWeights,
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<(usize, usize), E> {
    let exact = |rows| exact_errors(threshold, rows, weights).take(num_perm / rows);
    let mut least = f64::INFINITY;
    for rows in 1..=num_perm {
        check()?;
        least = exact(rows).fold(least, f64::min);
    }
    let mut best = (f64::INFINITY, (0, 0));
    for rows in 1..=num_perm {
        for (bands, _) in (1..).zip(exact(rows)).filter(|(_, error)| *error <= least + MARGIN) {
            check()?;
            let error = (jaccard_error(threshold, bands, rows, weights), (bands, rows));
            if error < best {
                best = error;
            }
        }
    }
    Ok(best.1)
}

/// Bands and at most `most_rows` rows for a threshold of containment. `ratio` is the ratio of the
/// sets' sizes. Calls `check` between parts of the work.
///
/// # Errors
/// The errors of `check`.
pub fn containment_bands<E>(
    threshold: f64,
    (num_perm, most_rows): (usize, usize),
    ratio: f64,
    weights: ErrorWeights,
    check: impl FnMut() -> Result<(), E>,
) -> Result<(usize, usize), E> {
    least_error(num_perm, most_rows, check, |b, r| {
        let hit = |t: f64| 1.0 - libm::pow(1.0 - libm::pow(t / (1.0 + ratio - t), r), b);
        let positive = integral(hit, 0.0, threshold.min(ratio));
        let most = ratio.min(1.0);
        let negative =
            if most >= threshold { integral(|t| 1.0 - hit(t), threshold, most) } else { 0.0 };
        positive * weights.false_positive + negative * weights.false_negative
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn weights(false_positive: f64) -> ErrorWeights {
        ErrorWeights { false_positive, false_negative: 1.0 - false_positive }
    }

    #[test]
    fn bands_match_datasketch() {
        // `datasketch.lsh._optimal_param(threshold, num_perm, weight, 1 - weight)` of 2.0.0.
        let known = [
            ((0.5, 128, 0.5), (25, 5)),
            ((0.8, 128, 0.5), (9, 13)),
            ((0.9, 256, 0.5), (9, 28)),
            ((0.5, 64, 0.1), (21, 3)),
        ];
        for ((threshold, num_perm, weight), bands) in known {
            let got =
                jaccard_bands(threshold, num_perm, weights(weight), || Ok::<_, Infallible>(()));
            assert_eq!(got, Ok(bands), "threshold {threshold}, {num_perm} values");
        }
        let got = containment_bands(0.5, (32, 8), 2.0, weights(0.5), || Ok::<_, Infallible>(()));
        assert_eq!(got, Ok((16, 2)));
    }

    /// Chooses among all pairs, each integrated as by `quad`.
    fn bands_of_the_whole_grid(
        threshold: f64,
        num_perm: usize,
        weights: ErrorWeights,
    ) -> (usize, usize) {
        let error = |bands: f64, rows: f64| {
            jaccard_error(threshold, bands as usize, rows as usize, weights)
        };
        let Ok(bands) = least_error(num_perm, num_perm, || Ok::<_, Infallible>(()), error);
        bands
    }

    proptest! {
        #[test]
        fn bands_match_a_full_grid_search(
            threshold in prop_oneof![0.0..=1.0, Just(0.0), Just(0.5), Just(1.0)],
            num_perm in 2_usize..=200,
            weight in prop_oneof![0.0..=1.0, Just(0.0), Just(0.5), Just(1.0)],
        ) {
            let go_on = || Ok::<_, Infallible>(());
            let got = jaccard_bands(threshold, num_perm, weights(weight), go_on);
            let expected = bands_of_the_whole_grid(threshold, num_perm, weights(weight));
            prop_assert_eq!(got, Ok(expected));
        }
    }

    #[test]
    fn recurrence_errors_match_integrals() {
        for threshold in [0.0, 0.3, 0.9, 1.0] {
            for rows in [1, 2, 7, 60] {
                let exact = exact_errors(threshold, rows, weights(0.3)).take(128 / rows);
                for (bands, exact) in (1..).zip(exact) {
                    let error = jaccard_error(threshold, bands, rows, weights(0.3));
                    assert!((exact - error).abs() < 1e-7, "{threshold}, {bands} × {rows}");
                }
            }
        }
    }

    #[test]
    fn integrals_match_exact_values() {
        assert!((integral(|x| x * x, 0.0, 3.0) - 9.0).abs() < 1e-12);
        assert!((integral(f64::sqrt, 0.0, 1.0) - 2.0 / 3.0).abs() < 1e-8);
        assert!(integral(|x| x, 0.5, 0.5).abs() < 1e-12);
    }

    #[test]
    fn failed_checks_stop_band_selection() {
        let mut calls = 0;
        let got = jaccard_bands(0.5, 128, weights(0.5), || {
            calls += 1;
            if calls == 3 { Err("interrupted") } else { Ok(()) }
        });
        assert_eq!((got, calls), (Err("interrupted"), 3));
    }

    #[test]
    fn nan_thresholds_have_no_bands() {
        let got = jaccard_bands(f64::NAN, 8, weights(0.5), || Ok::<_, Infallible>(()));
        assert_eq!(got, Ok((0, 0)));
    }
}
