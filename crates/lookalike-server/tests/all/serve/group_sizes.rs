//! Group sizes over several batches, in documents and matches.

use crate::serve::served::Served;
use serde_json::{Value, json};

const FOX: &str = "the quick brown fox jumps over the lazy dog in the green park";

/// Returns the ids of an answer with their group sizes, if any.
fn sizes(list: &Value) -> Vec<(&str, Option<u64>)> {
    let size = |item: &Value| item.get("group_size").map(|size| size.as_u64().unwrap());
    list.as_array().unwrap().iter().map(|item| (item["id"].as_str().unwrap(), size(item))).collect()
}

#[test]
fn documents_and_matches_include_group_size() {
    let served = Served::start();
    let client = &served.client;
    let fox = json!({ "id": "fox", "text": FOX, "duplicates": ["p", "q"] });
    let copy = json!({ "id": "again", "text": format!("{FOX} today") });
    let lines = format!("{fox}\n{copy}\n");
    client.lines("/v1/documents?form=export", lines.as_bytes()).ok(200);

    let all = client.get("/v1/documents").ok(200);
    assert_eq!(sizes(&all["documents"]), [("fox", Some(3)), ("again", None)]);
    let part = client.get("/v1/documents?after=1").ok(200);
    assert_eq!(sizes(&part["documents"]), [("again", None)]);
    assert_eq!(client.get("/v1/documents/fox").ok(200)["group_size"], 3);
    assert!(client.get("/v1/documents/again").ok(200).get("group_size").is_none());

    let expected = [("fox", Some(3)), ("again", None)];
    // With metadata and texts, and without both.
    for more in [json!({ "texts": true }), json!({ "metadata": false })] {
        let mut query = json!({ "text": FOX, "threshold": 0.5 });
        query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = client.post("/v1/query", &query).ok(200);
        assert_eq!(sizes(&answer["matches"]), expected);
        let answers = client.post("/v1/queries", &json!({ "queries": [query] })).ok(200);
        assert_eq!(sizes(&answers["answers"][0]["matches"]), expected);
    }
    // A document that is added with the id of a recorded duplicate no longer counts as a duplicate.
    client.put("/v1/documents/q", &json!({ "text": "another text of some words" })).ok(201);
    assert_eq!(client.get("/v1/documents/fox").ok(200)["group_size"], 2);
}
