//! The rows of some documents, side by side in memory.

use super::columns::{self, DocumentRow, RowBuffer};
use super::documents::{self, RunDocuments};
use crate::error::Error;
use lookalike_core::keep;
use std::cmp::Ordering;

/// Rows of documents, by their place in the list they were loaded by.
#[derive(Debug, Default)]
pub(super) struct LoadedRows {
    bytes: Vec<u8>,
    /// Where each row begins, and where the last ends.
    starts: Vec<usize>,
    parts: Vec<u32>,
    references: Vec<bool>,
}

impl LoadedRows {
    /// Loads the rows of `documents`, which are ascending.
    pub(super) fn load(all: &RunDocuments, documents: &[u32]) -> Result<Self, Error> {
        let mut records = Self { starts: vec![0], ..Self::default() };
        let mut rest = documents;
        while let Some(first) = rest.first() {
            let part = all.part_of(*first);
            let range = all.range(part);
            let count = rest.partition_point(|document| *document < range.end);
            let (of_part, after) = rest.split_at(count);
            rest = after;
            let rows = all.rows(part)?;
            for document in of_part {
                records.push(&rows, (document - range.start) as usize)?;
            }
            records.parts.resize(records.parts.len() + count, part as u32);
            let reference = all.part(part).reference;
            records.references.resize(records.references.len() + count, reference);
        }
        Ok(records)
    }

    fn push(&mut self, rows: &RowBuffer, i: usize) -> Result<(), Error> {
        // Checked once here, so that it can be read without an error from now on.
        documents::row(rows, i)?;
        self.bytes.extend_from_slice(rows.get(i));
        self.starts.push(self.bytes.len());
        Ok(())
    }

    /// The row of a document.
    pub(super) fn row(&self, place: u32) -> DocumentRow<'_> {
        DocumentRow::read(self.bytes_of(place)).unwrap_or_else(DocumentRow::none)
    }

    fn bytes_of(&self, place: u32) -> &[u8] {
        &self.bytes[self.starts[place as usize]..self.starts[place as usize + 1]]
    }

    /// The part a document is in.
    pub(super) fn part(&self, place: u32) -> usize {
        self.parts[place as usize] as usize
    }

    /// Whether it is of a reference collection.
    pub(super) fn is_reference(&self, place: u32) -> bool {
        self.references[place as usize]
    }

    /// The keep order: `Less` means that `a` is kept rather than `b`.
    pub(super) fn compare(&self, a: u32, b: u32) -> Ordering {
        let ((a_key, a_id), (b_key, b_id)) = (self.key_and_id(a), self.key_and_id(b));
        keep::compare(a_key, a_id, b_key, b_id)
    }

    /// The same, regardless of which documents are of a reference collection.
    pub(super) fn compare_by_rules(&self, a: u32, b: u32) -> Ordering {
        let ((a_key, a_id), (b_key, b_id)) = (self.key_and_id(a), self.key_and_id(b));
        keep::compare_by_rules(a_key, a_id, b_key, b_id)
    }

    fn key_and_id(&self, place: u32) -> (&[u8], &[u8]) {
        columns::keep_key_and_id(self.bytes_of(place)).unwrap_or_default()
    }
}
