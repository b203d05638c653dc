//! Properties of every document: the shingles of its set, the changes that its signature ignores,
//! and the equality of the fast and the naive implementation.
#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike_core::band::bucket_keys;
use lookalike_core::kernel::Kernel;
use lookalike_core::naive;
use lookalike_core::params::{Case, Measure, Scheme, ShingleRule, TokenRule, Unit};
use lookalike_core::shingle::Shingler;
use lookalike_core::signature::{Signer, merge};
use lookalike_core::verify::{estimate, overlap};
use proptest::prelude::*;
use std::collections::BTreeSet;

const SCHEMES: [Scheme; 5] = [
    Scheme::FastSimilarity,
    Scheme::MultiplyShift,
    Scheme::ModPrime,
    Scheme::Xor,
    Scheme::XorMultiply,
];

fn rules() -> impl Strategy<Value = ShingleRule> {
    let units = prop_oneof![Just(Unit::Words), Just(Unit::Chars), Just(Unit::Bytes)];
    let tokens =
        prop_oneof![Just(TokenRule::Words), Just(TokenRule::WordRuns), Just(TokenRule::Whitespace)];
    let cases = prop_oneof![Just(Case::Fold), Just(Case::Keep)];
    (units, 1usize..7, tokens, cases, any::<bool>()).prop_map(
        |(unit, size, tokens, case, counts)| {
            let rule = ShingleRule::new(unit, size).unwrap();
            rule.with_tokens(tokens).with_case(case).with_frequencies(counts)
        },
    )
}

/// Generates texts of several scripts with repeated words and odd white space.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => "[a-dA-D]{1,2}",
        1 => "[éÉßΣσςİıŁл]{1,3}",
        1 => "[漢字かナไทย]{1,3}",
        1 => "[0-9_.,'\u{0}-]{1,3}",
        1 => any::<String>(),
    ];
    let odd = "[\n\t\r\u{1c}\u{85}\u{a0}\u{3000}]{1,2}";
    let space = prop_oneof![8 => " ", 1 => odd, 1 => Just(String::new())];
    prop::collection::vec((word, space), 0..60)
        .prop_map(|parts| parts.into_iter().map(|(word, space)| word + &space).collect())
}

fn set(rule: &ShingleRule, text: &str) -> Vec<u64> {
    let mut set = Vec::new();
    Shingler::new(rule).set(text, &mut set);
    set
}

/// Returns the shingles of the naive implementation and their number. With frequencies, a shingle
/// has its count.
fn plain_counts(rule: &ShingleRule, text: &str) -> (usize, BTreeSet<Vec<String>>) {
    let shingles = naive::shingle_strings(text, rule);
    (shingles.len(), shingles)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn sets_equal_naive_sets(rule in rules(), a in text(), b in text()) {
        let rule = rule.with_frequencies(false);
        let (count_a, plain_a) = plain_counts(&rule, &a);
        let (count_b, plain_b) = plain_counts(&rule, &b);
        let found = overlap(&set(&rule, &a), &set(&rule, &b));
        prop_assert_eq!((found.left, found.right), (count_a as u64, count_b as u64));
        let shared = plain_a.intersection(&plain_b).count() as u64;
        prop_assert_eq!(found.intersection, shared);
    }

    #[test]
    fn set_hashes_extend_shingle_hashes(rule in rules(), text in text()) {
        let set = set(&rule, &text);
        let mut shingler = Shingler::new(&rule);
        let seen: BTreeSet<u32> = shingler.shingle(&text).hashes.iter().copied().collect();
        let upper: BTreeSet<u32> = set.iter().map(|h| (h >> 32) as u32).collect();
        prop_assert_eq!(seen, upper);
        let first = shingler.shingle(&text).fingerprint;
        prop_assert_eq!(shingler.set(&text, &mut Vec::new()), first);
    }

    #[test]
    fn order_and_repeats_do_not_matter(mut shingles in prop::collection::vec(any::<u32>(), 1..400),
                                       rotate in any::<prop::sample::Index>(), scheme in 0usize..5,
                                       num_hashes in prop_oneof![Just(128usize), 1usize..300]) {
        let mut signer = Signer::new(SCHEMES[scheme], num_hashes, 9);
        let signature = signer.sign(&shingles).to_vec();
        let repeated = shingles[..rotate.index(shingles.len())].to_vec();
        shingles.reverse();
        let middle = rotate.index(shingles.len());
        shingles.rotate_left(middle);
        shingles.extend(repeated);
        prop_assert_eq!(signer.sign(&shingles), &signature[..]);
    }

    #[test]
    fn merging_is_union(a in prop::collection::vec(any::<u32>(), 0..300),
                        b in prop::collection::vec(any::<u32>(), 0..300), scheme in 0usize..5) {
        let mut signer = Signer::new(SCHEMES[scheme], 100, 4);
        let mut merged = signer.sign(&a).to_vec();
        merge(&mut merged, signer.sign(&b));
        let union: Vec<u32> = a.iter().chain(&b).copied().collect();
        prop_assert_eq!(signer.sign(&union), &merged[..]);
    }

    #[test]
    fn kernels_agree_on_random_documents(rule in rules(), text in text()) {
        let mut expected = None;
        for kernel in Kernel::available() {
            let mut shingler = Shingler::with_kernel(&rule, kernel);
            let mut set = Vec::new();
            let fingerprint = shingler.set(&text, &mut set);
            let mut signer = Signer::with_kernel(Scheme::FastSimilarity, 128, 1, kernel);
            let signature = signer.sign(shingler.shingle(&text).hashes).to_vec();
            let mut keys = [0; 21];
            bucket_keys(&signature, 6, &mut keys);
            let got = (fingerprint, set, signature, keys);
            prop_assert_eq!(expected.get_or_insert_with(|| got.clone()), &got, "{}", kernel);
        }
    }

    #[test]
    fn overlap_is_symmetric_and_reflexive(rule in rules(), a in text(), b in text()) {
        let (a, b) = (set(&rule, &a), set(&rule, &b));
        prop_assert_eq!(overlap(&a, &b), overlap(&b, &a).swapped());
        if !a.is_empty() {
            prop_assert!(overlap(&a, &a).reaches(Measure::Jaccard, 1.0));
            prop_assert!((overlap(&a, &a).containment_left() - 1.0).abs() < f64::EPSILON);
        }
    }

    #[test]
    fn equal_sets_have_equal_signatures(rule in rules(), text in text(), scheme in 0usize..5) {
        let mut shingler = Shingler::new(&rule);
        let mut signer = Signer::new(SCHEMES[scheme], 64, 2);
        let first = signer.sign(shingler.shingle(&text).hashes).to_vec();
        let twice = format!("{text} {text}");
        let second = signer.sign(shingler.shingle(&twice).hashes).to_vec();
        if set(&rule, &text) == set(&rule, &twice) && !set(&rule, &text).is_empty() {
            prop_assert!((estimate(&first, &second) - 1.0).abs() < f64::EPSILON);
        }
    }
}
