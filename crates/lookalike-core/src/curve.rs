//! The S-curve: the probability that a pair becomes a candidate, and the choice of bands × rows.
//!
//! A signature is cut into `bands` bands of `rows` values. Two documents of Jaccard similarity s
//! agree in one value with probability s and in a whole band with probability sʳ. They are a
//! candidate pair if they agree in at least one of b bands, which has the probability
//!
//! ```text
//! P(s) = 1 − (1 − sʳ)ᵇ        Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, ch. 3.4
//! ```
//!
//! Candidates are verified exactly, so false candidates only cost time, while a pair that is not a
//! candidate is lost. [`choose`] therefore guarantees a recall *at the threshold*, P(t), and
//! minimizes the expected time among all choices with this recall. Rules that put the middle of the
//! curve at the threshold lose about half of the pairs there.
//!
//! The choice affects results, so it is computed only with additions, multiplications and
//! divisions, which return the same bits on every platform.

use crate::error::ParamsError;
use crate::parameter::MAX_NUM_HASHES;

/// The signature lengths that are considered if none is given, up to [`MAX_NUM_HASHES`]. Each fills
/// whole vectors and is an eighth to a half greater than the previous one.
const LENGTHS: [usize; 20] = [
    64, 96, 128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 2048, 3072, 4096,
    6144, 8192,
];

/// The minimum length if none is given, also for given bands and rows. Estimates from fewer values
/// have a standard error above 0.035 at a similarity of 0.8.
const USUAL_LENGTH: usize = 128;

/// Pairs per 10⁹ by similarity, in steps of 0.05 from 0. The first entry omits pairs that share
/// nothing. Counted exactly on 13,767 different newswire articles, with an average of 133 shingles
/// of five lower-cased words. Frozen, because the default banding depends on these numbers.
const NEWSWIRE: [u32; 20] = [
    3_793_464, 80_426, 19_692, 10_564, 5_889, 2_955, 1_646, 939, 591, 454, 623, 285, 317, 464, 201,
    401, 295, 359, 274, 338,
];

/// The mean similarity of the pairs in the first step, far from the middle of the step.
const NEWSWIRE_LEAST: f64 = 0.008;

/// The probability, 0 to 1, that a pair with this similarity (0 to 1) shares at least one bucket:
/// `1 − (1 − sʳ)ᵇ`. Exact at 0 and at 1. The relative error is below 10⁻¹², also for very small
/// probabilities. Takes O(log bands + log rows) time.
///
/// ```
/// let recall = lookalike_core::curve::candidate_probability(0.8, 21, 6);
/// assert_eq!((recall * 1000.0).round(), 998.0);
/// ```
pub fn candidate_probability(similarity: f64, bands: usize, rows: usize) -> f64 {
    let same_band = power(similarity.clamp(0.0, 1.0), rows, 1.0, |a, b| a * b);
    // The probability of either event, p + q − pq, is associative like a product. The formula keeps
    // its precision if both probabilities are small, unlike 1 − (1 − p)ᵇ.
    power(same_band, bands, 0.0, |p, q| p + q * (1.0 - p)).min(1.0)
}

/// The similarity at which the curve is steepest: `((r − 1)/(br − 1))^(1/r)`, 0 to 1. With one row,
/// the curve is steepest at 0. Close to [`midpoint`] for many bands.
pub fn steepest(bands: usize, rows: usize) -> f64 {
    let b = bands.max(1) as f64;
    let r = rows.max(1) as f64;
    if rows <= 1 { 0.0 } else { root((r - 1.0) / (b * r - 1.0), rows) }
}

/// The textbook approximation of a banding's threshold: `(1/b)^(1/r)`, 0 to 1. The probability at
/// this similarity is `1 − (1 − 1/b)ᵇ`, about 0.63, so a third of the pairs is lost.
pub fn midpoint(bands: usize, rows: usize) -> f64 {
    root(1.0 / bands.max(1) as f64, rows.max(1))
}

/// A signature length with bands and rows; `bands × rows ≤ num_hashes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Choice {
    /// Values per signature.
    pub num_hashes: usize,
    /// Bands per signature.
    pub bands: usize,
    /// Rows per band.
    pub rows: usize,
}

/// A step of a similarity histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// The similarity that represents the step, 0 to 1.
    pub similarity: f64,
    /// The share of all pairs of different documents in this step, 0 to 1.
    pub share: f64,
}

/// The cost of a run per document, in nanoseconds of one core: `sign_ns · k + band_ns · b +
/// verify_ns · candidates`. The number of candidates grows with the number of documents, so more
/// rows, and thus longer signatures, pay off for large collections.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Documents in the collection.
    pub documents: u64,
    /// Nanoseconds per document for each value of its signature.
    pub sign_ns: f64,
    /// Nanoseconds per document for each band.
    pub band_ns: f64,
    /// Nanoseconds per candidate pair.
    pub verify_ns: f64,
    /// The shortest signature to consider if no length is given.
    pub least_num_hashes: usize,
    /// The distribution of the similarity of two random documents. Pairs that have nothing in
    /// common may be omitted.
    pub histogram: Vec<Bin>,
}

impl Default for Cost {
    /// The model of [`choose`], fixed so that the choice never depends on the input. Assumes the
    /// times of a Zen 4 core and a million documents that are as similar to each other as newswire
    /// articles: among 10⁸ pairs, about 390,000 share a shingle of five words and 360 reach 0.5.
    ///
    /// | price | ns | from |
    /// |---|---|---|
    /// | signing, per value | 2.8 | 2.2 kB of text: 1.91 µs with 64 values, 2.10 with 128 |
    /// | grouping, per band | 9.7 | measured on ten million documents |
    /// | verifying, per candidate | 500 | 300 for sets of 150, 200 to fetch the two |
    ///
    /// (Measured: 91 ns to intersect sets of 50 shingles, 609 ns for sets of 300, and 150 ns for a
    /// random read.)
    fn default() -> Self {
        let bin = |(i, count): (usize, &u32)| Bin {
            similarity: if i == 0 { NEWSWIRE_LEAST } else { (i as f64 + 0.5) / 20.0 },
            share: f64::from(*count) / 1e9,
        };
        Self {
            documents: 1_000_000,
            sign_ns: 2.8,
            band_ns: 9.7,
            verify_ns: 500.0,
            least_num_hashes: USUAL_LENGTH,
            histogram: NEWSWIRE.iter().enumerate().map(bin).collect(),
        }
    }
}

impl Cost {
    /// The default prices for a collection of `documents` documents, with similarities from a
    /// sample of `sample` documents whose pairs were all compared. `similarities` contains the
    /// exact Jaccard similarities in any order; zeros may be omitted. They are grouped in steps of
    /// 0.05, each represented by its mean.
    pub fn of_sample(
        documents: u64,
        sample: u64,
        similarities: impl IntoIterator<Item = f64>,
    ) -> Self {
        // Adds integer millionths, so that the order of summation does not matter.
        let mut steps = [(0u64, 0u64); 20];
        for similarity in similarities.into_iter().map(|s| s.clamp(0.0, 1.0)) {
            let (count, sum) = &mut steps[((similarity * 20.0) as usize).min(19)];
            *count += 1;
            *sum = sum.saturating_add((similarity * 1e6).round() as u64);
        }
        let pairs = sample as f64 * (sample.saturating_sub(1) as f64) / 2.0;
        let bin = |&(count, sum): &(u64, u64)| Bin {
            similarity: sum as f64 / count as f64 / 1e6,
            share: (count as f64 / pairs.max(1.0)).min(1.0),
        };
        let histogram = steps.iter().filter(|(count, _)| *count > 0).map(bin).collect();
        Self { documents, histogram, ..Self::default() }
    }

    /// Sets the verification time for sets of this size: 200 ns to fetch two sets, plus 2 ns per
    /// shingle to intersect them.
    #[must_use]
    pub fn with_set_size(mut self, shingles: usize) -> Self {
        self.verify_ns = 200.0 + 2.0 * shingles as f64;
        self
    }

    /// Candidate pairs to expect per document: `(N − 1)/2 · Σ share · P(similarity)`.
    pub fn candidates(&self, bands: usize, rows: usize) -> f64 {
        let share = |bin: &Bin| bin.share * candidate_probability(bin.similarity, bands, rows);
        let others = self.documents.saturating_sub(1) as f64;
        self.histogram.iter().map(share).sum::<f64>() * others / 2.0
    }

    /// Nanoseconds to expect per document, on one core.
    pub fn per_document_ns(&self, choice: Choice) -> f64 {
        let candidates = self.candidates(choice.bands, choice.rows);
        self.fixed_ns(choice.num_hashes, choice.bands) + self.verify_ns * candidates
    }

    fn fixed_ns(&self, num_hashes: usize, bands: usize) -> f64 {
        self.sign_ns * num_hashes as f64 + self.band_ns * bands as f64
    }
}

/// Returns the length, bands and rows with the least default [`Cost`] whose predicted recall at the
/// threshold is at least `recall`. Given values are not changed. The choice depends only on these
/// arguments, never on a collection, so all parts of a collection have the same bands.
///
/// * Nothing given: lengths from 128 on. `threshold` 0.8 and `recall` 0.99 result in 128 values
///   with 21 bands × 6 rows.
/// * Bands not given: as many as fit into the signature, because its values are computed anyway.
/// * Bands and rows given: used unchanged, whatever their recall. If no length is given, it is at
///   least 128 and a multiple of 8.
///
/// ```
/// use lookalike_core::curve::{Choice, choose};
///
/// let choice = choose(0.8, 0.99, None, None, None)?;
/// assert_eq!(choice, Choice { num_hashes: 128, bands: 21, rows: 6 });
/// # Ok::<(), lookalike_core::error::ParamsError>(())
/// ```
///
/// # Errors
/// [`ParamsError::NumHashes`] above [`MAX_NUM_HASHES`]. [`ParamsError::Banding`] if bands or rows
/// are 0 or do not fit. [`ParamsError::Unreachable`], with the best possible recall, if no choice
/// reaches the recall.
pub fn choose(
    threshold: f64,
    recall: f64,
    num_hashes: Option<usize>,
    bands: Option<usize>,
    rows: Option<usize>,
) -> Result<Choice, ParamsError> {
    if let Some(got) = num_hashes.filter(|n| *n > MAX_NUM_HASHES) {
        return Err(ParamsError::NumHashes { got });
    }
    let longest = num_hashes.unwrap_or(MAX_NUM_HASHES);
    let least_bands = bands.unwrap_or(1);
    let least_rows = rows.unwrap_or(1);
    match least_bands.checked_mul(least_rows) {
        Some(1..) if least_bands * least_rows <= longest => {}
        _ => {
            let bands = least_bands;
            let rows = least_rows;
            return Err(ParamsError::Banding { bands, rows, num_hashes: longest });
        }
    }
    if let (Some(bands), Some(rows)) = (bands, rows) {
        let needed = USUAL_LENGTH.max((bands * rows).next_multiple_of(8));
        return Ok(Choice { num_hashes: num_hashes.unwrap_or(needed), bands, rows });
    }
    cheapest(threshold, recall, [num_hashes, bands, rows], &Cost::default())
}

/// Like [`choose`], but minimizes the time that `cost` predicts. Considers all bandings of this
/// length, or of every usual length from `cost.least_num_hashes` on.
///
/// # Errors
/// As for [`choose`], and [`ParamsError::NumHashes`] for length 0.
pub fn choose_for(
    threshold: f64,
    recall: f64,
    num_hashes: Option<usize>,
    cost: &Cost,
) -> Result<Choice, ParamsError> {
    if let Some(got) = num_hashes.filter(|n| !(1..=MAX_NUM_HASHES).contains(n)) {
        return Err(ParamsError::NumHashes { got });
    }
    cheapest(threshold, recall, [num_hashes, None, None], cost)
}

/// The expected results of a banding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Banding {
    /// Bands per signature.
    pub bands: usize,
    /// Rows per band.
    pub rows: usize,
    /// The probability that a pair at the threshold becomes a candidate.
    pub recall: f64,
    /// Whether [`recall`](Self::recall) reaches the requested recall.
    pub reaches: bool,
    /// The similarity at which the curve is steepest, see [`steepest`].
    pub steepest: f64,
    /// Candidate pairs to expect in the whole collection.
    pub candidates: f64,
    /// Nanoseconds to expect per document.
    pub cost_ns: f64,
}

/// Every banding of signatures of one length, by ascending rows, with as many bands as fit. Empty
/// for length 0. Lengths above [`MAX_NUM_HASHES`] are reduced to it.
pub fn table(threshold: f64, recall: f64, num_hashes: usize, cost: &Cost) -> Vec<Banding> {
    let num_hashes = num_hashes.min(MAX_NUM_HASHES);
    let banding = |rows| {
        let choice = Choice { num_hashes, bands: num_hashes / rows, rows };
        let predicted = candidate_probability(threshold, choice.bands, rows);
        Banding {
            bands: choice.bands,
            rows,
            recall: predicted,
            reaches: predicted >= recall,
            steepest: steepest(choice.bands, rows),
            candidates: cost.candidates(choice.bands, rows) * cost.documents as f64,
            cost_ns: cost.per_document_ns(choice),
        }
    };
    (1..=num_hashes).map(banding).collect()
}

/// The choice with the least cost among those that reach the recall. Costs are compared in integer
/// picoseconds. Ties go to the shorter signature, then to fewer bands, then to fewer rows.
fn cheapest(
    threshold: f64,
    recall: f64,
    [num_hashes, bands, rows]: [Option<usize>; 3],
    cost: &Cost,
) -> Result<Choice, ParamsError> {
    let picoseconds = |ns: f64| (ns * 1000.0).round() as u64;
    let mut best: Option<(u64, Choice)> = None;
    let usual = LENGTHS.iter().copied().filter(|&l| l >= cost.least_num_hashes);
    let lengths = num_hashes.map_or_else(|| usual.collect(), |length| vec![length]);
    for &length in &lengths {
        let least = picoseconds(cost.fixed_ns(length, 1));
        if best.is_some_and(|(price, _)| least > price) {
            continue;
        }
        let (from, to) = rows.map_or((1, length / bands.unwrap_or(1)), |rows| (rows, rows));
        for rows in from..=to {
            let bands = bands.unwrap_or(length / rows);
            let fits = bands > 0 && bands.checked_mul(rows).is_some_and(|used| used <= length);
            if !fits || candidate_probability(threshold, bands, rows) < recall {
                continue;
            }
            let choice = Choice { num_hashes: length, bands, rows };
            let price = picoseconds(cost.per_document_ns(choice));
            let key = |(price, c): (u64, Choice)| (price, c.num_hashes, c.bands, c.rows);
            if best.is_none_or(|old| key((price, choice)) < key(old)) {
                best = Some((price, choice));
            }
        }
    }
    best.map(|(_, choice)| choice).ok_or_else(|| {
        // One row per band has the highest probability of a shared bucket among all bandings.
        let longest = lengths.last().copied().unwrap_or(MAX_NUM_HASHES);
        let rows = rows.unwrap_or(1);
        let best = candidate_probability(threshold, bands.unwrap_or(longest / rows), rows);
        ParamsError::Unreachable { threshold, recall, num_hashes: longest, best }
    })
}

/// Combines `times` copies of `base` by an associative operation, with repeated squaring. `neutral`
/// is the result for 0 copies.
fn power(
    mut base: f64,
    mut times: usize,
    neutral: f64,
    operation: impl Fn(f64, f64) -> f64,
) -> f64 {
    let mut result = neutral;
    while times > 0 {
        if times % 2 == 1 {
            result = operation(result, base);
        }
        base = operation(base, base);
        times /= 2;
    }
    result
}

/// The root of degree `degree` of a value from 0 to 1, by bisection. Avoids `powf`, which rounds
/// differently on each platform.
fn root(value: f64, degree: usize) -> f64 {
    let mut low = 0.0;
    let mut high = 1.0;
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return high;
        }
        if power(middle, degree, 1.0, |a, b| a * b) < value {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "the values are meant to be exact")]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn larger_sets_take_longer_to_compare() {
        let usual = Cost::default();
        assert_eq!(usual.clone().with_set_size(150), usual);
        assert_eq!(usual.with_set_size(1_000).verify_ns, 2_200.0);
    }

    fn near(a: f64, b: f64, within: f64) -> bool {
        (a - b).abs() <= within
    }

    #[test]
    fn s11_the_formulas_by_hand() {
        // n = b·r = 100 as 20 × 5: p_t = (4/99)^(1/5), about (1/20)^(1/5).
        assert!(near(steepest(20, 5), 0.526_40, 1e-4), "{}", steepest(20, 5));
        assert!(near(midpoint(20, 5), 0.549_28, 1e-4), "{}", midpoint(20, 5));
        assert!(near(midpoint(16, 4), 0.5, 1e-12));
        // The table of Mining of Massive Datasets, ch. 3.4.
        let table =
            [(0.2, 0.006), (0.3, 0.047), (0.4, 0.186), (0.5, 0.470), (0.6, 0.802), (0.7, 0.975)];
        for (s, p) in table {
            assert!(near(candidate_probability(s, 20, 5), p, 0.000_6), "{s}");
        }
        assert!(near(candidate_probability(0.8, 20, 5), 0.999_6, 0.000_06));
    }

    #[test]
    fn steepest_finds_the_greatest_slope() {
        for (bands, rows) in [(20, 5), (21, 6), (9, 13), (64, 2)] {
            let at = steepest(bands, rows);
            let slope = |s: f64| {
                candidate_probability(s + 1e-4, bands, rows)
                    - candidate_probability(s - 1e-4, bands, rows)
            };
            assert!(slope(at) > slope(at - 0.02) && slope(at) > slope(at + 0.02), "{bands}");
        }
        assert_eq!((steepest(1, 1), steepest(0, 0), midpoint(0, 0)), (0.0, 0.0, 1.0));
    }

    #[test]
    fn known_bandings_have_their_recall() {
        let known = [
            (0.8, 21, 6, 0.998),
            (0.8, 9, 13, 0.40),
            (0.8, 12, 5, 0.992),
            (0.8, 32, 8, 0.997),
            (0.5, 25, 5, 0.55),
            (0.5, 42, 3, 0.996),
            (0.9, 12, 10, 0.994),
            (0.9, 5, 25, 0.31),
        ];
        for (s, bands, rows, p) in known {
            let recall = candidate_probability(s, bands, rows);
            assert!(near(recall, p, 0.005), "{bands} x {rows}: {recall}");
        }
        assert!(near(candidate_probability(0.8, 16, 4), 0.999_8, 0.000_05));
    }

    #[test]
    fn candidate_probability_is_exact_at_ends() {
        for (bands, rows) in [(1, 1), (21, 6), (8192, 1), (1, 8192)] {
            assert_eq!(candidate_probability(0.0, bands, rows), 0.0);
            assert_eq!(candidate_probability(1.0, bands, rows), 1.0);
        }
        assert_eq!(candidate_probability(0.5, 0, 3), 0.0);
        assert!(near(candidate_probability(1e-6, 100, 3) / 1e-16, 1.0, 1e-12));
    }

    /// Frozen, because a different choice changes the results of all users of the defaults.
    #[test]
    fn default_choices_are_frozen() {
        let frozen = [
            (1.0, 0.99, (128, 1, 128)),
            (0.95, 0.99, (128, 8, 16)),
            (0.9, 0.99, (128, 12, 10)),
            (0.85, 0.99, (128, 16, 8)),
            (0.8, 0.9, (128, 16, 8)),
            (0.8, 0.99, (128, 21, 6)),
            (0.8, 0.999, (128, 25, 5)),
            (0.75, 0.99, (128, 25, 5)),
            (0.7, 0.99, (256, 42, 6)),
            (0.6, 0.99, (320, 64, 5)),
            (0.5, 0.99, (320, 80, 4)),
            (0.4, 0.99, (256, 85, 3)),
            (0.3, 0.99, (512, 170, 3)),
            (0.2, 0.99, (2048, 682, 3)),
            (0.1, 0.99, (1024, 512, 2)),
        ];
        for (threshold, recall, expected) in frozen {
            let found = choose(threshold, recall, None, None, None).unwrap();
            let found = (found.num_hashes, found.bands, found.rows);
            assert_eq!(found, expected, "threshold {threshold}, recall {recall}");
        }
    }

    #[test]
    fn given_bandings_are_kept() {
        let choice = |n, b, r| choose(0.8, 0.99, n, b, r).map(|c| (c.num_hashes, c.bands, c.rows));
        assert_eq!(choice(Some(64), None, None), Ok((64, 12, 5)));
        assert_eq!(choice(Some(100), Some(5), Some(20)), Ok((100, 5, 20)));
        assert_eq!(choice(None, Some(5), Some(20)), Ok((128, 5, 20)));
        assert_eq!(choice(None, Some(13), Some(11)), Ok((144, 13, 11)));
        assert_eq!(choice(Some(128), Some(16), None), Ok((128, 16, 6)));
        assert_eq!(choice(Some(128), None, Some(4)), Ok((128, 32, 4)));
        assert_eq!(choice(None, None, Some(7)), Ok((192, 27, 7)));
        assert_eq!(choice(None, Some(16), None), Ok((128, 16, 6)));
    }

    #[test]
    fn impossible_bandings_are_errors() {
        assert_eq!(LENGTHS.last(), Some(&MAX_NUM_HASHES));
        for (n, b, r) in [
            (None, Some(0), None),
            (None, None, Some(0)),
            (Some(128), Some(20), Some(7)),
            (Some(10), Some(11), None),
            (Some(10), None, Some(11)),
            (None, Some(8193), None),
            (None, Some(usize::MAX), Some(usize::MAX)),
        ] {
            let error = choose(0.8, 0.99, n, b, r).unwrap_err();
            assert!(matches!(error, ParamsError::Banding { .. }), "{error}");
        }
        let error = choose(0.5, 0.99, Some(4), None, None).unwrap_err();
        let best = 1.0 - 0.5f64.powi(4);
        let expected =
            ParamsError::Unreachable { threshold: 0.5, recall: 0.99, num_hashes: 4, best };
        assert_eq!(error, expected);
        assert!(choose_for(0.5, 0.99, Some(0), &Cost::default()).is_err());
        // Too large lengths are rejected before any loop over them.
        for got in [MAX_NUM_HASHES + 1, usize::MAX] {
            let refused = Err(ParamsError::NumHashes { got });
            assert_eq!(choose(0.5, 0.9, Some(got), None, None), refused);
            assert_eq!(choose(0.5, 0.9, Some(got), Some(got), Some(1)), refused);
            assert_eq!(choose_for(0.5, 0.9, Some(got), &Cost::default()), refused);
            assert_eq!(table(0.5, 0.9, got, &Cost::default()).len(), MAX_NUM_HASHES);
        }
    }

    #[test]
    fn more_documents_never_reduce_rows() {
        let mut rows = 0;
        for documents in [0, 1_000, 100_000, 10_000_000, 1_000_000_000] {
            let cost = Cost { documents, ..Cost::default() };
            let choice = choose_for(0.8, 0.9, Some(256), &cost).unwrap();
            assert!(choice.rows >= rows);
            rows = choice.rows;
        }
        let few = Cost { documents: 10_000, least_num_hashes: 64, ..Cost::default() };
        assert_eq!(choose_for(0.8, 0.99, None, &few).unwrap().num_hashes, 64);
    }

    #[test]
    fn a_sample_becomes_a_histogram() {
        let cost = Cost::of_sample(1_000, 5, [0.5, 0.52, 1.0, f64::NAN]);
        let shares: Vec<f64> = cost.histogram.iter().map(|bin| bin.share).collect();
        assert_eq!(shares, [0.1, 0.2, 0.1]);
        assert!(near(cost.histogram[1].similarity, 0.51, 1e-9));
        let rows = table(0.8, 0.99, 128, &cost);
        assert_eq!((rows.len(), rows[5].bands, rows[5].reaches), (128, 21, true));
        assert!(near(rows[0].candidates, 1_000.0 * 999.0 / 2.0 * 0.3, 1.0));
        assert!(table(0.8, 0.99, 0, &cost).is_empty() && !rows[100].reaches);
        assert!(Cost::of_sample(0, 0, []).candidates(1, 1) == 0.0);
    }

    proptest! {
        #[test]
        fn agrees_with_the_formula(s in 0.0..=1.0f64, bands in 1usize..500, rows in 1usize..50) {
            let log = (-s.powf(rows as f64)).ln_1p() * bands as f64;
            let (found, expected) = (candidate_probability(s, bands, rows), -log.exp_m1());
            let within = 1e-12 * expected.max(1e-300);
            prop_assert!(near(found, expected, within), "{} {}", found, expected);
            prop_assert!((0.0..=1.0).contains(&found));
            prop_assert!(candidate_probability(s, bands + 1, rows) >= found);
            prop_assert!(candidate_probability(s, bands, rows + 1) <= found);
        }

        #[test]
        fn choice_reaches_recall_or_reports_best(
            threshold in 0.05..=1.0f64,
            recall in 0.5..0.9999f64,
            length in prop::option::of(1usize..1024),
            bands in prop::option::of(1usize..100),
        ) {
            match choose(threshold, recall, length, bands, None) {
                Ok(Choice { num_hashes, bands: b, rows: r }) => {
                    prop_assert!(candidate_probability(threshold, b, r) >= recall);
                    prop_assert!(b * r <= num_hashes && b >= 1 && r >= 1);
                    prop_assert!(length.is_none_or(|l| l == num_hashes));
                    prop_assert!(bands.is_none_or(|given| given == b));
                }
                Err(ParamsError::Unreachable { best, num_hashes, .. }) => {
                    prop_assert!(best < recall);
                    let all = bands.unwrap_or(num_hashes);
                    prop_assert_eq!(best, candidate_probability(threshold, all, 1));
                }
                Err(other) => prop_assert!(bands > length && length.is_some(), "{}", other),
            }
        }

        /// Asking for more recall never costs less, and a choice that still suffices stays.
        #[test]
        fn is_monotone_in_recall(
            threshold in 0.05..=1.0f64,
            low in 0.5..0.9999f64,
            high in 0.5..0.9999f64,
            length in prop::option::of(1usize..512),
        ) {
            let (low, high) = (low.min(high), low.max(high));
            let less = choose(threshold, low, length, None, None);
            let more = choose(threshold, high, length, None, None);
            match (less, more) {
                (Ok(less), Ok(more)) => {
                    let cost = Cost::default();
                    let (a, b) = (cost.per_document_ns(less), cost.per_document_ns(more));
                    prop_assert!(a <= b + 0.001);
                    if candidate_probability(threshold, less.bands, less.rows) >= high {
                        prop_assert_eq!(less, more);
                    }
                }
                (less, more) => prop_assert!(more.is_err(), "{:?} {:?}", less, more),
            }
        }
    }
}
