//! `lookalike contamination` from start to exit.

#![allow(clippy::unwrap_used, reason = "this is a test")]

use crate::command::{Place, Run};
use serde_json::{Value, json};

const QUESTION: &str =
    "Which of the two trains arrives first, if both leave at noon and one is late?";

fn place() -> Place {
    let place = Place::new();
    let question = json!({"id": "q1", "question": QUESTION, "answer": "The second train"});
    let other = json!({"id": "q2", "question": "How many apples are left?", "answer": "Twelve"});
    let empty = json!({"id": "q3", "question": "…", "answer": ""});
    place.file("quiz.jsonl", format!("{question}\n{other}\n{empty}\n"));
    let text = QUESTION.to_uppercase().replace(' ', "\r\n");
    let page = json!({"id": "p1", "text": format!("Übung 7 – „{text}“ Explain.")});
    let second = json!({"id": "p2", "text": "Nothing to see; twelve monkeys."});
    place.file("corpus.jsonl", format!("{page}\n{second}\n"));
    place
}

fn run(place: &Place, more: &[&str]) -> Run {
    let args = ["contamination", "corpus.jsonl", "-q"];
    place.run(&[&args[..], more].concat())
}

#[test]
fn items_are_found_with_their_places() {
    let place = place();
    let fields = ["--against", "quiz.jsonl", "--against-field", "question"];
    let fields = [&fields[..], &["--against-field", "answer", "-o", "items.jsonl"]].concat();
    let out = run(&place, &fields).ok();
    for text in ["quiz.jsonl (question)", "quiz.jsonl (answer)", "Compared with 2 documents"] {
        assert!(out.contains(text), "{text}: {out}");
    }
    assert!(out.contains("q1: Which of the two trains") && out.contains("q2: Twelve"), "{out}");
    let lines = place.read("items.jsonl");
    let items: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(items.len(), 6);
    let contaminated: Vec<bool> =
        items.iter().map(|item| item["contaminated"].as_bool().unwrap()).collect();
    assert_eq!(contaminated, [true, false, false, false, true, false]);
    let found = &items[0]["matches"][0];
    assert_eq!((&found["document"], &found["words"]), (&json!("p1"), &json!(16)));
    let corpus = place.read("corpus.jsonl");
    let page: Value = serde_json::from_str(corpus.lines().next().unwrap()).unwrap();
    let range = |name: &str| found[name].as_array().unwrap()[0].as_u64().unwrap() as usize;
    let text = page["text"].as_str().unwrap();
    assert!(text[range("bytes")..].starts_with("WHICH\r\nOF"), "{found}");
    assert_eq!(text.chars().nth(range("chars")), Some('W'));
    let counts = run(&place, &[&fields[..4], &["--json"]].concat()).ok();
    let counts: Value = serde_json::from_str(&counts).unwrap();
    assert_eq!(counts["benchmarks"][0]["contaminated"], 1);
    assert_eq!(counts["benchmarks"][0]["empty"], 1);
}

#[test]
fn bad_input_is_named_with_a_remedy() {
    let place = place();
    let against = ["--against", "quiz.jsonl", "--against-field", "question"];
    let fails = |code: i32, more: &[&str]| run(&place, more).fails(code);
    assert!(fails(1, &["--against", "quiz.jsonl"]).contains("the record has"));
    assert!(fails(1, &["--against", "corpus.jsonl"]).contains("found in themselves"));
    assert!(fails(2, &[&against[..], &["--ngram", "1"]].concat()).contains("2 words or more"));
    assert!(fails(2, &[&against[..], &["--threshold", "0"]].concat()).contains("threshold is 0"));
    assert!(fails(2, &[&against[..], &["--unit", "line"]].concat()).contains("--unit line"));
    assert!(fails(2, &[&against[..], &["-o", "x.csv"]].concat()).contains(".jsonl"));
    assert!(fails(2, &[]).contains("--against"));
    place.file("empty.jsonl", "{\"id\":1,\"text\":\"…\"}\n");
    let none = fails(1, &["--against", "empty.jsonl"]);
    assert!(none.contains("none of the 1 items"), "{none}");
}
