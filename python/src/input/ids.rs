//! Ids in results: of the type that they were given in.

use crate::arrow::text_column::TextColumn;
use crate::input::compared_input::ComparedInput;
use crate::input::documents::DocumentTable;
use arrow_array::ArrayRef;
use arrow_array::builder::{Int64Builder, UInt64Builder};
use lookalike::read::TextUnit;
use std::sync::Arc;

/// What ids of results are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdKind {
    /// Of documents in memory: rows or integers, as 64-bit integers.
    Numbers,
    /// Of documents in memory: integers some of which have no place in those.
    Unsigned,
    /// Of documents in memory: texts.
    Texts,
    /// Of units of documents in memory whose ids are numbers, or rows.
    UnitsOfNumbers,
    /// Of files.
    Files,
}

impl IdKind {
    /// What both sides have in common; all ids of a result are of one type.
    pub(crate) fn of(documents: &ComparedInput, reference: Option<&ComparedInput>) -> Self {
        if matches!(documents, ComparedInput::Paths(_)) {
            return Self::Files;
        }
        let mut below = false;
        let mut above = false;
        for side in [Some(documents), reference].into_iter().flatten() {
            let Some(rows) = held(side).filter(|rows| is_number(rows)) else {
                return Self::Texts;
            };
            if let Some(numbers) = rows.numbers() {
                let beyond = numbers.beyond();
                below = below || beyond.0;
                above = above || beyond.1;
            }
        }
        match (below, above) {
            (true, true) => Self::Texts,
            (false, true) => Self::Unsigned,
            (_, false) => Self::Numbers,
        }
    }

    /// Of what is compared, where that is a unit of documents with these ids.
    pub(crate) fn of_unit(self, unit: TextUnit) -> Self {
        match self {
            Self::Numbers | Self::Unsigned if unit != TextUnit::Document => Self::UnitsOfNumbers,
            kind => kind,
        }
    }

    /// An id as results have it.
    pub(crate) fn shown(self, id: &str) -> &str {
        if matches!(self, Self::Texts | Self::Files) { id } else { without_zeros(id) }
    }

    /// Whether documents are in memory.
    pub(crate) fn is_held(self) -> bool {
        self != Self::Files
    }
}

/// Whether ids come back as texts.
pub(crate) fn as_texts(documents: &ComparedInput, reference: Option<&ComparedInput>) -> bool {
    matches!(IdKind::of(documents, reference), IdKind::Texts | IdKind::Files)
}

/// In how many digits ids are rows, where they are.
pub(crate) fn row_digits(
    documents: &ComparedInput,
    reference: Option<&ComparedInput>,
) -> Option<usize> {
    let rows = held(documents).filter(|rows| rows.named_by_row())?;
    let last = rows.len().saturating_sub(1);
    (!as_texts(documents, reference)).then(|| last.to_string().len())
}

/// An id of the caller, as documents have it whose ids are rows in this number of digits: the row,
/// or that of a unit.
pub(crate) fn in_digits(id: String, digits: usize) -> String {
    let (row, unit) = id.split_at(id.find('#').unwrap_or(id.len()));
    match row.parse::<u64>() {
        Ok(number) if row.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{number:0digits$}{unit}")
        }
        _ => id,
    }
}

fn held(side: &ComparedInput) -> Option<&DocumentTable> {
    match side {
        ComparedInput::Documents(held) => Some(held.get().rows()),
        ComparedInput::Paths(_) => None,
    }
}

/// Rows are compared in as many digits as the last one has.
fn without_zeros(id: &str) -> &str {
    let end = id.find('#').unwrap_or(id.len());
    let zeros = id.len() - id.trim_start_matches('0').len();
    &id[zeros.min(end.saturating_sub(1))..]
}

fn is_number(rows: &DocumentTable) -> bool {
    rows.named_by_row() || rows.numbers().is_some()
}

/// A column of ids under way.
pub(crate) enum IdColumn {
    Numbers(Int64Builder),
    Unsigned(UInt64Builder),
    Texts(TextColumn),
    UnitsOfNumbers(TextColumn),
}

impl IdColumn {
    pub(crate) fn new(kind: IdKind) -> Self {
        match kind {
            IdKind::Numbers => Self::Numbers(Int64Builder::new()),
            IdKind::Unsigned => Self::Unsigned(UInt64Builder::new()),
            IdKind::Texts | IdKind::Files => Self::Texts(TextColumn::default()),
            IdKind::UnitsOfNumbers => Self::UnitsOfNumbers(TextColumn::default()),
        }
    }

    /// Adds an id, or none. What is no number has no value among numbers.
    pub(crate) fn push(&mut self, id: Option<&str>) {
        match self {
            Self::Numbers(numbers) => numbers.append_option(id.and_then(|id| id.parse().ok())),
            Self::Unsigned(numbers) => numbers.append_option(id.and_then(|id| id.parse().ok())),
            Self::Texts(texts) => texts.push(id),
            Self::UnitsOfNumbers(texts) => texts.push(id.map(without_zeros)),
        }
    }

    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Numbers(numbers) => Arc::new(numbers.finish()),
            Self::Unsigned(numbers) => Arc::new(numbers.finish()),
            Self::Texts(texts) | Self::UnitsOfNumbers(texts) => texts.finish(),
        }
    }
}
