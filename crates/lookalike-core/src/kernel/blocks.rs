//! Computes token hashes of text in blocks of 64 bytes: converts bytes to one bit each, bits to
//! token bounds, and bounds to hashes. A [`BlockScanner`] contains the differences between
//! instruction sets.

use super::beyond_ascii::{BlockTokens, FlagMasks, FlagScanner, LastCharacter, beyond_ascii};
use super::buffers::{PIECE, ScanRule, TokenBuffer};
use crate::hash::{self, S0, S1};
use crate::params::TokenRule;
use crate::text;

/// The operations of an instruction set that the scan uses.
pub(super) trait BlockScanner: FlagScanner {
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

    /// Copies 64 bytes from `source` to `target`, lower-cases them (if `FOLD`) and replaces ASCII
    /// white space by blanks. Returns a mask of the blanks, and a mask of the first bytes of white
    /// space beyond ASCII.
    ///
    /// # Safety
    /// 66 bytes are readable at `source` and 64 writable at `target`; the processor has the
    /// instruction set.
    unsafe fn blanks<const FOLD: bool>(source: *const u8, target: *mut u8) -> (u64, u64);

    /// Moves the bytes with a bit in `kept` to the front of 64 bytes.
    ///
    /// # Safety
    /// 64 bytes are readable and writable at `bytes`; the processor has the instruction set.
    #[inline(always)]
    unsafe fn compress(bytes: *mut u8, kept: u64) {
        // SAFETY: the caller's promise.
        unsafe { pack(bytes, kept) }
    }

    /// Returns the lowest `bits` bits of `value`, or `value` if `bits` is 64 or more.
    ///
    /// # Safety
    /// The processor has the instruction set.
    #[inline(always)]
    unsafe fn low_bits(value: u64, bits: u32) -> u64 {
        if bits < 64 { value & ((1 << bits) - 1) } else { value }
    }

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

impl FlagScanner for Plain {
    unsafe fn flags(_: &[u8; 64], _: &mut u64) -> FlagMasks {
        FlagMasks::default()
    }
}

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
    unsafe fn blanks<const FOLD: bool>(source: *const u8, target: *mut u8) -> (u64, u64) {
        // SAFETY: the caller's promise.
        let bytes = unsafe { &*source.cast::<[u8; 66]>() };
        let mut copied = [0; 64];
        let mut blanks = 0;
        let mut wide = 0;
        for (i, copied) in copied.iter_mut().enumerate() {
            let [a, b, c] = [bytes[i], bytes[i + 1], bytes[i + 2]];
            let is_blank = CLASSES[a as usize] & 2 == 0;
            let folded = if FOLD { a.to_ascii_lowercase() } else { a };
            *copied = if is_blank { b' ' } else { folded };
            blanks |= u64::from(is_blank) << i;
            wide |= u64::from(begins_wide_blank(a, b, c)) << i;
        }
        // SAFETY: the caller's promise.
        unsafe { target.cast::<[u8; 64]>().write(copied) };
        (blanks, wide)
    }

    #[inline(always)]
    unsafe fn positions(bits: u64, base: u16, out: *mut u16) {
        // SAFETY: the caller's promise.
        unsafe { peel(bits, base, out) }
    }
}

/// Whether these are the first bytes of white space beyond ASCII: U+0085, U+00A0, U+1680, U+2000 to
/// U+206F (of which U+2000 to U+200A, U+2028, U+2029, U+202F and U+205F are white space) or U+3000.
#[inline(always)]
fn begins_wide_blank(a: u8, b: u8, c: u8) -> bool {
    matches!(
        (a, b, c),
        (0xc2, 0x85 | 0xa0, _) | (0xe1, 0x9a, _) | (0xe2, 0x80 | 0x81, _) | (0xe3, 0x80, 0x80)
    )
}

/// [`BlockScanner::compress`] byte by byte.
///
/// # Safety
/// 64 bytes are readable and writable at `bytes`.
#[inline(always)]
unsafe fn pack(bytes: *mut u8, kept: u64) {
    // SAFETY: the caller's promise.
    let bytes = unsafe { &mut *bytes.cast::<[u8; 64]>() };
    let mut length = 0;
    for i in 0..64 {
        bytes[length & 63] = bytes[i];
        length += usize::from(kept >> i & 1 == 1);
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

/// The positions of the set bits of each byte, ascending, then zeros.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
pub(super) static PLACES: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut count = 0;
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                places[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    places
};

/// Writes the starts and ends of tokens of a block, alternating, to `out`, and returns their
/// number. `is_open` is true if a token continues from the block before. A token may start where
/// another one ends.
///
/// # Safety
/// 130 entries are writable at `out`; the processor has the instruction set of `S`.
#[inline(always)]
unsafe fn write_bounds<S: BlockScanner>(
    (starts, ends): (u64, u64),
    is_open: bool,
    base: usize,
    out: *mut u16,
) -> usize {
    let (mut first, mut second) = ([0u16; 72], [0u16; 72]);
    let (even, odd) = if is_open { (ends, starts) } else { (starts, ends) };
    // SAFETY: both arrays have 72 entries. At most 65 pairs are written.
    unsafe {
        S::positions(even, base as u16, first.as_mut_ptr());
        S::positions(odd, base as u16, second.as_mut_ptr());
        for pair in 0..=even.count_ones().max(odd.count_ones()) as usize {
            out.add(2 * pair).write(first[pair]);
            out.add(2 * pair + 1).write(second[pair]);
        }
    }
    (starts.count_ones() + ends.count_ones()) as usize
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
    rule: ScanRule,
    out: &mut TokenBuffer,
) {
    let len = text.len();
    out.crossing.clear();
    if out.padded.len() < PIECE + 128 {
        out.padded.resize(PIECE + 128, 0);
        out.bounds.resize(2 * PIECE + 256, 0);
    }
    let (piece, bounds) = (out.padded.as_mut_ptr(), out.bounds.as_mut_ptr());
    let (mut found, mut carry, mut base) = (0usize, 0u64, 0usize);
    let mut last = LastCharacter::Other;
    while base < len {
        let left = len - base;
        // SAFETY: PIECE + 128 bytes are writable at `piece`. A last block of less than 64 bytes is
        // read from a padded copy.
        let (words, high) = unsafe {
            if left >= 64 {
                S::classify::<SPACES, FOLD>(text.as_ptr().add(base), piece.add(base))
            } else {
                let mut padded = [0u8; 64];
                padded[..left].copy_from_slice(&text.as_bytes()[base..]);
                let (tokens, high) = S::classify::<SPACES, FOLD>(padded.as_ptr(), piece.add(base));
                (tokens & ((1 << left) - 1), high)
            }
        };
        let mut words = words;
        let mut starts = 0;
        let mut ends = 0;
        if high != 0 || last != LastCharacter::Other {
            // SAFETY: the caller's promise.
            let tokens = unsafe { beyond_ascii::<S>(text, base, rule, words, &mut last, out) };
            BlockTokens { words, starts, ends } = tokens;
        }
        let edges = words ^ (words << 1 | carry);
        carry = words >> 63;
        // SAFETY: `bounds` has room for two entries per byte and 256 more. A byte starts at most
        // one token and ends at most one, so at most two entries per byte precede a write of 130.
        unsafe {
            let out = bounds.add(found);
            found += if starts | ends == 0 {
                S::positions(edges, base as u16, out);
                edges.count_ones() as usize
            } else {
                let all = (edges & words | starts, edges & !words | ends);
                write_bounds::<S>(all, found % 2 == 1, base, out)
            };
        }
        base += 64;
    }
    for (start, bytes) in &out.crossing {
        let length = text[*start..].chars().next().map_or(0, char::len_utf8);
        out.padded[*start..start + length].copy_from_slice(&bytes[..length]);
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
    }
}

/// See [`super::Kernel::collapse`]. Most blocks have no white space beyond ASCII, and are copied at
/// once. Other blocks are copied character by character.
///
/// # Safety
/// The processor has the instruction set of `S`.
#[inline(always)]
unsafe fn collapse_blocks<S: BlockScanner, const FOLD: bool>(text: &str, out: &mut Vec<u8>) {
    let source = text.as_bytes();
    out.clear();
    out.reserve(source.len() + 64);
    // 1 after a blank and at the start of the text, where another blank is dropped.
    let mut after_blank = 1;
    let mut at = 0;
    while at < source.len() {
        if at + 66 <= source.len() {
            // SAFETY: 66 bytes are readable from `at` on. Each step writes at most as many bytes as
            // it reads, so room for 64 more than the source has is enough.
            unsafe {
                let target = out.as_mut_ptr().add(out.len());
                let (blanks, wide) = S::blanks::<FOLD>(source.as_ptr().add(at), target);
                if wide == 0 {
                    let dropped = blanks & (blanks << 1 | after_blank);
                    if dropped != 0 {
                        S::compress(target, !dropped);
                    }
                    out.set_len(out.len() + 64 - dropped.count_ones() as usize);
                    at += 64;
                    after_blank = blanks >> 63;
                    continue;
                }
            }
        }
        let end = source.len().min(at + 64);
        // The rest of a character that began in the block before, and is not white space.
        let start = (at..end).find(|at| text.is_char_boundary(*at)).unwrap_or(end);
        out.extend_from_slice(&source[at..start]);
        at = start;
        for c in text[start..].chars() {
            if at >= end {
                break;
            }
            let next = at + c.len_utf8();
            let is_blank = text::is_white_space(c);
            if !is_blank {
                out.extend_from_slice(&source[at..next]);
                if FOLD && let Some(last) = out.last_mut() {
                    last.make_ascii_lowercase();
                }
            } else if after_blank == 0 {
                out.push(b' ');
            }
            at = next;
            after_blank = u64::from(is_blank);
        }
    }
    out.truncate(out.len() - usize::from(!out.is_empty() && after_blank == 1));
}

/// Runs the copy of the loop for the case, see [`super::Kernel::collapse`].
///
/// # Safety
/// The processor has the instruction set of `S`.
#[inline(always)]
pub(super) unsafe fn collapse<S: BlockScanner>(text: &str, fold: bool, out: &mut String) {
    // SAFETY: whole characters are copied, so the bytes are valid UTF-8, and the caller's promise.
    unsafe {
        let out = out.as_mut_vec();
        if fold {
            collapse_blocks::<S, true>(text, out);
        } else {
            collapse_blocks::<S, false>(text, out);
        }
    }
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
            (false, false) => scan::<S, false, false>(text, rule, out),
            (false, true) => scan::<S, false, true>(text, rule, out),
            (true, false) => scan::<S, true, false>(text, rule, out),
            (true, true) => scan::<S, true, true>(text, rule, out),
        }
    }
}
