//! Compares kept documents and annotated files with their inputs.

#![allow(clippy::unwrap_used, reason = "tests may stop at anything unexpected")]

use lookalike::core::params::Measure;
use lookalike::dedup::{
    Annotate, AnnotationSubject, DEFAULT_FIELD, DedupError, Destination, SourceRecord, Survivors,
};
use lookalike::outcome::Outcome;
use lookalike::read::{
    Collection, Document, DocumentSink, Format, Raw, ReadBuffers, ReadError, ReadOptions,
    SkippedItem,
};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Replayed documents: id, text and record.
#[derive(Default)]
struct Replayed {
    source: u32,
    documents: Vec<(u32, String, String, Piece)>,
}

#[derive(Clone)]
enum Piece {
    Bytes(Vec<u8>),
    File(PathBuf),
    Row(u64),
}

impl DocumentSink for Replayed {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        let piece = match document.raw {
            Raw::Record(bytes) => Piece::Bytes(bytes.to_vec()),
            Raw::File(path) => Piece::File(path.to_owned()),
            Raw::Part(path) => panic!("a part of {}", path.display()),
            Raw::Row(row) => Piece::Row(row),
        };
        self.documents.push((self.source, document.id.to_owned(), document.text.to_owned(), piece));
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), ReadError> {
        panic!("{skipped}");
    }
}

struct Nothing;

impl DocumentSink for Nothing {
    type Error = ReadError;

    fn document(&mut self, _: &Document<'_>) -> Result<(), ReadError> {
        Ok(())
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), ReadError> {
        Ok(())
    }
}

/// Reads inputs, then replays them.
fn replay(inputs: &[PathBuf], options: &ReadOptions) -> (Collection, Replayed) {
    let collection = Collection::open(inputs, options).unwrap();
    let mut blocks = Vec::new();
    let mut scratch = ReadBuffers::default();
    while let Some(block) = collection.next_block().unwrap() {
        block.read(&mut scratch, &mut Nothing).unwrap();
        blocks.push(block.retain(None, &mut ReadBuffers::default()).unwrap());
    }
    blocks.sort_by_key(lookalike::read::RetainedBlock::number);
    let mut replayed = Replayed::default();
    for block in blocks {
        replayed.source = block.number().source;
        block.replay(&mut scratch, &mut replayed).unwrap();
    }
    (collection, replayed)
}

const REMOVED: Outcome<'static> =
    Outcome::Duplicate { group: 7, keeper: "a \"b\",c", similarity: "0.912345", reason: "longest" };

/// Writes the documents that `keep` selects by position, or all documents with annotations. Returns
/// the ids and texts that the output must contain.
fn dedup(
    inputs: &[PathBuf],
    out: &Path,
    options: &ReadOptions,
    annotate: Option<&str>,
    keep: &dyn Fn(usize) -> bool,
) -> Result<Vec<(String, String)>, DedupError> {
    let (collection, replayed) = replay(inputs, options);
    let subject = AnnotationSubject::Groups(Measure::Jaccard);
    let annotate = annotate.map(|field| Annotate { field: field.to_owned(), subject });
    let destination = Destination::new(out, inputs, &[], &collection, annotate.as_ref())?;
    let all = annotate.is_some();
    let mut survivors = Survivors::create(destination, annotate)?;
    let mut expected = Vec::new();
    let mut documents = replayed.documents.into_iter().enumerate().peekable();
    for source in 0..collection.sources() {
        survivors.source(source as usize, collection.header(source))?;
        while let Some((n, (_, id, text, piece))) = documents.next_if(|(_, d)| d.0 == source) {
            let outcome = if keep(n) { Outcome::Unique } else { REMOVED };
            let record = match &piece {
                Piece::Bytes(bytes) => SourceRecord::Bytes(bytes),
                Piece::File(path) => SourceRecord::File(path),
                Piece::Row(row) => SourceRecord::Row(*row),
            };
            survivors.record(&id, record, &outcome)?;
            if all || keep(n) {
                expected.push((id, text));
            }
        }
    }
    survivors.finish()?;
    Ok(expected)
}

fn read(path: &Path, options: &ReadOptions) -> Vec<(String, String)> {
    let (_, replayed) = replay(&[path.to_owned()], options);
    replayed.documents.into_iter().map(|(_, id, text, _)| (id, text)).collect()
}

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Returns the names in the folder, including hidden files.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Generates a JSON object on a line, with odd white space, escapes and unknown fields.
fn json_line() -> impl Strategy<Value = (String, String)> {
    let odd = "[ -~äß☃\u{1F600}]{0,12}";
    let blank = || prop::sample::select(vec!["", " ", "\t", "  "]);
    let extra = prop::sample::select(vec![
        "",
        ",\"n\":{\"deep\":[1,2.50,{\"lookalikes\":null}]}",
        ",\"\\u0061\":1e5",
        ", \"url\" : \"a\\/b\" ",
        ",\"lookalik\\u00e9\":[[[]]]",
        ",\"x\":1,\"x\":2",
    ]);
    (odd, odd, blank(), blank(), blank(), extra, any::<bool>()).prop_map(
        |(id, text, a, b, c, extra, escape)| {
            let mut text = serde_json::Value::from(text).to_string();
            if escape {
                text = text.replace('a', "\\u0061");
            }
            let id = serde_json::Value::from(id).to_string();
            (id.clone(), format!("{a}{{{b}\"id\":ID{id}{b},\"text\" :{c}{text}{extra}{a}}}{c}"))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn jsonl_survivors_equal_kept_lines(
        lines in prop::collection::vec(json_line(), 1..12),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r\n", "\n\n"]), 12),
        mask in any::<u16>(),
        mark in any::<bool>(),
        open_end in any::<bool>(),
        name in prop::sample::select(vec!["out.jsonl", "out.jsonl.gz", "out.jsonl.zst"]),
    ) {
        let place = Place::new();
        let lines: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(n, (id, line))| line.replace(&format!("ID{id}"), &format!("\"{n}:{}", &id[1..])))
            .collect();
        let mut content = if mark { "\u{FEFF}".to_owned() } else { String::new() };
        let mut expected = String::new();
        for (n, line) in lines.iter().enumerate() {
            let last = open_end && n + 1 == lines.len();
            let end = if last { "" } else { ends[n] };
            content.push_str(line);
            content.push_str(end);
            if mask >> n & 1 == 1 {
                expected.push_str(line);
                expected.push_str(if end == "\r\n" { end } else { "\n" });
            }
        }
        let input = place.file("in.jsonl", content);
        let out = place.path(name);
        let inputs = [input];
        let options = ReadOptions::default();
        let keep = |n: usize| mask >> n & 1 == 1;
        let kept = dedup(&inputs, &out, &options, None, &keep).unwrap();
        if name == "out.jsonl" {
            prop_assert_eq!(place.text(name), expected);
        }
        prop_assert_eq!(read(&out, &options), kept);

        let all = dedup(&inputs, &place.path("all.jsonl"), &options, Some(DEFAULT_FIELD), &keep);
        prop_assert_eq!(read(&place.path("all.jsonl"), &options), all.unwrap());
        let annotated = place.text("all.jsonl");
        for (n, (after, before)) in annotated.lines().zip(&lines).enumerate() {
            let value: serde_json::Value = serde_json::from_str(after).unwrap();
            let note = |name: &str| &value[format!("{DEFAULT_FIELD}_{name}")];
            prop_assert_eq!(note("kept"), keep(n));
            let keeper = if keep(n) { serde_json::Value::Null } else { "a \"b\",c".into() };
            prop_assert_eq!(note("keeper"), &keeper);
            // The line is unchanged except for the inserted fields.
            let brace = before.rfind('}').unwrap();
            prop_assert!(after.starts_with(&before[..brace]) && after.ends_with(&before[brace..]));
        }
        prop_assert_eq!(place.names().len(), 3);
    }

    #[test]
    fn csv_survivors_equal_kept_records(
        rows in prop::collection::vec(("[ -~ä\n\r]{0,10}", "[a-z \n]{0,9}", any::<bool>()), 1..10),
        mask in any::<u16>(),
        mark in any::<bool>(),
        open_end in any::<bool>(),
        crlf in any::<bool>(),
        tabs in any::<bool>(),
    ) {
        let place = Place::new();
        let (delimiter, kind) = if tabs { ("\t", "tsv") } else { (",", "csv") };
        let end = if crlf { "\r\n" } else { "\n" };
        let value = |text: &str, quote: bool| {
            if quote || text.contains(['"', '\n', '\r', ',', '\t']) {
                format!("\"{}\"", text.replace('"', "\"\""))
            } else {
                text.to_owned()
            }
        };
        let header = ["\"te\"\"xt\"", "x y", "id"].join(delimiter);
        let mut content = format!("{}{header}{end}", if mark { "\u{FEFF}" } else { "" });
        let mut expected = content.clone();
        for (n, (text, other, quote)) in rows.iter().enumerate() {
            let last = open_end && n + 1 == rows.len();
            let line =
                [value(text, *quote), value(other, false), format!("i{n}")].join(delimiter);
            content.push_str(&line);
            content.push_str(if last { "" } else { end });
            if mask >> n & 1 == 1 {
                expected.push_str(&line);
                expected.push_str(if last { "\n" } else { end });
            }
        }
        let inputs = [place.file(&format!("in.{kind}"), content)];
        let options = ReadOptions { text_field: "te\"xt".to_owned(), ..ReadOptions::default() };
        let keep = |n: usize| mask >> n & 1 == 1;
        let out = place.path(&format!("out.{kind}"));
        let kept = dedup(&inputs, &out, &options, None, &keep).unwrap();
        prop_assert_eq!(place.text(&format!("out.{kind}")), expected);
        prop_assert_eq!(read(&out, &options), kept);

        let all = place.path(&format!("all.{kind}"));
        let documents = dedup(&inputs, &all, &options, Some(DEFAULT_FIELD), &keep).unwrap();
        prop_assert_eq!(read(&all, &options), documents);
        let columns = ReadOptions { text_field: "lookalike_keeper".to_owned(), ..options };
        for (n, (_, keeper)) in read(&all, &columns).iter().enumerate() {
            prop_assert_eq!(keeper, if keep(n) { "" } else { "a \"b\",c" });
        }
    }
}

#[test]
fn existing_annotation_fields_are_errors() {
    let place = Place::new();
    let line = "{\"id\":1,\"text\":\"a\",\"look\\u0061like_keeper\":true}\n";
    let inputs = [place.file("in.jsonl", line)];
    let (out, options) = (place.path("out.jsonl"), ReadOptions::default());
    let error = dedup(&inputs, &out, &options, Some("lookalike"), &|_| true).unwrap_err();
    let message = error.to_string();
    let expected = "document \"1\" already has the field \"lookalike_keeper\"";
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("annotate_field"), "{message}");
    assert_eq!(place.names(), ["in.jsonl"]);
    dedup(&inputs, &out, &options, Some("other"), &|_| true).unwrap();
    let inner = "{\"id\":1,\"text\":\"a\",\"lookalike\":2,\"x\":{\"lookalike_kept\":true}}\n";
    let inputs = [place.file("inner.jsonl", inner)];
    dedup(&inputs, &out, &options, Some("lookalike"), &|_| true).unwrap();
    let table = [place.file("t.csv", "id,text,lookalike_kept\n1,a,b\n")];
    let error = dedup(&table, &place.path("t2.csv"), &options, Some("lookalike"), &|_| true);
    assert!(error.unwrap_err().to_string().contains("already has a column \"lookalike_kept\""));
}

#[test]
fn survivors_go_to_file_or_folder() {
    let place = Place::new();
    let a = place.file("x/a.csv", "id,text\n1,one\n2,two\n");
    let b = place.file("y/a.csv", "id,text\n3,three");
    let c = place.file("c.csv", "id,text,more\n4,four,5\n");
    let options = ReadOptions::default();
    let keep = |n: usize| n != 1;
    dedup(&[a.clone(), b.clone()], &place.path("one.csv"), &options, None, &keep).unwrap();
    assert_eq!(place.text("one.csv"), "id,text\n1,one\n3,three\n");
    let error = dedup(&[a.clone(), c.clone()], &place.path("no.csv"), &options, None, &keep);
    let message = error.unwrap_err().to_string();
    assert!(message.contains("a.csv has the header \"id,text\""), "{message}");
    assert!(message.contains("c.csv has \"id,text,more\""), "{message}");
    assert!(message.contains("a folder with a file for each"), "{message}");
    dedup(&[a, b, c.clone()], &place.path("out/"), &options, None, &keep).unwrap();
    assert_eq!(place.text("out/x/a.csv"), "id,text\n1,one\n");
    assert_eq!(place.text("out/y/a.csv"), "id,text\n3,three\n");
    assert_eq!(place.text("out/c.csv"), "id,text,more\n4,four,5\n");
    assert_eq!(place.names(), ["c.csv", "one.csv", "out", "x", "y"]);
    let jsonl = place.file("d.jsonl", "{\"id\":9,\"text\":\"\"}\n");
    let error = dedup(&[c, jsonl], &place.path("no.csv"), &options, None, &keep).unwrap_err();
    assert!(error.to_string().contains("is csv"), "{error}");
}

#[test]
fn text_files_are_listed_or_copied() {
    let place = Place::new();
    place.file("in/a/1.txt", "one");
    place.file("in/a/2.txt", "two");
    let late = place.file("in/b.md", "three");
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&late).unwrap().set_modified(time).unwrap();
    let inputs = [place.path("in")];
    let options = ReadOptions::default();
    let keep = |n: usize| n != 1;
    dedup(&inputs, &place.path("kept"), &options, None, &keep).unwrap();
    assert_eq!(place.text("kept/a/1.txt"), "one");
    assert!(!place.path("kept/a/2.txt").exists());
    assert_eq!(fs::metadata(place.path("kept/b.md")).unwrap().modified().unwrap(), time);
    dedup(&inputs, &place.path("kept.txt"), &options, None, &keep).unwrap();
    let listed: Vec<PathBuf> = place.text("kept.txt").lines().map(PathBuf::from).collect();
    assert_eq!(listed, [place.path("in/a/1.txt"), place.path("in/b.md")]);
    dedup(&inputs, &place.path("all.csv"), &options, Some("lookalike"), &keep).unwrap();
    let table = place.text("all.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("id,path,lookalike_kept,lookalike_group"), "{table}");
    assert!(lines[2].starts_with("a/2.txt,"), "{table}");
    assert!(lines[2].ends_with(",false,7,\"a \"\"b\"\",c\",0.912345,longest,,,"), "{table}");
    dedup(&inputs, &place.path("kept.jsonl"), &options, Some("note"), &keep).unwrap();
    let line = place.text("kept.jsonl").lines().nth(1).unwrap().to_owned();
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["note_jaccard"], 0.912_345);
    // A folder with content, an input, and a folder within an input are refused.
    for (out, message) in
        [("kept", "not empty"), ("in/new", "lies in the input"), ("in", "is an input")]
    {
        let error = dedup(&inputs, &place.path(out), &options, None, &keep).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let names = ["all.csv", "in", "kept", "kept.jsonl", "kept.txt"];
    assert_eq!(place.names(), names);
}

#[test]
fn impossible_output_names_suggest_alternatives() {
    let place = Place::new();
    let lines = place.file("a.train", "1 one\n2 two\n");
    let jsonl = place.file("a.jsonl", "{\"id\":1,\"text\":\"\"}\n");
    let text = place.file("a.md", "text");
    let options = ReadOptions::default();
    let refused = |inputs: &[&PathBuf], out: &str, annotate: Option<&str>| {
        let inputs: Vec<PathBuf> = inputs.iter().map(|path| (*path).clone()).collect();
        let refused = dedup(&inputs, &place.path(out), &options, annotate, &|_| true);
        assert_eq!(place.names(), ["a.jsonl", "a.md", "a.train"]);
        refused.unwrap_err().to_string()
    };
    assert!(refused(&[&lines], "b.train", Some("x")).contains("removed FILE.csv"));
    assert!(refused(&[&jsonl], "b.csv", None).contains("is jsonl; name the output accordingly"));
    assert!(refused(&[&jsonl, &text], "b.jsonl", None).contains("write a folder"));
    assert!(refused(&[&text], "b.parquet", None).contains("end the name in .txt, .csv or .jsonl"));
    assert!(refused(&[&text], "b.txt", Some("x")).contains("a list that ends in .csv or .jsonl"));
    assert!(refused(&[&text], "b/", Some("x")).contains("text files have no place"));
    assert_eq!(Format::Lines.to_string(), "lines");
    let kept = dedup(&[lines], &place.path("b.train"), &options, None, &|n| n == 1).unwrap();
    assert_eq!((kept.len(), place.text("b.train")), (1, "2 two\n".to_owned()));
}
