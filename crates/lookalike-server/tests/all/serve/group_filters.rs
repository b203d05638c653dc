//! Filters of groups by similarity, size, metadata and words. Also tests the beginnings of texts.

use crate::serve::client::Client;
use crate::serve::served::Served;
use lookalike::store::settings::StoredContent;
use serde_json::{Value, json};

const FOX: &str = "the quick brown fox jumps over the lazy dog in the green park";
const OLD: &str = "once upon a time there was an old woman who lived in a small house";

/// Adds a group of three documents and a group of two.
fn fill(client: &Client) {
    let documents = [
        ("a", format!("  \n{FOX} today"), json!({ "language": "en", "date": "2024-01-05" })),
        ("b", format!("{FOX} now"), json!({ "language": "en", "source": "mail/in" })),
        ("c", format!("{FOX} "), json!({ "language": "de" })),
        ("d", format!("{OLD} far away"), json!({ "language": "fr", "date": "2025-06-01" })),
        ("e", format!("{OLD} FAR off"), json!({ "title": "Ä tale" })),
    ];
    for (id, text, metadata) in documents {
        let body = json!({ "text": text, "metadata": metadata });
        client.put(&format!("/v1/documents/{id}"), &body).ok(201);
    }
}

fn settled(client: &Client, query: &str) -> Value {
    loop {
        let answer = client.get(&format!("/v1/groups?{query}"));
        if answer.status != 202 {
            return answer.ok(200);
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn sizes(answer: &Value) -> Vec<usize> {
    let groups = answer["groups"].as_array().unwrap().iter();
    groups.map(|group| 1 + group["duplicates"].as_array().unwrap().len()).collect()
}

#[test]
fn groups_are_chosen_by_their_documents() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    assert_eq!(sizes(&settled(client, "")), [3, 2]);
    for (query, expected) in [
        ("min_documents=3", vec![3]),
        ("max_documents=2", vec![2]),
        ("least=0.9", vec![3]),
        ("most=0.86", vec![3, 2]),
        ("least=0.99", vec![]),
        ("filter=language=de", vec![3]),
        ("filter=date%3E=2024-01-01&filter=date%3C2024-02", vec![3]),
        // One document must satisfy all filters.
        ("filter=language=de&filter=source~mail", vec![]),
        ("filter=language=en&filter=source~mail", vec![3]),
        ("search=FAR%20away", vec![2]),
        ("search=%C3%A4%20TALE", vec![2]),
        ("search=mail/", vec![3]),
        ("search=nowhere", vec![]),
        ("search=fox&order=doubt&state=undecided", vec![3]),
        ("search=fox&order=similarity", vec![3]),
        ("search=fox&state=decided", vec![]),
    ] {
        let answer = settled(client, query);
        assert_eq!(sizes(&answer), expected, "{query}");
        assert_eq!(
            (&answer["groups_total"], &answer["next"]),
            (&json!(2), &Value::Null),
            "{query}"
        );
    }
    let wrong =
        ["least=2", "most=x", "min_documents=0", "filter==", "beginning=1001", "search=a&search=b"];
    for query in wrong {
        client.get(&format!("/v1/groups?{query}")).problem(400, "bad-parameter");
    }
}

#[test]
fn lists_have_the_beginnings_of_texts() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let answer = settled(client, "beginning=9");
    let group = &answer["groups"][0];
    assert_eq!(group["keeper"]["beginning"], "the quick");
    assert_eq!(group["duplicates"][0]["beginning"], "the quick");
    assert_eq!(settled(client, "")["groups"][0]["keeper"]["beginning"], Value::Null);
    let found = client.post("/v1/query", &json!({ "text": FOX, "beginning": 3 })).ok(200);
    assert_eq!(
        (&found["matches"][0]["beginning"], &found["matches"][0]["text"]),
        (&json!("the"), &Value::Null)
    );
    let wrong = json!({ "text": FOX, "beginning": 0 });
    client.post("/v1/query", &wrong).problem(400, "bad-member");

    let served = Served::with(StoredContent::Sets, |_| {});
    let client = &served.client;
    fill(client);
    let found = client.post("/v1/query", &json!({ "text": FOX, "beginning": 3 })).ok(200);
    assert_eq!(found["matches"][0]["beginning"], Value::Null);
    let group = &settled(client, "beginning=9")["groups"][0];
    assert_eq!(group["keeper"].get("beginning"), None);
}
