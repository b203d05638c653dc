//! What was not read, as a table.

use crate::table::Table;
use arrow_array::builder::{StringBuilder, UInt64Builder};
use lookalike::read::Skipped;
use pyo3::prelude::*;
use std::sync::Arc;

/// Its columns: `source`, `line`, `id`, `reason`.
#[derive(Default)]
pub(crate) struct SkippedColumns {
    sources: StringBuilder,
    lines: UInt64Builder,
    ids: StringBuilder,
    reasons: StringBuilder,
}

impl SkippedColumns {
    pub(crate) fn push(&mut self, skipped: &Skipped) {
        self.sources.append_value(&skipped.source);
        self.lines.append_option(skipped.line);
        self.ids.append_option(skipped.id.as_deref());
        self.reasons.append_value(skipped.reason.to_string());
    }

    pub(crate) fn table(mut self) -> PyResult<Table> {
        Table::new(vec![
            ("source", Arc::new(self.sources.finish()), false),
            ("line", Arc::new(self.lines.finish()), true),
            ("id", Arc::new(self.ids.finish()), true),
            ("reason", Arc::new(self.reasons.finish()), false),
        ])
    }
}
