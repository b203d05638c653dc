//! The inner loops, once per instruction set: the only place of this crate with `unsafe`.
//!
//! | loop | input | output |
//! |---|---|---|
//! | `scan` | text, cut at white space into pieces | one hash per token |
//! | `push_chars`, `push_bytes` | text | one hash per character or byte |
//! | `collapse` | text | text with single blanks, lower-cased |
//! | `combine` | token hashes | shingle hashes and their fingerprint |
//! | `sort` | shingle hashes | the hashes, ascending |
//! | `sort_set` | shingle hashes | the hashes, ascending, without repeats |
//! | `sketch`, `classic` | shingle hashes | a signature |
//! | `intersect` | two sorted sets | the number of common elements |
//! | `count_equal` | two signatures | the number of places with equal values |
//! | `count_equal_rows` | a compact signature, rows of them | the number of equal places per row |
//!
//! `scalar.rs` is the specification: plain loops over the definitions of
//! `docs/reference/signature.md`, always compiled. All other variants return the same bits, which
//! `tests.rs` checks for each.
//!
//! [`Kernel::best`] selects the variant once. A variant that the processor lacks cannot be
//! constructed ([`Kernel::named`] rejects it), which makes calls of its loops sound.
#![allow(clippy::inline_always, reason = "bodies must be compiled for their caller's instructions")]

#[cfg(target_arch = "aarch64")]
#[expect(unsafe_code, reason = "vector instructions; every block states why it is sound")]
mod aarch64;
#[expect(unsafe_code, reason = "calls of instruction sets; every block states why it is sound")]
mod beyond_ascii;
#[expect(unsafe_code, reason = "padded buffers; every block states why it is sound")]
mod blocks;
mod buffers;
mod portable;
mod scalar;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector instructions; every block states why it is sound")]
mod x86_64;

pub(crate) use buffers::{
    HashParameters, PIECE, ROW_BLOCK, ScanRule, ShingleBuffer, SortBuffers, TokenBuffer,
};

pub(crate) use scalar::drop_repeats;

use crate::error::ParamsError;
use crate::parameter::Parameter;
use crate::params::TokenRule;
use crate::text::{self, CharClass};
use std::fmt;

/// The most hashes that AVX-512 sorts in slots. Slots take up to 34 bytes per hash, about 1 MiB.
#[cfg(target_arch = "x86_64")]
const MOST_IN_SLOTS: usize = 1 << 15;

/// An instruction set for which the inner loops are compiled. All return the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Variant);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    Scalar,
    Portable,
    #[cfg(target_arch = "aarch64")]
    Neon,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Variant {
    const ALL: &[Self] = &[
        Self::Scalar,
        Self::Portable,
        #[cfg(target_arch = "aarch64")]
        Self::Neon,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Portable => "portable",
            #[cfg(target_arch = "aarch64")]
            Self::Neon => "neon",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
        }
    }

    fn is_available(self) -> bool {
        match self {
            Self::Scalar | Self::Portable => true,
            #[cfg(target_arch = "aarch64")]
            Self::Neon => aarch64::has_neon(),
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

/// Returns true if no token continues from `c` to the next character.
pub(crate) fn ends_token(c: char, rule: TokenRule) -> bool {
    text::class_by(c, rule) != CharClass::Word
}

#[expect(unsafe_code, reason = "calls into variants that the processor has")]
impl Kernel {
    /// The fastest variant of this processor. Detected on each call, which takes some nanoseconds.
    pub fn best() -> Self {
        let available = Variant::ALL.iter().rev().find(|v| v.is_available());
        Self(available.copied().unwrap_or(Variant::Scalar))
    }

    /// All variants of this processor, slowest first.
    pub fn available() -> Vec<Self> {
        Variant::ALL.iter().filter(|v| v.is_available()).map(|v| Self(*v)).collect()
    }

    /// Returns the variant called `name`.
    ///
    /// # Errors
    /// [`ParamsError::Parse`] if no variant has this name, or if this processor lacks it.
    pub fn named(name: &str) -> Result<Self, ParamsError> {
        let found = Variant::ALL.iter().find(|v| v.name() == name && v.is_available());
        found.map(|v| Self(*v)).ok_or_else(|| ParamsError::Parse {
            parameter: Parameter::Kernel,
            got: name.to_owned(),
            expected: "scalar, portable, or one that this processor has: neon, avx2, avx512",
        })
    }

    /// Appends the hashes of the tokens of `text` to `out`. `text` is a piece that begins and ends
    /// at a token boundary. [`TokenBuffer::unfolded`] reports characters that the scan cannot fold.
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
                #[cfg(target_arch = "aarch64")]
                Variant::Neon => return unsafe { aarch64::scan_neon(text, rule, out) },
                #[cfg(target_arch = "x86_64")]
                Variant::Avx2 => return unsafe { x86_64::scan_avx2(text, rule, out) },
                #[cfg(target_arch = "x86_64")]
                Variant::Avx512 => return unsafe { x86_64::scan_avx512(text, rule, out) },
            }
        }
        scalar::scan(text, rule, out);
    }

    /// Writes [`text::collapse_white_space`] of `text` to `out`, and folds ASCII if required.
    #[inline]
    pub(crate) fn collapse(self, text: &str, fold: bool, out: &mut String) {
        match self.0 {
            Variant::Scalar => scalar::collapse(text, fold, out),
            // SAFETY: the variant exists only where the processor has the instructions.
            Variant::Portable => unsafe { blocks::collapse::<blocks::Plain>(text, fold, out) },
            #[cfg(target_arch = "aarch64")]
            Variant::Neon => unsafe { aarch64::collapse_neon(text, fold, out) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::collapse_avx2(text, fold, out) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::collapse_avx512(text, fold, out) },
        }
    }

    /// Appends the hash of every character of `text` as a token of its own.
    #[inline]
    pub(crate) fn push_chars(self, text: &str, out: &mut TokenBuffer) {
        #[cfg(target_arch = "x86_64")]
        if self.0 == Variant::Avx512 {
            // SAFETY: the variant exists only where the processor has the instructions.
            return unsafe { x86_64::push_chars_avx512(text, out) };
        }
        scalar::push_chars(text, out);
    }

    /// Appends the hash of every byte as a token of its own.
    #[inline]
    pub(crate) fn push_bytes(self, bytes: &[u8], out: &mut TokenBuffer) {
        #[cfg(target_arch = "x86_64")]
        if self.0 == Variant::Avx512 {
            // SAFETY: the variant exists only where the processor has the instructions.
            return unsafe { x86_64::push_bytes_avx512(bytes, out) };
        }
        scalar::push_bytes(bytes, out);
    }

    /// Appends the hashes of all shingles of `size` consecutive tokens; nothing if there are fewer
    /// tokens.
    #[inline]
    pub(crate) fn combine(self, tokens: &TokenBuffer, size: usize, out: &mut ShingleBuffer) {
        let Some(count) = (tokens.len + 1).checked_sub(size).filter(|&n| n > 0) else { return };
        out.reserve(count);
        match self.0 {
            Variant::Scalar => scalar::combine(tokens.tokens(), size, out),
            Variant::Portable => portable::combine(&tokens.hashes, count, size, out),
            #[cfg(target_arch = "aarch64")]
            Variant::Neon => portable::combine(&tokens.hashes, count, size, out),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::combine_avx2(&tokens.hashes, count, size, out) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::combine_avx512(&tokens.hashes, count, size, out) },
        }
    }

    /// Replaces the content of `out` with `hashes` in ascending order, with repeats.
    #[inline]
    pub(crate) fn sort(self, hashes: &[u64], out: &mut Vec<u64>, buffers: &mut SortBuffers) {
        match self.0 {
            Variant::Scalar => scalar::sort(hashes, out),
            Variant::Portable => portable::sort(hashes, out, buffers),
            #[cfg(target_arch = "aarch64")]
            Variant::Neon => portable::sort(hashes, out, buffers),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::sort_avx2(hashes, out, buffers) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::sort_avx512(hashes, out, buffers) },
        }
    }

    /// Replaces the content of `out` with `hashes` in ascending order, without repeats.
    #[inline]
    pub(crate) fn sort_set(self, hashes: &[u64], out: &mut Vec<u64>, buffers: &mut SortBuffers) {
        #[cfg(target_arch = "x86_64")]
        if self.0 == Variant::Avx512 && hashes.len() <= MOST_IN_SLOTS {
            // SAFETY: the variant exists only where the processor has the instructions.
            return unsafe { x86_64::sort_set_avx512(hashes, out, buffers) };
        }
        self.sort(hashes, out, buffers);
        drop_repeats(out);
    }

    /// Writes the truncated fast similarity sketch of `shingles` to the padded `out`.
    #[inline]
    pub(crate) fn sketch(self, parameters: &HashParameters, shingles: &[u32], out: &mut [u32]) {
        debug_assert_eq!(out.len(), HashParameters::padded(parameters.num_hashes));
        match self.0 {
            Variant::Scalar => scalar::sketch(parameters, shingles, out),
            Variant::Portable => portable::sketch(parameters, shingles, out),
            #[cfg(target_arch = "aarch64")]
            Variant::Neon => portable::sketch(parameters, shingles, out),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::sketch_avx2(parameters, shingles, out) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::sketch_avx512(parameters, shingles, out) },
        }
    }

    /// Writes the minima of a classic family over `shingles` to the padded `out`.
    #[inline]
    pub(crate) fn classic(self, parameters: &HashParameters, shingles: &[u32], out: &mut [u32]) {
        debug_assert_eq!(out.len(), HashParameters::padded(parameters.num_hashes));
        match self.0 {
            Variant::Scalar => scalar::classic(parameters, shingles, out),
            Variant::Portable => portable::classic(parameters, shingles, out),
            #[cfg(target_arch = "aarch64")]
            Variant::Neon => portable::classic(parameters, shingles, out),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::classic_avx2(parameters, shingles, out) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::classic_avx512(parameters, shingles, out) },
        }
    }

    /// The number of common elements of two ascending sets without repeats.
    #[inline]
    pub(crate) fn intersect(self, a: &[u64], b: &[u64]) -> usize {
        let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        // From a size ratio of about 50, searching is faster than merging (measured with sets of 50
        // and 3,000).
        if small.len() < large.len() / 50 {
            return scalar::intersect_galloping(small, large);
        }
        match self.0 {
            Variant::Scalar | Variant::Portable => scalar::intersect(small, large),
            #[cfg(target_arch = "aarch64")]
            Variant::Neon => scalar::intersect(small, large),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::intersect_avx2(small, large) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::intersect_avx512(small, large) },
        }
    }

    /// The number of places at which two signatures of equal length agree.
    #[inline]
    pub(crate) fn count_equal(self, a: &[u32], b: &[u32]) -> usize {
        match self.0 {
            Variant::Scalar | Variant::Portable => scalar::count_equal(a, b),
            #[cfg(target_arch = "aarch64")]
            Variant::Neon => scalar::count_equal(a, b),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::count_equal_avx2(a, b) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::count_equal_avx512(a, b) },
        }
    }

    /// Writes to `counts` the number of places at which each row of bytes agrees with `probe`. The
    /// rows and `probe` have the same length, a multiple of [`ROW_BLOCK`].
    #[inline]
    pub(crate) fn count_equal_rows(self, probe: &[u8], rows: &[u8], counts: &mut [u16]) {
        match self.0 {
            Variant::Scalar => scalar::count_equal_rows(probe, rows, counts),
            Variant::Portable => portable::count_equal_rows(probe, rows, counts),
            #[cfg(target_arch = "aarch64")]
            Variant::Neon => portable::count_equal_rows(probe, rows, counts),
            // SAFETY: the variant exists only where the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => unsafe { x86_64::count_equal_rows_avx2(probe, rows, counts) },
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => unsafe { x86_64::count_equal_rows_avx512(probe, rows, counts) },
        }
    }
}
