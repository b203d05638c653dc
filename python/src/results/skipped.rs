//! Skipped records as a table.

use crate::arrow::table::ArrowTable;
use crate::arrow::text_column::TextColumn;
use crate::error::argument;
use crate::input::ids::IdKind;
use arrow_array::ArrayRef;
use arrow_array::builder::UInt64Builder;
use lookalike::core::parameter::NamesParameters;
use lookalike::error::Error;
use lookalike::find::{FindError, Findings};
use lookalike::read::SkippedItem;
use pyo3::prelude::*;
use std::sync::Arc;

/// Collects the skipped records of a run.
///
/// # Errors
/// If a temporary file cannot be read.
pub(crate) fn columns(findings: &Findings, ids: IdKind) -> Result<SkippedColumns, Error> {
    let mut columns = SkippedColumns::new(ids.is_held());
    for skipped in findings.skipped.iter() {
        columns.push(&skipped.map_err(FindError::of_io)?);
    }
    Ok(columns)
}

/// The columns `source`, `line`, `id` and `reason`. If documents are in memory, also `row`, which
/// is null for a record of a file.
pub(crate) struct SkippedColumns {
    sources: TextColumn,
    lines: UInt64Builder,
    ids: TextColumn,
    reasons: TextColumn,
    rows: Option<UInt64Builder>,
}

impl SkippedColumns {
    pub(crate) fn new(has_rows: bool) -> Self {
        Self {
            sources: TextColumn::default(),
            lines: UInt64Builder::new(),
            ids: TextColumn::default(),
            reasons: TextColumn::default(),
            rows: has_rows.then(UInt64Builder::new),
        }
    }

    pub(crate) fn push(&mut self, skipped: &SkippedItem) {
        // The engine stores the row of a document in memory as its line, from 0.
        let is_held = crate::error::side(&skipped.source).is_some() && self.rows.is_some();
        self.sources.push(Some(&skipped.source));
        self.lines.append_option(skipped.line.map(|line| line + u64::from(is_held)));
        self.ids.push(skipped.id.as_deref());
        self.reasons.push(Some(&skipped.reason.spelled(argument)));
        if let Some(rows) = &mut self.rows {
            rows.append_option(skipped.line.filter(|_| is_held));
        }
    }

    pub(crate) fn table(mut self) -> PyResult<ArrowTable> {
        let mut columns: Vec<(&str, ArrayRef, bool)> = vec![
            ("source", self.sources.finish(), false),
            ("line", Arc::new(self.lines.finish()), true),
            ("id", self.ids.finish(), true),
            ("reason", self.reasons.finish(), false),
        ];
        if let Some(mut rows) = self.rows {
            columns.push(("row", Arc::new(rows.finish()), true));
        }
        ArrowTable::new(columns)
    }
}
