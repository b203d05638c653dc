//! Text to token hashes: 64 bytes at a time to a bit per byte, bits to bounds, bounds to hashes.

use crate::hash::{self, S0, S1};
use crate::kernel::scalar;
use crate::kernel::{PIECE, ScanRule, TokenBuffer};
use crate::params::TokenRule;
use crate::text::CharClass;
use std::arch::asm;
use std::arch::x86_64::*;

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
                let (tokens, high) = S::classify::<SPACES, FOLD>(padded.as_ptr(), piece.add(base));
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
/// [`has_avx2`](super::has_avx2); `text` has at most [`PIECE`] bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(in crate::kernel) unsafe fn scan_avx2(text: &str, rule: ScanRule, out: &mut TokenBuffer) {
    // SAFETY: the caller's promise.
    unsafe { scan_by_rule::<Avx2>(text, rule, out) }
}

/// # Safety
/// [`has_avx512`](super::has_avx512); `text` has at most [`PIECE`] bytes.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
pub(in crate::kernel) unsafe fn scan_avx512(text: &str, rule: ScanRule, out: &mut TokenBuffer) {
    // SAFETY: the caller's promise.
    unsafe { scan_by_rule::<Avx512>(text, rule, out) }
}
