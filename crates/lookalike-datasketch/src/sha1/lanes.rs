//! SHA-1 of eight short tokens at a time, one in each lane of a vector.
//!
//! Measured on a processor with AVX2 and SHA-1 instructions (Zen 3, November 2026): a token takes
//! 19 ns in lanes, and 30 ns by the SHA-1 instructions. `cargo run --release --package
//! lookalike-datasketch --example instruction_sets` measures both, with tokens of 7 to 14 bytes.
//! The rounds alone took 16 ns. Lanes that read tokens from copies took 27 ns, because loading a
//! vector from memory that was just written in parts is slow.
//!
//! The crate `sha1` hashes one message at a time; it has not been compared.
#![expect(
    unsafe_code,
    reason = "tokens are read up to their ends, and no further, by masked loads"
)]

use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32,
    _mm256_maskload_epi32, _mm256_or_si256, _mm256_permute2x128_si256, _mm256_set_epi8,
    _mm256_set_epi32, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_slli_epi32, _mm256_srli_epi32, _mm256_storeu_si256, _mm256_unpackhi_epi32,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use super::start::START;

/// Number of tokens that are hashed at a time.
pub(super) const LANES: usize = 8;
/// Length in bytes of the longest token that fits into a block with its terminator and its length.
pub(super) const LONGEST: usize = 55;
/// Length in bytes of the longest token that fits into the first half of a block with its
/// terminator.
pub(super) const LONGEST_IN_HALF: usize = 31;

pub(super) const CONSTANTS: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// The first eight bytes of the SHA-1 of each token as a little-endian number. Tokens have at most
/// [`LONGEST`] bytes.
#[target_feature(enable = "avx2")]
pub(super) fn hash(tokens: &[&[u8]; LANES]) -> [u64; LANES] {
    let mut words = [_mm256_setzero_si256(); 16];
    words[..8].copy_from_slice(&eight_words(tokens, 0));
    if tokens.iter().any(|token| token.len() > LONGEST_IN_HALF) {
        words[8..].copy_from_slice(&eight_words(tokens, 8));
    }
    let bits = tokens.map(|token| (8 * token.len() as u32).cast_signed());
    words[15] =
        _mm256_set_epi32(bits[7], bits[6], bits[5], bits[4], bits[3], bits[2], bits[1], bits[0]);
    let [a, b, c, d, e] = START;
    let mut rounds = LaneRounds { state: [all(a), all(b), all(c), all(d), all(e)], words };
    rounds.twenty::<0>();
    rounds.twenty::<1>();
    rounds.twenty::<2>();
    rounds.twenty::<3>();
    let [a, b, ..] = rounds.state;
    let (a, b) = (add(a, all(START[0])), add(b, all(START[1])));
    first_bytes(a, b)
}

/// The first eight bytes of hashes, from their first two words.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn first_bytes(a: __m256i, b: __m256i) -> [u64; LANES] {
    joined(reversed(a), reversed(b))
}

/// The words `from` to `from` + 7 of the blocks of all tokens, one vector for each word.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn eight_words(tokens: &[&[u8]; LANES], from: usize) -> [__m256i; 8] {
    let [a, b, c, d, e, f, g, h] = tokens;
    let low = four_columns([half(a, from), half(b, from), half(c, from), half(d, from)]);
    let high = four_columns([half(e, from), half(f, from), half(g, from), half(h, from)]);
    let mut words = [_mm256_setzero_si256(); 8];
    for k in 0..4 {
        words[k] = reversed(_mm256_permute2x128_si256::<0x20>(low[k], high[k]));
        words[k + 4] = reversed(_mm256_permute2x128_si256::<0x31>(low[k], high[k]));
    }
    words
}

/// Transposes four rows. The lower halves of the results contain words 0 to 3, the upper halves
/// words 4 to 7.
#[inline]
#[target_feature(enable = "avx2")]
fn four_columns([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(ab, cd),
        _mm256_unpackhi_epi64(ab, cd),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Eight words of the block of a token, from the word `from` on, each in little-endian order.
#[inline]
#[target_feature(enable = "avx2")]
fn half(token: &[u8], from: usize) -> __m256i {
    let length = token.len();
    let places = add(_mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0), all(from as u32));
    // Read whole words directly. The word after them contains the rest and the terminator.
    let count = all((length / 4) as u32);
    let is_whole = _mm256_cmpgt_epi32(count, places);
    let start = token.as_ptr().wrapping_add(4 * from);
    // SAFETY: the mask excludes words that are not entirely in the token.
    let words = unsafe { _mm256_maskload_epi32(start.cast(), is_whole) };
    let rest = 8 * (length % 4);
    let last = match token.last_chunk::<4>() {
        Some(last) => (u64::from(u32::from_le_bytes(*last)) >> (32 - rest)) as u32,
        None => token.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)),
    };
    let last = _mm256_set1_epi32((last | 0x80 << rest).cast_signed());
    _mm256_or_si256(words, _mm256_and_si256(last, _mm256_cmpeq_epi32(count, places)))
}

/// Reverses the bytes of each word.
#[inline]
#[target_feature(enable = "avx2")]
fn reversed(words: __m256i) -> __m256i {
    let order = _mm256_set_epi8(
        12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3, //
        12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3,
    );
    _mm256_shuffle_epi8(words, order)
}

/// Joins the lower and the upper halves of numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn joined(low: __m256i, high: __m256i) -> [u64; LANES] {
    let halves = (_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high));
    let mut numbers = [0; LANES];
    let (quarters, _) = numbers.as_chunks_mut::<4>();
    let in_order = [
        _mm256_permute2x128_si256::<0x20>(halves.0, halves.1),
        _mm256_permute2x128_si256::<0x31>(halves.0, halves.1),
    ];
    for (quarter, four) in quarters.iter_mut().zip(in_order) {
        // SAFETY: both have 256 bits; the store needs no alignment.
        unsafe { _mm256_storeu_si256(quarter.as_mut_ptr().cast(), four) };
    }
    numbers
}

/// The state of the rounds. They follow FIPS 180-4, section 6.1.3, and need only the last sixteen
/// words.
struct LaneRounds {
    state: [__m256i; 5],
    words: [__m256i; 16],
}

impl LaneRounds {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn twenty<const QUARTER: usize>(&mut self) {
        self.five::<QUARTER, 0>();
        self.five::<QUARTER, 5>();
        self.five::<QUARTER, 10>();
        self.five::<QUARTER, 15>();
    }

    /// Runs five rounds. Each moves the five words of the state by one place, so that no register
    /// has to be moved after five.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn five<const QUARTER: usize, const FIRST: usize>(&mut self) {
        let first = 20 * QUARTER + FIRST;
        self.round::<QUARTER>(first);
        self.round::<QUARTER>(first + 1);
        self.round::<QUARTER>(first + 2);
        self.round::<QUARTER>(first + 3);
        self.round::<QUARTER>(first + 4);
    }

    /// Returns the word of a round.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn word(&mut self, round: usize) -> __m256i {
        let words = &mut self.words;
        let place = round % 16;
        if round >= 16 {
            let recent = xor(words[(place + 13) % 16], words[(place + 8) % 16]);
            let mixed = xor(recent, xor(words[(place + 2) % 16], words[place]));
            words[place] = rotated::<1, 31>(mixed);
        }
        words[place]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn round<const QUARTER: usize>(&mut self, round: usize) {
        let word = add(self.word(round), all(CONSTANTS[QUARTER]));
        let [a, b, c, d, e] = self.state;
        let mixed = match QUARTER {
            0 => xor(d, _mm256_and_si256(b, xor(c, d))),
            2 => {
                let with_d = _mm256_and_si256(d, _mm256_or_si256(b, c));
                _mm256_or_si256(_mm256_and_si256(b, c), with_d)
            }
            _ => xor(b, xor(c, d)),
        };
        // `a`, the result of the previous round, comes last: the others are available earlier.
        let next = add(add(add(e, word), mixed), rotated::<5, 27>(a));
        self.state = [next, a, rotated::<30, 2>(b), c, d];
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn all(word: u32) -> __m256i {
    _mm256_set1_epi32(word.cast_signed())
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(a: __m256i, b: __m256i) -> __m256i {
    _mm256_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor(a: __m256i, b: __m256i) -> __m256i {
    _mm256_xor_si256(a, b)
}

/// Rotates every word to the left by `LEFT` bits, which is 32 - `RIGHT`.
#[inline]
#[target_feature(enable = "avx2")]
fn rotated<const LEFT: i32, const RIGHT: i32>(words: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_slli_epi32::<LEFT>(words), _mm256_srli_epi32::<RIGHT>(words))
}
