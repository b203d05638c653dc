//! The frozen hashes of tokens and shingles, and the numbers drawn from a seed. Every bit is
//! specified in `docs/reference/signature.md`, with known-answer vectors in `fixtures/`. Any change
//! requires a new version.
//!
//! This file is the specification in code. The kernels compute the same values faster.

/// Version of everything that `docs/reference/signature.md` freezes: token and shingle hash,
/// schemes, bucket keys and the Unicode tables they use.
pub const SIGNATURE_VERSION: u32 = 1;

// Odd numbers with 32 of 64 bits set and no visible pattern. Any such constants would do, but these
// are frozen. The token hash uses the first two, the shingle hash the others.
pub(crate) const S0: u64 = 0x2d35_8dcc_aa6c_78a5;
pub(crate) const S1: u64 = 0x8bb8_4b93_962e_acc9;
/// Multiplier of the polynomial over a shingle's tokens.
pub(crate) const P: u64 = 0x9e37_79b9_7f4a_7c15;
/// Multiplier that finishes a shingle hash.
pub(crate) const FINISH: u64 = 0xd6e8_feb8_6659_fd93;

/// Multiplies to 128 bits and folds the halves together.
#[inline]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Returns up to 16 bytes as two little-endian numbers, with zeros beyond the end. Reads
/// overlapping pieces of fixed lengths, because copying an unknown length takes longer than the
/// rest of a hash.
#[inline]
fn halves(bytes: &[u8]) -> (u64, u64) {
    let length = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        // Shifts out the bytes that `first` already contains. Two shifts, because a shift by 64
        // overflows.
        let surplus = 4 * (16 - length);
        (u64::from_le_bytes(*first), u64::from_le_bytes(*last) >> surplus >> surplus)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let first = u32::from_le_bytes(*first);
        let last = u32::from_le_bytes(*last);
        (u64::from(first) | u64::from(last) << (8 * (length - 4)), 0)
    } else {
        (bytes.iter().rev().fold(0, |low, &byte| low << 8 | u64::from(byte)), 0)
    }
}

/// The hash of a token's bytes. Blocks of 16 bytes are folded into the state; the last block (1 to
/// 16 bytes, or 0 for the empty token) is padded with zeros, and the length is mixed in. Takes
/// O(length) time.
///
/// ```
/// use lookalike_core::hash::token_hash;
///
/// assert_ne!(token_hash(b"fox"), token_hash(b"fox\0"));
/// ```
#[inline]
pub fn token_hash(bytes: &[u8]) -> u64 {
    hash_bytes(0, bytes)
}

/// [`token_hash`] with another starting state.
#[inline]
pub(crate) fn hash_bytes(mut state: u64, bytes: &[u8]) -> u64 {
    let mut rest = bytes;
    while rest.len() > 16 {
        let (low, high) = halves(&rest[..16]);
        state = fold(low ^ S0 ^ state, high ^ S1);
        rest = &rest[16..];
    }
    let (low, high) = halves(rest);
    fold(low ^ S0 ^ state, high ^ S1 ^ bytes.len() as u64)
}

/// The hash of a shingle from the hashes of its tokens: `Σ tᵢ·Pⁿ⁻¹⁻ⁱ mod 2⁶⁴`, finished by a
/// bijection. The 64 bits are the shingle's identity; signatures use the upper 32.
pub fn shingle_hash(tokens: &[u64]) -> u64 {
    finish(tokens.iter().fold(0u64, |sum, &t| sum.wrapping_mul(P).wrapping_add(t)))
}

/// A bijection in which every bit of a polynomial sum affects the upper half.
#[inline]
pub(crate) fn finish(sum: u64) -> u64 {
    (sum ^ (sum >> 32)).wrapping_mul(FINISH)
}

/// The element that represents the `count`-th repeat of a shingle (1 for the second occurrence) if
/// frequencies count. The first occurrence is represented by the shingle itself.
#[inline]
pub fn repeat_hash(shingle: u64, count: u32) -> u64 {
    mix64(shingle ^ u64::from(count).wrapping_mul(P))
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014), a bijection.
#[inline]
pub fn mix64(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// SplitMix64, the generator of all random parameters. Equal seeds produce equal numbers.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix64(self.0)
    }

    /// The next 32 bits: the upper half of [`Self::next_u64`].
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// A number below `bound` by multiply-and-shift; the bias is below 2⁻³² for bounds below 2³².
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in [0, 1) with 53 random bits.
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}
