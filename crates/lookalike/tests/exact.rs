//! Runs that miss no pair: what they find is what comparing all with all finds, for both measures,
//! any threshold and any kind of shingle, on drawn collections and on real ones.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

mod collection;

use collection::{Drawn, check, data, find_in, truth};
use lookalike::core::params::{Case, Measure, ShingleRule, TokenRule, Unit, Wishes};
use proptest::prelude::*;

fn rules() -> impl Strategy<Value = ShingleRule> {
    let words = (1usize..=6).prop_map(|size| (Unit::Words, size));
    let chars = (1usize..=9).prop_map(|size| (Unit::Chars, size));
    let bytes = (3usize..=6).prop_map(|size| (Unit::Bytes, size));
    (prop_oneof![3 => words, 1 => chars, 1 => bytes], any::<bool>()).prop_map(|(unit, frequent)| {
        ShingleRule::new(unit.0, unit.1).unwrap().with_frequencies(frequent)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn an_exact_run_finds_what_comparing_all_with_all_finds(
        seed: u64, shingle in rules(), tenths in 1u32..=20, vocabulary in 3u64..400,
        threads in 1usize..=5, containment: bool, pairs: bool,
    ) {
        let threshold = f64::from(tenths) / 20.0;
        let measure = if containment { Measure::Containment } else { Measure::Jaccard };
        let wishes = Wishes { shingle, threshold, measure, exact: true, ..Wishes::default() };
        check(&Drawn { documents: 120, vocabulary, seed }, &wishes, threads, pairs);
    }
}

/// The pairs of a truth file are all found, and nothing else.
fn all_of(set: &str, file: &str, shingle: ShingleRule, threshold: f64) {
    let Some(data) = data() else { return };
    let folder = data.join(set);
    let expected = truth(&folder, file, threshold);
    let input = ["docs.jsonl.gz", "corpus_3000.jsonl.gz"].map(|name| folder.join(name));
    let input = input.iter().find(|path| path.exists()).unwrap();
    let wishes = Wishes { shingle, threshold, exact: true, ..Wishes::default() };
    let found = find_in(input, &wishes);
    eprintln!("{set} {file} at {threshold}: {} pairs", expected.len());
    assert!(!expected.is_empty() && found == expected, "{set} {file} at {threshold}");
}

/// At the default threshold and at the least that the truth files go down to.
fn set(set: &str) {
    let words = |size| ShingleRule::new(Unit::Words, size).unwrap();
    let white = |size| words(size).with_tokens(TokenRule::Whitespace);
    for threshold in [0.8, 0.5] {
        all_of(set, "truth.w3.csv", white(3).with_case(Case::Keep), threshold);
        all_of(set, "truth.w5.csv", white(5).with_case(Case::Keep), threshold);
        all_of(set, "truth.w5-lower.csv", white(5), threshold);
        let runs = words(5).with_tokens(TokenRule::WordRuns);
        all_of(set, "truth.w5-lower-words.csv", runs, threshold);
    }
}

#[test]
fn all_of_reuters() {
    set("reuters");
}

#[test]
fn all_of_the_mail() {
    set("mail");
}

#[test]
fn all_of_the_newsgroups() {
    set("newsgroups");
}

#[test]
fn all_of_the_code() {
    set("code");
}

#[test]
fn all_of_the_generated_documents() {
    let rule = ShingleRule::new(Unit::Words, 5).unwrap();
    let rule = rule.with_tokens(TokenRule::Whitespace).with_case(Case::Keep);
    for threshold in [0.8, 0.5] {
        all_of("generated", "corpus_3000.truth.csv", rule.clone(), threshold);
    }
}
