//! Collects the documents of an iterable that can be read only once. The caller adds them in
//! parts. This module writes texts to a temporary file and keeps ids and fields in memory.

use crate::arrow::array_chunks::ArrayChunks;
use crate::arrow::column::ValueColumn;
use crate::arrow::text_column::TextColumn;
use crate::error::{DocumentError, DocumentTypeError, OptionError, read_error};
use crate::input::documents::{
    ColumnDescription, DocumentIds, DocumentTexts, FieldColumn, PythonDocuments,
};
use crate::input::text::{self, TextRows, at_row};
use crate::options::KeywordOptions;
use arrow_array::builder::Int64Builder;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use lookalike::read::SpooledTexts;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::sync::Arc;

/// Collects documents in parts.
#[pyclass(module = "lookalike._engine")]
pub(crate) struct DocumentSpool {
    columns: Option<SpooledColumns>,
}

struct SpooledColumns {
    texts: SpooledTexts,
    ids: SpooledIds,
    fields: Vec<(String, PackedTexts)>,
    description: ColumnDescription,
}

/// The ids of the added documents.
enum SpooledIds {
    /// No part was added.
    Unknown,
    /// Row numbers are the ids.
    Rows,
    /// The number of rows so far. None of them has an id, so the type of the ids is unknown.
    Missing(usize),
    Texts(PackedTexts),
    Numbers(Int64Builder),
    /// Integers of a single type.
    Columns(Vec<ArrayRef>),
}

/// Texts in one block of memory.
#[derive(Default)]
struct PackedTexts(TextColumn);

#[pymethods]
impl DocumentSpool {
    /// Creates the temporary file in the folder of the run option `temp_dir`. `options` contains
    /// this option and `memory`.
    #[new]
    fn new(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options = KeywordOptions::new(options)?;
        let memory = options.memory()?;
        options.finish()?;
        let folder = memory.temp_dir.unwrap_or_else(std::env::temp_dir);
        let texts = SpooledTexts::in_folder(&folder).map_err(read_error)?;
        let ids = SpooledIds::Unknown;
        let description = ColumnDescription::default();
        let columns = SpooledColumns { texts, ids, fields: Vec::new(), description };
        Ok(Self { columns: Some(columns) })
    }

    /// Adds documents with the arguments of `Documents.of_texts`. Errors count rows from the first
    /// one of this call.
    #[expect(clippy::too_many_arguments, reason = "those of `Documents.of_texts`")]
    #[expect(clippy::needless_pass_by_value, reason = "lists of Python come as vectors")]
    fn append(
        &mut self,
        py: Python<'_>,
        texts: Vec<Bound<'_, PyAny>>,
        ids: Option<&Bound<'_, PyAny>>,
        fields: Vec<(String, Bound<'_, PyAny>)>,
        names: Vec<String>,
        id_name: Option<String>,
        tokens: bool,
    ) -> PyResult<()> {
        let columns = self.columns.as_mut().ok_or_else(finished)?;
        let description = ColumnDescription { texts: names, id: id_name, are_tokens: tokens };
        let rows = description.python_texts(&texts)?;
        refuse_lengths(&rows, ids, &fields)?;
        columns.ids.append(ids, rows.len(), &description.id_phrase())?;
        columns.append_fields(&fields)?;
        columns.describe(description);
        let all = (0..rows.len()).map(|row| rows.bytes(row));
        py.detach(|| columns.texts.append(all)).map_err(read_error)
    }

    /// Adds the documents of a batch of a table. Errors count rows from the
    /// first one of this batch.
    fn append_documents(&mut self, py: Python<'_>, documents: &PythonDocuments) -> PyResult<()> {
        let columns = self.columns.as_mut().ok_or_else(finished)?;
        let rows = Arc::clone(documents.rows());
        columns.ids.append_column(py, rows.ids())?;
        columns.append_field_columns(rows.fields());
        columns.describe(rows.description().clone());
        let all = (0..rows.len()).map(|row| rows.text_bytes(row));
        py.detach(|| columns.texts.append(all)).map_err(read_error)
    }

    /// Returns all documents. Later calls fail.
    fn finish(&mut self, py: Python<'_>) -> PyResult<PythonDocuments> {
        let columns = self.columns.take().ok_or_else(finished)?;
        let mut fields = Vec::new();
        let mut bytes_held = columns.texts.held_bytes();
        for (name, texts) in columns.fields {
            let (texts, bytes) = texts.finish(py)?;
            fields.push((name, FieldColumn::Texts(texts)));
            bytes_held += bytes;
        }
        let (ids, bytes) = columns.ids.finish(py)?;
        bytes_held += bytes;
        let texts = DocumentTexts::Spooled(columns.texts);
        PythonDocuments::of_columns(texts, ids, fields, columns.description, bytes_held)
    }

    /// The number of added documents.
    fn __len__(&self) -> usize {
        self.columns.as_ref().map_or(0, |columns| columns.texts.len())
    }
}

fn finished() -> PyErr {
    OptionError::new_err("the documents are complete, and take no more")
}

fn other_type() -> PyErr {
    DocumentTypeError::new_err("ids of two batches are of different types; convert them first")
}

/// Rejects columns whose length differs from the number of texts.
fn refuse_lengths(
    texts: &TextRows,
    ids: Option<&Bound<'_, PyAny>>,
    fields: &[(String, Bound<'_, PyAny>)],
) -> PyResult<()> {
    let columns = ids.into_iter().chain(fields.iter().map(|(_, values)| values));
    for column in columns {
        let rows = texts.len();
        let len = column.len()?;
        if len != rows {
            let text =
                format!("got {rows} texts and {len} ids or values; expected one for each text");
            return Err(DocumentError::new_err(text));
        }
    }
    Ok(())
}

impl SpooledColumns {
    /// Stores the description of further rows. Missing texts do not show whether texts are lists of
    /// tokens, so `are_tokens` may become true later, and stays true.
    fn describe(&mut self, rows: ColumnDescription) {
        let are_tokens = self.description.are_tokens || rows.are_tokens;
        self.description = ColumnDescription { are_tokens, ..rows };
    }

    fn append_fields(&mut self, fields: &[(String, Bound<'_, PyAny>)]) -> PyResult<()> {
        if self.fields.is_empty() {
            self.fields =
                fields.iter().map(|(name, _)| (name.clone(), PackedTexts::default())).collect();
        }
        for ((name, values), (_, packed)) in fields.iter().zip(&mut self.fields) {
            packed.append(&TextRows::of_python(values, &format!("field {name:?}"))?)?;
        }
        Ok(())
    }

    fn append_field_columns(&mut self, fields: &[(String, FieldColumn)]) {
        if self.fields.is_empty() {
            self.fields =
                fields.iter().map(|(name, _)| (name.clone(), PackedTexts::default())).collect();
        }
        let mut value = String::new();
        for ((_, column), (_, packed)) in fields.iter().zip(&mut self.fields) {
            for row in 0..column.len() {
                value.clear();
                let is_there = column.write(row, &mut value);
                packed.0.push(is_there.then_some(value.as_str()));
            }
        }
    }
}

impl SpooledIds {
    /// Adds the ids of a batch of a table. Fails if earlier ids are of another kind: texts,
    /// integers or row numbers. A column of a table has one type in all batches.
    fn append_column(&mut self, py: Python<'_>, ids: &DocumentIds) -> PyResult<()> {
        match (&mut *self, ids) {
            (Self::Unknown | Self::Rows, DocumentIds::Rows) => *self = Self::Rows,
            (Self::Unknown, DocumentIds::Texts(ids)) => {
                let mut packed = PackedTexts::default();
                packed.append_ids(py, ids)?;
                *self = Self::Texts(packed);
            }
            (Self::Texts(packed), DocumentIds::Texts(ids)) => packed.append_ids(py, ids)?,
            (Self::Unknown, DocumentIds::Numbers(numbers)) => {
                *self = Self::Columns(numbers.copied_integers().ok_or_else(other_type)?);
            }
            (Self::Columns(arrays), DocumentIds::Numbers(numbers)) => {
                arrays.extend(numbers.copied_integers().ok_or_else(other_type)?);
            }
            _ => return Err(other_type()),
        }
        Ok(())
    }

    fn append(&mut self, ids: Option<&Bound<'_, PyAny>>, rows: usize, label: &str) -> PyResult<()> {
        let Some(ids) = ids else {
            *self = Self::Rows;
            return Ok(());
        };
        if let Self::Unknown | Self::Missing(_) = self {
            self.decide(ids, rows)?;
        }
        match self {
            Self::Texts(packed) => packed.append(&TextRows::of_python(ids, label)?),
            Self::Numbers(numbers) => {
                for (row, id) in ids.try_iter()?.enumerate() {
                    numbers.append_option(crate::input::documents::integer(&id?, row, label)?);
                }
                Ok(())
            }
            Self::Unknown | Self::Rows | Self::Missing(_) | Self::Columns(_) => Ok(()),
        }
    }

    /// Chooses the type by the first id that is not missing.
    fn decide(&mut self, ids: &Bound<'_, PyAny>, rows: usize) -> PyResult<()> {
        let before = if let Self::Missing(before) = self { *before } else { 0 };
        let mut first = None;
        for id in ids.try_iter()? {
            first = first.or(Some(id?).filter(|id| !text::is_missing(id)));
        }
        *self = match first {
            None => Self::Missing(before + rows),
            Some(id) if id.is_instance_of::<PyString>() => {
                let mut packed = PackedTexts::default();
                (0..before).for_each(|_| packed.0.push(None));
                Self::Texts(packed)
            }
            Some(_) => {
                let mut numbers = Int64Builder::new();
                numbers.append_nulls(before);
                Self::Numbers(numbers)
            }
        };
        Ok(())
    }

    /// Returns the column of ids and its size in bytes. Returns no column if row
    /// numbers are the ids.
    fn finish(self, py: Python<'_>) -> PyResult<(Option<FieldColumn>, u64)> {
        Ok(match self {
            Self::Unknown | Self::Rows => (None, 0),
            Self::Missing(rows) => {
                let mut packed = PackedTexts::default();
                (0..rows).for_each(|_| packed.0.push(None));
                let (texts, bytes) = packed.finish(py)?;
                (Some(FieldColumn::Texts(texts)), bytes)
            }
            Self::Texts(packed) => {
                let (texts, bytes) = packed.finish(py)?;
                (Some(FieldColumn::Texts(texts)), bytes)
            }
            Self::Columns(arrays) => {
                let bytes = arrays.iter().map(|array| array.get_array_memory_size() as u64).sum();
                let kind =
                    arrays.first().map_or(DataType::Int64, |array| array.data_type().clone());
                let field = Arc::new(Field::new("ids", kind, true));
                let ids = ValueColumn::of_arrow(ArrayChunks { field, arrays }, "the id")?;
                (Some(FieldColumn::Values(ids)), bytes)
            }
            Self::Numbers(mut numbers) => {
                let numbers = numbers.finish();
                let bytes = numbers.get_array_memory_size() as u64;
                (Some(FieldColumn::Values(ValueColumn::of_int64(numbers))), bytes)
            }
        })
    }
}

impl PackedTexts {
    fn append(&mut self, texts: &TextRows) -> PyResult<()> {
        for row in 0..texts.len() {
            match texts.bytes(row).map(str::from_utf8).transpose() {
                Ok(text) => self.0.push(text),
                // `TextRows::of_python` has rejected everything else.
                Err(error) => return Err(DocumentTypeError::new_err(error.to_string())),
            }
        }
        Ok(())
    }

    /// Adds the ids of an Arrow column. Fails if an id is not UTF-8.
    fn append_ids(&mut self, py: Python<'_>, ids: &TextRows) -> PyResult<()> {
        for row in 0..ids.len() {
            match ids.bytes(row).map(str::from_utf8).transpose() {
                Ok(id) => self.0.push(id),
                Err(error) => {
                    let text = format!("row {row}: the id is not UTF-8: {error}");
                    return Err(at_row(DocumentError::new_err(text), py, row));
                }
            }
        }
        Ok(())
    }

    /// Returns the rows and their size in bytes.
    fn finish(mut self, py: Python<'_>) -> PyResult<(TextRows, u64)> {
        let array = self.0.finish();
        let field = Arc::new(Field::new("texts", array.data_type().clone(), true));
        let bytes = array.get_array_memory_size() as u64;
        let texts = TextRows::of_arrow(ArrayChunks { field, arrays: vec![array] }, "texts", py)?;
        let held = bytes + texts.held_bytes();
        Ok((texts, held))
    }
}
