//! Tests which keep rule decides if there are many rules, or rules that never apply. Also tests
//! findings and options without the requested data.
#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike::core::keep::{FILE_NAME_WORDS, KeepPolicy, KeepRule, LanguageWords};
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::find::{DocumentNumber, FindError, FindOptions, Findings, MAX_THREADS};
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use tempfile::TempDir;

const TEXT: &str = "the report of the first quarter in a number of words";

/// Returns a folder with two texts that differ only in their length.
fn two_drafts() -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let drafts = place.path().join("drafts");
    std::fs::create_dir(&drafts).unwrap();
    std::fs::write(drafts.join("a.txt"), TEXT).unwrap();
    std::fs::write(drafts.join("b.txt"), format!("{TEXT}...")).unwrap();
    (place, drafts)
}

fn find(folder: &PathBuf, rules: Vec<KeepRule>) -> Findings {
    let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
    let options = FindOptions { keep: KeepPolicy::new(rules), ..options };
    lookalike::find(std::slice::from_ref(folder), &options).unwrap()
}

#[test]
fn deciding_rule_is_found_beyond_256() {
    let (_place, drafts) = two_drafts();
    for before in [0, 254, 255, 256, 300] {
        let mut rules = vec!["path:elsewhere/*".parse::<KeepRule>().unwrap(); before];
        rules.push(KeepRule::Longest);
        let found = find(&drafts, rules);
        let group = found.groups.iter().next().unwrap().unwrap();
        assert_eq!(group.keeper.id, "b.txt");
        let decided_by = group.duplicates[0].decided_by;
        assert_eq!(decided_by.map(|rule| usize::try_from(rule).unwrap()), Some(before));
    }
}

#[test]
fn unmatched_patterns_are_reported() {
    let (_place, drafts) = two_drafts();
    let rules = ["path:elsewhere/*", "path:**/a.txt", "path:zzz,longest"];
    let found = find(&drafts, rules.map(|rule| rule.parse().unwrap()).to_vec());
    assert_eq!(found.unmatched_patterns, ["elsewhere/*", "zzz,longest"]);
    assert_eq!(found.groups.iter().next().unwrap().unwrap().keeper.id, "a.txt");
    assert!(find(&drafts, vec![KeepRule::Longest]).unmatched_patterns.is_empty());
    // For a collection without documents, no pattern is reported.
    for name in ["a.txt", "b.txt"] {
        std::fs::write(drafts.join(name), [0; 600]).unwrap();
    }
    let found = find(&drafts, vec!["path:zzz".parse().unwrap()]);
    assert_eq!((found.counts.skipped, found.unmatched_patterns.len()), (2, 0));
}

#[test]
fn unknown_document_numbers_are_errors() {
    let (_place, drafts) = two_drafts();
    let found = find(&drafts, Vec::new());
    assert_eq!(found.text(DocumentNumber(0)).unwrap(), TEXT);
    assert!(found.status(DocumentNumber(1)).is_ok());
    for number in [2, u32::MAX].map(DocumentNumber) {
        let errors = [
            found.text(number).map(drop),
            found.id(number).map(drop),
            found.describe(number).map(drop),
            found.location(number).map(drop),
            found.status(number).map(drop),
        ];
        for error in errors {
            let Err(FindError::NoDocument { document, documents: 2 }) = error else {
                panic!("{error:?}");
            };
            assert_eq!(document, number);
        }
    }
    let message = found.id(DocumentNumber(7)).unwrap_err().to_string();
    assert!(
        message.contains("document 7 does not exist") && message.contains("read 2"),
        "{message}"
    );
}

#[test]
fn excessive_thread_counts_are_errors() {
    let (_place, drafts) = two_drafts();
    let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
    assert!(options.threads.get() <= MAX_THREADS);
    let threads = NonZeroUsize::new(MAX_THREADS + 1).unwrap();
    let options = FindOptions { threads, ..options };
    let error = lookalike::find(&[drafts], &options).err().unwrap();
    assert!(matches!(error, FindError::TooManyThreads { got: 1025, most: 1024 }), "{error}");
    assert_eq!(
        error.to_string(),
        "threads is 1025, expected 1 to 1024: more take memory and save no time"
    );
}

/// Returns the keeper of the only group in a folder with these files, and the rule that decided.
/// The texts become longer in this order.
fn kept_of(names: &[&str], rules: &[&str]) -> (String, Option<u32>) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("in");
    std::fs::create_dir(&folder).unwrap();
    for (number, name) in names.iter().enumerate() {
        std::fs::write(folder.join(name), format!("{TEXT}{}", ".".repeat(number))).unwrap();
    }
    let found = find(&folder, rules.iter().map(|rule| rule.parse().unwrap()).collect());
    assert!(!found.lacks_file_names);
    let group = found.groups.iter().next().unwrap().unwrap();
    (group.keeper.id.clone(), group.duplicates[0].decided_by)
}

#[test]
fn final_versions_stay() {
    let names = ["report_v9_final.txt", "report_v10.txt", "draft (2).txt"];
    assert_eq!(kept_of(&names, &["name", "longest"]), (names[0].to_owned(), Some(0)));
    assert_eq!(kept_of(&names, &["longest", "name"]), (names[2].to_owned(), Some(0)));
    let equal = ["a.txt", "b.txt"];
    assert_eq!(kept_of(&equal, &["name", "longest"]), ("b.txt".to_owned(), Some(1)));
    assert_eq!(kept_of(&equal, &["name"]), ("a.txt".to_owned(), None));
}

#[test]
fn records_have_no_file_name() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("report_final.jsonl");
    let records = format!(
        "{{\"id\":\"a draft\",\"text\":\"{TEXT}.\"}}\n{{\"id\":\"b\",\"text\":\"{TEXT}\"}}\n"
    );
    std::fs::write(&file, records).unwrap();
    let found = find(&file, vec![KeepRule::Name, KeepRule::Longest]);
    assert!(found.lacks_file_names);
    assert_eq!(found.groups.iter().next().unwrap().unwrap().keeper.id, "a draft");
}

#[test]
fn the_guide_lists_the_words() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = std::fs::read_to_string(root.join("docs/reference/keep.md")).unwrap();
    let mut table =
        "| language | final | copy | draft | old | version |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for LanguageWords { language, finals, copies, drafts, old, versions } in FILE_NAME_WORDS {
        writeln!(table, "| {language} | {finals} | {copies} | {drafts} | {old} | {versions} |")
            .unwrap();
    }
    assert!(guide.contains(&table), "expected in docs/reference/keep.md:\n{table}");
}
