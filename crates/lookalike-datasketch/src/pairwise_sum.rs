//! Sums in the order in which `NumPy` adds.
//!
//! `numpy.sum` adds in pairs, so it rounds differently from a simple loop. `MinHash.count` and the
//! partitions of an LSH Ensemble need the rounding of `NumPy`. The crate `ndarray` adds eight
//! numbers at a time, but does not halve arrays above 128 numbers, so its sums have other bits.
//!
//! The speeds have not been compared, because the bits decide (November 2026).

/// Maximum number of numbers that eight accumulators add without halving.
const BLOCK: usize = 128;

/// The sum with the rounding of `numpy.sum` over a contiguous array of float64.
pub fn pairwise_sum(numbers: &[f64]) -> f64 {
    if numbers.len() < 8 {
        return numbers.iter().fold(-0.0, |sum, number| sum + number) + 0.0;
    }
    if numbers.len() > BLOCK {
        let half = numbers.len() / 2;
        let (first, second) = numbers.split_at(half - half % 8);
        return pairwise_sum(first) + pairwise_sum(second);
    }
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut sums = [-0.0; 8];
    for eight in eights {
        for (sum, number) in sums.iter_mut().zip(eight) {
            *sum += number;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, number| sum + number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_the_bits_of_numpy() {
        // `numpy.sum(numpy.array([1 / (k + 3) for k in range(n)]))`, as the bits of a float64.
        let numbers: Vec<f64> = (0..1000).map(|k| 1.0 / f64::from(k + 3)).collect();
        let known: [(usize, u64); 6] = [
            (0, 0),
            (5, 4_607_600_610_193_987_525),
            (8, 4_609_114_320_068_742_608),
            (100, 4_615_530_026_323_647_346),
            (129, 4_616_091_045_351_398_767),
            (1000, 4_618_427_307_939_424_128),
        ];
        for (count, bits) in known {
            assert_eq!(pairwise_sum(&numbers[..count]).to_bits(), bits, "{count} numbers");
        }
    }
}
