//! Arrow's C interface in Python capsules: columns are imported and exported without a copy.
//!
//! Specification: the Arrow `PyCapsule` interface. This module reads only the requested columns.
//! [`c_data`] checks them as far as the interface allows, and trusts the producer otherwise.
//! [`import`] reads an object as a whole, [`Batches`] one batch at a time.
#![expect(unsafe_code, reason = "structures of C behind pointers")]

use crate::arrow::array_chunks::ArrayChunks;
use crate::arrow::c_data;
use crate::arrow::column::{self, type_name};
use crate::arrow::nested;
use crate::call::PATIENCE;
use crate::error::{DocumentError, DocumentTypeError};
use crate::input::text;
use crate::input::token_lists;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, NullArray, RecordBatch, RecordBatchIterator, RecordBatchReader, make_array,
};
use arrow_schema::{DataType, Field, SchemaRef};
use pyo3::exceptions::{PyKeyboardInterrupt, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Instant;

const STREAM: &CStr = c"arrow_array_stream";
const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";

/// A table from another package. Callers take single columns out of it.
pub(crate) struct ImportedTable {
    schema: FFI_ArrowSchema,
    arrays: Vec<FFI_ArrowArray>,
    /// The names of the columns. `None` if the data is a single column.
    names: Option<Vec<String>>,
    /// The taken columns with their positions.
    taken_columns: Vec<(usize, ArrayChunks)>,
}

/// Imports all data of an object with `__arrow_c_stream__` or `__arrow_c_array__`. This consumes a
/// stream that creates its arrays on demand.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> PyResult<ImportedTable> {
    let py = object.py();
    let mut batches = Batches::of(object)?;
    let mut arrays = Vec::new();
    let read = read_all(py, &mut batches.rest, &mut arrays);
    // Releasing a stream may also wait for the interpreter.
    py.detach(move || {
        let Batches { columns, rest } = batches;
        drop(rest);
        read.map(|()| ImportedTable { arrays, ..columns })
    })
}

/// Reads all arrays. Releases the interpreter's lock while it reads, because a thread of the
/// producer may wait for the lock.
fn read_all(
    py: Python<'_>,
    rest: &mut RemainingArrays,
    arrays: &mut Vec<FFI_ArrowArray>,
) -> PyResult<()> {
    while py.detach(|| read_on(rest, arrays))? {
        py.check_signals()?;
    }
    Ok(())
}

/// Reads arrays until the next check for signals. Returns true if there may be more.
fn read_on(rest: &mut RemainingArrays, arrays: &mut Vec<FFI_ArrowArray>) -> PyResult<bool> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        match rest.next()? {
            Some(array) => arrays.push(array),
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// Reads the data of an object one batch at a time. Each batch replaces the previous batch.
pub(crate) struct Batches {
    columns: ImportedTable,
    rest: RemainingArrays,
}

/// The unread arrays of an object.
enum RemainingArrays {
    Stream(FFI_ArrowArrayStream),
    Array(Option<FFI_ArrowArray>),
}

impl RemainingArrays {
    fn next(&mut self) -> PyResult<Option<FFI_ArrowArray>> {
        match self {
            Self::Stream(stream) => next_array(stream).map_err(|text| producer_error(&text)),
            Self::Array(array) => Ok(array.take()),
        }
    }
}

impl Batches {
    /// Opens an object with `__arrow_c_stream__` or `__arrow_c_array__`.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if object.hasattr("__arrow_c_stream__")? {
            return stream(&object.call_method0("__arrow_c_stream__")?);
        }
        if object.hasattr("__arrow_c_array__")? {
            return array(&object.call_method0("__arrow_c_array__")?);
        }
        let got = object.get_type().name()?;
        Err(DocumentTypeError::new_err(format!(
            "expected an object with the Arrow PyCapsule interface (__arrow_c_stream__ or \
             __arrow_c_array__), got {got}"
        )))
    }

    fn new(schema: FFI_ArrowSchema, names: Option<Vec<String>>, rest: RemainingArrays) -> Self {
        let columns =
            ImportedTable { schema, arrays: Vec::new(), names, taken_columns: Vec::new() };
        Self { columns, rest }
    }

    /// The columns of the current batch. They have no data before the first call of
    /// [`next`](Self::next).
    pub(crate) fn columns(&self) -> &ImportedTable {
        &self.columns
    }

    /// Returns the next batch, or `None` at the end. The caller must not hold the interpreter's
    /// lock, because the producer may take it.
    pub(crate) fn next(&mut self) -> PyResult<Option<&mut ImportedTable>> {
        let Some(array) = self.rest.next()? else { return Ok(None) };
        self.columns.arrays = vec![array];
        self.columns.taken_columns.clear();
        Ok(Some(&mut self.columns))
    }
}

/// Returns the pointer in a capsule. Fails if the object is not a capsule of this name. `method` is
/// the Python method that returned the object.
fn capsule_pointer<T>(
    object: &Bound<'_, PyAny>,
    method: &str,
    name: &CStr,
) -> PyResult<NonNull<T>> {
    let expected_name = name.to_string_lossy();
    let Ok(capsule) = object.cast::<PyCapsule>() else {
        let got = object.get_type().name()?;
        return Err(DocumentTypeError::new_err(format!(
            "{method} gave an object of type {got}, expected a capsule {expected_name:?}"
        )));
    };
    let pointer = capsule.pointer_checked(Some(name)).map_err(|_| {
        let text = format!("{method} gave a capsule of another name, expected {expected_name:?}");
        DocumentTypeError::new_err(text)
    })?;
    Ok(pointer.cast())
}

fn stream(object: &Bound<'_, PyAny>) -> PyResult<Batches> {
    let pointer = capsule_pointer::<FFI_ArrowArrayStream>(object, "__arrow_c_stream__", STREAM)?;
    // SAFETY: a capsule of this name holds such a stream. `from_raw` moves it out and leaves a
    // released stream, as the interface requires.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    // A thread of the producer may wait for the interpreter's lock, also while the stream is
    // released after an error.
    let read = object.py().detach(move || {
        let schema = schema(&mut stream).map_err(|text| producer_error(&text))?;
        let names = c_data::names(&schema).map_err(|reason| unreadable(&reason))?;
        Ok::<_, PyErr>((schema, names, stream))
    });
    let (schema, names, stream) = read?;
    Ok(Batches::new(schema, names, RemainingArrays::Stream(stream)))
}

fn next_array(stream: &mut FFI_ArrowArrayStream) -> Result<Option<FFI_ArrowArray>, String> {
    let get_next = stream.get_next().ok_or("the stream lacks a function")?;
    let mut array = FFI_ArrowArray::empty();
    // SAFETY: the stream is not released, and the function is its own.
    let code = unsafe { get_next(std::ptr::from_mut(stream), &raw mut array) };
    while_ok(code, stream)?;
    Ok((!array.is_released()).then_some(array))
}

/// Returns the names of the columns of a stream, or `None` if the stream is a single column. Leaves
/// the stream unread.
#[pyfunction]
pub(crate) fn stream_columns(stream: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    let pointer = capsule_pointer::<FFI_ArrowArrayStream>(stream, "__arrow_c_stream__", STREAM)?;
    // SAFETY: as in the function `stream` above. The stream is written back below.
    let mut moved = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let schema = stream.py().detach(|| schema(&mut moved));
    // SAFETY: `from_raw` left an empty stream at the pointer. Overwriting it leaks nothing.
    unsafe { pointer.as_ptr().write(moved) };
    let schema = schema.map_err(|text| producer_error(&text))?;
    c_data::names(&schema).map_err(|reason| unreadable(&reason))
}

fn schema(stream: &mut FFI_ArrowArrayStream) -> Result<FFI_ArrowSchema, String> {
    if stream.release().is_none() {
        return Err("the stream was read by another reader already".to_owned());
    }
    let get_schema = stream.get_schema().ok_or("the stream lacks a function")?;
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and the function is its own.
    let code = unsafe { get_schema(std::ptr::from_mut(stream), &raw mut schema) };
    while_ok(code, stream)?;
    Ok(schema)
}

/// Returns the producer's message if the code is an error.
fn while_ok(code: i32, stream: &mut FFI_ArrowArrayStream) -> Result<(), String> {
    if code == 0 {
        return Ok(());
    }
    let message = stream.get_last_error().and_then(|last_error| {
        // SAFETY: the function is the stream's own; its text is valid until the next call.
        let text = unsafe { last_error(std::ptr::from_mut(stream)) };
        // SAFETY: strings of the interface end with a zero byte.
        let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) });
        text.map(|text| text.to_string_lossy().into_owned())
    });
    Err(message.unwrap_or_else(|| format!("its producer failed with the code {code}")))
}

/// Raises the error of a producer. `text` is the message into which Arrow converted it.
#[pyfunction]
pub(crate) fn producer_failed(text: &str) -> PyResult<()> {
    Err(producer_error(text))
}

/// Converts the message of a producer to an exception. A `KeyboardInterrupt` or
/// `SystemExit` keeps its type.
fn producer_error(text: &str) -> PyErr {
    let raised = text.trim_end().lines().next_back().unwrap_or_default();
    let (kind, message) = raised.split_once(": ").unwrap_or((raised, ""));
    match kind {
        _ if !text.contains("Python exception") => unreadable(text),
        "KeyboardInterrupt" => PyKeyboardInterrupt::new_err(message.to_owned()),
        "SystemExit" => PySystemExit::new_err(message.to_owned()),
        _ => unreadable(text),
    }
}

fn array(object: &Bound<'_, PyAny>) -> PyResult<Batches> {
    const METHOD: &str = "__arrow_c_array__";
    let Ok((schema, array)) = object.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
        let got = object.get_type().name()?;
        return Err(DocumentTypeError::new_err(format!(
            "{METHOD} gave an object of type {got}, expected a pair of capsules"
        )));
    };
    let schema_at = capsule_pointer::<FFI_ArrowSchema>(&schema, METHOD, SCHEMA)?;
    let array_at = capsule_pointer::<FFI_ArrowArray>(&array, METHOD, ARRAY)?;
    // SAFETY: capsules of these names hold such structures, and these capsules are alive. Both
    // structures are moved out.
    let (schema, array) = unsafe {
        (FFI_ArrowSchema::from_raw(schema_at.as_ptr()), FFI_ArrowArray::from_raw(array_at.as_ptr()))
    };
    if array.is_released() {
        return Err(unreadable("the array was taken by another reader already"));
    }
    let names = c_data::names(&schema).map_err(|reason| unreadable(&reason))?;
    Ok(Batches::new(schema, names, RemainingArrays::Array(Some(array))))
}

fn unreadable(reason: &str) -> PyErr {
    DocumentError::new_err(format!("the Arrow data cannot be read: {reason}"))
}

impl ImportedTable {
    /// The names of the columns; empty if the data is a single column.
    pub(crate) fn names(&self) -> &[String] {
        self.names.as_deref().unwrap_or_default()
    }

    /// Returns true if the data is a single column.
    pub(crate) fn is_column(&self) -> bool {
        self.names.is_none()
    }

    /// Returns the column of this name. Fails if no column or several columns have the name.
    pub(crate) fn column(&mut self, name: &str) -> PyResult<ArrayChunks> {
        let names = self.names();
        let mut places = (0..names.len()).filter(|place| names[*place] == name);
        let Some(place) = places.next() else {
            return Err(DocumentError::new_err(format!(
                "the column {name:?} does not exist; {}; text= and id= name columns",
                self.columns_phrase()?
            )));
        };
        if places.next().is_some() {
            let text = format!("several columns have the name {name:?}; rename one of them");
            return Err(DocumentError::new_err(text));
        }
        self.column_once(place, &format!("column {name:?}"), is_read)
    }

    /// Returns the column at a position, whatever its type. `label` names it in messages.
    pub(crate) fn column_at(&mut self, place: usize, label: &str) -> PyResult<ArrayChunks> {
        self.column_once(place, label, |_| true)
    }

    /// Returns a column, from `taken_columns` if a caller requested it before.
    fn column_once(
        &mut self,
        place: usize,
        label: &str,
        is_read: impl Fn(&DataType) -> bool,
    ) -> PyResult<ArrayChunks> {
        if let Some((_, chunks)) =
            self.taken_columns.iter().find(|(position, _)| *position == place)
        {
            return Ok(chunks.clone());
        }
        let chunks = self.chunks(Some(place), label, is_read)?;
        self.taken_columns.push((place, chunks.clone()));
        Ok(chunks)
    }

    /// The name of the type of the whole data.
    pub(crate) fn kind(&self) -> PyResult<String> {
        let part = c_data::part(&self.schema, None).map_err(|reason| unreadable(&reason))?;
        let kind = Field::try_from(part).map(|field| type_name(field.data_type()));
        Ok(kind.unwrap_or_else(|_| "another type".to_owned()))
    }

    fn columns_phrase(&self) -> PyResult<String> {
        if let Some(names) = &self.names
            && !names.is_empty()
        {
            return Ok(format!("there are {}", names.join(", ")));
        }
        let kind = self.kind()?;
        let columns = if self.is_column() { "this is one column of " } else { "this is " };
        Ok(format!("there are none, {columns}{kind}"))
    }

    /// The whole data as one column.
    pub(crate) fn into_column(mut self) -> PyResult<ArrayChunks> {
        self.chunks(None, "the Arrow data", is_read)
    }

    /// Takes a column, or the whole data if `column` is `None`. `label` names it in messages. If
    /// `is_read` rejects its type, the result has no arrays.
    fn chunks(
        &mut self,
        column: Option<usize>,
        label: &str,
        is_read: impl Fn(&DataType) -> bool,
    ) -> PyResult<ArrayChunks> {
        let unreadable = |why: String| {
            let text = format!("{label} cannot be read: {why}");
            DocumentError::new_err(text)
        };
        let part = c_data::part(&self.schema, column).map_err(unreadable)?;
        let field = Arc::new(Field::try_from(part).map_err(|_| {
            let name = c_data::format(part);
            let text = format!("{label}: its type {name:?} is not known; convert it first");
            DocumentTypeError::new_err(text)
        })?);
        let kind = field.data_type();
        if !is_read(kind) {
            return Ok(ArrayChunks { field, arrays: Vec::new() });
        }
        let arrays = self.arrays_of(column, kind).map_err(unreadable)?;
        Ok(ArrayChunks { field, arrays })
    }

    fn arrays_of(
        &mut self,
        column: Option<usize>,
        kind: &DataType,
    ) -> Result<Vec<ArrayRef>, String> {
        let columns = self.names().len();
        let mut arrays = Vec::with_capacity(self.arrays.len());
        for array in &mut self.arrays {
            let (array, rows) = if let Some(column) = column {
                let rows = c_data::rows(array)?;
                (c_data::take_column(array, column, columns)?, rows)
            } else {
                let rows = c_data::RowRange { start: 0, count: c_data::len(array)?, present: None };
                (std::mem::replace(array, FFI_ArrowArray::empty()), rows)
            };
            arrays.push(array_of_rows(array, kind, rows)?);
        }
        Ok(arrays)
    }
}

/// Returns true for types of texts, of lists of tokens, and of values that can be written as text.
fn is_read(kind: &DataType) -> bool {
    text::is_text(kind) || token_lists::is_list(kind) || column::is_value(kind)
}

/// Imports a range of rows of an array. Rows that are not present become null.
fn array_of_rows(
    array: FFI_ArrowArray,
    kind: &DataType,
    rows: c_data::RowRange,
) -> Result<ArrayRef, String> {
    let c_data::RowRange { start, count, present } = rows;
    if *kind == DataType::Null {
        return Ok(Arc::new(NullArray::new(count)));
    }
    c_data::check(&array, kind, start + count)?;
    // SAFETY: the array has this type, as far as `check` can verify it.
    let data = unsafe { from_ffi_and_data_type(array, nested::plain(kind)) };
    let data = data.map_err(|error| error.to_string())?;
    if nested::is_nested(kind) {
        // Slicing a nested array trusts the lengths of its parts.
        data.validate().map_err(|error| error.to_string())?;
    }
    let array = make_array(data).slice(start, count);
    let Some(mut present) = present else { return Ok(array) };
    if matches!(kind, DataType::Union(_, _) | DataType::RunEndEncoded(_, _)) {
        // Arrays of these types have no validity bitmap for missing rows.
        if present.contains(&false) {
            return Err("some of its rows are missing, but its type has no missing values".into());
        }
        return Ok(array);
    }
    for (row, present) in present.iter_mut().enumerate() {
        *present &= !array.is_null(row);
    }
    let data = array.to_data();
    let nulls = present.into();
    // SAFETY: the bitmap has a bit for each row, and nothing else changes.
    Ok(make_array(unsafe { data.into_builder().nulls(Some(nulls)).build_unchecked() }))
}

/// A capsule with a stream of record batches.
pub(crate) fn export_stream(
    py: Python<'_>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'_, PyCapsule>> {
    let batches = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    let reader: Box<dyn RecordBatchReader + Send> = Box::new(batches);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// A capsule with the type of record batches.
pub(crate) fn export_schema<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref());
    let schema = schema.map_err(|error| DocumentError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

impl ArrayChunks {
    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.arrays.iter().map(Array::len).sum()
    }
}
