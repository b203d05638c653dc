//! Invalid inputs and options. The program prints an error with a remedy, or the correct result. It
//! never panics and reports every problem.

use crate::command::{Place, jsonl, shared, words};
use std::fmt::Write;

#[test]
fn missing_and_empty_inputs_are_errors() {
    let place = Place::new();
    place.file("empty/.hidden", "x");
    std::fs::create_dir(place.path("bare")).unwrap();
    let missing = place.run(&["find", "no-such-file"]).fails(1);
    assert!(missing.contains("no-such-file: no such file or folder"), "{missing}");
    let empty = place.run(&["find", "empty"]).fails(1);
    assert!(empty.contains("no file to read") && empty.contains("1 hidden"), "{empty}");
    place.run(&["find", "bare"]).fails(1);
    place.run(&["find"]).fails(2);
    let stream = place.run_with_input(&["find", "-"], b"plain words").fails(1);
    assert!(stream.contains("--format"), "{stream}");
    place.run(&["find", "-", "-"]).fails(2);
}

#[test]
fn broken_lines_are_named_or_counted() {
    let place = Place::new();
    let good = jsonl(&[("a".into(), words(1, 30)), ("b".into(), words(1, 30))]);
    place.file("d.jsonl", format!("{good}{{\"id\": \"c\", \"text\": \"cut\n"));
    let message = place.run(&["find", "d.jsonl"]).fails(1);
    assert!(message.contains("d.jsonl:3: not JSON") && message.contains("--skip-bad"), "{message}");
    let run = place.run(&["find", "d.jsonl", "--skip-bad", "--skipped", "s.csv"]);
    assert!(run.err.contains("1 skipped") && run.err.contains("d.jsonl:3: not JSON: expected"));
    assert_eq!(run.ok().lines().count(), 3);
    let listed = place.read("s.csv");
    assert!(listed.starts_with("source,line,id,reason\nd.jsonl,3,"), "{listed}");
    assert_eq!(listed.lines().count(), 2);
}

#[test]
fn quiet_runs_report_skipped_items() {
    let place = Place::new();
    place.file("d/a", "some text").file("d/b", b"\0\0binary\0").file("d/.c", "hidden");
    let run = place.run(&["find", "d", "-q"]);
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    assert!(run.err.contains("1 binary") && run.err.contains("1 hidden"), "{}", run.err);
    assert!(run.err.contains("--skipped FILE.csv"), "{}", run.err);
}

#[test]
fn missing_fields_and_repeated_ids() {
    let place = Place::new();
    place.file("d.jsonl", "{\"id\":\"a\",\"body\":\"x\"}\n");
    let message = place.run(&["find", "d.jsonl"]).fails(1);
    assert!(message.contains("d.jsonl:1: no field \"text\"; the record has id, body"), "{message}");
    assert!(message.contains("--text-field"), "{message}");
    place.file("e.jsonl", jsonl(&[("a".into(), words(1, 9)), ("a".into(), words(2, 9))]));
    let message = place.run(&["find", "e.jsonl"]).fails(1);
    assert!(message.contains("e.jsonl:1") && message.contains("e.jsonl:2"), "{message}");
    assert!(message.contains("--id-field :line"), "{message}");
    place.run(&["find", "e.jsonl", "--id-field", ":line"]).ok();
    let run = place.run(&["find", "e.jsonl", "--skip-bad"]);
    assert!(run.err.contains("1 document, 1 skipped"), "{}", run.err);
    place.file("c.csv", "key,text\n1,x\n");
    let message = place.run(&["find", "c.csv"]).fails(1);
    assert!(message.contains("no column \"id\"") && message.contains("key, text"), "{message}");
}

#[test]
fn binary_and_undecodable_files_are_reported() {
    let place = Place::new();
    let text = words(4, 40);
    place.file("d/a", &text).file("d/b", &text);
    place.file("d/latin", b"caf\xE9 au lait, d\xE9j\xE0 vu").file("d/nul", [0u8; 5_000]);
    let run = place.run(&["find", "d"]);
    let skipped = "1 skipped\n  d/nul: binary: it holds a NUL byte";
    assert!(run.err.contains("3 documents") && run.err.contains(skipped), "{}", run.err);
    assert_eq!(run.ok().lines().count(), 3);
    place.file("x.jsonl", b"{\"id\":\"a\",\"text\":\"caf\xE9\"}\n");
    let message = place.run(&["find", "x.jsonl"]).fails(1);
    assert!(
        message.contains("x.jsonl:1: not UTF-8") && message.contains("--encoding"),
        "{message}"
    );
    place.run(&["find", "x.jsonl", "--encoding", "windows-1252"]).ok();
    let message = place.run(&["find", "x.jsonl", "--encoding", "klingon"]).fails(2);
    assert!(message.contains("klingon"), "{message}");
}

#[test]
fn empty_documents_are_listed_as_skipped() {
    let place = Place::new();
    place.file("d/a", "").file("d/b", " \n").file("d/c", "!?").file("d/d", "word");
    let run = place.run(&["find", "d", "--skipped", "s.csv", "--exit-code"]);
    assert!(run.err.contains("4 documents (3 empty)"), "{}", run.err);
    assert_eq!(run.code, Some(0));
    let listed = place.read("s.csv");
    assert_eq!(
        listed,
        "source,line,id,reason\n,,a,empty: no tokens\n,,b,empty: no tokens\n,,c,empty: no tokens\n"
    );
    place.file("e/a", "").file("e/b", "");
    let run = place.run(&["find", "e"]);
    assert!(run.err.contains("no document has a token"), "{}", run.err);
}

#[test]
fn out_of_range_options_are_errors() {
    let place = Place::new();
    place.file("a", "text");
    for (value, part) in [
        ("0", "the threshold is 0; it must be above 0"),
        ("1.1", "the threshold is 1.1"),
        ("-1", "the threshold is -1"),
        ("NaN", "the threshold is NaN"),
        ("80%", "a number above 0 and at most 1, such as 0.8"),
        ("", "such as 0.8"),
    ] {
        let message = place.run(&["find", "a", "--threshold", value]).fails(2);
        assert!(message.contains(part), "{value}: {message}");
        let message = place.run(&["evaluate", "a", "a", "--threshold", value]).fails(2);
        assert!(message.contains(part), "{value}: {message}");
    }
    for args in [
        &["--recall", "1"][..],
        &["--recall", "99%"],
        &["--shingle", "words:0"],
        &["--shingle", "letters:3"],
        &["--tokens", "syllables"],
        &["--case", "upper"],
        &["--stop-words", "xx"],
        &["--num-hashes", "0"],
        &["--num-hashes", "128", "--bands", "20", "--rows", "20"],
        &["--scheme", "md5"],
        &["--threads", "0"],
        &["--keep", "best"],
        &["--group", "chains"],
        &["--format", "xml"],
        &["--kernel", "abacus"],
        &["--threshold", "0.01", "--recall", "0.999999", "--rows", "8"],
    ] {
        place.run(&[&["find", "a"][..], args].concat()).fails(2);
    }
}

#[test]
fn threshold_one_finds_equal_documents() {
    let place = Place::new();
    let text = words(8, 60);
    place.file("d/a", &text).file("d/b", format!("{}!", text.to_uppercase()));
    place.file("d/c", format!("{text} more"));
    let out = place.run(&["find", "d", "-q", "--threshold", "1"]).ok();
    assert_eq!(out.lines().count(), 3, "{out}");
    assert!(out.contains("1.000") && !out.contains("d/c"), "{out}");
}

#[test]
fn outputs_with_impossible_names() {
    let place = Place::new();
    place.file("a.csv", "id,text\n1,x\n").file("b.jsonl", "");
    let message = place.run(&["find", "a.csv", "--output", "g.xml"]).fails(2);
    assert!(message.contains("--output: ") && message.contains(".jsonl or .csv"), "{message}");
    let message = place.run(&["find", "a.csv", "--pairs", "p.jsonl"]).fails(2);
    assert!(message.contains("--pairs: ") && message.contains("end in .csv,"), "{message}");
    let message = place.run(&["find", "a.csv", "--pairs", "./a.csv"]).fails(2);
    assert!(message.contains("is an input"), "{message}");
    let message =
        place.run(&["find", "a.csv", "--pairs", "x.csv", "--skipped", "./x.csv"]).fails(2);
    assert!(message.contains("two outputs"), "{message}");
    let message = place.run(&["find", "a.csv", "--pairs", "no/p.csv"]).fails(1);
    assert!(message.contains("cannot write no/p.csv"), "{message}");
    assert_eq!(place.read("a.csv"), "id,text\n1,x\n");
    let mut names: Vec<_> = std::fs::read_dir(place.path("")).unwrap().collect();
    assert_eq!(names.drain(..).count(), 2, "nothing is left behind");
}

#[test]
fn outputs_never_replace_inputs() {
    let place = Place::new();
    let record = "{\"id\":\"a\",\"text\":\"one two three four five six\"}\n\
                  {\"id\":\"b\",\"text\":\"one two three four five six\"}\n";
    place.file("in/a.jsonl", record).file("in/b.csv", "id,text\nb,one two three four five six\n");
    for args in [
        &["find", "in", "-o", "in/a.jsonl"][..],
        &["find", "in", "--pairs", "in/../in/b.csv"],
        &["find", "b.txt", "--reference", "in", "--skipped", "in/b.csv"],
        &["dedup", "in", "-o", "kept/", "--removed", "in/a.jsonl"],
    ] {
        place.file("b.txt", "words");
        let message = place.run(args).fails(2);
        assert!(message.contains("is an input: it lies in in"), "{message}");
        assert_eq!(place.read("in/a.jsonl"), record);
        assert!(place.read("in/b.csv").starts_with("id,text\nb,"));
    }
    // A run may overwrite the outputs of an earlier run in an input folder.
    for _ in 0..2 {
        let args =
            ["find", "in", "-o", "in/g.jsonl", "--pairs", "in/p.csv", "--report", "in/r.html"];
        place.run(&[&args[..], &["--report", "in/r.json", "--skipped", "in/s.csv"]].concat()).ok();
        assert!(place.read("in/g.jsonl").starts_with("{\"group\":1,"));
    }
    place.file("tables/a.jsonl", record);
    for _ in 0..2 {
        place.run(&["find", "tables", "-o", "tables/g.parquet"]).ok();
    }
}

#[test]
fn failed_runs_keep_old_outputs() {
    let place = Place::new();
    place.file("d.jsonl", "broken\n").file("p.csv", "old");
    place.run(&["find", "d.jsonl", "--pairs", "p.csv"]).fails(1);
    assert_eq!(place.read("p.csv"), "old");
    assert_eq!(std::fs::read_dir(place.path("")).unwrap().count(), 2);
}

#[test]
fn a_hundred_megabyte_document_is_compared() {
    let place = Place::new();
    let piece = words(1, 100_000);
    let mut huge = String::with_capacity(101_000_000);
    while huge.len() < 100_000_000 {
        write!(huge, "part {} ", huge.len()).unwrap();
        huge.push_str(&piece);
    }
    place.file("d/huge", &huge).file("d/also-huge", &huge).file("d/small", "a few words");
    let out = place.run(&["find", "d", "-q"]).ok();
    assert!(out.contains("keeper  d/also-huge\n") && out.contains("1.000  d/huge\n"), "{out}");
}

#[test]
fn many_short_documents_are_grouped() {
    let place = Place::new();
    let many = if cfg!(debug_assertions) { 200_000 } else { 1_000_000 };
    let mut lines = String::new();
    for i in 0..many {
        writeln!(lines, "d{i} word{}", i % 1_000).unwrap();
    }
    place.file("d.train", &lines);
    let run = place.run(&["find", "d.train", "--limit", "3", "-o", "g.csv"]);
    assert!(run.err.contains("1,000 groups"), "{}", run.err);
    run.ok();
    assert_eq!(place.read("g.csv").lines().count(), many + 1);
}

#[test]
fn skip_bad_survives_odd_documents() {
    let Some(bad) = shared("edge/bad.jsonl") else { return };
    let place = Place::new();
    let message = place.run(&["find", &bad]).fails(1);
    assert!(message.contains("bad.jsonl:"), "{message}");
    let run = place.run(&["find", &bad, "--skip-bad", "--skipped", "s.csv"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(place.read("s.csv").lines().count() > 10, "{}", place.read("s.csv"));
}

#[test]
fn earlier_outputs_are_not_read() {
    let place = Place::new();
    place.file("d/a", words(1, 40)).file("d/b", words(1, 40));
    let args = ["find", "d", "-o", "d/groups.csv", "--pairs", "d/pairs.csv"];
    for _ in 0..2 {
        let run = place.run(&args);
        assert!(run.err.contains("\n2 documents ("), "{}", run.err);
        assert!(!run.err.contains("skipped"), "{}", run.err);
        run.ok();
    }
    assert_eq!(std::fs::read_dir(place.path("d")).unwrap().count(), 4);
}

#[test]
fn a_repeated_file_is_read_once() {
    let place = Place::new();
    place.file("d/a", words(1, 40));
    for inputs in [["d/a", "d/a"], ["d", "d/a"]] {
        let run = place.run(&["find", inputs[0], inputs[1]]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.err.contains("d/a: found a second time, read once"), "{}", run.err);
    }
}

#[test]
fn inputs_without_documents_are_reported() {
    let place = Place::new();
    place.file("none.jsonl", "").file("one.txt", "a b c\nd e f\n").file("empty.csv", "");
    let run = place.run(&["find", "none.jsonl"]);
    assert!(run.err.contains("the input has no documents\n"), "{}", run.err);
    let run = place.run(&["find", "one.txt"]);
    assert!(run.err.contains("only one document") && run.err.contains("--format lines"));
    let message = place.run(&["find", "empty.csv"]).fails(1);
    assert!(message.contains("empty.csv: the input is empty"), "{message}");
    let run = place.run_with_input(&["find", "-", "--format", "text"], b"");
    assert!(run.err.contains("1 document (1 empty)"), "{}", run.err);
}

#[test]
fn write_errors_name_output_and_remedy() {
    let place = Place::new();
    place.file("a.jsonl", "");
    let message = place.run(&["find", "a.jsonl", "-o", "no/such/x.csv"]).fails(1);
    assert!(message.contains("no/such/x.csv") && message.contains("make its folder"), "{message}");
    assert!(!message.contains(".part"), "{message}");
    for wrong in [["--threads", "0"], ["--seed", "-1"]] {
        let message = place.run(&[&["find", "a.jsonl"], &wrong[..]].concat()).fails(2);
        assert!(message.contains("expected a whole number"), "{message}");
    }
}

#[test]
fn exceeded_limits_name_their_option() {
    let place = Place::new();
    let page = format!("<!DOCTYPE html><html><body><p>{}</p></body></html>", words(1, 60));
    place.file("d/a.html", &page).file("d/b.txt", words(1, 60));
    let run = place.run(&["find", "d", "--max", "file-size=100"]);
    let reason = "d/a.html: more than 100 bytes (--max file-size allows more)";
    assert!(run.err.contains(reason), "{}", run.err);
    let args = ["compare", "d/a.html", "d/b.txt", "--max", "file-size=100"];
    let message = place.run(&args).fails(1);
    assert!(message.contains("--max file-size allows more"), "{message}");
}

#[test]
fn memory_errors_show_the_unit() {
    let place = Place::new();
    place.file("a.txt", "x");
    for (memory, displayed) in [("1k", "1KiB"), ("1000", "1000B"), ("1m", "1MiB")] {
        let message = place.run(&["find", "a.txt", "--memory", memory]).fails(1);
        assert!(message.contains(&format!("--memory {displayed} is too small")), "{message}");
    }
}

#[test]
fn compare_advises_only_its_own_options() {
    let place = Place::new();
    place.file("a", b"a\0b").file("b", "b");
    let message = place.run(&["compare", "a", "b"]).fails(1);
    assert!(message.contains("a: binary") && !message.contains("--skip-bad"), "{message}");
}
