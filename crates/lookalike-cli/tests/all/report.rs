//! Tests of `lookalike find --report` and `--audit` as a process: the contents of the page and the
//! JSON, equal audits in all outputs, and errors before any work.

#![allow(clippy::unwrap_used, reason = "this is a test")]

use crate::command::{Place, collection, jsonl, root, words};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn json_of(place: &Place, name: &str) -> Value {
    serde_json::from_str(&place.read(name)).unwrap()
}

fn names(place: &Place) -> BTreeSet<String> {
    let entries = std::fs::read_dir(place.path("")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Returns a report without its times.
fn timeless(mut report: Value) -> Value {
    report.as_object_mut().unwrap().remove("times").unwrap();
    report
}

/// Returns the part of a page before its times.
fn timeless_page(page: &str) -> &str {
    page.split_once("<h3>Time</h3>").unwrap().0
}

/// Replaces the no-break spaces of a page by ordinary ones.
fn plain(page: &str) -> String {
    page.replace('\u{a0}', " ")
}

#[test]
fn sample_reports_can_be_audited() {
    let place = Place::new();
    let sample = root().join("fixtures/sample");
    let sample = sample.to_str().unwrap();
    let printed = place.run(&["find", sample, "--json", "-q"]).ok();
    let run = place.run(&["find", sample, "--report", "r.json", "--report", "r.json.gz"]);
    assert!(run.err.contains("report: r.json\nreport: r.json.gz\n"), "{}", run.err);
    assert!(run.ok().contains("heating-failure-reply.txt"), "the table is still printed");
    assert_eq!(
        timeless(serde_json::from_str(&printed).unwrap()),
        timeless(json_of(&place, "r.json"))
    );
    for report in ["r.json", "r.json.gz"] {
        let out = place.run(&["audit", report, sample, "--json"]).ok();
        let audit: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&audit["documents"], &audit["found"]), (&json!(13), &json!(13)), "{audit}");
    }
}

#[test]
fn audit_outputs_agree() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&collection(60)));
    for (pairs, by) in [(&[][..], "groups"), (&["--pairs", "pairs.csv"], "pairs")] {
        let audit = ["--audit", "70", "--audit-seed", "5", "--confidence", "0.9"];
        let reports = ["--report", "r.html", "--report", "r.json"];
        let find = ["find", "in.jsonl", "--verbose"];
        let run = place.run(&[&find[..], &audit, &reports, pairs].concat());
        let command = ["audit", "r.json", "in.jsonl", "--sample", "70", "--seed", "5"];
        let command = [&command[..], &["--confidence", "0.9"], pairs].concat();
        let text = place.run(&command).ok();
        assert!(text.contains("90 % confidence"), "{text}");
        let reported = text.split("\n\nThe interval").next().unwrap();
        assert!(run.err.contains(reported), "{} does not hold {reported}", run.err);
        assert!(run.err.contains("draw documents ") && run.err.contains("find neighbours "));
        let alone: Value =
            serde_json::from_str(&place.run(&[&command[..], &["--json"]].concat()).ok()).unwrap();
        let report = json_of(&place, "r.json");
        assert_eq!(report["audit"], alone);
        assert_eq!((&alone["judged_by"], &alone["sampled"]), (&json!(by), &json!(70)));
        assert_eq!(report["times"].as_array().unwrap().len(), 5);
        let page = plain(&place.read("r.html"));
        for part in
            ["with a confidence of 90 %", "<h3>What the audit measured</h3>\n<p>70 documents"]
        {
            assert!(page.contains(part), "{part}");
        }
    }
    place.run(&["find", "in.jsonl", "--report", "r.json", "-q"]).ok();
    assert!(json_of(&place, "r.json").as_object().unwrap()["audit"].is_null());
}

#[test]
fn a_quiet_audit_is_reported_once() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&collection(9)));
    let find =
        |more: &[&str]| place.run(&[&["find", "in.jsonl", "-q", "--audit", "5"], more].concat());
    let alone = find(&[]);
    assert!(alone.err.starts_with("Recall is "), "{}", alone.err);
    assert_eq!(find(&["--report", "r.html"]).err, "");
    let json = find(&["--json"]);
    assert_eq!(json.err, "");
    let report: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(report["audit"]["sampled"], 5);
}

#[test]
fn report_page_explains_kept_documents() {
    let place = Place::new();
    let text = words(7, 90);
    let newer = format!("{text} changed");
    place.file("in/a/plain.txt", &text).file("in/a/longer.txt", &newer);
    place.file("in/b/copy.txt", &text).file("in/empty.txt", "");
    place.file("in/cat.jpg", b"\xff\xd8\0\0");
    let page = |args: &[&str]| {
        place.run(&[&["find", "-q", "--report", "r.html"], args].concat()).ok();
        plain(&place.read("r.html"))
    };
    let longest = page(&["in"]);
    for part in [
        "<h1>Near-duplicates in in</h1>",
        "it is the longer text",
        "Kept: <bdi>a/longer.txt</bdi>",
        "changed",
        "<code>--threshold</code></th><td><bdi>0.8</bdi>",
        "<code>--bands</code></th><td><bdi>21</bdi>",
        "99.83 %",
        "binary",
        "empty",
        "not measured",
    ] {
        assert!(longest.contains(part), "{part}: {longest}");
    }
    let rules = ["--keep", "path:b/*", "--keep", "shortest"];
    let by_path = page(&[&["in"], &rules[..]].concat());
    assert!(by_path.contains("its path matches b/*"), "{by_path}");
    assert!(by_path.contains("Kept: <bdi>b/copy.txt</bdi>"), "{by_path}");
    let exact = page(&["in", "--exact"]);
    assert!(exact.contains("misses no pair") && !exact.contains("--bands"), "{exact}");
    place.file("test.jsonl", jsonl(&[("t".into(), text)]));
    let reference = page(&["in", "--reference", "test.jsonl", "--audit", "4"]);
    for part in ["it is in the reference", "Reference, kept", "<code>--reference</code>"] {
        assert!(reference.contains(part), "{part}");
    }
}

#[test]
fn report_groups_show_titles_and_dates() {
    let place = Place::new();
    let record = |id: &str, more: Value| {
        let mut record = json!({ "id": id, "text": format!("Dear all, {}", words(9, 60)) });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{record}\n")
    };
    let titled = json!({ "title": "Minutes <of> May", "date": "2024-05-31" });
    let lines = [record("k1", titled), record("k2", json!({})), record("k3", json!({}))].concat();
    place.file("in.jsonl", lines);
    place.run(&["find", "in.jsonl", "-q", "--report", "r.html"]).ok();
    let page = plain(&place.read("r.html"));
    for part in [
        "<bdi class=\"heading\">Minutes &lt;of&gt; May</bdi><span class=\"about\"><bdi>k1</bdi> · \
         <bdi>in.jsonl, line 1</bdi> · <bdi>2024-05-31</bdi></span>",
        "<bdi class=\"heading\">Dear all, ",
        "title=\"1.000000\">1.000</data>",
        "have the same shingles as the kept document: similarity 1",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("another number") && !page.contains("very same"), "{page}");
    // A text that contains another one need not be equal to it, so the wording differs.
    place.run(&["find", "in.jsonl", "-q", "--measure", "containment", "--report", "r.html"]).ok();
    let page = plain(&place.read("r.html"));
    assert!(page.contains("contained in the kept document: containment 1"), "{page}");
}

#[test]
fn report_page_escapes_ids_and_texts() {
    let place = Place::new();
    let odd = "</script><b>\u{202e}\"'&\n\u{1b}[2J,";
    let text = words(3, 60);
    let texts = [(odd.to_owned(), format!("{text}{odd}")), (format!("{odd}2"), text)];
    place.file("in.jsonl", jsonl(&texts));
    let reports = ["--report", "r.html", "--report", "r.json", "--audit", "2"];
    place.run(&[&["find", "in.jsonl", "-q"], &reports[..]].concat()).ok();
    let page = place.read("r.html");
    assert!(!page.contains("<b>") && !page.contains(['\u{202e}', '\u{1b}']), "{page}");
    assert!(page.contains("\\u{202e}"));
    let report = json_of(&place, "r.json");
    assert_eq!(report["groups"][0]["keeper"], odd);
    assert_eq!(report["audit"]["found"], 2);
    assert!(place.run(&["audit", "r.json", "in.jsonl"]).ok().contains("Recall is 1.0000"));
}

#[test]
fn reports_are_deterministic() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&collection(400)));
    std::fs::create_dir(place.path("temp")).unwrap();
    let reports = |more: &[&str]| {
        let args = ["find", "in.jsonl", "-q", "--audit", "50", "--pairs", "p.csv"];
        let files = ["--report", "r.html", "--report", "r.json"];
        place.run(&[&args[..], &files, more].concat()).ok();
        let page = timeless_page(&place.read("r.html")).to_owned();
        (page, timeless(json_of(&place, "r.json")))
    };
    let expected = reports(&[]);
    assert!(expected.1["counts"]["groups"].as_u64() > Some(200), "{}", expected.1["counts"]);
    assert!(reports(&["--threads", "1"]) == expected);
    assert!(reports(&["--memory", "48MiB", "--threads", "1", "--temp-dir", "temp"]) == expected);
    assert!(reports(&["--temp-dir", "temp", "--resume"]) == expected);
    assert_eq!(std::fs::read_dir(place.path("temp")).unwrap().count(), 0);
}

#[test]
fn invalid_report_options_fail_before_reading() {
    let place = Place::new();
    // The input is invalid, so another error shows that the program has not read it yet.
    place.file("in.json", "broken\n").file("old.html", "old");
    let before = names(&place);
    let find = ["find", "in.json", "--format", "jsonl"];
    for (args, code, expected) in [
        (&["--report", "r.pdf"][..], 2, "--report: cannot tell from the name r.pdf"),
        (&["--report", "r.html.gz"], 2, ".json, which .gz or .zst may follow, or in .html"),
        (&["--report", "r.jsonl"], 2, "--report: "),
        (&["--report", "in.json"], 2, "in.json is an input"),
        (&["--report", "no/r.html"], 1, "cannot write no/r.html"),
        (&["--report", "r.html", "--report", "./r.html"], 2, "two outputs"),
        (&["--report", "r.json", "--report", "x/../r.json"], 2, "two outputs"),
        (&["--audit", "0"], 2, "whole number from 1"),
        (&["--audit", "9", "--confidence", "1"], 2, "not above 0 and below 1"),
        (&["--audit-seed", "9"], 2, "--audit"),
        (&["--audit", "9", "--reference", "-"], 2, "only once"),
        (&["--report", "old.html"], 1, "in.json"),
    ] {
        if expected == "two outputs" {
            std::fs::create_dir_all(place.path("x")).unwrap();
        }
        let run = place.run(&[&find[..], args].concat());
        assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{args:?}: {run:?}");
        assert!(run.err.contains(expected), "{args:?}: {}", run.err);
    }
    let stream = place.run_with_input(&["find", "-", "--audit", "9"], b"x").fails(2);
    assert!(stream.contains("only once") && stream.contains("name files or folders"), "{stream}");
    std::fs::remove_dir(place.path("x")).unwrap();
    assert_eq!(names(&place), before);
    assert_eq!(place.read("old.html"), "old");
}

#[test]
fn stdin_and_zstd_inputs_have_reports() {
    let place = Place::new();
    let lines = jsonl(&collection(12));
    let run = place.run_with_input(&["find", "-", "-q", "--report", "a.html"], lines.as_bytes());
    run.ok();
    assert!(place.read("a.html").contains("<h1>Near-duplicates in standard input</h1>"));
    place.file("in.jsonl.zst", zstd::encode_all(lines.as_bytes(), 1).unwrap());
    place.run(&["find", "in.jsonl.zst", "-q", "--report", "b.html", "--audit", "9"]).ok();
    let samples = |name| place.read(name).matches("class=\"pair\"").count();
    assert_eq!(samples("a.html"), samples("b.html"));
    assert!(samples("a.html") > 0);
}

#[test]
fn own_reports_are_not_read() {
    let place = Place::new();
    for (id, text) in collection(6) {
        place.file(&format!("in/{id}.txt"), text);
    }
    let run = || {
        let reports = ["--report", "in/r.html", "--report", "in/r.json", "--all-files"];
        place.run(&[&["find", "in", "-q", "--audit", "50"], &reports[..]].concat()).ok();
        timeless(json_of(&place, "in/r.json"))
    };
    assert_eq!(run(), run());
    let out = place.run(&["audit", "in/r.json", "in", "--all-files"]);
    assert!(
        out.err.contains("read were"),
        "the page is a document unless it is recognised: {out:?}"
    );
}

#[test]
fn mostly_duplicate_sources_get_a_warning() {
    let place = Place::new();
    let text = words(2, 50);
    place.file("first.jsonl", jsonl(&[("a".into(), format!("{text} more"))]));
    let second: Vec<_> = (0..20).map(|n| (format!("b{n}"), text.clone())).collect();
    place.file("second.jsonl", jsonl(&second));
    let warning = "warning: 100.00 % of second.jsonl are duplicates (20 of 20 documents)";
    let find =
        |more: &[&str]| place.run(&[&["find", "first.jsonl", "second.jsonl"], more].concat());
    let run = find(&["--report", "r.html"]);
    assert!(run.err.contains(warning), "{}", run.err);
    assert!(!run.err.contains("of first.jsonl"), "{}", run.err);
    assert!(place.read("r.html").contains("more than half"));
    assert_eq!(find(&["-q"]).err, "");
}

#[test]
fn parquet_outputs_equal_csv_outputs() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&collection(30)));
    let find = |outputs: &[&str]| place.run(&[&["find", "in.jsonl", "-q"], outputs].concat()).ok();
    find(&["-o", "g.csv", "--pairs", "p.csv"]);
    find(&["-o", "g.parquet", "--pairs", "p.parquet"]);
    for name in ["g.parquet", "p.parquet"] {
        let bytes = std::fs::read(place.path(name)).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
    }
    // `find` reads its own tables, with ids and keepers as ids and texts of documents.
    let read = |name: &str, id: &str, text: &str| {
        let fields = ["--id-field", id, "--text-field", text, "--skip-bad", "--json", "-q"];
        let report = place.run(&[&["find", name], &fields[..]].concat()).ok();
        let report: Value = serde_json::from_str(&report).unwrap();
        (report["inputs"].clone(), report["counts"]["skipped"].clone())
    };
    assert_eq!(read("g.parquet", "id", "keeper"), read("g.csv", "id", "keeper"));
    assert_eq!(read("p.parquet", "id_b", "id_a"), read("p.csv", "id_b", "id_a"));
    let counted = read("g.csv", "id", "keeper").0["documents"].as_u64().unwrap();
    assert_eq!(counted as usize, place.read("g.csv").lines().count() - 1);
}

#[test]
fn report_page_lists_text_changes() {
    let place = Place::new();
    let signed = format!("{}\n\n-- \nA. Person\nSome Street 5\n", crate::command::words(1, 60));
    let head = "From: a@b.example\nMessage-ID: <1@b.example>\nSubject: x\n\n";
    place.file("in/a.eml", format!("{head}{signed}"));
    place.file(
        "in/b.txt",
        format!("Ärger {}", crate::command::words(2, 60)).replace('Ä', "A\u{308}"),
    );
    place.file("in/c.txt", "!!").file("in/d.txt", "!!");
    let run = |args: &[&str]| {
        place.run(&[&["find", "in", "--report", "r.html"], args].concat()).ok();
        place.read("r.html")
    };
    let page = run(&["--mail-signatures", "cut"]);
    assert!(page.contains("1 message read without signatures: 6 words, 28 bytes."), "{page}");
    assert!(page.contains("1 of the empty ones is identical to another: d.txt to c.txt."));
    assert!(!page.contains("How texts are changed"));
    let page = run(&["--normalize", "nfkc"]);
    assert!(page.contains("<td><bdi>nfkc</bdi></td><td>How texts are changed before"), "{page}");
}
