//! Real collections against their exact truth: at the default recall at least 99 in 100 of the
//! pairs at Jaccard 0.8 or more are found, nothing else is, and every similarity is equal to six
//! decimals. The sets lie beside the repository in `../shared/data`; without them there is nothing
//! to test, which is said aloud.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

use flate2::read::GzDecoder;
use lookalike::core::params::{Case, Measure, Params, ShingleRule, TokenRule, Unit, Wishes};
use lookalike::progress::Silent;
use lookalike::read::{Collection, Format, ReadOptions};
use lookalike::run::{self, FindOptions, Findings};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

type Pairs = BTreeMap<(String, String), String>;

fn data() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    writeln!(
        std::io::stderr(),
        "SKIPPED: the document sets are not at ../shared/data beside the repository"
    )
    .unwrap();
    None
}

/// The rules of the truth files, by the names of these.
fn rule(name: &str) -> ShingleRule {
    let words = |n| ShingleRule::new(Unit::Words, n).unwrap();
    match name {
        "w3" => words(3).with_tokens(TokenRule::Whitespace).with_case(Case::Keep),
        "w5" => words(5).with_tokens(TokenRule::Whitespace).with_case(Case::Keep),
        "w5-lower" => words(5).with_tokens(TokenRule::Whitespace),
        "w5-lower-words" => words(5).with_tokens(TokenRule::WordRuns),
        "c5" => ShingleRule::new(Unit::Chars, 5).unwrap().with_case(Case::Keep),
        other => panic!("no rule {other}"),
    }
}

/// The pairs of a truth file (plain or `.gz`) at or above 0.8.
fn truth(folder: &Path, name: &str) -> Pairs {
    let mut text = String::new();
    if let Ok(mut plain) = File::open(folder.join(name)) {
        plain.read_to_string(&mut text).unwrap();
    } else {
        let file = File::open(folder.join(format!("{name}.gz"))).unwrap();
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
    }
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows =
        reader.records().map(Result::unwrap).filter(|row| row[2].parse::<f64>().unwrap() >= 0.8);
    rows.map(|row| ((row[0].to_owned(), row[1].to_owned()), row[2].to_owned())).collect()
}

fn find(input: &Path, format: Option<Format>, rule: ShingleRule) -> Findings {
    let read = ReadOptions { format, hidden: true, ignore_files: false, ..ReadOptions::default() };
    let collection = Collection::open(&[input.to_owned()], &read).unwrap();
    let params = Params::new(&Wishes { shingle: rule, ..Wishes::default() }).unwrap();
    let options = FindOptions { pairs: true, ..FindOptions::new(params) };
    run::find(&collection, &options, &Silent).unwrap()
}

/// Compares and says what was measured.
fn check(label: &str, expected: &Pairs, findings: Findings) {
    let found: Pairs = findings
        .pairs
        .unwrap()
        .iter()
        .map(Result::unwrap)
        .map(|pair| ((pair.a, pair.b), pair.overlap.six_decimals()))
        .collect();
    for (pair, similarity) in &found {
        assert_eq!(expected.get(pair), Some(similarity), "{label}: {pair:?}");
    }
    let recall = found.len() as f64 / expected.len().max(1) as f64;
    eprintln!("{label}: {} of {} pairs found", found.len(), expected.len());
    assert!(recall >= 0.99 || expected.is_empty(), "{label}: recall {recall:.4}");
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

fn check_set(set: &str, rules: &[&str]) {
    let Some(data) = data() else { return };
    let folder = data.join(set);
    let input = ["docs.jsonl.gz", "docs.jsonl"].map(|name| folder.join(name));
    let input = input.iter().find(|path| path.exists()).unwrap();
    for name in rules {
        let expected = truth(&folder, &format!("truth.{name}.csv"));
        check(&format!("{set} {name}"), &expected, find(input, None, rule(name)));
    }
}

const WORD_RULES: &[&str] = &["w3", "w5", "w5-lower", "w5-lower-words"];
const ALL_RULES: &[&str] = &["w3", "w5", "w5-lower", "w5-lower-words", "c5"];

#[test]
fn reuters() {
    check_set("reuters", WORD_RULES);
}

#[test]
fn mail() {
    check_set("mail", WORD_RULES);
}

#[test]
fn newsgroups() {
    check_set("newsgroups", WORD_RULES);
}

#[test]
fn debian_copyright() {
    check_set("debian_copyright", WORD_RULES);
}

#[test]
fn npm_licences() {
    check_set("npm_licences", WORD_RULES);
}

#[test]
fn html_text() {
    check_set("html", WORD_RULES);
}

#[test]
fn code() {
    check_set("code", WORD_RULES);
}

#[test]
fn multilingual() {
    check_set("multilingual", ALL_RULES);
}

#[test]
fn plagiarism() {
    check_set("plagiarism", ALL_RULES);
}

#[test]
fn edge() {
    check_set("edge", ALL_RULES);
}

#[test]
fn generated() {
    let Some(data) = data() else { return };
    let folder = data.join("generated");
    let expected = truth(&folder, "corpus_3000.truth.csv");
    let findings = find(&folder.join("corpus_3000.jsonl.gz"), None, rule("w5"));
    check("generated w5", &expected, findings);
}

#[test]
fn mccormick() {
    let Some(data) = data() else { return };
    let folder = data.join("mccormick");
    for size in ["100", "1000", "2500"] {
        for name in ["w3", "w5"] {
            let expected = truth(&folder, &format!("exact_{size}.{name}.csv"));
            let input = folder.join(format!("articles_{size}.train"));
            check(
                &format!("mccormick {size} {name}"),
                &expected,
                find(&input, Some(Format::Lines), rule(name)),
            );
        }
    }
}

#[test]
fn html_pages_as_a_folder_of_files() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let archive = data.join("html/raw.tar.gz");
    let unpacked =
        Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder.path()).status();
    match unpacked {
        Ok(status) => assert!(status.success()),
        Err(error) => {
            writeln!(std::io::stderr(), "SKIPPED: tar cannot be started: {error}").unwrap();
            return;
        }
    }
    let expected = truth(&data.join("html"), "truth.raw.w5.csv");
    let findings = find(folder.path(), Some(Format::Text), rule("w5"));
    check("html raw w5", &expected, findings);
}
