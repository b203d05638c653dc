//! The inner loops, once per instruction set: the only place with `unsafe`.
//!
//! | loop | takes | gives |
//! |---|---|---|
//! | `scan` | text, cut at white space into pieces | one hash per token |
//! | `combine` | token hashes | shingle hashes and their fingerprint |
//! | `sketch`, `classic` | shingle hashes | a signature |
//! | `intersect` | two sorted sets | how many elements they share |
//! | `count_equal` | two signatures | at how many places they agree |
//! | `count_equal_rows` | a compact signature, and rows of them | the same for each row |
//!
//! `scalar.rs` is the specification: plain loops over the definitions of `docs/signature.md`,
//! always compiled. Every other variant gives the same bits, which `tests.rs` checks on each.
//!
//! Choosing is done once, by [`Kernel::best`]; a variant that this processor lacks cannot be built
//! ([`Kernel::named`] refuses it), which is what makes the calls into it sound.
#![allow(clippy::inline_always, reason = "bodies must be compiled for their caller's instructions")]

#[expect(unsafe_code, reason = "padded buffers; every block states why it is sound")]
mod blocks;
mod portable;
mod scalar;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector instructions; every block states why it is sound")]
mod x86_64;

use crate::error::ParamsError;
use crate::parameter::Parameter;
use crate::params::{Scheme, TokenRule};
use crate::text::CharClass;
use std::fmt;

/// Readable and writable entries that every padded buffer has behind its used part.
pub(crate) const PAD: usize = 64;
/// Rows of bytes that are compared have a multiple of this many.
pub(crate) const ROW_BLOCK: usize = 64;
/// The longest piece of text that a vector scan takes: its positions are 16 bits wide.
pub(crate) const PIECE: usize = 32 * 1024;

/// An instruction set that the inner loops are compiled for. All give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Variant);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    Scalar,
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Variant {
    const ALL: &[Self] = &[
        Self::Scalar,
        Self::Portable,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
        }
    }

    fn is_available(self) -> bool {
        match self {
            Self::Scalar | Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => x86_64::has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => x86_64::has_avx512(),
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl Default for Kernel {
    fn default() -> Self {
        Self::best()
    }
}

/// What a token is, for `scan`: the word rule and whether ASCII letters are lower-cased.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanRule {
    pub(crate) tokens: TokenRule,
    pub(crate) fold: bool,
}

/// Whether no token reaches from `c` to the character behind it.
pub(crate) fn ends_token(c: char, rule: TokenRule) -> bool {
    scalar::class_of(c, rule) != CharClass::Word
}

/// Token hashes of a stretch of text: the first `len` entries of a padded buffer.
#[derive(Debug, Default)]
pub(crate) struct TokenBuffer {
    hashes: Vec<u64>,
    len: usize,
    /// The piece being scanned, lower-cased: padded for the vector scans, as it is for the scalar.
    padded: Vec<u8>,
    exact: Vec<u8>,
    /// Where its tokens begin and end, in turns.
    bounds: Vec<u16>,
    /// Whether a character beyond ASCII was seen that lower-casing changes.
    unfolded: bool,
    /// Where its characters that are tokens of their own begin, and their hashes.
    singles: Vec<(u16, u64)>,
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
            self.hashes.resize(need.next_power_of_two(), 0);
        }
    }

    /// Appends one token; room must have been made.
    #[inline(always)]
    pub(crate) fn push(&mut self, hash: u64) {
        self.hashes[self.len] = hash;
        self.len += 1;
    }

    /// Appends the hash of every character of `text` as a token of its own.
    pub(crate) fn push_chars(&mut self, text: &str) {
        self.reserve(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let ascii = rest.bytes().position(|b| b >= 0x80).unwrap_or(rest.len());
            let (run, after) = rest.split_at(ascii);
            scalar::ascii_token_hashes(run.as_bytes(), &mut self.hashes[self.len..]);
            self.len += ascii;
            let mut chars = after.chars();
            if let Some(c) = chars.next() {
                self.push(scalar::char_token_hash(c));
            }
            rest = chars.as_str();
        }
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

/// The hashes of a document's shingles, repeats included, in padded buffers.
#[derive(Debug, Default)]
pub(crate) struct ShingleBuffer {
    upper: Vec<u32>,
    whole: Vec<u64>,
    len: usize,
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

    fn reserve(&mut self, more: usize) {
        let need = self.len + more + PAD;
        if self.upper.len() < need {
            self.upper.resize(need.next_power_of_two(), 0);
        }
        if self.keep_whole && self.whole.len() < need {
            self.whole.resize(need.next_power_of_two(), 0);
        }
    }

    /// One shingle, the plain way; room must have been made.
    fn push(&mut self, hash: u64) {
        self.upper[self.len] = (hash >> 32) as u32;
        if self.keep_whole {
            self.whole[self.len] = hash;
        }
        self.len += 1;
        self.sums[0] = self.sums[0].wrapping_add(hash);
        self.sums[1] = self.sums[1].wrapping_add(scalar::product(hash));
    }
}

/// The numbers of a signature's hash functions, padded to [`Parameters::padded`] entries.
#[derive(Debug, Clone)]
pub(crate) struct Parameters {
    pub(crate) scheme: Scheme,
    pub(crate) num_hashes: usize,
    /// Odd multipliers, one per value.
    pub(crate) a: Vec<u32>,
    /// Addends or masks, one per value.
    pub(crate) b: Vec<u32>,
    /// Multipliers and masks of the two binning rounds.
    pub(crate) rounds: [(u32, u32); 2],
}

impl Parameters {
    /// Entries of `a`, `b` and of the output of `sketch` and `classic`.
    pub(crate) fn padded(num_hashes: usize) -> usize {
        num_hashes.next_multiple_of(PAD)
    }
}

#[expect(unsafe_code, reason = "calls into variants that the processor has")]
impl Kernel {
    /// The fastest variant this processor has. Detected once per call, some nanoseconds.
    pub fn best() -> Self {
        let available = Variant::ALL.iter().rev().find(|v| v.is_available());
        Self(available.copied().unwrap_or(Variant::Scalar))
    }

    /// All variants this processor has, slowest first.
    pub fn available() -> Vec<Self> {
        Variant::ALL.iter().filter(|v| v.is_available()).map(|v| Self(*v)).collect()
    }

    /// The variant of that name.
    ///
    /// # Errors
    /// [`ParamsError::Parse`] where there is none or this processor lacks it.
    pub fn named(name: &str) -> Result<Self, ParamsError> {
        let found = Variant::ALL.iter().find(|v| v.name() == name && v.is_available());
        found.map(|v| Self(*v)).ok_or_else(|| ParamsError::Parse {
            parameter: Parameter::Kernel,
            got: name.to_owned(),
            expected: "scalar, portable, or avx2 or avx512 where the processor has them",
        })
    }

    /// Appends the hashes of the tokens of `text` to `out`. `text` is a piece that begins and ends
    /// at a token boundary. Only ASCII is folded; see [`TokenBuffer::unfolded`] for the rest.
    #[inline]
    pub(crate) fn scan(self, text: &str, rule: ScanRule, out: &mut TokenBuffer) {
        if text.len() <= PIECE {
            out.reserve(text.len() + 1);
            // SAFETY: the text is short enough, and the variant exists only where the processor
            // has the instructions.
            match self.0 {
                Variant::Scalar => {}
                Variant::Portable => {
                    return unsafe { blocks::scan_by_rule::<blocks::Plain>(text, rule, out) };
                }
                #[cfg(target_arch = "x86_64")]
                Variant::Avx2 => return unsafe { x86_64::scan_avx2(text, rule, out) },
                #[cfg(target_arch = "x86_64")]
                Variant::Avx512 => return unsafe { x86_64::scan_avx512(text, rule, out) },
            }
        }
        scalar::scan(text, rule, out);
    }

    /// Appends the hashes of all shingles of `size` consecutive tokens; none where there are fewer.
    #[inline]
    pub(crate) fn combine(self, tokens: &TokenBuffer, size: usize, out: &mut ShingleBuffer) {
        let Some(count) = (tokens.len + 1).checked_sub(size).filter(|&n| n > 0) else { return };
        out.reserve(count);
        match self.0 {
            Variant::Scalar => scalar::combine(tokens.tokens(), size, out),
            Variant::Portable => portable::combine(&tokens.hashes, count, size, out),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::combine_avx2(&tokens.hashes, count, size, out) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::combine_avx512(&tokens.hashes, count, size, out) },
        }
    }

    /// The truncated fast similarity sketch of `shingles` into the padded `out`.
    #[inline]
    pub(crate) fn sketch(self, parameters: &Parameters, shingles: &[u32], out: &mut [u32]) {
        debug_assert_eq!(out.len(), Parameters::padded(parameters.num_hashes));
        match self.0 {
            Variant::Scalar => scalar::sketch(parameters, shingles, out),
            Variant::Portable => portable::sketch(parameters, shingles, out),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::sketch_avx2(parameters, shingles, out) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::sketch_avx512(parameters, shingles, out) },
        }
    }

    /// The minima of a classic family over `shingles` into the padded `out`.
    #[inline]
    pub(crate) fn classic(self, parameters: &Parameters, shingles: &[u32], out: &mut [u32]) {
        debug_assert_eq!(out.len(), Parameters::padded(parameters.num_hashes));
        match self.0 {
            Variant::Scalar => scalar::classic(parameters, shingles, out),
            Variant::Portable => portable::classic(parameters, shingles, out),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::classic_avx2(parameters, shingles, out) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::classic_avx512(parameters, shingles, out) },
        }
    }

    /// How many elements two ascending sets without repeats share.
    #[inline]
    pub(crate) fn intersect(self, a: &[u64], b: &[u64]) -> usize {
        let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        // From a ratio of about 50 on, searching beats merging (measured on 50 in 3,000).
        if small.len() < large.len() / 50 {
            return scalar::intersect_galloping(small, large);
        }
        match self.0 {
            Variant::Scalar | Variant::Portable => scalar::intersect(small, large),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::intersect_avx2(small, large) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::intersect_avx512(small, large) },
        }
    }

    /// At how many places two signatures of equal length agree.
    #[inline]
    pub(crate) fn count_equal(self, a: &[u32], b: &[u32]) -> usize {
        match self.0 {
            Variant::Scalar | Variant::Portable => scalar::count_equal(a, b),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::count_equal_avx2(a, b) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::count_equal_avx512(a, b) },
        }
    }

    /// At how many places each row of bytes agrees with `probe`, whose length is that of a row and
    /// a multiple of [`ROW_BLOCK`].
    #[inline]
    pub(crate) fn count_equal_rows(self, probe: &[u8], rows: &[u8], counts: &mut [u16]) {
        match self.0 {
            Variant::Scalar => scalar::count_equal_rows(probe, rows, counts),
            Variant::Portable => portable::count_equal_rows(probe, rows, counts),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::count_equal_rows_avx2(probe, rows, counts) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::count_equal_rows_avx512(probe, rows, counts) },
        }
    }
}
