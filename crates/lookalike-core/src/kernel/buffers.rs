//! Inputs and outputs of the inner loops: rules, parameters and padded buffers.

use crate::params::{Scheme, TokenRule};

/// Number of readable and writable entries after the used part of every padded buffer.
pub(crate) const PAD: usize = 64;
/// Compared rows have a multiple of this many bytes.
pub(crate) const ROW_BLOCK: usize = 64;
/// Maximum length of a text in a vector scan, which stores positions in 16 bits.
pub(crate) const PIECE: usize = 32 * 1024;

/// The token rule of `scan`: the word rule, and whether ASCII letters are lower-cased.
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
    /// The scanned piece, lower-cased: padded for the vector scans, unpadded for the scalar one.
    pub(super) padded: Vec<u8>,
    pub(super) exact: Vec<u8>,
    /// The starts and ends of the piece's tokens, alternating.
    pub(super) bounds: Vec<u16>,
    /// Whether a character was scanned whose lower case has another length or depends on other
    /// characters.
    pub(super) unfolded: bool,
    /// The starts and bytes of lower-cased characters that cross the border of two blocks.
    pub(super) crossing: Vec<(usize, [u8; 4])>,
}

impl TokenBuffer {
    /// The tokens.
    pub(crate) fn tokens(&self) -> &[u64] {
        &self.hashes[..self.len]
    }

    /// The number of tokens and padding entries that fit.
    #[cfg(test)]
    pub(crate) fn room(&self) -> usize {
        self.hashes.len()
    }

    /// Returns true if a rule folds case and a character was scanned whose lower case has another
    /// length or depends on the characters around it. The tokens are then wrong.
    pub(crate) fn unfolded(&self) -> bool {
        self.unfolded
    }

    /// Makes room for `more` tokens and the padding.
    pub(crate) fn reserve(&mut self, more: usize) {
        let needed = self.len + more + PAD;
        if self.hashes.len() < needed {
            self.hashes.resize(grown(needed), 0);
        }
    }

    /// Appends a token. [`reserve`](Self::reserve) must be called first.
    #[inline(always)]
    pub(crate) fn push(&mut self, hash: u64) {
        self.hashes[self.len] = hash;
        self.len += 1;
    }

    /// Removes the tokens that `keep` rejects, from position `from` on.
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

    /// Removes all but the last `keep` tokens.
    pub(crate) fn keep_last(&mut self, keep: usize) {
        let from = self.len.saturating_sub(keep);
        self.hashes.copy_within(from..self.len, 0);
        self.len -= from;
    }

    /// Removes all tokens.
    pub(crate) fn clear(&mut self) {
        self.unfolded = false;
        self.len = 0;
    }
}

/// Number of entries from which a buffer is long.
const LONG_ENTRIES: usize = 1 << 20;

/// The hashes of a document's shingles, repeats included, in padded buffers.
#[derive(Debug, Default)]
pub(crate) struct ShingleBuffer {
    pub(super) upper: Vec<u32>,
    pub(super) full_hashes: Vec<u64>,
    pub(super) len: usize,
    /// Whether `full_hashes` is also written.
    pub(crate) has_full_hashes: bool,
    /// `Σ h` and `Σ (h mod 2³²)·(h div 2³²)`, both mod 2⁶⁴, over all shingles.
    pub(crate) sums: [u64; 2],
}

impl ShingleBuffer {
    /// The upper 32 bits of each hash.
    pub(crate) fn upper(&self) -> &[u32] {
        &self.upper[..self.len]
    }

    /// The whole hashes, if they were kept.
    pub(crate) fn full_hashes(&self) -> &[u64] {
        if self.has_full_hashes { &self.full_hashes[..self.len] } else { &[] }
    }

    /// See [`Self::full_hashes`].
    pub(crate) fn full_hashes_mut(&mut self) -> &mut [u64] {
        if self.has_full_hashes { &mut self.full_hashes[..self.len] } else { &mut [] }
    }

    /// Starts another document.
    pub(crate) fn start(&mut self, has_full_hashes: bool) {
        self.len = 0;
        self.has_full_hashes = has_full_hashes;
        self.sums = [0; 2];
    }

    pub(super) fn reserve(&mut self, more: usize) {
        let needed = self.len + more + PAD;
        if self.upper.len() < needed {
            self.upper.resize(grown(needed), 0);
        }
        if self.has_full_hashes && self.full_hashes.len() < needed {
            self.full_hashes.resize(grown(needed), 0);
        }
    }

    /// Moves the whole hashes to `out`, and takes the memory of `out` for the next document.
    pub(crate) fn take_full_hashes(&mut self, out: &mut Vec<u64>) {
        self.full_hashes.truncate(self.len);
        std::mem::swap(&mut self.full_hashes, out);
    }
}

/// The length of a buffer for `needed` entries. Long buffers grow by only an eighth, because they
/// take a large share of the memory of a run.
fn grown(needed: usize) -> usize {
    if needed > LONG_ENTRIES { needed + needed / 8 } else { needed.next_power_of_two() }
}

/// Buffers of [`Kernel::sort`](super::Kernel::sort) and
/// [`Kernel::sort_set`](super::Kernel::sort_set).
#[derive(Debug, Default)]
pub(crate) struct SortBuffers {
    pub(super) starts: Vec<u32>,
    pub(super) buckets: Vec<u64>,
    /// Hashes whose bucket had no free slot.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "used on x86-64 only"))]
    pub(super) overflow: Vec<u64>,
}

/// Hashes in buckets by their top bits.
#[derive(Clone, Copy)]
pub(super) struct HashBuckets<'a> {
    /// All hashes, bucket by bucket.
    pub(super) hashes: &'a [u64],
    /// `hashes`, followed by 8 times `u64::MAX`, so that 8 entries can be read from every start.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "used on x86-64 only"))]
    pub(super) padded: &'a [u64],
    /// The start of each bucket in `hashes`, and the end of the last one.
    pub(super) starts: &'a [u32],
    /// Number of low bits of a hash that are not part of its bucket's number.
    pub(super) shift: u32,
}

/// The parameters of a signature's hash functions, padded to [`HashParameters::padded`] entries.
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
    /// The number of entries of `a`, `b` and of the output of `sketch` and `classic`.
    pub(crate) fn padded(num_hashes: usize) -> usize {
        num_hashes.next_multiple_of(PAD)
    }
}
