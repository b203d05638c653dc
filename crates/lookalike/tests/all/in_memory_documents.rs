//! Documents in the caller's memory give the same findings as documents in a file. Also tests
//! interrupted work.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::progress::{stopped_in, until};
use lookalike::audit::{AuditOptions, true_neighbours};
use lookalike::core::hash::SplitMix64;
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::find::{self, DocumentNumber, FindError, FindOptions, Findings, Memory, PairList};
use lookalike::progress::{NoProgress, Stage};
use lookalike::read::{
    Collection, DocumentRowError, DocumentRows, Field, InMemoryDocuments, ReadError, ReadOptions,
    Side, SkipReason, SpooledTexts,
};
use lookalike::tune;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Rows of id, text and date. A row without a text has `None`.
struct Rows(Vec<(String, Option<String>, String)>);

impl DocumentRows for Rows {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn id<'a>(&'a self, row: usize, _: &'a mut String) -> Result<&'a str, SkipReason> {
        Ok(&self.0[row].0)
    }

    fn text<'a>(&'a self, row: usize, _: &'a mut String) -> Result<&'a str, DocumentRowError> {
        let null = || SkipReason::Null { field: Field::Text, name: "text".to_owned() };
        self.0[row].1.as_deref().ok_or_else(|| null().into())
    }

    fn field(&self, row: usize, _: usize, buffer: &mut String) -> bool {
        buffer.push_str(&self.0[row].2);
        !self.0[row].2.is_empty()
    }
}

/// Rows whose texts are in a file. Reading one of the texts fails.
struct SpooledRows {
    rows: Rows,
    texts: SpooledTexts,
    unreadable: Option<usize>,
}

impl SpooledRows {
    fn new(rows: Rows, unreadable: Option<usize>) -> Self {
        let mut texts = SpooledTexts::in_folder(&std::env::temp_dir()).unwrap();
        texts.append(rows.0.iter().map(|row| row.1.as_deref().map(str::as_bytes))).unwrap();
        Self { rows, texts, unreadable }
    }
}

impl DocumentRows for SpooledRows {
    fn len(&self) -> usize {
        self.texts.len()
    }

    fn id<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a str, SkipReason> {
        self.rows.id(row, buffer)
    }

    fn text<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a str, DocumentRowError> {
        if self.unreadable == Some(row) {
            let error = io::Error::other("the disk is gone");
            return Err(ReadError::Spool { path: "texts".into(), error }.into());
        }
        let null = || SkipReason::Null { field: Field::Text, name: "text".to_owned() };
        self.texts.text(row, buffer)?.ok_or_else(|| null().into())
    }

    fn bytes(&self, row: usize) -> usize {
        self.texts.bytes(row)
    }

    fn buffered_bytes(&self, row: usize) -> usize {
        self.texts.bytes(row)
    }

    fn held_bytes(&self) -> u64 {
        self.texts.held_bytes()
    }

    fn field(&self, row: usize, field: usize, buffer: &mut String) -> bool {
        self.rows.field(row, field, buffer)
    }
}

/// Returns rows in threes: a new text, and two that each add a word to the row before.
fn rows(count: usize) -> Rows {
    let mut random = SplitMix64::new(7);
    let mut text = String::new();
    let rows = (0..count).map(|i| {
        if i % 3 == 0 {
            let words: Vec<_> = (0..60).map(|_| format!("w{}", random.below(5_000))).collect();
            text = words.join(" ");
        } else {
            text = format!("{text} and{i}");
        }
        (format!("d{i:05}"), Some(text.clone()), format!("2026-11-{:02}", 1 + i % 28))
    });
    Rows(rows.collect())
}

fn options() -> FindOptions {
    let params = Params::new(&ParamsBuilder::default()).unwrap();
    let keep = lookalike::core::keep::KeepPolicy::new(vec!["field:date".parse().unwrap()]);
    FindOptions {
        pairs: PairList::Exact,
        keep,
        threads: NonZeroUsize::new(3).unwrap(),
        ..FindOptions::new(params)
    }
}

fn reading(options: &FindOptions) -> ReadOptions {
    ReadOptions { fields: options.fields(), ..ReadOptions::default() }
}

fn collection_of(rows: impl DocumentRows + 'static, reading: &ReadOptions) -> Collection {
    let documents = InMemoryDocuments { name: "documents".to_owned(), rows: Arc::new(rows) };
    Collection::of_sides(Side::InMemory(&[documents]), Side::InMemory(&[]), reading).unwrap()
}

/// Returns groups and pairs, without the numbers of documents.
fn reported(findings: &Findings) -> (Vec<String>, Vec<String>) {
    let groups = findings.groups.iter().map(|group| format!("{:?}", group.unwrap())).collect();
    let pairs = findings.pairs.as_ref().unwrap();
    (groups, pairs.iter().map(|pair| format!("{:?}", pair.unwrap())).collect())
}

#[test]
fn documents_are_found_by_their_ids() {
    let options = options();
    let reading = ReadOptions { skip_bad: true, ..reading(&options) };
    let mut documents = rows(9);
    // The later of two documents with the same id is skipped.
    documents.0[5].0 = documents.0[2].0.clone();
    let sides = [documents, rows(12)]
        .map(|rows| InMemoryDocuments { name: "documents".to_owned(), rows: Arc::new(rows) });
    let [documents, reference] = sides.each_ref().map(std::slice::from_ref);
    let collection =
        Collection::of_sides(Side::InMemory(documents), Side::InMemory(reference), &reading);
    let options = FindOptions { skip_repeated_ids: true, pairs: PairList::Omitted, ..options };
    let found = find::in_collection(&collection.unwrap(), &options, &NoProgress).unwrap();
    let number = |id: &str| found.document_with(|other| other == id).unwrap();
    assert_eq!(
        (number("d00002"), number("d00008")),
        (Some(DocumentNumber(2)), Some(DocumentNumber(8)))
    );
    // Only the reference has these ids.
    for id in ["d00005", "d00011"] {
        assert_eq!(found.id(number(id).unwrap()).unwrap(), id);
    }
    assert_eq!(number("d00012"), None);
}

#[test]
fn in_memory_documents_match_file_documents() {
    let (options, count) = (options(), 12_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.jsonl");
    let line = |(id, text, date): &(String, Option<String>, String)| {
        let text = text.as_deref().unwrap();
        format!("{{\"id\":\"{id}\",\"text\":\"{text}\",\"date\":\"{date}\"}}\n")
    };
    std::fs::write(&path, rows(count).0.iter().map(line).collect::<String>()).unwrap();
    let reading = reading(&options);
    let of_file = Collection::open(&[path], &reading).unwrap();
    let of_file = find::in_collection(&of_file, &options, &NoProgress).unwrap();
    let collection = collection_of(rows(count), &reading);
    assert!(collection.stream().is_some(), "another run cannot read them");
    let found = find::in_collection(&collection, &options, &NoProgress).unwrap();
    assert_eq!(reported(&of_file), reported(&found));
    assert_eq!(of_file.counts, found.counts);
    assert_eq!(of_file.inputs, found.inputs);
    assert_eq!(found.counts.groups, 4_000);
    let group = found.groups.iter().next().unwrap().unwrap();
    let text = found.text(group.keeper.document).unwrap();
    assert_eq!(Some(text), rows(count).0[group.keeper.document.0 as usize].1);
    let mut replayed = 0;
    let mut count_rows = |document: DocumentNumber, read: &lookalike::read::Document<'_>| {
        assert_eq!(read.id, format!("d{:05}", document.0));
        replayed += 1;
        Ok::<_, FindError>(())
    };
    found.replay(&mut count_rows).unwrap();
    assert_eq!(replayed, count);
}

/// Sets a memory limit. It includes the positions of the texts.
fn limited(options: &FindOptions, limit: u64) -> FindOptions {
    let memory =
        Memory { limit: Some(limit), temp_dir: Some(std::env::temp_dir()), ..Memory::default() };
    FindOptions { memory, ..options.clone() }
}

#[test]
fn spooled_texts_match_in_memory_texts() {
    let (options, count) = (options(), 12_000);
    let reading = ReadOptions { skip_bad: true, ..reading(&options) };
    let documents = || {
        let mut rows = rows(count);
        rows.0[7].1 = None;
        rows
    };
    let in_memory =
        find::in_collection(&collection_of(documents(), &reading), &options, &NoProgress).unwrap();
    let collection = collection_of(SpooledRows::new(documents(), None), &reading);
    assert!(collection.held_bytes() >= 8 * count as u64);
    let limited = limited(&options, 200 << 20);
    let found = find::in_collection(&collection, &limited, &NoProgress).unwrap();
    assert_eq!(reported(&in_memory), reported(&found));
    assert_eq!(in_memory.counts, found.counts);
    assert_eq!(found.counts.skipped, 1);
    let document = DocumentNumber(9);
    assert_eq!(found.text(document).unwrap(), in_memory.text(document).unwrap());
}

#[test]
fn minimum_memory_includes_held_documents() {
    let (options, count) = (options(), 3_000);
    let reading = reading(&options);
    let refused = |collection: &Collection, limit: u64| match find::in_collection(
        collection,
        &limited(&options, limit),
        &NoProgress,
    )
    .err()
    {
        Some(FindError::MemoryTooSmall { got, least }) if got == limit => least,
        other => panic!("expected an error of the memory, got {other:?}"),
    };
    // The limit is checked before the rows are read.
    let least = refused(&collection_of(rows(count), &reading), 1);
    let collection = collection_of(SpooledRows::new(rows(count), None), &reading);
    let held_bytes = collection.held_bytes();
    assert!(held_bytes >= 8 * count as u64);
    assert_eq!(refused(&collection, least), least + held_bytes);
}

#[test]
fn unreadable_spooled_text_is_not_skipped() {
    let options = FindOptions { threads: NonZeroUsize::MIN, ..options() };
    let reading = ReadOptions { skip_bad: true, ..reading(&options) };
    let collection = collection_of(SpooledRows::new(rows(30), Some(17)), &reading);
    let error = find::in_collection(&collection, &options, &NoProgress).err();
    assert!(matches!(error, Some(FindError::Read(ReadError::Spool { .. }))), "{error:?}");
}

#[test]
fn textless_rows_are_errors_or_listed() {
    let options = options();
    let without = || {
        let mut rows = rows(10);
        rows.0[4].1 = None;
        rows
    };
    let collection = collection_of(without(), &reading(&options));
    match find::in_collection(&collection, &options, &NoProgress).err() {
        Some(FindError::Read(ReadError::BadRow(skipped))) => assert_eq!(skipped.line, Some(4)),
        other => panic!("{other:?}"),
    }
    let collection = collection_of(without(), &ReadOptions { skip_bad: true, ..reading(&options) });
    let found = find::in_collection(&collection, &options, &NoProgress).unwrap();
    assert_eq!((found.counts.documents, found.counts.skipped), (9, 1));
}

#[test]
fn in_memory_inputs_and_references_combine() {
    let options = options();
    let documents =
        |name: &str| InMemoryDocuments { name: name.to_owned(), rows: Arc::new(rows(9)) };
    let (a, b) = ([documents("new")], [documents("old")]);
    let reading = reading(&options);
    let collection =
        Collection::of_sides(Side::InMemory(&a), Side::InMemory(&b), &reading).unwrap();
    let found = find::in_collection(&collection, &options, &NoProgress).unwrap();
    assert_eq!((found.counts.reference, found.counts.duplicates), (9, 9));
    let result = Collection::of_sides(Side::InMemory(&[]), Side::InMemory(&b), &reading);
    assert!(matches!(result.err(), Some(ReadError::NoInputs)));
}

#[test]
fn cancelled_runs_end_in_every_stage() {
    for exact in [false, true] {
        let params = Params::new(&ParamsBuilder { exact, ..ParamsBuilder::default() }).unwrap();
        let options = FindOptions { params, ..options() };
        let reading = reading(&options);
        let last = stopped_in(|until| {
            find::in_collection(&collection_of(rows(3_000), &reading), &options, until).map(drop)
        });
        assert!(last.contains(&Stage::Prepare) && last.contains(&Stage::Decide), "{last:?}");
    }
}

#[test]
fn cancelled_audits_end() {
    let params = Params::new(&ParamsBuilder::default()).unwrap();
    let reading = reading(&options());
    let how = AuditOptions { threads: NonZeroUsize::MIN, ..AuditOptions::default() };
    let open = || Ok::<_, FindError>(collection_of(rows(3_000), &reading));
    let last = stopped_in(|until| true_neighbours(open, &params, &how, until).map(drop));
    assert_eq!((last.first(), last.last()), (Some(&Stage::Draw), Some(&Stage::Search)));
    // The work checks for interruption while it indexes the sample and before it compares each
    // document.
    let uncancelled = until(u64::MAX);
    true_neighbours(open, &params, &how, &uncancelled).unwrap();
    assert!(uncancelled.checks() > 3_000);
}

#[test]
fn cancelled_samples_are_not_measured() {
    let reading = reading(&options());
    let rules = tune::usual_rules(Params::new(&ParamsBuilder::default()).unwrap().shingle());
    let last = stopped_in(|until| {
        let sample = tune::sample(&collection_of(rows(3_000), &reading), 300, 1, until)?;
        tune::measure(&sample.texts, &rules, until)?;
        Ok::<_, FindError>(())
    });
    assert_eq!((last.first(), last.last()), (Some(&Stage::Draw), Some(&Stage::Measure)));
}
