//! An index as the reference of a run. Indexed documents stay, and documents that resemble them are
//! removed.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::command::{Place, root};
use std::fmt::Write as _;

const FOX: &str = "the quick brown fox jumps over the lazy dog in the green park";

fn line(id: &str, text: &str) -> String {
    serde_json::json!({ "id": id, "text": text }).to_string() + "\n"
}

fn place() -> Place {
    let place = Place::new();
    let old = line("a", &format!("{FOX} today"))
        + &line("b", "once upon a time there was an old woman who lived in a small house");
    let other = "something completely different about the weather in the north of it";
    let new =
        line("x", &format!("{FOX} now")) + &line("y", other) + &line("z", &format!("{other} all"));
    place.file("old.jsonl", old).file("new.jsonl", new);
    place
}

/// Returns the documents of the sample in two halves, alternating by name, as JSON lines.
fn halves() -> [String; 2] {
    let mut lines = String::new();
    for entry in std::fs::read_dir(root().join("fixtures/sample")).unwrap() {
        let entry = entry.unwrap();
        if entry.path().extension().is_some_and(|end| end == "txt") {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            write!(lines, "{}", line(entry.file_name().to_str().unwrap(), &text)).unwrap();
        }
    }
    let mut all: Vec<&str> = lines.lines().collect();
    all.sort_unstable();
    [0, 1].map(|from| {
        let some = all.iter().skip(from).step_by(2).copied();
        some.collect::<Vec<_>>().join("\n") + "\n"
    })
}

/// An index as reference gives the same result as a file with its documents, whether it stores
/// texts or only shingle sets. With stored texts, the run may also use other shingles than the
/// index.
#[test]
fn reference_indexes_decide_like_files() {
    let place = Place::new();
    let [old, new] = halves();
    place.file("old.jsonl", &old).file("new.jsonl", &new);
    for store in ["texts", "sets"] {
        place.run(&["index", "create", store, "old.jsonl", "--store", store]).ok();
    }
    let run = |reference: &str, more: &[&str]| {
        let args = ["dedup", "new.jsonl", "--reference", reference, "-o", "out.jsonl", "-q"];
        place.run(&[&args[..], &["--removed", "gone.csv"], more].concat()).ok();
        [place.read("out.jsonl"), place.read("gone.csv")]
    };
    let words: [&[&str]; 3] =
        [&["-t", "0.5"], &["-t", "0.5", "--exact"], &["--measure", "containment"]];
    for more in words {
        let expected = run("old.jsonl", more);
        assert!(expected[1].contains(",reference\n"), "{more:?}: {}", expected[1]);
        for store in ["texts", "sets"] {
            assert_eq!(run(store, more), expected, "{store} {more:?}");
        }
    }
    let chars = ["--shingle", "chars:9", "-t", "0.5"];
    assert_eq!(run("texts", &chars), run("old.jsonl", &chars));
    let fold = ["--normalize", "fold", "-t", "0.5"];
    assert_eq!(run("texts", &fold), run("old.jsonl", &fold));
    let args =
        ["dedup", "new.jsonl", "--reference", "sets", "-o", "x.jsonl", "--shingle", "words:3"];
    let message = place.run(&args).fails(1);
    assert!(message.contains("words:5") && message.contains("words:3"), "{message}");
    let found = ["find", "new.jsonl", "--reference", "sets", "-t", "0.5", "--json", "-q"];
    let report = place.run(&found).ok();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["counts"]["reference"], old.lines().count());
}

#[test]
fn kept_documents_join_the_reference_index() {
    let place = place();
    place.run(&["index", "create", "news", "old.jsonl", "--store", "texts"]).ok();
    let args = [
        "dedup",
        "new.jsonl",
        "--reference",
        "news",
        "--add",
        "--removed",
        "gone.csv",
        "-t",
        "0.7",
    ];
    let run = place.run(&args);
    assert!(run.err.contains("added to news: 1 document"), "{}", run.err);
    run.ok();
    let removed = place.read("gone.csv");
    assert!(
        removed.contains("x,new.jsonl,1,a,") && removed.contains("y,new.jsonl,2,z,"),
        "{removed}"
    );
    let exported = place.run(&["index", "export", "news"]).ok();
    assert!(
        exported.contains("\"z\"") && exported.contains("\"source\":\"new.jsonl\""),
        "{exported}"
    );
    let second = place.run(&args);
    assert!(second.err.contains("added to news: 0 documents"), "{}", second.err);
    second.ok();
    assert_eq!(
        place.read("gone.csv").lines().filter(|line| line.ends_with(",reference")).count(),
        3
    );
    // An id of the index, with another text.
    place.file(
        "new.jsonl",
        line("a", "an article about something that nobody has written about yet"),
    );
    let message = place.run(&args).fails(1);
    assert!(message.contains("already has a document \"a\" with another text"), "{message}");
}

/// Removed documents count in the group size of their keeper, over all batches. Exports, answers
/// and indexes created from an export contain these sizes.
#[test]
fn group_sizes_are_stored_and_exported() {
    let place = place();
    place.run(&["index", "create", "news", "old.jsonl", "--store", "texts"]).ok();
    let add = |input: &str| {
        let args = ["dedup", input, "--reference", "news", "--add", "-t", "0.7"];
        let run = place.run(&args);
        let err = run.err.clone();
        run.ok();
        err
    };
    let message = add("new.jsonl");
    let expected = "added to news: 1 document; 2 duplicates of documents there recorded";
    assert!(message.contains(expected), "{message}");
    assert!(!add("new.jsonl").contains("recorded"), "the same batch counts once");
    place.file(
        "more.jsonl",
        line("w", &format!("{FOX} at noon")) + &line("x", &format!("{FOX} now")),
    );
    assert!(add("more.jsonl").contains("1 duplicate of documents there recorded"));
    let sizes = |index: &str| {
        let exported = place.run(&["index", "export", index]).ok();
        let of = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            (line["id"].clone(), line["group_size"].clone(), line["duplicates"].clone())
        };
        exported.lines().map(of).collect::<Vec<_>>()
    };
    let null = || serde_json::Value::Null;
    let expected = vec![
        ("a".into(), 3.into(), serde_json::json!(["w", "x"])),
        ("b".into(), null(), null()),
        ("z".into(), 2.into(), serde_json::json!(["y"])),
    ];
    assert_eq!(sizes("news"), expected);
    let answer = place.run(&["query", "news", "--id", "z", "--threshold", "0.1", "--json"]).ok();
    assert!(!answer.contains("group_size"), "{answer}");
    place.file("draft.txt", format!("{FOX} today"));
    let answer = place.run(&["query", "news", "draft.txt", "--json"]).ok();
    assert!(answer.contains("\"group_size\":3"), "{answer}");

    place.run(&["index", "export", "news", "-o", "export.jsonl"]).ok();
    place.run(&["index", "create", "copy", "export.jsonl", "--exported", "--store", "texts"]).ok();
    assert_eq!(sizes("copy"), expected);
    place.run(&["index", "remove", "copy", "x"]).ok();
    assert_eq!(sizes("copy")[0].1, 2);
    place.run(&["index", "remove", "copy", "a"]).ok();
    assert_eq!(sizes("copy")[1..], expected[2..]);
    place.run(&["index", "check", "copy"]).ok();
    place.file("bad.jsonl", "{\"id\":\"q\",\"text\":\"t\",\"duplicates\":7}\n");
    let message = place.run(&["index", "add", "copy", "bad.jsonl", "--exported"]).fails(1);
    assert!(message.contains("`duplicates` as a list of texts"), "{message}");
}

#[test]
fn adding_without_an_index_is_refused() {
    let place = place();
    place.run(&["index", "create", "sketches", "old.jsonl", "--store", "signatures"]).ok();
    let dedup = |more: &[&str]| place.run(&[&["dedup", "new.jsonl"], more].concat());
    let message = dedup(&["--reference", "old.jsonl", "--add"]).fails(2);
    assert!(message.contains("one index among --reference, there are 0"), "{message}");
    dedup(&["--add"]).fails(2);
    dedup(&["--reference", "sketches", "--add", "--dry-run"]).fails(2);
    let message = dedup(&["--reference", "sketches", "-o", "out.jsonl"]).fails(1);
    assert!(message.contains("sets"), "{message}");
    let message = dedup(&["--reference", "sketches", "--add", "--normalize", "nfc"]).fails(2);
    assert!(message.contains("normal form"), "{message}");
}

/// A run with an index as reference and its audit read the same documents, whether the index stores
/// texts or only shingle sets. Their figures equal those for a reference file.
#[test]
fn runs_with_an_index_are_audited() {
    let place = Place::new();
    let [old, new] = halves();
    place.file("old.jsonl", &old).file("new.jsonl", &new);
    for store in ["texts", "sets"] {
        place.run(&["index", "create", store, "old.jsonl", "--store", store]).ok();
    }
    let audited = |reference: &str| {
        let inputs = ["new.jsonl", "--reference", reference, "-q"];
        let run = ["-t", "0.5", "--pairs", "pairs.csv", "--report", "r.json"];
        place.run(&[&["find"], &inputs[..], &run].concat()).ok();
        let report = ["--pairs", "pairs.csv", "--json"];
        place.run(&[&["audit", "r.json"], &inputs[..], &report].concat()).ok()
    };
    let expected = audited("old.jsonl");
    assert!(expected.contains("\"recall\""), "{expected}");
    for reference in ["texts", "sets"] {
        assert_eq!(audited(reference), expected, "{reference}");
        let find = ["find", "new.jsonl", "--reference", reference, "-q", "--audit", "10"];
        place.run(&find).ok();
    }
}
