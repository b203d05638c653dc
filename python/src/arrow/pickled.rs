//! Converts result tables to bytes and back, so that Python can send them to another process.

use crate::error::OptionError;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// A column: its name, its type, whether it is nullable, and its data.
pub(crate) type PickledColumn<'py> = (String, String, bool, PickledData<'py>);

/// The number of rows, the validity bitmap, the buffers, and the children of lists.
#[derive(IntoPyObject, FromPyObject)]
pub(crate) struct PickledData<'py>(
    usize,
    Option<Bound<'py, PyBytes>>,
    Vec<Bound<'py, PyBytes>>,
    Vec<PickledInner<'py>>,
);

/// Like [`PickledData`], for the children of a list. They have no children themselves: a pickle
/// with unlimited nesting would overflow the stack.
#[derive(IntoPyObject, FromPyObject)]
pub(crate) struct PickledInner<'py>(
    usize,
    Option<Bound<'py, PyBytes>>,
    Vec<Bound<'py, PyBytes>>,
    Vec<Bound<'py, PyAny>>,
);

/// The state from which [`array`] restores a column.
///
/// # Errors
/// `OptionError` for types that results do not have, and for arrays with an offset.
pub(crate) fn state<'py>(
    py: Python<'py>,
    field: &Field,
    array: &dyn Array,
) -> PyResult<PickledColumn<'py>> {
    let all = array.to_data();
    let kind = name(field.data_type()).filter(|_| all.offset() == 0);
    let kind = kind.ok_or_else(|| {
        OptionError::new_err(format!(
            "column {:?}: values of type {} are not pickled; pickle table.to_pyarrow()",
            field.name(),
            field.data_type()
        ))
    })?;
    Ok((field.name().clone(), kind, field.is_nullable(), data(py, &all)))
}

fn data<'py>(py: Python<'py>, array: &ArrayData) -> PickledData<'py> {
    let inner = |child: &ArrayData| {
        let (present, buffers) = parts(py, child);
        PickledInner(child.len(), present, buffers, Vec::new())
    };
    let (present, buffers) = parts(py, array);
    PickledData(array.len(), present, buffers, array.child_data().iter().map(inner).collect())
}

/// The validity bitmap and the buffers.
fn parts<'py>(
    py: Python<'py>,
    array: &ArrayData,
) -> (Option<Bound<'py, PyBytes>>, Vec<Bound<'py, PyBytes>>) {
    let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
    (
        // `sliced` moves the bit of the first value to the start of the bitmap.
        array.nulls().map(|nulls| bytes(nulls.inner().sliced().as_slice())),
        array.buffers().iter().map(|buffer| bytes(buffer.as_slice())).collect(),
    )
}

/// Restores a column from its [`state`]. Checks everything, because pickles may be damaged.
///
/// # Errors
/// `OptionError` for a state that [`state`] does not produce.
pub(crate) fn array(state: &PickledColumn<'_>) -> PyResult<(Field, ArrayRef)> {
    let (name, kind, nullable, data) = state;
    let refused = |why: String| OptionError::new_err(format!("column {name:?} of a pickle: {why}"));
    let kind = kind_of(kind).ok_or_else(|| refused(format!("unknown type {kind:?}")))?;
    let array_data = built(&kind, data).map_err(|error| refused(error.to_string()))?;
    Ok((Field::new(name, kind, *nullable), make_array(array_data)))
}

fn built(kind: &DataType, data: &PickledData<'_>) -> Result<ArrayData, ArrowError> {
    let PickledData(rows, present, buffers, children) = data;
    let inner = match kind {
        DataType::FixedSizeList(field, _) => field.data_type(),
        _ => &DataType::Null,
    };
    let children = children.iter().map(|PickledInner(rows, present, buffers, inner_children)| {
        if !inner_children.is_empty() {
            let text = "a value of a list has inner values".to_owned();
            return Err(ArrowError::InvalidArgumentError(text));
        }
        builder(inner, *rows, present.as_ref(), buffers).build()
    });
    let children = children.collect::<Result<_, _>>()?;
    builder(kind, *rows, present.as_ref(), buffers).child_data(children).build()
}

fn builder(
    kind: &DataType,
    rows: usize,
    present: Option<&Bound<'_, PyBytes>>,
    buffers: &[Bound<'_, PyBytes>],
) -> ArrayDataBuilder {
    let buffer = |bytes: &Bound<'_, PyBytes>| bytes.as_bytes().to_vec().into();
    ArrayDataBuilder::new(kind.clone())
        .len(rows)
        .null_bit_buffer(present.map(buffer))
        .buffers(buffers.iter().map(buffer).collect())
        .align_buffers(true)
}

/// The name of a type in a pickle, or `None` for a type that results do not have.
fn name(kind: &DataType) -> Option<String> {
    if let DataType::FixedSizeList(field, length) = kind {
        return Some(format!("list {length} {}", plain_name(field.data_type())?));
    }
    plain_name(kind)
}

/// The name of a type other than a list.
fn plain_name(kind: &DataType) -> Option<String> {
    Some(match kind {
        DataType::Int64 => "int64".to_owned(),
        DataType::UInt64 => "uint64".to_owned(),
        DataType::UInt32 => "uint32".to_owned(),
        DataType::Float64 => "float64".to_owned(),
        DataType::Utf8 => "string".to_owned(),
        DataType::LargeUtf8 => "large_string".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::FixedSizeBinary(length) => format!("bytes {length}"),
        _ => return None,
    })
}

fn kind_of(name: &str) -> Option<DataType> {
    let Some(list) = name.strip_prefix("list ") else { return plain_kind_of(name) };
    let (size, kind) = list.split_once(' ')?;
    let field = Field::new("item", plain_kind_of(kind)?, false);
    Some(DataType::FixedSizeList(Arc::new(field), length_of(size)?))
}

fn length_of(text: &str) -> Option<i32> {
    text.parse().ok().filter(|length| *length >= 0)
}

fn plain_kind_of(name: &str) -> Option<DataType> {
    Some(match name {
        "int64" => DataType::Int64,
        "uint64" => DataType::UInt64,
        "uint32" => DataType::UInt32,
        "float64" => DataType::Float64,
        "string" => DataType::Utf8,
        "large_string" => DataType::LargeUtf8,
        "bool" => DataType::Boolean,
        other => DataType::FixedSizeBinary(length_of(other.strip_prefix("bytes ")?)?),
    })
}
