//! Shingle hashes of text.
//!
//! ```text
//! "Héllo  World"  fold  → "héllo  world"  tokens → [t1, t2]  shingles → {h1, …}
//! ```
//!
//! A token is a word, a code point or a byte ([`Unit`]); a shingle consists of `size` consecutive
//! tokens. The 64-bit hash of a shingle is its identity; signatures use the upper 32 bits.
//! [`Shingles::hashes`] contains repeats of a shingle, because minima ignore them;
//! [`Shingler::set`] does not. If the rule counts frequencies, each repeat has a hash of its own.
//! Other modules decide which text is one document and how similarity is measured.

use crate::hash;
use crate::kernel::{self, Kernel, PIECE, ScanRule, ShingleBuffer, SortBuffers, TokenBuffer};
use crate::params::{Case, ShingleRule, TokenRule, Unit};
use crate::text;

/// Maximum number of shingles of a document that are sorted into other buffers instead of in place.
/// For longer documents, these buffers would take a large part of the memory of a run.
const SORTED_APART: usize = 1 << 17;

/// The shingles of one document, valid until the [`Shingler`] is used for the next.
#[derive(Debug, Clone, Copy)]
pub struct Shingles<'a> {
    /// The input of signatures: the upper 32 bits of every shingle hash, in unspecified order,
    /// including repeats, or the hashes that replace repeats if the rule counts frequencies. Empty
    /// for a document without tokens.
    pub hashes: &'a [u32],
    /// Equal for two documents if and only if their shingles are equal, counting repeats (except
    /// for a chance of about 2⁻¹²⁰). Documents with equal fingerprints have Jaccard 1. The converse
    /// does not hold, because sets ignore repeats.
    pub fingerprint: u128,
}

/// Divides documents into shingles by one rule. Use one per thread, because it keeps its buffers.
/// They take 4 bytes per shingle of the longest document; [`Self::set`] needs 12, and a rule that
/// counts frequencies 16. Buffers have up to an eighth more room than the document needs, and up to
/// twice the room below a million shingles. Sorting takes 12 more bytes for each of the first
/// 131,072 shingles, and 20 with frequencies. With AVX-512, it takes up to 34 for each of the first
/// 32,768 if that is more. Shingles of characters need a copy of the text. Texts with upper-case
/// characters that the vector scan cannot lower-case need a lower-cased copy.
#[derive(Debug)]
pub struct Shingler {
    rule: ShingleRule,
    kernel: Kernel,
    tokens: TokenBuffer,
    shingles: ShingleBuffer,
    folded: String,
    spaced: String,
    sorted: Vec<u64>,
    sort: SortBuffers,
    upper: Vec<u32>,
}

impl Shingler {
    /// Creates a shingler for one rule, with the fastest kernel of this processor.
    pub fn new(rule: &ShingleRule) -> Self {
        Self::with_kernel(rule, Kernel::best())
    }

    /// Like [`new`](Self::new), with a given kernel. All kernels compute the same hashes.
    pub fn with_kernel(rule: &ShingleRule, kernel: Kernel) -> Self {
        Self {
            rule: rule.clone(),
            kernel,
            tokens: TokenBuffer::default(),
            shingles: ShingleBuffer::default(),
            folded: String::new(),
            spaced: String::new(),
            sorted: Vec::new(),
            sort: SortBuffers::default(),
            upper: Vec::new(),
        }
    }

    /// The shingles of a document. Takes O(length) time, or O(n log n) for a rule that counts
    /// frequencies.
    pub fn shingle(&mut self, text: &str) -> Shingles<'_> {
        self.hash_shingles(text, self.rule.frequencies());
        let fingerprint = self.fingerprint();
        if self.rule.frequencies() {
            self.number_repeats();
            let hashes = if self.is_long() { self.shingles.full_hashes() } else { &self.sorted };
            self.upper.clear();
            self.upper.extend(hashes.iter().map(|h| (h >> 32) as u32));
            return Shingles { hashes: &self.upper, fingerprint };
        }
        Shingles { hashes: self.shingles.upper(), fingerprint }
    }

    /// Replaces the content of `set` by the shingle set of a document for exact comparison,
    /// ascending and without repeats. Returns the fingerprint of [`Self::shingle`].
    pub fn set(&mut self, text: &str, set: &mut Vec<u64>) -> u128 {
        self.hash_shingles(text, true);
        let has_repeats = self.rule.frequencies();
        if has_repeats {
            self.number_repeats();
        }
        if self.is_long() {
            self.shingles.take_full_hashes(set);
            set.sort_unstable();
            kernel::drop_repeats(set);
        } else {
            let hashes = if has_repeats { &self.sorted } else { self.shingles.full_hashes() };
            self.kernel.sort_set(hashes, set, &mut self.sort);
        }
        self.fingerprint()
    }

    /// The hashes of the tokens of a document in order, including repeats, without stop words.
    /// Takes O(length) time; the buffers grow to 8 bytes per token.
    pub fn tokens(&mut self, text: &str) -> &[u64] {
        self.tokens.clear();
        self.shingles.start(false);
        self.cut(text, usize::MAX);
        self.tokens.tokens()
    }

    fn fingerprint(&self) -> u128 {
        let [sum, products] = self.shingles.sums;
        u128::from(sum) << 64 | u128::from(products)
    }

    /// Fills `self.shingles`, piece by piece so that a long document needs no long token list.
    fn hash_shingles(&mut self, text: &str, has_full_hashes: bool) {
        self.tokens.clear();
        self.shingles.start(has_full_hashes);
        self.cut(text, self.rule.size());
        if self.shingles.upper().is_empty() && !self.tokens.tokens().is_empty() {
            // Fewer tokens than a shingle has: the whole sequence is a single shingle.
            let size = self.tokens.tokens().len();
            self.kernel.combine(&self.tokens, size, &mut self.shingles);
        }
    }

    /// Appends the tokens of a text, and converts all runs of `size` tokens to shingles. Drops
    /// converted tokens except those with which the next shingle begins.
    fn cut(&mut self, text: &str, size: usize) {
        match self.rule.unit() {
            Unit::Words => self.hash_words(text, size),
            Unit::Chars => self.hash_chars(text, size),
            Unit::Bytes => self.hash_bytes(text, size),
        }
    }

    /// Scans and lower-cases the text at the same time. After a character that the scan cannot
    /// lower-case, lower-cases the whole text and scans it again.
    fn hash_words(&mut self, text: &str, size: usize) {
        let fold = self.rule.case() == Case::Fold;
        if self.scan_words(text, fold, size) {
            return;
        }
        self.tokens.clear();
        self.shingles.start(self.shingles.has_full_hashes);
        let mut folded = std::mem::take(&mut self.folded);
        self.scan_words(text::fold_case(text, &mut folded), false, size);
        self.folded = folded;
    }

    /// Converts all words to shingles. If `stops_at_unfolded` is true, returns false after a piece
    /// with a character that the scan cannot lower-case.
    fn scan_words(&mut self, text: &str, stops_at_unfolded: bool, size: usize) -> bool {
        let fold = self.rule.case() == Case::Fold;
        let rule = ScanRule { tokens: self.rule.tokens(), fold };
        for piece in (TextPieces { text, rule: rule.tokens }) {
            let old = self.tokens.tokens().len();
            self.kernel.scan(piece, rule, &mut self.tokens);
            if stops_at_unfolded && self.tokens.unfolded() {
                return false;
            }
            if let Some(stop) = self.rule.stop_words() {
                self.tokens.retain(old, |token| !stop.contains(token));
            }
            flush(self.kernel, size, &mut self.tokens, &mut self.shingles);
        }
        true
    }

    fn hash_chars(&mut self, text: &str, size: usize) {
        let fold = self.rule.case() == Case::Fold;
        let text = if fold { text::fold_case(text, &mut self.folded) } else { text };
        self.kernel.collapse(text, fold, &mut self.spaced);
        let mut rest = self.spaced.as_str();
        while !rest.is_empty() {
            let end = PIECE.min(rest.len());
            let end = (end.saturating_sub(3)..=end).rev().find(|at| rest.is_char_boundary(*at));
            let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after;
            self.kernel.push_chars(piece, &mut self.tokens);
            flush(self.kernel, size, &mut self.tokens, &mut self.shingles);
        }
    }

    fn hash_bytes(&mut self, text: &str, size: usize) {
        let lowered;
        let text = match self.rule.case() {
            Case::Keep => text,
            Case::Fold => {
                lowered = text::lower_case(text);
                &lowered
            }
        };
        for piece in text.as_bytes().chunks(PIECE) {
            self.kernel.push_bytes(piece, &mut self.tokens);
            flush(self.kernel, size, &mut self.tokens, &mut self.shingles);
        }
    }

    fn is_long(&self) -> bool {
        self.shingles.full_hashes().len() > SORTED_APART
    }

    /// Sorts the 64-bit hashes, into `self.sorted` unless the document is long. Replaces each
    /// repeat by an element computed from the hash and the number of the repeat.
    fn number_repeats(&mut self) {
        let hashes = if self.is_long() {
            let hashes = self.shingles.full_hashes_mut();
            hashes.sort_unstable();
            hashes
        } else {
            self.kernel.sort(self.shingles.full_hashes(), &mut self.sorted, &mut self.sort);
            &mut self.sorted
        };
        let mut last = None;
        let mut repeats = 0;
        for hash in hashes {
            repeats = if last == Some(*hash) { u32::saturating_add(repeats, 1) } else { 0 };
            last = Some(*hash);
            if repeats > 0 {
                *hash = hash::repeat_hash(*hash, repeats);
            }
        }
    }
}

/// Converts the tokens to shingles and keeps the tokens with which the next piece's shingles begin.
fn flush(kernel: Kernel, size: usize, tokens: &mut TokenBuffer, shingles: &mut ShingleBuffer) {
    if tokens.tokens().len() >= size {
        kernel.combine(tokens, size, shingles);
        tokens.keep_last(size - 1);
    }
}

/// A text in pieces of at most [`PIECE`] bytes that end at the end of a token: after ASCII white
/// space if there is any, otherwise after another separator or a single-character token. A longer
/// word is a piece of its own.
struct TextPieces<'a> {
    text: &'a str,
    rule: TokenRule,
}

impl TextPieces<'_> {
    /// The end of the first piece. The text must be longer than [`PIECE`].
    fn end(&self) -> usize {
        let is_space = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r');
        if let Some(last) = self.text.as_bytes()[..PIECE].iter().rposition(is_space) {
            return last + 1;
        }
        let boundary = (PIECE - 3..=PIECE).rev().find(|at| self.text.is_char_boundary(*at));
        let (near, far) = self.text.split_at(boundary.unwrap_or(self.text.len()));
        let ends = |(_, c): &(usize, char)| kernel::ends_token(*c, self.rule);
        let next = || far.char_indices().find(ends).map(|(at, c)| near.len() + at + c.len_utf8());
        let last = near.char_indices().rev().find(ends).map(|(at, c)| at + c.len_utf8());
        last.or_else(next).unwrap_or(self.text.len())
    }
}

impl<'a> Iterator for TextPieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.text.is_empty() {
            return None;
        }
        let end = if self.text.len() <= PIECE { self.text.len() } else { self.end() };
        let (piece, rest) = self.text.split_at(end);
        self.text = rest;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::TokenRule;
    use std::collections::BTreeSet;

    fn count(rule: &ShingleRule, text: &str) -> usize {
        Shingler::new(rule).shingle(text).hashes.len()
    }

    #[test]
    fn tokens_equal_naive_tokens() {
        let long = "Straße der Häuser 語々 ".repeat(9_000);
        for text in ["", "one", "The quick  brown fox. The end", "ΟΔΟΣ 語", &long] {
            let rule = ShingleRule::new(Unit::Words, 3).unwrap();
            let expected: Vec<u64> = crate::naive::token_strings(text, &rule)
                .iter()
                .map(|token| hash::token_hash(token.as_bytes()))
                .collect();
            for kernel in Kernel::available() {
                assert_eq!(Shingler::with_kernel(&rule, kernel).tokens(text), expected, "{kernel}");
            }
        }
    }

    #[test]
    fn short_texts_have_one_shingle() {
        let rule = ShingleRule::default();
        for (text, expected) in
            [("", 0), (" \n\t", 0), ("--", 0), ("one", 1), ("a b c d", 1), ("a b c d e f", 2)]
        {
            assert_eq!(count(&rule, text), expected, "{text:?}");
        }
        for unit in [Unit::Chars, Unit::Bytes] {
            let rule = ShingleRule::new(unit, 5).unwrap();
            assert_eq!(count(&rule, ""), 0);
            assert_eq!(count(&rule, "abc"), 1);
            assert_eq!(count(&rule, "abcdef"), 2);
        }
    }

    #[test]
    fn long_documents_keep_every_shingle() {
        let words: Vec<String> = (0..40_000).map(|i| format!("w{}", i % 30_011)).collect();
        for (tokens, text) in [
            (TokenRule::Words, words.join(" ")),
            (TokenRule::Whitespace, words.join("\n")),
            (TokenRule::Words, words.join("-")),
        ] {
            let rule = ShingleRule::default().with_tokens(tokens);
            assert_eq!(count(&rule, &text), words.len() - 4);
        }
        let long = "x".repeat(3 * PIECE + 7);
        assert_eq!(count(&ShingleRule::default(), &long), 1);
        let chars = ShingleRule::new(Unit::Chars, 5).unwrap();
        assert_eq!(count(&chars, &long), long.len() - 4);
    }

    #[test]
    fn sets_of_long_documents_are_complete() {
        let words: Vec<String> =
            (0..SORTED_APART + 9).map(|i| format!("w{}", i % 30_011)).collect();
        let text = words.join(" ");
        for (frequencies, expected) in [(false, 30_011), (true, words.len())] {
            let rule = ShingleRule::new(Unit::Words, 1).unwrap().with_frequencies(frequencies);
            let mut shingler = Shingler::new(&rule);
            let mut set = Vec::new();
            // Later rounds find the buffers of earlier ones.
            for _ in 0..3 {
                let fingerprint = shingler.set(&text, &mut set);
                assert_eq!(set.len(), expected);
                assert!(set.is_sorted_by(|a, b| a < b));
                let shingles = shingler.shingle(&text);
                assert_eq!(shingles.fingerprint, fingerprint);
                let upper: BTreeSet<u32> = shingles.hashes.iter().copied().collect();
                assert_eq!(upper, set.iter().map(|hash| (hash >> 32) as u32).collect());
                shingler.set("w1 w2", &mut set);
                assert_eq!(set.len(), 2);
                assert_eq!(shingler.shingle("w1 w2").hashes.len(), 2);
            }
        }
    }

    #[test]
    fn unspaced_text_splits_between_tokens() {
        let odd = ["漢", "字", ",", "w1", "é", "\u{a0}", "\u{3000}", "٣", "—", "ก"];
        let mut random = hash::SplitMix64::new(3);
        let word = "x".repeat(PIECE + 9);
        for long_word in ["", &word] {
            let mut text: String = (0..60_000).map(|_| odd[random.below(10) as usize]).collect();
            text.push_str(long_word);
            text.push_str(&(0..30_000).map(|_| odd[random.below(10) as usize]).collect::<String>());
            for tokens in [TokenRule::Words, TokenRule::WordRuns, TokenRule::Whitespace] {
                let rule = ShingleRule::default().with_tokens(tokens);
                let pieces: Vec<&str> = TextPieces { text: &text, rule: tokens }.collect();
                assert_eq!(pieces.concat(), text);
                let long = pieces.iter().filter(|piece| piece.len() > PIECE).count();
                assert_eq!(long, usize::from(!long_word.is_empty()), "{tokens}");
                let plain = crate::naive::token_strings(&text, &rule).len();
                assert_eq!(count(&rule, &text), plain - 4, "{tokens}");
            }
        }
    }

    #[test]
    fn long_words_take_constant_memory() {
        let mut shingler = Shingler::new(&ShingleRule::default());
        shingler.shingle(&"x".repeat(1 << 22));
        assert!(shingler.tokens.room() < 1 << 10);
    }

    #[test]
    fn sets_and_fingerprints_ignore_order() {
        let mut shingler = Shingler::new(&ShingleRule::new(Unit::Words, 1).unwrap());
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let first = shingler.set("the cat and the dog", &mut a);
        let second = shingler.set("dog the and cat the", &mut b);
        assert_eq!((a.len(), first), (4, second));
        assert_eq!(a, b);
        assert!(a.is_sorted());
        assert_ne!(first, shingler.set("dog the and cat", &mut b));
        assert_eq!(a, b);
    }

    #[test]
    fn frequencies_make_repeats_distinct() {
        let rule = ShingleRule::new(Unit::Words, 1).unwrap().with_frequencies(true);
        let mut set = Vec::new();
        Shingler::new(&rule).set("a a a b", &mut set);
        assert_eq!(set.len(), 4);
        let upper = Shingler::new(&rule).shingle("a a a b").hashes.len();
        assert_eq!(upper, 4);
    }
}
