//! Passages that a text shares with the documents of an index.

use crate::serve::client::Client;
use crate::serve::served::{Served, containment, settings};
use lookalike::store::settings::{IndexSettings, StoredContent};
use serde_json::{Value, json};

const NOTE: &str = "All rights reserved; no part of this may be copied without written consent";

fn texts(settings: IndexSettings) -> IndexSettings {
    IndexSettings { store: StoredContent::Texts, ..settings }
}

fn put(client: &Client, id: &str, text: &str) {
    client.put(&format!("/v1/documents/{id}"), &json!({ "text": text })).ok(201);
}

/// Describes each passage: its number of documents, its text, and the id and text of each place.
fn passages(answer: &Value, text: &str, stored: &dyn Fn(&str) -> String) -> Vec<String> {
    let part = |text: &str, of: &Value| {
        let ends = |name: &str| [0, 1].map(|end| of[name][end].as_u64().unwrap() as usize);
        let ([start, end], [first, last]) = (ends("bytes"), ends("chars"));
        let part = text[start..end].to_owned();
        let chars: String = text.chars().skip(first).take(last - first).collect();
        assert_eq!(part, chars);
        part
    };
    let passages = answer["passages"].as_array().unwrap().iter().map(|passage| {
        let places = passage["places"].as_array().unwrap().iter().map(|place| {
            let id = place["id"].as_str().unwrap();
            format!("{id}: {}", part(&stored(id), place))
        });
        let places: Vec<String> = places.collect();
        format!("{} {} [{}]", passage["documents"], part(text, passage), places.join("; "))
    });
    passages.collect()
}

#[test]
fn passages_match_otherwise_different_documents() {
    for settings in [texts(settings(StoredContent::Texts)), texts(containment())] {
        let served = Served::with_settings(settings, |_| {});
        let client = &served.client;
        let stored = |id: &str| match id {
            "a" => format!("Ünrelated words at the start. {}\r\n", NOTE.to_uppercase()),
            "b" => format!("{} and this goes on with other words", NOTE.replace(' ', "\n")),
            "c" => "no part of this may be copied, it says".to_owned(),
            _ => "nothing in common with the others at all".to_owned(),
        };
        for id in ["a", "b", "c", "d"] {
            put(client, id, &stored(id));
        }
        let text = format!("Größe: {NOTE} and this is new.");
        let body = json!({ "text": text, "min_words": 6 });
        let found = client.post("/v1/passages", &body).ok(200);
        let expected = [
            format!("1 {NOTE} and this [b: {} and this]", NOTE.replace(' ', "\n")),
            format!("1 {NOTE} [a: {}]", NOTE.to_uppercase()),
            "1 no part of this may be copied [c: no part of this may be copied]".to_owned(),
        ];
        assert_eq!(passages(&found, &text, &stored), expected);
        assert_eq!((&found["words"], &found["known_words"]), (&json!(18), &json!(15)));
        assert_eq!((&found["documents"], found.get("next")), (&json!(3), None));
        let top_body = json!({ "text": NOTE, "min_words": 13, "top": 1 });
        let found = client.post("/v1/passages", &top_body).ok(200);
        assert_eq!(found["passages"][0]["documents"], 2);
        assert_eq!(found["passages"][0]["places"].as_array().unwrap().len(), 1);
        // Removed documents are not found.
        assert_eq!(client.delete("/v1/documents/b").status, 204);
        let found = client.post("/v1/passages", &body).ok(200);
        assert_eq!(passages(&found, &text, &stored), expected[1..]);
        let found = client.post("/v1/passages", &json!({ "text": "…" })).ok(200);
        assert_eq!((&found["words"], &found["passages"]), (&json!(0), &json!([])));
    }
}

#[test]
fn full_passage_responses_can_continue() {
    let served = Served::with_settings(texts(settings(StoredContent::Texts)), |_| {});
    let client = &served.client;
    let part = |number: usize| format!("w{number}x0 w{number}x1 w{number}x2 ");
    let line = |number: usize| json!({ "id": format!("d{number}"), "text": part(number) });
    let lines: String = (0..1_150).map(|number| line(number).to_string() + "\n").collect();
    client.lines("/v1/documents", lines.as_bytes()).ok(200);
    let text: String = (0..1_150).map(part).collect();
    let (mut compared, mut found, mut after) = (0, 0, Value::Null);
    let mut answers = 0;
    loop {
        let body = json!({ "text": text, "min_words": 3, "after": after });
        let answer = client.post("/v1/passages", &body).ok(200);
        answers += 1;
        compared += answer["compared"].as_u64().unwrap();
        found += answer["known_words"].as_u64().unwrap();
        match answer.get("next") {
            Some(next) => after = next.clone(),
            None => break,
        }
    }
    assert!(answers > 1, "{answers}");
    assert_eq!((compared, found), (1_150, 3 * 1_150));
    // The search may start at any document number.
    let body = json!({ "text": text, "min_words": 3, "after": "9999999999999999999" });
    assert_eq!(client.post("/v1/passages", &body).ok(200)["compared"], 0);
}

#[test]
fn bad_requests_are_problems() {
    let served = Served::start();
    let client = &served.client;
    for bad in [
        json!({}),
        json!({ "text": 7 }),
        json!({ "text": "a", "min_words": 1 }),
        json!({ "text": "a", "min_words": 1_000_001 }),
        json!({ "text": "a", "min_words": -1 }),
        json!({ "text": "a", "top": 0 }),
        json!({ "text": "a", "top": 101 }),
        json!({ "text": "a", "after": "x" }),
        json!({ "text": "a", "after": "18446744073709551615" }),
    ] {
        client.post("/v1/passages", &bad).problem(400, "bad-member");
    }
    let unknown = json!({ "text": "a", "id": "b" });
    client.post("/v1/passages", &unknown).problem(400, "unknown-member");
    client.post("/v1/passages?x=1", &json!({ "text": "a" })).problem(400, "bad-parameter");
    for store in [StoredContent::Sets, StoredContent::Signatures] {
        let served = Served::with(store, |_| {});
        let answer = served.client.post("/v1/passages", &json!({ "text": "a" }));
        let problem = answer.problem(422, "no-sets");
        assert!(problem["detail"].as_str().unwrap().contains("--store texts"), "{problem}");
    }
    let served = Served::with(StoredContent::Texts, |config| config.limits.text_bytes = 1 << 10);
    let long = json!({ "text": "a ".repeat(600) });
    served.client.post("/v1/passages", &long).problem(413, "text-too-large");
}
