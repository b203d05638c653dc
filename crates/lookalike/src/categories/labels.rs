//! The most telling words of a category.

use super::fixed_log::log2;
use std::cmp::Reverse;
use std::collections::HashMap;

/// The most words of a label.
pub(super) const MAX_LABEL_WORDS: usize = 5;
/// The longest word of a label, in bytes.
pub(super) const MAX_WORD_BYTES: usize = 40;

/// In how many documents of a sample each word is.
pub(super) struct WordCounts {
    pub(super) documents: u32,
    pub(super) words: HashMap<u64, u32>,
}

impl WordCounts {
    /// Those of documents, each its words.
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

    /// The words that tell documents of a category (`self`) from all others of a sample (`all`),
    /// the most telling first, but for those of `except`. Only words of `names` are considered.
    ///
    /// A word in a share p of the category's documents and a share q of the others counts
    /// p · log₂(p / q), its part of the divergence of both; ties go by word.
    pub(super) fn label(
        &self,
        all: &Self,
        names: &HashMap<u64, Box<str>>,
        except: &[String],
    ) -> Vec<String> {
        let others = u64::from(all.documents - self.documents.min(all.documents));
        let telling = |hash: &u64, count: u32| {
            let elsewhere = all.words.get(hash).copied().unwrap_or(count).saturating_sub(count);
            // Half a document more among the others, so that none is divided by zero.
            let ratio = log2(
                2 * u64::from(count) * (others + 1),
                (2 * u64::from(elsewhere) + 1) * u64::from(self.documents),
            );
            ratio * i64::from(count)
        };
        let named = self.words.iter().filter_map(|(hash, count)| {
            let name = names.get(hash)?;
            Some((telling(hash, *count), name.as_ref()))
        });
        let mut words: Vec<(i64, &str)> = named
            .filter(|(value, word)| *value > 0 && !except.iter().any(|other| other == word))
            .collect();
        words.sort_unstable_by_key(|(value, word)| (Reverse(*value), *word));
        words.truncate(MAX_LABEL_WORDS);
        words.into_iter().map(|(_, word)| word.to_owned()).collect()
    }
}

/// Whether a word can be in a label: no number, no single Latin letter or pair of them, none that
/// is very long.
pub(super) fn is_telling(word: &str) -> bool {
    let is_short = word.is_ascii() && word.len() < 3;
    word.starts_with(char::is_alphabetic) && !is_short && word.len() <= MAX_WORD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_others_do_not_have_come_first() {
        let names = ["the", "cat", "dog", "bird"];
        let names: HashMap<u64, Box<str>> = (0..).zip(names.map(Box::from)).collect();
        let cats: [&[u64]; 3] = [&[0, 1], &[0, 1, 3], &[0, 1, 9]];
        let dogs: [&[u64]; 3] = [&[0, 2], &[0, 2, 3], &[0, 1, 2]];
        let all = WordCounts::of(cats.into_iter().chain(dogs));
        let label = |own: [&[u64]; 3], except: &[String]| {
            WordCounts::of(own.into_iter()).label(&all, &names, except)
        };
        assert_eq!(label(cats, &[])[0], "cat");
        assert_eq!(label(dogs, &[])[0], "dog");
        assert!(!label(dogs, &["dog".to_owned()]).contains(&"dog".to_owned()));
        assert!(!label(cats, &[]).contains(&"dog".to_owned()));
    }

    #[test]
    fn numbers_and_letters_are_no_labels() {
        let words = ["apple", "é", "語", "17", "4th", "x", "of", "the"];
        let kept: Vec<_> = words.into_iter().filter(|word| is_telling(word)).collect();
        assert_eq!(kept, ["apple", "é", "語", "the"]);
        assert!(!is_telling(&"a".repeat(MAX_WORD_BYTES + 1)));
    }
}
