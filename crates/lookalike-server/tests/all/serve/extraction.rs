//! Text extraction from uploaded files.

use crate::serve::client::{Answer, Client};
use crate::serve::served::{Served, token};
use lookalike::store::settings::StoredContent;
use lookalike_server::{Right, Tokens};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/extract");
    fs::read(folder.join(name)).unwrap()
}

fn extract(client: &Client, name: &str, bytes: &[u8]) -> Answer {
    let path = format!("/v1/extract?name={name}");
    client.request("POST", &path, &["content-type: application/octet-stream"], bytes)
}

/// Returns the text of a file with one part.
fn text(answer: &Value) -> &str {
    assert_eq!(answer["parts"].as_array().map(Vec::len), Some(1), "{answer}");
    answer["parts"][0]["text"].as_str().unwrap()
}

#[test]
fn extracted_texts_match_command_line() {
    let served = Served::start();
    let client = &served.client;
    for (file, expected, kind) in [
        ("office/text.docx", "office/text.docx.txt", "a Word file"),
        ("office/text.odt", "office/text.odt.txt", "an OpenDocument file"),
        ("html/article.html", "html/article.main.txt", "a web page"),
        ("pdf/simple.pdf", "pdf/simple.txt", "a PDF"),
    ] {
        let name = file.rsplit('/').next().unwrap();
        let answer = extract(client, name, &fixture(file)).ok(200);
        let expected = String::from_utf8(fixture(expected)).unwrap();
        // The files of the office tests have fields and an empty line before their texts.
        let expected = if file.starts_with("office/") {
            expected.split_once("\n\n").map_or("", |(_, text)| text)
        } else {
            &expected
        };
        assert_eq!(text(&answer).trim_end(), expected.trim_end(), "{file}");
        assert_eq!(answer["parts"][0]["kind"], kind);
        assert_eq!(answer["parts"][0]["within"], "");
    }
    let answer = extract(client, "forward.eml", &fixture("mail/forward.eml")).ok(200);
    assert!(answer["parts"][0]["fields"]["subject"].is_string(), "{answer}");
    let latin = b"Gr\xfc\xdfe aus M\xfcnchen an alle, die uns kennen.";
    let answer = extract(client, "a.txt", latin).ok(200);
    assert_eq!(text(&answer), "Grüße aus München an alle, die uns kennen.");
    assert_eq!(text(&extract(client, "leer.txt", b"").ok(200)), "");
}

#[test]
fn nested_files_are_separate_parts() {
    let served = Served::start();
    let client = &served.client;
    let answer = extract(client, "mailbox.mbox", &fixture("mail/mailbox.mbox")).ok(200);
    let parts = answer["parts"].as_array().unwrap();
    assert!(parts.len() > 1 && parts[0]["within"].as_str().unwrap().starts_with(':'), "{answer}");
    let locked = extract(client, "password.odt", &fixture("office/password.odt")).ok(200);
    assert_eq!(locked["parts"], Value::Array(Vec::new()));
    assert!(locked["failed"][0]["reason"].as_str().unwrap().starts_with("encrypted"), "{locked}");
    let binary = extract(client, "x.bin", b"\0\x01\x02 not a text").ok(200);
    assert!(binary["failed"][0]["reason"].as_str().unwrap().contains("NUL"), "{binary}");
}

#[test]
fn extraction_respects_request_limits() {
    let served = Served::with(StoredContent::Texts, |config| config.limits.text_bytes = 1 << 10);
    let client = &served.client;
    let long = "word ".repeat(1_000);
    let answer = extract(client, "a.txt", long.as_bytes()).ok(200);
    assert_eq!((&answer["parts"], &answer["further"]), (&Value::Array(Vec::new()), &1.into()));
    let name = "n".repeat(5_000);
    extract(client, &name, b"x").problem(400, "bad-parameter");
    let wrong = client.request("POST", "/v1/extract", &["content-type: text/plain"], b"x");
    wrong.problem(415, "wrong-content-type");
    client.get("/v1/extract").problem(405, "wrong-method");

    // The expanded size of a file is also limited.
    let served = Served::with(StoredContent::Texts, |config| {
        config.extract.limits.expanded = 64;
        config.limits.body_bytes = 1 << 20;
    });
    let answer = extract(&served.client, "text.docx", &fixture("office/text.docx")).ok(200);
    let reason = answer["failed"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("more than 64"), "{answer}");
    extract(&served.client, "a.txt", &vec![b'x'; (1 << 20) + 1]).problem(413, "body-too-large");
}

#[test]
fn read_tokens_may_extract() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.tokens = Tokens::new(vec![token(Right::Read, None, "read-token-of-this-test")]);
    });
    extract(&served.client, "a.txt", b"a text").problem(401, "token-needed");
    let client = served.client.with_token("read-token-of-this-test");
    assert_eq!(text(&extract(&client, "a.txt", b"a text").ok(200)), "a text");
}
