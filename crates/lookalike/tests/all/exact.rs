//! Exact runs find the same pairs as a comparison of all documents, for both measures, all
//! thresholds and all kinds of shingles, on random and real collections.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

use crate::collection::sets::{known, reported, test_each_set};
use crate::collection::{Drawn, check};
use lookalike::core::params::{Measure, ParamsBuilder, ShingleRule, Unit};
use lookalike_test_support::is_soak;
use proptest::prelude::*;

/// Generates shingle rules of all kinds.
pub(crate) fn rules() -> impl Strategy<Value = ShingleRule> {
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
    fn exact_run_equals_naive_comparison(
        seed: u64, shingle in rules(), tenths in 1u32..=20, vocabulary in 3u64..400,
        threads in 1usize..=5, containment: bool, pairs: bool,
    ) {
        let threshold = f64::from(tenths) / 20.0;
        let measure = if containment { Measure::Containment } else { Measure::Jaccard };
        let builder =
            ParamsBuilder { shingle, threshold, measure, exact: true, ..Default::default() };
        check(&Drawn { documents: 120, vocabulary, seed }, &builder, threads, pairs);
    }
}

/// Checks that a run finds all pairs and no others, at the least threshold of the truth. Soak tests
/// also check the default threshold.
fn check_set(set: &str) {
    for known in known(set) {
        for threshold in [known.least, 0.8].into_iter().take(if is_soak() { 2 } else { 1 }) {
            let expected = known.pairs(threshold);
            let builder = ParamsBuilder { threshold, exact: true, ..ParamsBuilder::default() };
            let found = reported(&known.find(&builder));
            eprintln!("{} at {threshold}: {} pairs", known.name, expected.len());
            assert!(!expected.is_empty() && found == expected, "{} at {threshold}", known.name);
        }
    }
}

test_each_set!(check_set);
