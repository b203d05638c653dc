//! The content of a file can decide its format against its name. Also tests which files are read,
//! and how often.

use super::{All, Collection, ReadOptions, drain, read, read_named, read_paths, read_skipping};
use crate::{Format, SkipReason, parse_delimiter};
use lookalike_test_support::gzip;
use std::fs;
use std::path::{Path, PathBuf};

const LINES: &[u8] = b"{\"id\":1,\"text\":\"one\"}\n{\"id\":2,\"text\":\"two\"}\n";
const ARRAY: &str = "[\n  {\"id\": \"a\", \"text\": \"the [first] {\\\"one\\\"}\"},\n  \
                     {\"text\": \"two\",\n   \"id\": 2, \"more\": [{\"x\": [1]}]}\n]\n";

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn open(inputs: &[&Path]) -> Collection {
    let inputs: Vec<PathBuf> = inputs.iter().map(|&path| path.to_owned()).collect();
    Collection::open(&inputs, &ReadOptions::default()).unwrap()
}

fn read_folder(files: &[(&str, &[u8])]) -> All {
    read_paths(&[folder(files).path()], &ReadOptions::default(), 1 << 20).unwrap()
}

fn reached_twice(collection: &Collection) -> usize {
    let reasons = collection.listed().iter().map(|skipped| &skipped.reason);
    reasons.filter(|reason| **reason == SkipReason::ReachedTwice).count()
}

#[test]
fn files_reached_twice_are_read_once() {
    let place = folder(&[("a.txt", b"a"), ("b.txt", b"b"), ("c.jsonl", LINES)]);
    let same_path = place.path().join(".").join("");
    let collection = open(&[place.path(), &same_path, &place.path().join("a.txt")]);
    assert_eq!(reached_twice(&collection), 4);
    assert_eq!(drain(&collection).unwrap().texts(), ["a", "b", "one", "two"]);
}

#[test]
fn reference_files_are_not_inputs() {
    let place = folder(&[("a.txt", b"a"), ("kept/b.txt", b"b"), ("kept/c.jsonl", LINES)]);
    let inputs = [place.path().to_owned()];
    let reference = [place.path().join("kept/.")];
    let options = ReadOptions::default();
    let opened = Collection::open_with_reference(&inputs, &reference, &options).unwrap();
    let reasons: Vec<_> = opened.listed().iter().map(|skipped| &skipped.reason).collect();
    assert_eq!(reasons, [&SkipReason::IsReference; 2]);
    assert_eq!(drain(&opened).unwrap().texts(), ["a", "b", "one", "two"]);
}

#[cfg(unix)]
#[test]
fn a_followed_link_is_its_file() {
    let place = folder(&[("a.txt", b"a")]);
    let link = place.path().join("b.txt");
    std::os::unix::fs::symlink("a.txt", &link).unwrap();
    let options = ReadOptions { follow_links: true, ..ReadOptions::default() };
    let followed = Collection::open(&[place.path().to_owned()], &options).unwrap();
    assert_eq!(drain(&followed).unwrap().ids(), ["a.txt"]);
    let named = open(&[&link, &place.path().join("a.txt")]);
    assert_eq!((reached_twice(&named), drain(&named).unwrap().documents.len()), (1, 1));
}

#[test]
fn hard_links_are_two_documents() {
    let place = folder(&[("a.txt", b"a")]);
    fs::hard_link(place.path().join("a.txt"), place.path().join("b.txt")).unwrap();
    let collection = open(&[place.path(), &place.path().join("b.txt")]);
    assert_eq!((reached_twice(&collection), drain(&collection).unwrap().documents.len()), (1, 2));
}

#[test]
fn a_json_array_is_records() {
    let compact = ARRAY.replace('\n', "");
    for (name, bytes) in [
        ("a.json", ARRAY.as_bytes().to_vec()),
        ("a.jsonl", compact.clone().into_bytes()),
        ("a.json.gz", gzip(ARRAY.as_bytes())),
        ("a.json", [b"\xEF\xBB\xBF", compact.as_bytes()].concat()),
    ] {
        for block_bytes in [1, 7, 50, 1 << 20] {
            let all = read_named(name, &bytes, &ReadOptions::default(), block_bytes).unwrap();
            assert_eq!(all.ids(), ["a", "2"], "{name} {block_bytes}");
            assert_eq!(all.texts(), ["the [first] {\"one\"}", "two"]);
            assert!(all.places[1].ends_with(":2"), "{:?}", all.places);
            assert!(all.skipped.is_empty());
        }
    }
    let found = read_folder(&[("a.json", ARRAY.as_bytes()), ("b.json.gz", &gzip(LINES))]);
    assert_eq!(found.ids(), ["a", "2", "1", "2"]);
}

#[test]
fn broken_elements_are_bad_records() {
    let broken = b"[{\"id\":1,\"text\":\"a\"},{\"id\":2,\"text\":},7,{\"id\":3,\"text\":\"c\"}]";
    let all = read_skipping("a.json", broken);
    assert_eq!(all.ids(), ["1", "3"]);
    let lines: Vec<_> = all.skipped.iter().map(|skipped| skipped.line).collect();
    assert_eq!(lines, [Some(2), Some(3)], "{:?}", all.reasons());
    assert!(read("a.json", broken).is_err());
}

#[test]
fn an_array_cut_off_is_listed() {
    let whole = b"[{\"id\":1,\"text\":\"a\"},{\"id\":2,\"text\":\"b\"}]";
    // The first cut is after the first element, the last cut before the closing bracket.
    for length in 20..whole.len() {
        for block_bytes in [1, 20, 1 << 20] {
            let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
            let all = read_named("a.json", &whole[..length], &options, block_bytes).unwrap();
            assert_eq!(all.skipped.len(), 1, "{length} {block_bytes} {:?}", all.reasons());
        }
    }
}

#[test]
fn json_without_the_fields_is_text() {
    let place = folder(&[
        ("a.json", LINES),
        ("list.json", b"[{\"name\": 1}, {\"name\": 2}]"),
        ("numbers.json", b"[1, 2, 3]"),
        ("settings.json", b"{\"name\": \"x\"}\n"),
        ("wide.json", b"{\"name\": \"x\",\n \"text\": \"y\"}\n"),
    ]);
    let collection = open(&[place.path()]);
    let as_text: Vec<_> =
        collection.read_as_text().iter().map(|skipped| skipped.id.as_deref()).collect();
    assert_eq!(as_text, [Some("list.json")]);
    let all = drain(&collection).unwrap();
    assert_eq!(all.ids(), ["list.json", "numbers.json", "settings.json", "wide.json", "1", "2"]);
}

#[test]
fn contents_decide_the_file_kind() {
    let files: &[(&str, &[u8])] = &[
        ("a.jsonl", &gzip(LINES)),
        ("b.jsonl.gz", LINES),
        ("c.csv", &gzip(b"id,text\n3,three\n")),
        ("d.jsonl", b"\x89PNG\r\n\x1a\n\0\0"),
    ];
    let all = read_folder(files);
    assert_eq!(all.texts(), ["one", "two", "one", "two", "three"]);
    assert!(all.reasons()[0].contains("a PNG image"), "{:?}", all.reasons());
    assert_eq!(read("a.jsonl", gzip(LINES)).unwrap().texts(), ["one", "two"]);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_need_no_extension() {
    let table = super::parquet::file_of(&["a", "b"]);
    assert_eq!(read_folder(&[("a.jsonl", &table)]).texts(), ["a", "b"]);
}

#[test]
fn bad_records_in_folders_are_listed() {
    let all = read_folder(&[
        ("a.jsonl", b"{\"id\":1,\"text\":\"one\"}\nno JSON\n{\"id\":3,\"text\":\"three\"}\n"),
        ("b.csv", b"id,text\n4,four\n5\n"),
        ("c.jsonl", b"\xFF\xFE\xFD\n"),
    ]);
    assert_eq!(all.texts(), ["one", "three", "four"]);
    let faults = all.skipped.iter().filter(|skipped| skipped.reason.is_fault());
    assert_eq!(faults.count(), 3, "{:?}", all.reasons());
}

#[test]
fn delimiters_are_found() {
    for delimiter in [',', ';', '\t', '|'] {
        let table = "id,text\n1,\"one, two; three\"\n2,four\n".replacen(',', "\u{1}", 2);
        let table = table.replacen("2,", "2\u{1}", 1).replace('\u{1}', &delimiter.to_string());
        let all = read("a.csv", &table).unwrap();
        assert_eq!(all.texts(), ["one, two; three", "four"], "{delimiter:?}");
    }
    let message = read("a.csv", "key;body\n1;a, b\n").map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("which has key, body"), "{message}");
}

#[test]
fn a_delimiter_can_be_given() {
    let options = ReadOptions { delimiter: Some(b':'), ..ReadOptions::default() };
    assert_eq!(read_named("a.csv", b"id:text\n1:a,b\n", &options, 4).unwrap().texts(), ["a,b"]);
    assert_eq!(read_named("a.tsv", b"id:text\n1:a\tb\n", &options, 4).unwrap().texts(), ["a\tb"]);
    assert_eq!(parse_delimiter("tab").unwrap(), b'\t');
    assert_eq!(parse_delimiter("\\t").unwrap(), b'\t');
    for wrong in ["", ";;", "\"", "\n", "é"] {
        assert!(parse_delimiter(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn system_files_are_skipped() {
    let names = ["~$report.docx", ".DS_Store", "._a.txt", "thumbs.db", "Desktop.ini", ".~lock.a#"];
    let mut files: Vec<(&str, &[u8])> = names.map(|name| (name, &b"x"[..])).to_vec();
    files.push(("a.txt", b"text"));
    let place = folder(&files);
    for hidden in [false, true] {
        let options = ReadOptions { hidden, ..ReadOptions::default() };
        let collection = Collection::open(&[place.path().to_owned()], &options).unwrap();
        let listed = collection.listed().iter();
        let system = listed.filter(|skipped| skipped.reason == SkipReason::SystemFile);
        assert_eq!(system.count(), names.len());
        assert_eq!(drain(&collection).unwrap().ids(), ["a.txt"]);
    }
    assert_eq!(read("desktop.ini", b"named").unwrap().texts(), ["named"]);
}

#[test]
fn json_without_ids_has_line_numbers() {
    let lines = b"{\"text\":\"one\"}\n\n{\"text\":\"two\"}\n";
    let place = folder(&[("a.jsonl", lines), ("b.json", b"[{\"text\":\"x\"},{\"text\":\"y\"}]")]);
    for (name, ids) in
        [("a.jsonl", ["a.jsonl:1", "a.jsonl:3"]), ("b.json", ["b.json:1", "b.json:2"])]
    {
        let collection = open(&[&place.path().join(name)]);
        let all = drain(&collection).unwrap();
        for (found, id) in all.ids().iter().zip(ids) {
            assert!(found.ends_with(id), "{found}");
        }
        assert_eq!((all.documents.len(), collection.line_ids().len()), (2, 1));
    }
    assert_eq!(drain(&open(&[place.path()])).unwrap().documents.len(), 4);
}

#[test]
fn one_id_makes_ids_required() {
    let mixed = b"{\"text\":\"one\"}\n{\"id\":\"x\",\"text\":\"two\"}\n";
    assert!(read("a.jsonl", mixed).is_err());
    assert_eq!(read_skipping("a.jsonl", mixed).ids(), ["x"]);
    let named = ReadOptions { id_field: "key".to_owned(), ..ReadOptions::default() };
    assert!(read_named("a.jsonl", b"{\"text\":\"one\"}\n", &named, 99).is_err());
}

#[test]
fn a_format_can_be_json() {
    let options = ReadOptions { format: Some(Format::Json), ..ReadOptions::default() };
    let all = read_named("a.dat", ARRAY.as_bytes(), &options, 9).unwrap();
    assert_eq!(all.ids(), ["a", "2"]);
}
