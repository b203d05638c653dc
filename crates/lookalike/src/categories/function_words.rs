//! Words that labels avoid: the stop words of the languages of a sample.

use super::words::beginning;
use crate::read::{language_of, stop_words};
use std::collections::{BTreeMap, BinaryHeap, HashSet};

/// The number of documents whose languages are detected: those with the smallest ranks.
const DETECTED: usize = 500;
/// The number of bytes of each of these documents to keep for detection.
const DETECTION_BYTES: usize = 2048;
/// A language counts if at least `1 / LEAST_SHARE` of the documents with a detected language are in
/// this language.
const LEAST_SHARE: usize = 50;
/// The language if none is detected, for example by a build without detection.
const DEFAULT_LANGUAGE: &str = "en";

/// The beginnings of some documents of a sample, by which its languages are detected.
#[derive(Debug, Default)]
pub(super) struct LanguageSample {
    /// Beginnings with their ranks, the greatest on top.
    beginnings: BinaryHeap<(u64, Box<str>)>,
}

impl LanguageSample {
    /// Adds a document. The order of calls does not matter.
    pub(super) fn add(&mut self, rank: u64, text: &str) {
        let is_full = self.beginnings.len() == DETECTED;
        if is_full && self.beginnings.peek().is_some_and(|(greatest, _)| rank > *greatest) {
            return;
        }
        self.beginnings.push((rank, beginning(text, DETECTION_BYTES).into()));
        if is_full {
            self.beginnings.pop();
        }
    }

    /// The hashes of the stop words of the languages of the sample.
    pub(super) fn function_words(&self) -> HashSet<u64> {
        let mut counts = BTreeMap::<&str, usize>::new();
        for language in self.beginnings.iter().filter_map(|(_, text)| language_of(text)) {
            *counts.entry(language).or_default() += 1;
        }
        let detected: usize = counts.values().sum();
        counts.retain(|_, count| *count * LEAST_SHARE >= detected);
        if counts.is_empty() {
            counts.insert(DEFAULT_LANGUAGE, 0);
        }
        let lists = counts.into_keys().filter_map(|language| stop_words::stop_words(language).ok());
        lists.flat_map(|list| list.hashes().to_vec()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::hash::token_hash;

    #[test]
    fn languages_without_detection_are_english() {
        let words = LanguageSample::default().function_words();
        assert!(words.contains(&token_hash(b"would")));
        assert!(!words.contains(&token_hash(b"harbour")));
    }

    #[test]
    fn language_sample_ignores_document_order() {
        let mut forward = LanguageSample::default();
        let mut backward = LanguageSample::default();
        let texts = (0..DETECTED as u64 * 2).map(|rank| (rank, format!("text {rank}")));
        texts.clone().for_each(|(rank, text)| forward.add(rank, &text));
        texts.rev().for_each(|(rank, text)| backward.add(rank, &text));
        let sorted = |sample: LanguageSample| sample.beginnings.into_sorted_vec();
        let (forward, backward) = (sorted(forward), sorted(backward));
        assert_eq!(forward.len(), DETECTED);
        assert_eq!(forward, backward);
    }

    #[cfg(feature = "scripts")]
    #[test]
    fn function_words_follow_detected_languages() {
        let mut sample = LanguageSample::default();
        sample.add(1, "Der Kapitän und seine Mannschaft sind gestern in den Hafen eingelaufen.");
        sample.add(2, "Le capitaine et son équipage sont entrés dans le port hier au soir.");
        let words = sample.function_words();
        for word in ["und", "seine", "sont", "dans"] {
            assert!(words.contains(&token_hash(word.as_bytes())), "{word}");
        }
        assert!(!words.contains(&token_hash(b"would")));
    }
}
