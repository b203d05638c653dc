//! Tests of the program with user decisions from a file and from an index.

#![allow(clippy::unwrap_used, reason = "this is a test")]

use crate::command::{Place, Run};
use serde_json::{Value, json};

const DOCUMENTS: &str = r#"
{"id":"a","text":"the council decided to close the old bridge for all of winter"}
{"id":"b","text":"the council decided to close the old bridge for all of winter"}
{"id":"c","text":"the council decided to close the old bridge for all of summer"}
{"id":"d","text":"a text about the harvest of apples, which was late this year"}
{"id":"e","text":"another one about the late harvest of apples and of pears"}
"#;

const DECISIONS: &str = r#"{"decision":"not_duplicate","documents":["a","c"],"who":"ann"}
{"decision":"duplicate","documents":["d","e"],"who":"bob","note":"the same harvest"}
{"decision":"keep","documents":["b"]}
{"decision":"keep","documents":["nobody"]}
"#;

fn place() -> Place {
    let place = Place::new();
    place.file("a.jsonl", DOCUMENTS).file("decisions.jsonl", DECISIONS);
    place
}

/// Keeper and duplicates of each group.
fn groups(run: Run) -> Vec<(String, Vec<String>)> {
    let report: Value = serde_json::from_str(&run.ok()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let group = |group: &Value| {
        let duplicates = group["duplicates"].as_array().unwrap();
        (text(&group["keeper"]), duplicates.iter().map(|member| text(&member["id"])).collect())
    };
    report["groups"].as_array().unwrap().iter().map(group).collect()
}

fn group(keeper: &str, duplicates: &[&str]) -> (String, Vec<String>) {
    (keeper.to_owned(), duplicates.iter().map(|&id| id.to_owned()).collect())
}

#[test]
fn decision_files_are_applied_and_reported() {
    let place = place();
    let find = ["find", "a.jsonl", "--threshold", "0.6", "--keep", "first", "--json"];
    assert_eq!(groups(place.run(&find)), [group("a", &["b", "c"])]);
    let decided = [&find[..], &["--decisions", "decisions.jsonl"]].concat();
    let expected = [group("b", &["a"]), group("d", &["e"])];
    let found = groups(place.run(&decided));
    // A decision keeps "b", so it comes first and becomes the keeper of "a". "c" also resembles
    // "b". But another decision separates "c" from "a", so "c" is not in this group.
    assert_eq!(found, expected);
    let report: Value = serde_json::from_str(&place.run(&decided).ok()).unwrap();
    let unapplied = json!([{"line": 4, "documents": ["nobody"], "reason": "unknown"}]);
    let counts = json!({"read": 4, "in_force": 4, "applied": 3, "unapplied": unapplied,
        "contradictions": []});
    assert_eq!(report["decisions"], counts);
    let message = place.run(&decided).err;
    assert!(message.is_empty() || message.contains("3 applied"), "{message}");

    let args = ["dedup", "a.jsonl", "--threshold", "0.6", "--decisions", "decisions.jsonl"];
    place.run(&[&args[..], &["--keep", "first", "-o", "kept.jsonl", "-q"]].concat()).ok();
    let kept = place.read("kept.jsonl");
    let ids: Vec<&str> = kept.lines().map(|line| &line[7..8]).collect();
    assert_eq!(ids, ["b", "c", "d"]);
}

#[test]
fn indexes_store_and_apply_decisions() {
    let place = place();
    place.run(&["index", "create", "x", "a.jsonl", "--threshold", "0.6", "--store", "texts"]).ok();
    let add = ["index", "decisions", "x", "--add", "decisions.jsonl", "--who", "carl"];
    let added = place.run(&add);
    assert!(
        added.err.contains("4 decisions added, the last has number 4, 1 of them about"),
        "{}",
        added.err
    );
    let lines = place.run(&["index", "decisions", "x"]).ok();
    let log: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = log.iter().map(|decision| decision["who"].as_str().unwrap()).collect();
    assert_eq!(names, ["ann", "bob", "carl", "carl"]);
    assert_eq!(log[0]["contents"].as_array().unwrap().len(), 2);
    assert!(log.iter().all(|decision| decision["when"].is_string()));
    assert!(log[3].get("contents").is_none());

    let expected = [group("b", &["a"]), group("d", &["e"])];
    let own = ["index", "groups", "x", "--keep", "first", "--json"];
    assert_eq!(groups(place.run(&own)), expected);
    let ignored = [&own[..], &["--no-decisions"]].concat();
    assert_eq!(groups(place.run(&ignored)), [group("a", &["b", "c"])]);
    let find = ["find", "a.jsonl", "--threshold", "0.6", "--keep", "first", "--json"];
    assert_eq!(groups(place.run(&[&find[..], &["--decisions", "x"]].concat())), expected);

    // A run accepts an exported log. A later decision revokes an earlier one.
    place.run(&["index", "decisions", "x", "-o", "log.jsonl"]).ok();
    assert_eq!(place.read("log.jsonl"), lines);
    assert_eq!(place.run(&["index", "decisions", "x", "-o", "-"]).ok(), lines);
    let from_file = [&find[..], &["--decisions", "log.jsonl"]].concat();
    assert_eq!(groups(place.run(&from_file)), expected);
    let revoked = br#"{"decision":"undecided","documents":["c","a"]}"#;
    let revoke = ["index", "decisions", "x", "--add", "-", "--seen", "4"];
    place.run_with_input(&revoke, revoked).ok();
    assert_eq!(groups(place.run(&own)), [group("b", &["a", "c"]), group("d", &["e"])]);

    // A decision no longer applies if the text of one of its documents has changed.
    let changed = DOCUMENTS.lines().nth(5).unwrap().replace("pears", "plums");
    place.file("changed.jsonl", changed);
    place.run(&["index", "update", "x", "changed.jsonl"]).ok();
    assert_eq!(groups(place.run(&own)), [group("b", &["a", "c"])]);
    let report: Value = serde_json::from_str(&place.run(&own).ok()).unwrap();
    assert_eq!(report["decisions"]["unapplied"][0]["reason"], json!("changed"));
}

#[test]
fn audits_count_decided_pairs_as_found() {
    let place = place();
    let find =
        ["find", "a.jsonl", "--threshold", "0.6", "--decisions", "decisions.jsonl", "--json"];
    let report = place.run(&[&find[..], &["--pairs", "pairs.csv", "-q"]].concat()).ok();
    place.file("report.json", report);
    let audit = ["audit", "report.json", "a.jsonl", "--pairs", "pairs.csv", "--json", "-q"];
    let recall = |args: &[&str]| -> f64 {
        let audit: Value = serde_json::from_str(&place.run(args).ok()).unwrap();
        audit["recall"].as_f64().or(audit["all"]["recall"].as_f64()).unwrap()
    };
    let decided = [&audit[..], &["--decisions", "decisions.jsonl"]].concat();
    assert!(recall(&audit) < 1.0);
    assert!((recall(&decided) - 1.0).abs() < f64::EPSILON);
}

#[test]
fn invalid_decisions_are_refused() {
    let place = place();
    place.file(
        "bad.jsonl",
        "{\"decision\":\"keep\",\"documents\":[\"a\"]}\n{\"decision\":\"keep\"}\n",
    );
    let run = place.run(&["find", "a.jsonl", "--decisions", "bad.jsonl"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("bad.jsonl line 2"), "{}", run.err);
    let run = place.run(&["find", "a.jsonl", "--decisions", "nosuch"]);
    assert!(run.err.contains("nosuch") && run.code == Some(1), "{}", run.err);
    place.run(&["index", "create", "x", "a.jsonl"]).ok();
    let run = place.run(&["index", "decisions", "x", "--add", "bad.jsonl"]);
    assert!(run.err.contains("bad.jsonl line 2"), "{}", run.err);
    assert_eq!(place.run(&["index", "decisions", "x"]).ok(), "");
    let run = place.run(&["index", "groups", "x", "--no-decisions", "--decisions", "x"]);
    assert_eq!(run.code, Some(2));
}

#[test]
fn unseen_decisions_are_not_overwritten() {
    let place = place();
    place.run(&["index", "create", "x", "a.jsonl", "--threshold", "0.6"]).ok();
    let add = |line: &str, more: &[&str]| {
        let args = [&["index", "decisions", "x", "--add", "-"][..], more].concat();
        place.run_with_input(&args, line.as_bytes())
    };
    let pair =
        |decision: &str| format!("{{\"decision\":\"{decision}\",\"documents\":[\"a\",\"b\"]}}");
    add(&pair("duplicate"), &["--who", "ann"]).ok();
    add(&pair("not_duplicate"), &["--who", "bob", "--seen", "1"]).ok();
    let before = place.run(&["index", "decisions", "x"]).ok();
    let refused = add(&pair("undecided"), &["--who", "ann", "--seen", "1"]);
    assert_eq!(refused.code, Some(1));
    for part in ["no decision was added", "decision 2 by \"bob\"", "not_duplicate", "\"seen\":2"] {
        assert!(refused.err.contains(part), "{}", refused.err);
    }
    assert_eq!(place.run(&["index", "decisions", "x"]).ok(), before);
    // The list contains the number of each decision. An added line can contain `seen` with such a
    // number, instead of the option `--seen`.
    assert!(before.lines().last().unwrap().ends_with(",\"number\":2}"), "{before}");
    add(&pair("undecided").replace('}', ",\"seen\":2}"), &[]).ok();
}

#[test]
fn a_log_is_compacted() {
    let place = place();
    place.run(&["index", "create", "x", "a.jsonl", "--threshold", "0.6"]).ok();
    let line = |decision: &str| {
        format!("{{\"decision\":\"{decision}\",\"documents\":[\"a\",\"b\"],\"who\":\"ann\"}}\n")
    };
    let lines = ["duplicate", "not_duplicate", "undecided", "duplicate"].map(line).concat();
    place.run_with_input(&["index", "decisions", "x", "--add", "-"], lines.as_bytes()).ok();
    let run = place.run(&["index", "decisions", "x", "--compact"]);
    assert!(run.err.contains("3 decisions removed, 1 left"), "{}", run.err);
    let left = place.run(&["index", "decisions", "x"]).ok();
    assert!(left.lines().count() == 1 && left.contains("\"number\":4"), "{left}");
    assert_eq!(place.run(&["index", "check", "x"]).code, Some(0));
}
