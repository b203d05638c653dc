//! Tests of `lookalike contamination`, and of `--drop` with its lists.

#![allow(clippy::unwrap_used, reason = "this is a test")]

use crate::command::{Place, Run};
use serde_json::{Value, json};

const QUESTION: &str =
    "Which of the two trains arrives first, if both leave at noon and one is late?";

fn place() -> Place {
    let place = Place::new();
    let question = json!({"id": "q1", "question": QUESTION, "answer": "The second train"});
    let other = json!({"id": "q2", "question": "How many apples are left?", "answer": "Twelve"});
    let empty = json!({"id": "q3", "question": "…", "answer": ""});
    place.file("quiz.jsonl", format!("{question}\n{other}\n{empty}\n"));
    let text = QUESTION.to_uppercase().replace(' ', "\r\n");
    let page = json!({"id": "p1", "text": format!("Übung 7 – „{text}“ Explain.")});
    let second = json!({"id": "p2", "text": "Nothing to see; twelve monkeys."});
    place.file("corpus.jsonl", format!("{page}\n{second}\n"));
    place
}

fn run(place: &Place, more: &[&str]) -> Run {
    let args = ["contamination", "corpus.jsonl", "-q"];
    place.run(&[&args[..], more].concat())
}

#[test]
fn items_are_found_with_their_places() {
    let place = place();
    let fields = ["--against", "quiz.jsonl", "--against-field", "question"];
    let fields = [&fields[..], &["--against-field", "answer", "-o", "items.jsonl"]].concat();
    let out = run(&place, &fields).ok();
    for text in ["quiz.jsonl (question)", "quiz.jsonl (answer)", "Compared with 2 documents"] {
        assert!(out.contains(text), "{text}: {out}");
    }
    assert!(out.contains("q1: Which of the two trains") && out.contains("q2: Twelve"), "{out}");
    let lines = place.read("items.jsonl");
    let items: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(items.len(), 6);
    let contaminated: Vec<bool> =
        items.iter().map(|item| item["contaminated"].as_bool().unwrap()).collect();
    assert_eq!(contaminated, [true, false, false, false, true, false]);
    let found = &items[0]["matches"][0];
    assert_eq!((&found["document"], &found["words"]), (&json!("p1"), &json!(16)));
    let corpus = place.read("corpus.jsonl");
    let page: Value = serde_json::from_str(corpus.lines().next().unwrap()).unwrap();
    let range = |name: &str| found[name].as_array().unwrap()[0].as_u64().unwrap() as usize;
    let text = page["text"].as_str().unwrap();
    assert!(text[range("bytes")..].starts_with("WHICH\r\nOF"), "{found}");
    assert_eq!(text.chars().nth(range("chars")), Some('W'));
    let counts = run(&place, &[&fields[..4], &["--json"]].concat()).ok();
    let counts: Value = serde_json::from_str(&counts).unwrap();
    assert_eq!(counts["benchmarks"][0]["contaminated"], 1);
    assert_eq!(counts["benchmarks"][0]["empty"], 1);
}

#[test]
fn contamination_errors_name_a_remedy() {
    let place = place();
    let against = ["--against", "quiz.jsonl", "--against-field", "question"];
    let fails = |code: i32, more: &[&str]| run(&place, more).fails(code);
    let unnamed = fails(1, &["--against", "quiz.jsonl"]);
    assert!(unnamed.contains("the record has"), "{unnamed}");
    assert!(unnamed.contains("name the field with --against-field"), "{unnamed}");
    let unknown = fails(
        1,
        &["--against", "quiz.jsonl", "--against-field", "question", "--against-field", "no"],
    );
    assert!(unknown.contains("name the field with --against-field"), "{unknown}");
    place.file("table.csv", "id,question\n1,What?\n");
    let unknown = fails(1, &["--against", "table.csv", "--against-field", "no"]);
    assert!(unknown.contains("--against-field"), "{unknown}");
    let unknown =
        fails(1, &["--text-field", "no", "--against", "quiz.jsonl", "--against-field", "question"]);
    assert!(unknown.contains("--text-field") && unknown.contains("corpus.jsonl"), "{unknown}");
    assert!(fails(1, &["--against", "corpus.jsonl"]).contains("would match themselves"));
    assert!(fails(2, &[&against[..], &["--ngram", "1"]].concat()).contains("2 words or more"));
    assert!(fails(2, &[&against[..], &["--threshold", "0"]].concat()).contains("threshold is 0"));
    assert!(fails(2, &[&against[..], &["--unit", "line"]].concat()).contains("--unit line"));
    assert!(fails(2, &[&against[..], &["-o", "x.csv"]].concat()).contains(".jsonl"));
    assert!(fails(2, &[]).contains("--against"));
    place.file("empty.jsonl", "{\"id\":1,\"text\":\"…\"}\n");
    let message = fails(1, &["--against", "empty.jsonl"]);
    assert!(message.contains("none of the 1 items"), "{message}");
}

#[test]
fn bad_folder_records_set_exit_code() {
    let place = place();
    place.file("in/a.jsonl", "{\"id\":1,\"text\":\"one two three\"}\n{\"id\":2}\n");
    let args =
        ["contamination", "in", "--against", "quiz.jsonl", "--against-field", "question", "-q"];
    let run = place.run(&args);
    assert!(run.code == Some(1) && run.err.contains("so the exit code is 1"), "{run:?}");
    assert_eq!(place.run(&[&args[..], &["--skip-bad"]].concat()).code, Some(0));
}

#[test]
fn indexed_texts_compare_like_files() {
    let place = place();
    let index = |name: &str, store: &str| {
        place.run(&["index", "create", name, "corpus.jsonl", "--store", store]).ok();
    };
    index("ix", "texts");
    index("sets", "sets");
    let both = |input: &str, against: &[&str]| {
        let files = ["-o", "items.jsonl", "--drop", "drop.jsonl", "--report", "page.html", "-q"];
        let args = [&["contamination", input], against, &files].concat();
        let out = place.run(&args).ok();
        let written = ["items.jsonl", "drop.jsonl", "page.html"].map(|name| place.read(name));
        (out, written.map(|text| text.replace(input, "corpus").replace(against[1], "quiz")))
    };
    let quiz = ["--against", "quiz.jsonl", "--against-field", "question"];
    let (files, stored) = (both("corpus.jsonl", &quiz), both("ix", &quiz));
    assert_eq!(files, stored);
    assert_eq!(files.1[1], "{\"id\":\"p1\",\"source\":\"corpus\"}\n");
    assert!(files.1[2].contains("<mark>WHICH\nOF"), "{}", files.1[2]);
    place.file("page.txt", "Ex. 3: nothing to see. TWELVE monkeys!");
    let counts = place.run(&["contamination", "page.txt", "--against", "ix", "--json", "-q"]).ok();
    let counts: Value = serde_json::from_str(&counts).unwrap();
    assert_eq!(counts["benchmarks"][0]["items"], 2);
    assert_eq!(counts["benchmarks"][0]["contaminated"], 1);
    assert_eq!(counts["contaminated_documents"], 1);
    let fails =
        |code: i32, args: &[&str]| place.run(&[&["contamination"], args].concat()).fails(code);
    for args in [["sets", "--against", "quiz.jsonl"], ["page.txt", "--against", "sets"]] {
        assert!(fails(1, &args).contains("create it again with --store texts"));
    }
    assert!(fails(1, &["ix", "--against", "./ix"]).contains("would match themselves"));
    assert!(fails(2, &["ix", "page.txt", "--against", "quiz.jsonl"]).contains("the only input"));
    let field = ["page.txt", "--against", "ix", "--against-field", "question"];
    assert!(fails(2, &field).contains("--against-field question"));
}

#[test]
fn each_source_is_read_once() {
    let place = place();
    let fails = |args: &[&str]| run(&place, args).fails(2);
    assert!(fails(&["-", "--against", "-"]).contains("stdin (-) is named twice"));
    let fields = ["--against-field", "question", "--against-field", "answer"];
    let stream = [&["--against", "-"], &fields[..]].concat();
    assert!(fails(&stream).contains("can be read only once"));
    let repeated =
        ["--against", "quiz.jsonl", "--against-field", "answer", "--against-field", "answer"];
    assert!(fails(&repeated).contains("answer is repeated; name each field once"));
    // The second run does not read the output files of the first as documents.
    let files = ["contamination", ".", "--against", "quiz.jsonl", "--exclude", "quiz.jsonl", "-q"];
    let files = [&files[..], &fields, &["-o", "items.jsonl", "--drop", "drop.jsonl", "--json"]];
    let first = place.run(&files.concat()).ok();
    let [items, drop] = ["items.jsonl", "drop.jsonl"].map(|name| place.read(name));
    for name in ["items.jsonl", "drop.jsonl"] {
        std::fs::remove_file(place.path(name)).unwrap();
    }
    assert_eq!(place.run(&files.concat()).ok(), first);
    assert_eq!(["items.jsonl", "drop.jsonl"].map(|name| place.read(name)), [items, drop]);
}

/// Three near-duplicate pages: `p1` with the question and `p2` without it in `a.jsonl`, and `p3`
/// without it in `b.jsonl`.
fn corpus_to_clean() -> Place {
    let place = place();
    let page = |id: &str, words: &str| {
        let around: Vec<String> = (0..60).map(|n| format!("word{n}")).collect();
        json!({"id": id, "text": format!("{} {words}", around.join(" "))}).to_string() + "\n"
    };
    let (with, without) = (page("p1", QUESTION), page("p2", "ends here"));
    place.file("pages/a.jsonl", with + &without);
    place.file("pages/b.jsonl", page("p3", "and ends there too"));
    place
}

/// Returns the standard error of a run that must succeed.
fn messages(place: &Place, args: &[&str]) -> String {
    let run = place.run(args);
    let err = run.err.clone();
    run.ok();
    err
}

#[test]
fn dropped_documents_are_not_compared() {
    let place = corpus_to_clean();
    let quiz = ["--against", "quiz.jsonl", "--against-field", "question"];
    let list = [&["contamination", "pages"], &quiz[..], &["-q", "--drop", "drop.jsonl"]];
    place.run(&list.concat()).ok();
    assert_eq!(place.read("drop.jsonl"), "{\"id\":\"p1\",\"source\":\"pages/a.jsonl\"}\n");
    let dedup = ["dedup", "pages", "--threshold", "0.6", "--removed", "removed.csv"];
    messages(&place, &[&dedup[..], &["-o", "kept/"]].concat());
    assert!(place.read("kept/a.jsonl").contains("\"p1\""), "the longest is kept");
    let drop = [&dedup[..], &["--drop", "drop.jsonl"]].concat();
    let err = messages(&place, &[&drop[..], &["-o", "clean/"]].concat());
    assert!(err.contains("dropped: 1 document that --drop lists"), "{err}");
    assert!(err.contains("1 duplicate left out, 1 dropped"), "{err}");
    let left = place.read("clean/a.jsonl") + &place.read("clean/b.jsonl");
    assert!(!left.contains("\"p1\"") && left.lines().count() == 1, "{left}");
    let removed = place.read("removed.csv");
    assert!(removed.contains("p1,pages/a.jsonl,,,,dropped\n"), "{removed}");
    assert_eq!(removed.lines().count(), 3, "{removed}");
    messages(&place, &[&drop[..], &["-o", "all/", "--annotate"]].concat());
    let annotated = place.read("all/a.jsonl");
    assert!(
        annotated.contains("\"lookalike_reason\":\"dropped\",\"lookalike_group_size\":null}\n"),
        "{annotated}"
    );
    // A list in the input folder is not read as documents.
    place.file("pages/drop.jsonl", place.read("drop.jsonl"));
    let drop = [&dedup[..], &["--drop", "pages/drop.jsonl", "--exact", "-q"]].concat();
    let err = messages(&place, &[&drop[..], &["-o", "exact/", "--documents-only"]].concat());
    assert!(err.contains("dropped: 1 document"), "{err}");
    assert_eq!(place.read("exact/a.jsonl"), place.read("clean/a.jsonl"));
}

#[test]
fn cut_ignores_dropped_documents() {
    let place = corpus_to_clean();
    place.file("drop.jsonl", "{\"id\":\"p1\"}\n{\"id\":\"p9\"}\n");
    let args = ["cut", "pages", "--drop", "drop.jsonl", "--removed", "parts.csv"];
    let err = messages(&place, &[&args[..], &["-o", "cut/"]].concat());
    assert!(err.contains("1 of 2 lines of that list match no document"), "{err}");
    let (a, b) = (place.read("cut/a.jsonl"), place.read("cut/b.jsonl"));
    // The longest document keeps the shared passage: p3, because p1 is dropped.
    assert_eq!(a, "{\"id\":\"p2\",\"text\":\"ends here\"}\n");
    assert_eq!(b, place.read("pages/b.jsonl"));
    place.file("pages.csv", "id,text\np1,one two\np2,three\n");
    let csv = ["cut", "pages.csv", "--drop", "drop.jsonl", "--annotate"];
    messages(&place, &[&csv[..], &["-o", "all.csv"]].concat());
    let annotated = "p1,one two,false,0,[]\np2,three,true,0,[]\n";
    assert!(place.read("all.csv").ends_with(annotated), "{}", place.read("all.csv"));
    let parts = place.read("parts.csv");
    assert!(parts.contains("dropped\n") && parts.lines().count() == 3, "{parts}");
}

#[test]
fn shared_ids_are_dropped_by_source() {
    let place = Place::new();
    let text = |n: usize| json!({"id": "1", "text": format!("text {n}")}).to_string() + "\n";
    place.file("pages/a.jsonl", text(1));
    place.file("pages/b.jsonl", text(2));
    place.file("drop.jsonl", "{\"id\":\"1\",\"source\":\"pages/b.jsonl\"}\n");
    place.run(&["dedup", "pages", "--drop", "drop.jsonl", "-o", "kept/"]).ok();
    assert_eq!((place.read("kept/a.jsonl"), place.read("kept/b.jsonl")), (text(1), String::new()));
    // A dropped file is not copied along with the files that contain no document.
    place.file("texts/x.txt", "one two three");
    place.file("texts/y.txt", "four five six");
    place.file("drop.jsonl", "{\"id\":\"y.txt\"}\n");
    place.run(&["dedup", "texts", "--drop", "drop.jsonl", "-o", "texts-kept/"]).ok();
    assert!(place.path("texts-kept/x.txt").exists() && !place.path("texts-kept/y.txt").exists());
    let moved = ["dedup", "texts", "--drop", "drop.jsonl", "--move-to", "moved/"];
    assert!(place.run(&moved).fails(2).contains("--drop"));
    place.file("drop.jsonl", "{\"id\":\"1\"}\n{\"name\":\"1\"}\n");
    let error = place.run(&["dedup", "pages", "--drop", "drop.jsonl", "-o", "x/"]).fails(1);
    assert!(error.contains("drop.jsonl line 2: expected an object"), "{error}");
    let error = place.run(&["dedup", "pages", "--drop", "none.jsonl", "-o", "x/"]).fails(1);
    assert!(error.contains("none.jsonl"), "{error}");
}
