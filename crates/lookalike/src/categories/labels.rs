//! The most characteristic words of a category.

use super::fixed_log::log2;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// The most words of a label.
pub(super) const MAX_LABEL_WORDS: usize = 5;
/// The longest word of a label, in bytes.
pub(super) const MAX_WORD_BYTES: usize = 40;

/// The number of documents of a sample that contain each word.
pub(super) struct WordCounts {
    pub(super) documents: u32,
    pub(super) words: HashMap<u64, u32>,
}

impl WordCounts {
    /// Counts the words of documents.
    pub(super) fn of<'a>(documents: impl Iterator<Item = &'a [u64]>) -> Self {
        let mut counts = Self { documents: 0, words: HashMap::new() };
        for words in documents {
            counts.documents += 1;
            for word in words {
                *counts.words.entry(*word).or_default() += 1;
            }
        }
        counts
    }
}

/// The words of a sample that labels can use.
pub(super) struct LabelWords<'a> {
    pub(super) all: &'a WordCounts,
    /// The words that may be in a label.
    pub(super) names: &'a HashMap<u64, Box<str>>,
    /// Hashes of function words.
    pub(super) function_words: &'a HashSet<u64>,
}

/// The suitability of a word for a label. A label consists of the words with the best suitability
/// that any word has, so it is empty only if no word is a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Suitability {
    /// More frequent in the category than elsewhere.
    Telling,
    /// Not more frequent in the category than elsewhere.
    Common,
    /// In the label of a parent category.
    Repeated,
    /// A function word, a number, or one or two Latin letters.
    Bare,
}

impl LabelWords<'_> {
    /// Returns the words that distinguish the documents of a category (`own`) from all others of
    /// the sample, the most distinctive first. `parent_labels` contains the labels of the parent
    /// categories.
    ///
    /// A word in a share p of the category's documents and a share q of the others has the weight p
    /// · log₂(p / q), its part of the divergence between them. Ties are resolved by word.
    pub(super) fn label(&self, own: &WordCounts, parent_labels: &[String]) -> Vec<String> {
        let other_documents = u64::from(self.all.documents - own.documents.min(self.all.documents));
        let divergence = |hash: &u64, count: u32| {
            let everywhere = self.all.words.get(hash).copied().unwrap_or(count);
            let elsewhere = everywhere.saturating_sub(count);
            // Count half a document more among the others, to avoid a division by zero.
            let ratio = log2(
                2 * u64::from(count) * (other_documents + 1),
                (2 * u64::from(elsewhere) + 1) * u64::from(own.documents),
            );
            ratio * i64::from(count)
        };
        let named = own.words.iter().filter_map(|(hash, count)| {
            let name = self.names.get(hash)?.as_ref();
            let value = divergence(hash, *count);
            let suitability = if !is_telling(name) || self.function_words.contains(hash) {
                Suitability::Bare
            } else if parent_labels.iter().any(|other| other == name) {
                Suitability::Repeated
            } else if value > 0 {
                Suitability::Telling
            } else {
                Suitability::Common
            };
            Some((suitability, Reverse(value), name))
        });
        let mut words: Vec<_> = named.collect();
        words.sort_unstable();
        let Some((best, ..)) = words.first().copied() else { return Vec::new() };
        let suitable = words.into_iter().take_while(|(suitability, ..)| *suitability == best);
        suitable.take(MAX_LABEL_WORDS).map(|(.., word)| word.to_owned()).collect()
    }
}

/// Whether a word can be in a label if all better words are missing.
pub(super) fn is_name(word: &str) -> bool {
    word.len() <= MAX_WORD_BYTES
}

/// Whether a word can have a meaning: neither a number nor one or two Latin letters.
fn is_telling(word: &str) -> bool {
    let is_short = word.is_ascii() && word.len() < 3;
    word.starts_with(char::is_alphabetic) && !is_short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_prefer_distinctive_words() {
        let names = ["the", "cat", "dog", "bird"];
        let names: HashMap<u64, Box<str>> = (0..).zip(names.map(Box::from)).collect();
        let cats: [&[u64]; 3] = [&[0, 1], &[0, 1, 3], &[0, 1, 9]];
        let dogs: [&[u64]; 3] = [&[0, 2], &[0, 2, 3], &[0, 1, 2]];
        let all = WordCounts::of(cats.into_iter().chain(dogs));
        let function_words = HashSet::from([0]);
        let words = LabelWords { all: &all, names: &names, function_words: &function_words };
        let label = |own: [&[u64]; 3], parent_labels: &[String]| {
            words.label(&WordCounts::of(own.into_iter()), parent_labels)
        };
        assert_eq!(label(cats, &[])[0], "cat");
        assert_eq!(label(dogs, &[])[0], "dog");
        assert!(!label(dogs, &["dog".to_owned()]).contains(&"dog".to_owned()));
        assert!(!label(cats, &[]).contains(&"dog".to_owned()));
    }

    #[test]
    fn labels_fall_back_to_common_words() {
        let names = ["the", "cat", "17"];
        let names: HashMap<u64, Box<str>> = (0..).zip(names.map(Box::from)).collect();
        let all = WordCounts::of([[0, 1, 2].as_slice(), &[0, 1], &[0]].into_iter());
        let function_words = HashSet::from([0]);
        let words = LabelWords { all: &all, names: &names, function_words: &function_words };
        let label = |own: &[u64], parent_labels: &[String]| {
            words.label(&WordCounts::of(std::iter::once(own)), parent_labels)
        };
        // As frequent elsewhere, and in the label above.
        assert_eq!(label(&[0, 1, 2], &[]), ["cat"]);
        assert_eq!(label(&[0, 1], &["cat".to_owned()]), ["cat"]);
        // Function words and numbers alone.
        assert_eq!(label(&[0], &[]), ["the"]);
        assert_eq!(label(&[2], &[]), ["17"]);
        assert!(label(&[9], &[]).is_empty());
    }

    #[test]
    fn numbers_and_letters_are_not_labels() {
        let words = ["apple", "é", "語", "17", "4th", "x", "of", "the"];
        let kept: Vec<_> = words.into_iter().filter(|word| is_telling(word)).collect();
        assert_eq!(kept, ["apple", "é", "語", "the"]);
        assert!(!is_name(&"a".repeat(MAX_WORD_BYTES + 1)));
    }
}
