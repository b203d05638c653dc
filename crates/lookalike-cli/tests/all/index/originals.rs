//! An index that stores originals returns every version byte for byte.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::command::Place;
use serde_json::Value;
use std::fs;

fn fixture(name: &str) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/extract");
    fs::read(folder.join(name)).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns the bytes of a document's original, which the command writes to a file.
fn original(place: &Place, args: &[&str]) -> Vec<u8> {
    let run = place.run(&[&["index", "original", "archive"], args, &["-o", "out.bin"]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    fs::read(place.path("out.bin")).unwrap()
}

#[test]
fn originals_are_stored_byte_for_byte() {
    let place = Place::new();
    let files = [
        ("text.docx", fixture("office/text.docx"), "wordprocessingml"),
        ("article.html", fixture("html/article.html"), "text/html"),
        ("simple.pdf", fixture("pdf/simple.pdf"), "application/pdf"),
        ("forward.eml", fixture("mail/forward.eml"), "message/rfc822"),
        (
            "sub/latin.txt",
            b"Gr\xfc\xdfe aus M\xfcnchen an alle, die uns kennen.\r\n".to_vec(),
            "text/plain",
        ),
        ("empty.txt", Vec::new(), "text/plain"),
    ];
    for (name, bytes, _) in &files {
        place.file(&format!("in/{name}"), bytes);
    }
    place.run(&["index", "create", "archive", "in", "--store", "originals"]).ok();
    for (name, bytes, media_type) in &files {
        assert_eq!(original(&place, &[name]), *bytes, "{name}");
        let versions = json(&place.run(&["index", "versions", "archive", name, "--json"]).ok());
        let version = &versions["versions"][0];
        assert!(version["type"].as_str().unwrap().contains(media_type), "{versions}");
        assert_eq!(version["name"], name.rsplit('/').next().unwrap());
        assert_eq!(version["bytes"], bytes.len());
    }
    let piped = place.run(&["index", "original", "archive", "forward.eml"]);
    assert_eq!(piped.ok().into_bytes(), fixture("mail/forward.eml"));
    assert_eq!(place.run(&["index", "check", "archive"]).code, Some(0));
    let stats = json(&place.run(&["index", "stats", "archive", "--json"]).ok());
    assert!(stats["originals"]["versions"].as_u64().unwrap() >= 6, "{stats}");
    assert!(place.run(&["index", "stats", "archive"]).ok().contains("distinct originals"));
}

#[test]
fn record_originals_equal_their_input() {
    let place = Place::new();
    let lines =
        [r#"{"id": "a",  "text": "one two three four five six"}"#, r#"{"id":"b","text":"x"}"#];
    place.file("corpus.jsonl", lines.join("\n") + "\n");
    place.file("table.csv", "id,text\r\nc,\"seven, eight\r\nnine\"\r\n");
    place
        .run(&["index", "create", "archive", "corpus.jsonl", "table.csv", "--store", "originals"])
        .ok();
    let csv = json(place.run(&["index", "export", "archive"]).ok().lines().last().unwrap());
    let id = csv["id"].as_str().unwrap();
    assert_eq!(original(&place, &[id]), b"c,\"seven, eight\r\nnine\"\r");
    let export = place.run(&["index", "export", "archive"]).ok();
    let id = json(export.lines().next().unwrap())["id"].as_str().unwrap().to_owned();
    assert_eq!(original(&place, &[&id]), lines[0].as_bytes());
    let versions = place.run(&["index", "versions", "archive", &id]).ok();
    assert!(versions.contains("application/json"), "{versions}");
}

#[test]
fn crawl_originals_are_warc_records() {
    let place = Place::new();
    let record = |url: &str, words: &str| {
        let page = format!("<!doctype html><title>{url}</title><p>{words}</p>");
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: \
             2026-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:uuid:{}>\r\nContent-Type: \
             application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            url.len(),
            http.len()
        )
    };
    let first_record = record("http://e.example/1", "one two three four five six seven");
    let second_record = record("http://e.example/22", "one two three four five six eight");
    place.file("crawl.warc", format!("{first_record}{second_record}"));
    place
        .run(&[
            "index",
            "create",
            "archive",
            "crawl.warc",
            "--store",
            "originals",
            "--id-field",
            "url",
        ])
        .ok();
    let kept = original(&place, &["http://e.example/1"]);
    assert_eq!(String::from_utf8(kept).unwrap().trim_end(), first_record.trim_end());
    let later = record("http://e.example/1", "one two three four five six other");
    place.file("later.warc", &later);
    place.run(&["index", "update", "archive", "later.warc", "--id-field", "url"]).ok();
    let versions =
        json(&place.run(&["index", "versions", "archive", "http://e.example/1", "--json"]).ok());
    assert_eq!(versions["versions"].as_array().unwrap().len(), 2);
}

#[test]
fn former_versions_stay_with_their_times() {
    let place = Place::new();
    let name = "page.html";
    let page = |words: &str| format!("<!doctype html><title>t</title><p>{words} and so on</p>");
    place.file("page.html", page("first"));
    place.run(&["index", "create", "archive", name, "--store", "originals"]).ok();
    for words in ["second", "second", "third"] {
        place.file(name, page(words));
        place.run(&["index", "update", "archive", name]).ok();
    }
    let versions = json(&place.run(&["index", "versions", "archive", name, "--json"]).ok());
    assert_eq!(versions["versions"].as_array().unwrap().len(), 3, "{versions}");
    for (number, words) in ["first", "second", "third"].iter().enumerate() {
        let number = (number + 1).to_string();
        assert_eq!(original(&place, &[name, "--version", &number]), page(words).into_bytes());
        let text = place.run(&["index", "versions", "archive", name, "--text", &number]).ok();
        assert!(text.contains(&format!("{words} and so on")), "{text}");
    }
    let listed = place.run(&["index", "versions", "archive", name]).ok();
    assert!(listed.lines().nth(1).unwrap().trim_start().starts_with("3 "), "{listed}");
    assert!(listed.lines().nth(1).unwrap().contains(" to now"), "{listed}");
    place.run(&["index", "backup", "archive", "copy"]).ok();
    place.run(&["index", "restore", "again", "copy"]).ok();
    let restored = place.run(&["index", "versions", "again", name, "--json"]).ok();
    assert_eq!(json(&restored), versions);
    place.run(&["index", "compact", "archive"]).ok();
    assert_eq!(original(&place, &[name, "--version", "1"]), page("first").into_bytes());
    place.run(&["index", "remove", "archive", name]).ok();
    let error = place.run(&["index", "original", "archive", name]).fails(1);
    assert!(error.contains("no document"), "{error}");
}

/// An export with originals recreates the index with all versions. An export without originals
/// names this loss.
#[test]
fn exports_with_originals_recreate_versions() {
    let place = Place::new();
    place.run(&["index", "create", "archive", "--store", "originals"]).ok();
    let words = "some words of a page that is put again and again, as pages are";
    for version in 0..4 {
        let text = format!("{words} {}", version / 2);
        place.file("in/page.txt", &text).file("in/text.docx", fixture("office/text.docx"));
        place.run(&["index", "update", "archive", "in"]).ok();
    }
    let run = place.run(&["index", "export", "archive"]);
    assert!(run.err.contains("originals and former versions are not in it"), "{}", run.err);
    assert!(!run.ok().contains("versions"));
    let run = place.run(&["index", "export", "archive", "--originals", "-o", "all.jsonl.gz"]);
    assert!(!run.err.contains("not in it"), "{}", run.err);
    run.ok();
    let exported = place.run(&["index", "export", "archive", "--originals"]).ok();
    let create = ["index", "create", "copy", "all.jsonl.gz", "--exported", "--store"];
    let run = place.run(&[&create[..], &["originals"]].concat());
    assert!(run.err.contains("2 documents"), "{}", run.err);
    run.ok();
    let versions = |index: &str, id: &str| {
        let found = json(&place.run(&["index", "versions", index, id, "--json"]).ok());
        found["versions"].clone()
    };
    for id in ["page.txt", "text.docx"] {
        assert_eq!(versions("copy", id), versions("archive", id), "{id}");
    }
    assert_eq!(versions("copy", "page.txt").as_array().unwrap().len(), 2);
    let first = ["index", "original", "copy", "page.txt", "--version", "1"];
    assert_eq!(place.run(&first).ok(), format!("{words} 0"));
    let text = ["index", "versions", "copy", "page.txt", "--text", "1"];
    assert!(place.run(&text).ok().contains(&format!("{words} 0")));
    assert_eq!(place.run(&["index", "export", "copy", "--originals"]).ok(), exported);
    place.run(&["index", "check", "copy"]).ok();
    // With `--skip-existing`, existing documents keep all their versions.
    let args = ["index", "add", "copy", "all.jsonl.gz", "--exported", "--skip-existing"];
    assert!(place.run(&args).err.contains("2 already in the index"));
    assert_eq!(place.run(&["index", "export", "copy", "--originals"]).ok(), exported);

    let message = place.run(&[&create[..5], &["--store", "texts"]].concat());
    let message = message.fails(1);
    assert!(message.contains("copy"), "{message}");
    let other = ["index", "create", "texts", "all.jsonl.gz", "--exported", "--store", "texts"];
    let message = place.run(&other).fails(1);
    assert!(
        message.contains("versions with originals, which this index does not keep"),
        "{message}"
    );
    let message = place.run(&["index", "export", "texts", "--originals"]).fails(1);
    assert!(message.contains("keeps no originals"), "{message}");
    place.file("bad.jsonl", exported.replacen("\"sha256\":\"", "\"sha256\":\"0", 1));
    let bad = ["index", "create", "bad", "bad.jsonl", "--exported", "--store", "originals"];
    let message = place.run(&bad).fails(1);
    assert!(message.contains("the SHA-256 of an original is not the one"), "{message}");
}

/// `dedup --add` also stores the originals of the documents that it adds.
#[test]
fn dedup_adds_documents_with_originals() {
    let place = Place::new();
    place.run(&["index", "create", "archive", "--store", "originals"]).ok();
    let line = "{\"n\":1, \"text\":\"a record of some words that are in no index\",\"id\":\"r\"}";
    place.file("in/article.html", fixture("html/article.html")).file("records.jsonl", line);
    for input in ["in", "records.jsonl"] {
        place.run(&["dedup", input, "--reference", "archive", "--add"]).ok();
    }
    assert_eq!(original(&place, &["article.html"]), fixture("html/article.html"));
    assert_eq!(original(&place, &["r"]), line.as_bytes());
    place.run(&["index", "check", "archive"]).ok();
}

#[test]
fn oversized_originals_are_errors() {
    let place = Place::new();
    place.file("in/large.txt", "word ".repeat(1_000)).file("in/small.txt", "a few words");
    let create =
        ["index", "create", "archive", "in", "--store", "originals", "--max-original", "1KiB"];
    let error = place.run(&create).fails(1);
    assert!(error.contains("large.txt") && error.contains("5000 bytes"), "{error}");
    assert!(error.contains("at most 1024") && error.contains("--skip-bad"), "{error}");
    fs::remove_dir_all(place.path("archive")).unwrap();
    let run = place.run(&[&create[..], &["--skip-bad"]].concat());
    assert_eq!(run.code, Some(0));
    assert!(run.err.contains("at most 1024"), "{}", run.err);
    assert_eq!(original(&place, &["small.txt"]), b"a few words");
    let error = place.run(&["index", "original", "archive", "large.txt"]).fails(1);
    assert!(error.contains("no document \"large.txt\""), "{error}");
}

#[test]
fn wrong_use_is_told() {
    let place = Place::new();
    place.file("a.txt", "a few words");
    place.run(&["index", "create", "texts", "a.txt", "--store", "texts"]).ok();
    let error = place.run(&["index", "original", "texts", "a.txt"]).fails(1);
    assert!(error.contains("keeps no originals") && error.contains("--store originals"), "{error}");
    place.run(&["index", "create", "archive", "a.txt", "--store", "originals"]).ok();
    let error = place.run(&["index", "original", "archive", "a.txt", "--version", "2"]).fails(2);
    assert!(error.contains("no version 2: expected 1 to 1"), "{error}");
    let error = place
        .run(&["index", "create", "other", "--store", "originals", "--max-original", "1GiB"])
        .fails(2);
    assert!(error.contains("536870912"), "{error}");
    let error = place.run(&["index", "create", "other", "--max-original", "1KiB"]).fails(2);
    assert!(error.contains("expected originals"), "{error}");
    assert!(!place.path("other").exists());
    let error = place.run(&["index", "original", "archive", "a.txt", "-o", "none/x"]).fails(1);
    assert!(error.contains("none/x"), "{error}");
}
