//! Parts of a text that are compared as documents of their own: lines, paragraphs, sentences.
//!
//! The ranges of a text cover it in order, without gaps. A range that is white space only is no
//! unit; any other is one, whose text is the range without the white space at its end.
//!
//! - A line ends behind each line end: CRLF, LF, CR, NEL, VT, FF, U+2028, U+2029.
//! - A paragraph ends before the first line that follows a blank line (one of white space only) or
//!   U+2029. Blank lines at the start of the text are a range.
//! - A sentence ends at each sentence boundary of Unicode Standard Annex 29, as ICU4X finds them.
//!   CRLF, LF, CR, NEL, U+2028 and U+2029 end a sentence always.
//!
//! No range ends within a character or between CR and LF.

#[cfg(feature = "scripts")]
use icu_segmenter::{
    SentenceSegmenter, iterators::SentenceBreakIterator, options::SentenceBreakInvariantOptions,
    scaffold::Utf8,
};
use lookalike_core::error::ParamsError;
use lookalike_core::parameter::Parameter;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// What is compared as a document.
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
    /// Whether this build of the crate finds its ranges.
    pub fn is_supported(self) -> bool {
        cfg!(feature = "scripts") || self != Self::Sentence
    }
}

impl fmt::Display for TextUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Document => "document",
            Self::Paragraph => "paragraph",
            Self::Line => "line",
            Self::Sentence => "sentence",
        })
    }
}

impl FromStr for TextUnit {
    type Err = ParamsError;

    fn from_str(text: &str) -> Result<Self, ParamsError> {
        Ok(match text {
            "document" => Self::Document,
            "paragraph" => Self::Paragraph,
            "line" => Self::Line,
            "sentence" => Self::Sentence,
            _ => {
                return Err(ParamsError::Parse {
                    parameter: Parameter::Unit,
                    got: text.to_owned(),
                    expected: "document, paragraph, line or sentence",
                });
            }
        })
    }
}

/// The id of the document that a unit is a part of, by the id of the unit: all before the last `#`.
pub fn parent_id(id: &str) -> &str {
    id.rsplit_once('#').map_or(id, |(parent, _)| parent)
}

/// The ranges of a text in bytes, in order; none of an empty text. They take linear time, and no
/// memory.
pub fn ranges(text: &str, unit: TextUnit) -> impl Iterator<Item = Range<usize>> {
    UnitRanges { text, start: 0, boundaries: Boundaries::new(text, unit) }
}

/// The ranges up to each boundary.
struct UnitRanges<'a> {
    text: &'a str,
    start: usize,
    boundaries: Boundaries<'a>,
}

impl Iterator for UnitRanges<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        if self.start >= self.text.len() {
            return None;
        }
        let end = self.boundaries.after(self.text, self.start);
        let range = self.start..end;
        self.start = end;
        Some(range)
    }
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

    /// A collection that asks for sentences is refused when it is opened.
    #[cfg(not(feature = "scripts"))]
    fn sentences(_: &'a str) -> Self {
        Self::Sentence(std::marker::PhantomData)
    }

    /// The first boundary behind `start`.
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

/// Where the line ends that begins at `start`, its line end included: the mandatory breaks of
/// Unicode Standard Annex 14.
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

/// Where the paragraph ends that begins at `start`, with the blank lines behind it.
fn paragraph_end(text: &str, start: usize) -> usize {
    let (mut at, mut is_over) = (start, false);
    while at < text.len() {
        let end = line_end(text, at);
        let line = &text[at..end];
        if line.trim().is_empty() {
            is_over = true;
        } else if is_over {
            break;
        } else {
            is_over = line.ends_with('\u{2029}');
        }
        at = end;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNITS: [TextUnit; 4] =
        [TextUnit::Document, TextUnit::Paragraph, TextUnit::Line, TextUnit::Sentence];
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
                let (taken, after) = rest.split_at(end.map_or(next, |end| end.len()));
                line.push_str(taken);
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
    fn lines_paragraphs_and_sentences_of_a_text() {
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
    fn sentences_end_by_the_rules_of_unicode() {
        let sentences = |text| parts(text, TextUnit::Sentence);
        assert_eq!(sentences("He left. “Why?” she asked."), ["He left. ", "“Why?” ", "she asked."]);
        assert_eq!(
            sentences("It is 3.4 m. and no more! Yes."),
            ["It is 3.4 m. and no more! ", "Yes."]
        );
        assert_eq!(sentences("今日は。明日は？"), ["今日は。", "明日は？"]);
        assert_eq!(sentences("a line\r\nthat goes on\n"), ["a line\r\n", "that goes on\n"]);
    }

    #[test]
    fn names_are_read_as_written() {
        for unit in UNITS {
            assert_eq!(unit.to_string().parse::<TextUnit>(), Ok(unit));
        }
        let error = "word".parse::<TextUnit>().unwrap_err().to_string();
        assert!(error.contains("word") && error.contains("paragraph"), "{error}");
    }

    /// Texts without an end, and texts of ends only, take linear time: at a quadratic rate, these
    /// take hours.
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
        fn ranges_cover_the_text_and_cut_nothing(
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
