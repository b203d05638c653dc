//! Signatures with one byte per value, to compare one signature with a whole collection, and
//! signatures with one bit per value, to reject candidate pairs.
//!
//! Li and König (*b-Bit Minwise Hashing*, 2010) keep b bits of each MinHash value. Here b = 8: the
//! byte of a value is the top byte of its product with an odd constant. Equal values have equal
//! bytes; unequal values have equal bytes with probability 1/256. The bytes of two signatures
//! therefore agree at a place with probability
//!
//! ```text
//! p = 1/256 + (1 − 1/256) · J
//! ```
//!
//! for documents of Jaccard similarity J. The number of equal bytes has a binomial distribution
//! with k places and probability p. [`probability_of_more`] is the tail of this distribution. A
//! search that stops at a number of equal bytes finds a document with this probability.
//!
//! With b = 1, p = (1 + J) / 2. Pairs of dissimilar documents that share a bucket by chance differ
//! in many bits, so [`SignatureBits`] rejects most of them before their texts are read again.
//!
//! Compact signatures exist only during a run, so their form may change.

use crate::kernel::{self, Kernel};

/// Rows of compact signatures have a multiple of this many bytes.
pub const BLOCK: usize = kernel::ROW_BLOCK;

/// Padding after the last value of rows and probes. The two bytes differ, so padding is never
/// equal.
const ROW_FILL: u8 = 0;
const PROBE_FILL: u8 = 1;
/// Values are multiplied by this odd constant. Compact signatures keep the top bits of the
/// products.
const SPREAD: u32 = 0x9e37_79b1;
/// 2⁻⁵⁰⁰. Smaller terms are scaled, or omitted from a sum.
const TINY: f64 = f64::from_bits((1023 - 500) << 52);

/// Bytes of a row for signatures of `num_hashes` values: the next multiple of [`BLOCK`].
pub fn row_bytes(num_hashes: usize) -> usize {
    num_hashes.next_multiple_of(BLOCK)
}

/// Appends the row of a signature: [`row_bytes`] bytes.
pub fn push_row(signature: &[u32], rows: &mut Vec<u8>) {
    extend(signature, ROW_FILL, rows);
}

/// The signature to compare with rows: [`row_bytes`] bytes.
pub fn probe(signature: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(row_bytes(signature.len()));
    extend(signature, PROBE_FILL, &mut bytes);
    bytes
}

fn extend(signature: &[u32], fill: u8, bytes: &mut Vec<u8>) {
    bytes.extend(signature.iter().map(|value| (value.wrapping_mul(SPREAD) >> 24) as u8));
    let fills = row_bytes(signature.len()) - signature.len();
    bytes.extend(std::iter::repeat_n(fill, fills));
}

/// Writes to `counts` the number of places at which each row agrees with the probe. A count is at
/// least the number of equal values of the two signatures. `rows` has a row of `probe.len()` bytes
/// for each entry of `counts`; entries without a row become 0. Runs at memory speed: about 15 ms
/// for a million rows of 128 bytes.
pub fn count_equal(probe: &[u8], rows: &[u8], counts: &mut [u16]) {
    Kernel::best().count_equal_rows(probe, rows, counts);
}

/// One bit of each of the first [`Self::PLACES`] values of a signature. The length of a shorter
/// signature is rounded down to a multiple of four.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SignatureBits(pub [u64; 2]);

impl SignatureBits {
    /// Maximum number of values that have a bit.
    pub const PLACES: usize = 128;
    /// Maximum probability that similar documents have too many unequal bits.
    const LOSS: f64 = 1e-9;

    /// Takes the top bit of each value's product, as for bytes. A bit of the value itself is
    /// unsuitable: hash functions multiply by an odd number, so the lowest bit in which two
    /// shingles differ is different at all places.
    pub fn of(signature: &[u32]) -> Self {
        let mut lanes = [0u32; 4];
        for values in signature.as_chunks::<4>().0.iter().take(Self::PLACES / 4) {
            for (lane, value) in lanes.iter_mut().zip(values) {
                *lane = *lane << 1 | value.wrapping_mul(SPREAD) >> 31;
            }
        }
        let [a, b, c, d] = lanes.map(u64::from);
        Self([a << 32 | b, c << 32 | d])
    }

    /// The number of places with unequal bits.
    pub fn unequal(self, other: Self) -> u32 {
        let [a, b] = [0, 1].map(|i| (self.0[i] ^ other.0[i]).count_ones());
        a + b
    }

    /// Returns the least number of unequal places that documents of at least this similarity exceed
    /// with a probability below 10⁻⁹. Assumes signatures of `num_hashes` values whose places agree
    /// independently, which excludes [`Scheme::Xor`](crate::params::Scheme::Xor). Takes O(p²) time
    /// for p = min(`num_hashes`, [`Self::PLACES`]).
    pub fn most_unequal(num_hashes: usize, similarity: f64) -> u32 {
        let places = num_hashes.min(Self::PLACES) / 4 * 4;
        let p = f64::midpoint(1.0, similarity.clamp(0.0, 1.0));
        let is_rare = |unequal: &usize| {
            let equal = places - unequal;
            equal == 0 || probability_of_at_most(equal - 1, places, p) < Self::LOSS
        };
        (0..=places).find(is_rare).unwrap_or(places) as u32
    }
}

/// The probability that the compact signatures of two documents agree at more than `count` of
/// `num_hashes` places, for a Jaccard similarity from 0 to 1. A `count` of `None` is less than any
/// number. The absolute error is below 10⁻⁹. Takes O(`num_hashes`) time.
///
/// ```
/// use lookalike_core::compact::probability_of_more;
///
/// assert_eq!(probability_of_more(None, 128, 0.0), 1.0);
/// // At similarity 0.6, at least 64 of the 128 bytes nearly always agree.
/// assert!(probability_of_more(Some(63), 128, 0.6) > 0.99);
/// assert!(probability_of_more(Some(63), 128, 0.4) < 0.02);
/// ```
pub fn probability_of_more(count: Option<usize>, num_hashes: usize, similarity: f64) -> f64 {
    let Some(count) = count else { return 1.0 };
    if count >= num_hashes {
        return 0.0;
    }
    let chance = 1.0 / 256.0;
    let p = chance + (1.0 - chance) * similarity.clamp(0.0, 1.0);
    (1.0 - probability_of_at_most(count, num_hashes, p)).clamp(0.0, 1.0)
}

/// The probability that a binomial variable of `n` trials with probability `p` is at most `count`.
fn probability_of_at_most(count: usize, n: usize, p: f64) -> f64 {
    if p >= 1.0 {
        return if count < n { 0.0 } else { 1.0 };
    }
    // Computes P(X = i) from i = 0 on as `term` · TINY^`scale`, because the first terms may be too
    // small for a float. Avoids logarithms, whose results differ between machines.
    let mut term = 1.0;
    let mut scale = 0u32;
    for _ in 0..n {
        term *= 1.0 - p;
        if term < TINY {
            term /= TINY;
            scale += 1;
        }
    }
    let odds = p / (1.0 - p);
    let mut at_most = 0.0;
    for i in 0..=count {
        if scale == 0 {
            at_most += term;
        }
        term *= (n - i) as f64 / (i + 1) as f64 * odds;
        while scale > 0 && term > 1.0 {
            term *= TINY;
            scale -= 1;
        }
    }
    at_most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix64;
    use crate::verify;

    #[test]
    fn equal_counts_exclude_padding() {
        let mut random = SplitMix64::new(3);
        for num_hashes in [1, 63, 64, 65, 126, 128, 300] {
            let a: Vec<u32> = (0..num_hashes).map(|_| random.next_u32()).collect();
            let mut rows = Vec::new();
            push_row(&a, &mut rows);
            assert_eq!(rows.len(), row_bytes(num_hashes));
            let mut counts = [7];
            count_equal(&probe(&a), &rows, &mut counts);
            assert_eq!(usize::from(counts[0]), num_hashes);
        }
    }

    #[test]
    fn unequal_values_rarely_share_bytes() {
        let (mut random, mut rows) = (SplitMix64::new(4), Vec::new());
        let mut draw = || (0..128).map(|_| random.next_u32()).collect::<Vec<u32>>();
        let one = draw();
        let others: Vec<Vec<u32>> = (0..4_000).map(|_| draw()).collect();
        for other in &others {
            push_row(other, &mut rows);
        }
        let mut counts = vec![0; others.len()];
        count_equal(&probe(&one), &rows, &mut counts);
        let sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        // Expects 2,000 equal bytes at 512,000 places, with a standard deviation of 45.
        assert!((1_820..=2_180).contains(&sum), "{sum}");
        for (other, count) in others.iter().zip(&counts) {
            assert!(f64::from(*count) >= verify::estimate(&one, other) * 128.0);
        }
    }

    /// The probabilities of 0 to `n` successes, by Pascal's rule.
    fn pascal(n: usize, p: f64) -> Vec<f64> {
        (0..n).fold(vec![1.0], |before, _| {
            let mut next = vec![0.0; before.len() + 1];
            for (i, chance) in before.iter().enumerate() {
                next[i] += chance * (1.0 - p);
                next[i + 1] += chance * p;
            }
            next
        })
    }

    #[test]
    fn tail_probability_is_binomial() {
        for (num_hashes, similarity) in [(20usize, 0.3), (128, 0.0), (128, 0.05), (128, 1.0)] {
            let p = 1.0 / 256.0 + 255.0 / 256.0 * similarity;
            let exactly = pascal(num_hashes, p);
            for count in 0..num_hashes {
                let expected: f64 = exactly[count + 1..].iter().sum();
                let got = probability_of_more(Some(count), num_hashes, similarity);
                assert!((got - expected).abs() < 1e-9, "{num_hashes} {similarity} {count}");
            }
        }
    }

    #[test]
    fn bits_show_unequal_values() {
        let mut random = SplitMix64::new(5);
        for num_hashes in [1, 3, 4, 127, 128, 300] {
            let mut signature: Vec<u32> = (0..num_hashes).map(|_| random.next_u32()).collect();
            let before = SignatureBits::of(&signature);
            assert_eq!(before.unequal(before), 0);
            for place in 0..num_hashes {
                signature[place] ^= 1 << 31;
                let has_bit = place < num_hashes.min(128) / 4 * 4;
                assert_eq!(before.unequal(SignatureBits::of(&signature)), u32::from(has_bit));
                signature[place] ^= 1 << 31;
            }
        }
    }

    #[test]
    fn unequal_bit_limit_is_tight() {
        for (num_hashes, similarity) in [(128, 0.8), (128, 0.3), (126, 0.95), (40, 0.5), (300, 0.8)]
        {
            let places = num_hashes.min(128) / 4 * 4;
            let unequal = pascal(places, (1.0 - similarity) / 2.0);
            let above = |most: u32| unequal[most as usize + 1..].iter().sum::<f64>();
            let most = SignatureBits::most_unequal(num_hashes, similarity);
            assert!(above(most) < 1e-9 && above(most - 1) >= 1e-9, "{num_hashes} {similarity}");
        }
        assert_eq!(SignatureBits::most_unequal(128, 1.0), 0);
        assert_eq!(SignatureBits::most_unequal(3, 0.8), 0);
    }

    #[test]
    fn long_signatures_do_not_underflow() {
        let middle = probability_of_more(Some(4_096), 8_192, 0.5);
        assert!((0.6..0.7).contains(&middle), "{middle}");
        assert!(probability_of_more(Some(8_192), 8_192, 0.5).abs() < f64::EPSILON);
    }
}
