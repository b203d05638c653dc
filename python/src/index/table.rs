//! Adds the documents of tables to an index, batch by batch, without copying texts.

use super::add::{Feed, IdAndTexts, ProgressCallback, with_row};
use super::arrow_json::{ValueError, ValueErrorKind, ValueReader, name_of};
use super::json;
use crate::arrow::array_chunks::ArrayChunks;
use crate::arrow::capsule::{Batches, ImportedTable};
use crate::call::without_unwind;
use crate::error::{DocumentError, DocumentTypeError};
use crate::input::text::{self, COLUMN_SEPARATOR, SharedText, TextRows};
use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use lookalike::index::{DocumentBatch, NewDocument};
use lookalike::store::entry::{MAX_METADATA_BYTES, Metadata};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use serde_json::Value;
use std::sync::Arc;

/// Maximum number of column names in a message.
const LISTED: usize = 20;

/// Reads the documents of consecutive tables.
pub(super) struct TableFeed {
    rest: Py<PyIterator>,
    table: Option<Batches>,
    batch: Option<TableBatch>,
    columns: ColumnNames,
    /// Metadata that every document receives.
    common: Metadata,
    row: u64,
    progress_callback: ProgressCallback,
}

/// The names of the columns that are read.
struct ColumnNames {
    named: IdAndTexts,
    /// Columns that become metadata.
    metadata_columns: Vec<String>,
}

impl TableFeed {
    /// Converts the arguments of a call. `common` contains metadata for every document. `names` are
    /// columns that become metadata.
    ///
    /// # Errors
    /// `DocumentTypeError` for metadata of a wrong type.
    pub(super) fn new(
        tables: Bound<'_, PyIterator>,
        common: &Bound<'_, PyAny>,
        names: Vec<String>,
        named: IdAndTexts,
        progress_callback: ProgressCallback,
    ) -> PyResult<Self> {
        let common = json::metadata(common, "all documents")?;
        let columns = ColumnNames { named, metadata_columns: names };
        let rest = tables.unbind();
        Ok(Self { rest, table: None, batch: None, columns, common, row: 0, progress_callback })
    }

    /// Advances to a batch with remaining rows. Returns false after the last batch.
    fn has_more(&mut self) -> PyResult<bool> {
        while !self.batch.as_ref().is_some_and(TableBatch::has_more) {
            // Check here, so that a producer of endless empty batches can be interrupted.
            Python::attach(signals)?;
            if self.table.is_none() {
                let Some(table) = self.next_table()? else { return Ok(false) };
                self.columns.check(table.columns())?;
                self.table = Some(table);
            }
            let Some(table) = &mut self.table else { continue };
            // Release the converted columns of the previous batch before reading the next one.
            self.batch = None;
            match table.next()? {
                Some(batch) => self.batch = Some(TableBatch::of(batch, &self.columns, self.row)?),
                None => self.table = None,
            }
        }
        Ok(true)
    }

    fn next_table(&self) -> PyResult<Option<Batches>> {
        Python::attach(|py| {
            without_unwind(|| {
                let table = self.rest.bind(py).clone().next().transpose()?;
                table.map(|table| Batches::of(&table)).transpose()
            })
        })
    }
}

fn signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

impl Feed for TableFeed {
    type Text = Word;

    fn fill_batch(&mut self, documents: &mut DocumentBatch<Word>) -> PyResult<bool> {
        while !documents.is_full() {
            if !self.has_more()? {
                self.progress_callback.report(self.row)?;
                return Ok(false);
            }
            let Some(batch) = &mut self.batch else { continue };
            let document = batch.document(&self.columns, &self.common, self.row)?;
            self.row += 1;
            documents.push(document);
        }
        Python::attach(signals)?;
        self.progress_callback.report(self.row)?;
        Ok(true)
    }
}

impl ColumnNames {
    fn all(&self) -> impl Iterator<Item = &String> {
        [&self.named.id].into_iter().chain(&self.named.texts).chain(&self.metadata_columns)
    }

    fn check(&self, table: &ImportedTable) -> PyResult<()> {
        if table.is_column() {
            return Err(DocumentTypeError::new_err(format!(
                "the table cannot be read as Arrow, expected columns with ids and texts: it is one \
                 column of {}",
                table.kind()?
            )));
        }
        self.all().try_for_each(|name| check_column(table.names(), name))
    }
}

/// Rejects a table without exactly one column of each name.
#[pyfunction]
pub(crate) fn check_columns(there: Vec<String>, wanted: Vec<String>) -> PyResult<()> {
    wanted.iter().try_for_each(|name| check_column(&there, name))
}

fn check_column(names: &[String], name: &str) -> PyResult<()> {
    let count = names.iter().filter(|other| *other == name).count();
    if count == 1 {
        return Ok(());
    }
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| quoted(name)).collect();
    let listed = match (listed.len(), names.len()) {
        (0, _) => "none".to_owned(),
        (LISTED, more) if more > LISTED => format!("{}, …", listed.join(", ")),
        _ => listed.join(", "),
    };
    Err(DocumentTypeError::new_err(format!(
        "the table has {} {}, expected one; it has {listed}: name others with text=, id= and \
         metadata=",
        if count == 0 { "no column".to_owned() } else { format!("{count} columns") },
        quoted(name)
    )))
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.escape_debug())
}

/// An id or a text.
pub(super) enum Word {
    /// A text in a column.
    There(SharedText),
    /// A text that is not stored in a text column: joined texts, an integer id, or a value of an
    /// array such as a run-end encoded one.
    Here(String),
}

impl AsRef<str> for Word {
    fn as_ref(&self) -> &str {
        match self {
            Self::There(text) => text.as_ref(),
            Self::Here(text) => text,
        }
    }
}

/// The columns of a batch that are read.
struct TableBatch {
    ids: WordColumn,
    texts: Vec<WordColumn>,
    metadata_columns: Vec<AnyColumn>,
    rows: usize,
    next: usize,
}

impl TableBatch {
    /// Takes the columns of a batch. `first` is the row of its first document among all tables.
    fn of(batch: &mut ImportedTable, columns: &ColumnNames, first: u64) -> PyResult<Self> {
        let mut column = |name: &String| {
            let place = batch.names().iter().position(|other| other == name).unwrap_or(usize::MAX);
            let label = format!("document {first}: column {}", quoted(name));
            let chunks = batch.column_at(place, &label);
            chunks.map_err(|error| Python::attach(|py| with_row(py, error, first)))
        };
        let ids = column(&columns.named.id)?;
        let texts = columns.named.texts.iter().map(|name| column(name).map(WordColumn::of));
        let texts = texts.collect::<PyResult<_>>()?;
        let metadata_columns =
            columns.metadata_columns.iter().map(|name| column(name).map(AnyColumn::of));
        let metadata_columns = metadata_columns.collect::<PyResult<_>>()?;
        Ok(Self { rows: ids.rows(), ids: WordColumn::of(ids), texts, metadata_columns, next: 0 })
    }

    fn has_more(&self) -> bool {
        self.next < self.rows
    }

    /// Returns the next document. `row` is its row among all tables.
    fn document(
        &mut self,
        columns: &ColumnNames,
        common: &Metadata,
        row: u64,
    ) -> PyResult<NewDocument<Word>> {
        let at = self.next;
        let read_document = self.read_document(columns, common, row, at);
        self.next += 1;
        read_document.map_err(|error| Python::attach(|py| with_row(py, error, row)))
    }

    fn read_document(
        &self,
        columns: &ColumnNames,
        common: &Metadata,
        row: u64,
        at: usize,
    ) -> PyResult<NewDocument<Word>> {
        let named = &columns.named;
        let id = self.ids.id(at).map_err(|bad| bad.reported(row, "id", &named.id))?;
        let text = self.text(named, row, at)?;
        let mut metadata = common.clone();
        let mut reader = ValueReader::new();
        for (name, values) in columns.metadata_columns.iter().zip(&self.metadata_columns) {
            let value = values.get(&mut reader, at).map_err(|wrong| reported(wrong, row, name))?;
            if !value.is_null() {
                metadata.insert(name.clone(), value);
            }
        }
        Ok(NewDocument { id, text, metadata, original: None, modified: None, expires: None })
    }
}

impl TableBatch {
    /// Returns the text of a document: the text of one column, or the joined
    /// non-null texts of several.
    fn text(&self, named: &IdAndTexts, row: u64, at: usize) -> PyResult<Word> {
        let reported = |bad: BadRow, name| bad.reported(row, "text", name);
        if let ([texts], [name]) = (&self.texts[..], &named.texts[..]) {
            return texts.get(at).map_err(|bad| reported(bad, name));
        }
        let mut parts = Vec::new();
        for (texts, name) in self.texts.iter().zip(&named.texts) {
            match texts.get(at) {
                Ok(text) => parts.push(text),
                Err(BadRow::None) => {}
                Err(bad) => return Err(reported(bad, name)),
            }
        }
        if parts.is_empty() {
            let text = format!("document {row}: all its texts are None: leave it out");
            return Err(DocumentError::new_err(text));
        }
        let parts: Vec<&str> = parts.iter().map(Word::as_ref).collect();
        Ok(Word::Here(parts.join(COLUMN_SEPARATOR)))
    }
}

/// A column of any type.
struct AnyColumn {
    field: Arc<Field>,
    array: Option<ArrayRef>,
}

impl AnyColumn {
    fn of(column: ArrayChunks) -> Self {
        Self { field: column.field, array: column.arrays.into_iter().next() }
    }

    fn get(&self, reader: &mut ValueReader, row: usize) -> Result<Value, ValueError> {
        let Some(array) = &self.array else { return Ok(Value::Null) };
        reader.value(array.as_ref(), &self.field, row)
    }
}

/// A column of ids or texts.
enum WordColumn {
    Texts(Arc<TextRows>, Option<String>),
    Others(AnyColumn),
}

/// The reason why a row has no id or no text.
enum BadRow {
    None,
    Type(DataType),
    Damaged(String),
}

impl WordColumn {
    fn of(column: ArrayChunks) -> Self {
        if !text::is_text(column.field.data_type()) {
            return Self::Others(AnyColumn::of(column));
        }
        let (texts, damage) = TextRows::up_to_damage(column);
        Self::Texts(Arc::new(texts), damage)
    }

    /// The id of a row: a text, or an integer.
    fn id(&self, row: usize) -> Result<Word, BadRow> {
        if let Self::Others(values) = self
            && let Ok(Value::Number(number)) = values.get(&mut ValueReader::new(), row)
            && !number.is_f64()
        {
            return Ok(Word::Here(number.to_string()));
        }
        self.get(row)
    }

    fn get(&self, row: usize) -> Result<Word, BadRow> {
        match self {
            Self::Texts(texts, Some(damage)) if row >= texts.len() => {
                Err(BadRow::Damaged(damage.clone()))
            }
            Self::Texts(texts, _) => {
                texts.shared(row).map_err(BadRow::Damaged)?.map(Word::There).ok_or(BadRow::None)
            }
            Self::Others(values) => values.word(row),
        }
    }
}

impl AnyColumn {
    /// Converts a value to a text.
    fn word(&self, row: usize) -> Result<Word, BadRow> {
        let other = || BadRow::Type(self.field.data_type().clone());
        let mut reader = ValueReader::of_text();
        match self.get(&mut reader, row) {
            Ok(Value::String(text)) => Ok(Word::Here(text)),
            Ok(Value::Null) => Err(BadRow::None),
            Err(ValueError { why: ValueErrorKind::Damaged(why), .. }) => Err(BadRow::Damaged(why)),
            Ok(_) | Err(_) => Err(other()),
        }
    }
}

impl BadRow {
    /// The exception for the row. `label` is "id" or "text".
    fn reported(self, row: u64, label: &str, column: &str) -> PyErr {
        match self {
            Self::None => DocumentTypeError::new_err(format!(
                "document {row}: the {label} is None, expected str: leave out what is missing"
            )),
            Self::Type(kind) => DocumentTypeError::new_err(format!(
                "document {row}: the {label} is of type {}, expected str: {} first",
                name_of(&kind),
                remedy(&kind, column)
            )),
            Self::Damaged(why) => damaged(row, column, &why),
        }
    }
}

fn remedy(kind: &DataType, column: &str) -> String {
    let column = quoted(column);
    if is_binary(kind) {
        format!("decode the column {column}")
    } else {
        format!("cast the column {column} to strings")
    }
}

fn is_binary(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_)
    )
}

fn damaged(row: u64, column: &str, why: &str) -> PyErr {
    let column = quoted(column);
    DocumentError::new_err(format!("document {row}: column {column} cannot be read: {why}"))
}

/// The exception for a value that cannot be metadata.
fn reported(wrong: ValueError, row: u64, column: &str) -> PyErr {
    let field = format!("document {row}: metadata {:?}", wrong.path(column));
    match wrong.why {
        ValueErrorKind::Damaged(why) => damaged(row, column, &why),
        ValueErrorKind::Type(kind) => DocumentTypeError::new_err(format!(
            "{field} is of type {kind}, expected what JSON has: null, bool, whole numbers, floats, \
             strings, lists and structs; cast it to a string first"
        )),
        ValueErrorKind::Number(number) => DocumentError::new_err(format!(
            "{field} is {number}, which JSON has no number for: leave it out, or keep it as a str"
        )),
        ValueErrorKind::Twice(member) => DocumentTypeError::new_err(format!(
            "{field} has several members {member:?}, expected one: rename the others"
        )),
        ValueErrorKind::TooMuch => DocumentError::new_err(format!(
            "document {row}: its metadata has more than {MAX_METADATA_BYTES} bytes, which is as \
             much as is stored: name fewer columns"
        )),
    }
}
