//! Parts of a text that are compared as documents of their own: lines, paragraphs, sentences.
//!
//! The ranges of a text cover it in order, without gaps. A range of white space is not a unit. Any
//! other range is a unit, whose text is the range without the white space at its end.
//!
//! - A line ends after each line end: CRLF, LF, CR, NEL, VT, FF, U+2028, U+2029.
//! - A paragraph ends before the first non-blank line that follows a blank line or U+2029. A line
//!   of white space only is blank. Blank lines at the start of the text are a range.
//! - A sentence ends at each sentence boundary of Unicode Standard Annex 29, as ICU4X finds them.
//!   CRLF, LF, CR, NEL, U+2028 and U+2029 always end a sentence.
//!
//! No range ends within a character or between CR and LF.

#[cfg(feature = "scripts")]
use icu_segmenter::{
    SentenceSegmenter, iterators::SentenceBreakIterator, options::SentenceBreakInvariantOptions,
    scaffold::Utf8,
};
use lookalike_core::error::{ParamsError, parse_name};
use lookalike_core::parameter::Parameter;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The unit of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TextUnit {
    /// The whole document.
    #[default]
    Document,
    /// Lines between blank lines.
    Paragraph,
    /// Each line.
    Line,
    /// Each sentence, by Unicode Standard Annex 29.
    Sentence,
}

impl TextUnit {
    /// All units.
    pub const ALL: [Self; 4] = [Self::Document, Self::Paragraph, Self::Line, Self::Sentence];

    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Paragraph => "paragraph",
            Self::Line => "line",
            Self::Sentence => "sentence",
        }
    }

    /// Returns true if this build of the crate supports the unit.
    pub fn is_supported(self) -> bool {
        cfg!(feature = "scripts") || self != Self::Sentence
    }
}

impl fmt::Display for TextUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TextUnit {
    type Err = ParamsError;

    fn from_str(text: &str) -> Result<Self, ParamsError> {
        let expected = "document, paragraph, line or sentence";
        parse_name(text, &Self::ALL, Self::name, Parameter::Unit, expected)
    }
}

/// The id of the document that contains a unit: the part of the unit's id before the last `#`.
pub fn parent_id(id: &str) -> &str {
    id.rsplit_once('#').map_or(id, |(parent, _)| parent)
}

/// The ranges of a text in bytes, in order; empty for an empty text. Takes linear time and no
/// memory.
pub fn ranges(text: &str, unit: TextUnit) -> impl Iterator<Item = Range<usize>> {
    let mut boundaries = Boundaries::new(text, unit);
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = (start < text.len()).then(|| boundaries.after(text, start))?;
        Some(std::mem::replace(&mut start, end)..end)
    })
}

/// Finds the next boundary.
enum Boundaries<'a> {
    Document,
    Paragraph,
    Line,
    #[cfg(feature = "scripts")]
    Sentence(SentenceBreakIterator<'static, 'a, Utf8>),
    #[cfg(not(feature = "scripts"))]
    Sentence(std::marker::PhantomData<&'a ()>),
}

impl<'a> Boundaries<'a> {
    fn new(text: &'a str, unit: TextUnit) -> Self {
        match unit {
            TextUnit::Document => Self::Document,
            TextUnit::Paragraph => Self::Paragraph,
            TextUnit::Line => Self::Line,
            TextUnit::Sentence => Self::sentences(text),
        }
    }

    #[cfg(feature = "scripts")]
    fn sentences(text: &'a str) -> Self {
        let segmenter = SentenceSegmenter::new(SentenceBreakInvariantOptions::default());
        Self::Sentence(segmenter.segment_str(text))
    }

    /// A collection with sentences is rejected when it is opened.
    #[cfg(not(feature = "scripts"))]
    fn sentences(_: &'a str) -> Self {
        Self::Sentence(std::marker::PhantomData)
    }

    /// The first boundary after `start`.
    fn after(&mut self, text: &str, start: usize) -> usize {
        match self {
            Self::Document => text.len(),
            Self::Line => line_end(text, start),
            Self::Paragraph => paragraph_end(text, start),
            #[cfg(feature = "scripts")]
            Self::Sentence(breaks) => breaks.find(|end| *end > start).unwrap_or(text.len()),
            #[cfg(not(feature = "scripts"))]
            Self::Sentence(_) => text.len(),
        }
    }
}

/// Returns the end of the line that begins at `start`, including its line end. Line ends are the
/// mandatory breaks of Unicode Standard Annex 14.
fn line_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        let after = at + 1;
        match byte {
            b'\r' if bytes.get(after) == Some(&b'\n') => return after + 1,
            b'\n'..=b'\r' => return after,
            0xC2 if bytes.get(after) == Some(&0x85) => return after + 1,
            0xE2 if matches!(bytes.get(after..at + 3), Some([0x80, 0xA8 | 0xA9])) => return at + 3,
            _ => at = after,
        }
    }
    text.len()
}

/// Returns the end of the paragraph that begins at `start`, including the blank lines after it.
fn paragraph_end(text: &str, start: usize) -> usize {
    let mut at = start;
    let mut is_ended = false;
    while at < text.len() {
        let end = line_end(text, at);
        let line = &text[at..end];
        if line.trim().is_empty() {
            is_ended = true;
        } else if is_ended {
            break;
        } else {
            is_ended = line.ends_with('\u{2029}');
        }
        at = end;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNITS: [TextUnit; 4] = TextUnit::ALL;
    const LINE_ENDS: [&str; 8] =
        ["\r\n", "\n", "\r", "\u{85}", "\u{b}", "\u{c}", "\u{2028}", "\u{2029}"];

    fn parts(text: &str, unit: TextUnit) -> Vec<&str> {
        ranges(text, unit).map(|range| &text[range]).collect()
    }

    /// Lines with their ends, by the definition.
    fn naive_lines(text: &str) -> Vec<String> {
        let (mut lines, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let mut line = String::new();
            while !rest.is_empty() {
                let end = LINE_ENDS.iter().find(|end| rest.starts_with(**end));
                let next = rest.chars().next().map_or(0, char::len_utf8);
                let (piece, after) = rest.split_at(end.map_or(next, |end| end.len()));
                line.push_str(piece);
                rest = after;
                if end.is_some() {
                    break;
                }
            }
            lines.push(line);
        }
        lines
    }

    /// Paragraphs by the definition, from the naive lines.
    fn naive_paragraphs(text: &str) -> Vec<String> {
        let mut paragraphs: Vec<String> = Vec::new();
        let mut last: Option<String> = None;
        for line in naive_lines(text) {
            let blank = |line: &str| line.chars().all(char::is_whitespace);
            let follows = last
                .as_deref()
                .is_none_or(|last| !blank(&line) && (blank(last) || last.ends_with('\u{2029}')));
            match paragraphs.last_mut() {
                Some(paragraph) if !follows => paragraph.push_str(&line),
                _ => paragraphs.push(line.clone()),
            }
            last = Some(line);
        }
        paragraphs
    }

    #[test]
    fn texts_split_into_lines_and_paragraphs() {
        let text = "\n  \nOne. Two\r\n\r\n\r\nThree \u{2029}Four\rFive\u{2028}";
        assert_eq!(
            parts(text, TextUnit::Paragraph),
            ["\n  \n", "One. Two\r\n\r\n\r\n", "Three \u{2029}", "Four\rFive\u{2028}"]
        );
        assert_eq!(parts(text, TextUnit::Line).len(), 8);
        assert_eq!(parts(text, TextUnit::Document), [text]);
        assert!(UNITS.iter().all(|unit| parts("", *unit).is_empty()));
    }

    #[test]
    #[cfg(feature = "scripts")]
    fn sentences_end_by_unicode_rules() {
        let sentences = |text| parts(text, TextUnit::Sentence);
        assert_eq!(sentences("He left. “Why?” she asked."), ["He left. ", "“Why?” ", "she asked."]);
        assert_eq!(
            sentences("It is 3.4 m. and no more! Yes."),
            ["It is 3.4 m. and no more! ", "Yes."]
        );
        assert_eq!(sentences("今日は。明日は？"), ["今日は。", "明日は？"]);
        assert_eq!(sentences("a line\r\nthat goes on\n"), ["a line\r\n", "that goes on\n"]);
    }

    /// Hand-made cases for the rules of section 5 of the annex, with a `|` at each boundary.
    #[test]
    #[cfg(feature = "scripts")]
    fn every_sentence_rule_splits_correctly() {
        let cases = [
            // SB3, SB4: line ends.
            "One.\r\n|Two.\n|Three\u{85}|four\u{2028}|five\u{2029}|six",
            "one\n|\n|two",
            // SB5: marks and formats belong to the preceding character.
            "The end.\u{301} |Next.",
            "The end\u{200d}. |Next\u{301}.",
            // SB6: numbers.
            "It is 3.14 and 2.5. |Then 1.000.000,5.",
            // SB7: initials without blanks.
            "The U.S.A. |Army.",
            "The U.S. army.",
            // SB8: a lower-case letter follows a full stop, after characters other than letters.
            "He came, e.g. by train, i.e. late.",
            "Wait... what? |Wait... |What?",
            "It is no. 5 of all. |No. 5 too.",
            "He said “Go.” and left.",
            "See p. |7. |Then go on.",
            // SB8a: more of the sentence, or of its end.
            "Cats, dogs, etc., are here. |Really?! |Yes!!!",
            "“Go!”, he said.",
            // SB9, SB10: closing quotes and brackets, and blanks.
            "“He left.” |She stayed.",
            "(He left.)  \u{a0}|(She stayed.) |'So?' |\"So.\"",
            "«Il part.» |Elle reste.",
            // SB11: an end, also after an abbreviation that an upper-case letter follows.
            "Mr. |Smith met Dr. |J. |K. |Jones.",
            "Hi! |ok? |so",
            "The end.\t|Next.",
            // Full stops, question and exclamation marks of other scripts.
            // An opening bracket without a blank before it belongs to the end (SB9).
            "今日は。|明日は？「|行く。」|と言った。",
            "第一．|第二｡|第三",
            "राम गया। |सीता आई॥ |अंत",
            "هل جاء؟ |نعم۔ |لا",
            "Գնաց։ |Եկավ։",
            "ያ ነው። |ሌላ፧",
            // SB998: not an end. An ellipsis in one character, a colon and a semicolon do not end a
            // sentence.
            "Wait… What: this; That – or – Those",
            "a.b.c d.E",
            "...",
            "no end",
        ];
        let found = cases.map(|marked| {
            let text = marked.replace('|', "");
            parts(&text, TextUnit::Sentence).join("|")
        });
        assert_eq!(found, cases);
    }

    #[test]
    fn names_are_read_as_written() {
        for unit in UNITS {
            assert_eq!(unit.to_string().parse::<TextUnit>(), Ok(unit));
        }
        let error = "word".parse::<TextUnit>().unwrap_err().to_string();
        assert!(error.contains("word") && error.contains("paragraph"), "{error}");
    }

    /// Texts without an end, and texts of ends only, take linear time. At a quadratic rate, these
    /// would take hours.
    #[test]
    fn long_texts_take_linear_time() {
        const BYTES: usize = 8 << 20;
        for part in ["a", "word ", "1.", "a. ", "e.g", ".", "\u{2029}", "\r\n", " ", "語", "?)"] {
            let text = part.repeat(BYTES / part.len());
            for unit in UNITS {
                let mut end = 0;
                for range in ranges(&text, unit) {
                    assert_eq!(range.start, end);
                    end = range.end;
                }
                assert_eq!(end, text.len());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn ranges_cover_the_whole_text(
            text in "([aZ0.?!é語\u{301} ]{0,3}[\r\n\u{85}\u{b}\u{c}\u{2028}\u{2029}]{0,3}){0,12}"
        ) {
            for unit in UNITS {
                let mut end = 0;
                for range in ranges(&text, unit) {
                    prop_assert_eq!(range.start, end);
                    prop_assert!(range.end > end && text.is_char_boundary(range.end));
                    let (before, after) = text.split_at(range.end);
                    prop_assert!(!(before.ends_with('\r') && after.starts_with('\n')));
                    end = range.end;
                }
                prop_assert_eq!(end, text.len());
            }
            prop_assert_eq!(parts(&text, TextUnit::Line), naive_lines(&text));
            prop_assert_eq!(parts(&text, TextUnit::Paragraph), naive_paragraphs(&text));
        }
    }
}
