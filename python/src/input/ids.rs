//! Converts ids in results to the type of the ids of the input.

use crate::arrow::text_column::TextColumn;
use crate::input::compared_input::ComparedInput;
use crate::input::documents::DocumentTable;
use arrow_array::ArrayRef;
use arrow_array::builder::{Int64Builder, UInt64Builder};
use lookalike::read::TextUnit;
use std::sync::Arc;

/// The type of ids in results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdKind {
    /// 64-bit integers, for documents in memory whose ids are rows or integers.
    Numbers,
    /// Unsigned 64-bit integers, for documents in memory with ids above 2⁶³ − 1.
    Unsigned,
    /// Texts, for documents in memory with other ids.
    Texts,
    /// Texts for units of documents in memory, if the ids of the documents are numbers or rows.
    UnitsOfNumbers,
    /// Texts, for documents in files.
    Files,
}

impl IdKind {
    /// Returns the type of ids for both sides, because all ids of a result have one type.
    pub(crate) fn of(documents: &ComparedInput, reference: Option<&ComparedInput>) -> Self {
        if matches!(documents, ComparedInput::Paths(_)) {
            return Self::Files;
        }
        let mut has_negative = false;
        let mut has_large = false;
        for side in [Some(documents), reference].into_iter().flatten() {
            let Some(rows) = rows_in_memory(side).filter(|rows| is_number(rows)) else {
                return Self::Texts;
            };
            if let Some(numbers) = rows.numbers() {
                let beyond = numbers.beyond();
                has_negative = has_negative || beyond.0;
                has_large = has_large || beyond.1;
            }
        }
        match (has_negative, has_large) {
            (true, true) => Self::Texts,
            (false, true) => Self::Unsigned,
            (_, false) => Self::Numbers,
        }
    }

    /// Returns the type of the ids of units, for documents with ids of this type.
    pub(crate) fn of_unit(self, unit: TextUnit) -> Self {
        match self {
            Self::Numbers | Self::Unsigned if unit != TextUnit::Document => Self::UnitsOfNumbers,
            kind => kind,
        }
    }

    /// Returns an id in its form in results.
    pub(crate) fn display_id(self, id: &str) -> &str {
        if matches!(self, Self::Texts | Self::Files) { id } else { without_zeros(id) }
    }

    /// Returns true if the documents are in memory.
    pub(crate) fn is_held(self) -> bool {
        self != Self::Files
    }
}

/// Returns true if results contain ids as texts.
pub(crate) fn as_texts(documents: &ComparedInput, reference: Option<&ComparedInput>) -> bool {
    matches!(IdKind::of(documents, reference), IdKind::Texts | IdKind::Files)
}

/// Returns the number of digits of row numbers as ids. Returns `None` if row
/// numbers are not the ids.
pub(crate) fn row_digits(
    documents: &ComparedInput,
    reference: Option<&ComparedInput>,
) -> Option<usize> {
    let rows = rows_in_memory(documents).filter(|rows| rows.named_by_row())?;
    let last = rows.len().saturating_sub(1);
    (!as_texts(documents, reference)).then(|| last.to_string().len())
}

/// Pads the row number in an id of the caller with zeros to `digits` digits, the form of row
/// numbers in the engine. The id names a row, or a unit of a row.
pub(crate) fn in_digits(id: String, digits: usize) -> String {
    let (row, unit) = id.split_at(id.find('#').unwrap_or(id.len()));
    match row.parse::<u64>() {
        Ok(number) if row.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{number:0digits$}{unit}")
        }
        _ => id,
    }
}

fn rows_in_memory(side: &ComparedInput) -> Option<&DocumentTable> {
    match side {
        ComparedInput::Documents(held) => Some(held.get().rows()),
        ComparedInput::Paths(_) => None,
    }
}

/// Removes the leading zeros that row numbers have in the engine.
fn without_zeros(id: &str) -> &str {
    let end = id.find('#').unwrap_or(id.len());
    let zeros = id.len() - id.trim_start_matches('0').len();
    &id[zeros.min(end.saturating_sub(1))..]
}

fn is_number(rows: &DocumentTable) -> bool {
    rows.named_by_row() || rows.numbers().is_some()
}

/// A column of ids, being built.
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

    /// Adds an id or a null. Among numbers, an id that is not a number becomes null.
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
