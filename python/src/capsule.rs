//! Arrow's C interface in Python capsules: columns come and go without being copied.
//!
//! Specification: the Arrow `PyCapsule` interface. What another package hands over is believed to
//! be what that says, as every reader of it must; lengths and offsets are checked all the same.
#![expect(unsafe_code, reason = "structures of C behind pointers")]

use crate::column::type_name;
use crate::error::{DocumentError, DocumentTypeError};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{
    Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray,
    make_array,
};
use arrow_schema::{DataType, Field, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use std::ffi::CStr;
use std::sync::Arc;

const STREAM: &CStr = c"arrow_array_stream";
const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";

/// Arrays of one type, one behind the other.
pub(crate) struct Chunks {
    pub(crate) field: Arc<Field>,
    pub(crate) arrays: Vec<ArrayRef>,
}

/// Everything that an object with `__arrow_c_stream__` or `__arrow_c_array__` has. A stream that
/// makes its arrays on the way is used up.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> PyResult<Chunks> {
    if object.hasattr("__arrow_c_stream__")? {
        stream(&object.call_method0("__arrow_c_stream__")?)
    } else if object.hasattr("__arrow_c_array__")? {
        array(&object.call_method0("__arrow_c_array__")?)
    } else {
        let got = object.get_type().name()?;
        Err(DocumentTypeError::new_err(format!(
            "expected an object with the Arrow PyCapsule interface (__arrow_c_stream__ or \
             __arrow_c_array__), got {got}"
        )))
    }
}

fn stream(capsule: &Bound<'_, PyAny>) -> PyResult<Chunks> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds such a stream. It is moved out, which leaves a released
    // one behind, as the interface asks for.
    let reader = unsafe { ArrayStreamReader::from_raw(pointer.as_ptr()) }.map_err(unreadable)?;
    let field = Arc::clone(reader.field());
    // The producer may be waiting for the interpreter in a thread of its own.
    let arrays = capsule.py().detach(move || reader.collect::<Result<Vec<_>, _>>());
    Ok(Chunks { field, arrays: arrays.map_err(unreadable)? })
}

fn array(capsules: &Bound<'_, PyAny>) -> PyResult<Chunks> {
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names hold such structures, and these capsules are alive. The array
    // is moved out.
    let (schema, array) = unsafe { (schema.as_ref(), FFI_ArrowArray::from_raw(array.as_ptr())) };
    let field = Arc::new(Field::try_from(schema).map_err(unreadable)?);
    // SAFETY: the two belong together.
    let data = unsafe { from_ffi(array, schema) }.map_err(unreadable)?;
    Ok(Chunks { field, arrays: vec![make_array(data)] })
}

fn unreadable(error: arrow_schema::ArrowError) -> PyErr {
    DocumentError::new_err(format!("the Arrow data cannot be read: {error}"))
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

impl Chunks {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.arrays.iter().map(Array::len).sum()
    }

    /// The column of that name, of record batches.
    pub(crate) fn column(&self, name: &str) -> PyResult<Self> {
        let names = self.names();
        let place = names.iter().position(|other| *other == name);
        let (DataType::Struct(fields), Some(place)) = (self.field.data_type(), place) else {
            let there = if names.is_empty() {
                format!(
                    "there are none, this is one column of {}",
                    type_name(self.field.data_type())
                )
            } else {
                format!("there are {}", names.join(", "))
            };
            return Err(DocumentError::new_err(format!("there is no column {name:?}; {there}")));
        };
        if names.iter().filter(|other| **other == name).count() > 1 {
            let text = format!("there are several columns {name:?}; name one of them otherwise");
            return Err(DocumentError::new_err(text));
        }
        let column = |array: &ArrayRef| {
            let rows = array.as_any().downcast_ref::<StructArray>()?;
            Some(Arc::clone(rows.columns().get(place)?))
        };
        let arrays = self.arrays.iter().filter_map(column).collect();
        Ok(Self { field: Arc::clone(&fields[place]), arrays })
    }

    /// The names of the columns; none of what is one column itself.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self.field.data_type() {
            DataType::Struct(fields) => fields.iter().map(|field| field.name().as_str()).collect(),
            _ => Vec::new(),
        }
    }
}
