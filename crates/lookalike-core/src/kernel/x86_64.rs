//! x86-64: AVX2, and AVX-512 with byte compression (Ice Lake, Zen 4 and later).
//!
//! What was learnt by measuring, on a Zen 4 and a Zen 5 core:
//! * Two 32-bit byte masks joined into 64 bits are merged by LLVM into one wide comparison, which it
//!   then takes apart lane by lane (1.85 → 0.80 GB/s); an opaque `vpmovmskb` prevents that.
//! * Token bounds of 16 bits fit one 32-bit load per token, and `vpcompressb` writes all bounds of
//!   64 bytes of text in about ten instructions; peeling off set bits takes one dependent step each.
//! * The classic families need no intrinsics: their portable body is at the multiplier's limit.
#![expect(unsafe_code, reason = "vector instructions; every block states why it is sound")]

use super::scalar::{self, FALLBACK};
use super::{PIECE, Parameters, ScanRule, ShingleBuffer, TokenBuffer, portable};
use crate::hash::{self, S0, S1};
use crate::params::TokenRule;
use crate::text::CharClass;
use std::arch::asm;
use std::arch::x86_64::*;

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
}

pub(super) fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
}

// ---- scan ---------------------------------------------------------------------------------------

/// What the scan needs of an instruction set.
trait Scanner {
    /// Lower-cases (if `FOLD`) 64 bytes at `source` into `target`. Returns the bytes that belong to
    /// tokens (all bytes from 0x80 on among them) and the bytes from 0x80 on.
    ///
    /// # Safety
    /// 64 bytes readable and writable; the processor has the instruction set.
    unsafe fn classify<const SPACES: bool, const FOLD: bool>(
        source: *const u8,
        target: *mut u8,
    ) -> (u64, u64);

    /// Writes the positions of the set bits of `bits`, plus `base`, ascending, to `out`.
    ///
    /// # Safety
    /// 72 entries writable; the processor has the instruction set.
    unsafe fn positions(bits: u64, base: u16, out: *mut u16);
}

struct Avx2;
struct Avx512;

impl Scanner for Avx2 {
    #[inline(always)]
    unsafe fn classify<const SPACES: bool, const FOLD: bool>(
        source: *const u8,
        target: *mut u8,
    ) -> (u64, u64) {
        // SAFETY: the caller's promise covers both halves.
        unsafe {
            let (low, low_high) = half::<SPACES, FOLD>(source, target);
            let (high, high_high) = half::<SPACES, FOLD>(source.add(32), target.add(32));
            (
                u64::from(low) | u64::from(high) << 32,
                u64::from(low_high) | u64::from(high_high) << 32,
            )
        }
    }

    #[inline(always)]
    unsafe fn positions(mut bits: u64, base: u16, mut out: *mut u16) {
        let mut left = bits.count_ones() as i32;
        while left > 0 {
            for i in 0..8 {
                // SAFETY: at most 64 positions in groups of eight, 72 entries are writable.
                unsafe { out.add(i).write(base.wrapping_add(bits.trailing_zeros() as u16)) };
                bits &= bits.wrapping_sub(1);
            }
            // SAFETY: as above.
            out = unsafe { out.add(8) };
            left -= 8;
        }
    }
}

/// 32 bytes of [`Scanner::classify`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn half<const SPACES: bool, const FOLD: bool>(
    source: *const u8,
    target: *mut u8,
) -> (u32, u32) {
    // One signed comparison tests a range: c in [lo, lo + n) ⇔ c − lo − 128 < n − 128.
    let within = |bytes: __m256i, lo: u8, n: i8| {
        let shifted = _mm256_add_epi8(bytes, _mm256_set1_epi8(128u8.wrapping_sub(lo) as i8));
        _mm256_cmpgt_epi8(_mm256_set1_epi8(-128 + n), shifted)
    };
    // SAFETY: 32 bytes are readable.
    let bytes = unsafe { _mm256_loadu_si256(source.cast()) };
    let upper = within(bytes, b'A', 26);
    let folded = _mm256_add_epi8(bytes, _mm256_and_si256(upper, _mm256_set1_epi8(32)));
    // SAFETY: 32 bytes are writable.
    unsafe { _mm256_storeu_si256(target.cast(), if FOLD { folded } else { bytes }) };
    if SPACES {
        let spaces = _mm256_or_si256(within(bytes, 0x09, 5), within(bytes, 0x1c, 5));
        (!movemask(spaces), movemask(bytes))
    } else {
        let letters_digits = _mm256_or_si256(within(folded, b'a', 26), within(bytes, b'0', 10));
        (movemask(_mm256_or_si256(letters_digits, bytes)), movemask(bytes))
    }
}

/// `vpmovmskb`, hidden from the optimiser (see the top of this file).
#[inline]
#[target_feature(enable = "avx2")]
fn movemask(bytes: __m256i) -> u32 {
    let mask: u32;
    // SAFETY: one register-to-register instruction without side effects.
    unsafe {
        asm!("vpmovmskb {0:e}, {1}", out(reg) mask, in(ymm_reg) bytes,
            options(pure, nomem, nostack, preserves_flags));
    }
    mask
}

/// 0, 1, 2 … 63.
static IOTA: [u8; 64] = {
    let mut iota = [0; 64];
    let mut i = 0;
    while i < 64 {
        iota[i] = i as u8;
        i += 1;
    }
    iota
};

impl Scanner for Avx512 {
    #[inline(always)]
    unsafe fn classify<const SPACES: bool, const FOLD: bool>(
        source: *const u8,
        target: *mut u8,
    ) -> (u64, u64) {
        // SAFETY: the caller's promise.
        unsafe {
            let within = |bytes, lo: u8, n: i8| {
                let shifted = _mm512_sub_epi8(bytes, _mm512_set1_epi8(lo as i8));
                _mm512_cmplt_epu8_mask(shifted, _mm512_set1_epi8(n))
            };
            let bytes = _mm512_loadu_si512(source.cast());
            let upper = within(bytes, b'A', 26);
            let folded = _mm512_mask_add_epi8(bytes, upper, bytes, _mm512_set1_epi8(32));
            _mm512_storeu_si512(target.cast(), if FOLD { folded } else { bytes });
            let high = _mm512_movepi8_mask(bytes);
            if SPACES {
                (!(within(bytes, 0x09, 5) | within(bytes, 0x1c, 5)), high)
            } else {
                (within(folded, b'a', 26) | within(bytes, b'0', 10) | high, high)
            }
        }
    }

    #[inline(always)]
    unsafe fn positions(bits: u64, base: u16, out: *mut u16) {
        // SAFETY: the caller's promise; 64 entries are written at most.
        unsafe {
            let iota = _mm512_loadu_si512(IOTA.as_ptr().cast());
            let places = _mm512_maskz_compress_epi8(bits, iota);
            let base = _mm512_set1_epi16(base as i16);
            let low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(places));
            _mm512_storeu_si512(out.cast(), _mm512_add_epi16(low, base));
            if bits.count_ones() > 32 {
                let high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(places));
                _mm512_storeu_si512(out.add(32).cast(), _mm512_add_epi16(high, base));
            }
        }
    }
}

/// Characters beyond ASCII in the block at `base`: clears the bits of those that separate and of
/// those that are tokens of their own, which are noted. `spill` carries the bits of a character
/// that reaches into the next block.
#[cold]
#[inline(never)]
fn beyond_ascii(
    text: &str,
    base: usize,
    rule: TokenRule,
    (mut tokens, mut high): (u64, u64),
    spill: &mut u64,
    singles: &mut Vec<(u16, u64)>,
) -> u64 {
    tokens &= !*spill;
    *spill = 0;
    // Continuation bytes at the front belong to the block before.
    let front = text.as_bytes()[base..].iter().take(3).take_while(|b| **b & 0xc0 == 0x80).count();
    high &= u64::MAX << front;
    while high != 0 {
        let at = high.trailing_zeros();
        let Some(c) = text.get(base + at as usize..).and_then(|t| t.chars().next()) else { break };
        let bits = ((1u128 << c.len_utf8()) - 1) << at;
        let class = scalar::class_of(c, rule);
        if class != CharClass::Word {
            tokens &= !(bits as u64);
            *spill = (bits >> 64) as u64;
        }
        if class == CharClass::Unspaced {
            singles.push(((base + at as usize) as u16, scalar::char_token_hash(c)));
        }
        high &= !(bits as u64);
    }
    tokens
}

/// Hash of the token at `start..end` of the piece.
///
/// # Safety
/// `end + 16` bytes are readable at `piece`; the processor has BMI2.
#[inline(always)]
unsafe fn token_hash(piece: *const u8, start: usize, end: usize) -> u64 {
    let len = end - start;
    // SAFETY: 16 bytes from `start` on are readable, `len` bytes belong to the piece.
    unsafe {
        let at = piece.add(start);
        if len > 16 {
            return long_token_hash(std::slice::from_raw_parts(at, len));
        }
        let bits = 8 * len as u32;
        let low = _bzhi_u64(at.cast::<u64>().read_unaligned(), bits);
        let high = _bzhi_u64(at.add(8).cast::<u64>().read_unaligned(), bits.saturating_sub(64));
        hash::fold(low ^ S0, high ^ S1 ^ len as u64)
    }
}

#[cold]
#[inline(never)]
fn long_token_hash(token: &[u8]) -> u64 {
    hash::token_hash(token)
}

/// The scan itself.
///
/// # Safety
/// The processor has the instruction set of `S` and BMI2; `text` has at most [`PIECE`] bytes.
#[inline(always)]
unsafe fn scan<S: Scanner, const SPACES: bool, const FOLD: bool>(
    text: &str,
    rule: TokenRule,
    out: &mut TokenBuffer,
) {
    let len = text.len();
    out.singles.clear();
    if out.padded.len() < PIECE + 128 {
        out.padded.resize(PIECE + 128, 0);
        out.bounds.resize(PIECE + 128, 0);
    }
    let (piece, bounds) = (out.padded.as_mut_ptr(), out.bounds.as_mut_ptr());
    let (mut found, mut carry, mut spill, mut base) = (0usize, 0u64, 0u64, 0usize);
    while base < len {
        let left = len - base;
        // SAFETY: PIECE + 128 bytes are writable at `piece` and entries at `bounds`: positions are
        // distinct and below PIECE + 1, so at most PIECE + 1 of them stand before any write of 72.
        // A last block of less than 64 bytes is read from a padded copy.
        let (mut tokens, high) = unsafe {
            if left >= 64 {
                S::classify::<SPACES, FOLD>(text.as_ptr().add(base), piece.add(base))
            } else {
                let mut padded = [0u8; 64];
                padded[..left].copy_from_slice(&text.as_bytes()[base..]);
                let (tokens, high) =
                    S::classify::<SPACES, FOLD>(padded.as_ptr(), piece.add(base));
                (tokens & ((1 << left) - 1), high)
            }
        };
        if high | spill != 0 {
            tokens = beyond_ascii(text, base, rule, (tokens, high), &mut spill, &mut out.singles);
        }
        let edges = tokens ^ (tokens << 1 | carry);
        carry = tokens >> 63;
        // SAFETY: as above.
        unsafe { S::positions(edges, base as u16, bounds.add(found)) };
        found += edges.count_ones() as usize;
        base += 64;
    }
    // SAFETY: one more entry; then all bounds below `found` are written and in pairs, and `piece`
    // holds `len` bytes with at least 64 behind them. The caller made room for the hashes.
    unsafe {
        if found % 2 == 1 {
            bounds.add(found).write(len as u16);
            found += 1;
        }
        let count = found / 2;
        let hashes = out.hashes[out.len..][..count].as_mut_ptr();
        for i in 0..count {
            let pair = bounds.add(2 * i).cast::<u32>().read_unaligned();
            let hash = token_hash(piece, (pair & 0xffff) as usize, (pair >> 16) as usize);
            hashes.add(i).write(hash);
        }
        out.len += count;
        if !out.singles.is_empty() {
            merge_singles(out, count);
        }
    }
}

/// Puts the characters that are tokens of their own in their places among the last `count` tokens.
#[cold]
#[inline(never)]
fn merge_singles(out: &mut TokenBuffer, count: usize) {
    let start = out.len - count;
    // From the back, so that every token moves once, to a place that is free or already read.
    let (mut word, mut at) = (count, count + out.singles.len());
    for &(position, hash) in out.singles.iter().rev() {
        while word > 0 && out.bounds[2 * (word - 1)] > position {
            word -= 1;
            at -= 1;
            out.hashes[start + at] = out.hashes[start + word];
        }
        at -= 1;
        out.hashes[start + at] = hash;
    }
    out.len += out.singles.len();
}

/// Picks the scan's compile-time switches.
#[inline(always)]
unsafe fn scan_by_rule<S: Scanner>(text: &str, rule: ScanRule, out: &mut TokenBuffer) {
    let spaces = rule.tokens == TokenRule::Whitespace;
    // SAFETY: the caller's promise.
    unsafe {
        match (spaces, rule.fold) {
            (false, false) => scan::<S, false, false>(text, rule.tokens, out),
            (false, true) => scan::<S, false, true>(text, rule.tokens, out),
            (true, false) => scan::<S, true, false>(text, rule.tokens, out),
            (true, true) => scan::<S, true, true>(text, rule.tokens, out),
        }
    }
}

/// # Safety
/// [`has_avx2`]; `text` has at most [`PIECE`] bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn scan_avx2(text: &str, rule: ScanRule, out: &mut TokenBuffer) {
    // SAFETY: the caller's promise.
    unsafe { scan_by_rule::<Avx2>(text, rule, out) }
}

/// # Safety
/// [`has_avx512`]; `text` has at most [`PIECE`] bytes.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
pub(super) unsafe fn scan_avx512(text: &str, rule: ScanRule, out: &mut TokenBuffer) {
    // SAFETY: the caller's promise.
    unsafe { scan_by_rule::<Avx512>(text, rule, out) }
}

// ---- combine ------------------------------------------------------------------------------------

/// # Safety
/// [`has_avx2`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn combine_avx2(
    tokens: &[u64],
    count: usize,
    size: usize,
    out: &mut ShingleBuffer,
) {
    portable::combine(tokens, count, size, out);
}

/// Shingles side by side: four registers of eight.
const BLOCK: usize = 32;

/// # Safety
/// [`has_avx512`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn combine_avx512(
    tokens: &[u64],
    count: usize,
    size: usize,
    out: &mut ShingleBuffer,
) {
    assert!(tokens.len() >= count + size - 1 + BLOCK, "token buffers are padded");
    let upper = out.upper[out.len..][..count + BLOCK].as_mut_ptr();
    let whole = match out.keep_whole {
        true => out.whole[out.len..][..count + BLOCK].as_mut_ptr(),
        false => std::ptr::null_mut(),
    };
    let (p, finish) = (_mm512_set1_epi64(hash::P as i64), _mm512_set1_epi64(hash::FINISH as i64));
    let (mut sum, mut products) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let mut at = 0;
    while at < count {
        // SAFETY: the last block begins below `count`, so it ends below `count + BLOCK`, and reads
        // at most `size − 1` entries further; all of that was checked above.
        unsafe {
            let first = tokens.as_ptr().add(at);
            let mut hashes: [__m512i; 4] =
                std::array::from_fn(|q| _mm512_loadu_si512(first.add(8 * q).cast()));
            for j in 1..size {
                for (q, hash) in hashes.iter_mut().enumerate() {
                    let token = _mm512_loadu_si512(first.add(8 * q + j).cast());
                    *hash = _mm512_add_epi64(_mm512_mullo_epi64(*hash, p), token);
                }
            }
            for (q, hash) in hashes.iter_mut().enumerate() {
                let mixed = _mm512_xor_si512(*hash, _mm512_srli_epi64::<32>(*hash));
                *hash = _mm512_mullo_epi64(mixed, finish);
                let high = _mm512_srli_epi64::<32>(*hash);
                let used = lanes(count - at, 8 * q);
                sum = _mm512_mask_add_epi64(sum, used, sum, *hash);
                products =
                    _mm512_mask_add_epi64(products, used, products, _mm512_mul_epu32(*hash, high));
                _mm256_storeu_si256(upper.add(at + 8 * q).cast(), _mm512_cvtepi64_epi32(high));
                if !whole.is_null() {
                    _mm512_storeu_si512(whole.add(at + 8 * q).cast(), *hash);
                }
            }
        }
        at += BLOCK;
    }
    out.len += count;
    out.sums[0] = out.sums[0].wrapping_add(_mm512_reduce_add_epi64(sum) as u64);
    out.sums[1] = out.sums[1].wrapping_add(_mm512_reduce_add_epi64(products) as u64);
}

/// Which of eight lanes from `from` on are among the first `left`.
#[inline(always)]
fn lanes(left: usize, from: usize) -> u8 {
    match left.saturating_sub(from) {
        0 => 0,
        n if n >= 8 => 0xff,
        n => (1 << n) - 1,
    }
}

// ---- signatures ---------------------------------------------------------------------------------

/// # Safety
/// [`has_avx2`].
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) unsafe fn sketch_avx2(parameters: &Parameters, shingles: &[u32], out: &mut [u32]) {
    portable::sketch(parameters, shingles, out);
}

/// # Safety
/// [`has_avx2`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn classic_avx2(parameters: &Parameters, shingles: &[u32], out: &mut [u32]) {
    portable::classic(parameters, shingles, out);
}

/// # Safety
/// [`has_avx512`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn classic_avx512(parameters: &Parameters, shingles: &[u32], out: &mut [u32]) {
    portable::classic(parameters, shingles, out);
}

/// The longest signature whose empty values fit the bit set of one register.
const SKETCH_MAX: usize = 512;

/// # Safety
/// [`has_avx512`].
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
pub(super) unsafe fn sketch_avx512(parameters: &Parameters, shingles: &[u32], out: &mut [u32]) {
    let k = parameters.num_hashes;
    if k > SKETCH_MAX || !k.is_power_of_two() || k < 16 || shingles.is_empty() {
        return portable::sketch(parameters, shingles, out);
    }
    assert!(out.len() >= k && parameters.a.len() >= k && parameters.b.len() >= k);
    out.fill(u32::MAX);
    // SAFETY: the lengths above; bins of a power of two are the top bits, below k.
    unsafe {
        first_round(parameters, shingles, out);
        let empty = second_round(parameters, shingles, out);
        if empty.iter().any(|w| *w != 0) {
            fill_empty(parameters, shingles, out, &empty);
        }
    }
}

/// Bit j of the set: value j is still empty.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn empty_values(out: &[u32], k: usize) -> [u32; 16] {
    let mut empty = [0u32; 16];
    for (i, values) in out[..k].as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: sixteen values.
        let values = unsafe { _mm512_loadu_si512(values.as_ptr().cast()) };
        let bits = u32::from(_mm512_cmpeq_epi32_mask(values, _mm512_set1_epi32(-1)));
        empty[i / 2] |= bits << (16 * (i % 2));
    }
    empty
}

/// The smaller of `value` and what stands in its bin.
///
/// # Safety
/// `bin` is below the length of `out`.
#[inline(always)]
unsafe fn lower(out: &mut [u32], bin: usize, value: u32) {
    debug_assert!(bin < out.len());
    // SAFETY: the caller's promise.
    let least = unsafe { out.get_unchecked_mut(bin) };
    *least = if value < *least { value } else { *least };
}

/// Round 0. Once the values are low, blocks of sixteen are tested against the largest of them
/// first: in a long document nearly every shingle fails that test (0.95 → 0.33 ns per shingle).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2")]
unsafe fn first_round(parameters: &Parameters, shingles: &[u32], out: &mut [u32]) {
    let k = parameters.num_hashes;
    let (a, b) = parameters.rounds[0];
    let (av, bv) = (_mm512_set1_epi32(a as i32), _mm512_set1_epi32(b as i32));
    let bits = k.trailing_zeros();
    let (shift, rest) = (_mm_cvtsi32_si128(32 - bits as i32), _mm_cvtsi32_si128(bits as i32));
    let direct = shingles.len().min(6 * k);
    let (blocks, tail) = shingles[..direct].as_chunks::<16>();
    for block in blocks {
        // SAFETY: sixteen shingles; bins are below k.
        unsafe {
            let x = _mm512_loadu_si512(block.as_ptr().cast());
            let z = _mm512_mullo_epi32(_mm512_xor_si512(x, bv), av);
            let (mut bins, mut values) = ([0u32; 16], [0u32; 16]);
            _mm512_storeu_si512(bins.as_mut_ptr().cast(), _mm512_srl_epi32(z, shift));
            let value = _mm512_srli_epi32::<2>(_mm512_sll_epi32(z, rest));
            _mm512_storeu_si512(values.as_mut_ptr().cast(), value);
            for i in 0..16 {
                lower(out, bins[i] as usize, values[i]);
            }
        }
    }
    for &x in tail {
        let (bin, value) = scalar::bin((x ^ b).wrapping_mul(a), k, 0);
        // SAFETY: bins are below k.
        unsafe { lower(out, bin, value) };
    }
    let mut at = direct;
    while at < shingles.len() {
        let largest = out[..k].iter().fold(0, |most, &v| most.max(v));
        let bound = _mm512_set1_epi32(largest as i32);
        // The bound falls slowly: look again after half as many shingles as there were so far.
        let end = (at + (at / 2).max(256)).min(shingles.len());
        for block in shingles[at..end].chunks(16) {
            let used = u16::MAX >> (16 - block.len());
            // SAFETY: masked to the block; bins are below k.
            unsafe {
                let x = _mm512_maskz_loadu_epi32(used, block.as_ptr().cast());
                let z = _mm512_mullo_epi32(_mm512_xor_si512(x, bv), av);
                let value = _mm512_srli_epi32::<2>(_mm512_sll_epi32(z, rest));
                let mut hits = u32::from(_mm512_mask_cmplt_epu32_mask(used, value, bound));
                while hits != 0 {
                    let x = block[hits.trailing_zeros() as usize];
                    let (bin, value) = scalar::bin((x ^ b).wrapping_mul(a), k, 0);
                    lower(out, bin, value);
                    hits &= hits - 1;
                }
            }
        }
        at = end;
    }
}

/// Round 1 for the values still empty, whose set after the round is returned. A filled value cannot
/// fall in a later round, so only shingles whose bin is empty matter: sixteen look-ups at a time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
unsafe fn second_round(parameters: &Parameters, shingles: &[u32], out: &mut [u32]) -> [u32; 16] {
    let k = parameters.num_hashes;
    let empty = empty_values(out, k);
    if empty.iter().all(|w| *w == 0) {
        return empty;
    }
    let (a, b) = parameters.rounds[1];
    let (av, bv) = (_mm512_set1_epi32(a as i32), _mm512_set1_epi32(b as i32));
    let shift = _mm_cvtsi32_si128(32 - k.trailing_zeros() as i32);
    // SAFETY: the set has sixteen words.
    let set = unsafe { _mm512_loadu_si512(empty.as_ptr().cast()) };
    for block in shingles.chunks(16) {
        let used = u16::MAX >> (16 - block.len());
        // SAFETY: masked to the block; bins are below k.
        unsafe {
            let x = _mm512_maskz_loadu_epi32(used, block.as_ptr().cast());
            let z = _mm512_mullo_epi32(_mm512_xor_si512(x, bv), av);
            let bin = _mm512_srl_epi32(z, shift);
            let word = _mm512_permutexvar_epi32(_mm512_srli_epi32::<5>(bin), set);
            let place = _mm512_and_si512(bin, _mm512_set1_epi32(31));
            let bit = _mm512_srlv_epi32(word, place);
            let one = _mm512_set1_epi32(1);
            let mut hits = u32::from(_mm512_mask_test_epi32_mask(used, bit, one));
            while hits != 0 {
                let x = block[hits.trailing_zeros() as usize];
                let (bin, value) = scalar::bin((x ^ b).wrapping_mul(a), k, 1);
                lower(out, bin, value);
                hits &= hits - 1;
            }
        }
    }
    empty_values(out, k)
}

/// The classic minimum for the empty values. Their parameters are packed side by side, so that the
/// work is that of the empty values alone, and the results are spread to their places.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
unsafe fn fill_empty(
    parameters: &Parameters,
    shingles: &[u32],
    out: &mut [u32],
    empty: &[u32; 16],
) {
    let k = parameters.num_hashes;
    let mask = |i: usize| (empty[i / 2] >> (16 * (i % 2))) as u16;
    let (mut a, mut b) = ([0u32; SKETCH_MAX + 64], [0u32; SKETCH_MAX + 64]);
    let mut least = [0u32; SKETCH_MAX + 64];
    let mut count = 0;
    for i in 0..k / 16 {
        // SAFETY: parameters have k entries; at most k are packed, the buffers hold 64 more.
        unsafe {
            let pack = |from: &[u32], to: &mut [u32]| {
                let values = _mm512_loadu_si512(from.as_ptr().add(16 * i).cast());
                let packed = _mm512_maskz_compress_epi32(mask(i), values);
                _mm512_storeu_si512(to.as_mut_ptr().add(count).cast(), packed);
            };
            pack(&parameters.a, &mut a);
            pack(&parameters.b, &mut b);
        }
        count += mask(i).count_ones() as usize;
    }
    let mut at = 0;
    while at < count {
        let groups = (count - at).div_ceil(16).min(4);
        // SAFETY: groups of sixteen from `at` on end within the 64 spare entries.
        unsafe {
            let (a, b, out) = (a.as_ptr().add(at), b.as_ptr().add(at), least.as_mut_ptr().add(at));
            match groups {
                1 => packed_minima::<1>(a, b, shingles, out),
                2 => packed_minima::<2>(a, b, shingles, out),
                3 => packed_minima::<3>(a, b, shingles, out),
                _ => packed_minima::<4>(a, b, shingles, out),
            }
        }
        at += 16 * groups;
    }
    let mut count = 0;
    for i in 0..k / 16 {
        // SAFETY: `out` has k values; `count` stays below k.
        unsafe {
            let place = out.as_mut_ptr().add(16 * i);
            let packed = _mm512_loadu_si512(least.as_ptr().add(count).cast());
            let values = _mm512_loadu_si512(place.cast());
            let spread = _mm512_mask_expand_epi32(values, mask(i), packed);
            _mm512_storeu_si512(place.cast(), spread);
        }
        count += mask(i).count_ones() as usize;
    }
}

/// Minima of `G` groups of sixteen functions over all shingles. Two shingles a step keep the
/// multiplier busy when there is one group only.
///
/// # Safety
/// `16 · G` entries readable at `a` and `b` and writable at `out`; AVX-512.
#[inline(always)]
unsafe fn packed_minima<const G: usize>(
    a: *const u32,
    b: *const u32,
    shingles: &[u32],
    out: *mut u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let a: [__m512i; G] = std::array::from_fn(|g| _mm512_loadu_si512(a.add(16 * g).cast()));
        let b: [__m512i; G] = std::array::from_fn(|g| _mm512_loadu_si512(b.add(16 * g).cast()));
        let (mut even, mut odd) = ([_mm512_set1_epi32(-1); G], [_mm512_set1_epi32(-1); G]);
        let (pairs, last) = shingles.as_chunks::<2>();
        let hash = |x: u32, g: usize| {
            _mm512_mullo_epi32(_mm512_xor_si512(_mm512_set1_epi32(x as i32), b[g]), a[g])
        };
        for &[x, y] in pairs {
            for g in 0..G {
                even[g] = _mm512_min_epu32(even[g], hash(x, g));
                odd[g] = _mm512_min_epu32(odd[g], hash(y, g));
            }
        }
        for &x in last {
            for g in 0..G {
                even[g] = _mm512_min_epu32(even[g], hash(x, g));
            }
        }
        let tag = _mm512_set1_epi32(FALLBACK as i32);
        for g in 0..G {
            let least = _mm512_srli_epi32::<2>(_mm512_min_epu32(even[g], odd[g]));
            _mm512_storeu_si512(out.add(16 * g).cast(), _mm512_or_si512(least, tag));
        }
    }
}

// ---- verification -------------------------------------------------------------------------------

/// Four against four: each block of one set is compared with the other's in all rotations, then
/// the block that ends first gives way to the next.
///
/// # Safety
/// [`has_avx2`].
#[target_feature(enable = "avx2,popcnt")]
pub(super) unsafe fn intersect_avx2(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i + 4 <= a.len() && j + 4 <= b.len() {
        // SAFETY: four entries each.
        let (x, y) = unsafe {
            (_mm256_loadu_si256(a.as_ptr().add(i).cast()), _mm256_loadu_si256(b.as_ptr().add(j).cast()))
        };
        let same = _mm256_or_si256(
            _mm256_or_si256(
                _mm256_cmpeq_epi64(x, y),
                _mm256_cmpeq_epi64(x, _mm256_permute4x64_epi64::<0b00_11_10_01>(y)),
            ),
            _mm256_or_si256(
                _mm256_cmpeq_epi64(x, _mm256_permute4x64_epi64::<0b01_00_11_10>(y)),
                _mm256_cmpeq_epi64(x, _mm256_permute4x64_epi64::<0b10_01_00_11>(y)),
            ),
        );
        shared += _mm256_movemask_pd(_mm256_castsi256_pd(same)).count_ones() as usize;
        let (x, y) = (a[i + 3], b[j + 3]);
        i += 4 * usize::from(x <= y);
        j += 4 * usize::from(y <= x);
    }
    shared + scalar::intersect(&a[i..], &b[j..])
}

/// Eight against eight, otherwise as [`intersect_avx2`].
///
/// # Safety
/// [`has_avx512`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
pub(super) unsafe fn intersect_avx512(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i + 8 <= a.len() && j + 8 <= b.len() {
        // SAFETY: eight entries each.
        let (x, y) = unsafe {
            (_mm512_loadu_si512(a.as_ptr().add(i).cast()), _mm512_loadu_si512(b.as_ptr().add(j).cast()))
        };
        macro_rules! same {
            ($($by:literal)+) => {
                $(_mm512_cmpeq_epi64_mask(x, _mm512_alignr_epi64::<$by>(y, y)))|+
            };
        }
        shared += same!(0 1 2 3 4 5 6 7).count_ones() as usize;
        let (x, y) = (a[i + 7], b[j + 7]);
        i += 8 * usize::from(x <= y);
        j += 8 * usize::from(y <= x);
    }
    shared + scalar::intersect(&a[i..], &b[j..])
}

/// # Safety
/// [`has_avx2`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn count_equal_avx2(a: &[u32], b: &[u32]) -> usize {
    scalar::count_equal(a, b)
}

/// # Safety
/// [`has_avx512`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn count_equal_avx512(a: &[u32], b: &[u32]) -> usize {
    scalar::count_equal(a, b)
}
