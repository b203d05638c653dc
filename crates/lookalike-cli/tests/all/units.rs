//! Tests of `--unit`, which compares parts of documents, as a process.

#![allow(clippy::unwrap_used, reason = "tests may stop at anything unexpected")]

use crate::command::{Place, words};
use lookalike_test_support::gzip;
use serde_json::{Value, json};

const FIRST: &str =
    "the first paragraph of the page that says a thing or two about rivers and hills";
const COPIED: &str =
    "a notice that every page of this paper repeats below its articles word by word";
const LAST: &str =
    "another ending which nobody else has written down anywhere before this one here";

fn lines(documents: &[(&str, &str)]) -> String {
    let line = |(id, text): &(&str, &str)| format!("{}\n", json!({ "id": id, "text": text }));
    documents.iter().map(line).collect()
}

fn found(place: &Place, args: &[&str]) -> Value {
    serde_json::from_str(&place.run(args).ok()).unwrap()
}

/// Returns documents with ids of all kinds, some of them empty, with line ends of all kinds.
fn documents() -> Vec<(&'static str, String)> {
    vec![
        ("a", format!("{FIRST}\r\n\r\n{COPIED}\r\n")),
        ("b#1", format!("\n \n{COPIED}!\n\n\n{LAST}")),
        ("b", format!("{LAST} é\u{2029}{COPIED}")),
        ("empty", String::new()),
        ("blank", "\r\n\u{2028} \n".to_owned()),
    ]
}

fn place() -> Place {
    let place = Place::new();
    let documents = documents();
    let documents_in: Vec<_> = documents.iter().map(|(id, text)| (*id, text.as_str())).collect();
    place.file("in.jsonl", lines(&documents_in));
    place
}

#[test]
fn units_group_like_separate_documents() {
    let place = place();
    let (copied, more) = (format!("{COPIED}!"), format!("{LAST} é"));
    place.file(
        "hand.jsonl",
        lines(&[
            ("a#1", FIRST),
            ("a#2", COPIED),
            ("b#1#1", &copied),
            ("b#1#2", LAST),
            ("b#1", &more),
            ("b#2", COPIED),
            ("empty#1", ""),
            ("blank#1", "  "),
        ]),
    );
    let mut units = found(&place, &["find", "in.jsonl", "--unit", "paragraph", "--json"]);
    let hand = found(&place, &["find", "hand.jsonl", "--json"]);
    assert_eq!(units["text_unit"], "paragraph");
    for group in units["groups"].as_array_mut().unwrap() {
        let duplicates = group["duplicates"].as_array().unwrap().clone();
        for member in duplicates.iter().chain([&group.clone()]) {
            let id = member["id"].as_str().or(member["keeper"].as_str()).unwrap();
            let parent = member["parent"].as_str().unwrap();
            let number = id.strip_prefix(parent).unwrap().strip_prefix('#').unwrap();
            assert!(number.parse::<u32>().is_ok(), "{id}");
            let documents = documents();
            let (_, text) = documents.iter().find(|(id, _)| *id == parent).unwrap();
            let at = |name: &str| usize::try_from(member[name].as_u64().unwrap()).unwrap();
            let part = &text[at("start")..at("end")];
            let by_characters: String =
                text.chars().take(at("end_char")).skip(at("start_char")).collect();
            assert_eq!(part, by_characters);
            assert!([FIRST, COPIED, LAST].iter().any(|text| part.starts_with(text)), "{part}");
        }
        for member in group["duplicates"].as_array_mut().unwrap() {
            strip(member);
        }
        strip(group);
    }
    assert_eq!(units["groups"], hand["groups"]);
    assert_eq!(units["groups"].as_array().unwrap().len(), 2);
    assert_eq!(units["empty"], json!(["blank#1", "empty#1"]));
    assert_eq!(units["counts"], hand["counts"]);
}

fn strip(member: &mut Value) {
    for name in ["parent", "start", "end", "start_char", "end_char"] {
        member.as_object_mut().unwrap().remove(name).unwrap();
    }
}

#[test]
fn unit_tables_have_parent_and_range() {
    let place = place();
    let args = ["find", "in.jsonl", "--unit", "paragraph", "-o", "groups.csv"];
    place.run(&[&args[..], &["--pairs", "pairs.csv"]].concat()).ok();
    let groups = place.read("groups.csv");
    let mut groups = groups.lines();
    assert_eq!(
        groups.next(),
        Some("group,id,role,keeper,jaccard,parent,start,end,start_char,end_char")
    );
    let start = FIRST.len() + 4;
    let row =
        format!("a,{start},{},{start},{}", start + COPIED.len() + 2, start + COPIED.len() + 2);
    assert!(groups.any(|line| line.ends_with(&row)), "{row}");
    let pairs = place.read("pairs.csv");
    let mut pairs = pairs.lines();
    assert_eq!(
        pairs.next(),
        Some(
            "id_a,id_b,jaccard,parent_a,start_a,end_a,start_char_a,end_char_a,parent_b,start_b,\
             end_b,start_char_b,end_char_b"
        )
    );
    assert!(pairs.next().unwrap().starts_with(&format!("a#2,b#1#1,1.000000,{row},b#1,3,")));
    place
        .run(&[
            "find",
            "in.jsonl",
            "--unit",
            "paragraph",
            "-o",
            "g.parquet",
            "--pairs",
            "p.parquet",
        ])
        .ok();
}

#[test]
fn dedup_removes_only_duplicate_units() {
    let place = Place::new();
    let a = r#"{"z": [1 , 2], "text": "KEEP\n\nSAME\u00e9\r\n\r\n", "id" : "a"}"#;
    let b = r#"{"id":"b","text":"SAME\u00e9\n\n\"OTHER\" \ud83d\ude00","x":null}"#;
    let c = r#"{"id":"c","text":"SAME\u00e9"}"#;
    let d = r#"{"id":"d","text":" \n"}"#;
    let with =
        |text: &str| text.replace("KEEP", FIRST).replace("SAME", COPIED).replace("OTHER", LAST);
    let input = with(&[a, b, c, d].map(|line| format!("{line}\n")).concat());
    place.file("in.jsonl", input);
    let args = ["dedup", "in.jsonl", "--unit", "paragraph", "--keep", "first"];
    let run = place.run(&[&args[..], &["-o", "out.jsonl", "--removed", "gone.csv"]].concat());
    assert!(run.err.contains("3 documents, 1 of them without some units"), "{}", run.err);
    run.ok();
    let left = r#"{"id":"b","text":"\"OTHER\" \ud83d\ude00","x":null}"#;
    assert_eq!(
        place.read("out.jsonl"),
        with(&[a, left, d].map(|line| format!("{line}\n")).concat())
    );
    let removed = place.read("gone.csv");
    assert!(removed.contains("\nb#1,") && removed.contains("\nc#1,"), "{removed}");
    let second = found(&place, &["find", "out.jsonl", "--unit", "paragraph", "--json"]);
    assert_eq!(second["counts"]["duplicates"], 0);
}

#[test]
fn csv_lines_and_files_lose_units() {
    let place = Place::new();
    let first = format!("n,id,text\r\n1,a,\"{COPIED}\r\nsay \"\"{LAST}\"\"\"\r\n");
    let second = format!("2,b,\"{FIRST}\r\n{COPIED}\r\n\"\r\n");
    place.file("in.csv", first + &second);
    let args = ["--unit", "line", "--keep", "first"];
    place.run(&[&["dedup", "in.csv", "-o", "out.csv"], &args[..]].concat()).ok();
    assert_eq!(
        place.read("out.csv"),
        format!("n,id,text\r\n1,a,\"{COPIED}\r\nsay \"\"{LAST}\"\"\"\r\n2,b,\"{FIRST}\r\n\"\r\n")
    );
    let sentence = format!("{COPIED}! ");
    place.file("in.train", format!("a {FIRST}! {sentence}\nb {sentence}{LAST}.\n"));
    let args = ["--unit", "sentence", "--keep", "first"];
    place.run(&[&["dedup", "in.train", "-o", "out.train"], &args[..]].concat()).ok();
    assert_eq!(place.read("out.train"), format!("a {FIRST}! {sentence}\nb {LAST}.\n"));
    place.file("files/a.txt", format!("\u{feff}{COPIED}\n\n{FIRST}\n"));
    place.file("files/b.txt", format!("{LAST}\n\n\n{COPIED}\n"));
    place.file("files/c.txt", format!("\n{COPIED}\n"));
    place.file("files/other.bin", "\u{0}");
    let args = ["--unit", "paragraph", "--keep", "first"];
    place.run(&[&["dedup", "files", "-o", "left/"], &args[..]].concat()).ok();
    assert_eq!(place.read("left/a.txt"), format!("\u{feff}{COPIED}\n\n{FIRST}\n"));
    assert_eq!(place.read("left/b.txt"), format!("{LAST}\n\n\n"));
    assert!(!place.path("left/c.txt").exists());
}

/// The groups of a run as a Parquet table whose ids are the texts.
#[test]
fn parquet_rows_lose_duplicate_units() {
    let place = Place::new();
    let ids = [format!("{FIRST}\n\n{COPIED}"), format!("{COPIED}\n\n{LAST}")];
    place.file("in.jsonl", lines(&[(&ids[0], FIRST), (&ids[1], FIRST)]));
    place.run(&["find", "in.jsonl", "-o", "in.parquet"]).ok();
    let reading = ["--text-field", "id", "--id-field", ":line", "--unit", "paragraph"];
    let find = |file| found(&place, &[&["find", file, "--json"], &reading[..]].concat());
    let before = find("in.parquet");
    assert_eq!([&before["counts"]["documents"], &before["counts"]["duplicates"]], [4, 1]);
    let args = ["dedup", "in.parquet", "-o", "out.parquet", "--keep", "first"];
    let run = place.run(&[&args[..], &reading].concat());
    assert!(run.err.contains("2 documents, 1 of them without some units"), "{}", run.err);
    let after = find("out.parquet");
    assert_eq!([&after["counts"]["documents"], &after["counts"]["duplicates"]], [3, 0]);
    let other = ["find", "out.parquet", "--json", "--text-field", "keeper", "--id-field", ":line"];
    let other = found(&place, &other);
    assert_eq!([&other["counts"]["documents"], &other["counts"]["duplicates"]], [2, 1]);
}

#[test]
fn invalid_unit_combinations_are_errors() {
    let place = place();
    place.file("files/a.txt", FIRST);
    let units = ["--unit", "paragraph"];
    for (args, expected) in [
        (&["dedup", "in.jsonl", "-o", "o.jsonl", "--annotate"][..], "an annotation is about"),
        (&["dedup", "files", "-o", "list.txt"], "a list names whole files"),
        (&["dedup", "files", "--move-to", "gone"], "moves or lists whole files"),
    ] {
        let run = place.run(&[args, &units].concat());
        assert!(run.err.contains(expected), "{args:?}: {}", run.err);
        assert_eq!(run.code, Some(2), "{args:?}");
    }
    let run = place.run(&["find", "in.jsonl", "--unit", "page"]);
    assert!(run.err.contains("document, paragraph, line or sentence"), "{}", run.err);
    place.file(
        "latin.d/a.txt",
        b"caf\xe9 one two three four five six seven\n\ncaf\xe9 one two three four five six seven\n",
    );
    let run = place.run(&["dedup", "latin.d", "-o", "left/", "--unit", "paragraph"]);
    assert!(run.err.contains("in another encoding, or the text was extracted"), "{}", run.err);
}

/// If an id repeats, all units of the later document are skipped, even units whose ids the earlier
/// one does not have.
#[test]
fn repeated_ids_exclude_all_their_units() {
    let place = Place::new();
    let (first, second) = (FIRST.to_owned(), format!("{COPIED}\n{LAST}\n{FIRST}"));
    place.file("in.jsonl", lines(&[("a", &first), ("a", &second), ("b", LAST)]));
    let run = place.run(&["find", "in.jsonl", "--unit", "line"]);
    assert!(run.err.contains("a#1"), "{}", run.err);
    let found = found(&place, &["find", "in.jsonl", "--unit", "line", "--skip-bad", "--json"]);
    assert_eq!(found["counts"]["documents"], 2);
    assert_eq!(found["counts"]["groups"], 0);
}

/// Two documents of many lines, most of which are near-duplicates. The run reads each line again
/// from the stored text of its document.
#[test]
fn a_long_document_of_many_lines() {
    let place = Place::new();
    let line = |n: u64| words(n / 2, 14) + if n.is_multiple_of(2) { " more\n" } else { "\n" };
    let text = |seed: u64| (seed..seed + 4000).map(line).collect::<String>();
    place.file("in.jsonl", lines(&[("a", &text(0)), ("b", &text(2001))]));
    let args = ["find", "in.jsonl", "--unit", "line", "--json"];
    let all = place.run(&args).ok();
    let bounded = place.run(&[&args[..], &["--memory", "128MiB", "--threads", "1"]].concat()).ok();
    let groups = |text: &str| serde_json::from_str::<Value>(text).unwrap()["groups"].clone();
    assert!(!groups(&all).as_array().unwrap().is_empty());
    assert_eq!(groups(&all), groups(&bounded));
}

/// The run stores units of a long document in parts. The result does not depend on the parts.
#[test]
fn documents_of_many_parts_stay_whole() {
    let place = Place::new();
    let text = |lines: std::ops::Range<u32>| -> String {
        let lines: Vec<String> = lines.map(|n| format!("x{:05} y\n", n % 16_000)).collect();
        lines.concat()
    };
    let (all, left) = (text(0..24_000), text(0..16_000));
    place.file("in.jsonl", lines(&[("a", &all), ("b", "other words")]));
    place.file("twice.jsonl", lines(&[("a", "x00007 y"), ("a", &all), ("b", "other words")]));
    let expected = lines(&[("a", &left), ("b", "other words")]);
    let args = ["dedup", "in.jsonl", "--unit", "line", "--keep", "first", "-q", "-o", "out.jsonl"];
    for more in [&["--memory", "64MiB", "--threads", "1"][..], &["--exact"], &[]] {
        place.run(&[&args[..], more].concat()).ok();
        assert!(place.read("out.jsonl") == expected, "{more:?}");
    }
    let args = ["find", "twice.jsonl", "--unit", "line", "--skip-bad", "--json"];
    assert_eq!(found(&place, &args)["counts"]["documents"], 2);
}

/// The memory of a run depends on its documents, not on their units, which go to temporary files.
#[test]
fn reported_memory_suffices_for_units() {
    let place = Place::new();
    let line = |n| format!("x{n:07}\n");
    let text: String = (0..300_000).map(line).collect();
    place.file("in.jsonl", lines(&[("a", &text), ("b", "x0000017 \nanother")]));
    let args = ["find", "in.jsonl", "--unit", "line", "--threads", "1", "--json"];
    let found_in = |memory| found(&place, &[&args[..], &["--memory", memory]].concat());
    assert_eq!(found_in("72MiB")["counts"], found(&place, &args)["counts"]);
    let message = place.run(&[&args[..], &["--memory", "47MiB"]].concat()).fails(1);
    let least = message.split("at least ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let bounded = found_in(least.unwrap());
    assert_eq!(bounded["groups"][0]["duplicates"][0]["id"], "b#1");
    assert_eq!(bounded["counts"], found(&place, &args)["counts"]);
}

#[test]
fn audits_and_indexes_accept_units() {
    let place = place();
    let units = ["--unit", "paragraph"];
    let report = place.run(&[&["find", "in.jsonl", "--json"], &units[..]].concat()).ok();
    place.file("report.json", report);
    let args = ["audit", "report.json", "in.jsonl", "--json"];
    let audit = found(&place, &[&args[..], &units].concat());
    assert!(audit["population"].as_u64() >= Some(6), "{audit}");
    assert_ne!(place.run(&args).code, Some(0), "the inputs of the report are paragraphs");
    place.run(&[&["index", "create", "ix", "in.jsonl", "--quiet"], &units[..]].concat()).ok();
    let groups = place.run(&["index", "groups", "ix", "--json"]).ok();
    assert!(groups.contains("\"a#2\"") && groups.contains("\"b#1#1\""), "{groups}");
    let line = place.run(&["index", "export", "ix"]).ok();
    let line = line.lines().find(|line| line.contains("\"b#1#2\"")).unwrap_or_default().to_owned();
    let value: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["metadata"]["parent"], "b#1");
    assert_eq!(value["metadata"]["end"], value["metadata"]["end_char"]);
    let refused = place.run(&[&["query", "ix", "in.jsonl"], &units[..]].concat());
    assert!(refused.err.contains("unexpected argument '--unit'"), "{}", refused.err);
}

#[test]
fn tsv_and_compressed_files_lose_units() {
    let place = Place::new();
    let header = "n\tid\ttext\n";
    let first = format!("1\ta\t{COPIED}\u{2028}{FIRST}\n");
    place.file(
        "in.tsv",
        format!("{header}{first}2\tb\t\"say \"\"x\"\"\u{2028}{COPIED}\u{2028}\"\n3\tc\t{COPIED}\n"),
    );
    let line = ["--unit", "line", "--keep", "first"];
    place.run(&[&["dedup", "in.tsv", "-o", "out.tsv"], &line[..]].concat()).ok();
    let left = format!("{header}{first}2\tb\t\"say \"\"x\"\"\u{2028}\"\n");
    assert_eq!(place.read("out.tsv"), left);

    let input = lines(&[
        ("a", &format!("{FIRST}\n{COPIED}")),
        ("b", &format!("{COPIED}\n{LAST}")),
        ("c", COPIED),
    ]);
    place.file("in.jsonl", &input).file("in.jsonl.gz", gzip(input.as_bytes()));
    place.run(&[&["dedup", "in.jsonl", "-o", "plain.jsonl"], &line[..]].concat()).ok();
    let plain = place.read("plain.jsonl");
    assert_eq!(plain, lines(&[("a", &format!("{FIRST}\n{COPIED}")), ("b", LAST)]));
    for (input, output) in [
        ("in.jsonl", "out.jsonl.gz"),
        ("in.jsonl", "out.jsonl.zst"),
        ("in.jsonl.gz", "out.jsonl"),
        ("out.jsonl.zst", "again.jsonl.gz"),
    ] {
        place.run(&[&["dedup", input, "-o", output], &line[..]].concat()).ok();
        // A second run over the output removes no unit and returns the same bytes.
        place.run(&[&["dedup", output, "-o", "read.jsonl"], &line[..]].concat()).ok();
        assert_eq!(place.read("read.jsonl"), plain, "{input} to {output}");
    }
}

/// Units of the reference stay. Units of the input are removed if they resemble a unit of the
/// reference or another unit of the input.
#[test]
fn units_are_compared_with_a_reference() {
    let place = Place::new();
    place.file("old.jsonl", lines(&[("old", &format!("{COPIED}\n\n{LAST} once more"))]));
    place.file(
        "new.jsonl",
        lines(&[
            ("a", &format!("{FIRST}\n\n{COPIED} indeed and longer")),
            ("b", &format!("{FIRST} too\n\n{LAST}")),
        ]),
    );
    let args = ["--reference", "old.jsonl", "--unit", "paragraph", "--keep", "first"];
    let found = found(&place, &[&["find", "new.jsonl", "--json", "-t", "0.6"], &args[..]].concat());
    let mut groups: Vec<_> = found["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| {
            let ids = group["duplicates"].as_array().unwrap().iter().map(|d| d["id"].clone());
            (group["keeper"].clone(), group["reference"].clone(), ids.collect::<Vec<_>>())
        })
        .collect();
    groups.sort_by_key(|group| group.0.to_string());
    assert_eq!(
        groups,
        [
            (json!("a#1"), Value::Null, vec![json!("b#1")]),
            (json!("old#1"), json!(true), vec![json!("a#2")]),
            (json!("old#2"), json!(true), vec![json!("b#2")]),
        ]
    );
    let dedup = ["dedup", "new.jsonl", "-o", "left.jsonl", "-t", "0.6"];
    place.run(&[&dedup[..], &args].concat()).ok();
    assert_eq!(place.read("left.jsonl"), lines(&[("a", &format!("{FIRST}\n\n"))]));
}

/// Lines of several megabytes, one of them without a space, among short lines.
#[test]
fn very_long_lines_are_units() {
    let place = Place::new();
    let (long, solid) = (words(5, 200_000), "x".repeat(2 << 20));
    let a = format!("{long}\r\n{solid}\r\n{COPIED}\r\n");
    let b = format!("{COPIED}\n{long}the end\n{solid}\n{LAST}");
    place.file("in.jsonl", lines(&[("a", &a), ("b", &b)]));
    let args = ["--unit", "line", "--keep", "first"];
    let found = found(&place, &[&["find", "in.jsonl", "--json"], &args[..]].concat());
    let groups = found["groups"].as_array().unwrap();
    let members = groups.iter().map(|group| {
        let duplicate = &group["duplicates"][0];
        let range = ["start", "end"].map(|name| duplicate[name].as_u64().unwrap() as usize);
        (group["keeper"].as_str().unwrap(), duplicate["id"].as_str().unwrap(), range)
    });
    let mut members: Vec<_> = members.collect();
    members.sort_unstable();
    let (short, second) = (COPIED.len() + 1, COPIED.len() + long.len() + 9);
    assert_eq!(
        members,
        [
            ("a#1", "b#2", [short, second]),
            ("a#2", "b#3", [second, second + solid.len() + 1]),
            ("a#3", "b#1", [0, short]),
        ]
    );
    place.run(&[&["dedup", "in.jsonl", "-o", "out.jsonl"], &args[..]].concat()).ok();
    assert_eq!(place.read("out.jsonl"), lines(&[("a", &a), ("b", LAST)]));
}

#[test]
fn an_index_updates_and_removes_units() {
    let place = Place::new();
    let units = ["--unit", "line", "--quiet"];
    place.file("old.jsonl", lines(&[("a", &format!("{FIRST}\n{COPIED}\n{LAST}")), ("b", LAST)]));
    place.file("new.jsonl", lines(&[("a", &format!("{COPIED}\n{FIRST}"))]));
    place
        .run(&[&["index", "create", "ix", "old.jsonl", "--store", "texts"], &units[..]].concat())
        .ok();
    let stored = || {
        let lines = place.run(&["index", "export", "ix"]).ok();
        let mut rows: Vec<(String, String, u64)> = lines
            .lines()
            .map(|line| {
                let value: Value = serde_json::from_str(line).unwrap();
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                let start = value["metadata"]["start"].as_u64().unwrap();
                (text(&value["id"]), text(&value["text"]), start)
            })
            .collect();
        rows.sort();
        rows
    };
    let row = |id: &str, text: &str, start: usize| (id.to_owned(), text.to_owned(), start as u64);
    let last = FIRST.len() + COPIED.len() + 2;
    let rows = [row("a#1", FIRST, 0), row("a#2", COPIED, FIRST.len() + 1), row("a#3", LAST, last)];
    let b = row("b#1", LAST, 0);
    assert_eq!(stored(), [&rows[..], std::slice::from_ref(&b)].concat());
    // Units of the new version replace those with the same ids. The third unit of the old version
    // remains.
    place.run(&[&["index", "update", "ix", "new.jsonl"], &units[..]].concat()).ok();
    let changed = [row("a#1", COPIED, 0), row("a#2", FIRST, COPIED.len() + 1)];
    assert_eq!(stored(), [&changed[..], &[rows[2].clone(), b.clone()]].concat());
    place.run(&[&["index", "remove", "ix", "--like", "old.jsonl"], &units[..]].concat()).ok();
    assert_eq!(stored(), []);
    place.run(&[&["index", "add", "ix", "new.jsonl"], &units[..]].concat()).ok();
    assert_eq!(stored(), changed);
}

#[test]
fn shard_plans_reject_units() {
    let place = place();
    let args = ["shard", "plan", "job", "in.jsonl"];
    let message = place.run(&[&args[..], &["--unit", "line"]].concat()).fails(2);
    let expected = "--unit line is not supported in jobs that are divided over tasks";
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("split the documents before"), "{message}");
    // Jobs compare whole documents, so this unit is accepted.
    place.run(&[&args[..], &["--unit", "document"]].concat()).ok();
}
