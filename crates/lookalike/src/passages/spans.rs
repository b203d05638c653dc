//! Tokens of a document → bytes and characters of its text as it is written.

use super::cuts::TokenCuts;
use super::words::WordRule;
use crate::read::{Normalization, TextNormalizer};
use lookalike_core::passage::maximal::TokenRange;
use std::ops::Range;

/// A part of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct TextSpan {
    /// In bytes of UTF-8.
    pub bytes: Range<u64>,
    /// In characters (code points).
    pub chars: Range<u64>,
}

/// Where the words of a document are in its text.
pub(super) struct Spans<'a> {
    text: &'a str,
    words: Vec<Range<usize>>,
    /// Characters before each piece of [`PIECE`] bytes.
    chars: Vec<u64>,
}

/// Bytes of text of which the characters are counted at once.
const PIECE: usize = 1024;

impl<'a> Spans<'a> {
    /// The words of `text` without those of `cuts`; `None` where the words of its normal form
    /// cannot be found in it.
    pub(super) fn of(
        text: &'a str,
        rule: WordRule,
        normalization: Normalization,
        cuts: &[TokenRange],
    ) -> Option<Self> {
        let words = match normal_form(text, normalization) {
            None => rule.ranges(text).collect(),
            Some(normal) => aligned(text, &normal, rule, normalization)?,
        };
        let words = TokenCuts::without(cuts, words);
        let count = |piece: &[u8]| piece.iter().filter(|byte| byte.cast_signed() >= -0x40).count();
        let mut total = 0;
        let chars = text.as_bytes().chunks(PIECE).map(|piece| {
            let before = total;
            total += count(piece) as u64;
            before
        });
        let chars = chars.collect();
        Some(Self { text, words, chars })
    }

    /// The bytes of each word.
    pub(super) fn words(&self) -> &[Range<usize>] {
        &self.words
    }

    /// The text from the first of some words to the last.
    pub(super) fn span(&self, at: usize, count: usize) -> Option<TextSpan> {
        let words = self.words.get(at..at.checked_add(count)?)?;
        let (start, end) = (words.first()?.start, words.last()?.end);
        Some(self.between(start, end))
    }

    /// The text between two bytes.
    pub(super) fn between(&self, start: usize, end: usize) -> TextSpan {
        let chars = self.chars_before(start)..self.chars_before(end);
        TextSpan { bytes: start as u64..end as u64, chars }
    }

    fn chars_before(&self, byte: usize) -> u64 {
        let piece = byte / PIECE;
        let Some(before) = self.chars.get(piece) else {
            return self.text.chars().count() as u64;
        };
        let inside = &self.text.as_bytes()[piece * PIECE..byte];
        before + inside.iter().filter(|byte| byte.cast_signed() >= -0x40).count() as u64
    }
}

/// The normal form of a text, where it is another text.
fn normal_form(text: &str, normalization: Normalization) -> Option<String> {
    let mut words = TextNormalizer::default();
    let normal = words.of(text, normalization);
    (normal != text).then(|| normal.to_owned())
}

/// The words of `normal`, each as bytes of `text`, whose normal form it is.
///
/// The text is divided into pieces whose normal forms, one behind the other, are `normal`: at ASCII
/// characters, which no normal form joins with what is before them. Within a piece a word is the
/// whole of it.
fn aligned(
    text: &str,
    normal: &str,
    rule: WordRule,
    normalization: Normalization,
) -> Option<Vec<Range<usize>>> {
    let mut words = TextNormalizer::default();
    // (byte of `normal`, byte of `text`) at which pieces begin.
    let mut begins = vec![(0, 0)];
    let (mut at, mut start) = (0, 0);
    let ends = text.char_indices().filter(|(_, c)| c.is_ascii()).map(|(at, _)| at);
    for end in ends.chain([text.len()]).filter(|end| *end > 0) {
        let piece = words.of(&text[start..end], normalization);
        if !normal[at..].starts_with(piece) {
            return None;
        }
        (at, start) = (at + piece.len(), end);
        begins.push((at, start));
    }
    if at != normal.len() {
        return None;
    }
    let place = |word: Range<usize>| {
        let first = begins.partition_point(|begin| begin.0 <= word.start) - 1;
        let last = begins.partition_point(|begin| begin.0 < word.end);
        let start = begins[first];
        let end = begins.get(last).copied().unwrap_or((normal.len(), text.len()));
        // White space and marks at the edges of the pieces are no part of the word.
        trimmed(text, start.1..end.1, rule)
    };
    Some(rule.ranges(normal).map(place).collect())
}

/// The part of a range from its first word to its last.
fn trimmed(text: &str, range: Range<usize>, rule: WordRule) -> Range<usize> {
    let mut words = rule.ranges(&text[range.clone()]);
    let Some(first) = words.next() else { return range };
    let end = words.last().map_or(first.end, |last| last.end);
    range.start + first.start..range.start + end
}
