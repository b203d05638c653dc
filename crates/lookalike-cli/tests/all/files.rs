//! Folders as users have them: every kind of file, archives, mailboxes, and unreadable files.
#![allow(clippy::unwrap_used, reason = "this is a test")]

use crate::command::{Place, collection, jsonl, root, words};
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// Copies the files of `fixtures/extract`, except expected texts and scripts.
fn fixtures(place: &Place, folder: &str) {
    let from = root().join("fixtures/extract");
    for kind in ["html", "mail", "office", "pdf"] {
        for entry in fs::read_dir(from.join(kind)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
            if !matches!(ending, Some("txt" | "py")) {
                place.file(&format!("{folder}/{kind}/{name}"), fs::read(&path).unwrap());
            }
        }
    }
}

fn message(number: u32, body: &str) -> String {
    format!(
        "From a@b.example Thu Jan  1 00:00:{number:02} 1970\nFrom: a@b.example\nTo: c@d.example\n\
         Subject: number {number}\nMessage-ID: <m{number}@b.example>\n\
         Date: Thu, 01 Jan 1970 00:00:{number:02} +0000\n\n{body}\n\n"
    )
}

/// Returns the groups of a run, each as a list of ids that starts with the keeper.
fn groups(place: &Place, args: &[&str]) -> Vec<Vec<String>> {
    let all = ["find", "-q", "-o", "g.csv"].iter().chain(args).copied().collect::<Vec<_>>();
    place.run(&all).ok();
    let mut groups: Vec<Vec<String>> = Vec::new();
    for line in place.read("g.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[2] == "keeper" {
            groups.push(Vec::new());
        }
        groups.last_mut().unwrap().push(fields[1].to_owned());
    }
    groups
}

#[test]
fn a_folder_of_everything() {
    let place = Place::new();
    fixtures(&place, "docs");
    let found = groups(&place, &["docs", "--skipped", "s.csv"]);
    let docx = ["office/text.docx", "office/utf16.docx"];
    assert!(found.contains(&docx.map(str::to_owned).to_vec()), "{found:?}");
    // The same file in two kinds of archive.
    let archived = ["office/gnu.tar/a.txt", "office/pax.tar/a.txt", "office/plain.zip/a.txt"];
    assert!(found.contains(&archived.map(str::to_owned).to_vec()), "{found:?}");
    let skipped = place.read("s.csv");
    for (name, reason) in [
        ("docs/office/locked.epub", "encrypted"),
        ("docs/office/password.odt", "encrypted"),
        ("docs/pdf/encrypted.pdf", "encrypted"),
        ("docs/pdf/scanned.pdf", "a PDF of 2 pages without text"),
        ("docs/mail/crawl.warc", "damaged"),
        ("docs/office/pax.tar", "a link"),
    ] {
        let listed = |line: &str| line.starts_with(name) && line.contains(reason);
        assert!(skipped.lines().any(listed), "{name} {reason}\n{skipped}");
    }
    assert!(!place.read("g.csv").contains("scanned"));
}

#[test]
fn archives_and_folders_give_equal_groups() {
    let place = Place::new();
    fixtures(&place, "docs");
    for (name, text) in [("a.txt", words(1, 90)), ("b.txt", words(1, 90) + "end")] {
        place.file(&format!("docs/{name}"), text);
    }
    let tar = |args: &[&str]| {
        let status =
            std::process::Command::new("tar").args(args).current_dir(place.path(".")).status();
        assert!(status.unwrap().success());
    };
    tar(&["--sort=name", "-czf", "docs.tgz", "docs"]);
    let expected = groups(&place, &["docs"]);
    assert!(expected.len() > 3, "{expected:?}");
    let little: &[&str] = &["docs.tgz", "--memory", "80MiB", "--threads", "2"];
    for args in [&["docs.tgz"][..], little] {
        let found = groups(&place, args);
        let own = |id: &String| id.replacen("docs.tgz/docs/", "", 1);
        let mut found: Vec<Vec<String>> =
            found.iter().map(|group| group.iter().map(own).collect()).collect();
        found.sort();
        let mut expected_names = expected.clone();
        expected_names.sort();
        assert_eq!(found, expected_names, "{args:?}");
    }
}

#[test]
fn mailbox_messages_are_separate_documents() {
    let place = Place::new();
    let (first, second) = (words(1, 60), words(2, 60));
    let reply = format!("{second}\n\nOn Thu, a@b.example wrote:\n> {first}\n");
    let box_ = [message(1, &first), message(2, &reply), message(3, &first)].concat();
    place.file("in.mbox", &box_);
    let newest = ["in.mbox", "--keep", "field:date", "--id-field", "message-id"];
    assert_eq!(groups(&place, &newest), [["m3@b.example", "m1@b.example"]]);
    assert_eq!(groups(&place, &["in.mbox"]), [["in.mbox:1", "in.mbox:23"]]);
    place.run(&["dedup", "in.mbox", "-o", "out.mbox", "-q"]).ok();
    assert_eq!(place.read("out.mbox"), [message(1, &first), message(2, &reply)].concat());
    // Quotations in a reply are not compared, unless an option keeps them.
    place.file("one.eml", &message(1, &first)[42..]).file("two.eml", &message(2, &reply)[42..]);
    let contained = ["one.eml", "two.eml", "--measure", "containment"];
    assert_eq!(groups(&place, &contained).len(), 0);
    let kept = [&contained[..], &["--quotes", "keep"]].concat();
    assert_eq!(groups(&place, &kept).len(), 1);
}

#[test]
fn mail_cuts_are_reported() {
    let place = Place::new();
    let (own, other) = (words(1, 60), words(2, 60));
    let reply = format!("{own}\n\nOn Thu, a@b.example wrote:\n> {other}\n");
    place.file(
        "in.mbox",
        [message(1, &reply), message(2, &format!("{other}\n-- \nAnn\n"))].concat(),
    );
    let run = place.run(&["find", "in.mbox", "--mail-signatures", "cut", "--report", "r.json"]);
    let err = &run.err;
    assert!(err.contains("1 message read without quoted text; --quotes keep reads it"), "{err}");
    assert!(err.contains("1 message read without signatures: 2 words, "), "{err}");
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let cut = &report["cut_from_mail"];
    assert_eq!(cut["quoting_messages"], 1);
    assert_eq!((&cut["signed_messages"], &cut["signature_words"]), (&1.into(), &2.into()));
}

#[test]
fn textless_copies_are_reported_not_matched() {
    let place = Place::new();
    let png = [&b"\x89PNG\r\n\x1a\n\0\0\0"[..], words(5, 50).as_bytes()].concat();
    place.file("in/a.png", &png).file("in/b.png", &png).file("in/c.png", [&png[..], b"x"].concat());
    let scanned = fs::read(root().join("fixtures/extract/pdf/scanned.pdf")).unwrap();
    place.file("in/d.pdf", &scanned).file("in/e.txt", &scanned).file("in/f.txt", words(9, 30));
    let run = place.run(&["find", "in", "--skipped", "s.csv", "--report", "r.json"]);
    assert!(
        run.err.contains("2 of them are the same bytes as another: in/b.png as in/a.png"),
        "{}",
        run.err
    );
    let skipped = place.read("s.csv");
    assert!(skipped.contains("the same bytes as in/a.png"), "{skipped}");
    assert!(skipped.contains("the same bytes as in/d.pdf"), "{skipped}");
    assert_eq!(skipped.matches("the same bytes").count(), 2, "{skipped}");
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let twins: Vec<&serde_json::Value> =
        report["skipped"].as_array().unwrap().iter().map(|each| &each["same_bytes_as"]).collect();
    assert_eq!(twins.iter().filter(|twin| twin.is_string()).count(), 2);
    assert_eq!(report["counts"]["groups"], 0);
}

#[test]
fn named_files_without_text_are_errors() {
    let place = Place::new();
    let file = |name: &str| fs::read(root().join("fixtures/extract").join(name)).unwrap();
    place.file("a.pdf", file("pdf/encrypted.pdf")).file("b.docx", file("office/text.docx"));
    let message = place.run(&["find", "a.pdf", "b.docx"]).fails(1);
    assert!(message.contains("a.pdf: encrypted") && message.contains("--skip-bad"), "{message}");
    place.run(&["find", "a.pdf", "b.docx", "--skip-bad", "-q"]).ok();
    let message = place.run(&["compare", "a.pdf", "b.docx"]).fails(1);
    assert!(message.contains("encrypted"), "{message}");
    place.file("z.zip", file("office/plain.zip"));
    let message = place.run(&["compare", "z.zip", "b.docx"]).fails(2);
    assert!(message.contains("documents, and compare needs one"), "{message}");
}

#[test]
fn skipped_files_name_exceeded_limits() {
    let place = Place::new();
    fixtures(&place, "docs");
    place.file("docs/a.txt", words(1, 50));
    let reason = |args: &[&str]| {
        let all = [&["find", "docs", "-q", "-o", "g.csv", "--skipped", "s.csv"], args].concat();
        place.run(&all).ok();
        place.read("s.csv")
    };
    for (option, value, reason_text) in [
        ("file-size", "1KiB", "more than 1024 bytes"),
        ("pages", "1", "more than 1 pages"),
        ("depth", "0", "more than 0 levels of files in files"),
        ("expanded", "1KiB", "more than 1024 expanded bytes"),
        ("members", "1", "more than 1 members"),
        ("seconds", "0", "not read after 0 s"),
    ] {
        let skipped = reason(&["--max", &format!("{option}={value}")]);
        assert!(
            skipped.contains(&format!("{reason_text} (--max {option} allows more)")),
            "{skipped}"
        );
    }
}

#[test]
fn normalize_options_unify_spellings() {
    let place = Place::new();
    let accents = "élan vital café crème naïve façade déjà vu rôle fête";
    let decomposed: String = accents
        .chars()
        .flat_map(|c| match c {
            'é' => vec!['e', '\u{301}'],
            'è' => vec!['e', '\u{300}'],
            'ê' => vec!['e', '\u{302}'],
            'ï' => vec!['i', '\u{308}'],
            'ç' => vec!['c', '\u{327}'],
            'à' => vec!['a', '\u{300}'],
            'ô' => vec!['o', '\u{302}'],
            c => vec![c],
        })
        .collect();
    place.file("in/a.txt", accents).file("in/b.txt", decomposed);
    assert_eq!(groups(&place, &["in"]).len(), 0);
    assert_eq!(groups(&place, &["in", "--normalize", "nfc"]), [["a.txt", "b.txt"]]);
    place.file("th/a.txt", "ภาษาไทยสนุก").file("th/b.txt", "ภาษา ไทย สนุก");
    assert_eq!(
        groups(&place, &["th", "--normalize", "segment:dictionary", "--shingle", "words:2"]).len(),
        1
    );
    let auto = ["en", "--shingle", "bag", "--normalize", "language:auto"];
    let first = "The river was flowing through the valley, and the people of the village were \
                 there with their horses and the merchants from the castle.";
    let second = "A river that is flowing through a valley; some people of a village, and what \
                  horses they have, and some merchants who are from a castle.";
    place.file("en/a.txt", first).file("en/b.txt", second);
    assert_eq!(groups(&place, &auto[..3]).len(), 0);
    assert_eq!(groups(&place, &auto), [["b.txt", "a.txt"]]);
}

fn tool(place: &Place, program: &str, args: &[&str]) {
    let status =
        std::process::Command::new(program).args(args).current_dir(place.path(".")).status();
    assert!(status.unwrap().success(), "{program} {args:?}");
}

/// Truncates a file to `share` of its bytes.
fn truncate(place: &Place, name: &str, share: f64) {
    let bytes = fs::read(place.path(name)).unwrap();
    fs::write(place.path(name), &bytes[..(bytes.len() as f64 * share) as usize]).unwrap();
}

fn json(place: &Place, args: &[&str]) -> serde_json::Value {
    let out = place.run(&[&["find", "--json"], args].concat()).ok();
    serde_json::from_str(&out).unwrap()
}

fn table(rows: std::ops::Range<u64>) -> String {
    let row = |n| format!("{n},{}\n", words(n % 50 + 1, 40));
    std::iter::once("id,text\n".to_owned()).chain(rows.map(row)).collect()
}

#[test]
fn tables_without_columns_become_texts() {
    let place = Place::new();
    place
        .file("in/a.csv", table(0..50))
        .file("in/b.csv", table(50..100))
        .file("in/c.tsv", table(100..120).replace(',', "\t"))
        .file("in/prices.csv", "item,price\nbread,3\n");
    let found = json(&place, &["in"]);
    assert_eq!(found["counts"]["documents"], 121);
    assert_eq!(found["counts"]["duplicates"], 70);
    let as_text = found["read_as_text"].as_array().unwrap();
    assert_eq!(as_text.len(), 1, "{as_text:?}");
    assert_eq!(as_text[0]["source"], "in/prices.csv");
    assert!(as_text[0]["reason"].as_str().unwrap().contains("no column \"id\""), "{as_text:?}");
    for quiet in [&["find", "in"][..], &["find", "in", "-q"]] {
        let run = place.run(quiet);
        assert!(run.err.contains("1 table is read as one text, not as records; in/prices.csv"));
    }
    let run = place.run(&["dedup", "in", "-o", "out/"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let rows = |name: &str| place.read(name).lines().count() - 1;
    assert_eq!(rows("out/a.csv") + rows("out/b.csv") + rows("out/c.tsv"), 50);
    assert_eq!(place.read("out/prices.csv"), "item,price\nbread,3\n");
}

#[test]
fn broken_containers_are_listed() {
    let place = Place::new();
    let documents = collection(400);
    let messages: String =
        (0..400).map(|n| message(n % 60, &words(u64::from(n) + 9, 120))).collect();
    let record = |n: u64| {
        let text = words(n + 3, 120);
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:{n}>\r\n\
             Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    };
    place
        .file("in/a.jsonl", jsonl(&documents))
        .file("in/m.mbox", &messages)
        .file("in/w.warc", (0..400).map(record).collect::<String>())
        .file("in/p.parquet", b"PAR1 and no footer")
        .file("in/log.jsonl", "{\"time\":1,\"level\":\"info\"}\n{\"time\":2}\n")
        .file("in/ok.txt", words(7, 50));
    for (id, text) in &documents {
        place.file(&format!("t/{id}.txt"), text);
    }
    tool(&place, "tar", &["--sort=name", "-cf", "in/t.tar", "t"]);
    for name in ["a.jsonl", "m.mbox", "w.warc", "t.tar"] {
        tool(&place, "gzip", &["-n", &format!("in/{name}")]);
        truncate(&place, &format!("in/{name}.gz"), 0.9);
    }
    for skip in [&[][..], &["--skip-bad"]] {
        let run = place.run(&[&["find", "--json", "in", "--skipped", "s.csv"], skip].concat());
        assert_eq!(run.code, Some(i32::from(skip.is_empty())), "{}", run.err);
        let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        let skipped = place.read("s.csv");
        for name in ["a.jsonl.gz", "m.mbox.gz", "w.warc.gz", "t.tar.gz"] {
            let listed = |line: &&str| line.contains(name) && line.contains("cannot be read: ");
            assert_eq!(skipped.lines().filter(listed).count(), 1, "{name} {skip:?}\n{skipped}");
            let sources = found["sources"].as_array().unwrap();
            let read = sources.iter().find(|s| s["name"] == format!("in/{name}"));
            let read = read.unwrap_or_else(|| panic!("{name}: {sources:?}"))["documents"].as_u64();
            assert!(read.is_some_and(|read| (200..700).contains(&read)), "{name} {read:?}");
        }
        assert!(skipped.contains("it is not a complete Parquet file"), "{skipped}");
        assert!(skipped.contains("in/log.jsonl,1,") && skipped.contains("no field"), "{skipped}");
    }
    // An unreadable file that the command line names is an error, unless bad records are skipped.
    let message = place.run(&["find", "in/a.jsonl.gz"]).fails(1);
    assert!(message.contains("in/a.jsonl.gz: cannot be read"), "{message}");
    let found = json(&place, &["in/a.jsonl.gz", "in/p.parquet", "--skip-bad"]);
    assert!(found["counts"]["documents"].as_u64().unwrap() > 200, "{}", found["counts"]);
    assert_eq!(found["counts"]["skipped"], 2);
}

#[test]
fn expansion_limits_hold_for_compressed_files() {
    let place = Place::new();
    let zeros = "a".repeat(20 << 20);
    let records = |text: &str| {
        format!(
            "{{\"id\":1,\"text\":\"x y z\"}}\n{{\"id\":2,\"text\":\"{text}\"}}\n\
             {{\"id\":3,\"text\":\"u\"}}\n"
        )
    };
    place.file("in/a.txt", &zeros).file("in/b.jsonl", records(&zeros)).file("in/c.txt", "x y");
    place.file("long.jsonl", records(&zeros));
    tool(&place, "gzip", &["in/a.txt", "in/b.jsonl"]);
    let args = ["in", "--max", "expanded=1MiB", "--skipped", "s.csv"];
    let found = json(&place, &args);
    assert_eq!(found["counts"]["skipped"], 2, "{}", found["skipped"]);
    let skipped = place.read("s.csv");
    assert_eq!(skipped.matches("more than 1048576 bytes").count(), 2, "{skipped}");
    // Without an explicit limit on a file, only the limit on each record applies.
    assert_eq!(json(&place, &["in"])["counts"]["documents"], 5);
    let little = ["--memory", "56MiB", "--threads", "1"];
    // A memory limit does not change the result. If a record does not fit, the run ends with an
    // error.
    for args in [&["long.jsonl"][..], &["long.jsonl", "--skip-bad"], &["in"]] {
        let message = place.run(&[&["find"], args, &little].concat()).fails(1);
        assert!(message.contains("56MiB is too small: this run needs at least"), "{message}");
    }
    // The limits of a file also apply to standard input.
    let gzip = std::fs::read(place.path("in/b.jsonl.gz")).unwrap();
    let expanded = ["find", "-", "--max", "expanded=1MiB"];
    let message = place.run_with_input(&expanded, &gzip).fails(1);
    assert!(message.contains("more than 1048576 bytes"), "{message}");
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(26).unwrap();
    encoder.write_all("{\"id\":1,\"text\":\"x y z\"}\n".repeat(50_000).as_bytes()).unwrap();
    let wide = encoder.finish().unwrap();
    place.file("wide.jsonl.zst", &wide);
    for format in [&[][..], &["--format", "jsonl"]] {
        let args = [&["find", "-"], &little[..], format].concat();
        let message = place.run_with_input(&args, &wide).fails(1);
        assert!(message.contains("a zstd window of more than 8388608 bytes"), "{message}");
    }
}

#[test]
fn repeated_ids_get_file_prefixes() {
    let place = Place::new();
    let records = jsonl(&collection(20));
    place.file("in/a.jsonl", &records).file("in/b.jsonl", &records).file("in/c.txt", words(3, 9));
    for memory in [&[][..], &["--memory", "80MiB", "--threads", "2"], &["--exact"]] {
        let args = [&["in", "--report", "r.json"], memory].concat();
        let found = groups(&place, &args);
        let first = found.iter().find(|group| group.contains(&"a.jsonl/g1".to_owned())).unwrap();
        assert_eq!(first, &["a.jsonl/g1", "b.jsonl/g1"]);
        let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
        assert_eq!(report["ids_by_file"], true);
        place.run(&["audit", "r.json", "in", "-q"]).ok();
    }
    place.run(&["find", "in", "--audit", "20", "-q"]).ok();
    place.run(&["dedup", "in", "-o", "out/", "-q"]).ok();
    assert_eq!(place.read("out/b.jsonl"), "");
    // An id that repeats within a file, or in files that the command line names, is an error.
    place.run(&["find", "in/a.jsonl", "in/b.jsonl"]).fails(1);
}

#[test]
fn documents_count_under_their_file() {
    let place = Place::new();
    fixtures(&place, "docs");
    let (odt, docx, zip) =
        ("docs/office/text.odt", "docs/office/text.docx", "docs/office/plain.zip");
    let dry = place.run(&["dedup", odt, docx, "--dry-run"]).err;
    assert!(dry.contains("  docs/office/text.odt\n") && dry.contains("  docs/office/text.docx\n"));
    let found = json(&place, &[zip, odt]);
    let names: Vec<&str> =
        found["sources"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, [zip, odt]);
}

#[test]
fn unmarked_utf16_is_read() {
    let place = Place::new();
    let wide = |text: &str, big: bool| -> Vec<u8> {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    };
    let text = format!("{} Grüße 世界 😀", words(1, 60));
    place
        .file("in/a.txt", wide(&text, false))
        .file("in/b.txt", wide(&text, true))
        .file("in/c.txt", &text)
        .file("in/d.jsonl", wide(&jsonl(&[("d".to_owned(), text.clone())]), false))
        .file("in/e.bin", (0..2000u16).flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    assert_eq!(groups(&place, &["in"]), [["a.txt", "b.txt", "c.txt", "d"]]);
}

#[test]
fn empty_files_count_as_empty_documents() {
    let place = Place::new();
    for end in ["csv", "jsonl", "mbox", "tar", "zip", "warc", "tsv"] {
        place.file(&format!("in/empty.{end}"), "");
    }
    place.file("in/none.zip", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    place.file("in/none.tar", [0; 10240]);
    let found = json(&place, &["in", "--skipped", "s.csv"]);
    assert_eq!(found["counts"]["documents"], 7, "{found}");
    assert_eq!(found["counts"]["empty"], 7);
    let skipped = place.read("s.csv");
    for name in ["empty.jsonl", "empty.mbox", "none.zip", "none.tar"] {
        assert!(skipped.contains(name), "{name}\n{skipped}");
    }
}

#[test]
fn mailboxes_without_extension_are_recognised() {
    let place = Place::new();
    let text = words(1, 60);
    place.file("in/noext", [message(1, &text), message(2, &text)].concat());
    let named = groups(&place, &["in/noext"]);
    let found = groups(&place, &["in"]);
    assert_eq!(named, [["in/noext:1", "in/noext:10"]]);
    assert_eq!(found, [["noext:1", "noext:10"]]);
}

#[test]
fn missing_keep_fields_are_reported() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&collection(5)));
    let run = place.run(&["find", "in.jsonl", "--keep", "field:date"]);
    assert!(run.err.contains("no document has a value in the field \"date\""), "{}", run.err);
    let run = place.run(&["find", "in.jsonl", "--keep", "field:text"]);
    assert!(!run.err.contains("no document has a value"), "{}", run.err);
}

#[test]
fn unmatched_keep_patterns_are_reported() {
    let place = Place::new();
    place.file("d/a.txt", words(1, 60)).file("d/b.txt", words(1, 61));
    let warning = "warning: no document matches the pattern";
    for command in [&["find", "d"][..], &["dedup", "d", "-o", "out/"]] {
        let run = place.run(&[command, &["--keep", "path:zzz,longest"]].concat());
        let line = format!("{warning} \"zzz,longest\", so --keep path:zzz,longest decides nothing");
        assert!(run.err.contains(&line), "{}", run.err);
        assert!(run.err.contains("for several rules, repeat --keep"), "{}", run.err);
    }
    let run = place.run(&["find", "d", "--keep", "path:zzz", "--keep", "longest"]);
    assert!(run.err.contains(warning) && !run.err.contains("several"), "{}", run.err);
    let run = place.run(&["find", "d", "--keep", "path:**/a.txt"]);
    assert!(!run.err.contains(warning), "{}", run.err);
}

#[test]
fn patterns_and_lists_choose_files() {
    let place = Place::new();
    for name in ["in/a.txt", "in/b.md", "in/sub/c.txt", "in/sub/d.log", "in/skip/e.txt"] {
        place.file(name, words(1, 60));
    }
    place.file("in/.ignore", "*.log\n").file("in/sub/f.json", words(1, 60));
    let ids = |args: &[&str]| -> Vec<String> {
        let mut ids = groups(&place, args).concat();
        ids.sort();
        ids
    };
    assert_eq!(ids(&["in", "--include", "*.txt"]), ["a.txt", "skip/e.txt", "sub/c.txt"]);
    // A pattern has priority over an ignore file, as in ripgrep.
    assert_eq!(ids(&["in", "--include", "*.log", "--include", "/a.txt"]), ["a.txt", "sub/d.log"]);
    let some = ["in", "--exclude", "skip/", "--exclude", "*.md", "--skipped", "s.csv"];
    assert_eq!(ids(&some), ["a.txt", "sub/c.txt", "sub/f.json"]);
    let skipped = place.read("s.csv");
    assert!(!skipped.contains("b.md") && skipped.contains("d.log"), "{skipped}");
    let both = ["in", "--include", "*.md", "--include", "*.json"];
    assert_eq!(ids(&both), ["b.md", "sub/f.json"]);
    place.run(&["find", "in", "--include", "a[b"]).fails(2);
    place.file("list", "in/a.txt\nin/b.md\n\n").file("list0", b"in/a.txt\0in/sub/c.txt\0");
    assert_eq!(ids(&["--files-from", "list"]), ["in/a.txt", "in/b.md"]);
    let both = ids(&["in/b.md", "--files-from", "list0"]);
    assert_eq!(both, ["in/a.txt", "in/b.md", "in/sub/c.txt"]);
    let run = place.run_with_input(&["find", "--files-from", "-", "--json"], b"in/a.txt\nin/b.md");
    assert!(run.ok().contains("\"documents\":2"));
    place.file("none", "\n");
    place.run(&["find", "--files-from", "none"]).fails(1);
    place.run(&["find", "--files-from", "nowhere"]).fails(1);
    for command in [&["dedup", "--dry-run"][..], &["tune"], &["index", "create", "ix"]] {
        let run = place.run(&[command, &["--files-from", "list"]].concat());
        assert_eq!(run.code, Some(0), "{command:?} {run:?}");
    }
    place.run(&["index", "add", "ix", "in", "--include", "/sub/c.txt"]).ok();
    place.run(&["find", "--files-from", "list", "--report", "r.json", "-q"]).ok();
    place.run(&["audit", "r.json", "--files-from", "list", "-q"]).ok();
}

#[test]
fn archive_members_are_addressed_by_id() {
    let place = Place::new();
    let (first, second) = (words(1, 60), words(2, 60));
    place.file("t/x.txt", &first).file("t/sub/y.txt", &second).file("b.txt", &first);
    place.file("in.mbox", [message(1, &first), message(2, &second)].concat());
    tool(&place, "tar", &["-czf", "a.tgz", "t"]);
    let exact = |a: &str, b: &str| {
        let out = place.run(&["compare", a, b, "--json"]).ok();
        serde_json::from_str::<serde_json::Value>(&out).unwrap()["similar"].as_bool().unwrap()
    };
    assert!(exact("a.tgz/t/x.txt", "b.txt"));
    assert!(!exact("a.tgz/t/sub/y.txt", "b.txt"));
    assert!(exact("in.mbox:1", "a.tgz/t/x.txt"));
    let message = place.run(&["compare", "a.tgz/t/none.txt", "b.txt"]).fails(1);
    assert!(message.contains("a.tgz holds no document with the id"), "{message}");
    place.run(&["index", "create", "ix", "b.txt", "-q"]).ok();
    let out = place.run(&["query", "ix", "a.tgz/t/x.txt"]).ok();
    assert!(out.contains("b.txt"), "{out}");
    let out = place.run(&["query", "ix", "a.tgz/t/sub/y.txt", "--json"]).ok();
    assert!(!out.contains("b.txt"), "{out}");
}

#[test]
fn repeated_tar_names_are_numbered() {
    let place = Place::new();
    place.file("docs/other.txt", words(7, 60)).file("a.txt", words(1, 60));
    let tar = |args: &[&str]| {
        let status =
            std::process::Command::new("tar").args(args).current_dir(place.path(".")).status();
        assert!(status.unwrap().success());
    };
    tar(&["-cf", "docs/x.tar", "a.txt"]);
    tar(&["-rf", "docs/x.tar", "a.txt"]);
    assert_eq!(groups(&place, &["docs"]), [["x.tar/a.txt", "x.tar/a.txt#2"]]);
    place.run(&["dedup", "docs", "-o", "kept", "-q"]).ok();
}

#[cfg(unix)]
#[test]
fn silent_pipes_are_named() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    let place = Place::new();
    let fifo = place.path("records");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut run = Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .args(["find", "records"])
        .current_dir(place.path("."))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut err = BufReader::new(run.stderr.take().unwrap());
    let (sender, receiver) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut line = String::new();
        err.read_line(&mut line).unwrap();
        sender.send(line).unwrap();
        // Reads until the end, so that the run can write all its messages.
        std::io::copy(&mut err, &mut std::io::sink()).unwrap();
    });
    // The run ends only when it receives its input.
    let Ok(line) = receiver.recv_timeout(std::time::Duration::from_secs(120)) else {
        run.kill().unwrap();
        panic!("nothing was written while the run waited for its input");
    };
    assert!(line.starts_with("waiting for input: records is a pipe"), "{line}");
    let mut records = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
    records.write_all(b"{\"id\":\"a\",\"text\":\"some words\"}\n").unwrap();
    drop(records);
    assert!(run.wait().unwrap().success());
    reader.join().unwrap();
}

#[test]
fn bad_files_set_the_exit_code() {
    let place = Place::new();
    let good = jsonl(&collection(20));
    place.file("in/a.jsonl", &good).file("in/b.jsonl", format!("no JSON\n{good}"));
    let run = place.run(&["find", "in", "-o", "g.csv"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("bad records or files were left out (1)"), "{}", run.err);
    let found = place.read("g.csv");
    place.run(&["find", "in", "-o", "h.csv", "--skip-bad"]).ok();
    assert_eq!(found, place.read("h.csv"));
    let run = place.run(&["dedup", "in", "-o", "out/"]);
    assert_eq!((run.code, place.read("out/a.jsonl").is_empty()), (Some(1), false), "{run:?}");
    place.run(&["find", "in/a.jsonl"]).ok();
}

#[test]
fn repeated_folders_are_read_once() {
    let place = Place::new();
    place.file("d/a.txt", words(1, 50)).file("d/b.txt", words(2, 50));
    let run = place.run(&["find", "d", "./d/"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("2 documents, 2 skipped"), "{}", run.err);
    assert!(run.err.contains("2 found a second time, read once, first ./d/a.txt"), "{}", run.err);
    place.run(&["dedup", "d", "./d", "--link", "hard"]).ok();
}

#[test]
fn json_arrays_are_thinned_as_arrays() {
    let place = Place::new();
    let text = words(1, 50);
    let array = format!(
        "[\n {{\"id\": 1, \"text\": \"{text}\"}},\n {{\"id\": 2,\n \"text\": \"{text}\"}}]"
    );
    place.file("in/a.json", &array).file("none.json", array.replace("text", "body"));
    let parsed =
        |name: &str| -> Vec<serde_json::Value> { serde_json::from_str(&place.read(name)).unwrap() };
    place.run(&["dedup", "in/a.json", "-o", "out.json"]).ok();
    place.run(&["dedup", "in", "-o", "out/"]).ok();
    for name in ["out.json", "out/a.json"] {
        let kept = parsed(name);
        assert_eq!((kept.len(), &kept[0]["id"]), (1, &serde_json::json!(1)), "{name}");
    }
    place.run(&["dedup", "in/a.json", "-o", "all.json", "--annotate"]).ok();
    assert_eq!(parsed("all.json").len(), 2);
    let printed = place.run(&["dedup", "in/a.json", "-o", "-"]).ok();
    assert_eq!(serde_json::from_str::<Vec<serde_json::Value>>(&printed).unwrap().len(), 1);
    let message = place.run(&["find", "none.json"]).fails(1);
    assert!(message.contains("none.json:1: no field \"text\""), "{message}");
}

#[test]
fn a_table_keeps_its_delimiter() {
    let place = Place::new();
    let table = table(0..60).replace(',', ";");
    place.file("a.csv", &table).file("b.csv", table.replace(';', ":"));
    place.run(&["dedup", "a.csv", "-o", "out.csv"]).ok();
    assert!(place.read("out.csv").starts_with("id;text\n0;"));
    place.run(&["dedup", "a.csv", "-o", "all.csv", "--annotate"]).ok();
    let all = place.read("all.csv");
    assert!(all.starts_with("id;text;") && !all.contains(','), "{all}");
    let message = place.run(&["find", "b.csv"]).fails(1);
    assert!(message.contains("which has id:text"), "{message}");
    let found = json(&place, &["b.csv", "--delimiter", ":"]);
    assert_eq!(found["counts"]["duplicates"], 10);
    let message = place.run(&["find", "b.csv", "--delimiter", "::"]).err;
    assert!(message.contains("expected one character such as ; or |, or tab"), "{message}");
}

#[test]
fn ids_made_of_lines_are_noted() {
    let place = Place::new();
    let text = words(1, 50);
    place.file("a.jsonl", format!("{{\"text\":\"{text}\"}}\n").repeat(2));
    let run = place.run(&["find", "a.jsonl", "-o", "g.csv", "--report", "r.json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("1 file of JSON has no field \"id\""), "{}", run.err);
    assert!(place.read("g.csv").contains("a.jsonl:2"));
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(report["line_ids"], serde_json::json!(["a.jsonl"]));
}

#[test]
fn system_files_are_counted() {
    let place = Place::new();
    place.file("d/a.docx.txt", "a").file("d/~$a.docx", "lock").file("d/Thumbs.db", "x");
    let run = place.run(&["find", "d"]);
    assert!(run.err.contains("2 files of the system, or locks of office"), "{}", run.err);
}

#[test]
fn list_footers_make_no_duplicates() {
    let place = Place::new();
    let footer = format!(
        "------------------------ List Sponsor ---------------------~-->\n4 DVDs free, join now\n\
         http://lists.example/pt6YBB\n{}~->\n\nTo unsubscribe from this group, send an email to:\n\
         news-unsubscribe@lists.example\n\nYour use of the group is subject to the terms of the \
         service, which the page of the group lists in full\n",
        "-".repeat(69)
    );
    let message = |text: &str| format!("From: a@b.example\nSubject: x\n\n{text}\n\n{footer}");
    place.file("in/1.eml", message("Is anybody here on Monday at noon?"));
    place.file("in/2.eml", message("The printer on the third floor works again."));
    place.file("in/notes.txt", words(1, 80));
    let kept = place.run(&["find", "in", "-t", "0.5", "--mail-signatures", "keep"]);
    assert!(kept.out.contains("2.eml"), "{kept:?}");
    let run = place.run(&["find", "in", "-t", "0.5"]);
    assert_eq!(run.out, "", "{}", run.err);
}
