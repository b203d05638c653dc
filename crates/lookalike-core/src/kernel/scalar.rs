//! The specification: each loop follows its definition. Slow, obvious, always compiled.

use super::buffers::{HashParameters, ScanRule, ShingleBuffer, TokenBuffer};
use crate::hash;
use crate::params::Scheme;
use crate::text::{self, CharClass, class_by, lowers};

/// The prime of [`Scheme::ModPrime`], the least above 2³².
pub(super) const PRIME: u64 = 4_294_967_311;
/// Shift of the round in a sketch value: the round takes the two upper bits, the hash the other 30.
pub(super) const ROUND_SHIFT: u32 = 30;
/// The tag of values that no binning round filled.
pub(super) const FALLBACK: u32 = 2 << ROUND_SHIFT;

/// The token hash of each byte. The first 128 are also the hashes of the ASCII characters.
pub(super) static BYTES: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let product = (byte as u64 ^ hash::S0) as u128 * (hash::S1 ^ 1) as u128;
        table[byte] = product as u64 ^ (product >> 64) as u64;
        byte += 1;
    }
    table
};

impl TokenBuffer {
    /// Appends the hashes of the characters beyond ASCII with which `bytes` continues at `at`.
    /// Returns their end.
    #[inline]
    pub(super) fn push_wide_chars(&mut self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(first) = bytes.get(at).filter(|byte| !byte.is_ascii()) {
            let end = at + 2 + usize::from(*first >= 0xe0) + usize::from(*first >= 0xf0);
            self.push(hash::token_hash(&bytes[at..end]));
            at = end;
        }
        at
    }
}

impl ShingleBuffer {
    /// Appends a shingle; the buffer must have room for it.
    pub(super) fn push(&mut self, hash: u64) {
        self.upper[self.len] = (hash >> 32) as u32;
        if self.has_full_hashes {
            self.full_hashes[self.len] = hash;
        }
        self.len += 1;
        self.sums[0] = self.sums[0].wrapping_add(hash);
        self.sums[1] = self.sums[1].wrapping_add(product(hash));
    }
}

/// [`hash::token_hash`] of one character.
#[inline(always)]
pub(super) fn char_token_hash(c: char) -> u64 {
    if c.is_ascii() {
        BYTES[c as usize]
    } else {
        hash::token_hash(c.encode_utf8(&mut [0; 4]).as_bytes())
    }
}

/// See [`super::Kernel::push_chars`].
pub(super) fn push_chars(text: &str, out: &mut TokenBuffer) {
    out.reserve(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        let run = bytes[at..].first_chunk::<16>();
        if let Some(run) = run.filter(|run| run.is_ascii()) {
            push_bytes(run, out);
            at += run.len();
        } else if first.is_ascii() {
            out.push(BYTES[usize::from(*first)]);
            at += 1;
        } else {
            at = out.push_wide_chars(bytes, at);
        }
    }
}

/// See [`super::Kernel::push_bytes`].
#[inline]
pub(super) fn push_bytes(bytes: &[u8], out: &mut TokenBuffer) {
    out.reserve(bytes.len());
    for (hash, byte) in out.hashes[out.len..].iter_mut().zip(bytes) {
        *hash = BYTES[usize::from(*byte)];
    }
    out.len += bytes.len();
}

/// See [`super::Kernel::scan`].
pub(super) fn scan(text: &str, rule: ScanRule, out: &mut TokenBuffer) {
    let mut piece = std::mem::take(&mut out.exact);
    piece.clear();
    piece.extend_from_slice(text.as_bytes());
    if rule.fold {
        piece.make_ascii_lowercase();
    }
    let mut start = None;
    for (i, c) in text.char_indices() {
        if rule.fold && !c.is_ascii() && lowers(c) {
            let end = i + c.len_utf8();
            match text::lower_of_same_length(&text[i..end]) {
                Some(lower) => _ = lower.encode_utf8(&mut piece[i..end]),
                None => out.unfolded = true,
            }
        }
        let class = class_by(c, rule.tokens);
        if class == CharClass::Word {
            start.get_or_insert(i);
            continue;
        }
        // Reserves room for found tokens only: a text may be a single word of any length.
        out.reserve(2);
        if let Some(start) = start.take() {
            out.push(hash::token_hash(&piece[start..i]));
        }
        if class == CharClass::Unspaced {
            out.push(char_token_hash(c));
        }
    }
    if let Some(start) = start {
        out.reserve(1);
        out.push(hash::token_hash(&piece[start..]));
    }
    out.exact = piece;
}

/// See [`super::Kernel::collapse`].
pub(super) fn collapse(text: &str, fold: bool, out: &mut String) {
    text::collapse_white_space(text, out);
    if fold {
        out.make_ascii_lowercase();
    }
}

/// See [`super::Kernel::combine`].
pub(super) fn combine(tokens: &[u64], size: usize, out: &mut ShingleBuffer) {
    for shingle in tokens.windows(size) {
        out.push(hash::shingle_hash(shingle));
    }
}

/// See [`super::Kernel::sort`].
pub(super) fn sort(hashes: &[u64], out: &mut Vec<u64>) {
    out.clear();
    out.extend_from_slice(hashes);
    out.sort_unstable();
}

/// Removes repeats from an ascending list. Unlike [`Vec::dedup`], does not branch on repeats,
/// because they occur at unpredictable places.
pub(crate) fn drop_repeats(set: &mut Vec<u64>) {
    let mut kept = 0;
    for i in 0..set.len() {
        let hash = set[i];
        set[kept] = hash;
        kept += usize::from(set.get(i + 1) != Some(&hash));
    }
    set.truncate(kept);
}

/// The product of a hash's halves. A fingerprint's second sum adds these products.
#[inline(always)]
pub(super) fn product(hash: u64) -> u64 {
    (hash & 0xffff_ffff) * (hash >> 32)
}

/// The bin of a shingle in a binning round, and its value there.
#[inline(always)]
pub(super) fn bin(z: u32, num_hashes: usize, round: u32) -> (usize, u32) {
    let wide = u64::from(z) * num_hashes as u64;
    ((wide >> 32) as usize, (wide as u32) >> 2 | round << ROUND_SHIFT)
}

/// See [`super::Kernel::sketch`].
pub(super) fn sketch(parameters: &HashParameters, shingles: &[u32], out: &mut [u32]) {
    out.fill(u32::MAX);
    if shingles.is_empty() {
        return;
    }
    for (round, &(a, b)) in (0u32..).zip(&parameters.rounds) {
        for &x in shingles {
            let (bin, value) = bin((x ^ b).wrapping_mul(a), parameters.num_hashes, round);
            out[bin] = out[bin].min(value);
        }
    }
    for (j, value) in out.iter_mut().enumerate().take(parameters.num_hashes) {
        if *value == u32::MAX {
            let (a, b) = (parameters.a[j], parameters.b[j]);
            let least = shingles.iter().map(|x| (x ^ b).wrapping_mul(a)).min();
            *value = FALLBACK | least.unwrap_or(u32::MAX) >> 2;
        }
    }
}

/// See [`super::Kernel::classic`].
pub(super) fn classic(parameters: &HashParameters, shingles: &[u32], out: &mut [u32]) {
    for (j, value) in out.iter_mut().enumerate() {
        *value = minimum(parameters.scheme, shingles, parameters.a[j], parameters.b[j]);
    }
}

/// The minimum of one function of a classic family.
pub(super) fn minimum(scheme: Scheme, shingles: &[u32], a: u32, b: u32) -> u32 {
    shingles.iter().map(|&x| classic_hash(scheme, x, a, b)).min().unwrap_or(u32::MAX)
}

/// One hash of a classic family.
#[inline(always)]
fn classic_hash(scheme: Scheme, x: u32, a: u32, b: u32) -> u32 {
    match scheme {
        Scheme::MultiplyShift => x.wrapping_mul(a).wrapping_add(b),
        Scheme::ModPrime => {
            let value = (u64::from(a) * u64::from(x) + u64::from(b)) % PRIME;
            u32::try_from(value).unwrap_or(u32::MAX)
        }
        Scheme::Xor => x ^ b,
        Scheme::XorMultiply | Scheme::FastSimilarity => (x ^ b).wrapping_mul(a),
    }
}

/// See [`super::Kernel::intersect`]: a merge whose steps do not branch on the data.
pub(super) fn intersect(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        shared += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    shared
}

/// [`intersect`] for a small and a much larger set, by searching with doubling steps.
pub(super) fn intersect_galloping(small: &[u64], large: &[u64]) -> usize {
    let mut rest = large;
    let mut shared = 0;
    for x in small {
        let mut step = 1;
        while step < rest.len() && rest[step] < *x {
            step *= 2;
        }
        let end = (step + 1).min(rest.len());
        let at = step / 2 + rest[step / 2..end].partition_point(|y| y < x);
        rest = &rest[at..];
        match rest.first() {
            Some(y) if y == x => shared += 1,
            Some(_) => {}
            None => break,
        }
    }
    shared
}

/// See [`super::Kernel::count_equal`].
pub(super) fn count_equal(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).filter(|(x, y)| x == y).count()
}

/// See [`super::Kernel::count_equal_rows`].
pub(super) fn count_equal_rows(probe: &[u8], rows: &[u8], counts: &mut [u16]) {
    counts.fill(0);
    let rows = rows.chunks_exact(probe.len().max(1));
    for (count, row) in counts.iter_mut().zip(rows) {
        *count = row.iter().zip(probe).filter(|(x, y)| x == y).count() as u16;
    }
}
