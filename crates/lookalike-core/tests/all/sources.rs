//! Worked examples of the source texts of this project, named S1 to S11.
//!
//! *MinHash for dummies* (2013): S1, S2, S3. Grattan's C# posts (2014): S4, S5. McCormick's
//! tutorial (2015): S6; his background page: S7, S8. Leskovec, Rajaraman, Ullman, *Mining of
//! Massive Datasets*, ch. 3: S9, S10, S11.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test")]

use lookalike_core::band::bucket_keys;
use lookalike_core::candidate::BandIndex;
use lookalike_core::curve::{candidate_probability, midpoint, steepest};
use lookalike_core::hash::{SplitMix64, mix64};
use lookalike_core::params::{Case, Scheme, ShingleRule, Unit};
use lookalike_core::shingle::Shingler;
use lookalike_core::signature::Signer;
use lookalike_core::verify::{estimate, overlap};

fn set(rule: &ShingleRule, text: &str) -> Vec<u64> {
    let mut set = Vec::new();
    Shingler::new(rule).set(text, &mut set);
    set
}

fn words(size: usize) -> ShingleRule {
    ShingleRule::new(Unit::Words, size).unwrap()
}

fn jaccard(rule: &ShingleRule, a: &str, b: &str) -> f64 {
    overlap(&set(rule, a), &set(rule, b)).jaccard()
}

/// Hashes numbers to a sorted set of shingles.
fn numbers(values: &[u64]) -> Vec<u64> {
    let mut set: Vec<u64> = values.iter().copied().map(mix64).collect();
    set.sort_unstable();
    set.dedup();
    set
}

fn upper(set: &[u64]) -> Vec<u32> {
    set.iter().map(|h| (h >> 32) as u32).collect()
}

#[test]
fn s1_jaccard_of_a_furnished_room() {
    assert_eq!(jaccard(&words(1), "chair desk rug keyboard mouse", "chair rug keyboard"), 0.6);
}

#[test]
fn s2_nine_words_have_five_shingles() {
    let fox = "The quick brown fox jumps over the lazy dog";
    assert_eq!(set(&words(5), fox).len(), 5);
    for k in 1..=9 {
        let shingles = Shingler::new(&words(k)).shingle(fox).hashes.len();
        assert_eq!(shingles, 9 - k + 1);
    }
}

#[test]
fn s3_shared_bands_make_candidates() {
    // Five bands of four rows. Documents one and three agree in band one, and document two agrees
    // with no other.
    let one = [1, 3, 6, 0, 5, 1, 9, 2, 7, 7, 0, 4, 8, 2, 2, 6, 3, 9, 1, 5];
    let two = [2, 3, 1, 0, 4, 1, 9, 3, 7, 6, 0, 4, 8, 2, 1, 6, 3, 9, 0, 5];
    let three = [1, 3, 6, 0, 2, 2, 8, 8, 1, 0, 3, 3, 5, 5, 9, 1, 6, 4, 4, 7];
    let mut keys = Vec::new();
    for signature in [one, two, three] {
        let start = keys.len();
        keys.resize(start + 5, 0);
        bucket_keys(&signature, 4, &mut keys[start..]);
    }
    let index = BandIndex::build(&keys, 5);
    let mut found = Vec::new();
    index.candidates(&keys[..5], &mut found);
    assert_eq!(found, [0, 2]);
    index.candidates(&keys[5..10], &mut found);
    assert_eq!(found, [1]);
}

#[test]
fn s4_words_as_numbers() {
    let [a, b, c] = [&[2, 3, 4, 2][..], &[1, 5, 4, 2], &[1]].map(numbers);
    assert_eq!(overlap(&a, &b).jaccard(), 0.4);
    assert_eq!(overlap(&a, &a).jaccard(), 1.0);
    assert_eq!(overlap(&a, &c).jaccard(), 0.0);
}

#[test]
fn s5_hundred_functions_take_400_bytes() {
    let mut signer = Signer::new(Scheme::MultiplyShift, 100, 1);
    let mut shingler = Shingler::new(&words(1));
    for text in ["one", "a rather longer document with several more words in it"] {
        assert_eq!(size_of_val(signer.sign(shingler.shingle(text).hashes)), 400);
    }
}

/// Returns the mean agreement of the signatures of two sets over many seeds, and its maximum error.
fn mean_agreement(scheme: Scheme, values: usize, a: &[u64], b: &[u64]) -> (f64, f64) {
    const SEEDS: u64 = 2_000;
    let (a, b) = (upper(a), upper(b));
    let mut sum = 0.0;
    for seed in 0..SEEDS {
        let mut signer = Signer::new(scheme, values, seed);
        let first = signer.sign(&a).to_vec();
        sum += estimate(&first, signer.sign(&b));
    }
    // Four standard errors of the mean. The bound counts all values of a signature as one value,
    // because they may depend on each other.
    (sum / SEEDS as f64, 4.0 * (0.25 / SEEDS as f64).sqrt())
}

#[test]
fn s6_twenty_components_agree_in_six() {
    let a = numbers(&[32, 3, 22, 6, 15, 11]);
    let b = numbers(&[15, 30, 7, 11, 28, 3, 17]);
    assert_eq!(overlap(&a, &b).jaccard(), 0.3);
    for scheme in [Scheme::ModPrime, Scheme::FastSimilarity, Scheme::MultiplyShift] {
        let (mean, error) = mean_agreement(scheme, 20, &a, &b);
        assert!((20.0 * mean - 6.0).abs() < 20.0 * error, "{scheme}: {}", 20.0 * mean);
    }
}

#[test]
fn s7_two_shingles_of_abcdabd() {
    let rule = ShingleRule::new(Unit::Chars, 2).unwrap().with_case(Case::Keep);
    let mut expected: Vec<u64> =
        ["ab", "bc", "cd", "da", "bd"].iter().flat_map(|shingle| set(&rule, shingle)).collect();
    expected.sort_unstable();
    assert_eq!(set(&rule, "abcdabd"), expected);
}

#[test]
fn s8_word_shingles_see_style() {
    let sentence = "it is trivial to show";
    let shingles = ["it is trivial", "is trivial to", "trivial to show"];
    let mut expected: Vec<u64> = shingles.iter().flat_map(|s| set(&words(3), s)).collect();
    expected.sort_unstable();
    assert_eq!(set(&words(3), sentence), expected);
    // Reordered words share few shingles, but most character pairs.
    let reworded = "to show it is trivial";
    assert!(jaccard(&words(3), sentence, reworded) < 0.21);
    let chars = ShingleRule::new(Unit::Chars, 2).unwrap();
    assert!(jaccard(&chars, sentence, reworded) > 0.7);
}

#[test]
fn s9_signatures_of_a_characteristic_matrix() {
    let (a, b) = (numbers(&[2, 3, 5, 7]), numbers(&[3, 4, 7]));
    assert_eq!(overlap(&a, &b).jaccard(), 0.4);
    let (mean, error) = mean_agreement(Scheme::XorMultiply, 100, &a, &b);
    assert!((mean - 0.4).abs() < error, "{mean}");
}

#[test]
fn s10_different_bands_never_match() {
    let mut keys = vec![0; 4];
    bucket_keys(&[1, 2, 3, 4, 5, 6, 7, 8], 4, &mut keys[..2]);
    bucket_keys(&[5, 6, 7, 8, 1, 2, 3, 4], 4, &mut keys[2..]);
    let index = BandIndex::build(&keys, 2);
    let mut found = Vec::new();
    index.candidates(&keys[..2], &mut found);
    assert_eq!(found, [0]);
    let mut all = keys.clone();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4, "the band's number is part of the key");
}

#[test]
fn s11_curve_matches_the_published_table() {
    // The table of Mining of Massive Datasets, 3.4.2: 20 bands of 5 rows.
    for (s, p) in [
        (0.2, 0.006),
        (0.3, 0.047),
        (0.4, 0.186),
        (0.5, 0.470),
        (0.6, 0.802),
        (0.7, 0.975),
        (0.8, 0.9996),
    ] {
        assert!((candidate_probability(s, 20, 5) - p).abs() < 5e-4, "{s}");
    }
    assert!((steepest(20, 5) - (4.0f64 / 99.0).powf(0.2)).abs() < 1e-12);
    assert!((midpoint(20, 5) - 0.05f64.powf(0.2)).abs() < 1e-12);
    // The slope is greatest at this point.
    let slope =
        |s: f64| candidate_probability(s + 1e-4, 20, 5) - candidate_probability(s - 1e-4, 20, 5);
    let top = slope(steepest(20, 5));
    assert!(top > slope(steepest(20, 5) - 0.01) && top > slope(steepest(20, 5) + 0.01));
    let mut random = SplitMix64::new(1);
    assert!((0..100).all(|_| slope(random.next_f64() * 0.98 + 0.01) <= top + 1e-12));
}
