//! Converts lines of JSON to rows, by the rules for JSON Lines files.

use crate::arrow::array_chunks::{ArrayChunks, each_blob};
use crate::arrow::capsule;
use crate::arrow::column::type_name;
use crate::arrow::table::ArrowTable;
use crate::arrow::text_column::TextColumn;
use crate::error::{DocumentError, DocumentTypeError, OptionError};
use arrow_array::builder::{BooleanBuilder, Int64Builder};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use lookalike::read::{JsonLine, JsonLineReader, ReadOptions, SkipReason, has_member};
use pyo3::prelude::*;
use std::sync::Arc;

/// Maximum number of bytes of a line in a message.
const SHOWN_BYTES: usize = 80;

/// Reads lines of JSON in memory.
#[pyclass(name = "JsonLines", module = "lookalike._engine")]
pub(crate) struct JsonLines {
    options: ReadOptions,
    refused: Vec<String>,
}

#[pymethods]
impl JsonLines {
    /// `text`, `id` and `fields` name fields of the lines. Without `id`, lines have no ids. No line
    /// may have a field of `refused`. With `skip_bad`, a line that is not a valid document becomes
    /// a row without values.
    #[new]
    fn new(
        text: String,
        id: Option<String>,
        fields: Vec<String>,
        skip_bad: bool,
        refused: Vec<String>,
    ) -> Self {
        let options = ReadOptions {
            text_field: text,
            line_ids: id.is_none(),
            id_field: id.unwrap_or_default(),
            fields,
            skip_bad,
            ..ReadOptions::default()
        };
        Self { options, refused }
    }

    /// Rejects a first line that lacks a field or is not an object, also with `skip_bad`: all other
    /// lines may have the same problem. The reader of files has the same rule.
    fn check_first(&self, line: &[u8]) -> PyResult<()> {
        match JsonLineReader::new(self.options.clone()).read(line) {
            Some(Err(
                reason @ (SkipReason::MissingField { .. } | SkipReason::NotAnObject { .. }),
            )) => Err(DocumentError::new_err(format!("the first line cannot be used: {reason}"))),
            _ => Ok(()),
        }
    }

    /// Reads the first column of an Arrow table, which must be binary without nulls. Returns a row
    /// for each line that is not blank: `row` (the number of the line, from 0), `is_object`, `id`,
    /// `text`, and a column for each field.
    fn read(&self, py: Python<'_>, lines: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
        let lines = capsule::import(lines)?.column_at(0, "lines")?;
        check_lines(&lines)?;
        let rows = py.detach(|| self.rows(&lines.arrays))?;
        rows.table(&self.options.fields)
    }
}

impl JsonLines {
    fn rows(&self, lines: &[ArrayRef]) -> PyResult<LineRows> {
        let mut reader = JsonLineReader::new(self.options.clone());
        let mut rows = LineRows::new(self.options.fields.len());
        for (row, line) in (0..).zip(each_blob(lines)) {
            if let Some(name) = self.refused.iter().find(|name| has_member(line, name)) {
                let text = format!("a line has the field {name:?}, which annotate=True adds");
                return Err(OptionError::new_err(format!("{text}; rename it first")));
            }
            match reader.read(line) {
                None => {}
                Some(Err(reason)) if !self.options.skip_bad => return Err(bad(line, &reason)),
                Some(document) => rows.push(row, document),
            }
        }
        Ok(rows)
    }
}

fn check_lines(lines: &ArrayChunks) -> PyResult<()> {
    let kind = lines.field.data_type();
    let is_binary = matches!(kind, DataType::Binary | DataType::LargeBinary);
    if is_binary && lines.arrays.iter().all(|array| array.null_count() == 0) {
        return Ok(());
    }
    let got = type_name(kind);
    Err(DocumentTypeError::new_err(format!("lines: expected binary without nulls, got {got}")))
}

fn bad(line: &[u8], reason: &SkipReason) -> PyErr {
    let begin = String::from_utf8_lossy(line.get(..SHOWN_BYTES).unwrap_or(line));
    DocumentError::new_err(format!(
        "a line cannot be used: {reason}; fix it, or let skip_bad=True leave out and count such \
         lines (it begins with {begin:?})"
    ))
}

/// Builds the columns of the result.
struct LineRows {
    rows: Int64Builder,
    are_objects: BooleanBuilder,
    ids: TextColumn,
    texts: TextColumn,
    fields: Vec<TextColumn>,
}

impl LineRows {
    fn new(fields: usize) -> Self {
        Self {
            rows: Int64Builder::new(),
            are_objects: BooleanBuilder::new(),
            ids: TextColumn::default(),
            texts: TextColumn::default(),
            fields: (0..fields).map(|_| TextColumn::default()).collect(),
        }
    }

    fn push(&mut self, row: i64, document: Result<JsonLine<'_>, SkipReason>) {
        self.rows.append_value(row);
        self.are_objects.append_value(!matches!(
            document,
            Err(SkipReason::NotUtf8 { .. }
                | SkipReason::BrokenJson { .. }
                | SkipReason::NotAnObject { .. })
        ));
        let document = document.ok();
        self.ids.push(document.as_ref().and_then(|document| document.id));
        self.texts.push(document.as_ref().map(|document| document.text));
        for (place, column) in self.fields.iter_mut().enumerate() {
            column.push(document.as_ref().and_then(|document| *document.fields.get(place)?));
        }
    }

    fn table(mut self, names: &[String]) -> PyResult<ArrowTable> {
        let mut columns: Vec<(&str, ArrayRef, bool)> = vec![
            ("row", Arc::new(self.rows.finish()), false),
            ("is_object", Arc::new(self.are_objects.finish()), false),
            ("id", self.ids.finish(), true),
            ("text", self.texts.finish(), true),
        ];
        let fields = names.iter().zip(&mut self.fields);
        columns.extend(fields.map(|(name, column)| (name.as_str(), column.finish(), true)));
        ArrowTable::new(columns)
    }
}
