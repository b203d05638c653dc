//! `lookalike dedup`, run as a user runs it.

#![allow(clippy::unwrap_used, reason = "tests may stop at anything unexpected")]

mod command;

use command::{Place, collection, jsonl, words};

/// A place with the collection of ten groups as `in.jsonl`.
fn place() -> Place {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&collection(10)));
    place
}

/// The ids of the documents that `find` calls duplicates.
fn duplicates(place: &Place, more: &[&str]) -> Vec<String> {
    let found = place.run(&[&["find", "in.jsonl", "--json"], more].concat()).ok();
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let groups = found["groups"].as_array().unwrap().iter();
    let all = groups.flat_map(|group| group["duplicates"].as_array().unwrap());
    all.map(|duplicate| duplicate["id"].as_str().unwrap().to_owned()).collect()
}

fn id(line: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    value["id"].as_str().unwrap().to_owned()
}

#[test]
fn what_find_calls_a_duplicate_goes_and_the_rest_stays_as_it_is() {
    let place = place();
    for options in [
        &[][..],
        &["--keep", "shortest"],
        &["--exact", "--threshold", "0.7"],
        &["--keep", "last", "--memory", "64MiB"],
    ] {
        let duplicates = duplicates(&place, options);
        assert!(duplicates.len() >= 5, "{options:?}");
        let run = place.run(&[&["dedup", "in.jsonl", "-o", "out.jsonl"], options].concat());
        assert!(run.err.contains("written: out.jsonl: "), "{}", run.err);
        assert_eq!(run.ok(), "");
        let all = place.read("in.jsonl");
        let kept: Vec<&str> = all.lines().filter(|line| !duplicates.contains(&id(line))).collect();
        assert_eq!(place.read("out.jsonl").lines().collect::<Vec<_>>(), kept);
    }
}

#[test]
fn annotated_documents_say_what_find_says() {
    let place = place();
    let duplicates = duplicates(&place, &[]);
    let args = ["dedup", "in.jsonl", "-o", "all.jsonl", "--annotate", "--removed", "gone.csv"];
    let run = place.run(&args);
    assert!(run.err.contains("annotated: all.jsonl: "), "{}", run.err);
    run.ok();
    let (all, before) = (place.read("all.jsonl"), place.read("in.jsonl"));
    assert_eq!(all.lines().count(), before.lines().count());
    let mut reasons = Vec::new();
    for (after, before) in all.lines().zip(before.lines()) {
        let value: serde_json::Value = serde_json::from_str(after).unwrap();
        let note = &value["lookalike"];
        let gone = duplicates.contains(&id(after));
        assert_eq!(note["kept"], !gone);
        assert_eq!(note["jaccard"].is_number() && note["keeper"].is_string(), gone);
        assert!(after.starts_with(before.strip_suffix('}').unwrap()));
        reasons.push(note["reason"].as_str().unwrap().to_owned());
    }
    for reason in ["unique", "keeper", "longest"] {
        assert!(reasons.iter().any(|r| r == reason), "{reasons:?}");
    }
    let gone = place.read("gone.csv");
    let listed: Vec<&str> = gone.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    let order: Vec<String> = before.lines().map(id).filter(|id| duplicates.contains(id)).collect();
    assert_eq!(listed, order);
    assert!(gone.starts_with("id,source,group,keeper,jaccard,reason\n"));
    let message = place.run(&["dedup", "all.jsonl", "-o", "b.jsonl", "--annotate"]).fails(1);
    assert!(message.contains("--annotate-field"), "{message}");
    assert!(!place.path("b.jsonl").exists());
}

#[test]
fn a_dry_run_tells_what_would_go_and_writes_nothing() {
    let place = place();
    let text = words(999, 100);
    let copies: String = (0..25)
        .map(|n| serde_json::json!({ "id": format!("c{n}"), "text": text }).to_string() + "\n")
        .collect();
    place.file("copies.jsonl", copies);
    let run = place.run(&["dedup", "in.jsonl", "copies.jsonl", "--dry-run", "-o", "x.jsonl"]);
    assert!(run.err.contains("warning: 96.00 % of copies.jsonl would go (24 of 25"), "{}", run.err);
    let out = run.ok();
    let find = |name: &str| {
        let line = out.lines().find(|line| line.ends_with(name)).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(find("copies.jsonl")[..3], ["25", "24", "96.00"]);
    assert_eq!(find("all")[0], "44");
    assert!(!place.path("x.jsonl").exists());
    let code = place.run(&["dedup", "in.jsonl", "--dry-run", "--exit-code", "-q"]);
    assert_eq!(code.code, Some(3));
    let message = place.run(&["dedup", "in.jsonl"]).err;
    assert!(message.contains("--output <OUT>"), "{message}");
}

#[test]
fn documents_of_a_reference_stay_and_are_not_written() {
    let place = Place::new();
    let documents = collection(4);
    let (copies, originals): (Vec<_>, Vec<_>) =
        documents.into_iter().partition(|(id, _)| id.contains('-'));
    // The copies are shorter here, and the originals would go but for the reference.
    let short: Vec<_> =
        copies.iter().map(|(id, text)| (id.clone(), text.replace("and the end", ""))).collect();
    place.file("in.jsonl", jsonl(&originals)).file("test.jsonl", jsonl(&short));
    let args = ["dedup", "in.jsonl", "--reference", "test.jsonl", "-o", "out.jsonl"];
    place.run(&[&args[..], &["--removed", "gone.jsonl"]].concat()).ok();
    let kept: Vec<String> = place.read("out.jsonl").lines().map(id).collect();
    assert_eq!(kept, ["g1"]);
    let gone = place.read("gone.jsonl");
    assert_eq!(gone.lines().count(), 3);
    for line in gone.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["reason"], "reference");
        assert!(value["keeper"].as_str().unwrap().starts_with(value["id"].as_str().unwrap()));
    }
    let message =
        place.run(&["dedup", "in.jsonl", "--reference", "test.jsonl", "-o", "test.jsonl"]);
    assert!(message.fails(2).contains("is an input"));
}

#[test]
fn bad_records_are_left_out_and_listed_and_empty_documents_stay() {
    let place = Place::new();
    place.file(
        "in.jsonl",
        "{\"id\":1,\"text\":\"\"}\nbroken\n{\"id\":2,\"text\":\"...\"}\n\
         {\"id\":1,\"text\":\"x y\"}\n",
    );
    place.run(&["dedup", "in.jsonl", "-o", "out.jsonl"]).fails(1);
    assert!(!place.path("out.jsonl").exists());
    let args = ["dedup", "in.jsonl", "-o", "out.jsonl", "--skip-bad", "--skipped", "bad.csv"];
    let run = place.run(&args);
    assert!(run.err.contains("2 skipped"), "{}", run.err);
    run.ok();
    assert_eq!(place.read("out.jsonl"), "{\"id\":1,\"text\":\"\"}\n{\"id\":2,\"text\":\"...\"}\n");
    assert!(place.read("bad.csv").contains("in.jsonl,2,"));
    place.run(&["dedup", "in.jsonl", "-o", "all.jsonl", "--skip-bad", "--annotate"]).ok();
    assert_eq!(place.read("all.jsonl").matches("\"reason\":\"empty\"").count(), 2);
}

#[test]
fn files_of_a_folder_are_copied_or_listed() {
    let place = Place::new();
    for (id, text) in collection(3) {
        place.file(&format!("letters/{}/{id}.txt", &id[..2]), text);
    }
    place.run(&["dedup", "letters", "-o", "kept"]).ok();
    place.run(&["dedup", "letters", "-o", "kept.txt"]).ok();
    let list = place.read("kept.txt");
    assert_eq!(list.lines().count(), 3);
    for line in list.lines() {
        let name = line.strip_prefix("letters/").unwrap();
        assert_eq!(place.read(line), place.read(&format!("kept/{name}")));
    }
    let message = place.run(&["dedup", "letters", "-o", "kept"]).fails(2);
    assert!(message.contains("the folder is not empty"), "{message}");
    let message = place.run(&["dedup", "letters", "-o", "letters/kept"]).fails(2);
    assert!(message.contains("lies in the input letters"), "{message}");
}

#[test]
fn standard_input_and_compressed_files_are_read_once_more() {
    let place = place();
    place.run(&["dedup", "in.jsonl", "-o", "out.jsonl"]).ok();
    let input = place.read("in.jsonl");
    place.run_with_input(&["dedup", "-", "-o", "stdin.jsonl"], input.as_bytes()).ok();
    assert_eq!(place.read("stdin.jsonl"), place.read("out.jsonl"));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, input.as_bytes()).unwrap();
    place.file("in.jsonl.gz", gzip.finish().unwrap());
    place.run(&["dedup", "in.jsonl.gz", "-o", "gz.jsonl.zst", "--memory", "64MiB"]).ok();
    let zst = std::fs::read(place.path("gz.jsonl.zst")).unwrap();
    assert_eq!(zstd::decode_all(&zst[..]).unwrap(), place.read("out.jsonl").as_bytes());
}
