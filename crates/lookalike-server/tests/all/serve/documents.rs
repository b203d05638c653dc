//! Documents are added, read, listed and removed, one at a time and many at once.

use crate::serve::schema::DESCRIPTION;
use crate::serve::served::Served;
use lookalike::store::settings::StoredContent;
use serde_json::json;

#[test]
fn described_endpoints_exist() {
    let served = Served::start();
    for (path, item) in DESCRIPTION["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys().filter(|key| *key != "parameters") {
            let path = path.replace("{id}", "some").replace("{version}", "1");
            let answer = served.client.request(&method.to_uppercase(), &path, &[], b"");
            let code = if answer.status >= 400 { answer.json()["code"].clone() } else { json!("") };
            assert!(code != "unknown-address" && code != "wrong-method", "{method} {path}");
        }
    }
    let missing = served.client.get("/v1/nothing").problem(404, "unknown-address");
    assert!(missing["detail"].as_str().unwrap().contains("/openapi.json"));
    let answer = served.client.request("PATCH", "/v1/documents/a", &[], b"");
    answer.problem(405, "wrong-method");
    for method in ["get", "put", "delete"] {
        assert!(answer.header("allow").unwrap().contains(method), "{}", answer.head);
    }
}

#[test]
fn documents_keep_text_and_metadata() {
    let served = Served::start();
    let client = &served.client;
    let long = "y".repeat(10_000);
    for id in ["a", "folder%2Ffile.txt", "a%0Ab", "%C3%A4%20%2B+%25", long.as_str(), "%22%7B"] {
        let path = format!("/v1/documents/{id}");
        let text = format!("the text of one two three four five {}", id.len());
        let body = json!({ "text": text, "metadata": { "n": 1 },
            "modified": "2020-02-02T02:02:02Z", "expires": "2200-01-01T00:00:00+01:00" });
        let put = client.put(&path, &body).ok(201);
        assert_eq!(put["done"], "added");
        assert_eq!(client.put(&path, &body).ok(200)["done"], "replaced");
        let got = client.get(&format!("{path}?text=true")).ok(200);
        assert_eq!(got["id"], put["id"]);
        assert_eq!((&got["text"], &got["metadata"]), (&body["text"], &body["metadata"]));
        assert_eq!(got["modified"], "2020-02-02T02:02:02Z");
        assert_eq!(got["expires"], "2199-12-31T23:00:00Z");
        assert_eq!((&got["shingles"], &got["bytes"]), (&put["shingles"], &json!(text.len())));
        client.put(&format!("{path}?mode=add"), &body).problem(409, "id-taken");
        assert_eq!(client.delete(&path).status, 204);
        client.delete(&path).problem(404, "unknown-document");
        client.get(&path).problem(404, "unknown-document");
    }
}

#[test]
fn expired_ids_can_be_added_again() {
    let served = Served::start();
    let path = "/v1/documents/short";
    served.client.put(path, &json!({ "text": "a b", "ttl_seconds": 1 })).ok(201);
    while served.client.get(path).status == 200 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let second = served.client.put(&format!("{path}?mode=add"), &json!({ "text": "c" })).ok(201);
    assert_eq!(second["done"], "added");
}

#[test]
fn empty_texts_are_stored_without_matches() {
    let served = Served::start();
    let put = served.client.put("/v1/documents/empty", &json!({ "text": "" })).ok(201);
    assert_eq!(put["shingles"], 0);
    let body = json!({ "text": "" });
    assert_eq!(served.client.post("/v1/query", &body).ok(200)["found"], 0);
}

#[test]
fn document_lists_continue_after_cursors() {
    let served = Served::start();
    let lines: String = (0..25).map(|n| format!("{{\"id\":\"d{n}\",\"text\":\"t\"}}\n")).collect();
    assert_eq!(served.client.lines("/v1/documents", lines.as_bytes()).ok(200)["added"], 25);
    let (mut ids, mut after) = (Vec::new(), String::new());
    loop {
        let page = served.client.get(&format!("/v1/documents?limit=10{after}")).ok(200);
        let documents = page["documents"].as_array().unwrap();
        ids.extend(documents.iter().map(|d| d["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(ids, (0..25).map(|n| format!("d{n}")).collect::<Vec<_>>());
}

#[test]
fn bad_lines_stop_or_are_skipped() {
    let served = Served::start();
    let client = &served.client;
    let many: String =
        (0..5_000).map(|n| format!("{{\"id\":\"m{n}\",\"text\":\"word {n}\"}}\n")).collect();
    let bad = format!("{many}\n{{\"id\":\"x\"}}\n{{\"id\":\"last\",\"text\":\"\"}}");
    let problem = client.lines("/v1/documents", bad.as_bytes()).problem(400, "bad-line");
    assert_eq!((&problem["line"], &problem["stored"]), (&json!(5002), &json!(5000)));
    assert_eq!(problem["line_code"], "bad-member");
    client.get("/v1/documents/last").problem(404, "unknown-document");
    let answer = client.lines("/v1/documents?on_error=skip", bad.as_bytes()).ok(200);
    assert_eq!((&answer["added"], &answer["replaced"]), (&json!(1), &json!(5000)));
    assert_eq!(
        (&answer["skipped"][0]["line"], &answer["skipped_total"]),
        (&json!(5002), &json!(1))
    );
    let lines = ["new", "m7", "n"].map(|id| format!("{{\"id\":\"{id}\",\"text\":\"\"}}\n"));
    let lines = lines.concat();
    let problem = client.lines("/v1/documents?mode=add", lines.as_bytes()).problem(400, "bad-line");
    assert_eq!((&problem["line"], &problem["stored"]), (&json!(2), &json!(1)));
    assert_eq!(problem["line_code"], "id-taken");
    let answer = client.lines("/v1/documents?mode=add&on_error=skip", lines.as_bytes()).ok(200);
    assert_eq!((&answer["added"], &answer["skipped_total"]), (&json!(1), &json!(2)));
}

#[test]
fn batched_writes_fail_separately() {
    let served = Served::start();
    served.client.put("/v1/documents/taken", &json!({ "text": "" })).ok(201);
    served.gate.close();
    let put = |id: String| {
        let client = served.client.clone();
        let path = format!("/v1/documents/{id}?mode=add");
        std::thread::spawn(move || client.put(&path, &json!({ "text": "a b c d e f" })))
    };
    let first = put("first".to_owned());
    served.gate.wait_for(1);
    let other_threads: Vec<_> = (0..6).map(|n| put(format!("n{n}"))).collect();
    let (taken, twice) = (put("taken".to_owned()), put("n0".to_owned()));
    served.gate.open();
    first.join().unwrap().ok(201);
    taken.join().unwrap().problem(409, "id-taken");
    let other_threads = other_threads.into_iter().map(|thread| thread.join().unwrap());
    let mut statuses: Vec<_> =
        other_threads.chain([twice.join().unwrap()]).map(|a| a.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 201, 201, 201, 201, 409]);
    assert_eq!(served.client.get("/v1/stats").ok(200)["documents"], 8);
}

#[test]
fn read_only_servers_reject_writes() {
    let served = Served::with(StoredContent::Sets, |config| config.writable = false);
    let client = &served.client;
    client.put("/v1/documents/a", &json!({ "text": "" })).problem(403, "read-only");
    client.lines("/v1/documents", b"").problem(403, "read-only");
    client.delete("/v1/documents/a").problem(403, "read-only");
    assert_eq!(client.get("/v1/settings").ok(200)["writable"], false);
    client.post("/v1/query", &json!({ "text": "a" })).ok(200);
}
