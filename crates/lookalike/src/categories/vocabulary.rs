//! Selects the words of a sample that define topics, with their weights.

use super::fixed_log::{ONE, log2};

/// The most words of a vocabulary.
pub(super) const MAX_WORDS: usize = 10_000;
/// The integer that represents 1.0 in the vectors of documents.
const UNIT: u64 = 1 << 16;

/// The place of a word in the vocabulary.
pub(super) type WordPlace = u32;

/// The words that define topics, with their weights.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TopicVocabulary {
    /// Hashes of the words, ascending.
    pub(super) hashes: Vec<u64>,
    /// log₂ of (documents / documents with the word), in units of 1/256.
    pub(super) weights: Vec<u16>,
}

impl TopicVocabulary {
    /// Selects the most frequent of the words that occur in at least two and at most half of the
    /// documents. `counts` has each word with its number of documents. Hashes resolve ties.
    pub(super) fn new(documents: usize, counts: impl Iterator<Item = (u64, u32)>) -> Self {
        let most = (documents / 2).max(2) as u32;
        let mut words: Vec<(u64, u32)> =
            counts.filter(|(_, count)| (2..=most).contains(count)).collect();
        words.sort_unstable_by_key(|(hash, count)| (std::cmp::Reverse(*count), *hash));
        words.truncate(MAX_WORDS);
        words.sort_unstable();
        // A word in half of the documents has the weight 1. The minimum keeps the weight of a word
        // above 0 if the sample has only two documents.
        let weight = |count: u32| log2(documents as u64, count.into()).clamp(ONE / 2, 0xffff);
        Self {
            hashes: words.iter().map(|(hash, _)| *hash).collect(),
            weights: words.iter().map(|(_, count)| weight(*count) as u16).collect(),
        }
    }

    /// Replaces the content of `places` by the places of the words of a set (hashes, ascending).
    pub(super) fn places(&self, words: &[u64], places: &mut Vec<WordPlace>) {
        places.clear();
        let mut from = 0;
        for word in words {
            from += self.hashes[from..].partition_point(|hash| hash < word);
            match self.hashes.get(from) {
                None => return,
                Some(hash) if hash == word => places.push(from as WordPlace),
                Some(_) => {}
            }
        }
    }

    /// The weight of a word.
    pub(super) fn weight(&self, place: WordPlace) -> u64 {
        self.weights[place as usize].into()
    }

    /// Returns the vector of a document with unit length: the weight of each word divided by the
    /// length of the vector, in units of 2⁻¹⁶.
    pub(super) fn unit_vector(&self, places: &[WordPlace]) -> Vec<(WordPlace, u32)> {
        let squares: u64 = places.iter().map(|place| self.weight(*place).pow(2)).sum();
        let length = squares.isqrt().max(1);
        let value = |place: WordPlace| (self.weight(place) * UNIT / length) as u32;
        places.iter().map(|place| (*place, value(*place))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_and_common_words_are_excluded() {
        let counts = [(5, 1), (9, 2), (3, 50), (4, 51), (7, 25)];
        let words = TopicVocabulary::new(100, counts.into_iter());
        assert_eq!(words.hashes, [3, 7, 9]);
        assert_eq!(words.weights, [256, 512, 1444]);
        let mut places = Vec::new();
        words.places(&[1, 3, 4, 9, 11], &mut places);
        assert_eq!(places, [0, 2]);
        assert_eq!(words.unit_vector(&places), [(0, 11_444), (2, 64_552)]);
    }

    #[test]
    fn vocabulary_keeps_most_frequent_words() {
        let counts = (0..MAX_WORDS as u64 + 5).map(|hash| (hash, if hash < 5 { 2 } else { 3 }));
        let words = TopicVocabulary::new(10, counts);
        assert_eq!((words.hashes.len(), words.hashes[0]), (MAX_WORDS, 5));
    }
}
