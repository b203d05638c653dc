//! Tests `lookalike audit` as a process: reports that fit their inputs, and reports that do not.

#![allow(clippy::unwrap_used, clippy::format_collect, reason = "this is a test")]

use crate::command::{Place, collection};
use serde_json::{Value, json};

/// Returns a folder with a collection in `in.jsonl`, and the report of a run over it.
fn place() -> (Place, Value) {
    let place = Place::new();
    let documents = collection(60);
    let line = |(id, text): &(String, String)| json!({"id": id, "text": text}).to_string() + "\n";
    place.file("in.jsonl", documents.iter().map(line).collect::<String>());
    let report = place.run(&["find", "in.jsonl", "--json", "-q", "--pairs", "pairs.csv"]).ok();
    let report = serde_json::from_str(&report).unwrap();
    (place, report)
}

fn audit(place: &Place, report: &Value, more: &[&str]) -> crate::command::Run {
    place.file("report.json", report.to_string());
    place.run(&[&["audit", "report.json", "in.jsonl"], more].concat())
}

#[test]
fn a_run_is_measured() {
    let (place, report) = place();
    let out = audit(&place, &report, &[]).ok();
    for text in [
        "Recall is 1.0000 (predicted",
        "This is known, not estimated",
        "if the groups remove",
        "and once in the last row.\nrecall: the found share",
    ] {
        assert!(out.contains(text), "{text}: {out}");
    }
    assert!(!out.contains("resampling"), "{out}");
    assert!(!out.contains("confidence") && !out.contains("would make it"), "{out}");
    let out = audit(&place, &report, &["--sample", "100"]).ok();
    for text in [
        "Recall is 0.",
        " to 1.0000 (95 % confidence",
        "if the groups remove",
        "\nall ",
        "and once in the last row.\nrecall: of one neighbour",
        "by resampling",
    ] {
        assert!(out.contains(text), "{text}: {out}");
    }
    let by_pairs = audit(&place, &report, &["--pairs", "pairs.csv", "--json", "--threads", "2"]);
    let by_pairs: Value = serde_json::from_str(&by_pairs.ok()).unwrap();
    assert_eq!((&by_pairs["judged_by"], &by_pairs["recall"]), (&json!("pairs"), &json!(1.0)));
    assert_eq!(by_pairs["sampled"], by_pairs["population"]);
    assert_eq!(by_pairs["ranges"].as_array().unwrap().len(), 5);
    assert!(by_pairs["documents"].as_u64().unwrap() > 60, "{by_pairs}");
}

#[test]
fn omitted_groups_lower_the_recall() {
    let (place, mut report) = place();
    let groups = report["groups"].as_array().unwrap();
    report["groups"] = Value::Array(groups[..groups.len() / 2].to_vec());
    let out = audit(&place, &report, &["--json"]).ok();
    let out: Value = serde_json::from_str(&out).unwrap();
    let recall = out["recall"].as_f64().unwrap();
    assert!(recall > 0.3 && recall < 0.8, "{out}");
    let text = audit(&place, &report, &[]).ok();
    assert!(text.contains("This is known, not estimated"), "{text}");
    assert_eq!(out["interval"]["low"], out["recall"]);
    assert_eq!(out["interval"]["high"], out["recall"]);
    report["groups"] = json!([]);
    assert!(audit(&place, &report, &[]).ok().starts_with("Recall is 0.0000 (predicted"));
    place.file("none.csv", "id_a,id_b,jaccard\n");
    let report_text = audit(&place, &report, &["--pairs", "none.csv"]).ok();
    assert!(report_text.starts_with("Recall is 0.0000 (predicted"), "{report_text}");
}

#[test]
fn recall_is_unmeasured_without_neighbours() {
    let (place, mut report) = place();
    report["parameters"]["threshold"] = json!(1.0);
    report["parameters"]["unit"] = json!("bytes");
    report["parameters"]["case"] = json!("keep");
    place.file("in.jsonl", "{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\",\"text\":\"two\"}\n");
    let failed = audit(&place, &report, &[]).fails(1);
    let digest = failed.split("read were 2 documents, digest ").nth(1).unwrap();
    report["inputs"] = json!({"documents": 2, "digest": &digest[..32]});
    let out = audit(&place, &report, &[]).ok();
    assert!(out.starts_with("There is nothing to find: all 2 documents"), "{out}");
    assert!(!out.contains("draws more"), "{out}");
    let out = audit(&place, &report, &["--sample", "1"]).ok();
    assert!(out.contains("Recall was not measured: of 1 documents drawn from 2"), "{out}");
}

#[test]
fn mismatched_reports_are_errors() {
    let (place, report) = place();
    let fails = |change: &dyn Fn(&mut Value)| {
        let mut changed = report.clone();
        change(&mut changed);
        audit(&place, &changed, &[]).fails(1)
    };
    let other = fails(&|report| report["format"] = json!(99));
    assert!(other.contains("format 99, expected 1"), "{other}");
    let other = fails(&|report| report["inputs"]["documents"] = json!(7));
    assert!(other.contains("it is of 7 documents, digest "), "{other}");
    assert!(other.contains("read were 110 documents, digest "), "{other}");
    for member in ["format", "parameters", "inputs"] {
        let without = fails(&|report| {
            report.as_object_mut().unwrap().remove(member);
        });
        assert!(without.contains("find --json > report.json"), "{without}");
    }
    let odd = fails(&|report| report["parameters"]["unit"] = json!("lines"));
    assert!(odd.contains("unit should be words, chars or bytes, got \"lines\""), "{odd}");
    let odd = fails(&|report| report["inputs"]["digest"] = json!("x"));
    assert!(odd.contains("32 hexadecimal digits"), "{odd}");
}

#[test]
fn audits_reject_other_files() {
    let (place, _) = place();
    place.run(&["find", "in.jsonl", "-q", "-o", "groups.jsonl"]).ok();
    place.run(&["find", "in.jsonl", "-q", "-o", "groups.csv"]).ok();
    place.file("empty", "").file("torn.json", "{\"format\":1,");
    for file in ["groups.jsonl", "groups.csv", "empty", "torn.json"] {
        let message = place.run(&["audit", file, "in.jsonl"]).fails(1);
        assert!(message.contains("expected the report of a whole run"), "{message}");
        assert!(message.contains(file) && message.contains("find --json"), "{message}");
    }
    assert!(place.run(&["audit", "absent.json", "in.jsonl"]).fails(1).contains("absent.json"));
}

#[test]
fn wrong_use_is_reported() {
    let (place, report) = place();
    for (more, expected) in [
        (&["--sample", "0"][..], "whole number from 1"),
        (&["--confidence", "1"], "not above 0 and below 1"),
        (&["-"], "only once"),
        (&["--kernel", "abacus"], "abacus"),
    ] {
        let run = audit(&place, &report, more);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.err.contains(expected), "{run:?}");
    }
    let no_pairs = audit(&place, &report, &["--pairs", "report.json"]).fails(1);
    assert!(no_pairs.contains("expected the columns id_a and id_b"), "{no_pairs}");
}
