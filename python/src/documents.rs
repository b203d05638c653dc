//! Documents that Python holds, as a source of the engine.

use crate::capsule::{self, Chunks};
use crate::column::{Values, type_name};
use crate::error::{DocumentError, DocumentTypeError};
use crate::text::{Texts, at_row};
use arrow_schema::DataType;
use lookalike::read::{Field, Held, HeldDocuments, SkipReason};
use pyo3::prelude::*;
use pyo3::types::PyInt;
use std::fmt::Write;
use std::sync::Arc;

/// Documents in memory: texts, and where they have them ids and fields.
#[pyclass(frozen, module = "lookalike._engine")]
pub(crate) struct Documents {
    rows: Arc<Rows>,
}

/// Columns of the same number of rows.
pub(crate) struct Rows {
    texts: Texts,
    ids: Ids,
    fields: Vec<(String, Column)>,
}

/// What names documents.
enum Ids {
    /// Their rows, from 0, in as many digits as the last one has, so that they sort as they stand.
    Rows {
        digits: usize,
    },
    Texts(Texts),
    Numbers(Values),
}

enum Column {
    Texts(Texts),
    Values(Values),
}

impl Column {
    fn of(chunks: Chunks, what: &str) -> PyResult<Self> {
        Ok(match chunks.field.data_type() {
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Null
            | DataType::Dictionary(_, _) => Self::Texts(Texts::of_arrow(chunks, what)?),
            _ => Self::Values(Values::of_arrow(chunks, what)?),
        })
    }

    /// Ids of an Arrow column: strings or integers.
    fn arrow_ids(column: Chunks, what: &str) -> PyResult<Self> {
        let kind = column.field.data_type().clone();
        match Self::of(column, what)? {
            Self::Values(_) if !kind.is_integer() => Err(DocumentTypeError::new_err(format!(
                "{what}: ids are strings or integers, got {}",
                type_name(&kind)
            ))),
            column => Ok(column),
        }
    }

    /// Ids from Python: all `str`, or all `int`.
    fn ids(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let numbers = values.get_item(0).is_ok_and(|first| first.is_instance_of::<PyInt>());
        if !numbers {
            return Ok(Self::Texts(Texts::of_python(values, "the id")?));
        }
        let mut ids = Vec::with_capacity(values.len()?);
        for (row, value) in values.try_iter()?.enumerate() {
            let value = value?;
            let number = value.is_instance_of::<PyInt>().then(|| value.extract::<i64>());
            match number {
                Some(Ok(number)) => ids.push(number),
                Some(Err(_)) => {
                    let text = format!("row {row}: the id {value} does not fit in 64 bits");
                    return Err(at_row(DocumentError::new_err(text), value.py(), row));
                }
                None => return Err(mixed_ids(&value, row)),
            }
        }
        Ok(Self::Values(Values::of_integers(ids)))
    }

    fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Values(values) => values.len(),
        }
    }
}

fn mixed_ids(value: &Bound<'_, PyAny>, row: usize) -> PyErr {
    let got = value.get_type().name().map_or_else(|_| "other".to_owned(), |n| n.to_string());
    let text = format!("row {row}: the id is of type {got}, those before are int; use one type");
    at_row(DocumentTypeError::new_err(text), value.py(), row)
}

#[pymethods]
impl Documents {
    /// Columns of an object with the Arrow `PyCapsule` interface. Where `text` is `None` it is the
    /// column `text`, or the object itself where that is one column. Where `id` is `None`, the
    /// column `id` is taken if `find_id` is true and there is one; else rows are the ids.
    #[staticmethod]
    fn of_arrow(
        object: &Bound<'_, PyAny>,
        text: Option<&str>,
        id: Option<&str>,
        find_id: bool,
        fields: Vec<String>,
    ) -> PyResult<Self> {
        let chunks = capsule::import(object)?;
        let named = |name: &str| Ok::<_, PyErr>((chunks.column(name)?, format!("column {name:?}")));
        let found = (find_id && chunks.names().contains(&"id")).then_some("id");
        let ids = id.or(found).map(|id| {
            let (column, what) = named(id)?;
            Column::arrow_ids(column, &what)
        });
        let column = |name: String| {
            let (column, what) = named(&name)?;
            Ok((name, Column::of(column, &what)?))
        };
        let ids = ids.transpose()?;
        let fields = fields.into_iter().map(column).collect::<PyResult<_>>()?;
        let texts = if text.is_none() && chunks.names().is_empty() {
            Texts::of_arrow(chunks, "texts")?
        } else {
            let (column, what) = named(text.unwrap_or("text"))?;
            Texts::of_arrow(column, &what)?
        };
        Self::new(object.py(), texts, ids, fields)
    }

    /// A list of `str`, and a list of ids (all `str` or all `int`) of the same length or `None`;
    /// fields are lists of `str` or `None`, by name.
    #[staticmethod]
    fn of_texts(
        texts: &Bound<'_, PyAny>,
        ids: Option<&Bound<'_, PyAny>>,
        fields: Vec<(String, Bound<'_, PyAny>)>,
    ) -> PyResult<Self> {
        let py = texts.py();
        let ids = match ids {
            Some(ids) => Some(Column::ids(ids)?),
            None => None,
        };
        let column = |(name, values): (String, Bound<'_, PyAny>)| {
            let texts = Texts::of_python(&values, &format!("field {name:?}"))?;
            Ok((name, Column::Texts(texts)))
        };
        let fields = fields.into_iter().map(column).collect::<PyResult<_>>()?;
        Self::new(py, Texts::of_python(texts, "the text")?, ids, fields)
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// The first row without a text or an id, and which of the two; `None` where all have both.
    fn first_missing(&self) -> Option<(usize, &'static str)> {
        let text = self.rows.texts.first_missing().map(|row| (row, "text"));
        let id = match &self.rows.ids {
            Ids::Rows { .. } => None,
            Ids::Texts(ids) => ids.first_missing(),
            Ids::Numbers(ids) => ids.first_missing(),
        };
        text.into_iter().chain(id.map(|row| (row, "id"))).min()
    }

    /// Bytes of all texts.
    #[getter]
    fn total_bytes(&self) -> u64 {
        self.rows.texts.total()
    }
}

impl Documents {
    fn new(
        py: Python<'_>,
        texts: Texts,
        ids: Option<Column>,
        fields: Vec<(String, Column)>,
    ) -> PyResult<Self> {
        let rows = texts.len();
        let all = ids.iter().map(|column| ("ids", column.len()));
        let all = all.chain(fields.iter().map(|(name, column)| (name.as_str(), column.len())));
        for (name, len) in all {
            if len != rows {
                let text = format!("{rows} texts and {len} {name}; give each text one of them");
                return Err(DocumentError::new_err(text));
            }
        }
        let ids = match ids {
            None => Ids::Rows { digits: rows.saturating_sub(1).to_string().len() },
            Some(Column::Texts(texts)) => Ids::Texts(texts),
            Some(Column::Values(values)) => Ids::Numbers(values),
        };
        let rows = Rows { texts, ids, fields };
        rows.refuse_empty_ids(py)?;
        Ok(Self { rows: Arc::new(rows) })
    }

    /// The documents as a source with that name.
    pub(crate) fn source(&self, name: &str) -> HeldDocuments {
        HeldDocuments { name: name.to_owned(), rows: Arc::clone(&self.rows) as Arc<dyn Held> }
    }

    /// Their columns.
    pub(crate) fn rows(&self) -> &Arc<Rows> {
        &self.rows
    }

    /// The names of the fields, in their order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.rows.fields.iter().map(|(name, _)| name.as_str())
    }

    /// The error for a row without text or id, if there is one.
    pub(crate) fn complete(&self, py: Python<'_>) -> PyResult<()> {
        let Some((row, what)) = self.first_missing() else { return Ok(()) };
        let text = format!(
            "row {row} has no {what} (null); fill it or leave the row out, or let skip_bad=True \
             leave out and count such rows"
        );
        Err(at_row(DocumentError::new_err(text), py, row))
    }
}

impl Rows {
    fn refuse_empty_ids(&self, py: Python<'_>) -> PyResult<()> {
        let Ids::Texts(ids) = &self.ids else { return Ok(()) };
        match (0..ids.len()).find(|row| ids.bytes(*row).is_some_and(<[u8]>::is_empty)) {
            None => Ok(()),
            Some(row) => {
                let text = format!("row {row}: the id is empty; give every document one");
                Err(at_row(DocumentError::new_err(text), py, row))
            }
        }
    }

    /// Whether rows are the ids.
    pub(crate) fn named_by_row(&self) -> bool {
        matches!(self.ids, Ids::Rows { .. })
    }

    /// Whether ids are numbers.
    pub(crate) fn named_by_number(&self) -> bool {
        matches!(self.ids, Ids::Numbers(_))
    }
}

impl Held for Rows {
    fn len(&self) -> usize {
        self.texts.len()
    }

    fn id<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a str, SkipReason> {
        buffer.clear();
        match &self.ids {
            Ids::Rows { digits } => {
                // Writing to a text does not fail.
                let _ = write!(buffer, "{row:0digits$}");
                Ok(buffer)
            }
            Ids::Texts(ids) => text(ids, row, Field::Id),
            Ids::Numbers(ids) if ids.write(row, buffer) => Ok(buffer),
            Ids::Numbers(_) => Err(SkipReason::Null { field: Field::Id, name: "id".to_owned() }),
        }
    }

    fn text(&self, row: usize) -> Result<&str, SkipReason> {
        text(&self.texts, row, Field::Text)
    }

    fn bytes(&self, row: usize) -> usize {
        self.texts.bytes(row).map_or(0, <[u8]>::len)
    }

    fn field(&self, row: usize, field: usize, buffer: &mut String) -> bool {
        match self.fields.get(field).map(|(_, column)| column) {
            Some(Column::Texts(texts)) => text(texts, row, Field::Further).is_ok_and(|value| {
                buffer.push_str(value);
                true
            }),
            Some(Column::Values(values)) => values.write(row, buffer),
            None => false,
        }
    }
}

/// The text of a row, which is looked at each time: whoever made it may have got it wrong, or
/// have changed it since.
fn text(texts: &Texts, row: usize, field: Field) -> Result<&str, SkipReason> {
    let name = || match field {
        Field::Id => "id".to_owned(),
        _ => "text".to_owned(),
    };
    let Some(bytes) = texts.bytes(row) else {
        return Err(SkipReason::Null { field, name: name() });
    };
    simdutf8::basic::from_utf8(bytes).map_err(|_| {
        let at = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
        SkipReason::NotUtf8 { column: at as u64 + 1 }
    })
}
