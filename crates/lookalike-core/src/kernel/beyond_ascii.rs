//! Non-ASCII characters of a block of 64 bytes: their classes, and their lower case.
//!
//! ```text
//! block ─ FlagScanner::flags, by page of 64 characters ──┐
//!       ─ text::flags_at, for the other characters ──────┴→ FlagMasks → BlockTokens
//! ```

use super::buffers::{ScanRule, TokenBuffer};
use crate::params::TokenRule;
use crate::text;
use crate::unicode_table as table;

/// The look-up of flags with an instruction set.
pub(super) trait FlagScanner {
    /// Returns the flags of characters of a block, and removes their first bytes from `left`.
    ///
    /// # Safety
    /// The processor has the instruction set.
    unsafe fn flags(block: &[u8; 64], left: &mut u64) -> FlagMasks;
}

/// The flags of the characters of a block. A bit of a mask stands for the first byte of a
/// character.
#[derive(Clone, Copy, Default)]
pub(super) struct FlagMasks {
    /// The two bits of the class.
    one: u64,
    two: u64,
    upper: u64,
    blank: u64,
}

impl FlagMasks {
    /// Builds the masks. `with_bit` returns a mask of the characters whose flags contain a bit.
    #[inline(always)]
    pub(super) fn of(with_bit: impl Fn(u8) -> u64) -> Self {
        Self {
            one: with_bit(1),
            two: with_bit(2),
            upper: with_bit(table::LOWERS),
            blank: with_bit(table::WHITE_SPACE),
        }
    }

    #[inline(always)]
    fn add(&mut self, other: Self, shift: u32, mask: u64) {
        self.one |= other.one >> shift & mask;
        self.two |= other.two >> shift & mask;
        self.upper |= other.upper >> shift & mask;
        self.blank |= other.blank >> shift & mask;
    }

    /// Assigns `flags` to all characters with a bit in `first`.
    #[inline(always)]
    fn uniform(flags: u8, first: u64) -> Self {
        Self::of(|bit| if flags & bit == 0 { 0 } else { first })
    }
}

/// Computes [`FlagScanner::flags`] page by page, because a text has few scripts, and a script has
/// few pages. `matching(byte, bits)` returns a mask of the bytes that equal `byte` in `bits`.
/// `look_up` takes each byte as the last byte of a character of a page, and returns the flags of
/// these characters.
#[inline(always)]
pub(super) fn flags_by_page(
    block: &[u8; 64],
    left: &mut u64,
    matching: impl Fn(u8, u8) -> u64,
    look_up: impl Fn(&[u8; text::PAGE]) -> FlagMasks,
) -> FlagMasks {
    let mut masks = FlagMasks::default();
    // Excludes the last three bytes. Characters that begin there may end in the next block.
    let mut rest = *left & u64::MAX >> 3;
    while rest != 0 {
        let at = rest.trailing_zeros() as usize;
        let lead = block[at];
        let mut found = rest & matching(lead, u8::MAX);
        rest &= !found;
        if lead >= 0xf0 {
            continue;
        }
        if lead < 0xe0 {
            masks.add(look_up(text::page_flags(usize::from(lead & 0x1f))), 1, found);
        } else if let Some(flags) = text::flags_of_first(lead) {
            masks.add(FlagMasks::uniform(flags, found), 0, found);
        } else {
            let second = block[(at + 1) & 63];
            let uniform = text::flags_of_second(lead, second);
            let bits = if uniform.is_some() { text::SECOND_BITS } else { u8::MAX };
            let differing = found & !(matching(second, bits) >> 1);
            rest |= differing;
            found &= !differing;
            if let Some(flags) = uniform {
                masks.add(FlagMasks::uniform(flags, found), 0, found);
            } else {
                let page = usize::from(lead & 0xf) << 6 | usize::from(second & 0x3f);
                masks.add(look_up(text::page_flags(page)), 2, found);
            }
        }
        *left &= !found;
    }
    masks
}

/// The last character of a block, as far as it affects the next block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LastCharacter {
    /// A character of a word, or ASCII.
    Other,
    /// A separator, which may have bytes in the next block.
    Separator,
    /// A single-character token, which ends in the next block or at its start.
    Single,
}

/// The tokens of a block, a bit for each byte.
#[derive(Clone, Copy)]
pub(super) struct BlockTokens {
    /// The bytes of words.
    pub(super) words: u64,
    /// The starts and the ends of single-character tokens. The end is the first byte after the
    /// token, and may be the start of the next token.
    pub(super) starts: u64,
    pub(super) ends: u64,
}

/// Handles non-ASCII characters in the block at `base`: finds their classes, and lower-cases them
/// in `out.padded`. `words` contains all their bytes. On entry, `last` describes the last character
/// of the previous block; on return, the last character of this block.
///
/// The loop only collects bits of first bytes, without a branch on the class. Its steps do not
/// depend on each other.
///
/// # Safety
/// The processor has the instruction set of `S`.
#[cold]
#[inline(never)]
pub(super) unsafe fn beyond_ascii<S: FlagScanner>(
    text: &str,
    base: usize,
    rule: ScanRule,
    words: u64,
    last: &mut LastCharacter,
    out: &mut TokenBuffer,
) -> BlockTokens {
    let block = out.padded[base..].first_chunk().unwrap_or(&[0; 64]);
    let (first, continued) = first_and_continued(block);
    let mut left = first;
    // SAFETY: the caller's promise.
    let mut masks = unsafe { S::flags(block, &mut left) };
    while left != 0 {
        let at = left.trailing_zeros();
        left &= left - 1;
        let flags = text::flags_at(text.as_bytes(), base + at as usize);
        masks.add(FlagMasks::uniform(flags, 1 << at), 0, 1 << at);
    }
    let FlagMasks { one, two, mut upper, blank } = masks;
    let (in_words, single) = match rule.tokens {
        TokenRule::Words => (one, two),
        TokenRule::WordRuns => (one | two, 0),
        TokenRule::Whitespace => (first & !blank, 0),
    };
    while rule.fold && upper != 0 {
        let start = base + upper.trailing_zeros() as usize;
        upper &= upper - 1;
        lower_in_place(&text[start..], start, out);
    }
    // All bytes of the characters with these first bytes.
    let all_bytes = |first: u64| (0..3).fold(first, |bytes, _| bytes | bytes << 1 & continued);
    let front = continued.trailing_ones();
    let mut separators = all_bytes(first & !in_words);
    let singles = all_bytes(single);
    let mut ends = singles << 1 & !continued;
    if *last != LastCharacter::Other {
        separators |= (1 << front) - 1;
    }
    if *last == LastCharacter::Single {
        ends |= 1 << front;
    }
    *last = match (singles >> 63, separators >> 63) {
        (1, _) => LastCharacter::Single,
        (_, 1) => LastCharacter::Separator,
        _ => LastCharacter::Other,
    };
    BlockTokens { words: words & !separators, starts: single, ends }
}

/// Returns two masks of a block: the bytes that begin non-ASCII characters (both top bits are set),
/// and the bytes that continue them (only the top bit is set).
fn first_and_continued(block: &[u8; 64]) -> (u64, u64) {
    // Collects the top bits of the bytes of a word in its top byte.
    let tops =
        |word: u64| ((word & 0x8080_8080_8080_8080) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let words = block.as_chunks::<8>().0.iter().enumerate();
    words.fold((0, 0), |(first, continued), (i, word)| {
        let word = u64::from_le_bytes(*word);
        let shift = 8 * i;
        (first | tops(word & word << 1) << shift, continued | tops(word & !(word << 1)) << shift)
    })
}

/// Lower-cases the first character of `text`, which is at `start` of the piece, if its lower case
/// has the same length. Otherwise sets `out.unfolded`.
fn lower_in_place(text: &str, start: usize, out: &mut TokenBuffer) {
    let mut lower = [0; 4];
    let lowered = text::lower_of_same_length(text);
    let Some(lowered) = lowered.map(|c| c.encode_utf8(&mut lower).len()) else {
        out.unfolded = true;
        return;
    };
    if start % 64 + lowered > 64 {
        // The next block would overwrite its last bytes.
        out.crossing.push((start, lower));
    }
    out.padded[start..start + lowered].copy_from_slice(&lower[..lowered]);
}
