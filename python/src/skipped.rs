//! What was not read, as a table.

use crate::table::ArrowTable;
use crate::text_column::TextColumn;
use arrow_array::builder::UInt64Builder;
use lookalike::read::SkippedItem;
use pyo3::prelude::*;
use std::sync::Arc;

/// Its columns: `source`, `line`, `id`, `reason`.
#[derive(Default)]
pub(crate) struct SkippedColumns {
    sources: TextColumn,
    lines: UInt64Builder,
    ids: TextColumn,
    reasons: TextColumn,
}

impl SkippedColumns {
    pub(crate) fn push(&mut self, skipped: &SkippedItem) {
        self.sources.push(Some(&skipped.source));
        self.lines.append_option(skipped.line);
        self.ids.push(skipped.id.as_deref());
        self.reasons.push(Some(&skipped.reason.to_string()));
    }

    pub(crate) fn table(mut self) -> PyResult<ArrowTable> {
        ArrowTable::new(vec![
            ("source", self.sources.finish(), false),
            ("line", Arc::new(self.lines.finish()), true),
            ("id", self.ids.finish(), true),
            ("reason", self.reasons.finish(), false),
        ])
    }
}
