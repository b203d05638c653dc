//! Upkeep of a served index: jobs, exports, and the import of an export.

use crate::serve::client::Client;
use crate::serve::served::{Served, token};
use lookalike::store::settings::StoredContent;
use lookalike_server::{Right, Tokens};
use serde_json::{Value, json};

const READ: &str = "read-read-read-read";
const WRITE: &str = "write-write-write-write";

/// Waits until the job has ended, and returns it.
fn ended(client: &Client, number: &Value) -> Value {
    loop {
        let all = client.get("/v1/upkeep").ok(200);
        let job = all["jobs"].as_array().unwrap().iter().find(|job| job["number"] == *number);
        let job = job.unwrap();
        if job["state"] != "running" {
            return job.clone();
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

fn run(client: &Client, body: &Value) -> Value {
    let started = client.post("/v1/upkeep", body).ok(202);
    assert_eq!(started["state"], "running");
    ended(client, &started["number"])
}

#[test]
fn upkeep_jobs_are_numbered_and_listed() {
    let served = Served::start();
    let client = &served.client;
    for id in ["a", "b"] {
        client.put(&format!("/v1/documents/{id}"), &json!({ "text": "one two" })).ok(201);
    }
    assert_eq!(client.get("/v1/upkeep").ok(200)["jobs"], json!([]));
    let compacted = run(client, &json!({ "job": "compact" }));
    assert_eq!((&compacted["state"], &compacted["documents"]), (&json!("done"), &json!(2)));
    let checked = run(client, &json!({ "job": "check" }));
    assert_eq!((&checked["number"], &checked["problems_total"]), (&json!(2), &json!(0)));
    for _ in 0..25 {
        assert_eq!(run(client, &json!({ "job": "repair" }))["state"], "done");
    }
    let all = client.get("/v1/upkeep").ok(200);
    let numbers: Vec<_> =
        all["jobs"].as_array().unwrap().iter().map(|job| &job["number"]).collect();
    assert_eq!(numbers.len(), 20);
    assert_eq!((numbers[0], numbers[19]), (&json!(27), &json!(8)));
}

#[test]
fn second_upkeep_jobs_are_rejected() {
    let served = Served::start();
    let client = &served.client;
    served.gate.close();
    let first = client.post("/v1/upkeep", &json!({ "job": "compact" })).ok(202);
    served.gate.wait_for(1);
    let refused = client.post("/v1/upkeep", &json!({ "job": "check" }));
    assert_eq!(refused.problem(409, "upkeep-running")["number"], first["number"]);
    assert_eq!(client.get("/v1/upkeep").ok(200)["jobs"], json!([first]));
    served.gate.open();
    assert_eq!(ended(client, &first["number"])["state"], "done");
    assert_eq!(run(client, &json!({ "job": "check" }))["state"], "done");
}

#[test]
fn invalid_upkeep_jobs_are_rejected() {
    let served = Served::start();
    let client = &served.client;
    let refuse = |body: &Value, status, code| client.post("/v1/upkeep", body).problem(status, code);
    refuse(&json!({ "job": "erase" }), 400, "bad-member");
    refuse(&json!({}), 400, "bad-member");
    refuse(&json!({ "job": "check", "name": "x" }), 400, "bad-member");
    let detail = refuse(&json!({ "job": "backup", "name": "x" }), 422, "no-backup-folder");
    assert!(detail["detail"].as_str().unwrap().contains("--backup-dir"), "{detail}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("taken")).unwrap();
    let to = folder.path().to_owned();
    let served = Served::with(StoredContent::Texts, |config| config.backup_dir = Some(to));
    let client = &served.client;
    for name in ["", ".", "..", ".x", "a/b", "../x", "a\\b", "a\0", &"x".repeat(101)] {
        let body = json!({ "job": "backup", "name": name });
        client.post("/v1/upkeep", &body).problem(400, "bad-member");
    }
    client.post("/v1/upkeep", &json!({ "job": "backup" })).problem(400, "bad-member");
    let body = json!({ "job": "backup", "name": "taken" });
    client.post("/v1/upkeep", &body).problem(409, "backup-taken");
}

#[test]
fn upkeep_and_export_need_write_tokens() {
    let served = Served::with(StoredContent::Texts, |config| {
        let tokens = vec![token(Right::Decide, None, READ), token(Right::Write, None, WRITE)];
        config.tokens = Tokens::new(tokens);
        config.writable = false;
    });
    let reader = served.client.with_token(READ);
    reader.post("/v1/upkeep", &json!({ "job": "check" })).problem(403, "read-only-token");
    reader.get("/v1/upkeep").problem(403, "read-only-token");
    reader.get("/v1/export").problem(403, "read-only-token");
    // Clients can check and export an index that is served for reading only, but not change it.
    let writer = served.client.with_token(WRITE);
    writer.post("/v1/upkeep", &json!({ "job": "compact" })).problem(403, "read-only");
    assert_eq!(run(&writer, &json!({ "job": "check" }))["state"], "done");
    assert_eq!(writer.get("/v1/export").joined(), b"");
}

#[test]
fn exports_import_without_changes() {
    let (source, target) = (Served::start(), Served::start());
    let lines: String = (0..3_000)
        .map(|n| {
            let expires = if n % 2 == 0 { "2200-01-01T00:00:00Z" } else { "2201-01-01T00:00:00Z" };
            let line = json!({
                "id": n.to_string(), "text": format!("the text of document {n}\n"),
                "metadata": { "n": n }, "modified": "2001-02-03T04:05:06Z", "expires": expires,
            });
            line.to_string() + "\n"
        })
        .collect();
    assert_eq!(source.client.lines("/v1/documents", lines.as_bytes()).ok(200)["added"], 3_000);
    let exported = source.client.get("/v1/export").joined();
    assert_eq!(String::from_utf8(exported.clone()).unwrap().lines().count(), 3_000);
    let answer = target.client.lines("/v1/documents?form=export", &exported).ok(200);
    assert_eq!((&answer["added"], &answer["skipped_total"]), (&json!(3_000), &json!(0)));
    assert!(target.client.get("/v1/export").joined() == exported);
    // Without `form=export`, the server rejects the members of an exported line.
    let refused = target.client.lines("/v1/documents", &exported).problem(400, "bad-line");
    assert_eq!(refused["line_code"], "unknown-member");
}

#[test]
fn counted_exports_end_with_count() {
    let served = Served::start();
    let lines = b"{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":\"y\"}\n";
    served.client.lines("/v1/documents", lines).ok(200);
    let plain = served.client.get("/v1/export").joined();
    let counted = served.client.get("/v1/export?count=true").joined();
    assert_eq!(counted, [&plain[..], b"{\"documents\":2}\n"].concat());
    served.client.get("/v1/export?count=yes").problem(400, "bad-parameter");
}

#[test]
fn failed_exports_have_no_end() {
    let served = Served::start();
    served.gate.set_down(true);
    // The answer may even lack a head, so the test does not check it against the API description.
    let request = b"GET /v1/export HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let answer = served.client.raw(request);
    assert!(!answer.body.ends_with(b"0\r\n\r\n"), "{answer:?}");
}
