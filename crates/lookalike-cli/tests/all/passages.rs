//! Tests of `lookalike passages` and `dedup --passages`: the table, all file formats, equal bytes
//! for all settings, and bad input.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::command::Place;
use lookalike_test_support::gzip;
use std::fmt::Write as _;

const LICENCE: &str = "Permission is hereby granted, free of charge, to any person obtaining a \
                       copy of this software";

fn texts(place: &Place) {
    let record = |id: &str, text: &str| serde_json::json!({"id": id, "text": text}).to_string();
    let lines = [
        record("a", &format!("First.\r\n{LICENCE}. It was the first of all, \"quoted\".")),
        record("b", &format!("Other words.\n{}\nAnd the end: é.", LICENCE.to_uppercase())),
        record("c", "Nothing of that kind is here."),
    ];
    place.file("in.jsonl", lines.join("\n") + "\n");
}

#[test]
fn passages_are_listed_in_every_format() {
    let place = Place::new();
    texts(&place);
    let run = place.run(&["passages", "in.jsonl", "--min-words", "10"]);
    assert!(run.err.contains("1 passage of at least 10 words"), "{}", run.err);
    let out = run.ok();
    assert!(out.contains("words   places  documents  first in"), "{out}");
    assert!(out.contains(" 16        2          2  a "), "{out}");
    let args = ["passages", "in.jsonl", "--min-words", "10", "-q", "-o"];
    for name in ["p.jsonl", "p.csv", "p.parquet"] {
        assert_eq!(place.run(&[&args[..], &[name]].concat()).ok(), "");
        assert!(place.path(name).exists());
    }
    assert_eq!(
        place.read("p.jsonl"),
        "{\"passage\":1,\"words\":16,\"places\":2,\"documents\":2,\"id\":\"a\",\"bytes\":[8,101],\
         \"chars\":[8,101],\"first\":true,\"maximal\":true}\n\
         {\"passage\":1,\"words\":16,\"places\":2,\"documents\":2,\"id\":\"b\",\"bytes\":[13,106],\
         \"chars\":[13,106],\"first\":false,\"maximal\":true}\n"
    );
    assert_eq!(
        place.read("p.csv"),
        "passage,words,places,documents,id,byte_start,byte_end,char_start,char_end,first,maximal\n\
         1,16,2,2,a,8,101,8,101,true,true\n1,16,2,2,b,13,106,13,106,false,true\n"
    );
    let json = place.run(&["passages", "in.jsonl", "--min-words", "10", "--json"]).ok();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["counts"]["copied_words"], 16);
    assert_eq!(json["passages"][0]["runs"][1]["id"], "b");
    let page = ["passages", "in.jsonl", "--min-words", "10", "-q", "--report", "r.html"];
    place.run(&page).ok();
    assert!(place.read("r.html").contains("<mark title=\"passage 1\">Permission is hereby"));
}

#[test]
fn passage_outputs_are_deterministic() {
    let place = Place::new();
    let (mut first, mut second) = (String::new(), String::new());
    for at in 0..400_u32 {
        let out = if at % 2 == 0 { &mut first } else { &mut second };
        let words: Vec<String> = (0..120).map(|i| format!("w{}", (at / 5 * 7 + i) % 701)).collect();
        let text = format!("start {at} {} end {at}", words.join(" "));
        writeln!(out, "{}", serde_json::json!({"id": format!("d{at}"), "text": text})).unwrap();
    }
    place.file("one.jsonl", first).file("two.jsonl", second);
    let run = |inputs: [&str; 2], more: &[&str]| {
        let args = ["passages", inputs[0], inputs[1], "--min-words", "20", "-q", "-o", "p.jsonl"];
        place.run(&[&args[..], more].concat()).ok();
        place.read("p.jsonl")
    };
    let expected = run(["one.jsonl", "two.jsonl"], &["--threads", "1"]);
    assert_eq!(expected.lines().count(), 80 * 5);
    assert_eq!(run(["two.jsonl", "one.jsonl"], &["--threads", "3"]), expected);
    for more in [&["--memory", "80MiB", "--threads", "2"][..], &["--kernel", "scalar"]] {
        assert_eq!(run(["one.jsonl", "two.jsonl"], more), expected, "{more:?}");
    }
}

#[test]
fn passages_reject_invalid_options() {
    let place = Place::new();
    texts(&place);
    let fails = |args: &[&str]| place.run(&[&["passages", "in.jsonl"], args].concat()).fails(2);
    assert!(fails(&["--min-words", "1"]).contains("from 2 to 1000000"));
    assert!(fails(&["-o", "p.txt"]).contains(".jsonl or .csv"));
    assert!(fails(&["--resume"]).contains("--temp-dir"));
    assert!(fails(&["--normalize", "language:auto"]).contains("language:auto"));
    place.file("twice.jsonl", place.read("in.jsonl") + &place.read("in.jsonl"));
    let run = place.run(&["passages", "twice.jsonl", "--skip-bad", "-q"]);
    assert!(run.err.contains("of an earlier document; --json lists them"), "{}", run.err);
    let run = place.run(&["passages", "in.jsonl", "--min-words", "5000"]);
    assert!(run.err.contains("no repeated passages"), "{}", run.err);
    assert_eq!(run.ok(), "");
}

#[test]
fn cut_removes_only_repeated_passages() {
    let place = Place::new();
    texts(&place);
    let args = ["cut", "in.jsonl", "--min-words", "10"];
    place.run(&[&args[..], &["-o", "out.jsonl"]].concat()).ok();
    let (before, after) = (place.read("in.jsonl"), place.read("out.jsonl"));
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    assert_eq!((after[0], after[2]), (before[0], before[2]));
    assert_eq!(after[1], before[1].replace(&(LICENCE.to_uppercase() + "\\n"), ""));
    let table = place.run(&[&args[..], &["--dry-run"]].concat()).ok();
    assert!(table.contains("in.jsonl") && table.contains(" 16 "), "{table}");
    place.run(&[&args[..], &["--removed", "cut.csv"]].concat()).ok();
    place.run(&[&args[..], &["--dry-run", "--removed", "dry.csv"]].concat()).ok();
    assert_eq!(place.read("dry.csv"), place.read("cut.csv"));
    let second_cut = ["cut", "out.jsonl", "--min-words", "10", "-o", "twice.jsonl"];
    place.run(&second_cut).ok();
    assert_eq!(place.read("twice.jsonl"), place.read("out.jsonl"));
    let left = [&args[..], &["-o", "left.jsonl", "--min-left", "10"]].concat();
    place.run(&left).ok();
    assert_eq!(place.read("left.jsonl").lines().count(), 2);
}

#[test]
fn cut_annotations_mark_passages_only() {
    let place = Place::new();
    texts(&place);
    let records = place.read("in.jsonl");
    let values: Vec<serde_json::Value> =
        records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = |id: &str| values.iter().find(|v| v["id"] == id).unwrap()["text"].as_str().unwrap();
    let args = ["cut", "--min-words", "10", "--min-left", "7", "-q", "-o"];
    let run = |more: &[&str]| place.run(&[&args[..], more].concat()).ok();
    run(&["out.jsonl", "in.jsonl", "--annotate", "--removed", "gone.jsonl"]);
    let marks = [
        r#""lookalike_kept":true,"lookalike_cut_words":0,"lookalike_passages":[]}"#,
        concat!(
            r#""lookalike_kept":false,"lookalike_cut_words":16,"#,
            r#""lookalike_passages":[{"bytes":[13,107],"chars":[13,107]}]}"#
        ),
        r#""lookalike_kept":true,"lookalike_cut_words":0,"lookalike_passages":[]}"#,
    ];
    let lines = records.lines().zip(marks);
    let expected: String =
        lines.map(|(line, mark)| line.replacen('}', &format!(",{mark}\n"), 1)).collect();
    assert_eq!(place.read("out.jsonl"), expected);
    assert!(text("b")[13..107].starts_with("PERMISSION") && text("b")[107..].starts_with("And"));
    let expected = format!(
        "{{\"id\":\"b\",\"source\":\"in.jsonl\",\"bytes\":[0,{}],\"chars\":[0,{}],\
         \"reason\":\"min-left\"}}\n",
        text("b").len(),
        text("b").chars().count()
    );
    assert_eq!(place.read("gone.jsonl"), expected);
    let mut csv = String::from("id,text\n");
    for value in &values {
        let text = value["text"].as_str().unwrap().replace('"', "\"\"");
        writeln!(csv, "{},\"{text}\"", value["id"].as_str().unwrap()).unwrap();
    }
    place.file("in.csv", &csv);
    let args = ["in.csv", "--annotate=x", "--removed", "gone.csv"];
    run(&[&["out.csv"], &args[..]].concat());
    let out = place.read("out.csv");
    assert!(out.starts_with("id,text,x_kept,x_cut_words,x_passages\n"), "{out}");
    assert!(
        out.contains(r#"is here.",true,0,[]"#)
            && out.contains(r#"é.",false,16,"[{""bytes"":[13,107],""chars"":[13,107]}]""#),
        "{out}"
    );
    let listed = format!("b,in.csv,0,{},0,{},min-left\n", text("b").len(), text("b").len() - 1);
    let header = "id,source,byte_start,byte_end,char_start,char_end,reason\n";
    assert_eq!(place.read("gone.csv"), format!("{header}{listed}"));
    let args = ["cut", "out.jsonl", "--annotate", "-o", "twice.jsonl"];
    assert!(place.run(&args).fails(1).contains("--annotate=NAME"));
}

#[test]
fn removed_parts_are_listed_by_position() {
    let place = Place::new();
    let message =
        |n: u32| format!("From a@b Thu Jan  1 00:00:00 1970\nSubject: b\n\n{n}.\n{LICENCE}\n\n");
    let page = format!("<p>A page with words of its own.</p><p>{LICENCE}</p>");
    place.file("mail.mbox", message(1) + &message(2)).file("d/a.txt", LICENCE.repeat(2));
    place.file("d/page.html", page).file("d/bad.png", b"\x89PNG\r\n\x1a\n\0");
    let args = ["cut", "--min-words", "10"];
    let run = |more: &[&str]| place.run(&[&args[..], more].concat());
    let listed = run(&["mail.mbox", "--removed", "gone.csv", "--skipped", "skipped.csv"]);
    assert!(listed.err.contains("removed: gone.csv\nskipped: skipped.csv"), "{}", listed.err);
    listed.ok();
    assert_eq!(
        place.read("gone.csv").lines().nth(1),
        Some("mail.mbox:7,mail.mbox,3,96,3,96,copy"),
        "{}",
        place.read("gone.csv")
    );
    let listed = run(&["d", "-o", "list.jsonl", "--annotate", "--skipped", "skipped.csv"]);
    assert!(listed.err.contains("annotated: list.jsonl: 2 documents, 2 of them"), "{}", listed.err);
    listed.ok();
    let list = place.read("list.jsonl");
    assert!(list.contains(r#""id":"page.html","path":"d/page.html","lookalike_kept":true"#));
    assert!(place.read("skipped.csv").contains("bad.png"));
    assert!(run(&["mail.mbox", "-o", "x.mbox", "--annotate"]).fails(2).contains("--removed"));
    assert!(run(&["d", "-o", "x/"]).fails(1).contains("--annotate"));
    assert!(run(&["d", "--removed", "d/a.txt"]).fails(2).contains(".csv"));
    assert!(!place.path("x").exists() && !place.path("x.mbox").exists());
}

#[test]
fn cut_rejects_irrelevant_options() {
    let place = Place::new();
    texts(&place);
    let idle: [&[&str]; 14] = [
        &["--threshold", "0.5"],
        &["--recall", "0.9"],
        &["--measure", "containment"],
        &["--exact"],
        &["--num-hashes", "64"],
        &["--bands", "auto"],
        &["--rows", "4"],
        &["--scheme", "xor"],
        &["--seed", "7"],
        &["--shingle", "words:3"],
        &["--frequencies"],
        &["--stop-words", "en"],
        &["--group", "components"],
        &["--verbose"],
    ];
    for more in idle {
        let args = ["cut", "in.jsonl", "-o", "out.jsonl"];
        let message = place.run(&[&args[..], more].concat()).fails(2);
        assert!(message.contains(more[0]), "{message}");
        assert!(!place.path("out.jsonl").exists());
    }
    let used = ["--tokens", "whitespace", "--case", "keep", "--keep", "first", "--threads", "2"];
    let args = ["cut", "in.jsonl", "-o", "out.jsonl", "--min-words", "3"];
    place.run(&[&args[..], &used].concat()).ok();
}

#[test]
fn messages_about_outputs_name_passages() {
    let place = Place::new();
    place.file("texts/a.txt", LICENCE).file("mail.mbox", "From a\nSubject: b\n\nText.\n");
    let args = ["cut", "--min-words", "5"];
    for (more, expected) in [
        (["texts", "-o", "list.txt"], "no passage can be taken out"),
        (["mail.mbox", "-o", "out.mbox"], "no passage can be taken out"),
    ] {
        let message = place.run(&[&args[..], &more].concat()).fails(2);
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains("unit"), "{message}");
    }
    let latin = b"caf\xe9 one two three four five six\n\ncaf\xe9 one two three four five six\n";
    place.file("latin/a.txt", latin);
    let message = place.run(&[&args[..], &["latin", "-o", "left/"]].concat()).fails(1);
    assert!(message.contains("no passage can be taken out of"), "{message}");
}

/// Returns texts with line ends and quotation marks of all kinds. A first cut leaves parts of them
/// that are copies again.
fn nested_texts() -> Vec<String> {
    let part = |name: &str, words: usize| {
        (0..words).map(|i| format!("{name}{i}")).collect::<Vec<_>>().join(" ")
    };
    let (left, right, inner) = (part("l", 6), part("r", 6), part("i", 12));
    vec![
        format!("{} \"{inner}\" {}", part("a", 9), part("b", 40)),
        format!("{}, {left} {right}. {}", part("c", 9), part("d", 30)),
        format!("{}\r\n\u{e9} {left} {inner} {right}\r\n{}", part("e", 4), part("f", 3)),
        format!("{}\n{}\nlast", part("g", 8), part("h", 7)),
    ]
}

/// Writes the texts to files of every format.
fn files_of(texts: &[String]) -> Place {
    let place = Place::new();
    let records = texts.iter().enumerate().map(|(i, text)| {
        serde_json::json!({ "before": i, "id": format!("d{i}"), "text": text, "after": [i] })
    });
    let records: String = records.map(|record| record.to_string() + "\n").collect();
    let cells = |cell: &dyn Fn(&str) -> String, end: &str| -> String {
        let rows =
            texts.iter().enumerate().map(|(i, text)| cell(text).replace("{}", &i.to_string()));
        rows.map(|row| row + end).collect()
    };
    let csv = cells(&|text| format!("d{{}},\"{}\",x{{}}", text.replace('"', "\"\"")), "\r\n");
    let one_line = |text: &str| text.replace("\r\n", " ").replace('\n', " ");
    let tsv = cells(&|text| format!("d{{}}\t\"{}\"", text.replace('"', "\"\"")), "\n");
    let plain = cells(&|text| format!("d{{}} {}", one_line(text)), "\n");
    place.file("j.jsonl", &records).file("crlf.jsonl", records.replace('\n', "\r\n"));
    place.file("bom.jsonl", format!("\u{feff}{records}"));
    place.file("z.jsonl.gz", gzip(records.as_bytes()));
    place
        .file("c.csv", format!("\u{feff}id,text,x\r\n{csv}"))
        .file("t.tsv", format!("id\ttext\n{tsv}"));
    place.file("p.train", plain);
    for (i, text) in texts.iter().enumerate() {
        let start = if i == 2 { "\u{feff}" } else { "" };
        place.file(&format!("folder/{i}.txt"), format!("{start}{text}"));
    }
    // The groups of a run as a Parquet table whose ids are the texts.
    let same =
        texts.iter().map(|text| serde_json::json!({"id": text, "text": LICENCE}).to_string());
    place.file("same.jsonl", same.map(|line| line + "\n").collect::<String>());
    place.run(&["find", "same.jsonl", "-o", "g.parquet"]).ok();
    place
}

/// If the order of the documents is the same, a second run cuts nothing, in all formats.
#[test]
fn second_cuts_change_nothing() {
    let texts = nested_texts();
    let place = files_of(&texts);
    let parquet = ["--text-field", "id", "--id-field", ":line"];
    let formats: [(&str, &str, &[&str]); 9] = [
        ("j.jsonl", "out.jsonl", &[]),
        ("crlf.jsonl", "out-crlf.jsonl", &[]),
        ("bom.jsonl", "out-bom.jsonl", &[]),
        ("z.jsonl.gz", "out-z.jsonl.gz", &[]),
        ("c.csv", "out.csv", &[]),
        ("t.tsv", "out.tsv", &[]),
        ("p.train", "out.train", &["--format", "lines"]),
        ("folder", "left/", &[]),
        ("g.parquet", "out.parquet", &parquet),
    ];
    for (input, output, more) in formats {
        let args = ["--min-words", "10", "--keep", "first", "--exit-code"];
        let dedup = |input: &str, output: &str| {
            let args = [&["cut", input, "-o", output], &args[..], more].concat();
            place.run(&args)
        };
        let first = dedup(input, output);
        assert!(first.err.contains(" 24 "), "{input}: {}", first.err);
        assert_eq!(first.code, Some(3), "{input}: {}", first.err);
        let output_again = format!("twice-{output}");
        dedup(output, &output_again).ok();
        let words = |name: &str| {
            let args = ["passages", name, "--min-words", "10", "--json"];
            let json = place.run(&[&args[..], more].concat()).ok();
            let json: serde_json::Value = serde_json::from_str(&json).unwrap();
            (json["counts"]["words"].as_u64(), json["counts"]["copied_words"].as_u64())
        };
        assert_eq!(words(&output_again), words(output), "{input}");
        let (before, after) = (words(input).0.unwrap(), words(output).0.unwrap());
        assert_eq!((before - after, words(output).1), (24, Some(0)), "{input}");
        if output == "left/" {
            for i in 0..texts.len() {
                let of = |folder: &str| place.read(&format!("{folder}{i}.txt"));
                assert_eq!(of("left/"), of("twice-left/"));
            }
        } else if !output.ends_with(".parquet") {
            let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
            assert_eq!(bytes(output), bytes(&output_again), "{input}");
        }
    }
    // The bytes of the record around the text are unchanged.
    let (before, after) = (place.read("crlf.jsonl"), place.read("out-crlf.jsonl"));
    for (before, after) in before.split("\r\n").zip(after.split("\r\n")) {
        let ends = |line: &str| {
            let (start, rest) = line.split_once("\"text\":\"").unwrap_or((line, ""));
            (start.to_owned(), rest.rsplit_once("\"}").map(|(_, end)| end.to_owned()))
        };
        assert_eq!(ends(before), ends(after));
    }
}

/// If the input file does not contain the texts as they were read, the command names the remedy
/// before the work.
#[test]
fn cut_rejects_crawls_archives_and_mailboxes() {
    let place = Place::new();
    let body = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{LICENCE}");
    let record = |i: u32| {
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/{i}\r\n\
             Content-Type: application/http\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
    };
    place.file("crawl.warc", record(1) + &record(2));
    place.file(
        "mail.mbox",
        format!("From a\nSubject: b\n\n{LICENCE}\n\nFrom a\nSubject: c\n\n{LICENCE}\n"),
    );
    place.file("in/a.txt", LICENCE).file("in/b.txt", LICENCE);
    let mut tar = std::process::Command::new("tar");
    tar.args(["-cf", "all.tar", "in"]).current_dir(place.path(""));
    assert!(tar.status().unwrap().success());
    let args = ["cut", "--min-words", "10"];
    for input in ["crawl.warc", "mail.mbox", "all.tar"] {
        let run = place.run(&[&args[..], &[input, "-o", "left/"]].concat());
        let message = run.fails(2);
        for part in ["no passage can be taken out", "--removed FILE.csv", "--annotate"] {
            assert!(message.contains(part), "{input}: {message}");
        }
        assert!(!place.path("left").exists(), "{input}");
        place.run(&[&args[..], &[input, "--removed", "gone.csv"]].concat()).ok();
        assert_eq!(place.read("gone.csv").lines().count(), 2, "{input}");
        std::fs::remove_file(place.path("gone.csv")).unwrap();
    }
}

/// Writes records of two sites, and returns their texts. The four pages of site one have a notice
/// on a separate line, the two pages of site two do not.
fn sites(place: &Place) -> Vec<String> {
    let page = |at: usize| {
        let own: Vec<String> = (0..20).map(|word| format!("own{at}x{word}")).collect();
        let notice = if at < 4 { format!("{LICENCE}. Keep it.\r\n\r\n") } else { String::new() };
        format!("{}.\r\n{notice}\"{}\" \u{e9}\u{1f600}.", own[..9].join(" "), own[9..].join(" "))
    };
    let texts: Vec<String> = (0..6).map(page).collect();
    let records = texts.iter().enumerate().map(|(at, text)| {
        let site = if at < 4 { "one" } else { "two" };
        serde_json::json!({"id": format!("p{at}"), "text": text, "site": site}).to_string() + "\n"
    });
    place.file("sites.jsonl", records.collect::<String>());
    texts
}

fn texts_of(place: &Place, name: &str) -> Vec<String> {
    let text = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["text"].as_str().unwrap().to_owned()
    };
    place.read(name).lines().map(text).collect()
}

/// A cut removes copied words, or only whole units that are copied.
#[test]
fn copies_are_cut_at_unit_boundaries() {
    let place = Place::new();
    let texts = sites(&place);
    let notice = format!("{LICENCE}. Keep it.\r\n\r\n");
    // A cut of words ends at the next word. One line of the paragraph is not copied.
    let unit_text = format!("{notice}\"");
    let blank = "\r\n";
    let cases = [
        ("word", "10", String::new()),
        ("line", "10", format!("{blank}\"")),
        ("sentence", "10", format!("{blank}\"")),
        ("paragraph", "10", unit_text.clone()),
        ("line", "30", unit_text.clone()),
    ];
    for (at, words, left) in cases {
        let args = ["cut", "sites.jsonl", "--at", at, "--min-words", words];
        place.run(&[&args[..], &["--keep", "first", "-q", "-o", "out.jsonl"]].concat()).ok();
        let expected: Vec<String> = texts
            .iter()
            .enumerate()
            .map(
                |(number, text)| {
                    if number == 0 { text.clone() } else { text.replace(&unit_text, &left) }
                },
            )
            .collect();
        assert_eq!(texts_of(&place, "out.jsonl"), expected, "{at} {words}");
    }
    let refused = ["cut", "sites.jsonl", "--at", "page", "-o", "x.jsonl"];
    assert!(place.run(&refused).fails(2).contains("word, line, paragraph or sentence"));
}

/// Boilerplate of a source is removed from all its documents, or marked in them. A passage that
/// occurs once in another source stays.
#[test]
fn source_boilerplate_is_cut_or_marked() {
    let place = Place::new();
    let texts = sites(&place);
    let args = ["cut", "sites.jsonl", "--min-words", "5", "-q"];
    let notice = format!("{LICENCE}. Keep it.\r\n\r\n\"");
    let without: Vec<String> = texts.iter().map(|text| text.replace(&notice, "")).collect();
    let by_site = ["--per-source", "--source-field", "site"];
    let share = ["--min-share", "0.9"];
    let run = |more: &[&[&str]]| {
        place.run(&[&args[..], &more.concat(), &["-o", "out.jsonl"]].concat()).ok();
        texts_of(&place, "out.jsonl")
    };
    assert_eq!(run(&[&by_site, &share]), without);
    assert_eq!(run(&[&["--min-documents", "4"]]), without);
    // Four documents are too few of all six for the share, and too few of the source for a minimum
    // of five.
    assert_eq!(run(&[&share]), texts);
    assert_eq!(run(&[&by_site, &share, &["--min-documents", "5"]]), texts);
    assert_eq!(run(&[&by_site, &share, &["--annotate"]]), texts);
    let marked = place.read("out.jsonl");
    let start = texts[0].find("Permission").unwrap();
    let bytes = format!("\"bytes\":[{start},{}]", start + notice.len());
    let is_marked: Vec<bool> = marked.lines().map(|line| line.contains(&bytes)).collect();
    assert_eq!(is_marked, [true, true, true, true, false, false], "{marked}");
    let table = place.run(&[&args[..], &by_site, &share, &["--dry-run"]].concat()).ok();
    assert!(table.lines().nth(1).unwrap().ends_with("  one"), "{table}");
    let refused =
        |more: &[&str]| place.run(&[&args[..], more, &["-o", "x.jsonl"]].concat()).fails(2);
    assert!(refused(&["--min-documents", "1"]).contains("expected 2 or more"));
    assert!(refused(&["--min-share", "1.5"]).contains("above 0 and at most 1"));
    assert!(refused(&["--per-source"]).contains("--min-documents N or --min-share SHARE"));
}

/// The page has a table of sources, then the documents with marked passages, most repeated first.
#[test]
fn passages_page_lists_most_repeated_first() {
    let place = Place::new();
    let texts = sites(&place);
    let args = ["passages", "sites.jsonl", "--min-words", "5", "--source-field", "site"];
    place.run(&[&args[..], &["-q", "--report", "page.html"]].concat()).ok();
    let page = place.read("page.html");
    assert_eq!(page.matches("<mark").count(), 4);
    let at = |heading: &str| page.find(&format!(">{heading}<")).unwrap();
    let (sources, documents) = (at("Sources"), at("Documents, most repeated first"));
    let table = &page[sources..documents];
    assert!(table.contains(">one<") && table.contains(">two<"), "{table}");
    let documents = &page[documents..];
    // The texts are equally long and repeat the same number of bytes, so they are in the order of
    // ids.
    let order: Vec<usize> =
        (0..4).map(|at| documents.find(&format!("own{at}x")).unwrap()).collect();
    assert!(order.is_sorted(), "{order:?}");
    assert!(!documents.contains("own5x"), "a document without passages is not shown");
    assert!(texts[5].contains("own5x"));
}

/// With `--unit`, the passages belong to units.
#[test]
fn unit_passages_have_unit_ids() {
    let place = Place::new();
    sites(&place);
    for (unit, first, second) in [("line", "p0#2", "p1#2"), ("sentence", "p0#2", "p1#2")] {
        let args = ["passages", "sites.jsonl", "--unit", unit, "--min-words", "10", "--json"];
        let json: serde_json::Value = serde_json::from_str(&place.run(&args).ok()).unwrap();
        let runs = &json["passages"][0]["runs"];
        assert_eq!((runs[0]["id"].as_str(), runs[1]["id"].as_str()), (Some(first), Some(second)));
    }
    let both = ["cut", "sites.jsonl", "--unit", "line", "-o", "x.jsonl"];
    assert!(place.run(&both).fails(2).contains("--unit"));
}

/// No document has passages of these lengths. Invalid lengths are errors. Records without the text
/// field are an error, or skipped and counted.
#[test]
fn overlong_minimum_lengths_find_nothing() {
    let place = Place::new();
    let texts = sites(&place);
    for words in ["21", "1000000"] {
        let args = ["passages", "sites.jsonl", "--min-words", words, "--json"];
        let json: serde_json::Value = serde_json::from_str(&place.run(&args).ok()).unwrap();
        assert_eq!(
            (&json["counts"]["passages"], &json["counts"]["copied_words"]),
            (&0.into(), &0.into())
        );
        let args = ["cut", "sites.jsonl", "--min-words", words, "-q", "-o", "o.jsonl"];
        place.run(&args).ok();
        assert_eq!(place.read("o.jsonl"), place.read("sites.jsonl"));
    }
    for words in ["0", "1", "1000001"] {
        let args = ["passages", "sites.jsonl", "--min-words", words];
        assert!(place.run(&args).fails(2).contains("from 2 to 1000000"));
    }
    let missing = place.run(&["passages", "sites.jsonl", "--text-field", "body"]).fails(1);
    assert!(missing.contains("\"body\"") && missing.contains("--text-field"), "{missing}");
    let skipped = ["passages", "sites.jsonl", "--text-field", "body", "--skip-bad", "--json", "-q"];
    let json: serde_json::Value = serde_json::from_str(&place.run(&skipped).ok()).unwrap();
    assert_eq!(
        (&json["counts"]["documents"], &json["counts"]["skipped"]),
        (&0.into(), &texts.len().into())
    );
}
