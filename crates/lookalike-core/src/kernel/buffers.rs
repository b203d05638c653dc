//! What the inner loops take and give: rules, parameters and padded buffers.

use crate::params::{Scheme, TokenRule};

/// Readable and writable entries that every padded buffer has behind its used part.
pub(crate) const PAD: usize = 64;
/// Rows of bytes that are compared have a multiple of this many.
pub(crate) const ROW_BLOCK: usize = 64;
/// The longest piece of text that a vector scan takes: its positions are 16 bits wide.
pub(crate) const PIECE: usize = 32 * 1024;

/// What a token is, for `scan`: the word rule and whether ASCII letters are lower-cased.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanRule {
    pub(crate) tokens: TokenRule,
    pub(crate) fold: bool,
}

/// Token hashes of a stretch of text: the first `len` entries of a padded buffer.
#[derive(Debug, Default)]
pub(crate) struct TokenBuffer {
    pub(super) hashes: Vec<u64>,
    pub(super) len: usize,
    /// The piece being scanned, lower-cased: padded for the vector scans, as it is for the scalar.
    pub(super) padded: Vec<u8>,
    pub(super) exact: Vec<u8>,
    /// Where its tokens begin and end, in turns.
    pub(super) bounds: Vec<u16>,
    /// Whether a character beyond ASCII was seen that lower-casing changes.
    pub(super) unfolded: bool,
    /// Where its characters that are tokens of their own begin, and their hashes.
    pub(super) singles: Vec<(u16, u64)>,
}

impl TokenBuffer {
    /// The tokens.
    pub(crate) fn tokens(&self) -> &[u64] {
        &self.hashes[..self.len]
    }

    /// Tokens and padding that there is room for.
    #[cfg(test)]
    pub(crate) fn room(&self) -> usize {
        self.hashes.len()
    }

    /// Whether a character beyond ASCII was scanned that lower-casing changes: then, for a rule
    /// that folds case, the tokens are not those of the text.
    pub(crate) fn unfolded(&self) -> bool {
        self.unfolded
    }

    /// Makes room for `more` tokens and the padding.
    pub(crate) fn reserve(&mut self, more: usize) {
        let need = self.len + more + PAD;
        if self.hashes.len() < need {
            self.hashes.resize(grown(need), 0);
        }
    }

    /// Appends one token; room must have been made.
    #[inline(always)]
    pub(crate) fn push(&mut self, hash: u64) {
        self.hashes[self.len] = hash;
        self.len += 1;
    }

    /// Takes out tokens from position `from` on that `keep` refuses.
    pub(crate) fn retain(&mut self, from: usize, keep: impl Fn(u64) -> bool) {
        let mut kept = from;
        for i in from..self.len {
            if keep(self.hashes[i]) {
                self.hashes[kept] = self.hashes[i];
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// Forgets all but the last `keep` tokens.
    pub(crate) fn keep_last(&mut self, keep: usize) {
        let from = self.len.saturating_sub(keep);
        self.hashes.copy_within(from..self.len, 0);
        self.len -= from;
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.unfolded = false;
        self.len = 0;
    }
}

/// Entries of a buffer that is long.
pub(crate) const LONG_ENTRIES: usize = 1 << 20;

/// The hashes of a document's shingles, repeats included, in padded buffers.
#[derive(Debug, Default)]
pub(crate) struct ShingleBuffer {
    pub(super) upper: Vec<u32>,
    pub(super) whole: Vec<u64>,
    pub(super) len: usize,
    /// Whether `whole` is written, too.
    pub(crate) keep_whole: bool,
    /// `Σ h` and `Σ (h mod 2³²)·(h div 2³²)`, both mod 2⁶⁴, over all shingles.
    pub(crate) sums: [u64; 2],
}

impl ShingleBuffer {
    /// The upper 32 bits of each hash.
    pub(crate) fn upper(&self) -> &[u32] {
        &self.upper[..self.len]
    }

    /// The whole hashes, if they were kept.
    pub(crate) fn whole(&self) -> &[u64] {
        if self.keep_whole { &self.whole[..self.len] } else { &[] }
    }

    /// Starts another document.
    pub(crate) fn start(&mut self, keep_whole: bool) {
        self.len = 0;
        self.keep_whole = keep_whole;
        self.sums = [0; 2];
    }

    pub(super) fn reserve(&mut self, more: usize) {
        let need = self.len + more + PAD;
        if self.upper.len() < need {
            self.upper.resize(grown(need), 0);
        }
        if self.keep_whole && self.whole.len() < need {
            self.whole.resize(grown(need), 0);
        }
    }

    /// Moves the whole hashes to `out`, whose memory the next document uses.
    pub(crate) fn take_whole(&mut self, out: &mut Vec<u64>) {
        self.whole.truncate(self.len);
        std::mem::swap(&mut self.whole, out);
    }
}

/// The length of a buffer for `need` entries: long ones grow by an eighth, since the memory of a
/// run has room for few of them.
fn grown(need: usize) -> usize {
    if need > LONG_ENTRIES { need + need / 8 } else { need.next_power_of_two() }
}

/// The numbers of a signature's hash functions, padded to [`HashParameters::padded`] entries.
#[derive(Debug, Clone)]
pub(crate) struct HashParameters {
    pub(crate) scheme: Scheme,
    pub(crate) num_hashes: usize,
    /// Odd multipliers, one per value.
    pub(crate) a: Vec<u32>,
    /// Addends or masks, one per value.
    pub(crate) b: Vec<u32>,
    /// Multipliers and masks of the two binning rounds.
    pub(crate) rounds: [(u32, u32); 2],
}

impl HashParameters {
    /// Entries of `a`, `b` and of the output of `sketch` and `classic`.
    pub(crate) fn padded(num_hashes: usize) -> usize {
        num_hashes.next_multiple_of(PAD)
    }
}
