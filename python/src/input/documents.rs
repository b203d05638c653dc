//! Documents in memory as a source of the engine.

use crate::arrow::array_chunks::ArrayChunks;
use crate::arrow::capsule::{self};
use crate::arrow::column::{ValueColumn, type_name};
use crate::arrow::table::ArrowTable;
use crate::error::{DocumentError, DocumentTypeError};
use crate::input::text::{self, TextRows, at_row};
use crate::input::token_lists;
use arrow_array::Int64Array;
use arrow_schema::DataType;
use lookalike::read::{
    DocumentRowError, DocumentRows, Field, InMemoryDocuments, SkipReason, SpooledTexts,
};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use std::fmt::Write;
use std::sync::Arc;

/// Documents by row: texts, and optional ids and fields.
#[pyclass(frozen, name = "Documents", module = "lookalike._engine")]
pub(crate) struct PythonDocuments {
    rows: Arc<DocumentTable>,
}

/// Columns of the same number of rows.
pub(crate) struct DocumentTable {
    texts: DocumentTexts,
    ids: DocumentIds,
    fields: Vec<(String, FieldColumn)>,
    description: ColumnDescription,
    /// Size in bytes of documents that only this table keeps in memory. It counts
    /// against a memory limit.
    held: u64,
}

/// The names of the columns for messages, and the kind of texts.
#[derive(Clone, Default)]
pub(crate) struct ColumnDescription {
    /// The names of the columns whose texts are joined. Empty if the documents have no columns.
    pub(crate) texts: Vec<String>,
    /// The name of the column of ids.
    pub(crate) id: Option<String>,
    /// Whether texts are lists of tokens, joined with blanks.
    pub(crate) are_tokens: bool,
}

impl ColumnDescription {
    /// Names the columns of the text, in a phrase that follows "text".
    fn of_text(&self) -> String {
        match &*self.texts {
            [_, _, ..] => {
                let names: Vec<String> =
                    self.texts.iter().map(|name| format!("{name:?}")).collect();
                format!(" in the columns {}", names.join(", "))
            }
            [name] if name != "text" => in_column(name),
            _ => String::new(),
        }
    }

    /// Converts columns of Python values to texts. A column is a list of `str`,
    /// or of lists of tokens.
    pub(crate) fn python_texts(&self, columns: &[Bound<'_, PyAny>]) -> PyResult<TextRows> {
        let texts = columns.iter().enumerate().map(|(place, column)| {
            let name = self.texts.get(place).filter(|name| *name != "text");
            let label = format!("the text{}", name.map(|name| in_column(name)).unwrap_or_default());
            if self.are_tokens {
                token_lists::of_python(column, &label)
            } else {
                TextRows::of_python(column, &label)
            }
        });
        Ok(one_text(texts.collect::<PyResult<_>>()?))
    }

    /// The name of an id in messages.
    pub(crate) fn id_phrase(&self) -> String {
        format!("the id{}", self.of_id())
    }

    fn of_id(&self) -> String {
        self.id.as_deref().filter(|name| *name != "id").map(in_column).unwrap_or_default()
    }
}

/// Joins the texts of several columns. Returns a single column unchanged.
fn one_text(mut columns: Vec<TextRows>) -> TextRows {
    match columns.pop() {
        Some(only) if columns.is_empty() => only,
        last => {
            columns.extend(last);
            TextRows::joined(&columns)
        }
    }
}

/// Names a column, in a phrase that follows "text" or "id".
fn in_column(name: &str) -> String {
    format!(" in the column {name:?}")
}

/// The texts of documents, in memory or in a temporary file.
pub(crate) enum DocumentTexts {
    InMemory(TextRows),
    Spooled(SpooledTexts),
}

impl DocumentTexts {
    fn len(&self) -> usize {
        match self {
            Self::InMemory(texts) => texts.len(),
            Self::Spooled(texts) => texts.len(),
        }
    }

    /// The size in bytes of the text of a row, or 0 if it has none.
    fn bytes(&self, row: usize) -> usize {
        match self {
            Self::InMemory(texts) => texts.bytes(row).map_or(0, <[u8]>::len),
            Self::Spooled(texts) => texts.bytes(row),
        }
    }

    fn total(&self) -> u64 {
        match self {
            Self::InMemory(texts) => texts.total(),
            Self::Spooled(texts) => texts.total_bytes(),
        }
    }

    fn first_missing(&self) -> Option<usize> {
        match self {
            Self::InMemory(texts) => texts.first_missing(),
            Self::Spooled(texts) => texts.first_missing(),
        }
    }
}

/// The ids of documents.
pub(crate) enum DocumentIds {
    /// Row numbers from 0.
    Rows,
    Texts(TextRows),
    Numbers(ValueColumn),
}

pub(crate) enum FieldColumn {
    Texts(TextRows),
    Values(ValueColumn),
}

/// Returns true if a column of this type can contain ids.
fn is_id(kind: &DataType) -> bool {
    text::is_text(kind) || kind.is_integer()
}

/// Warns that the values of the default column `id` cannot be ids.
fn warn_of_ids(py: Python<'_>, kind: &DataType) -> PyResult<()> {
    let category = py.import("lookalike.errors")?.getattr("IdWarning")?;
    let text = format!(
        "row numbers are used as ids: the column \"id\" has values of type {}, but ids are \
         strings or integers; name another column by id=, or use id=False for row numbers",
        type_name(kind)
    );
    py.import("lookalike._progress")?.call_method1("warn", (text, category))?;
    Ok(())
}

impl FieldColumn {
    fn of(chunks: ArrayChunks, label: &str, py: Python<'_>) -> PyResult<Self> {
        if text::is_text(chunks.field.data_type()) {
            return Ok(Self::Texts(TextRows::of_arrow(chunks, label, py)?));
        }
        Ok(Self::Values(ValueColumn::of_arrow(chunks, label)?))
    }

    /// Converts ids of an Arrow column of strings or integers.
    fn arrow_ids(column: ArrayChunks, label: &str, py: Python<'_>) -> PyResult<Self> {
        let kind = column.field.data_type().clone();
        if !is_id(&kind) {
            return Err(DocumentTypeError::new_err(format!(
                "{label}: ids are strings or integers, got {}",
                type_name(&kind)
            )));
        }
        Self::of(column, label, py)
    }

    /// Converts ids from Python: all `str`, or all `int`. `None` and NaN mean no id.
    fn ids(values: &Bound<'_, PyAny>, label: &str) -> PyResult<Self> {
        let mut first = None;
        for value in values.try_iter()? {
            first = first.or(Some(value?).filter(|value| !text::is_missing(value)));
            if first.is_some() {
                break;
            }
        }
        if first.is_none_or(|first| first.is_instance_of::<PyString>()) {
            return Ok(Self::Texts(TextRows::of_python(values, label)?));
        }
        let mut ids = Vec::with_capacity(values.len()?);
        for (row, value) in values.try_iter()?.enumerate() {
            ids.push(integer(&value?, row, label)?);
        }
        Ok(Self::Values(ValueColumn::of_integers(ids)))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// Writes the value of a row as text. Returns false if the row has no value or invalid text.
    pub(crate) fn write(&self, row: usize, out: &mut String) -> bool {
        match self {
            Self::Texts(texts) => {
                let value = texts.bytes(row).and_then(|bytes| checked_text(bytes).ok());
                out.push_str(value.unwrap_or_default());
                value.is_some()
            }
            Self::Values(values) => values.write(row, out),
        }
    }
}

/// Converts a numeric id, like `operator.index`. `None` and NaN mean no id.
pub(crate) fn integer(value: &Bound<'_, PyAny>, row: usize, label: &str) -> PyResult<Option<i64>> {
    if text::is_missing(value) {
        return Ok(None);
    }
    let refused = |text: String| at_row(DocumentTypeError::new_err(text), value.py(), row);
    let got = || value.get_type().name().map_or_else(|_| "other".to_owned(), |n| n.to_string());
    if value.is_instance_of::<PyString>() {
        return Err(refused(format!(
            "row {row}: {label} is of type {}, those before are int; use one type",
            got()
        )));
    }
    if value.is_instance_of::<PyBool>() || value.hasattr("__index__").is_ok_and(|has| !has) {
        let got = got();
        return Err(refused(format!(
            "row {row}: {label} is of type {got}, ids are all str or all int; convert them first"
        )));
    }
    value.extract::<i64>().map(Some).map_err(|error| {
        if !error.is_instance_of::<PyOverflowError>(value.py()) {
            return error;
        }
        let text = format!("row {row}: {label} {value} does not fit in 64 bits");
        at_row(DocumentError::new_err(text), value.py(), row)
    })
}

#[pymethods]
impl PythonDocuments {
    /// Imports columns of an object with the Arrow `PyCapsule` interface.
    ///
    /// The columns in `text` are joined into one text. If `text` is `None`, the text is the column
    /// `text`, or the object itself if it is a single column. `id` names the column of ids. If it
    /// is `None` and `find_id` is true, the ids come from the column `id` if it exists and contains
    /// strings or integers. In all other cases, row numbers are the ids. With `lists`, texts may be
    /// lists of tokens.
    #[staticmethod]
    #[pyo3(signature = (object, text, id, find_id, fields, lists=false))]
    fn of_arrow(
        object: &Bound<'_, PyAny>,
        text: Option<Vec<String>>,
        id: Option<&str>,
        find_id: bool,
        fields: Vec<String>,
        lists: bool,
    ) -> PyResult<Self> {
        let py = object.py();
        let mut columns = capsule::import(object)?;
        let label = |name: &str| format!("column {name:?}");
        let found = find_id && columns.names().iter().any(|name| name == "id");
        let mut id = id.or(found.then_some("id"));
        let mut ids = None;
        if let Some(name) = id {
            let column = columns.column(name)?;
            let kind = column.field.data_type();
            if found && !is_id(kind) {
                warn_of_ids(py, kind)?;
                id = None;
            } else {
                ids = Some(FieldColumn::arrow_ids(column, &label(name), py)?);
            }
        }
        let column = |name: String| {
            let column = FieldColumn::of(columns.column(&name)?, &label(&name), py)?;
            Ok((name, column))
        };
        let fields = fields.into_iter().map(column).collect::<PyResult<_>>()?;
        let id = id.map(str::to_owned);
        let mut description = ColumnDescription { id, ..ColumnDescription::default() };
        let texts = if text.is_none() && columns.is_column() {
            vec![(columns.into_column()?, "texts".to_owned())]
        } else {
            description.texts = text.unwrap_or_else(|| vec!["text".to_owned()]);
            let chunks = |name: &String| Ok((columns.column(name)?, label(name)));
            description.texts.iter().map(chunks).collect::<PyResult<_>>()?
        };
        let is_list = |(chunks, _): &(ArrayChunks, String)| {
            lists && token_lists::is_list(chunks.field.data_type())
        };
        description.are_tokens = texts.iter().any(is_list);
        let texts = texts.into_iter().map(|column| {
            let is_list = is_list(&column);
            let (chunks, label) = column;
            if is_list {
                return token_lists::of_arrow(&chunks, &label, py);
            }
            if description.are_tokens {
                let kind = type_name(chunks.field.data_type());
                let text = format!("{label}: expected lists of tokens like the others, got {kind}");
                return Err(DocumentTypeError::new_err(text));
            }
            TextRows::of_arrow(chunks, &label, py)
        });
        let texts = DocumentTexts::InMemory(one_text(texts.collect::<PyResult<_>>()?));
        Self::of_columns(texts, ids, fields, description, 0)
    }

    /// Converts columns of Python values. `texts` contains lists of `str`, or with `tokens` lists
    /// of lists of `str`. The texts of a row are joined. `ids` is a list of the same length (all
    /// `str` or all `int`), or `None` for row numbers. `fields` contains names and lists of `str`
    /// or `None`. `names` and `id_name` are the names of the columns in messages.
    #[staticmethod]
    #[pyo3(signature = (texts, ids, fields, names=vec![], id_name=None, tokens=false))]
    #[expect(clippy::needless_pass_by_value, reason = "lists of Python come as vectors")]
    fn of_texts(
        texts: Vec<Bound<'_, PyAny>>,
        ids: Option<&Bound<'_, PyAny>>,
        fields: Vec<(String, Bound<'_, PyAny>)>,
        names: Vec<String>,
        id_name: Option<String>,
        tokens: bool,
    ) -> PyResult<Self> {
        let description = ColumnDescription { texts: names, id: id_name, are_tokens: tokens };
        let ids = match ids {
            Some(ids) => Some(FieldColumn::ids(ids, &description.id_phrase())?),
            None => None,
        };
        let column = |(name, values): (String, Bound<'_, PyAny>)| {
            let texts = TextRows::of_python(&values, &format!("field {name:?}"))?;
            Ok((name, FieldColumn::Texts(texts)))
        };
        let fields = fields.into_iter().map(column).collect::<PyResult<_>>()?;
        let texts = DocumentTexts::InMemory(description.python_texts(&texts)?);
        Self::of_columns(texts, ids, fields, description, 0)
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// Returns the first row without a text or an id, and "text" or "id". Returns `None` if all
    /// rows are complete.
    fn first_missing(&self) -> Option<(usize, &'static str)> {
        let text = self.rows.texts.first_missing().map(|row| (row, "text"));
        let id = match &self.rows.ids {
            DocumentIds::Rows => None,
            DocumentIds::Texts(ids) => ids.first_missing(),
            DocumentIds::Numbers(ids) => ids.first_missing(),
        };
        text.into_iter().chain(id.map(|row| (row, "id"))).min_by_key(|(row, _)| *row)
    }

    /// Returns true if row numbers are the ids.
    #[getter]
    fn named_by_row(&self) -> bool {
        self.rows.named_by_row()
    }

    /// A table with the column `bytes` (int64): the size of each text in bytes, 0 for
    /// a row without a text.
    fn text_bytes(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        py.detach(|| {
            let bytes = (0..self.rows.len()).map(|row| self.rows.texts.bytes(row) as u64);
            let bytes = bytes.map(u64::cast_signed).collect::<Vec<_>>();
            ArrowTable::new(vec![("bytes", Arc::new(Int64Array::from(bytes)), false)])
        })
    }

    /// Returns true if texts are lists of tokens.
    #[getter]
    fn are_tokens(&self) -> bool {
        self.rows.description.are_tokens
    }

    /// The size of all texts in bytes.
    #[getter]
    fn total_bytes(&self) -> u64 {
        self.rows.texts.total()
    }
}

impl PythonDocuments {
    /// Combines columns of the same number of rows. `held` is the size in bytes that counts against
    /// a memory limit.
    pub(crate) fn of_columns(
        texts: DocumentTexts,
        ids: Option<FieldColumn>,
        fields: Vec<(String, FieldColumn)>,
        description: ColumnDescription,
        held: u64,
    ) -> PyResult<Self> {
        let rows = texts.len();
        let all = ids.iter().map(|column| ("ids", column.len()));
        let all = all.chain(fields.iter().map(|(name, column)| (name.as_str(), column.len())));
        for (name, len) in all {
            if len != rows {
                let text = format!("got {rows} texts and {len} {name}; expected one for each text");
                return Err(DocumentError::new_err(text));
            }
        }
        let ids = match ids {
            None => DocumentIds::Rows,
            Some(FieldColumn::Texts(texts)) => DocumentIds::Texts(texts),
            Some(FieldColumn::Values(values)) => DocumentIds::Numbers(values),
        };
        Ok(Self { rows: Arc::new(DocumentTable { texts, ids, fields, description, held }) })
    }

    /// Returns the documents as a source with a name. Pads row numbers with zeros to the length of
    /// the last one, so that they sort as text. With `as_texts`, does not pad them, because results
    /// contain ids as texts.
    pub(crate) fn source(&self, name: &str, as_texts: bool) -> InMemoryDocuments {
        let last = self.rows.len().saturating_sub(1);
        let digits = if as_texts { 0 } else { last.to_string().len() };
        let rows = Arc::new(PythonSource { rows: Arc::clone(&self.rows), digits });
        InMemoryDocuments { name: name.to_owned(), rows }
    }

    pub(crate) fn rows(&self) -> &Arc<DocumentTable> {
        &self.rows
    }

    /// The names of the fields, in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.rows.fields.iter().map(|(name, _)| name.as_str())
    }

    /// Fails for the first row that has no text or id, or whose id is empty. `side` is the prefix
    /// of the row number in the message, which names the argument.
    pub(crate) fn complete(&self, py: Python<'_>, side: &str) -> PyResult<()> {
        let description = &self.rows.description;
        let missing = self.first_missing().map(|(row, label)| {
            let place = if label == "text" { description.of_text() } else { description.of_id() };
            (row, format!("has no {label}{place} (null or NaN)"))
        });
        let empty = self.rows.first_empty_id();
        let empty = empty.map(|row| (row, format!("has an empty id{}", description.of_id())));
        let first = missing.into_iter().chain(empty).min_by_key(|(row, _)| *row);
        let Some((row, problem)) = first else { return Ok(()) };
        let text = format!(
            "{side}row {row} {problem}; fill it or leave the row out, or let skip_bad=True leave \
             out and count such rows"
        );
        Err(at_row(DocumentError::new_err(text), py, row))
    }
}

impl DocumentTable {
    fn first_empty_id(&self) -> Option<usize> {
        let DocumentIds::Texts(ids) = &self.ids else { return None };
        (0..ids.len()).find(|row| ids.bytes(*row).is_some_and(<[u8]>::is_empty))
    }

    /// Returns the text or the id of a row.
    fn text_of<'a>(
        &self,
        texts: &'a TextRows,
        row: usize,
        field: Field,
    ) -> Result<&'a str, SkipReason> {
        checked_text(texts.bytes(row).ok_or_else(|| self.missing(field))?)
    }

    /// The reason to skip a row without a text or an id.
    fn missing(&self, field: Field) -> SkipReason {
        let Self { description: ColumnDescription { texts, id, .. }, .. } = self;
        let name = match field {
            Field::Id => id.clone().unwrap_or_else(|| "id".to_owned()),
            _ if texts.is_empty() => "text".to_owned(),
            _ => texts.join(", "),
        };
        SkipReason::Null { field, name }
    }

    /// The names of the columns in messages.
    pub(crate) fn description(&self) -> &ColumnDescription {
        &self.description
    }

    /// Returns true if row numbers are the ids.
    pub(crate) fn named_by_row(&self) -> bool {
        matches!(self.ids, DocumentIds::Rows)
    }

    /// The ids, if they are numbers.
    pub(crate) fn numbers(&self) -> Option<&ValueColumn> {
        if let DocumentIds::Numbers(numbers) = &self.ids { Some(numbers) } else { None }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn ids(&self) -> &DocumentIds {
        &self.ids
    }

    /// The columns that decide which documents are kept, with their names.
    pub(crate) fn fields(&self) -> &[(String, FieldColumn)] {
        &self.fields
    }

    /// The bytes of a text in memory. `None` if the row has no text, or if the texts are in a file.
    pub(crate) fn text_bytes(&self, row: usize) -> Option<&[u8]> {
        match &self.texts {
            DocumentTexts::InMemory(texts) => texts.bytes(row),
            DocumentTexts::Spooled(_) => None,
        }
    }
}

/// Documents in memory as the engine reads them.
struct PythonSource {
    rows: Arc<DocumentTable>,
    /// Minimum number of digits of a row number as an id.
    digits: usize,
}

impl DocumentRows for PythonSource {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn id<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a str, SkipReason> {
        buffer.clear();
        match &self.rows.ids {
            DocumentIds::Rows => {
                // Writing to a string does not fail.
                let _ = write!(buffer, "{row:0digits$}", digits = self.digits);
                Ok(buffer)
            }
            DocumentIds::Texts(ids) => match self.rows.text_of(ids, row, Field::Id)? {
                "" => Err(SkipReason::EmptyId),
                id => Ok(id),
            },
            DocumentIds::Numbers(ids) if ids.write(row, buffer) => Ok(buffer),
            DocumentIds::Numbers(_) => Err(self.rows.missing(Field::Id)),
        }
    }

    fn text<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a str, DocumentRowError> {
        match &self.rows.texts {
            DocumentTexts::InMemory(texts) => Ok(self.rows.text_of(texts, row, Field::Text)?),
            DocumentTexts::Spooled(texts) => {
                texts.text(row, buffer)?.ok_or_else(|| self.rows.missing(Field::Text).into())
            }
        }
    }

    fn bytes(&self, row: usize) -> usize {
        self.rows.texts.bytes(row)
    }

    fn buffered_bytes(&self, row: usize) -> usize {
        match &self.rows.texts {
            DocumentTexts::InMemory(_) => 0,
            DocumentTexts::Spooled(texts) => texts.bytes(row),
        }
    }

    fn held_bytes(&self) -> u64 {
        self.rows.held
    }

    fn field(&self, row: usize, field: usize, buffer: &mut String) -> bool {
        self.rows.fields.get(field).is_some_and(|(_, column)| column.write(row, buffer))
    }
}

/// Checks that a text is UTF-8. Each read repeats the check, because the producer may have created
/// invalid data, or changed it since.
fn checked_text(bytes: &[u8]) -> Result<&str, SkipReason> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| {
        let at = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
        SkipReason::NotUtf8 { column: at as u64 + 1 }
    })
}
