//! The words of a text in the form for comparisons.

use lookalike_core::hash::mix64;
use lookalike_core::params::{Case, ShingleRule, TokenRule};
use lookalike_core::text::{lower_case, word_ranges};
use std::ops::Range;
use std::sync::Arc;

/// The rule by which words are equal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordRule {
    tokens: TokenRule,
    case: Case,
}

/// The words of one text in the form for comparisons.
#[derive(Debug)]
pub(crate) struct ComparedWords {
    text: String,
    words: Arc<Vec<Range<u32>>>,
    /// Whether they are all words of the text.
    is_whole: bool,
}

impl WordRule {
    /// Returns the rule with the tokens and the case of a shingle rule.
    pub(crate) fn of(rule: &ShingleRule) -> Self {
        Self { tokens: rule.tokens(), case: rule.case() }
    }

    /// Returns the words of a text.
    pub(crate) fn words(self, text: &str) -> ComparedWords {
        let text = match self.case {
            Case::Fold => lower_case(text),
            Case::Keep => text.to_owned(),
        };
        let words = word_ranges(&text, self.tokens);
        let words: Vec<_> = words.map(|word| word.start as u32..word.end as u32).collect();
        ComparedWords { text, words: Arc::new(words), is_whole: true }
    }

    /// Iterates over the ranges of the words in `text`, without changing its case.
    pub(crate) fn ranges(self, text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
        word_ranges(text, self.tokens)
    }
}

impl ComparedWords {
    /// Returns the words whose ranges `select` returns.
    pub(crate) fn select(
        self,
        select: impl FnOnce(Vec<Range<u32>>) -> Vec<Range<u32>>,
    ) -> ComparedWords {
        let count = self.words.len();
        let words = select(Arc::unwrap_or_clone(self.words));
        let is_whole = self.is_whole && words.len() == count;
        Self { text: self.text, words: Arc::new(words), is_whole }
    }

    /// The ranges of the words in the compared form of the text, in bytes.
    pub(super) fn ranges(&self) -> &Arc<Vec<Range<u32>>> {
        &self.words
    }

    /// Bytes of memory.
    pub(crate) fn held_bytes(&self) -> usize {
        self.text.capacity() + self.words.capacity() * size_of::<Range<u32>>()
    }

    /// The number of words.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    fn run(&self, words: Range<usize>) -> Option<impl Iterator<Item = &str>> {
        let words = self.words.get(words)?;
        Some(words.iter().map(|word| &self.text[word.start as usize..word.end as usize]))
    }

    /// Whether `count` words from `at` on equal the words of `other` from `other_at` on.
    pub(crate) fn equal(&self, at: usize, other: &Self, other_at: usize, count: usize) -> bool {
        match (self.run(at..at + count), other.run(other_at..other_at + count)) {
            (Some(a), Some(b)) => self.is_same_text(at, other, other_at, count) || a.eq(b),
            _ => false,
        }
    }

    /// Whether the text from the first to the last of `count` words is the same in both, and
    /// neither side lacks words of its text. If so, the words are equal.
    fn is_same_text(&self, at: usize, other: &Self, other_at: usize, count: usize) -> bool {
        let part = |words: &'_ Self, at: usize| {
            let run = &words.words[at..at + count];
            let range = run.first()?.start as usize..run.last()?.end as usize;
            words.is_whole.then_some(range)
        };
        let (Some(a), Some(b)) = (part(self, at), part(other, other_at)) else { return false };
        self.text.as_bytes()[a] == other.text.as_bytes()[b]
    }

    /// The number of words from `at` on that equal the words of `other` from `other_at` on.
    pub(crate) fn common(&self, at: usize, other: &Self, other_at: usize) -> usize {
        match (self.run(at..self.len()), other.run(other_at..other.len())) {
            (Some(a), Some(b)) => a.zip(b).take_while(|(a, b)| a == b).count(),
            _ => 0,
        }
    }

    /// Hashes the words with a function selected by `seed`. Replaces the content of `out`.
    pub(crate) fn hashes(&self, seed: u64, out: &mut Vec<u64>) {
        out.clear();
        out.extend(self.run(0..self.len()).into_iter().flatten().map(|word| {
            let start = mix64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word.len() as u64);
            word.as_bytes().chunks(8).fold(start, |hash, bytes| {
                let mut eight = [0; 8];
                eight[..bytes.len()].copy_from_slice(bytes);
                mix64(hash.rotate_left(17) ^ u64::from_le_bytes(eight))
            })
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Normalization;
    use crate::words::{Spans, TextSpan};

    #[test]
    fn spans_refer_to_the_written_text() {
        let rule = WordRule::of(&ShingleRule::default());
        let text = "İİ, naïve\r\n„Worte“ 語学 end";
        let compared = rule.words(text);
        assert_eq!(compared.run(1..3).unwrap().collect::<Vec<_>>(), ["naïve", "worte"]);
        assert_eq!(compared.len(), 6);
        let spans = Spans::of(text, rule, Normalization::default()).unwrap();
        for (at, count, part) in [(4, 2, "学 end"), (0, 1, "İİ"), (1, 2, "naïve\r\n„Worte")] {
            let TextSpan { bytes, chars } = spans.span(at, count).unwrap();
            assert_eq!(&text[bytes.start as usize..bytes.end as usize], part);
            let chars = text.chars().skip(chars.start as usize).take(part.chars().count());
            assert_eq!(chars.collect::<String>(), part);
        }
        assert_eq!(spans.span(5, 2), None);
    }
}
