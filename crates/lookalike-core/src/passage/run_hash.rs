//! Hashes of all runs of `n` tokens: a polynomial over the integers modulo 2⁶¹ − 1, updated from
//! one position to the next (Karp and Rabin, *Efficient randomized pattern-matching algorithms*,
//! 1987).
//!
//! Arithmetic modulo 2⁶⁴ would be faster, but with any base, different runs of Thue-Morse words
//! have equal hashes. For a prime, no such words are known.

/// The modulus, a Mersenne prime.
pub(super) const MODULUS: u64 = (1 << HASH_BITS) - 1;

/// Number of bits of a hash. Hashes are below 2 to the power of this number.
pub const HASH_BITS: u32 = 61;

/// Hashes runs of a fixed number of tokens. Equal runs have equal hashes; different runs have equal
/// hashes with a probability of `n` / 2⁶¹.
///
/// ```
/// use lookalike_core::passage::run_hash::RunHasher;
///
/// let mut hashes = Vec::new();
/// RunHasher::new(3, 0).hash(&[1, 2, 3, 4, 1, 2, 3], |hash| hashes.push(hash));
/// assert_eq!(hashes.len(), 5);
/// assert_eq!(hashes[0], hashes[4]);
/// assert_ne!(hashes[0], hashes[1]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RunHasher {
    length: usize,
    base: u64,
    /// The base to the power of the length.
    leading: u64,
}

impl RunHasher {
    /// Creates a hasher for runs of `length` tokens (1 or more). Another `seed` produces other
    /// hashes, which is necessary if two different runs turn out to have equal hashes.
    pub fn new(length: usize, seed: u64) -> Self {
        let base = crate::hash::mix64(seed ^ 0x9e37_79b9_7f4a_7c15) % (MODULUS - 3) + 2;
        let leading = (0..length).fold(1, |power, _| multiply(power, base));
        Self { length: length.max(1), base, leading }
    }

    /// Passes the hash of each run to `take`, from position 0 on. Does nothing if there are fewer
    /// tokens than a run has. O(tokens).
    pub fn hash(&self, tokens: &[u64], mut take: impl FnMut(u64)) {
        let Some((first, _)) = tokens.split_at_checked(self.length) else { return };
        let mut hash =
            first.iter().fold(0, |hash, token| add(multiply(hash, self.base), reduce(*token)));
        take(hash);
        for (old, new) in tokens.iter().zip(&tokens[self.length..]) {
            let removed = multiply(self.leading, reduce(*old));
            hash = add(multiply(hash, self.base), reduce(*new));
            hash = add(hash, MODULUS - removed);
            take(hash);
        }
    }
}

/// `value` modulo 2⁶¹ − 1.
#[inline]
pub(super) fn reduce(value: u64) -> u64 {
    let folded = (value & MODULUS) + (value >> 61);
    if folded >= MODULUS { folded - MODULUS } else { folded }
}

#[inline]
pub(super) fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= MODULUS { sum - MODULUS } else { sum }
}

#[inline]
pub(super) fn multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    add(product as u64 & MODULUS, (product >> 61) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn run_hashes_depend_on_tokens_only(
            before in prop::collection::vec(any::<u64>(), 0..9),
            run in prop::collection::vec(any::<u64>(), 1..9),
            after in prop::collection::vec(any::<u64>(), 0..9),
        ) {
            let hasher = RunHasher::new(run.len(), 7);
            let mut run_hashes = Vec::new();
            hasher.hash(&run, |hash| run_hashes.push(hash));
            let all: Vec<u64> = [&before[..], &run, &after].concat();
            let mut hashes = Vec::new();
            hasher.hash(&all, |hash| hashes.push(hash));
            prop_assert_eq!(hashes.len(), all.len() - run.len() + 1);
            prop_assert_eq!(hashes[before.len()], run_hashes[0]);
        }
    }

    #[test]
    fn multiply_reduces_by_the_modulus() {
        for (a, b) in [(0, 5), (1, MODULUS - 1), (MODULUS - 1, MODULUS - 1), (1 << 60, 1 << 60)] {
            let expected = u128::from(a) * u128::from(b) % u128::from(MODULUS);
            assert_eq!(u128::from(multiply(a, b)), expected, "{a} · {b}");
        }
    }

    #[test]
    fn thue_morse_words_have_different_hashes() {
        let word: Vec<u64> = (0_u64..8192).map(|i| u64::from(i.count_ones() % 2 == 0)).collect();
        let mut hashes = Vec::new();
        RunHasher::new(2048, 0).hash(&word, |hash| hashes.push(hash));
        assert_ne!(hashes[0], hashes[2048]);
    }
}
