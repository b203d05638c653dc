//! A text → its distinct words, as categories compare them.

use lookalike_core::hash::token_hash;
use lookalike_core::params::TokenRule;
use lookalike_core::text::{lower_case, word_ranges};

/// Bytes of a text that are read; the rest of a longer text is ignored. It bounds the time and
/// memory that one document takes.
pub(super) const MAX_TEXT: usize = 64 << 10;

/// Gives the words of a text in order, lower-cased, with their hashes. They do not depend on how an
/// index cuts shingles.
pub(super) fn each_word(text: &str, mut each: impl FnMut(u64, &str)) {
    let text = lower_case(beginning(text, MAX_TEXT));
    for word in word_ranges(&text, TokenRule::Words) {
        let word = &text[word];
        each(token_hash(word.as_bytes()), word);
    }
}

/// The hashes of the distinct words of a text, ascending, into `hashes`, which is cleared.
pub(super) fn word_set(text: &str, hashes: &mut Vec<u64>) {
    hashes.clear();
    each_word(text, |hash, _| hashes.push(hash));
    hashes.sort_unstable();
    hashes.dedup();
}

/// At most the first `bytes` bytes, without a character that would be cut.
pub(super) fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_distinct_and_in_lower_case() {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        word_set("The cat, the CAT; a dog", &mut one);
        word_set("dog a cat the", &mut other);
        assert_eq!((one.len(), &one), (4, &other));
        word_set("", &mut one);
        assert!(one.is_empty());
    }

    #[test]
    fn of_a_long_text_the_beginning_counts() {
        let long = format!("{}é end", "a".repeat(MAX_TEXT - 1));
        assert_eq!(beginning(&long, MAX_TEXT).len(), MAX_TEXT - 1);
        let mut words = Vec::new();
        word_set(&long, &mut words);
        assert_eq!(words.len(), 1);
    }
}
