//! Texts that other objects own: where each stands, and what keeps it there.
//!
//! Nothing is copied here. Of a `str` with other characters than those of ASCII the interpreter
//! makes a copy in UTF-8 when it is first asked for, and keeps it with the `str`.
#![expect(unsafe_code, reason = "bytes are borrowed from objects that are kept beside them")]

use crate::capsule::Chunks;
use crate::column::type_name;
use crate::error::{DocumentError, DocumentTypeError};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, GenericByteArray, StringViewArray};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

/// Texts by row, some of which may be missing.
pub(crate) struct Texts {
    slices: Vec<Slice>,
    #[expect(dead_code, reason = "it owns what the slices point to")]
    owners: Owners,
}

/// Bytes somewhere; no text where the pointer is null.
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
}

// SAFETY: the bytes belong to Python strings and to Arrow arrays, which nobody may change, and are
// only read.
unsafe impl Send for Slice {}
// SAFETY: as above.
unsafe impl Sync for Slice {}

impl Slice {
    const NONE: Self = Self { start: std::ptr::null(), length: 0 };

    fn of(bytes: &[u8]) -> Self {
        Self { start: bytes.as_ptr(), length: bytes.len() }
    }
}

impl Texts {
    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.slices.len()
    }

    /// Bytes of a row; none where it has no text, or is none.
    pub(crate) fn bytes(&self, row: usize) -> Option<&[u8]> {
        let slice = self.slices.get(row).filter(|slice| !slice.start.is_null())?;
        // SAFETY: the slice was made of bytes that the owners keep where they are, and these live
        // as long as this value.
        Some(unsafe { std::slice::from_raw_parts(slice.start, slice.length) })
    }

    /// Bytes of all texts.
    pub(crate) fn total(&self) -> u64 {
        self.slices.iter().map(|slice| slice.length as u64).sum()
    }

    /// The first row without a text.
    pub(crate) fn first_missing(&self) -> Option<usize> {
        self.slices.iter().position(|slice| slice.start.is_null())
    }

    /// Those of a list or a tuple of `str`; `None` is none. `what` names them in messages.
    pub(crate) fn of_python(values: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let mut texts = PythonTexts { slices: Vec::new(), strings: Vec::new() };
        if let Ok(list) = values.cast::<PyList>() {
            texts.reserve(list.len());
            for (row, value) in list.iter().enumerate() {
                texts.push(&value, row, what)?;
            }
        } else if let Ok(tuple) = values.cast::<PyTuple>() {
            texts.reserve(tuple.len());
            for (row, value) in tuple.iter().enumerate() {
                texts.push(&value, row, what)?;
            }
        } else {
            for (row, value) in values.try_iter()?.enumerate() {
                texts.push(&value?, row, what)?;
            }
        }
        Ok(Self { slices: texts.slices, owners: Owners::Python(texts.strings) })
    }

    /// Those of an Arrow column of strings.
    pub(crate) fn of_arrow(column: Chunks, what: &str, py: Python<'_>) -> PyResult<Self> {
        if !is_text(column.field.data_type()) {
            return Err(wrong_type(what, column.field.data_type()));
        }
        let mut slices = Vec::with_capacity(column.rows());
        for array in &column.arrays {
            if let Err(damage) = of_array(array.as_ref(), &mut slices) {
                let row = slices.len();
                let text = format!("row {row}: {what} cannot be read: {damage}");
                return Err(at_row(DocumentError::new_err(text), py, row));
            }
        }
        Ok(Self { slices, owners: Owners::Arrow(column.arrays) })
    }
}

/// Whether texts are read from arrays of that type.
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

    fn push(&mut self, value: &Bound<'_, PyAny>, row: usize, what: &str) -> PyResult<()> {
        if value.is_none() {
            self.slices.push(Slice::NONE);
            return Ok(());
        }
        let Ok(string) = value.cast::<PyString>() else {
            return Err(not_a_text(value, row, what));
        };
        let text = string.to_str().map_err(|error| lone_surrogate(&error, row, what))?;
        self.slices.push(Slice::of(text.as_bytes()));
        self.strings.push(string.clone().unbind());
        Ok(())
    }
}

/// The slices of an array's rows, up to one that is damaged.
fn of_array(array: &dyn Array, slices: &mut Vec<Slice>) -> Result<(), String> {
    match array.data_type() {
        DataType::Utf8 => of_offsets(array.as_string::<i32>(), slices),
        DataType::LargeUtf8 => of_offsets(array.as_string::<i64>(), slices),
        DataType::Utf8View => of_views(array.as_string_view(), slices),
        DataType::Dictionary(_, _) => of_dictionary(array, slices),
        _ => {
            slices.extend(std::iter::repeat_n(Slice::NONE, array.len()));
            Ok(())
        }
    }
}

fn of_dictionary(array: &dyn Array, slices: &mut Vec<Slice>) -> Result<(), String> {
    let dictionary = array.as_any_dictionary();
    let mut values = Vec::with_capacity(dictionary.values().len());
    of_array(dictionary.values().as_ref(), &mut values)?;
    for (row, key) in keys(dictionary.keys()).into_iter().enumerate() {
        let value = values.get(key).copied();
        let slice = if array.is_null(row) { Some(Slice::NONE) } else { value };
        let values = values.len();
        slices.push(
            slice.ok_or_else(|| format!("its key is none of the {values} of the dictionary"))?,
        );
    }
    Ok(())
}

/// The places in a dictionary; those that cannot be are behind all.
fn keys(keys: &dyn Array) -> Vec<usize> {
    fn of<K: ArrowPrimitiveType>(keys: &dyn Array) -> Vec<usize>
    where
        K::Native: TryInto<usize>,
    {
        let keys = keys.as_primitive::<K>().values().iter();
        keys.map(|key| (*key).try_into().unwrap_or(usize::MAX)).collect()
    }
    match keys.data_type() {
        DataType::Int8 => of::<Int8Type>(keys),
        DataType::Int16 => of::<Int16Type>(keys),
        DataType::Int32 => of::<Int32Type>(keys),
        DataType::Int64 => of::<Int64Type>(keys),
        DataType::UInt8 => of::<UInt8Type>(keys),
        DataType::UInt16 => of::<UInt16Type>(keys),
        DataType::UInt32 => of::<UInt32Type>(keys),
        DataType::UInt64 => of::<UInt64Type>(keys),
        _ => vec![usize::MAX; keys.len()],
    }
}

fn of_offsets<T: ByteArrayType>(
    array: &GenericByteArray<T>,
    slices: &mut Vec<Slice>,
) -> Result<(), String>
where
    T::Offset: TryInto<usize>,
{
    let data = array.value_data();
    let place = |offset: T::Offset| offset.try_into().unwrap_or(usize::MAX);
    for (row, ends) in array.value_offsets().windows(2).enumerate() {
        slices.push(if array.is_null(row) {
            Slice::NONE
        } else {
            let bytes = data.get(place(ends[0])..place(ends[1]));
            Slice::of(bytes.ok_or("its offsets leave the data")?)
        });
    }
    Ok(())
}

fn of_views(array: &StringViewArray, slices: &mut Vec<Slice>) -> Result<(), String> {
    const INLINE: usize = 12;
    let buffers = array.data_buffers();
    for (row, view) in array.views().iter().enumerate() {
        let length = *view as u32 as usize;
        slices.push(if array.is_null(row) {
            Slice::NONE
        } else if length <= INLINE {
            // The text stands in the view, behind the length.
            Slice { start: std::ptr::from_ref(view).cast::<u8>().wrapping_add(4), length }
        } else {
            let (buffer, offset) = ((*view >> 64) as u32 as usize, (*view >> 96) as usize);
            let data = buffers.get(buffer);
            let bytes = data.and_then(|data| data.get(offset..offset.checked_add(length)?));
            Slice::of(bytes.ok_or("its view leaves the data")?)
        });
    }
    Ok(())
}

fn wrong_type(what: &str, got: &DataType) -> PyErr {
    let remedy = match got {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            "; decode the bytes first"
        }
        _ => "",
    };
    DocumentTypeError::new_err(format!(
        "{what}: expected a column of strings (string, large_string, string_view, or a dictionary \
         of these), got {}{remedy}",
        type_name(got)
    ))
}

/// What to say of a value that is no `str`.
pub(crate) fn not_a_text(value: &Bound<'_, PyAny>, row: usize, what: &str) -> PyErr {
    let got =
        value.get_type().name().map_or_else(|_| "something else".to_owned(), |n| n.to_string());
    let remedy = match got.as_str() {
        "bytes" | "bytearray" => "; decode them first, as bytes.decode('utf-8') does",
        "float" if value.extract::<f64>().is_ok_and(f64::is_nan) => {
            " (NaN); leave the row out, or fill it with an empty text"
        }
        _ => "",
    };
    let text = format!("row {row}: {what} must be a str, got {got}{remedy}");
    at_row(DocumentTypeError::new_err(text), value.py(), row)
}

fn lone_surrogate(error: &PyErr, row: usize, what: &str) -> PyErr {
    Python::attach(|py| {
        let text = format!(
            "row {row}: {what} cannot be written as UTF-8 ({}); a lone surrogate is no character, \
             text.encode('utf-8', 'replace').decode() replaces it",
            error.value(py)
        );
        at_row(DocumentError::new_err(text), py, row)
    })
}

/// The same error with the row as its attribute.
pub(crate) fn at_row(error: PyErr, py: Python<'_>, row: usize) -> PyErr {
    match error.value(py).setattr("row", row) {
        Ok(()) => error,
        Err(other) => other,
    }
}
