//! Documents that are sent as files, with their originals and versions.

use crate::serve::client::{Answer, Client};
use crate::serve::served::{Served, settings, token};
use lookalike::store::settings::StoredContent;
use lookalike_server::{Right, Tokens};
use lookalike_test_support::gzip;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/extract");
    fs::read(folder.join(name)).unwrap()
}

fn put(client: &Client, path: &str, media_type: &str, bytes: &[u8]) -> Answer {
    client.request("PUT", path, &[&format!("content-type: {media_type}")], bytes)
}

fn page(words: &str) -> Vec<u8> {
    format!("<!doctype html><title>A title</title><body><p>{words}</p></body>").into_bytes()
}

#[test]
fn uploaded_files_keep_their_bytes() {
    let served = Served::with(StoredContent::Originals, |_| {});
    let client = &served.client;
    for (file, media_type, words) in [
        (
            "office/text.docx",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "",
        ),
        ("office/text.odt", "application/octet-stream", ""),
        ("html/article.html", "text/html; charset=utf-8", ""),
        ("pdf/simple.pdf", "application/pdf", ""),
        ("mail/forward.eml", "message/rfc822", "subject"),
    ] {
        let name = file.rsplit('/').next().unwrap();
        let path = format!("/v1/documents/{name}");
        let bytes = fixture(file);
        let answer = put(client, &format!("{path}?name={name}"), media_type, &bytes).ok(201);
        assert!(answer["shingles"].as_u64().unwrap() > 0, "{file}: {answer}");
        let extracted = client
            .request(
                "POST",
                &format!("/v1/extract?name={name}"),
                &["content-type: application/octet-stream"],
                &bytes,
            )
            .ok(200);
        let document = client.get(&format!("{path}?text=true")).ok(200);
        assert_eq!(document["text"], extracted["parts"][0]["text"], "{file}");
        assert_eq!(document["metadata"]["source"], name);
        assert_eq!(document["metadata"].get(words).is_some(), !words.is_empty(), "{file}");
        let original = client.get(&format!("{path}/original"));
        assert_eq!((original.status, &original.body), (200, &bytes), "{file}");
        let declared = match media_type {
            "application/octet-stream" => "application/vnd.oasis.opendocument.text",
            declared => declared,
        };
        assert_eq!(original.header("content-type"), Some(declared));
        let policy = original.header("content-security-policy").unwrap();
        assert!(policy.starts_with("sandbox; default-src 'none'"), "{policy}");
        assert!(original.header("content-disposition").unwrap().starts_with("attachment"));
        assert_eq!(original.header("x-content-type-options"), Some("nosniff"));
    }
    // Attachments do not belong to the document. The answer lists them.
    let mail = fixture("mail/forward.eml");
    let parts = client
        .request(
            "POST",
            "/v1/extract?name=a.eml",
            &["content-type: application/octet-stream"],
            &mail,
        )
        .ok(200);
    let answer = put(client, "/v1/documents/again", "message/rfc822", &mail).ok(201);
    let expected =
        parts["parts"].as_array().unwrap().len() + parts["failed"].as_array().unwrap().len() - 1;
    assert_eq!(answer["left_out"].as_array().map_or(0, Vec::len), expected, "{answer}");
}

#[test]
fn versions_are_kept_listed_and_compared() {
    let served = Served::with(StoredContent::Originals, |_| {});
    let client = &served.client;
    let path = "/v1/documents/https%3A%2F%2Fe.example%2F";
    let texts = [
        "one two three four five six seven eight nine ten eleven twelve",
        "one two three four five six seven eight nine ten eleven thirteen",
        "another text of words that none of both has in common with it",
    ];
    for words in [texts[0], texts[1], texts[1], texts[2]] {
        put(client, path, "text/html", &page(words));
    }
    let answer = client.get(&format!("{path}/versions")).ok(200);
    assert_eq!(answer["id"], "https://e.example/");
    let versions = answer["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 3, "the same again is no version: {answer}");
    for (at, version) in versions.iter().enumerate() {
        assert_eq!(version["version"], at + 1);
        let ended = versions.get(at + 1).map_or(Value::Null, |next| next["added"].clone());
        assert_eq!(version["ended"], ended, "{answer}");
        let original = client.get(&format!("{path}/versions/{}/original", at + 1));
        assert_eq!(original.body, page(texts[at]));
        let tag = format!("\"{}\"", version["sha256"].as_str().unwrap());
        assert_eq!(original.header("etag"), Some(&*tag));
    }
    let id = "https://e.example/";
    let body = json!({ "a": { "id": id, "version": 1 }, "b": { "id": id, "version": 2 },
        "differences": true });
    let compared = client.post("/v1/compare", &body).ok(200);
    assert!(compared["jaccard"].as_f64().unwrap() > 0.5, "{compared}");
    let words = compared["differences"].to_string();
    assert!(words.contains("twelve") && words.contains("thirteen"), "{compared}");
    client.get(&format!("{path}/versions/4/original")).problem(404, "unknown-version");
    client.get(&format!("{path}/versions/0/original")).problem(400, "bad-parameter");
    client.get("/v1/documents/none/versions").problem(404, "unknown-document");
    client.get("/v1/documents/none/original").problem(404, "unknown-document");
    let body = json!({ "a": { "id": id, "version": 9 }, "b": { "text": "x" } });
    client.post("/v1/compare", &body).problem(404, "unknown-version");
    let body = json!({ "a": { "text": "x", "version": 1 }, "b": { "text": "x" } });
    client.post("/v1/compare", &body).problem(400, "bad-member");
    // Removing a document removes all its versions.
    assert_eq!(client.delete(path).status, 204);
    client.get(&format!("{path}/versions")).problem(404, "unknown-document");
    client.get(&format!("{path}/versions/1/original")).problem(404, "unknown-document");
    put(client, path, "text/html", &page(texts[0])).ok(201);
    let answer = client.get(&format!("{path}/versions")).ok(200);
    assert_eq!(answer["versions"].as_array().unwrap().len(), 1);
}

#[test]
fn json_documents_have_text_originals() {
    let served = Served::with(StoredContent::Originals, |_| {});
    let client = &served.client;
    client.put("/v1/documents/a", &json!({ "text": "Grüße an alle" })).ok(201);
    let original = client.get("/v1/documents/a/original");
    assert_eq!(original.body, "Grüße an alle".as_bytes());
    assert_eq!(original.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(client.get("/v1/stats").ok(200)["originals"], Value::Null, "in memory");
    let settings = client.get("/v1/settings").ok(200);
    assert_eq!(
        (&settings["store"], &settings["originals"]["max_bytes"]),
        (&"originals".into(), &(256 << 20).into())
    );
}

#[test]
fn unreadable_and_oversized_files_are_rejected() {
    let limited = settings(StoredContent::Originals).with_max_original(5_000).unwrap();
    let served = Served::with_settings(limited, |_| {});
    let client = &served.client;
    let path = "/v1/documents/a";
    put(client, path, "text/plain", b"a good text").ok(201);
    let answer = put(client, path, "text/plain", &b"word ".repeat(2_000));
    let problem = answer.problem(413, "body-too-large");
    assert!(problem["detail"].as_str().unwrap().contains("at most 5000"), "{problem}");
    let answer = put(client, path, "image/png", b"\x89PNG\r\n\x1a\n0123");
    let problem = answer.problem(422, "unreadable-file");
    assert!(problem["detail"].as_str().unwrap().contains("PNG"), "{problem}");
    put(client, path, "application/octet-stream", b"\0\x01\x02").problem(422, "unreadable-file");
    let mailbox = fixture("mail/mailbox.mbox");
    put(client, path, "application/mbox", &mailbox[..4_000.min(mailbox.len())])
        .problem(422, "unreadable-file");
    for wrong in ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text"] {
        put(client, path, wrong, b"x").problem(415, "wrong-content-type");
    }
    client.request("PUT", path, &[], b"x").problem(415, "wrong-content-type");
    let packed = ["content-type: text/html", "content-encoding: gzip"];
    client.request("PUT", path, &packed, b"x").problem(400, "bad-body");
    let other = ["content-type: text/html", "content-encoding: br"];
    client.request("PUT", path, &other, b"x").problem(415, "wrong-content-type");
    let long = format!("{path}?name={}", "n".repeat(5_000));
    put(client, &long, "text/html", b"x").problem(400, "bad-parameter");
    put(client, &format!("{path}?mode=add"), "text/html", b"x").problem(409, "id-taken");
    // Refused requests stored nothing.
    assert_eq!(client.get("/v1/documents/a/original").body, b"a good text");
    let versions = client.get("/v1/documents/a/versions").ok(200);
    assert_eq!(versions["versions"].as_array().unwrap().len(), 1);
}

#[test]
fn text_indexes_reject_original_requests() {
    let served = Served::start();
    let client = &served.client;
    put(client, "/v1/documents/a", "text/html", &page("some words of a page")).ok(201);
    let document = client.get("/v1/documents/a?text=true").ok(200);
    assert!(document["text"].as_str().unwrap().contains("some words of a page"));
    assert_eq!(document["metadata"]["title"], "A title");
    client.get("/v1/documents/a/original").problem(422, "no-originals");
    client.get("/v1/documents/a/versions").problem(422, "no-originals");
}

#[test]
fn original_access_needs_matching_rights() {
    let tokens = [
        token(Right::Read, None, "read-token-of-this-test"),
        token(Right::Write, None, "write-token-of-this-test"),
    ];
    let served = Served::with(StoredContent::Originals, |config| {
        config.tokens = Tokens::new(tokens.to_vec());
    });
    let as_client = |value: &str| served.client.with_token(value);
    let (reader, writer) =
        (as_client("read-token-of-this-test"), as_client("write-token-of-this-test"));
    put(&served.client, "/v1/documents/a", "text/html", b"x").problem(401, "token-needed");
    put(&reader, "/v1/documents/a", "text/html", b"x").problem(403, "read-only-token");
    let path = "/v1/documents/a?name=%2Fhome%2Fann%2Fletter.html";
    put(&writer, path, "text/html", &page("words")).ok(201);
    served.client.get("/v1/documents/a/original").problem(401, "token-needed");
    assert_eq!(reader.get("/v1/documents/a/original").body, page("words"));
    let versions = reader.get("/v1/documents/a/versions").ok(200);
    assert_eq!(versions["versions"][0]["name"], "letter.html");
}

#[test]
fn versions_are_listed_page_by_page() {
    let served = Served::with_settings(settings(StoredContent::Originals), |_| {});
    let client = &served.client;
    for n in 0..5 {
        put(client, "/v1/documents/a", "text/html", &page(&format!("words of version {n}")));
    }
    let all_versions = client.get("/v1/documents/a/versions").ok(200);
    assert!(all_versions.get("next").is_none());
    let (mut path, mut pages) = ("/v1/documents/a/versions?limit=2".to_owned(), Vec::new());
    loop {
        let answer = client.get(&path).ok(200);
        pages.extend(answer["versions"].as_array().unwrap().clone());
        let Some(next) = answer.get("next") else { break };
        path = format!("/v1/documents/a/versions?limit=2&after={}", next.as_str().unwrap());
    }
    assert_eq!(all_versions["versions"], serde_json::Value::from(pages));
    assert_eq!(all_versions["versions"].as_array().unwrap().len(), 5);
    client.get("/v1/documents/a/versions?after=x").problem(400, "bad-parameter");
    assert!(
        client.get("/v1/documents/a/versions?after=99").ok(200)["versions"]
            == serde_json::json!([])
    );
}

/// An export contains every version if the client requests originals. The memory suffices for one
/// original at a time.
#[test]
fn exports_include_originals_on_request() {
    let served = Served::with(StoredContent::Originals, |config| {
        config.limits.body_bytes = 256 << 10;
        config.limits.text_bytes = 256 << 10;
        config.limits.held_bytes = 1 << 20;
    });
    let client = &served.client;
    // Half of the memory is for work, at 5 bytes per byte. This suffices for one of the two longer
    // originals, but not for both.
    let first = "first words ".repeat(6_000);
    for words in [&first, "second words"] {
        let answer = put(client, "/v1/documents/a?name=a.html", "text/html", &page(words));
        assert!([200, 201].contains(&answer.status));
    }
    put(client, "/v1/documents/b?name=b.html", "text/html", &page(&"other words ".repeat(6_000)))
        .ok(201);
    let lines = |path: &str| -> Vec<Value> {
        let lines = String::from_utf8(client.get(path).joined()).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    for path in ["/v1/export", "/v1/export?originals=false"] {
        assert!(lines(path).iter().all(|line| line.get("versions").is_none()), "{path}");
    }
    let found = lines("/v1/export?originals=true");
    let counts: Vec<_> =
        found.iter().map(|line| line["versions"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [2, 1]);
    let version = &found[0]["versions"][0];
    assert_eq!((&version["name"], &version["type"]), (&"a.html".into(), &"text/html".into()));
    assert!(version["text"].as_str().unwrap().contains("first words"));
    client.get("/v1/export?originals=yes").problem(400, "bad-parameter");
    let texts = Served::with(StoredContent::Texts, |_| {});
    texts.client.get("/v1/export?originals=true").problem(422, "no-originals");
}

/// If the request body is compressed, the expanded file is stored.
#[test]
fn compressed_files_are_expanded() {
    let served = Served::with(StoredContent::Originals, |_| {});
    let (client, bytes) = (&served.client, page("some words of a page"));
    let headers = ["content-type: text/html", "content-encoding: gzip"];
    client.request("PUT", "/v1/documents/a?name=a.html", &headers, &gzip(&bytes)).ok(201);
    assert_eq!(client.get("/v1/documents/a/original").body, bytes);
    let document = client.get("/v1/documents/a?text=true").ok(200);
    assert!(document["text"].as_str().unwrap().contains("some words of a page"));
}

#[test]
fn equal_bytes_take_their_new_name() {
    let served = Served::with(StoredContent::Originals, |_| {});
    let client = &served.client;
    put(client, "/v1/documents/a?name=old.txt", "text/plain", b"some words").ok(201);
    put(client, "/v1/documents/a?name=new.md", "text/markdown", b"some words").ok(200);
    let versions = client.get("/v1/documents/a/versions").ok(200);
    assert_eq!(versions["versions"].as_array().unwrap().len(), 1);
    let version = &versions["versions"][0];
    assert_eq!((&version["name"], &version["type"]), (&json!("new.md"), &json!("text/markdown")));
    let original = client.get("/v1/documents/a/original");
    assert_eq!(original.header("content-type"), Some("text/markdown"));
}
