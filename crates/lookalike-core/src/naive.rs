//! The true pairs of a small collection, by comparing all with all: the oracle against which the
//! fast stages are tested. Written to be obviously correct, without kernels, hashes of shingles,
//! sorting or filters. Takes O(n²) time, so use it for a few thousand documents at most.

use crate::hash;
use crate::params::{Case, Measure, ShingleRule, TokenRule, Unit};
use crate::text::{self, CharClass};
use crate::verify::Overlap;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Every pair of sets whose similarity in this measure is at least `threshold`, as (earlier, later,
/// overlap), sorted. The numbers are indices of `sets`. Elements may be in any order and repeat.
/// Empty sets are in no pair. Takes O(n² × elements) time.
pub fn all_pairs(sets: &[Vec<u64>], measure: Measure, threshold: f64) -> Vec<(u32, u32, Overlap)> {
    let sets: Vec<HashSet<u64>> = sets.iter().map(|s| s.iter().copied().collect()).collect();
    let mut pairs = Vec::new();
    for (i, a) in sets.iter().enumerate() {
        for (j, b) in sets.iter().enumerate().skip(i + 1) {
            let overlap = Overlap {
                intersection: a.intersection(b).count() as u64,
                left: a.len() as u64,
                right: b.len() as u64,
            };
            if overlap.reaches(measure, threshold) {
                pairs.push((i as u32, j as u32, overlap));
            }
        }
    }
    pairs
}

/// The shingles of a document as the texts of its tokens, without any hashing, by the definition in
/// [`ShingleRule`]. A byte is written as the character with that number. If frequencies count, the
/// c-th occurrence of a shingle, from the second on, has the additional text `c`. Takes O(n × size
/// × log n) time.
///
/// ```
/// use lookalike_core::naive::shingle_strings;
/// use lookalike_core::params::{ShingleRule, Unit};
///
/// let pairs = shingle_strings("abcdabd", &ShingleRule::new(Unit::Chars, 2)?);
/// let pairs: Vec<String> = pairs.iter().map(|shingle| shingle.concat()).collect();
/// assert_eq!(pairs, ["ab", "bc", "bd", "cd", "da"]);
/// # Ok::<(), lookalike_core::error::ParamsError>(())
/// ```
pub fn shingle_strings(text: &str, rule: &ShingleRule) -> BTreeSet<Vec<String>> {
    let tokens = token_strings(text, rule);
    let mut shingles: Vec<Vec<String>> = tokens.windows(rule.size()).map(<[_]>::to_vec).collect();
    if shingles.is_empty() && !tokens.is_empty() {
        shingles.push(tokens);
    }
    let mut counts: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    let mut set = BTreeSet::new();
    for mut shingle in shingles {
        let count = counts.entry(shingle.clone()).or_insert(0);
        *count += 1;
        if rule.frequencies() && *count > 1 {
            shingle.push(count.to_string());
        }
        set.insert(shingle);
    }
    set
}

/// The tokens of a document in order, including repeats, without stop words.
pub fn token_strings(text: &str, rule: &ShingleRule) -> Vec<String> {
    let text = match rule.case() {
        Case::Fold => text.to_lowercase(),
        Case::Keep => text.to_owned(),
    };
    match rule.unit() {
        Unit::Bytes => text.bytes().map(|byte| char::from(byte).to_string()).collect(),
        Unit::Chars => {
            let pieces: Vec<&str> =
                text.split(text::is_white_space).filter(|piece| !piece.is_empty()).collect();
            pieces.join(" ").chars().map(String::from).collect()
        }
        Unit::Words => {
            let mut words = words(&text, rule.tokens());
            if let Some(stop) = rule.stop_words() {
                words.retain(|word| !stop.contains(hash::token_hash(word.as_bytes())));
            }
            words
        }
    }
}

fn words(text: &str, rule: TokenRule) -> Vec<String> {
    // A separator closes a word by starting an empty one; empty words are removed.
    let mut words = vec![String::new()];
    for c in text.chars() {
        let class = match rule {
            TokenRule::Whitespace if text::is_white_space(c) => CharClass::Separator,
            TokenRule::Whitespace => CharClass::Word,
            TokenRule::Words | TokenRule::WordRuns => text::class(c),
        };
        match (class, rule) {
            (CharClass::Separator, _) => words.push(String::new()),
            (CharClass::Unspaced, TokenRule::Words) => {
                words.push(c.to_string());
                words.push(String::new());
            }
            (CharClass::Word | CharClass::Unspaced, _) => {
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::StopWords;

    fn shingles(text: &str, rule: &ShingleRule) -> Vec<String> {
        shingle_strings(text, rule).iter().map(|s| s.join(" ")).collect()
    }

    fn words(size: usize) -> ShingleRule {
        ShingleRule::new(Unit::Words, size).unwrap()
    }

    #[test]
    fn naive_pairs_include_the_threshold() {
        let sets = [vec![5, 4, 3, 2, 1, 1], vec![1, 3, 4], vec![], vec![], vec![1, 2, 3, 4, 6]];
        let found = all_pairs(&sets, Measure::Jaccard, 0.6);
        let overlap = Overlap { intersection: 3, left: 5, right: 3 };
        let other = Overlap { intersection: 4, left: 5, right: 5 };
        let last = Overlap { intersection: 3, left: 3, right: 5 };
        assert_eq!(found, [(0, 1, overlap), (0, 4, other), (1, 4, last)]);
        assert_eq!(all_pairs(&sets, Measure::Jaccard, 0.65), [(0, 4, other)]);
        let contained = all_pairs(&sets, Measure::Containment, 1.0);
        assert_eq!(contained, [(0, 1, overlap), (1, 4, last)]);
        assert_eq!(all_pairs(&[], Measure::Jaccard, 0.5), []);
    }

    #[test]
    fn s2_fox_sentence_has_five_shingles() {
        let fox = "The quick brown fox jumps over the lazy dog";
        assert_eq!(shingles(fox, &words(5)).len(), 5);
        assert_eq!(shingles(fox, &words(1)).len(), 8);
        assert_eq!(shingles(fox, &words(1).with_case(Case::Keep)).len(), 9);
    }

    #[test]
    fn s8_word_shingles_keep_style() {
        let found = shingles("It is trivial to show", &words(3));
        assert_eq!(found, ["is trivial to", "it is trivial", "trivial to show"]);
    }

    #[test]
    fn short_documents_are_one_shingle() {
        assert_eq!(shingles("Hello, world!", &words(5)), ["hello world"]);
        assert!(shingle_strings(" … ", &words(5)).is_empty());
        let chars = ShingleRule::new(Unit::Chars, 5).unwrap();
        assert!(shingle_strings(" \t\u{1f}\n", &chars).is_empty());
        assert_eq!(shingle_strings("a  b", &chars).len(), 1);
    }

    #[test]
    fn token_rules_split_differently() {
        let text = "don't 東京x";
        let tokens = |rule| token_strings(text, &words(1).with_tokens(rule));
        assert_eq!(tokens(TokenRule::Words), ["don", "t", "東", "京", "x"]);
        assert_eq!(tokens(TokenRule::WordRuns), ["don", "t", "東京x"]);
        assert_eq!(tokens(TokenRule::Whitespace), ["don't", "東京x"]);
        let bytes = ShingleRule::new(Unit::Bytes, 1).unwrap();
        assert_eq!(token_strings("É", &bytes), ["\u{c3}", "\u{a9}"]);
    }

    #[test]
    fn repeats_and_stop_words() {
        let rule = words(1).with_frequencies(true);
        assert_eq!(shingles("a b a a", &rule), ["a", "a 2", "a 3", "b"]);
        let stop = StopWords::new("en", ["the", "over"]);
        let rule = words(2).with_stop_words(Some(stop));
        assert_eq!(shingles("Over the lazy dog", &rule), ["lazy dog"]);
    }
}
