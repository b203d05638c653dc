//! Extracts the distinct words of a text that categories compare.

use lookalike_core::hash::token_hash;
use lookalike_core::params::TokenRule;
use lookalike_core::text::{lower_case, word_ranges};

/// Bytes of a text to read. The rest of a longer text is ignored, which limits the time and memory
/// for one document.
pub(super) const MAX_TEXT: usize = 64 << 10;

/// Calls `each` with the words of a text in order, in lower case, with their hashes. The words do
/// not depend on the shingles of an index.
pub(super) fn each_word(text: &str, mut each: impl FnMut(u64, &str)) {
    let text = lower_case(beginning(text, MAX_TEXT));
    for word in word_ranges(&text, TokenRule::Words) {
        let word = &text[word];
        each(token_hash(word.as_bytes()), word);
    }
}

/// Replaces the content of `hashes` by the hashes of the distinct words of a text, ascending.
pub(super) fn word_set(text: &str, hashes: &mut Vec<u64>) {
    hashes.clear();
    each_word(text, |hash, _| hashes.push(hash));
    hashes.sort_unstable();
    hashes.dedup();
}

/// Returns at most the first `bytes` bytes, and does not cut a character.
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
    fn word_sets_are_distinct_and_lowercase() {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        word_set("The cat, the CAT; a dog", &mut one);
        word_set("dog a cat the", &mut other);
        assert_eq!((one.len(), &one), (4, &other));
        word_set("", &mut one);
        assert!(one.is_empty());
    }

    #[test]
    fn long_texts_use_their_beginning() {
        let long = format!("{}é end", "a".repeat(MAX_TEXT - 1));
        assert_eq!(beginning(&long, MAX_TEXT).len(), MAX_TEXT - 1);
        let mut words = Vec::new();
        word_set(&long, &mut words);
        assert_eq!(words.len(), 1);
    }
}
