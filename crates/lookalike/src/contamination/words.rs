//! The words of a text: as they are compared, and where they are in the text as it is written.

use lookalike_core::params::{Case, ShingleRule, TokenRule};
use lookalike_core::text::{lower_case, word_ranges};
use std::ops::Range;

/// Which words are equal.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordComparison {
    tokens: TokenRule,
    case: Case,
}

/// The words of one text, in the form in which they are compared.
#[derive(Debug)]
pub(super) struct ComparedWords {
    text: String,
    words: Vec<Range<usize>>,
}

/// Where a run of words is in a text as it is written: from the first byte of the first word to the
/// last of the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrittenRange {
    pub(super) bytes: Range<usize>,
    pub(super) chars: Range<usize>,
}

impl WordComparison {
    pub(super) fn of(rule: &ShingleRule) -> Self {
        Self { tokens: rule.tokens(), case: rule.case() }
    }

    pub(super) fn compared(self, text: &str) -> ComparedWords {
        let text = match self.case {
            Case::Fold => lower_case(text),
            Case::Keep => text.to_owned(),
        };
        let words = word_ranges(&text, self.tokens).collect();
        ComparedWords { text, words }
    }

    /// Where runs of words are in a text. They begin in ascending order. O(text).
    pub(super) fn written(self, text: &str, runs: &[Range<usize>]) -> Vec<WrittenRange> {
        let words: Vec<Range<usize>> = word_ranges(text, self.tokens).collect();
        let (mut byte, mut char) = (0, 0);
        let ranges = runs.iter().filter_map(|run| {
            let start = words.get(run.start)?.start;
            let end = words.get(run.end.checked_sub(1)?)?.end;
            char += text.get(byte..start)?.chars().count();
            byte = start;
            let chars = char..char + text.get(start..end)?.chars().count();
            Some(WrittenRange { bytes: start..end, chars })
        });
        ranges.collect()
    }
}

impl ComparedWords {
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The words from `at` on.
    pub(super) fn from(&self, at: usize) -> impl Iterator<Item = &str> {
        let words = self.words.get(at..).unwrap_or_default();
        words.iter().map(|word| &self.text[word.clone()])
    }

    /// How many words from `at` on are equal to those of `other` from `other_at` on.
    pub(super) fn common(&self, at: usize, other: &Self, other_at: usize) -> usize {
        self.from(at).zip(other.from(other_at)).take_while(|(a, b)| a == b).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_text_as_it_is_written() {
        let rule = WordComparison::of(&ShingleRule::default());
        let text = "İİ, naïve\r\n„Worte“ 語学 end";
        let compared = rule.compared(text);
        assert_eq!(compared.from(1).take(2).collect::<Vec<_>>(), ["naïve", "worte"]);
        assert_eq!(compared.len(), 6);
        let written = rule.written(text, &[0..1, 1..3, 4..6]);
        let parts: Vec<&str> = written.iter().map(|range| &text[range.bytes.clone()]).collect();
        assert_eq!(parts, ["İİ", "naïve\r\n„Worte", "学 end"]);
        for range in written {
            let chars = text.chars().skip(range.chars.start).take(range.chars.len());
            assert_eq!(chars.collect::<String>(), text[range.bytes]);
        }
    }
}
