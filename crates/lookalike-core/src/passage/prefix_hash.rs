//! Hashes of runs of any length in a sequence of tokens, each in constant time. Computes the
//! polynomial of [`run_hash`](super::run_hash) from the sums over prefixes.

use super::run_hash::{MODULUS, add, multiply, reduce};

/// Base of the polynomial.
const BASE: u64 = 0x0f5a_3c96_e1b2_7d48;

/// The hashes of all prefixes of a sequence, and the powers of the base. Takes 16 bytes per token.
///
/// ```
/// use lookalike_core::passage::prefix_hash::PrefixHashes;
///
/// let hashes = PrefixHashes::new(&[1, 2, 3, 1, 2, 4]);
/// assert_eq!(hashes.hash(0..2), hashes.hash(3..5));
/// assert_ne!(hashes.hash(0..3), hashes.hash(3..6));
/// ```
#[derive(Debug, Clone)]
pub struct PrefixHashes {
    sums: Vec<u64>,
    powers: Vec<u64>,
}

impl PrefixHashes {
    /// Hashes all prefixes of `tokens`. Takes O(tokens) time.
    pub fn new(tokens: &[u64]) -> Self {
        let mut sums = vec![0];
        let mut powers = vec![1];
        let mut sum = 0;
        let mut power = 1;
        for token in tokens {
            sum = add(multiply(sum, BASE), reduce(*token));
            power = multiply(power, BASE);
            sums.push(sum);
            powers.push(power);
        }
        Self { sums, powers }
    }

    /// The hash of the tokens at `run`, a range of the sequence. Equal runs have equal hashes, also
    /// in different sequences. Different runs of n tokens have equal hashes with a probability of n
    /// / 2⁶¹.
    pub fn hash(&self, run: std::ops::Range<usize>) -> u64 {
        let before = multiply(self.sums[run.start], self.powers[run.len()]);
        add(self.sums[run.end], MODULUS - before)
    }
}
