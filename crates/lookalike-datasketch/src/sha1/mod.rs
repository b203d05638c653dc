//! SHA-1 of tokens, in three variants:
//!
//! - The lanes of vectors hash eight or sixteen short tokens at a time (`lanes.rs`,
//!   `wide_lanes.rs`).
//! - The processor's SHA-1 instructions hash two tokens at a time. Each instruction waits long for
//!   the result of the previous one. The second token uses this wait.
//! - Portable code hashes one token at a time.
//!
//! The crate `sha1` hashes one token at a time, by SHA-1 instructions if the processor has them.
//! Measured with `cargo run --release --package lookalike-datasketch --example instruction_sets`,
//! with tokens of 7 to 14 bytes. On two shared cores, in November 2026, a token takes 356 ns in
//! portable code, 44 ns by the instructions, and 61 ns in lanes.
//!
//! On a Zen 3, lanes take less time than the instructions (`lanes.rs`). On a Zen 5, a token takes
//! 194 ns in portable code, 26 ns by the instructions, 16.6 ns in eight lanes, and 10.7 ns in
//! sixteen.
#![expect(unsafe_code, reason = "instructions that not every processor has are called")]
#![expect(clippy::inline_always, reason = "loops are compiled with the caller's target features")]

#[cfg(target_arch = "x86_64")]
mod lanes;
mod start;
#[cfg(target_arch = "x86_64")]
mod wide_lanes;

use crate::instruction_set::InstructionSet;
#[cfg(target_arch = "x86_64")]
use crate::instruction_set::Vectors;
use start::START;

/// Appends the first eight bytes of the SHA-1 of each token as a little-endian number.
pub fn hash_all(instructions: InstructionSet, tokens: &[&[u8]], hashes: &mut Vec<u64>) {
    hashes.reserve(tokens.len());
    #[cfg(target_arch = "x86_64")]
    if instructions.vectors != Vectors::Portable {
        in_lanes(instructions, tokens, hashes);
        return;
    }
    hash_some(instructions, tokens, hashes);
}

/// Hashes sixteen tokens at a time if vectors are wide enough, then eight at a time.
#[cfg(target_arch = "x86_64")]
fn in_lanes(instructions: InstructionSet, tokens: &[&[u8]], hashes: &mut Vec<u64>) {
    if instructions.vectors != Vectors::Avx512 {
        in_narrow_lanes(instructions, tokens, hashes);
        return;
    }
    let (groups, rest) = tokens.as_chunks::<{ wide_lanes::LANES }>();
    for group in groups {
        if group.iter().all(|token| token.len() <= lanes::LONGEST) {
            // SAFETY: an `InstructionSet` proves that the processor has these instructions.
            hashes.extend(unsafe { wide_lanes::hash(group) });
        } else {
            in_narrow_lanes(instructions, group, hashes);
        }
    }
    in_narrow_lanes(instructions, rest, hashes);
}

/// Hashes eight tokens at a time.
#[cfg(target_arch = "x86_64")]
fn in_narrow_lanes(instructions: InstructionSet, tokens: &[&[u8]], hashes: &mut Vec<u64>) {
    let (groups, rest) = tokens.as_chunks::<{ lanes::LANES }>();
    for group in groups {
        if group.iter().all(|token| token.len() <= lanes::LONGEST) {
            // SAFETY: an `InstructionSet` proves that the processor has these instructions.
            hashes.extend(unsafe { lanes::hash(group) });
        } else {
            hash_some(instructions, group, hashes);
        }
    }
    hash_some(instructions, rest, hashes);
}

/// Hashes a few tokens, or long ones.
fn hash_some(instructions: InstructionSet, tokens: &[&[u8]], hashes: &mut Vec<u64>) {
    #[cfg(target_arch = "x86_64")]
    if instructions.sha {
        // SAFETY: an `InstructionSet` proves that the processor has these instructions.
        unsafe { sha_x86_64::hash_all(tokens, hashes) };
        return;
    }
    hashes.extend(tokens.iter().map(|token| hash(instructions, token)));
}

/// The first eight bytes of the SHA-1 of one token.
pub fn hash(instructions: InstructionSet, token: &[u8]) -> u64 {
    let mut state = [START];
    let (blocks, rest) = token.as_chunks::<64>();
    for block in blocks {
        compress(instructions, &mut state, &[*block]);
    }
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    if rest.len() >= 56 {
        compress(instructions, &mut state, &[last]);
        last = [0; 64];
    }
    last[56..].copy_from_slice(&(token.len() as u64 * 8).to_be_bytes());
    compress(instructions, &mut state, &[last]);
    first_bytes(&state[0])
}

fn first_bytes(state: &[u32; 5]) -> u64 {
    u64::from(state[0].swap_bytes()) | u64::from(state[1].swap_bytes()) << 32
}

/// Pads a token of fewer than 56 bytes to a block.
#[inline(always)]
fn last_block(token: &[u8]) -> [u8; 64] {
    let mut block = [0; 64];
    let length = token.len();
    // Copy pieces of fixed lengths, the last one aligned to the end: a `memcpy` call for a few
    // bytes takes longer.
    if let (Some(first), Some(last)) = (token.first_chunk::<32>(), token.last_chunk::<32>()) {
        block[..32].copy_from_slice(first);
        block[length - 32..length].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (token.first_chunk::<16>(), token.last_chunk::<16>())
    {
        block[..16].copy_from_slice(first);
        block[length - 16..length].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (token.first_chunk::<8>(), token.last_chunk::<8>()) {
        block[..8].copy_from_slice(first);
        block[length - 8..length].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (token.first_chunk::<4>(), token.last_chunk::<4>()) {
        block[..4].copy_from_slice(first);
        block[length - 4..length].copy_from_slice(last);
    } else {
        block.iter_mut().zip(token).for_each(|(to, &from)| *to = from);
    }
    block[length] = 0x80;
    block[62..].copy_from_slice(&(length as u16 * 8).to_be_bytes());
    block
}

/// Compresses a block of each of several messages.
#[inline]
fn compress<const N: usize>(
    instructions: InstructionSet,
    states: &mut [[u32; 5]; N],
    blocks: &[[u8; 64]; N],
) {
    #[cfg(target_arch = "x86_64")]
    if instructions.sha {
        // SAFETY: an `InstructionSet` proves that the processor has these instructions.
        unsafe { sha_x86_64::compress(states, blocks) };
        return;
    }
    let _ = instructions;
    for (state, block) in states.iter_mut().zip(blocks) {
        compress_portable(state, block);
    }
}

/// Compresses a block as in FIPS 180-4, section 6.1.2.
fn compress_portable(state: &mut [u32; 5], block: &[u8; 64]) {
    let mut words = [0; 80];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for t in 16..80 {
        let word: u32 = words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16];
        words[t] = word.rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (t, word) in words.into_iter().enumerate() {
        let (choice, constant) = match t / 20 {
            0 => ((b & c) | (!b & d), 0x5a82_7999),
            1 => (b ^ c ^ d, 0x6ed9_eba1),
            2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6),
        };
        let sum = a.rotate_left(5).wrapping_add(choice).wrapping_add(e);
        let next = sum.wrapping_add(constant).wrapping_add(word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e]) {
        *word = word.wrapping_add(add);
    }
}

#[cfg(target_arch = "x86_64")]
mod sha_x86_64 {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_extract_epi32, _mm_loadu_si128, _mm_set_epi8, _mm_set_epi32,
        _mm_sha1msg1_epu32, _mm_sha1msg2_epu32, _mm_sha1nexte_epu32, _mm_sha1rnds4_epu32,
        _mm_shuffle_epi8, _mm_xor_si128,
    };

    use super::{InstructionSet, START, first_bytes, hash, last_block};
    use crate::instruction_set::Vectors;

    /// Hashes all tokens, two at a time if both are short.
    #[target_feature(enable = "sha,sse4.1")]
    pub(super) fn hash_all(tokens: &[&[u8]], hashes: &mut Vec<u64>) {
        let (pairs, rest) = tokens.as_chunks::<2>();
        let instructions = InstructionSet { vectors: Vectors::Portable, sha: true };
        for [one, two] in pairs {
            if one.len() < 56 && two.len() < 56 {
                let mut states = [START; 2];
                compress(&mut states, &[last_block(one), last_block(two)]);
                hashes.extend(states.map(|state| first_bytes(&state)));
            } else {
                hashes.extend([one, two].map(|token| hash(instructions, token)));
            }
        }
        hashes.extend(rest.iter().map(|token| hash(instructions, token)));
    }

    /// The state of four rounds of each message.
    struct Rounds<const N: usize> {
        words: [[__m128i; 4]; N],
        state: [__m128i; N],
        before: [__m128i; N],
    }

    impl<const N: usize> Rounds<N> {
        /// Runs the rounds 4·`group` to 4·`group` + 3. From the 16th round on, first computes their
        /// words.
        #[inline]
        #[target_feature(enable = "sha,sse4.1")]
        fn four<const FUNCTION: i32>(&mut self, group: usize) {
            for k in 0..N {
                let words = &mut self.words[k];
                let mixed = _mm_sha1msg1_epu32(words[group & 3], words[(group + 1) & 3]);
                let mixed = _mm_xor_si128(mixed, words[(group + 2) & 3]);
                words[group & 3] = _mm_sha1msg2_epu32(mixed, words[(group + 3) & 3]);
            }
            self.turn::<FUNCTION>(group);
        }

        #[inline]
        #[target_feature(enable = "sha,sse4.1")]
        fn turn<const FUNCTION: i32>(&mut self, group: usize) {
            for k in 0..N {
                let e = _mm_sha1nexte_epu32(self.before[k], self.words[k][group & 3]);
                self.before[k] = self.state[k];
                self.state[k] = _mm_sha1rnds4_epu32::<FUNCTION>(self.state[k], e);
            }
        }
    }

    #[inline]
    #[target_feature(enable = "sha,sse4.1")]
    pub(super) fn compress<const N: usize>(states: &mut [[u32; 5]; N], blocks: &[[u8; 64]; N]) {
        let reverse = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let zero = _mm_set_epi32(0, 0, 0, 0);
        let mut rounds = Rounds { words: [[zero; 4]; N], state: [zero; N], before: [zero; N] };
        let mut first = [(zero, zero); N];
        for k in 0..N {
            let [a, b, c, d, e] = states[k].map(u32::cast_signed);
            first[k] = (_mm_set_epi32(a, b, c, d), _mm_set_epi32(e, 0, 0, 0));
            rounds.state[k] = first[k].0;
            for (word, bytes) in rounds.words[k].iter_mut().zip(blocks[k].as_chunks::<16>().0) {
                // SAFETY: `bytes` has sixteen bytes; the load needs no alignment.
                let loaded = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
                *word = _mm_shuffle_epi8(loaded, reverse);
            }
            let e = _mm_add_epi32(first[k].1, rounds.words[k][0]);
            rounds.before[k] = rounds.state[k];
            rounds.state[k] = _mm_sha1rnds4_epu32::<0>(rounds.state[k], e);
        }
        rounds.turn::<0>(1);
        rounds.turn::<0>(2);
        rounds.turn::<0>(3);
        rounds.four::<0>(4);
        rounds.four::<1>(5);
        rounds.four::<1>(6);
        rounds.four::<1>(7);
        rounds.four::<1>(8);
        rounds.four::<1>(9);
        rounds.four::<2>(10);
        rounds.four::<2>(11);
        rounds.four::<2>(12);
        rounds.four::<2>(13);
        rounds.four::<2>(14);
        rounds.four::<3>(15);
        rounds.four::<3>(16);
        rounds.four::<3>(17);
        rounds.four::<3>(18);
        rounds.four::<3>(19);
        for k in 0..N {
            let sum = _mm_add_epi32(rounds.state[k], first[k].0);
            let e = _mm_sha1nexte_epu32(rounds.before[k], first[k].1);
            states[k] = [
                _mm_extract_epi32::<3>(sum),
                _mm_extract_epi32::<2>(sum),
                _mm_extract_epi32::<1>(sum),
                _mm_extract_epi32::<0>(sum),
                _mm_extract_epi32::<3>(e),
            ]
            .map(i32::cast_unsigned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_hashes_in_every_instruction_set() {
        // The first eight bytes of the examples of FIPS 180-4 and of `hashlib.sha1(b"")`.
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        let million = vec![b'a'; 1_000_000];
        let known: [(&[u8], [u8; 8]); 4] = [
            (b"", [0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d]),
            (b"abc", [0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a]),
            (long, [0x84, 0x98, 0x3e, 0x44, 0x1c, 0x3b, 0xd2, 0x6e]),
            (&million, [0x34, 0xaa, 0x97, 0x3c, 0xd4, 0xc4, 0xda, 0xa4]),
        ];
        for instructions in InstructionSet::available() {
            for (token, bytes) in known {
                let hash = hash(instructions, token);
                assert_eq!(hash, u64::from_le_bytes(bytes), "{}", instructions.name());
            }
        }
    }

    proptest! {
        #[test]
        fn instruction_sets_hash_like_portable(
            tokens in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..130), 0..40),
            longest in 0_usize..130,
        ) {
            let tokens: Vec<&[u8]> =
                tokens.iter().map(|token| &token[..token.len().min(longest)]).collect();
            let portable = |token: &&[u8]| hash(InstructionSet::portable(), token);
            let expected: Vec<u64> = tokens.iter().map(portable).collect();
            for instructions in InstructionSet::available() {
                let mut hashes = Vec::new();
                hash_all(instructions, &tokens, &mut hashes);
                prop_assert_eq!(&hashes, &expected, "{}", instructions.name());
            }
        }
    }
}
