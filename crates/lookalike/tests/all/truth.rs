//! Real collections against their exact truth: at the default recall at least 99 in 100 of the
//! pairs at Jaccard 0.8 or more are found, nothing else is, and every similarity is equal to six
//! decimals. The sets lie next to the repository in `../shared/data`; without them there is nothing
//! to test, which is said aloud.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

use crate::collection::Pairs;
use crate::collection::sets::{known, reported, test_each_set};
use lookalike::core::params::{Measure, ParamsBuilder};
use lookalike::find::Findings;

/// Compares and says what was measured.
fn check(label: &str, expected: &Pairs, findings: &Findings) {
    let found = reported(findings);
    for (pair, similarity) in &found {
        assert_eq!(expected.get(pair), Some(similarity), "{label}: {pair:?}");
    }
    let recall = found.len() as f64 / expected.len().max(1) as f64;
    eprintln!("{label}: {} of {} pairs found", found.len(), expected.len());
    assert!(recall >= 0.99, "{label}: recall {recall:.4}");
    for group in findings.groups.iter().map(Result::unwrap) {
        for duplicate in &group.duplicates {
            assert!(
                duplicate.overlap.reaches(Measure::Jaccard, 0.8),
                "{label}: {duplicate:?} in {}",
                group.keeper.id
            );
        }
    }
}

fn check_set(set: &str) {
    for known in known(set) {
        check(&known.name, &known.pairs(0.8), &known.find(&ParamsBuilder::default()));
    }
}

test_each_set!(check_set);
