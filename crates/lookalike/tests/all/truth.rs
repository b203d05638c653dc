//! Real collections compared with their exact truth. At the default recall, a run finds at least 99
//! in 100 pairs with Jaccard 0.8 or more and no other pair. All similarities are equal to six
//! decimals. The sets are in `../shared/data` next to the repository. If they are missing, the
//! tests print that they are skipped.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

use crate::collection::Pairs;
use crate::collection::sets::{known, reported, test_each_set};
use lookalike::core::params::{Measure, ParamsBuilder};
use lookalike::find::Findings;

/// Compares the pairs and prints the recall.
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
