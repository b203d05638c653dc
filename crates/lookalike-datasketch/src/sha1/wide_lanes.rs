//! SHA-1 of sixteen short tokens at a time, one in each lane of a 512-bit vector. These vectors
//! have single instructions for rotations and for functions of three words.
//!
//! The top of `mod.rs` has the times of the example `instruction_sets` on a Zen 5, for tokens of 7
//! to 14 bytes.
use std::arch::x86_64::{
    __m256i, __m512i, _mm256_set_epi32, _mm512_add_epi32, _mm512_castsi256_si512,
    _mm512_castsi512_si256, _mm512_extracti64x4_epi64, _mm512_inserti64x4, _mm512_rol_epi32,
    _mm512_set1_epi32, _mm512_setzero_si512, _mm512_ternarylogic_epi32, _mm512_xor_si512,
};

use super::lanes::{self, CONSTANTS};
use super::start::START;

/// Number of tokens that are hashed at a time.
pub(super) const LANES: usize = 2 * lanes::LANES;

/// A function of three words for `_mm512_ternarylogic_epi32`: selects the bits of the second word
/// if the bits of the first are set, otherwise the bits of the third.
const CHOICE: i32 = 0xca;
/// The majority of the three bits.
const MAJORITY: i32 = 0xe8;
/// The parity of the three bits.
const PARITY: i32 = 0x96;

/// The first eight bytes of the SHA-1 of each token as a little-endian number. Tokens have at most
/// [`lanes::LONGEST`] bytes.
#[target_feature(enable = "avx2,avx512f")]
pub(super) fn hash(tokens: &[&[u8]; LANES]) -> [u64; LANES] {
    let mut words = [_mm512_setzero_si512(); 16];
    words_of(tokens, 0, &mut words);
    if tokens.iter().any(|token| token.len() > lanes::LONGEST_IN_HALF) {
        words_of(tokens, 8, &mut words);
    }
    let [low, high] = halves_of(tokens);
    words[15] = join_halves(bits(low), bits(high));
    let [a, b, c, d, e] = START;
    let mut rounds = WideRounds { state: [all(a), all(b), all(c), all(d), all(e)], words };
    rounds.twenty::<0, CHOICE>();
    rounds.twenty::<1, PARITY>();
    rounds.twenty::<2, MAJORITY>();
    rounds.twenty::<3, PARITY>();
    let [a, b, ..] = rounds.state;
    let (a, b) = (add(a, all(START[0])), add(b, all(START[1])));
    let low = lanes::first_bytes(_mm512_castsi512_si256(a), _mm512_castsi512_si256(b));
    let high =
        lanes::first_bytes(_mm512_extracti64x4_epi64::<1>(a), _mm512_extracti64x4_epi64::<1>(b));
    let mut numbers = [0; LANES];
    numbers[..lanes::LANES].copy_from_slice(&low);
    numbers[lanes::LANES..].copy_from_slice(&high);
    numbers
}

/// The lower eight of sixteen tokens, and the upper eight.
#[inline]
fn halves_of<'a, 'b>(tokens: &'a [&'b [u8]; LANES]) -> [&'a [&'b [u8]; lanes::LANES]; 2] {
    let (halves, _) = tokens.as_chunks::<{ lanes::LANES }>();
    [&halves[0], &halves[1]]
}

/// The words `from` to `from` + 7 of the blocks of all tokens, one vector for each word.
#[inline]
#[target_feature(enable = "avx2,avx512f")]
fn words_of(tokens: &[&[u8]; LANES], from: usize, words: &mut [__m512i; 16]) {
    let [low_tokens, high_tokens] = halves_of(tokens);
    let low = lanes::eight_words(low_tokens, from);
    let high = lanes::eight_words(high_tokens, from);
    for k in 0..8 {
        words[from + k] = join_halves(low[k], high[k]);
    }
}

/// The lengths of the tokens in bits.
#[inline]
#[target_feature(enable = "avx2")]
fn bits(tokens: &[&[u8]; lanes::LANES]) -> __m256i {
    let bits = tokens.map(|token| (8 * token.len() as u32).cast_signed());
    _mm256_set_epi32(bits[7], bits[6], bits[5], bits[4], bits[3], bits[2], bits[1], bits[0])
}

/// The state of the rounds. They follow FIPS 180-4, section 6.1.3, and need only the last sixteen
/// words.
struct WideRounds {
    state: [__m512i; 5],
    words: [__m512i; 16],
}

impl WideRounds {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn twenty<const QUARTER: usize, const FUNCTION: i32>(&mut self) {
        self.five::<QUARTER, 0, FUNCTION>();
        self.five::<QUARTER, 5, FUNCTION>();
        self.five::<QUARTER, 10, FUNCTION>();
        self.five::<QUARTER, 15, FUNCTION>();
    }

    /// Runs five rounds, after which every part of the state is back in its place.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn five<const QUARTER: usize, const FIRST: usize, const FUNCTION: i32>(&mut self) {
        let first = 20 * QUARTER + FIRST;
        self.round::<QUARTER, FUNCTION>(first);
        self.round::<QUARTER, FUNCTION>(first + 1);
        self.round::<QUARTER, FUNCTION>(first + 2);
        self.round::<QUARTER, FUNCTION>(first + 3);
        self.round::<QUARTER, FUNCTION>(first + 4);
    }

    /// Returns the word of a round.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn word(&mut self, round: usize) -> __m512i {
        let words = &mut self.words;
        let place = round % 16;
        if round >= 16 {
            let older = _mm512_xor_si512(words[(place + 2) % 16], words[place]);
            let (recent, middle) = (words[(place + 13) % 16], words[(place + 8) % 16]);
            let mixed = _mm512_ternarylogic_epi32::<PARITY>(recent, middle, older);
            words[place] = _mm512_rol_epi32::<1>(mixed);
        }
        words[place]
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn round<const QUARTER: usize, const FUNCTION: i32>(&mut self, round: usize) {
        let word = add(self.word(round), all(CONSTANTS[QUARTER]));
        let [a, b, c, d, e] = self.state;
        let mixed = _mm512_ternarylogic_epi32::<FUNCTION>(b, c, d);
        // `a`, the result of the previous round, comes last: the others are available earlier.
        let next = add(add(add(e, word), mixed), _mm512_rol_epi32::<5>(a));
        self.state = [next, a, _mm512_rol_epi32::<30>(b), c, d];
    }
}

/// Joins a lower and an upper half to a vector.
#[inline]
#[target_feature(enable = "avx512f")]
fn join_halves(low: __m256i, high: __m256i) -> __m512i {
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// Returns a vector with `word` in every lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn all(word: u32) -> __m512i {
    _mm512_set1_epi32(word.cast_signed())
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi32(a, b)
}
