//! The life of an index on the command line, from creation to backup.
#![allow(clippy::unwrap_used, reason = "this is a test")]

mod categorise;
mod originals;
mod reference;

use crate::command::{Place, Run, collection, jsonl, root, shared};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Returns the groups and pairs that `find` or `index groups` writes.
fn groups(place: &Place, args: &[&str]) -> (String, String) {
    let mut all = args.to_vec();
    all.extend(["-o", "groups.jsonl", "--pairs", "pairs.csv", "-q"]);
    place.run(&all).ok();
    (place.read("groups.jsonl"), place.read("pairs.csv"))
}

fn value(run: Run) -> Value {
    serde_json::from_str(&run.ok()).unwrap()
}

fn objects(run: Run) -> Vec<Value> {
    run.ok().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn index_groups_match_find() {
    let place = Place::new();
    let mut documents = collection(12);
    let later = documents.split_off(10);
    place.file("first.jsonl", jsonl(&documents)).file("later.jsonl", jsonl(&later));
    let created = value(place.run(&["index", "create", "x", "first.jsonl", "--json"]));
    assert_eq!(created["added"], json!(documents.len()));
    let added = value(place.run(&["index", "add", "x", "later.jsonl", "--json"]));
    assert_eq!(added["added"], json!(later.len()));
    place.file("all.jsonl", jsonl(&documents) + &jsonl(&later));
    assert_eq!(groups(&place, &["index", "groups", "x"]), groups(&place, &["find", "all.jsonl"]));

    // The query is a slightly changed text of an indexed document.
    let answer = objects(place.run_with_input(
        &["query", "x", "-", "--json"],
        format!("{} or so", documents[0].1).as_bytes(),
    ));
    let ids: Vec<&str> = answer[0]["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids[0], "g0");
    assert!(ids.contains(&"g0-copy"), "{ids:?}");
    assert_eq!(answer[0]["matches"][0]["estimated"], json!(false));
    assert_eq!(place.run(&["query", "x", "--id", "g0", "--exit-code", "-q"]).code, Some(3));
    place.file("bad/a.jsonl", "{\"id\":\"a\",\"text\":\"some words\"}\n{\"id\":\"b\"}\n");
    assert_eq!(place.run(&["query", "x", "bad", "-q"]).code, Some(1));
    assert_eq!(place.run(&["query", "x", "bad", "--skip-bad", "-q"]).code, Some(0));

    // After replacements and removals, the index gives the same groups as `find` over the remaining
    // documents.
    let replaced = ("g1".to_owned(), documents[0].1.clone());
    place.file("update.jsonl", jsonl(std::slice::from_ref(&replaced)));
    let updated = value(place.run(&["index", "update", "x", "update.jsonl", "--json"]));
    assert_eq!((&updated["added"], &updated["replaced"]), (&json!(0), &json!(1)));
    let removed = place.run(&["index", "remove", "x", "g3", "nobody", "g3", "--json"]);
    assert_eq!(removed.code, Some(1), "{removed:?}");
    let removed: Value = serde_json::from_str(&removed.out).unwrap();
    assert_eq!((&removed["removed"], &removed["absent"]), (&json!(1), &json!(["nobody"])));
    let mut left: Vec<_> = documents.iter().chain(&later).cloned().collect();
    left.retain(|(id, _)| id != "g1" && id != "g3");
    left.push(replaced);
    place.file("left.jsonl", jsonl(&left));
    let fresh = groups(&place, &["find", "left.jsonl"]);
    assert_eq!(groups(&place, &["index", "groups", "x"]), fresh);
    let lower = ["--threshold", "0.5", "--keep", "last"];
    let with = |args: &[&'static str]| [args, &lower].concat();
    assert_eq!(
        groups(&place, &with(&["index", "groups", "x"])),
        groups(&place, &with(&["find", "left.jsonl"]))
    );
    place.run(&["index", "compact", "x"]).ok();
    assert_eq!(groups(&place, &["index", "groups", "x"]), fresh);
    assert_eq!(value(place.run(&["index", "check", "x", "--json"]))["problems"], json!([]));
    let stats = value(place.run(&["index", "stats", "x", "--json"]));
    assert_eq!(stats["documents"], json!(left.len()));
    assert_eq!(stats["settings"]["shingle"], json!("words:5"));

    // The backup is an index.
    place.run(&["index", "backup", "x", "copy"]).ok();
    assert_eq!(groups(&place, &["index", "groups", "copy"]), fresh);
    let exported = objects(place.run(&["index", "export", "copy"]));
    let ids: Vec<&str> = exported.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, left.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>());
    assert!(place.run(&["index", "backup", "x", "copy"]).fails(1).contains("exists"));
    place.run(&["index", "restore", "again", "copy"]).ok();
    assert_eq!(groups(&place, &["index", "groups", "again"]), fresh);
    let restored = place.run(&["index", "restore", "again", "copy"]);
    assert!(restored.fails(1).contains("exists"));
}

#[test]
fn exported_texts_recreate_the_index() {
    let place = Place::new();
    let sample = root().join("fixtures/sample");
    let sample = sample.to_str().unwrap();
    let run = place.run(&["index", "create", "sample", sample, "--store", "texts"]);
    assert!(run.err.contains("33 documents added, 1 without a word"), "{}", run.err);
    run.ok();
    let fresh = groups(&place, &["find", sample, "--keep", "longest"]);
    assert_eq!(groups(&place, &["index", "groups", "sample"]), fresh);
    let by_name = ["index", "groups", "sample", "--keep", "name", "--keep", "longest"];
    let named = groups(&place, &["find", sample]);
    assert_ne!(named, fresh);
    assert_eq!(groups(&place, &by_name), named);
    // An export creates an equal index.
    place.run(&["index", "export", "sample", "-o", "out.jsonl"]).ok();
    place.run(&["index", "create", "again", "out.jsonl", "--store", "sets"]).ok();
    assert_eq!(groups(&place, &["index", "groups", "again"]), fresh);
    place.run(&["index", "create", "same", "out.jsonl", "--exported", "--store", "texts"]).ok();
    place.run(&["index", "export", "same", "-o", "same.jsonl"]).ok();
    assert_eq!(place.read("same.jsonl"), place.read("out.jsonl"));
    let exact = groups(&place, &["find", sample, "--exact", "--keep", "longest"]);
    assert_eq!(groups(&place, &["index", "groups", "sample", "--exact"]), exact);
    // The report page compares texts only if the index stores them.
    for (index, is_visible) in [("sample", true), ("again", false)] {
        place.run(&["index", "groups", index, "--report", "r.html", "-q"]).ok();
        assert_eq!(place.read("r.html").contains("Side by side"), is_visible, "{index}");
    }
    let run = place.run(&["query", "sample", &format!("{sample}/office/heating-failure.txt")]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines[0].starts_with("similarity  resembles "), "{}", run.out);
    assert_eq!(lines[1], "     1.000  office/heating-failure.txt");
    assert_eq!(lines[3], "     0.854  office/heating-failure-reply.txt");
    // The line between the two ids begins with words of the text and ends with the file.
    assert!(lines[2].ends_with(&format!(" · {sample}/office/heating-failure.txt")), "{}", run.out);
    assert!(run.err.contains("99.8"), "{}", run.err);
    assert!(!run.out.contains('\u{1b}'));
    let text = place.run(&["query", "sample", "--id", "office/heating-failure.txt", "--text"]);
    assert!(text.out.lines().nth(3).unwrap().len() > 100, "{}", text.out);
}

/// Tests the commands of docs/reference/stability.md. Exported documents and decisions create an
/// index that answers like the old one.
#[test]
fn export_and_import_upgrade_an_index() {
    let place = Place::new();
    let documents = collection(12);
    place.file("a.jsonl", jsonl(&documents));
    let settings = ["--threshold", "0.5", "--shingle", "words:3"];
    place.run(&[&["index", "create", "old", "a.jsonl"][..], &settings].concat()).ok();
    let before = groups(&place, &["index", "groups", "old"]);
    // A decision changes the groups.
    let pair: Vec<&str> = before.1.lines().nth(1).unwrap().split(',').take(2).collect();
    let decision = json!({"decision": "not_duplicate", "documents": pair});
    place.file("d.jsonl", format!("{decision}\n"));
    place.run(&["index", "decisions", "old", "--add", "d.jsonl", "--who", "me"]).ok();
    let decided = groups(&place, &["index", "groups", "old"]);
    assert_ne!(decided, before);

    place.run(&["index", "export", "old", "--output", "old.jsonl"]).ok();
    place.run(&["index", "decisions", "old", "--output", "old-decisions.jsonl"]).ok();
    let create = ["index", "create", "new", "old.jsonl", "--exported"];
    place.run(&[&create[..], &settings].concat()).ok();
    place.run(&["index", "decisions", "new", "--add", "old-decisions.jsonl"]).ok();
    place.run(&["index", "check", "new"]).ok();
    place.run(&["index", "export", "new", "--output", "new.jsonl"]).ok();
    assert_eq!(place.read("new.jsonl"), place.read("old.jsonl"));
    assert_eq!(groups(&place, &["index", "groups", "new"]), decided);
    let (id, _) = &documents[0];
    let answer = |index: &str| place.run(&["query", index, "--id", id, "--json"]).ok();
    assert_eq!(answer("new"), answer("old"));
}

#[test]
fn imports_keep_times_and_metadata() {
    let place = Place::new();
    let line = |extra: Value| {
        let mut line = json!({"id": "a", "text": "some words that are kept"});
        line.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        line.to_string()
    };
    place.run(&["index", "create", "x", "--store", "texts"]).ok();
    let put = |extra: Value| {
        place.file("a.jsonl", line(extra));
        place.run(&["index", "update", "x", "a.jsonl", "--exported", "--ttl", "1d", "--json"])
    };
    let times = json!({"added": "2020-01-02T03:04:05.5Z", "modified": "1999-01-01T00:00:00Z",
        "expires": "2200-01-01T00:00:00Z", "metadata": {"n": [1, {"m": null}]}});
    put(times.clone()).ok();
    let kept = &objects(place.run(&["index", "export", "x"]))[0];
    for name in ["added", "modified", "expires"] {
        assert_eq!(kept[name], times[name]);
    }
    assert_eq!(kept["metadata"], json!({"n": [1, {"m": null}]}));
    put(json!({"metadata": {"source": "elsewhere"}})).ok();
    let kept = &objects(place.run(&["index", "export", "x"]))[0];
    assert_eq!(kept["metadata"], json!({"source": "elsewhere"}));
    assert!(kept["expires"].is_string() && kept["added"] != times["added"]);
    assert!(kept["modified"].is_null());
    for (extra, message) in [
        (json!({"metadata": 5}), "index export"),
        (json!({"added": "yesterday"}), "2026-11-21T10:00:00Z"),
    ] {
        let error = put(extra).fails(1);
        assert!(error.contains("a.jsonl:1") && error.contains(message), "{error}");
    }
    place.file("a.txt", "words");
    let error = place.run(&["index", "add", "x", "a.txt", "--exported"]).fails(1);
    assert!(error.contains("not a JSON line of an index export"), "{error}");
}

#[test]
fn missing_metadata_fields_are_reported() {
    let place = Place::new();
    let line = |id: &str, name: &str| json!({"id": id, "text": "one two", name: 1}).to_string();
    place.file("a.jsonl", line("a", "year") + "\n" + &line("b", "autor"));
    let args = ["index", "create", "x", "a.jsonl", "--metadata", "year", "--metadata", "author"];
    let run = place.run(&args);
    assert!(run.err.contains("warning: --metadata author: no document has it"), "{}", run.err);
    assert!(!run.err.contains("metadata year"), "{}", run.err);
    let args = ["index", "update", "x", "a.jsonl", "--metadata", "author", "--json"];
    assert_eq!(value(place.run(&args))["metadata_not_found"], json!(["author"]));
    place.file("c.jsonl", r#"{"id": "c", "text": "one", "metadata": {"author": "Ann"}}"#);
    let args = ["index", "add", "x", "c.jsonl", "--exported", "--metadata", "author", "--json"];
    assert_eq!(value(place.run(&args))["metadata_not_found"], json!([]));
}

#[test]
fn nearest_option_ignores_the_threshold() {
    let place = Place::new();
    let documents = collection(12);
    place.file("a.jsonl", jsonl(&documents));
    place.run(&["index", "create", "x", "a.jsonl", "--threshold", "0.9"]).ok();
    // A third of a document. Bands for 0.9 miss it, whatever the threshold of the query.
    let words: Vec<&str> = documents[0].1.split_whitespace().collect();
    let text = words[..words.len() / 3].join(" ");
    let low = ["query", "x", "-", "--json", "--threshold", "0.05"];
    assert_eq!(objects(place.run_with_input(&low, text.as_bytes()))[0]["found"], json!(0));
    let nearest = ["query", "x", "-", "--json", "--nearest", "2"];
    let answer = objects(place.run_with_input(&nearest, text.as_bytes()));
    assert_eq!(answer[0]["matches"][0]["id"], json!("g0"));
    assert_eq!((&answer[0]["nearest"], &answer[0]["threshold"]), (&json!(2), &json!(0.0)));
    assert!(answer[0]["predicted_recall"].as_f64().unwrap() >= 0.999);
    let run = place.run(&["query", "x", "--id", "g0", "--nearest", "1"]);
    assert!(run.out.contains("g0-copy"), "{}", run.out);
    assert!(
        run.err.contains("% of documents as similar as the last match are found"),
        "{}",
        run.err
    );
    assert!(
        run.err.starts_with("1 of 1 queries has a match at any similarity above 0\n"),
        "{}",
        run.err
    );
    let run = place.run(&["query", "x", "--id", "g0", "--threshold", "0.9"]);
    assert!(
        run.err.starts_with("1 of 1 queries has a match at similarity 0.9 or more\n"),
        "{}",
        run.err
    );
    for other in [&["--threshold", "0.5"], &["--top", "3"]] {
        let args = [&["query", "x", "--id", "g0", "--nearest", "1"][..], other].concat();
        let error = place.run(&args).fails(2);
        assert!(error.contains("--nearest") && error.contains(other[0]), "{error}");
    }
    place.run(&["query", "x", "--id", "g0", "--nearest", "0"]).fails(2);
}

#[test]
fn containment_indexes_find_contained_texts() {
    let place = Place::new();
    let documents = collection(12);
    place.file("a.jsonl", jsonl(&documents));
    let create = ["index", "create", "x", "a.jsonl", "--measure", "containment"];
    place.run(&[&create[..], &["--threshold", "0.6"]].concat()).ok();
    // The first query is a part of an indexed document, the second a text that contains several.
    let words: Vec<&str> = documents[0].1.split_whitespace().collect();
    let part = words[..words.len() / 3].join(" ");
    let query = ["query", "x", "-", "--json"];
    let answer = objects(place.run_with_input(&query, part.as_bytes()));
    let first = &answer[0]["matches"][0];
    assert_eq!((&first["similarity"], &first["containment_of_query"]), (&json!(1.0), &json!(1.0)));
    assert!(first["containment_of_match"].as_f64().unwrap() < 0.4);
    assert_eq!(first["id"], json!("g0"));
    let all: Vec<&str> = documents.iter().take(5).map(|(_, text)| text.as_str()).collect();
    let all = objects(place.run_with_input(&query, all.join(" and ").as_bytes()));
    assert!(all[0]["found"].as_u64().unwrap() >= 5, "{}", all[0]);
    assert!((all[0]["predicted_recall"].as_f64().unwrap() - (1.0 - 0.4f64.powi(6))).abs() < 1e-9);

    let stats = value(place.run(&["index", "stats", "x", "--json"]));
    assert_eq!(stats["settings"]["containment"], json!({ "anchors": 6 }));
    place.run(&["index", "check", "x"]).ok();
    place.run(&["index", "compact", "x"]).ok();
    place.run(&["index", "backup", "x", "copy"]).ok();
    let answer = objects(place.run_with_input(&["query", "copy", "-", "--json"], part.as_bytes()));
    assert_eq!(answer[0]["matches"][0]["id"], json!("g0"));
    // A query by id finds documents that contain this document or are part of it, but not itself.
    let own = objects(place.run(&["query", "x", "--id", "g0", "--json"]));
    let matches = own[0]["matches"].as_array().unwrap();
    assert!(matches.iter().any(|item| item["id"] == "g0-copy"), "{}", own[0]);
    assert!(matches.iter().all(|item| item["id"] != "g0"), "{}", own[0]);
    // The export contains all documents in the order of their insertion.
    let exported = objects(place.run(&["index", "export", "x"]));
    let ids: Vec<&str> = exported.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, documents.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>());
    place.run(&["index", "restore", "again", "copy"]).ok();
    assert_eq!(objects(place.run(&["index", "export", "again"])), exported);
    // `find` finds the same groups with this measure.
    let measure = ["find", "a.jsonl", "--measure", "containment", "--threshold", "0.6"];
    assert_eq!(groups(&place, &["index", "groups", "x"]), groups(&place, &measure));

    let error = place.run(&["query", "x", "--id", "g0", "--nearest", "3"]).fails(2);
    assert_eq!(
        error.trim_end(),
        "error: --nearest needs an index with --measure jaccard, but this index has --measure \
         containment; use a low --threshold instead of --nearest, or create another index"
    );
    let signatures = ["index", "create", "y", "--measure", "containment", "--store", "signatures"];
    let error = place.run(&signatures).fails(2);
    assert!(error.contains("--store") && error.contains("sets"), "{error}");
    let bands = ["index", "create", "y", "--measure", "containment", "--bands", "4"];
    assert!(place.run(&bands).fails(2).contains("--bands"));
}

#[test]
fn signature_indexes_report_estimates() {
    let place = Place::new();
    place.file("a.jsonl", jsonl(&collection(3)));
    place.run(&["index", "create", "x", "a.jsonl", "--store", "signatures"]).ok();
    let run = place.run(&["query", "x", "--id", "g0"]);
    assert!(run.out.starts_with("  estimate  resembles g0\n"), "{}", run.out);
    assert!(run.err.contains("estimates"), "{}", run.err);
    let answer = objects(place.run(&["query", "x", "--id", "g0", "--json"]));
    assert_eq!(answer[0]["matches"][0]["estimated"], json!(true));
    let error = place.run(&["index", "groups", "x"]).fails(1);
    assert!(error.contains("--store sets"), "{error}");
    let error = place.run(&["query", "x", "--id", "g0", "--text"]).fails(2);
    assert!(error.contains("--store texts"), "{error}");
}

#[test]
fn filters_and_expiry_hide_documents() {
    let place = Place::new();
    let text = &collection(1)[0].1;
    let line = |id: &str, year: u32| json!({"id": id, "text": text, "year": year}).to_string();
    place.file("a.jsonl", format!("{}\n{}\n", line("old", 1999), line("new", 2024)));
    place.run(&["index", "create", "x", "a.jsonl", "--metadata", "year"]).ok();
    let args = ["query", "x", "--id", "old", "--json", "--filter"];
    let ask = |filter: &str| objects(place.run(&[&args[..], &[filter]].concat()));
    assert_eq!(ask("year>2000")[0]["matches"][0]["id"], json!("new"));
    assert_eq!(ask("year>2000")[0]["matches"][0]["metadata"]["source"], json!("a.jsonl"));
    assert_eq!(ask("year>2030")[0]["found"], json!(0));
    let error = place.run(&[&args[..], &["!"]].concat()).fails(2);
    assert!(error.contains("language=en"), "{error}");
    place.file("b.jsonl", format!("{}\n", line("short", 2024)));
    place.run(&["index", "add", "x", "b.jsonl", "--ttl", "1s"]).ok();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(objects(place.run(&["index", "export", "x"])).len(), 2);
    assert!(place.run(&["query", "x", "--id", "short"]).fails(1).contains("no document"));
    place.run(&["index", "compact", "x"]).ok();
    assert_eq!(value(place.run(&["index", "stats", "x", "--json"]))["documents"], json!(2));
}

#[test]
fn index_errors_name_a_remedy() {
    let place = Place::new();
    place.file("a.jsonl", jsonl(&collection(2)));
    place.file("bad.jsonl", "{\"id\":\"n1\",\"text\":\"one\"}\n{\"id\":\"n2\"\n");
    let long = json!({"id": "x".repeat(20_000), "text": "one"}).to_string();
    place.file("long.jsonl", &long);
    let fails = |args: &[&str], code: i32, parts: &[&str]| {
        let run = place.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{run:?}");
        for part in parts {
            assert!(run.err.contains(part), "{part}: {}", run.err);
        }
        assert!(!run.err.contains("panicked"), "{}", run.err);
    };
    fails(&["index", "stats", "x"], 1, &["index create"]);
    fails(&["index", "create", "x", "missing.jsonl"], 1, &["missing.jsonl"]);
    assert!(!place.path("x").exists());
    fails(&["index", "create", "x", "--measure", "cosine"], 2, &["--measure"]);
    place.run(&["index", "create", "x", "a.jsonl"]).ok();
    fails(&["index", "create", "x"], 1, &["exists", "index add"]);
    fails(&["index", "add", "x", "a.jsonl"], 1, &["a.jsonl:1", "index update", "--skip-existing"]);
    let second = value(place.run(&["index", "add", "x", "a.jsonl", "--skip-existing", "--json"]));
    assert_eq!(second["existing"], json!(collection(2).len()));
    fails(
        &["index", "add", "x", "bad.jsonl"],
        1,
        &["bad.jsonl:2", "--skip-bad", "1 document before"],
    );
    fails(&["index", "add", "x", "long.jsonl"], 1, &["long.jsonl:1", "16,384", "--skip-bad"]);
    let run = place.run(&["index", "update", "x", "long.jsonl", "bad.jsonl", "--skip-bad"]);
    assert!(run.err.contains("0 documents added, 1 replaced"), "{}", run.err);
    assert!(run.err.contains("2 skipped"), "{}", run.err);
    // The index stores these settings, so other commands reject them.
    for option in [["--shingle", "words:5"], ["--normalize", "nfc"], ["--seed", "1"]] {
        for command in [&["index", "add"][..], &["query"]] {
            fails(&[command, &["x", "a.jsonl"], &option].concat(), 2, &[option[0]]);
        }
    }
    fails(&["query", "x", "a.jsonl", "--threshold", "7"], 2, &["7"]);
    fails(&["query", "x", "--id", "nobody"], 1, &["nobody", "index export"]);
    fails(&["query", "x"], 2, &["--id"]);
    fails(&["index", "add", "x", "a.jsonl", "--ttl", "soon"], 2, &["30d"]);
    let empty = place.run_with_input(&["query", "x", "-"], b"");
    assert!(empty.err.contains("without a word"), "{}", empty.err);
    assert_eq!((empty.code, empty.out.as_str()), (Some(0), ""));
    place.file("nothing/readme.txt", "no index");
    fails(&["query", "nothing", "a.jsonl"], 1, &["nothing"]);
}

#[test]
fn second_writers_wait_or_fail() {
    let place = Place::new();
    place.run(&["index", "create", "x"]).ok();
    // The first writer holds the index while it waits for its input.
    let mut first = Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .args(["index", "add", "x", "-", "--format", "jsonl", "-q"])
        .current_dir(place.path("."))
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The program opens the inputs before the index.
    let mut stdin = first.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"{\"id\":\"a\",\"text\":\"one\"}\n").unwrap();
    place.file("b.jsonl", "{\"id\":\"b\",\"text\":\"two\"}\n");
    let mut refused = None;
    for _ in 0..100 {
        let run = place.run(&["index", "update", "x", "b.jsonl", "--wait", "0"]);
        if run.code == Some(1) {
            refused = Some(run.err);
            break;
        }
    }
    let refused = refused.expect("the first writer never had the index");
    assert!(refused.contains("another process writes to"), "{refused}");
    // Readers do not wait for the writer.
    place.run(&["index", "stats", "x"]).ok();
    let waiting = std::thread::scope(|scope| {
        let second =
            scope.spawn(|| place.run(&["index", "update", "x", "b.jsonl", "--wait", "60"]));
        drop(stdin);
        assert!(first.wait().unwrap().success());
        second.join().unwrap()
    });
    waiting.ok();
    assert_eq!(value(place.run(&["index", "stats", "x", "--json"]))["documents"], json!(2));
}

#[test]
fn indexes_skip_their_own_files() {
    let place = Place::new();
    place.file("docs/a.txt", "one two three").file("docs/b.txt", "four five six");
    place.run(&["index", "create", "docs/x.lookalike", "docs"]).ok();
    place.run(&["index", "update", "docs/x.lookalike", "docs"]).ok();
    let stats = value(place.run(&["index", "stats", "docs/x.lookalike", "--json"]));
    assert_eq!(stats["documents"], json!(2));
}

#[test]
fn generated_corpus_groups_match_find() {
    let Some(input) = shared("generated/corpus_3000.jsonl.gz") else { return };
    let place = Place::new();
    place.run(&["index", "create", "x", &input]).ok();
    let fresh = groups(&place, &["find", &input]);
    assert!(fresh.1.lines().count() > 50);
    assert_eq!(groups(&place, &["index", "groups", "x"]), fresh);
}

#[test]
fn comma_separated_metadata_names_are_errors() {
    let place = Place::new();
    let text = "one two three four five six";
    place.file("d.csv", format!("id,text,a,\"b,c\"\n1,{text},x,y\n"));
    for command in ["create", "add", "update"] {
        let error = place.run(&["index", command, "x", "d.csv", "--metadata", "a,b ,c"]).fails(2);
        assert!(error.contains("--metadata a --metadata b --metadata c"), "{error}");
        assert!(!place.path("x").exists());
    }
    let create = ["index", "create", "x", "d.csv", "--metadata", "a", "--metadata", "b\\,c"];
    place.run(&create).ok();
    let exported = objects(place.run(&["index", "export", "x"]));
    assert_eq!(exported[0]["metadata"]["a"], "x");
    assert_eq!(exported[0]["metadata"]["b,c"], "y");
}

#[test]
fn the_version_lists_the_backends() {
    let out = Place::new().run(&["--version"]).ok();
    let backends = if cfg!(feature = "postgres") {
        "indexes: folders, PostgreSQL"
    } else {
        "indexes: folders (built without PostgreSQL)"
    };
    assert_eq!(out, format!("lookalike {}\n{backends}\n", env!("CARGO_PKG_VERSION")));
}

/// The files of an index have mode 0600. An export is an ordinary output file, as of `find` and
/// `dedup`.
#[cfg(unix)]
#[test]
fn exports_have_ordinary_file_modes() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.file("a.jsonl", jsonl(&collection(2)));
    place.run(&["index", "create", "x", "a.jsonl", "--store", "texts"]).ok();
    place.run(&["index", "export", "x", "-o", "out.jsonl"]).ok();
    place.file("any", "");
    let mode = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("out.jsonl"), mode("any"));
    fs::set_permissions(place.path("out.jsonl"), Permissions::from_mode(0o640)).unwrap();
    place.run(&["index", "export", "x", "-o", "out.jsonl"]).ok();
    assert_eq!((mode("out.jsonl"), mode("x/catalog.sqlite")), (0o640, 0o600));
}

#[cfg(feature = "serve")]
#[test]
fn index_check_covers_service_state() {
    let place = Place::new();
    place.file("a.jsonl", "{\"id\":\"a\",\"text\":\"one two three\"}\n");
    place.run(&["index", "create", "x", "a.jsonl"]).ok();
    place.run(&["index", "check", "x"]).ok();
    place.file("x/service.sqlite", "no database");
    let checked = place.run(&["index", "check", "x"]);
    assert_ne!(checked.code, Some(0));
    assert!(checked.err.contains("service.sqlite"), "{}", checked.err);
}
