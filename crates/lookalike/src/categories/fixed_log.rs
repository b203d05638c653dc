//! Integer logarithms. They are equal on every machine, unlike the logarithms of mathematical
//! libraries.

/// The number that represents 1 in the results of [`log2`].
pub(super) const ONE: i64 = 1 << FRACTION;
const FRACTION: u32 = 8;

/// Returns log₂ of `numerator / denominator` in units of 1/256, accurate to about one unit. An
/// argument of 0 counts as 1.
pub(super) fn log2(numerator: u64, denominator: u64) -> i64 {
    of_one(numerator.max(1)) - of_one(denominator.max(1))
}

/// Returns log₂ of a number that is at least 1. Squaring doubles a logarithm, so each squaring
/// yields one more bit.
fn of_one(number: u64) -> i64 {
    let whole = number.ilog2();
    // At least 1 and below 2, as a fixed-point number with 32 fractional bits.
    let mut mantissa = (u128::from(number) << 32) >> whole;
    let mut bits = i64::from(whole);
    for _ in 0..FRACTION {
        mantissa = (mantissa * mantissa) >> 32;
        let carry = mantissa >> 33;
        mantissa >>= carry;
        bits = bits << 1 | carry as i64;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log2_matches_std_within_one_unit() {
        for (a, b) in [(1, 1), (2, 1), (10, 3), (3, 10), (20_000, 1), (u64::MAX, 7), (0, 0)] {
            let expected = (a.max(1) as f64 / b.max(1) as f64).log2() * ONE as f64;
            assert!((log2(a, b) as f64 - expected).abs() <= 1.01, "{a} / {b}");
        }
        assert_eq!((log2(8, 1), log2(1, 8)), (3 * ONE, -3 * ONE));
    }
}
