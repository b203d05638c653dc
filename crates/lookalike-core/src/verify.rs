//! How similar two documents are: exactly, from their shingle sets, or estimated, from signatures.
//!
//! Broder (*On the resemblance and containment of documents*, 1997) defines both measures on sets
//! of shingles A and B:
//!
//! ```text
//! resemblance, here Jaccard   |A ∩ B| / |A ∪ B|       the same either way
//! containment of A in B       |A ∩ B| / |A|           1 when all of A is in B
//! ```
//!
//! As a [`Measure`] of two documents, containment is the containment of the smaller set in the
//! larger one, `|A ∩ B| / min(|A|, |B|)`, which is symmetric.
//!
//! [`overlap`] counts, and an [`Overlap`] computes similarities from the counts with integers. Two
//! minimal hash values agree with a probability equal to the Jaccard similarity. The share of equal
//! values is therefore an unbiased [`estimate`] with standard error √(J(1−J)/k) for k values (0.035
//! at J = 0.8 with 128). Estimates are never called exact, and an estimate alone never verifies a
//! pair.

use crate::kernel::Kernel;
use crate::params::Measure;
use std::cmp::Ordering;

/// Six decimals are millionths.
const MILLION: u128 = 1_000_000;

/// The sizes of two sets and of their intersection. Built by [`overlap`], or from counts. No method
/// panics if the intersection exceeds a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Overlap {
    /// |A ∩ B|.
    pub intersection: u64,
    /// |A|.
    pub left: u64,
    /// |B|.
    pub right: u64,
}

impl Overlap {
    /// |A ∪ B| = |A| + |B| − |A ∩ B|.
    pub fn union(&self) -> u64 {
        self.left.saturating_add(self.right.saturating_sub(self.intersection))
    }

    /// |A ∩ B| / |A ∪ B|, from 0 to 1. An empty set has similarity 0 with every set, including
    /// itself: a document without tokens resembles nothing.
    pub fn jaccard(&self) -> f64 {
        ratio(self.intersection, self.union())
    }

    /// |A ∩ B| / |A|, from 0 to 1: the share of the first document that the second contains. 0 if A
    /// is empty.
    pub fn containment_left(&self) -> f64 {
        ratio(self.intersection, self.left)
    }

    /// |A ∩ B| / |B|, from 0 to 1: the share of the second document that the first contains.
    pub fn containment_right(&self) -> f64 {
        ratio(self.intersection, self.right)
    }

    /// The similarity in this measure, from 0 to 1, rounded to an `f64`; 0 if a set is empty.
    pub fn similarity(&self, measure: Measure) -> f64 {
        let (part, whole) = self.fraction(measure);
        ratio(part, whole)
    }

    /// Returns true if the similarity is at least `threshold`, decided on the exact fraction: 4 of
    /// 5 reaches 0.8, and nothing below does. The threshold stands for the shortest decimal number
    /// that is read as this `f64`, as users write it. Empty sets reach no threshold.
    ///
    /// ```
    /// use lookalike_core::params::Measure::{Containment, Jaccard};
    /// use lookalike_core::verify::Overlap;
    ///
    /// assert!(Overlap { intersection: 4, left: 5, right: 4 }.reaches(Jaccard, 0.8));
    /// assert!(!Overlap { intersection: 3_999, left: 5_000, right: 3_999 }.reaches(Jaccard, 0.8));
    /// assert!(Overlap { intersection: 4, left: 5, right: 90 }.reaches(Containment, 0.8));
    /// ```
    pub fn reaches(&self, measure: Measure, threshold: f64) -> bool {
        let (part, whole) = self.fraction(measure);
        ratio_reaches(part, whole, threshold)
    }

    /// Returns true if the two sets are equal.
    pub fn is_of_equal_sets(&self) -> bool {
        self.intersection == self.left && self.left == self.right
    }

    /// Compares two similarities by cross multiplication, without rounding. Equal fractions such as
    /// 1/2 and 2/4 are equal. O(1).
    pub fn compare(&self, other: &Self, measure: Measure) -> Ordering {
        let (a, b) = self.fraction(measure);
        let (c, d) = other.fraction(measure);
        if b == 0 || d == 0 {
            return a.cmp(&c);
        }
        (u128::from(a) * u128::from(d)).cmp(&(u128::from(c) * u128::from(b)))
    }

    /// The Jaccard similarity with six decimals, see [`Overlap::six_decimals_of`].
    pub fn six_decimals(&self) -> String {
        self.six_decimals_of(Measure::Jaccard)
    }

    /// The similarity with six decimals: the exact fraction, rounded half to even. Only a
    /// similarity of 1 is written as `1.000000`: equal sets or, for containment, a set that the
    /// other one contains. Other values that would round to 1 become `0.999999`.
    pub fn six_decimals_of(&self, measure: Measure) -> String {
        let millionths = self.millionths(measure);
        format!("{}.{:06}", millionths / MILLION, millionths % MILLION)
    }

    /// The number that [`six_decimals_of`](Self::six_decimals_of) writes.
    pub fn rounded(&self, measure: Measure) -> f64 {
        // Both integers have less than 53 bits, so the quotient is the nearest number, like the
        // number parsed from the text.
        self.millionths(measure) as f64 / MILLION as f64
    }

    fn millionths(&self, measure: Measure) -> u128 {
        let (part, whole) = self.fraction(measure);
        let part = u128::from(part);
        let whole = u128::from(whole);
        if whole == 0 {
            return 0;
        }
        if part >= whole {
            return MILLION;
        }
        let quotient = part * MILLION / whole;
        let rest = part * MILLION % whole;
        let increment = match (2 * rest).cmp(&whole) {
            Ordering::Less => 0,
            Ordering::Equal => quotient % 2,
            Ordering::Greater => 1,
        };
        (quotient + increment).min(MILLION - 1)
    }

    /// The similarity as a fraction: part and whole.
    fn fraction(&self, measure: Measure) -> (u64, u64) {
        match measure {
            Measure::Jaccard => (self.intersection, self.union()),
            Measure::Containment => (self.intersection, self.left.min(self.right)),
        }
    }

    /// Exchanges A and B.
    #[must_use]
    pub fn swapped(&self) -> Self {
        Self { intersection: self.intersection, left: self.right, right: self.left }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns true if `part / whole` ≥ `threshold`; false if `part` or `whole` is 0.
fn ratio_reaches(part: u64, whole: u64, threshold: f64) -> bool {
    if part == 0 || whole == 0 {
        return false;
    }
    let quotient = part as f64 / whole as f64;
    // The quotient is within 2⁻⁵² of the fraction, so only close values need exact arithmetic.
    if (quotient - threshold).abs() > 1e-12 {
        return quotient > threshold;
    }
    match decimal(threshold) {
        Some((digits, scale)) => {
            u128::from(part) * u128::from(scale) >= u128::from(digits) * u128::from(whole)
        }
        None => quotient >= threshold,
    }
}

/// The smallest numerator over `whole`, at least 1, that [reaches](Overlap::reaches) the threshold:
/// ⌈threshold · whole⌉ by exact arithmetic. `whole + 1` if none does.
pub(crate) fn min_numerator(whole: u64, threshold: f64) -> u64 {
    // The product is off by at most a few units, so the loops run a few steps at most.
    let guess = (threshold * whole as f64).ceil() as u64;
    let mut part = guess.clamp(1, whole.saturating_add(1));
    while part > 1 && ratio_reaches(part - 1, whole, threshold) {
        part -= 1;
    }
    while part <= whole && !ratio_reaches(part, whole, threshold) {
        part += 1;
    }
    part
}

/// A number from 0 to 1 as `digits / scale`, its shortest decimal form. `None` outside this range
/// and for more than 19 decimals, which no practical threshold has.
fn decimal(value: f64) -> Option<(u64, u64)> {
    // Most thresholds have few decimals. A quotient of integers below 2⁵³ is rounded once, so this
    // loop finds the shortest form without formatting the value.
    let mut scale = 1u64;
    for _ in 0..9 {
        let digits = (value * scale as f64).round();
        if (0.0..1e15).contains(&digits) && (digits / scale as f64).to_bits() == value.to_bits() {
            return Some((digits as u64, scale));
        }
        scale *= 10;
    }
    decimal_by_text(value)
}

fn decimal_by_text(value: f64) -> Option<(u64, u64)> {
    let text = format!("{value}");
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let scale = 10u64.checked_pow(decimals.len() as u32)?;
    let whole = whole.parse::<u64>().ok()?;
    let decimals = format!("0{decimals}").parse().ok()?;
    let digits = whole.checked_mul(scale)?.checked_add(decimals)?;
    Some((digits, scale))
}

/// Counts the common elements of two shingle sets. Both sets are ascending and without repeats,
/// like the result of [`Shingler::set`](crate::shingle::Shingler::set). Takes O(|A| + |B|) time,
/// about 1 ns per element with SIMD, or O(|A| log |B|) if B is much larger.
pub fn overlap(a: &[u64], b: &[u64]) -> Overlap {
    Overlap {
        intersection: Kernel::best().intersect(a, b) as u64,
        left: a.len() as u64,
        right: b.len() as u64,
    }
}

/// The overlap, if it [reaches](Overlap::reaches) the threshold. Checks sizes first: the Jaccard
/// similarity is at most |smaller| / |larger|, so most pairs of different sizes cost nothing
/// (Bayardo, Ma, Srikant, *Scaling up all pairs similarity search*, 2007). Containment has no such
/// bound. Stops counting when the remaining elements cannot reach the threshold. No true pair is
/// lost.
pub fn overlap_at_least(a: &[u64], b: &[u64], measure: Measure, threshold: f64) -> Option<Overlap> {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let small_len = small.len() as u64;
    let large_len = large.len() as u64;
    if measure == Measure::Jaccard && !ratio_reaches(small_len, large_len, threshold) {
        return None;
    }
    // i / (|A| + |B| − i) ≥ t is equivalent to i ≥ t / (1 + t) · (|A| + |B|).
    let needed = match measure {
        Measure::Jaccard => threshold / (1.0 + threshold) * (small_len + large_len) as f64,
        Measure::Containment => threshold * small_len as f64,
    };
    // Slightly reduced, so that rounding cannot make it too large.
    let needed = (needed * (1.0 - 1e-9)) as usize;
    let intersection = intersect_at_least(small, large, needed)? as u64;
    let found = Overlap { intersection, left: a.len() as u64, right: b.len() as u64 };
    Some(found).filter(|found| found.reaches(measure, threshold))
}

/// |small ∩ large|, or `None` as soon as it cannot reach `least`. Checks this after 128, 384, 896
/// … elements. Most dissimilar pairs end at the first check.
fn intersect_at_least(mut small: &[u64], mut large: &[u64], least: usize) -> Option<usize> {
    let kernel = Kernel::best();
    let mut found = 0;
    let mut size = 128;
    while let Some((block, rest)) = small.split_at_checked(size) {
        let last = block.last().copied().unwrap_or(u64::MAX);
        let (near, far) = large.split_at(large.partition_point(|x| *x <= last));
        found += kernel.intersect(block, near);
        small = rest;
        large = far;
        if found + small.len().min(large.len()) < least {
            return None;
        }
        size *= 2;
    }
    Some(found + kernel.intersect(small, large)).filter(|found| *found >= least)
}

/// The share of places at which two signatures are equal, 0 to 1: the estimated Jaccard similarity.
/// Both signatures have the same scheme, length and seed. If the lengths differ, surplus values of
/// the longer one count as different. Do not pass the signature of an empty document: it is the
/// same for all empty documents.
pub fn estimate(a: &[u32], b: &[u32]) -> f64 {
    let length = a.len().min(b.len());
    let equal = Kernel::best().count_equal(&a[..length], &b[..length]);
    ratio(equal as u64, a.len().max(b.len()) as u64)
}

/// The number of equal values, if it is at least `min_equal`; otherwise `None`, usually before all
/// values are compared. Stops counting when the remaining values cannot reach `min_equal`. Compares
/// 32 values at a time.
pub fn estimate_at_least(a: &[u32], b: &[u32], min_equal: usize) -> Option<usize> {
    const BLOCK: usize = 32;
    let mut left = a.len().min(b.len());
    let mut equal = 0;
    for (x, y) in a[..left].chunks(BLOCK).zip(b[..left].chunks(BLOCK)) {
        if equal + left < min_equal {
            return None;
        }
        equal += x.iter().zip(y).filter(|(x, y)| x == y).count();
        left -= x.len();
    }
    (equal >= min_equal).then_some(equal)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "the values are meant to be exact")]

    use super::*;
    use crate::hash::SplitMix64;
    use crate::params::Measure::{Containment, Jaccard};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn of(intersection: u64, union: u64) -> Overlap {
        Overlap { intersection, left: union, right: intersection }
    }

    fn sorted(elements: impl IntoIterator<Item = u64>) -> Vec<u64> {
        elements.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
    }

    #[test]
    fn s1_furniture_has_jaccard_three_fifths() {
        // chair 1, desk 2, rug 3, keyboard 4, mouse 5
        let found = overlap(&[1, 2, 3, 4, 5], &[1, 3, 4]);
        assert_eq!(found, Overlap { intersection: 3, left: 5, right: 3 });
        assert_eq!((found.jaccard(), found.six_decimals()), (0.6, "0.600000".to_owned()));
        assert_eq!((found.containment_left(), found.containment_right()), (0.6, 1.0));
    }

    #[test]
    fn s4_mapped_words() {
        let (a, b) = (sorted([2, 3, 4, 2]), sorted([1, 5, 4, 2]));
        assert_eq!(overlap(&a, &b).jaccard(), 0.4);
        assert_eq!(overlap(&a, &a).jaccard(), 1.0);
        assert_eq!(overlap(&a, &[1]).jaccard(), 0.0);
    }

    #[test]
    fn s6_s9_sets_of_the_tutorials() {
        let (a, b) = (sorted([32, 3, 22, 6, 15, 11]), sorted([15, 30, 7, 11, 28, 3, 17]));
        assert_eq!(overlap(&a, &b).jaccard(), 0.3);
        assert_eq!(overlap(&[2, 3, 5, 7], &[3, 4, 7]).jaccard(), 0.4);
    }

    #[test]
    fn empty_sets_resemble_nothing() {
        let both = overlap(&[], &[]);
        assert_eq!((both.jaccard(), both.containment_left()), (0.0, 0.0));
        assert!(
            !both.reaches(Jaccard, 1e-9)
                && !both.reaches(Jaccard, 0.0)
                && !overlap(&[], &[1]).reaches(Jaccard, 0.0)
        );
        assert_eq!(both.six_decimals(), "0.000000");
        assert_eq!(overlap_at_least(&[], &[], Jaccard, 0.5), None);
        assert_eq!(overlap_at_least(&[], &[1], Containment, 0.5), None);
        assert_eq!(overlap(&[], &[1]).six_decimals_of(Containment), "0.000000");
        assert_eq!(estimate(&[], &[]), 0.0);
    }

    #[test]
    fn threshold_comparison_is_exact() {
        for n in [1, 7, 1_000, 1 << 40] {
            assert!(of(4 * n, 5 * n).reaches(Jaccard, 0.8), "{n}");
            assert!(!of(4 * n - 1, 5 * n).reaches(Jaccard, 0.8), "{n}");
        }
        // The quotient of such large numbers rounds to 0.8, although the fraction is less.
        assert!(!of((4 << 52) - 1, 5 << 52).reaches(Jaccard, 0.8));
        assert!(of(1, 3).reaches(Jaccard, 1.0 / 3.0 - 1e-9) && of(5, 5).reaches(Jaccard, 1.0));
        assert!(!of((1 << 60) - 1, 1 << 60).reaches(Jaccard, 1.0));
        assert!(!of(1, 1).reaches(Jaccard, f64::NAN));
    }

    #[test]
    fn nonsense_counts_give_some_answer() {
        let odd = Overlap { intersection: 9, left: 0, right: 3 };
        assert_eq!((odd.union(), odd.six_decimals()), (0, "0.000000".to_owned()));
        let huge = Overlap { intersection: 3, left: u64::MAX, right: u64::MAX };
        assert_eq!(huge.six_decimals(), "0.000000");
        assert_eq!(huge.compare(&of(0, 0), Jaccard), Ordering::Greater);
    }

    #[test]
    fn six_decimals_never_round_to_one() {
        assert_eq!(of(2, 3).six_decimals(), "0.666667");
        assert_eq!(of(1, 2_000_000).six_decimals(), "0.000000");
        assert_eq!(of(3, 2_000_000).six_decimals(), "0.000002");
        assert_eq!(of(9_999_999, 10_000_000).six_decimals(), "0.999999");
        assert_eq!(of(7, 7).six_decimals(), "1.000000");
    }

    #[test]
    fn containment_uses_the_smaller_set() {
        let mail = overlap(&[1, 2, 3, 4, 5], &[2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(
            (mail.similarity(Containment), mail.swapped().similarity(Containment)),
            (0.8, 0.8)
        );
        assert!(mail.reaches(Containment, 0.8) && !mail.reaches(Jaccard, 0.8));
        assert_eq!(mail.six_decimals_of(Containment), "0.800000");
        let inside = Overlap { intersection: 7, left: 7_000, right: 7 };
        assert!(inside.reaches(Containment, 1.0));
        assert_eq!(inside.six_decimals_of(Containment), "1.000000");
        assert_eq!(inside.compare(&mail, Containment), Ordering::Greater);
        assert_eq!(inside.compare(&mail, Jaccard), Ordering::Less);
        let nearly = Overlap { intersection: 9_999_999, left: 10_000_000, right: 1 << 40 };
        assert_eq!(nearly.six_decimals_of(Containment), "0.999999");
    }

    #[test]
    fn missing_signature_values_count_as_different() {
        assert_eq!(estimate(&[1, 2, 3, 4], &[1, 2]), 0.5);
        assert_eq!(estimate_at_least(&[1, 2, 3, 4], &[1, 2], 3), None);
    }

    fn set() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::btree_set(0u64..60, 0..50).prop_map(|s| s.into_iter().collect())
    }

    proptest! {
        #[test]
        fn thresholds_are_exact_fractions(n in 1u64..2_000, m in 1u64..2_000, t in 1u64..=1_000) {
            let (part, whole) = (n.min(m), n.max(m));
            let expected = u128::from(part) * 1_000 >= u128::from(t) * u128::from(whole);
            prop_assert_eq!(of(part, whole).reaches(Jaccard, t as f64 / 1_000.0), expected);
        }

        #[test]
        fn narrow_misses_are_exact(t in 1u64..=10_000, n in 1u64..1 << 44, near in -3i64..=3) {
            let (whole, part) = (10_000 * n, (t * n).saturating_add_signed(near));
            prop_assume!(part <= whole && part > 0);
            prop_assert_eq!(of(part, whole).reaches(Jaccard, t as f64 / 10_000.0), near >= 0);
        }

        #[test]
        fn six_decimals_are_the_nearest(n in 1u64..=u64::MAX, m in 1u64..=u64::MAX) {
            let (part, whole) = (n.min(m), n.max(m));
            prop_assume!(part < whole);
            let text = of(part, whole).six_decimals();
            let millionths: i128 = text.replace('.', "").parse().unwrap();
            let (part, whole) = (i128::from(part), i128::from(whole));
            prop_assert_eq!(of(n.min(m), n.max(m)).rounded(Jaccard), text.parse::<f64>().unwrap());
            let error = 2 * (millionths * whole - part * 1_000_000).abs();
            prop_assert!(error <= whole || millionths == 999_999, "{}", text);
            prop_assert!(error != whole || millionths % 2 == 0 || millionths == 999_999);
        }

        #[test]
        fn counting_agrees_with_sets(a in set(), b in set(), t in 1u32..=100) {
            let (x, y) = (BTreeSet::from_iter(&a), BTreeSet::from_iter(&b));
            let found = overlap(&a, &b);
            prop_assert_eq!(found.intersection as usize, x.intersection(&y).count());
            prop_assert_eq!(found.union() as usize, x.union(&y).count());
            prop_assert_eq!(overlap(&b, &a), found.swapped());
            for measure in [Jaccard, Containment] {
                let threshold = f64::from(t) / 100.0;
                let whole = match measure {
                    Jaccard => x.union(&y).count(),
                    Containment => x.len().min(y.len()),
                };
                let shared = x.intersection(&y).count();
                let reaches = shared > 0 && 100 * shared >= t as usize * whole;
                prop_assert_eq!(found.reaches(measure, threshold), reaches);
                let expected = Some(found).filter(|_| reaches);
                prop_assert_eq!(overlap_at_least(&a, &b, measure, threshold), expected);
            }
        }

        #[test]
        fn overlap_at_least_equals_filtered_overlap(
            seed: u64, size in 0u64..900, other in 0u64..2_000, density in 1u64..12, t in 1u32..=20,
        ) {
            let mut random = SplitMix64::new(seed);
            let mut draw = |n| sorted((0..n).map(|_| random.below(n.max(size) * density / 4 + 1)));
            let (a, b) = (draw(size), draw(other));
            let found = overlap(&a, &b);
            let near = [found.jaccard(), found.containment_left(), f64::from(t) / 20.0];
            let cases = [Jaccard, Containment].iter().flat_map(|m| near.map(|t| (*m, t)));
            for (measure, threshold) in cases {
                let expected = Some(found).filter(|o| o.reaches(measure, threshold));
                prop_assert_eq!(overlap_at_least(&a, &b, measure, threshold), expected);
                let turned = overlap_at_least(&b, &a, measure, threshold);
                prop_assert_eq!(turned, expected.map(|o| o.swapped()));
            }
        }

        #[test]
        fn decimal_equals_the_textual_fraction(
            digits in 0u64..=1_000_000_000, places in 0u32..12,
        ) {
            let scale = 10u64.pow(places);
            let value = digits.min(scale) as f64 / scale as f64;
            prop_assert_eq!(decimal(value), decimal_by_text(value));
        }

        #[test]
        fn min_numerator_equals_linear_search(whole in 0u64..600, t in 0u32..=1_000) {
            for threshold in [f64::from(t) / 1_000.0, f64::from(t) / 777.0, f64::NAN] {
                let first = (1..=whole).find(|part| ratio_reaches(*part, whole, threshold));
                prop_assert_eq!(min_numerator(whole, threshold), first.unwrap_or(whole + 1));
            }
        }

        #[test]
        fn comparing_fractions_is_exact(a in 0u64..9, b in 1u64..9, c in 0u64..9, d in 1u64..9) {
            let (x, y) = (of(a.min(b), b), of(c.min(d), d));
            let expected = (a.min(b) * d).cmp(&(c.min(d) * b));
            prop_assert_eq!(x.compare(&y, Jaccard), expected);
            // Containment in a larger set has the same fractions.
            let wide = |o: Overlap| Overlap { right: o.left, left: o.left + 3, ..o };
            prop_assert_eq!(wide(x).compare(&wide(y), Containment), expected);
        }

        #[test]
        fn an_early_exit_is_right(
            pairs in prop::collection::vec((0u32..3, 0u32..3), 0..200),
            min_equal in 0usize..200,
        ) {
            let (a, b): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
            let equal = a.iter().zip(&b).filter(|(x, y)| x == y).count();
            let expected = (equal >= min_equal).then_some(equal);
            prop_assert_eq!(estimate_at_least(&a, &b, min_equal), expected);
            if !a.is_empty() {
                prop_assert_eq!(estimate(&a, &b), equal as f64 / a.len() as f64);
            }
        }
    }
}
