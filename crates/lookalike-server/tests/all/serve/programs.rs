//! Requests of programs that send many documents: batches, filters, idempotency keys and
//! compression.

use crate::serve::client::Client;
use crate::serve::served::Served;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lookalike::store::settings::StoredContent;
use serde_json::{Value, json};
use std::io::{Read, Write};

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut all).unwrap();
    all
}

/// Adds 250 documents, every fifth of which is in French.
fn fill(client: &Client) {
    let lines: String = (0..250)
        .map(|n| {
            let language = if n % 5 == 0 { "fr" } else { "en" };
            let metadata = json!({ "language": language, "n": n });
            let text = format!("number {n} of some documents with words and more words");
            json!({ "id": format!("d{n}"), "text": text, "metadata": metadata }).to_string() + "\n"
        })
        .collect();
    assert_eq!(client.lines("/v1/documents", lines.as_bytes()).ok(200)["added"], 250);
}

/// Returns the ids of a list, read page by page.
fn ids(client: &Client, query: &str) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("/v1/documents?limit=7&{query}{after}")).ok(200);
        let documents = page["documents"].as_array().unwrap();
        all.extend(documents.iter().map(|document| document["id"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return all,
        }
    }
}

#[test]
fn filters_list_and_remove_documents() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let french: Vec<String> = (0..250).step_by(5).map(|n| format!("d{n}")).collect();
    assert_eq!(ids(client, "filter=language%3Dfr"), french);
    assert_eq!(ids(client, "filter=language%3Dfr&filter=n%3E%3D240"), ["d240", "d245"]);
    assert_eq!(ids(client, "filter=language%3Dde"), Vec::<String>::new());
    client.get("/v1/documents?filter=").problem(400, "bad-parameter");
    // A request without a filter, or with `dry_run`, removes nothing.
    client.delete("/v1/documents").problem(400, "bad-parameter");
    client.delete("/v1/documents?dry_run=true").problem(400, "bad-parameter");
    let trial = client.delete("/v1/documents?filter=language%3Dfr&dry_run=true").ok(200);
    assert_eq!(trial, json!({ "removed": 50 }));
    assert_eq!(ids(client, "").len(), 250);
    let removed = client.delete("/v1/documents?filter=language%3Dfr&filter=n%3C240").ok(200);
    assert_eq!(removed, json!({ "removed": 48 }));
    assert_eq!(ids(client, "filter=language%3Dfr"), ["d240", "d245"]);
    assert_eq!(ids(client, "").len(), 202);
    client.delete("/v1/documents?filter=language%3Dfr&x=1").problem(400, "bad-parameter");
}

#[test]
fn several_queries_have_an_answer_each() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let queries = [
        json!({ "id": "d7" }),
        json!({ "id": "gone" }),
        json!({ "text": "number 9 of some documents with words and more words", "top": 1 }),
    ];
    let answers = client.post("/v1/queries", &json!({ "queries": queries })).ok(200);
    let answers = answers["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 3);
    for at in [0, 2] {
        assert_eq!(answers[at], client.post("/v1/query", &queries[at]).ok(200));
    }
    assert_eq!(answers[1]["problem"]["code"], "unknown-document", "{}", answers[1]);
    // An invalid query is a problem of the whole request.
    let wrong = [json!({ "id": "d7" }), json!({ "text": "a", "id": "b" })];
    let refused = client.post("/v1/queries", &json!({ "queries": wrong }));
    let detail = refused.problem(400, "bad-member")["detail"].clone();
    assert!(detail.as_str().unwrap().starts_with("query 2: found both"), "{detail}");
    assert_eq!(client.post("/v1/queries", &json!({ "queries": [] })).ok(200)["answers"], json!([]));
    let many = vec![json!({ "id": "d7" }); 101];
    client.post("/v1/queries", &json!({ "queries": many })).problem(400, "bad-member");
    client.post("/v1/queries", &json!({ "queries": [["d7"]] })).problem(400, "bad-member");
}

fn send(client: &Client, key: &str, query: &str, body: &[u8]) -> crate::serve::client::Answer {
    let headers =
        ["content-type: application/x-ndjson".to_owned(), format!("idempotency-key: {key}")];
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    client.request("POST", &format!("/v1/documents{query}"), &headers, body)
}

#[test]
fn repeated_keys_change_nothing() {
    let served = Served::start();
    let client = &served.client;
    let lines = b"{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\",\"text\":\"two\"}\n";
    let first = send(client, "k1", "?mode=add", lines);
    assert_eq!(first.ok(200)["added"], 2);
    assert_eq!(first.header("idempotent-replayed"), None);
    client.delete("/v1/documents/a");
    let second = send(client, "k1", "?mode=add", lines);
    assert_eq!(second.body, first.body);
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    client.get("/v1/documents/a").problem(404, "unknown-document");
    // A request with other content or other parameters may not reuse the key.
    send(client, "k1", "?mode=add", &lines[..24]).problem(422, "key-reused");
    send(client, "k1", "", lines).problem(422, "key-reused");
    // Problems are stored for a key like other answers.
    let refused = send(client, "k2", "?mode=add", lines);
    refused.problem(400, "bad-line");
    client.delete("/v1/documents/b");
    assert_eq!(send(client, "k2", "?mode=add", lines).body, refused.body);
    client.delete("/v1/documents/a");
    assert_eq!(send(client, "k3", "?mode=add", lines).ok(200)["added"], 2);
    send(client, "a b", "", lines).problem(400, "bad-head");
}

#[test]
fn failed_keyed_requests_run_again() {
    let served = Served::start();
    let client = &served.client;
    let lines = b"{\"id\":\"a\",\"text\":\"one\"}\n";
    served.gate.set_full(true);
    send(client, "k", "", lines).problem(507, "disk-full");
    served.gate.set_full(false);
    assert_eq!(send(client, "k", "", lines).ok(200)["added"], 1);
}

#[test]
fn lost_answers_are_replayed() {
    let served = Served::start();
    let client = &served.client;
    let lines = b"{\"id\":\"a\",\"text\":\"one\"}\n";
    served.gate.close();
    // The client disconnects while its document waits to be written.
    let mut stream = client.connect();
    let head = format!(
        "POST /v1/documents?mode=add HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n\
         content-type: application/x-ndjson\r\nidempotency-key: k\r\n\r\n",
        client.address,
        lines.len()
    );
    stream.write_all(&[head.as_bytes(), lines].concat()).unwrap();
    served.gate.wait_for(1);
    drop(stream);
    let busy = send(client, "k", "?mode=add", lines);
    busy.problem(409, "request-running");
    assert_eq!(busy.header("retry-after"), Some("1"));
    served.gate.open();
    let answer = loop {
        let answer = send(client, "k", "?mode=add", lines);
        if answer.status != 409 {
            break answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    };
    assert_eq!(answer.ok(200)["added"], 1);
    assert_eq!(answer.header("idempotent-replayed"), Some("true"));
}

#[test]
fn bodies_may_be_compressed() {
    let served = Served::start();
    let client = &served.client;
    let body = json!({ "text": "some words of a text" }).to_string();
    let gzip = ["content-type: application/json", "content-encoding: gzip"];
    let put =
        |headers: &[&str], body: &[u8]| client.request("PUT", "/v1/documents/a", headers, body);
    put(&gzip, &packed(body.as_bytes())).ok(201);
    put(&[gzip[0], "content-encoding: identity"], body.as_bytes()).ok(200);
    put(&gzip, body.as_bytes()).problem(400, "bad-body");
    let cut = packed(body.as_bytes());
    put(&gzip, &cut[..cut.len() - 3]).problem(400, "bad-body");
    put(&[gzip[0], "content-encoding: br"], body.as_bytes()).problem(415, "wrong-content-type");
    let repeated = [gzip[0], gzip[1], gzip[1]];
    put(&repeated, &packed(body.as_bytes())).problem(415, "wrong-content-type");
    let lines: String =
        (0..5_000).map(|n| format!("{{\"id\":\"{n}\",\"text\":\"text {n}\"}}\n")).collect();
    let headers = ["content-type: application/x-ndjson", "content-encoding: gzip"];
    let sent = client.request("POST", "/v1/documents", &headers, &packed(lines.as_bytes()));
    assert_eq!(sent.ok(200)["added"], 5_000);
}

#[test]
fn expanding_bodies_are_rejected() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.body_bytes = 1 << 20;
        config.limits.held_bytes = 4 << 20;
    });
    let client = &served.client;
    let bomb = packed(&vec![b' '; 200 << 20]);
    assert!(bomb.len() < 1 << 20);
    let gzip = ["content-type: application/json", "content-encoding: gzip"];
    client.request("POST", "/v1/query", &gzip, &bomb).problem(413, "body-too-large");
    let lines = ["content-type: application/x-ndjson", "content-encoding: gzip"];
    client.request("POST", "/v1/documents", &lines, &bomb).problem(413, "body-too-large");
    client.get("/v1/health").ok(200);
}

#[test]
fn responses_are_compressed_if_accepted() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let get = |path: &str, line: &str| client.request("GET", path, &[line], b"");
    let plain = client.get("/v1/documents?limit=200");
    assert_eq!(plain.header("content-encoding"), None);
    let small = get("/v1/health", "accept-encoding: gzip");
    assert_eq!(small.header("content-encoding"), None);
    let answer = get("/v1/documents?limit=200", "accept-encoding: br, gzip");
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert_eq!(answer.header("vary"), Some("accept-encoding"));
    assert!(answer.body.len() * 2 < plain.body.len());
    assert_eq!(unpacked(&answer.body), plain.body);
    let refused = get("/v1/documents?limit=200", "accept-encoding: gzip;q=0, *");
    assert_eq!(refused.body, plain.body);
    let export = get("/v1/export", "accept-encoding: gzip");
    assert_eq!(export.header("content-encoding"), Some("gzip"));
    assert_eq!(unpacked(&export.joined()), client.get("/v1/export").joined());
    let lines = unpacked(&export.joined());
    let first: Value =
        serde_json::from_slice(lines.split(|b| *b == b'\n').next().unwrap()).unwrap();
    assert_eq!(first["id"], "d0");
}
