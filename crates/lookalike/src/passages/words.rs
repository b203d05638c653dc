//! The words of a document, to be compared and to be found in its text.

use super::cuts::TokenCuts;
use lookalike_core::hash::mix64;
use lookalike_core::params::{Case, ShingleRule, TokenRule};
use lookalike_core::passage::maximal::TokenRange;
use lookalike_core::text::{lower_case, word_ranges};
use std::ops::Range;

/// Which words are equal.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordRule {
    tokens: TokenRule,
    case: Case,
}

/// The words of one document, as they are compared.
pub(super) struct DocumentWords {
    text: String,
    words: Vec<Range<u32>>,
}

impl WordRule {
    pub(super) fn of(rule: &ShingleRule) -> Self {
        Self { tokens: rule.tokens(), case: rule.case() }
    }

    /// The words of a text without those of `cuts`.
    pub(super) fn words(self, text: &str, cuts: &[TokenRange]) -> DocumentWords {
        let text = match self.case {
            Case::Fold => lower_case(text),
            Case::Keep => text.to_owned(),
        };
        let words = word_ranges(&text, self.tokens);
        let words = words.map(|word| word.start as u32..word.end as u32).collect();
        let words = TokenCuts::without(cuts, words);
        DocumentWords { text, words }
    }

    /// Where the words are in a text that is in no other form.
    pub(super) fn ranges(self, text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
        word_ranges(text, self.tokens)
    }
}

impl DocumentWords {
    /// Bytes of memory.
    pub(super) fn held(&self) -> usize {
        self.text.capacity() + self.words.capacity() * size_of::<Range<u32>>()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    fn run(&self, at: usize, count: usize) -> Option<impl Iterator<Item = &str>> {
        let words = self.words.get(at..at.checked_add(count)?)?;
        Some(words.iter().map(|word| &self.text[word.start as usize..word.end as usize]))
    }

    /// Whether `count` words from `at` on are equal to those of `other` from `other_at` on.
    pub(super) fn equal(&self, at: usize, other: &Self, other_at: usize, count: usize) -> bool {
        match (self.run(at, count), other.run(other_at, count)) {
            (Some(a), Some(b)) => a.eq(b),
            _ => false,
        }
    }

    /// Hashes of the words by a function of `seed`, in place of those of shingles.
    pub(super) fn hashes(&self, seed: u64, out: &mut Vec<u64>) {
        out.clear();
        out.extend(self.run(0, self.len()).into_iter().flatten().map(|word| {
            let start = mix64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word.len() as u64);
            word.as_bytes().chunks(8).fold(start, |hash, bytes| {
                let mut eight = [0; 8];
                eight[..bytes.len()].copy_from_slice(bytes);
                mix64(hash.rotate_left(17) ^ u64::from_le_bytes(eight))
            })
        }));
    }
}
