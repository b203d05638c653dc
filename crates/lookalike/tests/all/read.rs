//! Reads the shared collections, each in its own format, with several threads.

#![expect(clippy::unwrap_used, reason = "a test fails and skips loudly")]

use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::find::{self, FindOptions};
use lookalike::progress::NoProgress;
use lookalike::read::{
    Collection, Document, DocumentSink, Format, ReadBuffers, ReadError, ReadOptions, SkippedItem,
};
use lookalike_test_support::document_sets;
use parking_lot::Mutex;

#[derive(Default)]
struct Count {
    documents: usize,
    empty: usize,
    bytes: usize,
}

impl DocumentSink for Count {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        let text = document.text;
        assert!(!document.id.is_empty());
        self.documents += 1;
        self.empty += usize::from(text.trim().is_empty());
        self.bytes += text.len();
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), ReadError> {
        panic!("{skipped}");
    }
}

fn count(file: &str, format: Option<Format>) -> Option<Count> {
    let data = document_sets()?;
    let options = ReadOptions { format, ..ReadOptions::default() };
    let collection = Collection::open(&[data.join(file)], &options).unwrap();
    let sum = Mutex::new(Count::default());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut scratch = ReadBuffers::default();
                let mut count = Count::default();
                while let Some(block) = collection.next_block().unwrap() {
                    block.read(&mut scratch, &mut count).unwrap();
                }
                let mut sum = sum.lock();
                sum.documents += count.documents;
                sum.empty += count.empty;
                sum.bytes += count.bytes;
            });
        }
    });
    assert_eq!(Some(collection.bytes_read()), collection.bytes());
    Some(sum.into_inner())
}

/// Checks the numbers of documents and empty documents that the README of the data states.
#[test]
fn shared_collections() {
    for (file, documents, empty) in [
        ("mccormick/articles_100.train", 100, 0),
        ("mccormick/articles_2500.train", 2500, 0),
        ("reuters/docs.jsonl.gz", 14_000, 1),
        ("mail/docs.jsonl.gz", 3_249, 4),
        ("newsgroups/docs.jsonl.gz", 5_853, 19),
        ("multilingual/docs.jsonl.gz", 7_342, 0),
        ("plagiarism/docs.jsonl", 100, 0),
    ] {
        if let Some(count) = count(file, None) {
            assert_eq!((count.documents, count.empty), (documents, empty), "{file}");
            assert!(count.bytes > 100_000, "{file}");
        }
    }
}

#[test]
fn a_format_can_be_forced() {
    let lines = Some(Format::Lines);
    if let Some(count) = count("mccormick/articles_1000.train", lines) {
        assert_eq!(count.documents, 1000);
    }
}

/// If a file is truncated, the cut record is not a bad record: the file has changed.
#[test]
fn truncated_input_is_reported_as_changed() {
    let folder = tempfile::tempdir().unwrap();
    let line = |i: u32| format!("{{\"id\":{i},\"text\":\"some words of record {i}\"}}\n");
    let whole: String = (0..100).map(line).collect();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, &whole).unwrap();
    let inputs = std::slice::from_ref(&path);
    let collection = Collection::open(inputs, &ReadOptions::default()).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
    let found = find::in_collection(&collection, &options, &NoProgress);
    let error = found.map(drop).unwrap_err().to_string();
    assert!(error.contains("a.jsonl: changed since it was opened"), "{error}");
}
