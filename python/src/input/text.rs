//! Columns of texts in memory: the address of each text, and the objects that own the bytes.
//!
//! Texts of Python and Arrow are not copied, unless several columns or lists of tokens are joined.
//! The interpreter converts a `str` with non-ASCII characters to UTF-8 at the first request, and
//! keeps the copy with the `str`.
#![expect(unsafe_code, reason = "bytes are borrowed from objects that are kept next to them")]

use crate::arrow::array_chunks::ArrayChunks;
use crate::arrow::column::type_name;
use crate::error::{DocumentError, DocumentTypeError};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, GenericByteArray, StringViewArray};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyList, PyString, PyTuple};
use std::sync::Arc;

/// The separator between the texts of two columns.
pub(crate) const COLUMN_SEPARATOR: &str = "\n\n";

/// Texts by row. Some rows may have no text.
pub(crate) struct TextRows {
    slices: Vec<Slice>,
    #[expect(dead_code, reason = "it owns what the slices point to")]
    owners: Owners,
}

/// A text together with the column that owns it.
pub(crate) struct SharedText {
    slice: Slice,
    #[expect(dead_code, reason = "it owns what the slice points to")]
    column: Arc<TextRows>,
}

impl AsRef<str> for SharedText {
    fn as_ref(&self) -> &str {
        // SAFETY: the column owns the bytes, which are immutable. The constructor has checked that
        // they are UTF-8.
        unsafe { std::str::from_utf8_unchecked(self.slice.bytes()) }
    }
}

/// A range of bytes in memory. A null pointer means no text.
#[derive(Clone, Copy)]
struct Slice {
    start: *const u8,
    length: usize,
}

enum Owners {
    #[expect(dead_code, reason = "they own what the slices point to")]
    Python(Vec<Py<PyString>>),
    #[expect(dead_code, reason = "they own what the slices point to")]
    Arrow(Vec<ArrayRef>),
    #[expect(dead_code, reason = "they own what the slices point to")]
    Texts(Vec<Box<[u8]>>),
}

// SAFETY: the bytes belong to Python strings, Arrow arrays or boxes. No code changes them while a
// slice exists.
unsafe impl Send for Slice {}
// SAFETY: as above.
unsafe impl Sync for Slice {}

impl Slice {
    const NONE: Self = Self { start: std::ptr::null(), length: 0 };

    fn of(bytes: &[u8]) -> Self {
        Self { start: bytes.as_ptr(), length: bytes.len() }
    }

    /// Returns the bytes.
    ///
    /// # Safety
    /// The pointer is not null, and the owner of the bytes outlives `'a`.
    unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: slices are created from bytes that their owners do not move.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

impl TextRows {
    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.slices.len()
    }

    /// The bytes of a row. `None` if the row has no text or does not exist.
    pub(crate) fn bytes(&self, row: usize) -> Option<&[u8]> {
        let slice = self.slices.get(row).filter(|slice| !slice.start.is_null())?;
        // SAFETY: the owners live as long as this value.
        Some(unsafe { slice.bytes() })
    }

    /// Returns the text of a row with its owner, after checking that it is UTF-8. Returns `None` if
    /// the row has no text or does not exist.
    ///
    /// # Errors
    /// A message for bytes that are not UTF-8.
    pub(crate) fn shared(self: &Arc<Self>, row: usize) -> Result<Option<SharedText>, String> {
        let Some(bytes) = self.bytes(row) else { return Ok(None) };
        utf8(bytes)?;
        Ok(Some(SharedText { slice: Slice::of(bytes), column: Arc::clone(self) }))
    }

    /// The size of all texts in bytes.
    pub(crate) fn total(&self) -> u64 {
        self.slices.iter().map(|slice| slice.length as u64).sum()
    }

    /// The size in bytes of the list of addresses.
    pub(crate) fn held_bytes(&self) -> u64 {
        (self.slices.capacity() * size_of::<Slice>()) as u64
    }

    /// The first row without a text.
    pub(crate) fn first_missing(&self) -> Option<usize> {
        self.slices.iter().position(|slice| slice.start.is_null())
    }

    /// Reads the texts of a list, a tuple or another iterable of `str`. Missing values such as
    /// `None` mean no text. `label` names the texts in messages.
    pub(crate) fn of_python(values: &Bound<'_, PyAny>, label: &str) -> PyResult<Self> {
        let mut texts = PythonTexts { slices: Vec::new(), strings: Vec::new() };
        if let Ok(list) = values.cast::<PyList>() {
            texts.reserve(list.len());
            for (row, value) in list.iter().enumerate() {
                texts.push(&value, row, label)?;
            }
        } else if let Ok(tuple) = values.cast::<PyTuple>() {
            texts.reserve(tuple.len());
            for (row, value) in tuple.iter().enumerate() {
                texts.push(&value, row, label)?;
            }
        } else {
            for (row, value) in values.try_iter()?.enumerate() {
                texts.push(&value?, row, label)?;
            }
        }
        Ok(Self { slices: texts.slices, owners: Owners::Python(texts.strings) })
    }

    /// Reads the texts of an Arrow column of strings. Fails if a row cannot be read.
    pub(crate) fn of_arrow(column: ArrayChunks, label: &str, py: Python<'_>) -> PyResult<Self> {
        if !is_text(column.field.data_type()) {
            return Err(wrong_type(label, column.field.data_type()));
        }
        let (texts, damage) = Self::up_to_damage(column);
        let Some(damage) = damage else { return Ok(texts) };
        let row = texts.len();
        let text = format!("row {row}: {label} cannot be read: {damage}");
        Err(at_row(DocumentError::new_err(text), py, row))
    }

    /// Takes ownership of texts. `None` is a row without a text.
    pub(crate) fn of_owned(texts: impl Iterator<Item = Option<Box<[u8]>>>) -> Self {
        let mut slices = Vec::new();
        let mut owners = Vec::new();
        for text in texts {
            slices.push(text.as_deref().map_or(Slice::NONE, Slice::of));
            owners.extend(text);
        }
        Self { slices, owners: Owners::Texts(owners) }
    }

    /// Joins the texts of several columns row by row, with a blank line between two. A row has no
    /// text if no column has one. The columns have the same number of rows.
    pub(crate) fn joined(columns: &[Self]) -> Self {
        let rows = columns.iter().map(Self::len).min().unwrap_or(0);
        Self::of_owned((0..rows).map(|row| {
            let parts: Vec<&[u8]> = columns.iter().filter_map(|column| column.bytes(row)).collect();
            (!parts.is_empty()).then(|| parts.join(COLUMN_SEPARATOR.as_bytes()).into_boxed_slice())
        }))
    }

    /// Reads the texts of an Arrow column of strings. If a row cannot be read, returns the texts
    /// before it and the reason.
    pub(crate) fn up_to_damage(column: ArrayChunks) -> (Self, Option<String>) {
        let mut slices = Vec::with_capacity(column.rows());
        let read = |array: &ArrayRef| of_array(array.as_ref(), &mut slices).err();
        let damage = column.arrays.iter().find_map(read);
        (Self { slices, owners: Owners::Arrow(column.arrays) }, damage)
    }
}

/// Returns the text of a row of an array of strings. The array must not be a dictionary, and the
/// row must not be null.
///
/// # Errors
/// The reason why the text cannot be read.
pub(crate) fn of_row(array: &dyn Array, row: usize) -> Result<&str, String> {
    let slice = slice(array, row)?;
    if slice.start.is_null() {
        return Err("it has no texts".to_owned());
    }
    // SAFETY: the pointer is not null, and the array outlives the returned text.
    utf8(unsafe { slice.bytes() })
}

/// Returns the address of the text of a row that is not null.
fn slice(array: &dyn Array, row: usize) -> Result<Slice, &'static str> {
    match array.data_type() {
        DataType::Utf8 => in_offsets(array.as_string::<i32>(), row),
        DataType::LargeUtf8 => in_offsets(array.as_string::<i64>(), row),
        DataType::Utf8View => in_views(array.as_string_view(), row),
        _ => Ok(Slice::NONE),
    }
}

pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, String> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| {
        let at = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
        format!("its byte {at} is not UTF-8; decode it with its encoding first")
    })
}

/// Returns true if arrays of a type contain texts.
pub(crate) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => {
            is_text(values) && !matches!(**values, DataType::Dictionary(_, _))
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => true,
        _ => false,
    }
}

struct PythonTexts {
    slices: Vec<Slice>,
    strings: Vec<Py<PyString>>,
}

impl PythonTexts {
    fn reserve(&mut self, rows: usize) {
        self.slices.reserve(rows);
        self.strings.reserve(rows);
    }

    fn push(&mut self, value: &Bound<'_, PyAny>, row: usize, label: &str) -> PyResult<()> {
        let Ok(string) = value.cast::<PyString>() else {
            if is_missing(value) {
                self.slices.push(Slice::NONE);
                return Ok(());
            }
            return Err(not_a_text(value, row, label));
        };
        let text = string.to_str().map_err(|error| lone_surrogate(&error, row, label))?;
        self.slices.push(Slice::of(text.as_bytes()));
        self.strings.push(string.clone().unbind());
        Ok(())
    }
}

/// Appends the addresses of an array's texts, up to a row that cannot be read.
fn of_array(array: &dyn Array, slices: &mut Vec<Slice>) -> Result<(), String> {
    if matches!(array.data_type(), DataType::Dictionary(_, _)) {
        return of_dictionary(array, slices);
    }
    for row in 0..array.len() {
        slices.push(if array.is_null(row) { Slice::NONE } else { slice(array, row)? });
    }
    Ok(())
}

fn of_dictionary(array: &dyn Array, slices: &mut Vec<Slice>) -> Result<(), String> {
    let dictionary = array.as_any_dictionary();
    let keys = dictionary.keys();
    let values = dictionary.values().as_ref();
    for row in 0..array.len() {
        let key = key(keys, row);
        slices.push(if array.is_null(row) {
            Slice::NONE
        } else if key >= values.len() {
            return Err(no_key(values.len()));
        } else if values.is_null(key) {
            Slice::NONE
        } else {
            slice(values, key)?
        });
    }
    Ok(())
}

/// The message for a key without a value.
pub(crate) fn no_key(values: usize) -> String {
    format!("its key is outside the dictionary, which has {values} values")
}

/// Returns the index of a row's value in the dictionary, or `usize::MAX` for an invalid key.
pub(crate) fn key(keys: &dyn Array, row: usize) -> usize {
    fn of<K: ArrowPrimitiveType>(keys: &dyn Array, row: usize) -> usize
    where
        K::Native: TryInto<usize>,
    {
        let key = keys.as_primitive::<K>().values().get(row);
        key.and_then(|key| (*key).try_into().ok()).unwrap_or(usize::MAX)
    }
    match keys.data_type() {
        DataType::Int8 => of::<Int8Type>(keys, row),
        DataType::Int16 => of::<Int16Type>(keys, row),
        DataType::Int32 => of::<Int32Type>(keys, row),
        DataType::Int64 => of::<Int64Type>(keys, row),
        DataType::UInt8 => of::<UInt8Type>(keys, row),
        DataType::UInt16 => of::<UInt16Type>(keys, row),
        DataType::UInt32 => of::<UInt32Type>(keys, row),
        DataType::UInt64 => of::<UInt64Type>(keys, row),
        _ => usize::MAX,
    }
}

fn in_offsets<T: ByteArrayType>(
    array: &GenericByteArray<T>,
    row: usize,
) -> Result<Slice, &'static str>
where
    T::Offset: TryInto<usize>,
{
    let offsets = array.value_offsets();
    let place = |row: usize| (*offsets.get(row)?).try_into().ok();
    let ends = place(row).zip(place(row + 1));
    let bytes = ends.and_then(|(start, end)| array.value_data().get(start..end));
    bytes.map(Slice::of).ok_or("its offsets point outside the data")
}

fn in_views(array: &StringViewArray, row: usize) -> Result<Slice, &'static str> {
    const INLINE: usize = 12;
    let view = array.views().get(row).ok_or("its view is missing")?;
    let length = *view as u32 as usize;
    if length <= INLINE {
        // A short text is stored in the view itself, after its length.
        return Ok(Slice { start: std::ptr::from_ref(view).cast::<u8>().wrapping_add(4), length });
    }
    let buffer = (*view >> 64) as u32 as usize;
    let offset = (*view >> 96) as usize;
    let data = array.data_buffers().get(buffer);
    let bytes = data.and_then(|data| data.get(offset..offset.checked_add(length)?));
    bytes.map(Slice::of).ok_or("its view points outside the data")
}

fn wrong_type(label: &str, got: &DataType) -> PyErr {
    let remedy = match got {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            "; decode the bytes first"
        }
        _ => "",
    };
    DocumentTypeError::new_err(format!(
        "{label}: expected a column of strings (string, large_string, string_view, or a dictionary \
         of these), got {}{remedy}",
        type_name(got)
    ))
}

/// Returns true for missing values: `None`, NaN, and the missing values of pandas.
pub(crate) fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    if value.is_none() || value.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan()) {
        return true;
    }
    let kind = value.get_type();
    let is = |name| kind.name().is_ok_and(|known| known == name);
    (is("NAType") || is("NaTType"))
        && kind.module().is_ok_and(|module| module.to_string().starts_with("pandas."))
}

/// Returns the error for a value that is not a `str`.
pub(crate) fn not_a_text(value: &Bound<'_, PyAny>, row: usize, label: &str) -> PyErr {
    let got =
        value.get_type().name().map_or_else(|_| "something else".to_owned(), |n| n.to_string());
    let remedy = match got.as_str() {
        "bytes" | "bytearray" => "; decode them first, as bytes.decode('utf-8') does",
        _ => "",
    };
    let text = format!("row {row}: {label} must be a str, got {got}{remedy}");
    at_row(DocumentTypeError::new_err(text), value.py(), row)
}

pub(crate) fn lone_surrogate(error: &PyErr, row: usize, label: &str) -> PyErr {
    Python::attach(|py| {
        let text = format!(
            "row {row}: {label} cannot be written as UTF-8 ({}); a lone surrogate is not a \
             character; text.encode('utf-8', 'replace').decode() replaces it",
            error.value(py)
        );
        at_row(DocumentError::new_err(text), py, row)
    })
}

/// Adds the row to an error as its attribute.
pub(crate) fn at_row(error: PyErr, py: Python<'_>, row: usize) -> PyErr {
    match error.value(py).setattr("row", row) {
        Ok(()) => error,
        Err(other) => other,
    }
}
