//! Maps tokens of a document to bytes and characters of its original text.

use super::compared_words::{ComparedWords, WordRule};
use crate::read::{Normalization, TextNormalizer};
use std::ops::Range;
use std::sync::Arc;

/// A part of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct TextSpan {
    /// In bytes of UTF-8.
    pub bytes: Range<u64>,
    /// In characters (code points).
    pub chars: Range<u64>,
}

/// The ranges of a document's words in its text.
pub(crate) struct Spans<'a> {
    text: &'a str,
    words: Arc<Vec<Range<u32>>>,
    /// Characters before each piece of [`PIECE`] bytes.
    chars: Vec<u64>,
}

impl WordRule {
    /// Returns the words of the normal form of a text, and their ranges in the text; `None` if they
    /// cannot be found in it.
    pub(crate) fn words_and_spans(
        self,
        text: &str,
        normalization: Normalization,
    ) -> Option<(ComparedWords, Spans<'_>)> {
        let normal = normal_form(text, normalization);
        let words = self.words(normal.as_deref().unwrap_or(text));
        if normal.is_some() || !text.is_ascii() {
            return Some((words, Spans::of(text, self, normalization)?));
        }
        // Folding does not move the words of an ASCII text.
        let spans = Spans::new(text, Arc::clone(words.ranges()));
        Some((words, spans))
    }
}

/// The number of bytes whose characters are counted together.
const PIECE: usize = 1024;

impl<'a> Spans<'a> {
    /// Finds the words of `text`; `None` if the words of its normal form cannot be found in it.
    pub(crate) fn of(text: &'a str, rule: WordRule, normalization: Normalization) -> Option<Self> {
        let short = |word: Range<usize>| word.start as u32..word.end as u32;
        let words: Vec<Range<u32>> = match normal_form(text, normalization) {
            None => rule.ranges(text).map(short).collect(),
            Some(normal) => {
                aligned(text, &normal, rule, normalization)?.into_iter().map(short).collect()
            }
        };
        Some(Self::new(text, Arc::new(words)))
    }

    /// Creates spans from the ranges of words in `text`.
    fn new(text: &'a str, words: Arc<Vec<Range<u32>>>) -> Self {
        let count = |piece: &[u8]| piece.iter().filter(|byte| byte.cast_signed() >= -0x40).count();
        let mut total = 0;
        let chars = text.as_bytes().chunks(PIECE).map(|piece| {
            let before = total;
            total += count(piece) as u64;
            before
        });
        let chars = chars.collect();
        Self { text, words, chars }
    }

    /// Returns the words whose ranges `select` returns.
    pub(crate) fn select(self, select: impl FnOnce(Vec<Range<u32>>) -> Vec<Range<u32>>) -> Self {
        Self { words: Arc::new(select(Arc::unwrap_or_clone(self.words))), ..self }
    }

    /// The bytes of each word.
    pub(crate) fn words(&self) -> &[Range<u32>] {
        &self.words
    }

    /// Returns the range of the text from the first of some words to the last.
    pub(crate) fn span(&self, at: usize, count: usize) -> Option<TextSpan> {
        let words = self.words.get(at..at.checked_add(count)?)?;
        let start = words.first()?.start;
        let end = words.last()?.end;
        Some(self.between(start as usize, end as usize))
    }

    /// Returns the range of the text between two bytes.
    pub(crate) fn between(&self, start: usize, end: usize) -> TextSpan {
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

/// Returns the normal form of a text, if it differs from the text.
pub(super) fn normal_form(text: &str, normalization: Normalization) -> Option<String> {
    if normalization == Normalization::default() {
        return None;
    }
    let mut words = TextNormalizer::default();
    let normal = words.of(text, normalization);
    (normal != text).then(|| normal.to_owned())
}

/// Returns the words of `normal`, which is the normal form of `text`, each as a range of `text`.
///
/// The text is divided into pieces whose joined normal forms are `normal`. A word within a piece is
/// mapped to the whole piece.
fn aligned(
    text: &str,
    normal: &str,
    rule: WordRule,
    normalization: Normalization,
) -> Option<Vec<Range<usize>>> {
    let mut words = TextNormalizer::default();
    let begins = piece_begins(text, normal, normalization, begins_piece)
        .or_else(|| piece_begins(text, normal, normalization, |c| c.is_ascii()))?;
    let place = |word: Range<usize>| {
        let first = begins.partition_point(|begin| begin.0 <= word.start) - 1;
        let last = begins.partition_point(|begin| begin.0 < word.end);
        let start = begins[first];
        let end = begins.get(last).copied().unwrap_or((normal.len(), text.len()));
        // White space and punctuation at the edges of the pieces are not part of the word.
        let is_outside = |c: char| {
            let mut bytes = [0; 4];
            let normal = words.of(c.encode_utf8(&mut bytes), normalization);
            rule.ranges(normal).next().is_none()
        };
        let outer = start.1..end.1;
        let inner = trimmed(text, outer.clone(), is_outside);
        // A character that is not in a word may change an adjacent character.
        let part = &text[inner.clone()];
        let word = &normal[word];
        let is_found = part.contains(word) || words.of(part, normalization).contains(word);
        if is_found { inner } else { outer }
    };
    let mut places: Vec<Range<usize>> = rule.ranges(normal).map(place).collect();
    // If two words share a piece, the first must not begin after the second.
    for later in (1..places.len()).rev() {
        places[later - 1].start = places[later - 1].start.min(places[later].start);
    }
    Some(places)
}

/// Whether normal forms never combine a character with preceding characters. True for ASCII, the
/// characters of scripts that are written without spaces, their punctuation, and syllables of
/// Hangul.
fn begins_piece(c: char) -> bool {
    c.is_ascii()
        || matches!(c,
            '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{3029}' | '\u{3041}'..='\u{3096}'
            | '\u{30a1}'..='\u{30fc}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}' | '\u{ff01}'..='\u{ff9d}' | '\u{20000}'..='\u{3fffd}')
}

/// Returns the bytes of `normal` and of `text` at which pieces begin, followed by the ends. The
/// normal forms of pieces may be separated by a blank. `None` if the joined forms are not `normal`.
fn piece_begins(
    text: &str,
    normal: &str,
    normalization: Normalization,
    begins_piece: impl Fn(char) -> bool,
) -> Option<Vec<(usize, usize)>> {
    let mut words = TextNormalizer::default();
    let mut begins = vec![(0, 0)];
    let mut at = 0;
    let mut start = 0;
    let ends = text.char_indices().filter(|(_, c)| begins_piece(*c)).map(|(at, _)| at);
    for end in ends.chain([text.len()]).filter(|end| *end > 0) {
        let piece = words.of(&text[start..end], normalization);
        let rest = &normal[at..];
        if !rest.starts_with(piece) {
            // A normal form adds blanks around some syllables.
            at += rest.strip_prefix(' ').filter(|rest| rest.starts_with(piece)).map(|_| 1)?;
            begins.last_mut()?.0 = at;
        }
        at += piece.len();
        start = end;
        begins.push((at, start));
    }
    (at == normal.len()).then_some(begins)
}

/// Removes characters at the edges of a range that are not part of a word. Returns the whole range
/// if no other characters remain.
fn trimmed(
    text: &str,
    range: Range<usize>,
    mut is_outside: impl FnMut(char) -> bool,
) -> Range<usize> {
    let part = text[range.clone()].trim_start_matches(&mut is_outside);
    let start = range.end - part.len();
    let end = start + part.trim_end_matches(&mut is_outside).len();
    if start < end { start..end } else { range }
}

#[cfg(test)]
#[cfg(feature = "scripts")]
mod tests {
    use super::*;
    use crate::read::NormalForm;
    use lookalike_core::params::{ShingleRule, TokenRule};
    use proptest::prelude::*;

    fn normalization(form: NormalForm) -> Normalization {
        Normalization { normal_form: Some(form), ..Normalization::default() }
    }

    /// Returns the words of a text in their original form.
    fn written(text: &str, form: NormalForm) -> Vec<&str> {
        let rule = WordRule::of(&ShingleRule::default());
        let spans = Spans::of(text, rule, normalization(form)).unwrap();
        let words = spans.words.iter();
        words.map(|word| &text[word.start as usize..word.end as usize]).collect()
    }

    #[test]
    fn normalized_words_are_found_in_text() {
        let text = "e\u{301}te\u{301} ﬁne Ｗｉｄｅ";
        for form in NormalForm::ALL {
            assert_eq!(written(text, form), ["e\u{301}te\u{301}", "ﬁne", "Ｗｉｄｅ"], "{form}");
        }
        let korean = "3월은 한국(Korea)어";
        let words = ["3", "월", "은", "한", "국", "Korea", "어"];
        assert_eq!(written(korean, NormalForm::Fold), words);
        // A mark outside of all words, which keeps the accent of the preceding letter.
        assert_eq!(written("é\u{3099} é", NormalForm::Unaccent), ["é\u{3099}", "é\u{3099}", "é"]);
        assert_eq!(written("ｱ漢ｶﾞ。Ｗ字", NormalForm::Nfkc), ["ｱ", "漢", "ｶﾞ", "Ｗ", "字"]);
        // The separator is in its original form, the letters are in the normal form.
        assert_eq!(written("5㎏, ㎏", NormalForm::Nfkc), ["5㎏", "㎏"]);
    }

    proptest! {
        #[test]
        fn normalized_words_lie_within_their_spans(
            text in "([a-cSZ0-9 .(\\n]|é|e\u{301}|[ﬁ½①ŉßİΣςά]|\
                     [한국어\u{1112}\u{1161}\u{11ab}]|\
                     [漢ｶﾞか\u{3099}]|[न्तक]|\
                     [\u{e4d}\u{e32}]|[ىکـ\u{64e}]|\u{ad}|\u{200c}|\\PC){0,24}",
        ) {
            let shingles = ShingleRule::default();
            for tokens in [TokenRule::Words, TokenRule::Whitespace] {
                let rule = WordRule::of(&shingles.clone().with_tokens(tokens));
                for form in NormalForm::ALL {
                    let mut whole = TextNormalizer::default();
                    let mut part = TextNormalizer::default();
                    let normal = whole.of(&text, normalization(form));
                    let spans = Spans::of(&text, rule, normalization(form));
                    let spans = spans.expect("the words are found");
                    let words: Vec<&str> = rule.ranges(normal).map(|word| &normal[word]).collect();
                    prop_assert_eq!(words.len(), spans.words().len());
                    for (word, range) in words.iter().zip(spans.words()) {
                        // A character outside of the word may have kept its original form.
                        let written = &text[range.start as usize..range.end as usize];
                        let part = part.of(written, normalization(form));
                        let is_found = part.contains(word) || written.contains(word);
                        prop_assert!(is_found, "{} {:?} {:?}", form, word, part);
                    }
                    prop_assert!(spans.words().is_sorted_by_key(|word| word.start));
                }
            }
        }
    }
}
