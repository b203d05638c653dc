//! Tests of `index categorise` as a process.

#![allow(clippy::unwrap_used, reason = "this is a test")]

use crate::command::Place;
use serde_json::{Value, json};
use std::fmt::Write as _;

const SHIPS: &str = "ship harbour sails anchor captain voyage mast storm island rope";
const CATS: &str = "cat kitten purrs whiskers mouse paw fur sleeps sofa milk";

/// Returns six documents about cats and six about ships; four of these are nearly equal.
fn documents() -> String {
    let mut lines = String::new();
    for n in 0..6 {
        let pick = |words: &str| words.split(' ').skip(n % 4).take(6).collect::<Vec<_>>().join(" ");
        writeln!(
            lines,
            "{}",
            json!({ "id": format!("cat{n}"), "text": format!("{} a{n}", pick(CATS)) })
        )
        .unwrap();
        let text =
            if n < 4 { format!("{SHIPS} number{n}") } else { format!("{} b{n}", pick(SHIPS)) };
        writeln!(lines, "{}", json!({ "id": format!("ship{n}"), "text": text })).unwrap();
    }
    lines
}

fn place() -> Place {
    let place = Place::new();
    place.file("a.jsonl", documents());
    place.run(&["index", "create", "x", "a.jsonl", "--store", "texts", "-q"]).ok();
    place
}

fn tree(place: &Place, args: &[&str]) -> Value {
    let args = [&["index", "categorise", "x", "--json"], args].concat();
    serde_json::from_str(&place.run(&args).ok()).unwrap()
}

/// The number of documents of each topic.
fn topics(tree: &Value) -> Vec<u64> {
    let all = tree["categories"].as_array().unwrap().iter();
    let topics = all.filter(|category| category["parent"].is_null());
    topics.map(|category| category["documents"].as_u64().unwrap()).collect()
}

#[test]
fn category_trees_are_stored_and_reproducible() {
    let place = place();
    let created = tree(&place, &["--topics", "2", "--threads", "1"]);
    assert_eq!(topics(&created), [6, 6]);
    assert_eq!(tree(&place, &["--show"]), created);
    let text = place.run(&["index", "categorise", "x", "--show"]).ok();
    assert!(text.starts_with("x: 12 documents in 2 topics\n"), "{text}");
    assert!(text.contains("ship") || text.contains("captain"), "{text}");
    // Equal documents give equal trees with any number of threads.
    let mut second = tree(&place, &["--topics", "2", "--threads", "4"]);
    assert_eq!(second["model"], 2);
    second["model"] = json!(1);
    assert_eq!(second, created);
    place.run(&["index", "check", "x"]).ok();
    let groups = ["index", "groups", "x", "--threshold", "0.3", "--json"];
    let groups: Value = serde_json::from_str(&place.run(&groups).ok()).unwrap();
    let category = &groups["groups"][0]["category"];
    assert!(category["path"].is_string() && category["label"].is_array(), "{groups}");
    let members = ["index", "categorise", "x", "--show", "--members", "members.csv"];
    place.run(&members).ok();
    let rows = place.read("members.csv");
    assert!(rows.starts_with("id,cluster,category,label\ncat0,"), "{rows}");
    assert_eq!(rows.lines().count(), 13);
    let mut truth = "id,cluster\n".to_owned();
    for line in documents().lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        let id = document["id"].as_str().unwrap();
        writeln!(truth, "{id},{}", &id[..id.len() - 1]).unwrap();
    }
    place.file("truth.csv", truth);
    let agreement = place.run(&["evaluate", "members.csv", "truth.csv", "--json"]).ok();
    let agreement: Value = serde_json::from_str(&agreement).unwrap();
    assert_eq!(agreement["adjusted_rand_index"], 1.0);
}

#[test]
fn additions_keep_existing_categories() {
    let place = place();
    let created = tree(&place, &["--topics", "2"]);
    let query = |text: &str| -> Value {
        let args = ["query", "x", "-", "--json", "--threshold", "0.1"];
        serde_json::from_str(&place.run_with_input(&args, text.as_bytes()).ok()).unwrap()
    };
    let ship = query(&format!("{SHIPS} number1"))["category"].clone();
    assert!(ship["path"].is_string() && ship["label"].is_array());
    let queried = place.run_with_input(&["query", "x", "-"], SHIPS.as_bytes());
    assert!(queried.ok().contains("  category "));
    // The category is also shown if no document resembles the text.
    let alone = place.run_with_input(&["query", "x", "-"], b"a captain on an island").ok();
    assert!(alone.contains("  category "), "{alone}");
    let quiet = place.run_with_input(&["query", "x", "-", "-q"], b"a captain on an island").ok();
    assert!(quiet.is_empty(), "{quiet}");
    place.file("b.jsonl", format!("{{\"id\":\"new\",\"text\":\"{SHIPS} number1\"}}\n"));
    place.run(&["index", "add", "x", "b.jsonl", "-q"]).ok();
    let now = tree(&place, &["--show"]);
    assert_eq!(topics(&now).iter().sum::<u64>(), 13);
    assert_eq!(now["model"], created["model"]);
    assert_eq!(query(&format!("{SHIPS} number1"))["category"], ship);
    assert_eq!(query(&format!("{SHIPS} number1"))["matches"][0]["category"], ship);
    place.run(&["index", "remove", "x", "new", "ship0"]).ok();
    assert_eq!(topics(&tree(&place, &["--show"])).iter().sum::<u64>(), 11);
    place.run(&["index", "backup", "x", "copy"]).ok();
    place.run(&["index", "restore", "y", "copy"]).ok();
    let restored = place.run(&["index", "categorise", "y", "--show", "--json"]).ok();
    let restored: Value = serde_json::from_str(&restored).unwrap();
    assert_eq!(restored["categories"], tree(&place, &["--show"])["categories"]);
}

#[test]
fn categorise_rejects_unsuitable_indexes() {
    let place = place();
    let run = place.run(&["index", "categorise", "x", "--show"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("without --show makes them"), "{}", run.err);
    place.run(&["index", "create", "y", "a.jsonl", "-q", "--store", "sets"]).ok();
    let refused = place.run(&["index", "categorise", "y"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("--store texts"), "{}", refused.err);
    let wrong = place.run(&["index", "categorise", "x", "--topics", "0"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("from 1 to 1000"), "{}", wrong.err);
}
