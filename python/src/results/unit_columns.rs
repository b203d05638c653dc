//! The positions of units in their documents, as columns.

use crate::input::ids::IdColumn;
use crate::results::run_findings::RowNumbers;
use arrow_array::ArrayRef;
use arrow_array::builder::UInt64Builder;
use lookalike::read::unit::parent_id;
use lookalike::read::{TextUnit, UnitRange};
use std::sync::Arc;

/// The names of the columns in a table of documents and in a table of pairs.
pub(crate) const OF_DOCUMENTS: [&str; 5] = ["parent", "start", "end", "start_char", "end_char"];
pub(crate) const OF_PAIRS: [[&str; 5]; 2] = [
    ["parent_a", "start_a", "end_a", "start_char_a", "end_char_a"],
    ["parent_b", "start_b", "end_b", "start_char_b", "end_char_b"],
];

/// For each unit, the id of its document and its range in bytes and characters. Unused if the run
/// compares whole documents.
pub(crate) struct UnitColumns {
    is_used: bool,
    parents: IdColumn,
    numbers: [UInt64Builder; 4],
}

impl UnitColumns {
    /// Creates columns for the units of a run.
    pub(crate) fn new(rows: &RowNumbers) -> Self {
        let is_used = rows.unit != TextUnit::Document;
        Self { is_used, parents: IdColumn::new(rows.ids), numbers: Default::default() }
    }

    pub(crate) fn push(&mut self, id: &str, range: Option<UnitRange>) {
        if !self.is_used {
            return;
        }
        self.parents.push(Some(parent_id(id)));
        let numbers = range.map(UnitRange::to_numbers);
        for (place, column) in self.numbers.iter_mut().enumerate() {
            column.append_option(numbers.map(|numbers| numbers[place].into()));
        }
    }

    /// Returns the columns with these names. Returns none if the run compares whole documents.
    pub(crate) fn finish(
        mut self,
        names: [&'static str; 5],
    ) -> Vec<(&'static str, ArrayRef, bool)> {
        if !self.is_used {
            return Vec::new();
        }
        let numbers = self.numbers.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let columns = std::iter::once(self.parents.finish()).chain(numbers);
        names.into_iter().zip(columns).map(|(name, column)| (name, column, true)).collect()
    }
}
