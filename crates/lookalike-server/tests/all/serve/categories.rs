//! Categories over HTTP: the tree, and the documents of a category.

use crate::serve::served::{Served, settings};
use lookalike::categories::CategorySample;
use lookalike::store::backend::SideTableChanges;
use lookalike::store::entry::DocumentNumber;
use lookalike::store::memory::MemoryBackend;
use lookalike::store::settings::StoredContent;
use serde_json::{Value, json};

const SHIPS: &str = "ship harbour sails anchor captain voyage mast storm island rope";
const CATS: &str = "cat kitten purrs whiskers mouse paw fur sleeps sofa milk";

/// Starts a server without documents, whose categories have two topics. The first topic has a
/// category for nearly equal documents.
fn served() -> Served {
    let mut sample = CategorySample::default();
    for n in 0..4u64 {
        sample.add(n, &format!("{SHIPS} and the long way home number{n}"));
        let cats: Vec<&str> = CATS.split(' ').skip(n as usize).take(6).collect();
        sample.add(10 + n, &format!("{} a{n} b{n} c{n} d{n}", cats.join(" ")));
    }
    let memory = MemoryBackend::new(settings(StoredContent::Texts));
    memory.replace_categories(&sample.model(2).encode(), DocumentNumber(0), &[]).unwrap();
    Served::with_memory(memory, |_| {})
}

fn ids(list: &Value) -> Vec<&str> {
    let documents = list["documents"].as_array().unwrap().iter();
    documents.map(|document| document["id"].as_str().unwrap()).collect()
}

#[test]
fn category_trees_are_paged() {
    let served = served();
    let client = &served.client;
    let all_categories = client.get("/v1/categories").ok(200);
    assert!(all_categories.get("next").is_none());
    let (mut path, mut pages) = ("/v1/categories?limit=2".to_owned(), Vec::new());
    loop {
        let page = client.get(&path).ok(200);
        assert_eq!(page["model"], 1);
        let list = page["categories"].as_array().unwrap();
        assert!(list.len() <= 2);
        pages.extend(list.clone());
        let Some(next) = page.get("next") else { break };
        path = format!("/v1/categories?limit=2&after={}", next.as_str().unwrap());
    }
    assert_eq!(all_categories["categories"], Value::from(pages));
    client.get("/v1/categories?after=2-1").problem(410, "cursor-expired");
    client.get("/v1/categories?after=1-999").ok(200);
    for wrong in ["", "1", "1-", "-1", "a-b", "1-2-3"] {
        client.get(&format!("/v1/categories?after={wrong}")).problem(400, "bad-parameter");
    }
}

#[test]
fn new_documents_get_categories_immediately() {
    let served = served();
    let client = &served.client;
    let put = |id: &str, text: &str| {
        client.put(&format!("/v1/documents/{id}"), &json!({ "text": text })).ok(201);
    };
    let tree = client.get("/v1/categories").ok(200);
    let paths =
        tree["categories"].as_array().unwrap().iter().map(|category| category["path"].clone());
    let paths: Vec<Value> = paths.collect();
    assert_eq!((&tree["model"], &tree["without_category"]), (&json!(1), &json!(0)));
    assert!(paths.iter().any(|path| path.as_str().unwrap().len() == "1.1.1".len()), "{paths:?}");
    put("ship", &format!("{SHIPS} and the long way home number9"));
    put("sailor", "a captain in a harbour");
    put("cat", "the kitten purrs, a paw on its fur");
    put("numbers", "17 18 19");
    let tree = client.get("/v1/categories").ok(200);
    let documents = |path: &str| {
        let all = tree["categories"].as_array().unwrap();
        all.iter().find(|category| category["path"] == path).unwrap()["documents"].clone()
    };
    let topic = |word: &str| {
        let id = if word == "ship" { "ship" } else { "cat" };
        let category = &client.get(&format!("/v1/documents/{id}")).ok(200)["category"];
        let path = category["path"].as_str().unwrap().to_owned();
        path.split('.').next().unwrap().to_owned()
    };
    let (ships, cats) = (topic("ship"), topic("cat"));
    assert_ne!(ships, cats);
    assert_eq!((documents(&ships), documents(&cats)), (json!(2), json!(1)));
    assert_eq!(tree["without_category"], 1);
    let list = |query: &str| client.get(&format!("/v1/documents?{query}")).ok(200);
    assert_eq!(ids(&list(&format!("category={ships}"))), ["ship", "sailor"]);
    assert_eq!(ids(&list(&format!("category={cats}"))), ["cat"]);
    assert_eq!(ids(&list("category=none")), ["numbers"]);
    let near = client.get("/v1/documents/ship").ok(200)["category"]["path"].clone();
    assert_eq!(near.as_str().unwrap().split('.').count(), 3);
    assert_eq!(ids(&list(&format!("category={}", near.as_str().unwrap()))), ["ship"]);
    // Lists one document per page.
    let first = list(&format!("category={ships}&limit=1"));
    assert_eq!(ids(&first), ["ship"]);
    let after = first["next"].as_str().unwrap();
    assert_eq!(ids(&list(&format!("category={ships}&limit=1&after={after}"))), ["sailor"]);
    assert_eq!(client.get("/v1/documents/numbers").ok(200)["category"], Value::Null);
}

#[test]
fn answers_to_queries_have_categories() {
    let served = served();
    let client = &served.client;
    let text = format!("{SHIPS} and the long way home number1");
    client.put("/v1/documents/a", &json!({ "text": text })).ok(201);
    let body = json!({ "text": text });
    let found = client.post("/v1/query", &body).ok(200);
    assert!(found["category"]["path"].is_string());
    assert_eq!(found["matches"][0]["category"], found["category"]);
    client.put("/v1/documents/b", &json!({ "text": text })).ok(201);
    let groups = loop {
        let answer = client.get("/v1/groups");
        if answer.status == 200 && answer.json()["stale"] == json!(false) {
            break answer.ok(200);
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert_eq!(groups["groups"][0]["keeper"]["category"], found["category"]);
    let by_id = client.post("/v1/query", &json!({ "id": "a" })).ok(200);
    assert_eq!(by_id["category"], found["category"]);
}

/// Returns the groups when they are up to date.
fn settled(served: &Served, query: &str) -> Value {
    loop {
        let answer = served.client.get(&format!("/v1/groups?{query}"));
        if answer.status == 200 && answer.json()["stale"] == json!(false) {
            return answer.ok(200);
        }
        assert!(answer.status == 202 || answer.status == 200, "{}", answer.status);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn groups_can_be_filtered_by_category() {
    let served = served();
    let client = &served.client;
    let cat = "the kitten purrs, a paw on its fur, a mouse sleeps on the sofa";
    let other = "17 18 19 20 21 22 23 24 25 26";
    for (name, text) in [
        ("ship", format!("{SHIPS} and the long way home number9")),
        ("cat", cat.to_owned()),
        ("other", other.to_owned()),
    ] {
        for copy in ["a", "b"] {
            let body = json!({ "text": text });
            client.put(&format!("/v1/documents/{name}-{copy}"), &body).ok(201);
        }
    }
    let keepers = |query: &str| -> Vec<String> {
        let answer = settled(&served, query);
        let groups = answer["groups"].as_array().unwrap().iter();
        let mut all: Vec<_> =
            groups.map(|group| group["keeper"]["id"].as_str().unwrap().to_owned()).collect();
        all.sort();
        all
    };
    let path = |id: &str| {
        let document = client.get(&format!("/v1/documents/{id}")).ok(200);
        document["category"]["path"].as_str().unwrap().to_owned()
    };
    assert_eq!(keepers(""), ["cat-a", "other-a", "ship-a"]);
    let near = path("ship-a");
    assert_eq!(near.split('.').count(), 3, "{near}");
    let topic = near.split('.').next().unwrap();
    for path in [topic, &near[..near.rfind('.').unwrap()], &near] {
        assert_eq!(keepers(&format!("category={path}")), ["ship-a"], "{path}");
    }
    let cats = path("cat-a");
    assert_eq!(keepers(&format!("category={}", cats.split('.').next().unwrap())), ["cat-a"]);
    assert_eq!(keepers("category=none"), ["other-a"]);
    assert_eq!(keepers("category=none&search=kitten"), [""; 0]);
    assert_eq!(keepers(&format!("category={topic}&search=harbour")), ["ship-a"]);
    client.get("/v1/groups?category=99").problem(404, "unknown-category");
    client.get("/v1/groups?threshold=0.71&category=99").problem(404, "unknown-category");
    // Lists one group per page.
    let first = settled(&served, &format!("category={topic}&limit=1"));
    assert_eq!(first["groups"][0]["keeper"]["id"], "ship-a");
}

#[test]
fn damaged_category_models_keep_queries_working() {
    let memory = MemoryBackend::new(settings(StoredContent::Texts));
    memory.replace_categories(b"no model", DocumentNumber(0), &[]).unwrap();
    let served = Served::with_memory(memory, |_| {});
    let client = &served.client;
    client.put("/v1/documents/a", &json!({ "text": SHIPS })).ok(201);
    let found = client.post("/v1/query", &json!({ "text": SHIPS })).ok(200);
    assert!(found["found"] == 1 && found.get("category").is_none());
    assert_eq!(ids(&client.get("/v1/documents").ok(200)), ["a"]);
    client.get("/v1/categories").problem(500, "internal");
}

#[test]
fn uncategorised_indexes_list_no_categories() {
    let served = Served::start();
    let client = &served.client;
    client.put("/v1/documents/a", &json!({ "text": "one two three" })).ok(201);
    let tree = client.get("/v1/categories").ok(200);
    assert_eq!(tree, json!({ "categories": [], "model": null, "without_category": 0 }));
    settled(&served, "");
    client.get("/v1/groups?category=1").problem(404, "unknown-category");
    // The category is checked before the groups of a new threshold are computed.
    client.get("/v1/groups?threshold=0.71&category=1").problem(404, "unknown-category");
    assert!(client.get("/v1/documents/a").ok(200).get("category").is_none());
    let refused = client.get("/v1/documents?category=1").problem(404, "unknown-category");
    assert!(refused["detail"].as_str().unwrap().contains("lookalike index categorise"));
    let unknown = self::served().client.get("/v1/documents?category=1.9");
    let refused = unknown.problem(404, "unknown-category");
    assert!(refused["detail"].as_str().unwrap().contains("GET /v1/categories"));
}
