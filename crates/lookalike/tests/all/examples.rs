//! The programs of the repository's folder `examples/` run and print the expected output.

#![allow(clippy::unwrap_used, reason = "tests may stop at anything unexpected")]
#![allow(dead_code, reason = "`main` of each example is not called")]

use std::path::{Path, PathBuf};

#[path = "../../../../examples/folder_to_groups.rs"]
mod folder_to_groups;
#[path = "../../../../examples/jsonl_dedup.rs"]
mod jsonl_dedup;
#[path = "../../../../examples/query_index.rs"]
mod query_index;
#[path = "../../../../examples/sketches_by_hand.rs"]
mod sketches_by_hand;

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn lines(bytes: &[u8]) -> Vec<&str> {
    str::from_utf8(bytes).unwrap().lines().collect()
}

#[test]
fn groups_of_a_folder() {
    let mut out = Vec::new();
    folder_to_groups::run(&in_repository("fixtures/sample"), &mut out).unwrap();
    let lines = lines(&out);
    assert!(lines.contains(&"  1.000000 recipe-lentil-soup.txt"), "{lines:?}");
    assert!(lines.contains(&"recipe-lentil-soup-copy.txt"), "{lines:?}");
}

#[test]
fn records_without_duplicates() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("kept.jsonl");
    let counts = jsonl_dedup::run(&in_repository("examples/records.jsonl"), &output).unwrap();
    assert_eq!(counts, (4, 2));
    let kept = std::fs::read_to_string(output).unwrap();
    assert_eq!(kept.lines().count(), 2);
    assert!(kept.contains("\"menu\""));
}

#[test]
fn a_query_of_an_index() {
    let mut out = Vec::new();
    query_index::run(&in_repository("fixtures/sample"), query_index::TEXT, &mut out).unwrap();
    let lines = lines(&out);
    assert!(lines[0].ends_with(" documents"), "{lines:?}");
    assert!(lines[1].contains("recipe-lentil-soup"), "{lines:?}");
}

#[test]
fn sketches_of_two_texts() {
    let mut out = Vec::new();
    sketches_by_hand::run(&mut out).unwrap();
    let lines = lines(&out);
    assert_eq!(lines[..2], ["shingles: 15 and 15", "exact similarity: 0.764706"]);
    let estimate: f64 = lines[2].strip_prefix("estimate: ").unwrap().parse().unwrap();
    assert!((estimate - 0.7647).abs() < 0.15, "{estimate}");
}
