//! Computes the texts of documents in memory after parts of them were removed.

use crate::arrow::table::ArrowTable;
use crate::arrow::text_column::TextColumn;
use arrow_array::BooleanArray;
use lookalike::error::Error;
use lookalike::find::{FindError, Findings};
use lookalike::passages::PassageCuts;
use lookalike::read::{Raw, UnitRange};
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// For each row, whether it is kept, and its text if the text changes.
pub(crate) struct RemainingTexts {
    rows: Vec<(bool, Option<String>)>,
}

/// The text of a row, and the ranges to remove from it.
struct OpenText {
    row: usize,
    text: String,
    removed: Vec<Range<usize>>,
}

impl RemainingTexts {
    /// Marks all rows as removed. Rows remain removed if they are not documents, repeat an earlier
    /// id, or are in the list of the option `drop`.
    fn new(rows: usize) -> Self {
        Self { rows: vec![(false, None); rows] }
    }

    /// Removes duplicate units. A document without remaining units is removed.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(crate) fn of_units(findings: &Findings, rows: usize) -> Result<Self, Error> {
        let mut duplicates = Vec::new();
        for group in findings.groups.iter() {
            let group = group.map_err(FindError::of_io)?;
            duplicates.extend(group.duplicates.iter().map(|duplicate| duplicate.document));
        }
        duplicates.sort_unstable();
        let mut texts = Self::new(rows);
        let mut open = None::<OpenText>;
        findings.replay(&mut |number, document| -> Result<(), FindError> {
            let Raw::Row(row) = document.raw else { return Ok(()) };
            let row = row as usize;
            let status = findings.status(number)?;
            if status.repeated_id || status.dropped {
                return Ok(());
            }
            if open.as_ref().is_some_and(|open| open.row != row) {
                texts.close(open.take());
            }
            if duplicates.binary_search(&number).is_err() {
                texts.keep(row);
                return Ok(());
            }
            let text = document.parent.map_or(document.text, |parent| parent.text);
            let range = document.place.unit().map_or(0..text.len(), UnitRange::bytes);
            let open = open.get_or_insert_with(|| OpenText {
                row,
                text: text.to_owned(),
                removed: vec![],
            });
            open.removed.push(range);
            Ok(())
        })?;
        texts.close(open);
        Ok(texts)
    }

    /// Removes the ranges of cut passages.
    ///
    /// # Errors
    /// If the documents changed since the search.
    pub(crate) fn of_cuts(cuts: &PassageCuts, rows: usize) -> Result<Self, Error> {
        let mut texts = Self::new(rows);
        cuts.run.replay(&mut |number, document| -> Result<(), FindError> {
            let Raw::Row(row) = document.raw else { return Ok(()) };
            let status = cuts.run.status(number)?;
            if status.repeated_id || status.dropped || cuts.is_removed(number) {
                return Ok(());
            }
            texts.keep(row as usize);
            if cuts.is_changed(number) {
                let (text, removed) = cuts.ranges(number)?;
                texts.close(Some(OpenText { row: row as usize, text, removed }));
            }
            Ok(())
        })?;
        Ok(texts)
    }

    fn keep(&mut self, row: usize) {
        if let Some((is_kept, _)) = self.rows.get_mut(row) {
            *is_kept = true;
        }
    }

    /// Sets the text of a kept row. Does nothing for a removed row.
    fn close(&mut self, open: Option<OpenText>) {
        let Some(OpenText { row, text, removed }) = open else { return };
        let Some((true, changed)) = self.rows.get_mut(row) else { return };
        let mut remaining = String::with_capacity(text.len());
        let mut at = 0;
        for range in removed {
            remaining.push_str(&text[at..range.start]);
            at = range.end;
        }
        remaining.push_str(&text[at..]);
        *changed = Some(remaining);
    }

    /// The columns `kept` and `text`.
    ///
    /// # Errors
    /// If the table rejects a column.
    pub(crate) fn table(self) -> PyResult<ArrowTable> {
        let kept: BooleanArray = self.rows.iter().map(|(is_kept, _)| Some(*is_kept)).collect();
        let mut texts = TextColumn::default();
        self.rows.iter().for_each(|(_, text)| texts.push(text.as_deref()));
        ArrowTable::new(vec![("kept", Arc::new(kept), false), ("text", texts.finish(), true)])
    }
}
