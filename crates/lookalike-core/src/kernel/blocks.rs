//! Token hashes of text in blocks of 64 bytes, for every instruction set: bytes to a bit each, bits
//! to bounds, bounds to hashes. A [`BlockScanner`] contains the differences between instruction
//! sets.

use super::buffers::{PIECE, ScanRule, TokenBuffer};
use super::scalar;
use crate::hash::{self, S0, S1};
use crate::params::TokenRule;
use crate::text::{self, CharClass, lowers};

/// The operations of an instruction set that the scan uses.
pub(super) trait BlockScanner {
    /// Lower-cases (if `FOLD`) 64 bytes at `source` into `target`. Returns a mask of the bytes that
    /// belong to tokens (including all bytes from 0x80 on), and a mask of the bytes from 0x80 on.
    ///
    /// # Safety
    /// 64 bytes are readable at `source` and writable at `target`; the processor has the
    /// instruction set.
    unsafe fn classify<const SPACES: bool, const FOLD: bool>(
        source: *const u8,
        target: *mut u8,
    ) -> (u64, u64);

    /// The lowest `bits` bits of `value`, all of them from 64 on.
    ///
    /// # Safety
    /// The processor has the instruction set.
    unsafe fn low_bits(value: u64, bits: u32) -> u64;

    /// Writes the positions of the set bits of `bits`, plus `base`, ascending, to `out`.
    ///
    /// # Safety
    /// 72 entries are writable at `out`; the processor has the instruction set.
    unsafe fn positions(bits: u64, base: u16, out: *mut u16);
}

/// Plain bytes and shifts, for processors without a variant of their own.
pub(super) struct Plain;

/// The classes of bytes for [`Plain`]: bit 0 for bytes of words, bit 1 for bytes other than white
/// space. Bytes from 0x80 on have both bits.
static CLASSES: [u8; 256] = {
    let mut classes = [3u8; 256];
    let mut byte = 0;
    while byte < 0x80 {
        let c = byte as u8;
        let space = matches!(c, 0x09..=0x0d | 0x1c..=0x20);
        classes[byte] = c.is_ascii_alphanumeric() as u8 | (!space as u8) << 1;
        byte += 1;
    }
    classes
};

impl BlockScanner for Plain {
    #[inline(always)]
    unsafe fn classify<const SPACES: bool, const FOLD: bool>(
        source: *const u8,
        target: *mut u8,
    ) -> (u64, u64) {
        // SAFETY: the caller's promise.
        let (bytes, target) =
            unsafe { (source.cast::<[u8; 64]>().read(), &mut *target.cast::<[u8; 64]>()) };
        *target = bytes;
        if FOLD {
            target.make_ascii_lowercase();
        }
        let (mut tokens, mut high) = (0, 0);
        for (i, byte) in bytes.into_iter().enumerate() {
            let class = CLASSES[byte as usize] >> u8::from(SPACES) & 1;
            tokens |= u64::from(class) << i;
            high |= u64::from(byte >> 7) << i;
        }
        (tokens, high)
    }

    #[inline(always)]
    unsafe fn low_bits(value: u64, bits: u32) -> u64 {
        if bits < 64 { value & ((1 << bits) - 1) } else { value }
    }

    #[inline(always)]
    unsafe fn positions(bits: u64, base: u16, out: *mut u16) {
        // SAFETY: the caller's promise.
        unsafe { peel(bits, base, out) }
    }
}

/// [`BlockScanner::positions`] bit by bit, in groups of eight that do not branch.
///
/// # Safety
/// 72 entries are writable at `out`.
#[inline(always)]
pub(super) unsafe fn peel(mut bits: u64, base: u16, mut out: *mut u16) {
    let mut left = bits.count_ones().cast_signed();
    while left > 0 {
        for i in 0..8 {
            // SAFETY: at most 64 positions are written in groups of eight; 72 entries are writable.
            unsafe { out.add(i).write(base.wrapping_add(bits.trailing_zeros() as u16)) };
            bits &= bits.wrapping_sub(1);
        }
        // SAFETY: as above.
        out = unsafe { out.add(8) };
        left -= 8;
    }
}

/// Handles non-ASCII characters in the block at `base`. Clears the bits of separators and of
/// single-character tokens, and records the latter. `spill` carries the bits of a character that
/// reaches into the next block.
#[cold]
#[inline(never)]
fn beyond_ascii(
    text: &str,
    base: usize,
    rule: TokenRule,
    (mut tokens, mut high): (u64, u64),
    spill: &mut u64,
    out: &mut TokenBuffer,
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
        out.unfolded |= lowers(c);
        let class = text::class_by(c, rule);
        if class != CharClass::Word {
            tokens &= !(bits as u64);
            *spill = (bits >> 64) as u64;
        }
        if class == CharClass::Unspaced {
            out.singles.push(((base + at as usize) as u16, scalar::char_token_hash(c)));
        }
        high &= !(bits as u64);
    }
    tokens
}

/// Hash of the token at `start..end` of the piece.
///
/// # Safety
/// `end + 16` bytes are readable at `piece`; the processor has the instruction set of `S`.
#[inline(always)]
unsafe fn token_hash<S: BlockScanner>(piece: *const u8, start: usize, end: usize) -> u64 {
    let len = end - start;
    // SAFETY: 16 bytes from `start` on are readable, `len` bytes belong to the piece.
    unsafe {
        let at = piece.add(start);
        if len > 16 {
            return long_token_hash(std::slice::from_raw_parts(at, len));
        }
        let bits = 8 * len as u32;
        let low = S::low_bits(u64::from_le(at.cast::<u64>().read_unaligned()), bits);
        let high = u64::from_le(at.add(8).cast::<u64>().read_unaligned());
        let high = S::low_bits(high, bits.saturating_sub(64));
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
/// The processor has the instruction set of `S`; `text` has at most [`PIECE`] bytes.
#[inline(always)]
unsafe fn scan<S: BlockScanner, const SPACES: bool, const FOLD: bool>(
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
        // SAFETY: PIECE + 128 bytes are writable at `piece`, and as many entries at `bounds`.
        // Positions are distinct and below PIECE + 1, so at most PIECE + 1 of them precede any
        // write of 72. A last block of less than 64 bytes is read from a padded copy.
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
            tokens = beyond_ascii(text, base, rule, (tokens, high), &mut spill, out);
        }
        let edges = tokens ^ (tokens << 1 | carry);
        carry = tokens >> 63;
        // SAFETY: as above.
        unsafe { S::positions(edges, base as u16, bounds.add(found)) };
        found += edges.count_ones() as usize;
        base += 64;
    }
    // SAFETY: `bounds` has room for one more entry. Afterwards, all bounds below `found` are
    // written and come in pairs, and `piece` contains `len` bytes, followed by at least 64 more.
    // The caller reserved room for the hashes.
    unsafe {
        if found % 2 == 1 {
            bounds.add(found).write(len as u16);
            found += 1;
        }
        let count = found / 2;
        let hashes = out.hashes[out.len..][..count].as_mut_ptr();
        for i in 0..count {
            // Load two bounds at once.
            let pair = bounds.add(2 * i).cast::<u32>().read_unaligned();
            let (low, high) = ((pair & 0xffff) as usize, (pair >> 16) as usize);
            let little = cfg!(target_endian = "little");
            let (start, end) = if little { (low, high) } else { (high, low) };
            hashes.add(i).write(token_hash::<S>(piece, start, end));
        }
        out.len += count;
        if !out.singles.is_empty() {
            merge_singles(out, count);
        }
    }
}

/// Moves the single-character tokens to their places among the last `count` tokens.
#[cold]
#[inline(never)]
fn merge_singles(out: &mut TokenBuffer, count: usize) {
    let start = out.len - count;
    // From the end, so that every token moves once, to a free place or one that was already read.
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

/// Runs the copy of the loop for the rule, see [`super::Kernel::scan`].
///
/// # Safety
/// The processor has the instruction set of `S`; `text` has at most [`PIECE`] bytes.
#[inline(always)]
pub(super) unsafe fn scan_by_rule<S: BlockScanner>(
    text: &str,
    rule: ScanRule,
    out: &mut TokenBuffer,
) {
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
