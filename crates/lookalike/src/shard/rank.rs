//! Similarities as whole numbers in the order of the exact fractions.

use lookalike_core::params::Measure;
use lookalike_core::verify::Overlap;

/// ⌊2⁶⁴ · similarity⌋, and 2⁶⁴ - 1 for equal sets. Fractions of sets with fewer than 2³² members
/// differ by more than 2⁻⁶⁴, so two ranks are ordered as [`Overlap::compare`] orders the overlaps,
/// and are equal only for equal fractions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimilarityRank(u64);

impl SimilarityRank {
    /// The rank of equal sets.
    pub const GREATEST: Self = Self(u64::MAX);

    /// The rank of an overlap by a measure.
    pub fn new(overlap: &Overlap, measure: Measure) -> Self {
        let (part, whole) = match measure {
            Measure::Jaccard => (overlap.intersection, overlap.union()),
            Measure::Containment => (overlap.intersection, overlap.left.min(overlap.right)),
        };
        let rank = (u128::from(part) << 64).checked_div(u128::from(whole)).unwrap_or(0);
        Self(u64::try_from(rank).unwrap_or(u64::MAX))
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The number minus 2⁶³, for engines with signed whole numbers. The order is the same.
    pub fn signed(self) -> i64 {
        (self.0 ^ 1 << 63).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn overlap((intersection, left, right): (u64, u64, u64)) -> Overlap {
        Overlap { intersection, left: intersection + left, right: intersection + right }
    }

    proptest! {
        #[test]
        fn ranks_are_ordered_as_overlaps(
            a in (0..1u64 << 31, 0..1u64 << 30, 0..1u64 << 30),
            b in (0..1u64 << 31, 0..1u64 << 30, 0..1u64 << 30),
        ) {
            let (a, b) = (overlap(a), overlap(b));
            for measure in [Measure::Jaccard, Measure::Containment] {
                let ranks = [&a, &b].map(|overlap| SimilarityRank::new(overlap, measure));
                prop_assert_eq!(ranks[0].cmp(&ranks[1]), a.compare(&b, measure));
                prop_assert_eq!(ranks[0].signed().cmp(&ranks[1].signed()), ranks[0].cmp(&ranks[1]));
            }
        }

        #[test]
        fn neighbouring_fractions_differ(whole in 2..u64::from(u32::MAX)) {
            let of = |part, whole| {
                let overlap = Overlap { intersection: part, left: whole, right: part };
                SimilarityRank::new(&overlap, Measure::Jaccard)
            };
            prop_assert!(of(whole - 1, whole) < of(whole, whole));
            prop_assert!(of(whole - 2, whole - 1) < of(whole - 1, whole));
            prop_assert_eq!(of(1, whole / 2 + 1), of(2, 2 * (whole / 2 + 1)));
        }
    }
}
