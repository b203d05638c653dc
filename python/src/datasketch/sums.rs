//! Sums in the order that `NumPy` adds.

/// Up to how many numbers are added by eight accumulators.
const BLOCK: usize = 128;

/// The sum as `numpy.sum` rounds it: halves are added up for themselves.
pub(super) fn pairwise(numbers: &[f64]) -> f64 {
    if numbers.len() < 8 {
        return numbers.iter().fold(-0.0, |sum, number| sum + number) + 0.0;
    }
    if numbers.len() > BLOCK {
        let half = numbers.len() / 2;
        let (first, second) = numbers.split_at(half - half % 8);
        return pairwise(first) + pairwise(second);
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
