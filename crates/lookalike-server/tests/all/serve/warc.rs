//! The records of a web crawl in one request.

use crate::serve::client::Client;
use crate::serve::served::{Served, settings};
use lookalike::store::settings::StoredContent;
use lookalike_test_support::gzip;
use serde_json::{Value, json};

const TYPE: &str = "content-type: application/warc";

fn page(n: u32) -> String {
    let text = format!("Page number {n} is about ships and sails and the long way home.");
    format!("<!doctype html><html lang=en><title>Page {n}</title><p>{text}</p></html>")
}

/// Builds a record with this type, id and block.
fn record(kind: &str, id: &str, url: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n\
         WARC-Target-URI: {url}\r\nWARC-Date: 2026-11-26T10:00:00Z\r\n\
         Content-Type: application/http\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn response(id: &str, url: &str, media_type: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n");
    record("response", id, url, &[head.as_bytes(), content].concat())
}

fn crawl(pages: u32) -> Vec<u8> {
    let mut crawl = record("warcinfo", "info", "", b"software: a test\r\n");
    for n in 0..pages {
        let (id, url) = (format!("p{n}"), format!("http://example.org/{n}"));
        crawl.extend(record("request", &format!("r{n}"), &url, b"GET / HTTP/1.1\r\n\r\n"));
        crawl.extend(response(&id, &url, "text/html; charset=utf-8", page(n).as_bytes()));
    }
    crawl
}

fn post(client: &Client, path: &str, body: &[u8]) -> crate::serve::client::Answer {
    client.request("POST", path, &[TYPE], body)
}

fn ids(client: &Client) -> Vec<String> {
    let list = client.get("/v1/documents").ok(200);
    let list = list["documents"].as_array().unwrap().clone();
    list.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn pages_of_a_crawl_are_documents() {
    let served = Served::start();
    let client = &served.client;
    let mut body = crawl(3);
    body.extend(response(
        "image",
        "http://example.org/i.png",
        "image/png",
        b"\x89PNG\r\n\x1a\n\0\0",
    ));
    body.extend(record("response", "gone", "http://example.org/x", b"HTTP/1.1 404 No\r\n\r\nno"));
    let answer = post(client, "/v1/documents?name=crawl.warc", &body).ok(200);
    assert_eq!((&answer["added"], &answer["replaced"]), (&json!(3), &json!(0)));
    let skipped = answer["skipped"].as_array().unwrap();
    assert_eq!((skipped.len(), &answer["skipped_total"]), (1, &json!(1)), "{answer}");
    assert_eq!(
        (&skipped[0]["record"], &skipped[0]["code"]),
        (&json!(8), &json!("unreadable-file"))
    );
    assert_eq!(ids(client), ["urn:uuid:p0", "urn:uuid:p1", "urn:uuid:p2"]);
    let path = "/v1/documents/urn%3Auuid%3Ap1?text=true";
    let document = client.get(path).ok(200);
    assert!(document["text"].as_str().unwrap().contains("Page number 1 is about ships"));
    let metadata = &document["metadata"];
    for (name, value) in [
        ("url", "http://example.org/1"),
        ("title", "Page 1"),
        ("source", "crawl.warc"),
        ("record-id", "urn:uuid:p1"),
    ] {
        assert_eq!(metadata[name], value, "{metadata}");
    }
    // Sending the records again replaces the documents. With addresses as ids, they are new
    // documents.
    assert_eq!(post(client, "/v1/documents", &body).ok(200)["replaced"], 3);
    let answer = post(client, "/v1/documents?mode=add", &body).ok(200);
    assert_eq!((&answer["added"], &answer["skipped"][0]["code"]), (&json!(0), &json!("id-taken")));
    assert_eq!(post(client, "/v1/documents?id_field=url", &body).ok(200)["added"], 3);
    assert!(ids(client).contains(&"http://example.org/2".to_owned()));
}

#[test]
fn a_compressed_crawl_is_expanded() {
    let served = Served::start();
    let client = &served.client;
    // Crawlers compress each record separately.
    let mut packed = Vec::new();
    for n in 0..30 {
        let url = format!("http://example.org/{n}");
        packed.extend(gzip(&response(&n.to_string(), &url, "text/html", page(n).as_bytes())));
    }
    assert_eq!(post(client, "/v1/documents", &packed).ok(200)["added"], 30);
    let encoded = client.request(
        "POST",
        "/v1/documents",
        &[TYPE, "content-encoding: gzip"],
        &gzip(&crawl(4)),
    );
    assert_eq!(encoded.ok(200)["added"], 4);
    let cut = post(client, "/v1/documents", &packed[..packed.len() - 9]);
    cut.problem(400, "bad-body");
}

#[test]
fn warc_originals_are_whole_records() {
    let served = Served::with_settings(settings(StoredContent::Originals), |_| {});
    let body = response("a", "http://example.org/a", "text/html", page(1).as_bytes());
    post(&served.client, "/v1/documents?id_field=url", &body).ok(200);
    let path = "/v1/documents/http%3A%2F%2Fexample.org%2Fa/original";
    let original = served.client.get(path);
    assert_eq!(original.status, 200);
    assert_eq!(original.body, body);
    assert_eq!(original.header("content-type"), Some("application/warc"));
}

#[test]
fn damaged_and_long_records_are_listed() {
    let served = Served::with(StoredContent::Texts, |config| config.limits.body_bytes = 64 << 10);
    let client = &served.client;
    let long = vec![b'x'; 300 << 10];
    let mut body = response("a", "http://example.org/a", "text/html", page(1).as_bytes());
    body.extend(b"no record at all\r\n\r\n");
    body.extend(response("b", "http://example.org/b", "text/html", page(2).as_bytes()));
    body.extend(response("long", "http://example.org/l", "text/plain", &long));
    body.extend(response("c", "http://example.org/c", "text/html", page(3).as_bytes()));
    let complete = body.len();
    body.extend(response("d", "http://example.org/d", "text/html", page(4).as_bytes()));
    let answer = post(client, "/v1/documents", &body[..body.len() - 60]).ok(200);
    assert_eq!(answer["added"], 3, "{answer}");
    let skipped: Vec<(&Value, &Value)> = answer["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (&item["record"], &item["code"]))
        .collect();
    let (damaged, too_large) = (json!("unreadable-file"), json!("body-too-large"));
    let numbers = [2, 4, 6].map(|n| json!(n));
    assert_eq!(
        skipped,
        [(&numbers[0], &damaged), (&numbers[1], &too_large), (&numbers[2], &damaged)],
        "{answer}"
    );
    // With `on_error=stop`, the first bad record ends the request.
    let served = Served::with(StoredContent::Texts, |config| config.limits.body_bytes = 64 << 10);
    let ended = post(&served.client, "/v1/documents?on_error=stop", &body[..complete]);
    let problem = ended.problem(400, "bad-line");
    assert_eq!((&problem["record"], &problem["stored"]), (&json!(2), &json!(1)));
}

#[test]
fn keyed_crawls_are_stored_once() {
    let served = Served::start();
    let body = crawl(2);
    let post = |body: &[u8]| {
        served.client.request("POST", "/v1/documents", &[TYPE, "idempotency-key: k1"], body)
    };
    let first = post(&body);
    assert_eq!(first.ok(200)["added"], 2);
    let second = post(&body);
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(second.body, first.body);
    post(&crawl(1)).problem(422, "key-reused");
}

#[test]
fn invalid_crawls_add_no_documents() {
    let served = Served::start();
    let client = &served.client;
    assert_eq!(post(client, "/v1/documents", b"").ok(200)["added"], 0);
    assert_eq!(post(client, "/v1/documents", b"\r\n\r\n").ok(200)["skipped_total"], 0);
    let other = post(client, "/v1/documents", b"{\"id\": \"a\", \"text\": \"b\"}\n").ok(200);
    assert_eq!((&other["added"], &other["skipped_total"]), (&json!(0), &json!(1)));
    post(client, "/v1/documents?form=export", b"").problem(400, "bad-parameter");
    post(client, "/v1/documents?id_field=title", b"").problem(400, "bad-parameter");
    client.lines("/v1/documents?id_field=url", b"").problem(400, "bad-parameter");
    // A record with an impossible length.
    let body = "WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 18446744073709551615\r\n\r\nx";
    let answer = post(client, "/v1/documents", body.as_bytes()).ok(200);
    assert_eq!(answer["skipped_total"], 1, "{answer}");
}
