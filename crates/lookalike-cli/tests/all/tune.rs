//! Tests of `lookalike tune`: the choice, the curve, and advice from documents.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn tune(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .arg("tune")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = tune(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && error.is_empty(), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(folder, &[arguments, &["--json"]].concat())).unwrap()
}

fn current_folder() -> &'static Path {
    Path::new(".")
}

/// Returns `documents` lines of `length` words each, drawn from `vocabulary` words.
fn lines(documents: usize, length: usize, vocabulary: u64) -> String {
    let mut state = 1u64;
    let mut out = String::new();
    for document in 0..documents {
        write!(out, "d{document}").unwrap();
        for _ in 0..length {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            write!(out, " w{}", (state >> 33) % vocabulary).unwrap();
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_default_choice_is_known() {
    let text = printed(current_folder(), &[]);
    for part in [
        "--num-hashes 128 --bands 21 --rows 6",
        "with probability 0.9983",
        "steepest at 0.585; (1/b)^(1/r) is 0.602",
        "threshold 0.8: found with 0.9983 ▲",
        "misses the recall",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let value = json(current_folder(), &[]);
    let choice = &value["choice"];
    assert_eq!([&choice["num_hashes"], &choice["bands"], &choice["rows"]], [128, 21, 6]);
    // 1 − (1 − 0.8⁶)²¹
    let recall = choice["recall_at_threshold"].as_f64().unwrap();
    assert!((recall - (1.0 - (1.0 - 0.262_144f64).powi(21))).abs() < 1e-12);
    let curve = value["curve"].as_array().unwrap();
    assert_eq!((curve.len(), &curve[0][1], &curve[100][1]), (101, &0.0.into(), &1.0.into()));
    assert!(value["measured"].is_null());
}

#[test]
fn given_bands_have_known_midpoints() {
    let value = json(current_folder(), &["--bands", "20", "--rows", "5", "--num-hashes", "100"]);
    // (4/99)^(1/5) and (1/20)^(1/5)
    assert_eq!(
        (&value["choice"]["steepest"], &value["choice"]["midpoint"]),
        (&0.526_363.into(), &0.549_28.into())
    );
}

#[test]
fn alternatives_trade_recall_and_candidates() {
    let value = json(current_folder(), &["--threshold", "0.7", "--recall", "0.95"]);
    let all = value["alternatives"].as_array().unwrap();
    assert!(all.len() > 5);
    let key = |v: &serde_json::Value| {
        ["num_hashes", "rows", "bands"].map(|field| v[field].as_u64().unwrap())
    };
    assert!(all.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])), "{all:#?}");
    assert!(all.iter().any(|v| key(v) == key(&value["choice"])));
    for pair in all.windows(2).filter(|pair| pair[0]["num_hashes"] == pair[1]["num_hashes"]) {
        for field in ["recall_at_threshold", "candidates"] {
            assert!(pair[0][field].as_f64() >= pair[1][field].as_f64(), "{field}");
        }
    }
    let reaches = |v: &serde_json::Value| v["recall_at_threshold"].as_f64().unwrap() >= 0.95;
    assert!(all.iter().all(|v| v["reaches_recall"] == reaches(v)));
}

#[test]
fn ascii_option_draws_only_ascii() {
    let text = printed(current_folder(), &["--ascii"]);
    let (_, rest) = text.split_once("S-curve").unwrap();
    assert!(rest.is_ascii(), "{rest}");
    assert!(!printed(current_folder(), &[]).is_ascii());
}

#[test]
fn the_picture_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let text = printed(folder.path(), &["--svg", "curve.svg", "--threshold", "0.7"]);
    assert!(text.contains("curve.svg"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let svg = fs::read_to_string(folder.path().join("curve.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("threshold 0.7:") && svg.contains("<desc"));
    let output = tune(folder.path(), &["--svg", "no/such/folder.svg"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no/such/folder.svg"));
}

#[test]
fn advised_shingles_depend_on_documents() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("same.train"), lines(80, 300, 40)).unwrap();
    fs::write(folder.path().join("short.train"), lines(80, 3, 10_000)).unwrap();
    let advice = |arguments: &[&str]| {
        let value = json(folder.path(), arguments);
        let advice = &value["measured"]["advice"];
        let text = |field: &str| advice[field].as_str().unwrap_or_default().to_owned();
        [text("shingle"), text("reason")]
    };
    assert_eq!(advice(&["same.train"]), ["words:5", "fits"]);
    assert_eq!(advice(&["same.train", "--shingle", "bag"]), ["words:3", "saturated"]);
    assert_eq!(advice(&["short.train"]), ["words:3", "too_long"]);
    let text = printed(folder.path(), &["same.train", "--shingle", "bag"]);
    assert!(text.contains("Use --shingle words:3 instead of words:1"), "{text}");
    assert!(text.contains("unrelated documents look alike"), "{text}");
    let tried = json(folder.path(), &["same.train", "--try", "words:2,chars:7"]);
    let rules: Vec<&str> = tried["measured"]["shingles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|profile| profile["shingle"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["words:2", "words:5", "chars:7"]);
}

#[test]
fn tune_output_ignores_document_order() {
    let folder = tempfile::tempdir().unwrap();
    let all = lines(900, 60, 500);
    fs::write(folder.path().join("all.train"), &all).unwrap();
    let mut parts = [String::new(), String::new()];
    for (at, line) in all.lines().rev().enumerate() {
        writeln!(parts[at % 2], "{line}").unwrap();
    }
    fs::write(folder.path().join("a.train"), &parts[0]).unwrap();
    fs::write(folder.path().join("b.train"), &parts[1]).unwrap();
    let drawn = ["--sample", "100", "--json"];
    let printed_whole = printed(folder.path(), &[&["all.train"], &drawn[..]].concat());
    let split = printed(folder.path(), &[&["b.train", "a.train"], &drawn[..]].concat());
    assert_eq!(printed_whole, split);
    let other = printed(folder.path(), &[&["all.train", "--seed", "2"], &drawn[..]].concat());
    assert_ne!(printed_whole, other);
}

#[test]
fn too_few_documents_are_not_errors() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("one.train"), "a one two three\n").unwrap();
    fs::write(folder.path().join("none.train"), "").unwrap();
    fs::write(folder.path().join("bad.jsonl"), "{\"id\":1,\"text\":\"x y z\"}\n{oops\n").unwrap();
    for name in ["one.train", "none.train"] {
        let text = printed(folder.path(), &[name]);
        assert!(text.contains("Too few documents"), "{text}");
        assert!(text.contains("--num-hashes 128 --bands 21 --rows 6"), "{text}");
    }
    assert_eq!(json(folder.path(), &["one.train"])["documents"], 1);
    assert_eq!(json(folder.path(), &["one.train", "--documents", "9"])["documents"], 9);
    let text = printed(folder.path(), &["bad.jsonl", "--skip-bad"]);
    assert!(text.contains("1 skipped:\n  bad.jsonl:2: "), "{text}");
    let output = tune(folder.path(), &["bad.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    let output = tune(folder.path(), &["missing"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn tune_rejects_invalid_options() {
    for arguments in [
        &["--threshold", "0"][..],
        &["--threshold", "NaN"],
        &["--recall", "1"],
        &["--sample", "1"],
        &["--bands", "40", "--rows", "40", "--num-hashes", "100"],
        &["--try", "words:0"],
    ] {
        let output = tune(current_folder(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn exact_runs_cannot_be_tuned() {
    for option in [["--exact", "--json"], ["--measure", "containment"]] {
        let output = tune(current_folder(), &option);
        assert_eq!(output.status.code(), Some(2));
        let reported = String::from_utf8(output.stderr).unwrap();
        assert!(reported.contains("nothing to tune"), "{reported}");
    }
}

#[test]
fn the_effect_of_folding_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let words = "قرأ الطالب كتابا جديدا في المكتبة الكبيرة قرب البيت القديم";
    let marked: String =
        words.chars().flat_map(|c| [Some(c), (c == 'ا').then_some('\u{64e}')]).flatten().collect();
    let text = format!("a {words}\nb {marked}\n{}", lines(8, 40, 5_000));
    fs::write(folder.path().join("in.train"), text).unwrap();
    let arguments = ["in.train", "--format", "lines"];
    let text = printed(folder.path(), &arguments);
    let effect = "--normalize fold changes the shingles of 2 of the 10 documents drawn: Arabic 2.";
    assert!(text.contains(effect), "{text}");
    assert!(
        text.contains("Pairs of them at 0.8 or more: 0 without folding, 1 with folding."),
        "{text}"
    );
    let report = json(folder.path(), &arguments);
    let folding = &report["measured"]["folding"];
    assert_eq!(folding["effect"]["changed"], 2, "{report}");
    assert_eq!(folding["pairs"], serde_json::json!({ "as_is": 0, "folded": 1 }));
    let folded = printed(folder.path(), &[&arguments[..], &["--normalize", "fold"]].concat());
    assert!(!folded.contains("--normalize fold changes"), "{folded}");
}
