//! Result tables as bytes, and back: what another process can be sent.

use crate::error::OptionError;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::{DataType, Field};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// A column: its name, type, whether values may be missing, and its data.
pub(crate) type State<'py> = (String, String, bool, Data<'py>);

/// How many rows, which bits say what is there, buffers, and what lies inside of lists.
#[derive(IntoPyObject, FromPyObject)]
pub(crate) struct Data<'py>(
    usize,
    Option<Bound<'py, PyBytes>>,
    Vec<Bound<'py, PyBytes>>,
    Vec<Data<'py>>,
);

/// What can be made into an array again by [`array`].
///
/// # Errors
/// `OptionError` for types that results do not have.
pub(crate) fn state<'py>(
    py: Python<'py>,
    field: &Field,
    array: &dyn Array,
) -> PyResult<State<'py>> {
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

fn data<'py>(py: Python<'py>, array: &ArrayData) -> Data<'py> {
    let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
    Data(
        array.len(),
        // Its bits begin where the values do, whatever the offset of its own.
        array.nulls().map(|nulls| bytes(nulls.inner().sliced().as_slice())),
        array.buffers().iter().map(|buffer| bytes(buffer.as_slice())).collect(),
        array.child_data().iter().map(|child| data(py, child)).collect(),
    )
}

/// A column from what [`state`] gave. Everything is looked at: pickles may be damaged.
///
/// # Errors
/// `OptionError` for what no table is pickled as.
pub(crate) fn array(state: &State<'_>) -> PyResult<(Field, ArrayRef)> {
    let (name, kind, nullable, data) = state;
    let refused = |why: String| OptionError::new_err(format!("column {name:?} of a pickle: {why}"));
    let kind = kind_of(kind).ok_or_else(|| refused(format!("there is no type {kind:?}")))?;
    let made = built(&kind, data).map_err(|error| refused(error.to_string()))?;
    Ok((Field::new(name, kind, *nullable), make_array(made)))
}

fn built(kind: &DataType, data: &Data<'_>) -> Result<ArrayData, arrow_schema::ArrowError> {
    let Data(rows, present, buffers, children) = data;
    let buffer = |bytes: &Bound<'_, PyBytes>| bytes.as_bytes().to_vec().into();
    let inner = match kind {
        DataType::FixedSizeList(field, _) => field.data_type(),
        _ => &DataType::Null,
    };
    let children = children.iter().map(|child| built(inner, child));
    ArrayDataBuilder::new(kind.clone())
        .len(*rows)
        .null_bit_buffer(present.as_ref().map(buffer))
        .buffers(buffers.iter().map(buffer).collect())
        .child_data(children.collect::<Result<_, _>>()?)
        .align_buffers(true)
        .build()
}

/// The types of results.
fn name(kind: &DataType) -> Option<String> {
    Some(match kind {
        DataType::Int64 => "int64".to_owned(),
        DataType::UInt64 => "uint64".to_owned(),
        DataType::UInt32 => "uint32".to_owned(),
        DataType::Float64 => "float64".to_owned(),
        DataType::Utf8 => "string".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::FixedSizeBinary(length) => format!("bytes {length}"),
        DataType::FixedSizeList(field, length) => {
            format!("list {length} {}", name(field.data_type())?)
        }
        _ => return None,
    })
}

fn kind_of(name: &str) -> Option<DataType> {
    let length = |text: &str| text.parse::<i32>().ok().filter(|length| *length >= 0);
    Some(match name {
        "int64" => DataType::Int64,
        "uint64" => DataType::UInt64,
        "uint32" => DataType::UInt32,
        "float64" => DataType::Float64,
        "string" => DataType::Utf8,
        "bool" => DataType::Boolean,
        other => match other.split_once(' ')? {
            ("bytes", bytes) => DataType::FixedSizeBinary(length(bytes)?),
            ("list", list) => {
                let (size, kind) = list.split_once(' ')?;
                let field = Field::new("item", kind_of(kind)?, false);
                DataType::FixedSizeList(Arc::new(field), length(size)?)
            }
            _ => return None,
        },
    })
}
