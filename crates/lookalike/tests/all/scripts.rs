//! For each of many scripts, different spellings of the same text, compared with and without normal
//! forms.
#![cfg(feature = "scripts")]
#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::find::{DocumentNumber, FindOptions, Findings, PairList, in_collection};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, NormalForm, Normalization, ReadOptions};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Runs `find` over documents of a temporary file, at the default threshold.
fn found(documents: &[(String, &str)], form: Option<NormalForm>) -> (Findings, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    let mut lines = String::new();
    for (id, text) in documents {
        writeln!(lines, "{}", json!({ "id": id, "text": text })).unwrap();
    }
    std::fs::write(&path, lines).unwrap();
    let normalization = Normalization { normal_form: form, ..Normalization::default() };
    let reading = ReadOptions { normalization, ..ReadOptions::default() };
    let collection = Collection::open(&[PathBuf::from(&path)], &reading).unwrap();
    let mut options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
    options.pairs = PairList::Exact;
    (in_collection(&collection, &options, &NoProgress).unwrap(), folder)
}

/// Returns for each case whether its texts are a pair, and the wrong pairs.
fn judged(cases: &[Value], form: Option<NormalForm>) -> (Vec<bool>, Vec<String>) {
    let text = |case: &Value, side: &str| case[side].as_str().unwrap().to_owned();
    let texts: Vec<(String, String)> = (0..)
        .zip(cases)
        .flat_map(|(i, case)| ["a", "b"].map(|side| (format!("{i}{side}"), text(case, side))))
        .collect();
    let documents: Vec<(String, &str)> =
        texts.iter().map(|(id, text)| (id.clone(), text.as_str())).collect();
    let (findings, _folder) = found(&documents, form);
    let mut joined = vec![false; cases.len()];
    let mut wrong = Vec::new();
    let mut cursor = findings.pairs.as_ref().unwrap().cursor();
    while let Some(pair) = cursor.next_pair().unwrap() {
        let case = |id: &str| id[..id.len() - 1].parse::<usize>().unwrap();
        let (a, b) = (case(pair.a), case(pair.b));
        if a == b {
            joined[a] = true;
        } else if cases[a]["script"] != cases[b]["script"] {
            wrong.push(format!("{} {} {:?}", pair.a, pair.b, form));
        }
    }
    for (case, joined) in cases.iter().zip(&joined) {
        if *joined && case["same"] == false {
            wrong.push(format!("{case}"));
        }
    }
    (joined, wrong)
}

#[test]
fn spellings_match_and_other_texts_differ() {
    let cases: Vec<Value> =
        fixture("scripts.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let same = cases.iter().filter(|case| case["same"] == true).count();
    assert!(same >= 56 && cases.len() - same >= 32, "{same} of {}", cases.len());
    let mut right = HashMap::new();
    for form in [None, Some(NormalForm::Nfkc), Some(NormalForm::Fold), Some(NormalForm::Unaccent)] {
        let (joined, wrong) = judged(&cases, form);
        assert_eq!(wrong, Vec::<String>::new(), "{form:?}");
        let missed = |i: &usize| !joined[*i] && cases[*i]["same"] == true;
        let missed: Vec<String> = (0..cases.len())
            .filter(missed)
            .map(|i| format!("{} {}", cases[i]["script"], cases[i]["kind"]))
            .collect();
        let name = form.map_or("none".to_owned(), |form| form.to_string());
        let count = same - missed.len();
        let line = format!("scripts, {name}: {count} of {same}; missed {}", missed.join(", "));
        writeln!(std::io::stderr(), "{line}").unwrap();
        right.insert(form, count);
    }
    assert!(right[&Some(NormalForm::Fold)] >= 60, "{right:?}");
    assert!(right[&Some(NormalForm::Unaccent)] >= 66, "{right:?}");
}

/// The known answers come from `fixtures/normalize_v1.py`, which was written from
/// `docs/reference/normalize.md` alone.
#[test]
fn texts_have_their_known_answers() {
    for line in fixture("normalize_v1.txt").lines() {
        let [text, fold, unaccent]: [String; 3] = serde_json::from_str(line).unwrap();
        for (form, expected) in [(NormalForm::Fold, fold), (NormalForm::Unaccent, unaccent)] {
            let documents = [("a".to_owned(), text.as_str())];
            let (findings, _folder) = found(&documents, Some(form));
            assert_eq!(findings.text(DocumentNumber(0)).unwrap(), expected, "{form} of {text:?}");
        }
    }
}

#[test]
fn python_normalizer_matches_the_fixtures() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let answers = Command::new("python3")
        .arg(fixtures.join("normalize_v1.py"))
        .env("PYTHONUTF8", "1")
        .stdin(File::open(fixtures.join("scripts.jsonl")).unwrap())
        .output();
    match answers {
        Err(error) => {
            lookalike_test_support::print_skipped(&format!("python3 cannot be started: {error}"));
        }
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let written = String::from_utf8(output.stdout).unwrap();
            assert!(written.lines().eq(fixture("normalize_v1.txt").lines()));
        }
    }
}

#[test]
fn normal_forms_keep_ascii_unchanged() {
    let text: String = (0..128u8).map(char::from).collect();
    for form in [NormalForm::Nfc, NormalForm::Nfkc, NormalForm::Fold, NormalForm::Unaccent] {
        let (findings, _folder) = found(&[("a".to_owned(), text.as_str())], Some(form));
        assert_eq!(findings.text(DocumentNumber(0)).unwrap(), text);
    }
}

#[test]
fn unfolded_run_counts_documents_for_folding() {
    let documents = [("مُحَمَّد", 3), ("plain words", 2), ("우리 집", 1)];
    let documents: Vec<(String, &str)> = (0..)
        .zip(documents.iter().flat_map(|(text, n)| std::iter::repeat_n(*text, *n)))
        .map(|(i, text)| (format!("{i}"), text))
        .collect();
    let (findings, _folder) = found(&documents, None);
    assert_eq!((findings.folding.documents(), findings.folding.changed()), (6, 4));
    let scripts: Vec<String> =
        findings.folding.by_script().map(|(script, n)| format!("{script} {n}")).collect();
    assert_eq!(scripts, ["Arabic 3", "Hangul 1"]);
    let (folded, _folder) = found(&documents, Some(NormalForm::Fold));
    assert_eq!(folded.folding.documents(), 0);
}

#[test]
fn copies_without_tokens_are_reported() {
    let documents =
        [("d", "🙂🙂"), ("a", "!!!"), ("b", "🙂🙂"), ("c", ""), ("e", ""), ("f", "🙂🙃")];
    let documents: Vec<(String, &str)> =
        documents.iter().map(|(id, text)| ((*id).to_owned(), *text)).collect();
    let (findings, _folder) = found(&documents, None);
    let copies = findings.textless_copies.empty_copies();
    let named: Vec<(String, String)> = copies.iter().map(Result::unwrap).collect();
    assert_eq!(named, [("b".to_owned(), "d".to_owned())]);
    let mut csv = Vec::new();
    let (skipped, empty) = (&findings.skipped, &findings.empty);
    let cells = lookalike::report::csv::CellRule::Exact;
    lookalike::report::csv::skipped(&mut csv, skipped, &findings.textless_copies, empty, cells)
        .unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.contains("\n,,b,empty: no tokens; the same text as d\n"), "{csv}");
    assert!(csv.contains("\n,,d,empty: no tokens\n"), "{csv}");
}
