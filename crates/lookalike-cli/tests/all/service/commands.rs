//! Commands that use a running service, and commands that find their index in use.
#![cfg(all(feature = "serve", feature = "sqlite", unix))]
#![expect(clippy::unwrap_used, reason = "helpers of tests, too")]

use crate::command::{Place, Run};
use crate::serve::{Served, place};
use serde_json::Value;

/// Returns the documents with the numbers from `from` to below `to`, as JSON lines.
fn lines(from: u32, to: u32) -> String {
    let line = |n: u32| {
        let text = format!("number {n} of some documents with words and more words\\n");
        format!("{{\"id\":\"d{n}\",\"text\":\"{text}\",\"lang\":\"l{}\"}}\n", n % 3)
    };
    (from..to).map(line).collect()
}

/// Parses the lines of an export, without the times at which documents were added.
fn without_times(export: &str) -> Vec<Value> {
    let line = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        value.as_object_mut().unwrap().remove("added").unwrap();
        value
    };
    export.lines().map(line).collect()
}

fn end(served: Served) {
    served.signal("-TERM");
    assert_eq!(served.end().0, Some(0));
}

#[test]
fn locked_indexes_name_their_service() {
    let place = place();
    place.file("a.jsonl", lines(0, 3));
    let served = Served::start(&place, &["--log", "off"]);
    let address = format!("http://{}", served.address);
    for args in [&["index", "add", "docs", "a.jsonl"][..], &["index", "compact", "docs"]] {
        let since = std::time::Instant::now();
        let message = place.run(&[args, &["--wait", "10min"]].concat()).fails(1);
        assert!(message.contains(&format!("the service at {address} writes to docs")), "{message}");
        assert!(message.contains(&format!("`lookalike index add {address} …`")), "{message}");
        assert!(since.elapsed() < std::time::Duration::from_secs(300));
    }
    place.run(&["index", "add", &address, "a.jsonl"]).ok();
    end(served);
    // The lock file of a service that has ended names no service.
    place.run(&["index", "update", "docs", "a.jsonl"]).ok();
}

#[test]
fn services_store_documents_like_indexes() {
    let (served_place, local_place) = (Place::new(), Place::new());
    for place in [&served_place, &local_place] {
        place.run(&["index", "create", "docs", "--store", "texts"]).ok();
    }
    let served = Served::start(&served_place, &["--log", "off"]);
    let address = format!("http://{}", served.address);
    let both = |args: &[&str]| -> (Run, Run) {
        let (remote, local) = (["index", args[0], &address], ["index", args[0], "docs"]);
        let rest = &args[1..];
        (
            served_place.run(&[&remote[..], rest].concat()),
            local_place.run(&[&local[..], rest].concat()),
        )
    };
    for place in [&served_place, &local_place] {
        place.file("a.jsonl", lines(0, 2_500));
        place.file("b.jsonl", lines(2_400, 2_600));
        let bad = "{\"id\":\"\",\"text\":\"x\"}\n";
        place.file("bad.jsonl", lines(3_000, 3_002) + bad + &lines(3_002, 3_003));
        for name in ["a.jsonl", "b.jsonl", "bad.jsonl"] {
            let file = std::fs::File::options().write(true).open(place.path(name)).unwrap();
            let at = std::time::Duration::new(1_000_000_000, 123_456_789);
            file.set_modified(std::time::UNIX_EPOCH + at).unwrap();
        }
    }
    let (remote, local) = both(&["add", "a.jsonl", "--metadata", "lang", "--json"]);
    let [remote, local] = [remote.ok(), local.ok()].map(|json| {
        let mut value: Value = serde_json::from_str(&json).unwrap();
        let value = value.as_object_mut().unwrap();
        value.remove("index");
        value.remove("without_shingles");
        Value::Object(value.clone())
    });
    assert_eq!(remote, local);
    assert_eq!(remote["added"], 2_500);
    // The second document with an id is an error. The documents before it are stored.
    let (remote, local) = both(&["add", "b.jsonl"]);
    for run in [remote, local] {
        let message = run.fails(1);
        assert!(
            message.contains("b.jsonl:1: the index already contains document \"d2400\""),
            "{message}"
        );
    }
    let (remote, local) = both(&["add", "b.jsonl", "--skip-existing"]);
    for run in [remote, local] {
        assert!(run.err.contains("100 documents added, 100 already in the index"), "{}", run.err);
        run.ok();
    }
    let (remote, local) = both(&["update", "b.jsonl", "--metadata", "lang"]);
    for run in [remote, local] {
        assert!(run.err.contains("0 documents added, 200 replaced"), "{}", run.err);
        run.ok();
    }
    let (remote, local) = both(&["add", "bad.jsonl"]);
    for run in [remote, local] {
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.err.starts_with("2 documents before the error are stored\nerror: "), "{run:?}");
        assert!(run.err.contains("bad.jsonl:3") && run.err.contains("--skip-bad"), "{run:?}");
    }
    let (remote, local) = both(&["remove", "d1", "d2", "gone", "a/b"]);
    for run in [remote, local] {
        assert_eq!(run.code, Some(1), "{run:?}");
        let expected = ["2 documents removed\nerror: ", "no document has these ids: gone, a/b"];
        assert!(expected.iter().all(|part| run.err.contains(part)), "{}", run.err);
    }
    let (remote, local) = both(&["export"]);
    let (remote, local) = (without_times(&remote.ok()), without_times(&local.ok()));
    assert_eq!(remote.len(), 2_600);
    assert!(remote == local);
    let (remote, local) = both(&["export", "--output", "e.jsonl.gz"]);
    assert!(remote.err.contains("e.jsonl.gz: 2,600 documents"), "{}", remote.err);
    local.ok();
    // The exported file creates an equal index.
    let create = ["index", "create", "copy", "e.jsonl.gz", "--exported", "--store", "texts"];
    served_place.run(&create).ok();
    assert_eq!(
        without_times(&served_place.run(&["index", "export", "copy"]).ok()),
        local_export(&local_place)
    );
    end(served);
}

fn local_export(place: &Place) -> Vec<Value> {
    without_times(&place.run(&["index", "export", "docs"]).ok())
}

#[test]
fn running_services_can_be_maintained() {
    let place = place();
    std::fs::create_dir(place.path("backups")).unwrap();
    place.file("a.jsonl", lines(0, 50));
    let served = Served::start(&place, &["--log", "off", "--backup-dir", "backups"]);
    let address = format!("http://{}", served.address);
    place.run(&["index", "add", &address, "a.jsonl"]).ok();
    let run = place.run(&["index", "compact", &address]);
    assert!(run.err.contains(&format!("{address}: 50 documents")), "{}", run.err);
    run.ok();
    let run = place.run(&["index", "check", &address]);
    assert!(run.err.contains("everything is as it should be"), "{}", run.err);
    run.ok();
    place.run(&["index", "check", &address, "--repair", "--json"]).ok();
    let run = place.run(&["index", "backup", &address, "monday"]);
    assert!(run.err.contains("copied to monday"), "{}", run.err);
    run.ok();
    let message = place.run(&["index", "backup", &address, "monday"]).fails(1);
    assert!(message.contains("backup \"monday\" already exists"), "{message}");
    let message = place.run(&["index", "backup", &address, "../docs2"]).fails(1);
    assert!(message.contains("expected 1 to 100"), "{message}");
    end(served);
    place.run(&["index", "restore", "restored", "backups/monday"]).ok();
    let export = |index: &str| place.run(&["index", "export", index]).ok();
    assert_eq!(export("restored"), export("docs"));
}

/// Documents that a service adds have the same originals and group sizes as those that `index add`
/// writes to a folder.
#[test]
fn services_store_sent_originals() {
    let place = Place::new();
    place.run(&["index", "create", "docs", "--store", "originals"]).ok();
    let served = Served::start(&place, &["--log", "off"]);
    let address = format!("http://{}", served.address);
    let page = "<!doctype html><title>A page</title><p>Some words that are in a page, and not \
                marked up.</p>";
    place.file("in/page.html", page).file("in/plain.txt", "the words of a plain text, as they are");
    place.run(&["index", "add", &address, "in"]).ok();
    place.file("in/page.html", page.replace("Some", "Other"));
    place.run(&["index", "update", &address, "in"]).ok();
    let exported_line =
        "{\"id\":\"k\",\"text\":\"a kept text of a few words\",\"duplicates\":[\"p\",\"q\"]}\n";
    place.file("exported.jsonl", exported_line);
    place.run(&["index", "add", &address, "exported.jsonl", "--exported"]).ok();
    let through = place.run(&["index", "export", &address, "--originals"]);
    assert!(!through.err.contains("not in it"), "{}", through.err);
    let through = through.ok();
    place.run(&["index", "export", &address, "--originals", "-o", "all.jsonl.gz"]).ok();
    let without = place.run(&["index", "export", &address]);
    assert!(without.err.contains("originals and former versions are not in it"), "{}", without.err);
    assert!(!without.ok().contains("versions"));
    end(served);
    // The service exports the same lines as the index itself. They create an index with the same
    // versions.
    assert_eq!(through, place.run(&["index", "export", "docs", "--originals"]).ok());
    let create = ["index", "create", "copy", "all.jsonl.gz", "--exported", "--store", "originals"];
    place.run(&create).ok();
    assert_eq!(through, place.run(&["index", "export", "copy", "--originals"]).ok());
    let original = |version: &str| {
        place.run(&["index", "original", "docs", "page.html", "--version", version]).ok()
    };
    assert_eq!(original("1"), page);
    assert_eq!(original("2"), page.replace("Some", "Other"));
    let versions = place.run(&["index", "versions", "docs", "plain.txt", "--json"]).ok();
    let versions: Value = serde_json::from_str(&versions).unwrap();
    assert_eq!(versions["versions"].as_array().unwrap().len(), 1, "{versions}");
    assert_eq!(versions["versions"][0]["name"], "plain.txt");
    let exported = place.run(&["index", "export", "docs"]).ok();
    assert!(exported.contains("\"group_size\":3,\"duplicates\":[\"p\",\"q\"]"), "{exported}");
}

#[test]
fn a_token_comes_from_the_environment() {
    let place = place();
    let token = place.run(&["token", "write", "--token-file", "tokens"]).ok();
    place.file("a.jsonl", lines(0, 2));
    place.file("token", &token);
    let served = Served::start(&place, &["--log", "off", "--token-file", "tokens"]);
    let address = format!("http://{}", served.address);
    let add = ["index", "update", &address, "a.jsonl"];
    let message = place.run(&add).fails(1);
    assert!(message.contains("LOOKALIKE_SERVICE_TOKEN"), "{message}");
    place.run_with(&add, &[("LOOKALIKE_SERVICE_TOKEN", token.trim())]).ok();
    place.run_with(&add, &[("LOOKALIKE_SERVICE_TOKEN_FILE", "token")]).ok();
    let message = place.run_with(&add, &[("LOOKALIKE_SERVICE_TOKEN_FILE", "gone")]).fails(2);
    assert!(message.contains("LOOKALIKE_SERVICE_TOKEN_FILE: gone"), "{message}");
    end(served);
}

#[test]
fn unsupported_service_commands_are_errors() {
    let place = place();
    place.file("a.jsonl", lines(0, 2));
    // No program listens on this port.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = format!("http://{free}");
    let message = place.run(&["index", "add", &address, "a.jsonl"]).fails(1);
    assert!(message.contains("cannot be reached"), "{message}");
    for args in [&["index", "groups", &address][..], &["query", &address, "a.jsonl"]] {
        let message = place.run(args).fails(2);
        assert!(message.contains("is a service"), "{message}");
    }
    let message = place.run(&["index", "compact", "http://a/b"]).fails(2);
    assert!(message.contains("expected the address of a service"), "{message}");
}
