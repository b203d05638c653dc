//! Values of result columns as Python objects, for users without a package that reads Arrow.

use crate::error::LookalikeError;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::DataType;
use pyo3::BoundObject;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyString};

/// All values of an array, with `None` for nulls.
pub(crate) fn values<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match array.data_type() {
        DataType::Int64 => numbers::<Int64Type>(py, array),
        DataType::UInt64 => numbers::<UInt64Type>(py, array),
        DataType::UInt32 => numbers::<UInt32Type>(py, array),
        DataType::Float64 => numbers::<Float64Type>(py, array),
        DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            build_list(py, array, |row| Ok(PyString::new(py, texts.value(row)).into_any()))
        }
        DataType::LargeUtf8 => {
            let texts = array.as_string::<i64>();
            build_list(py, array, |row| Ok(PyString::new(py, texts.value(row)).into_any()))
        }
        DataType::Boolean => {
            let flags = array.as_boolean();
            build_list(py, array, |row| Ok(PyBool::new(py, flags.value(row)).to_owned().into_any()))
        }
        DataType::FixedSizeBinary(_) => {
            let bytes = array.as_fixed_size_binary();
            build_list(py, array, |row| Ok(PyBytes::new(py, bytes.value(row)).into_any()))
        }
        DataType::FixedSizeList(_, _) => {
            let lists = array.as_fixed_size_list();
            build_list(py, array, |row| values(py, lists.value(row).as_ref())?.into_pyobject(py))
        }
        other => Err(LookalikeError::new_err(format!(
            "values of type {other} are read by pyarrow or polars: to_pyarrow(), to_polars()"
        ))),
    }
}

fn numbers<'py, T: ArrowPrimitiveType>(
    py: Python<'py>,
    array: &dyn Array,
) -> PyResult<Vec<Bound<'py, PyAny>>>
where
    T::Native: IntoPyObject<'py>,
{
    let numbers = array.as_primitive::<T>();
    build_list(py, array, |row| {
        let number = numbers.value(row).into_pyobject(py).map_err(Into::<PyErr>::into)?;
        Ok(number.into_any().into_bound())
    })
}

fn build_list<'py>(
    py: Python<'py>,
    array: &dyn Array,
    value: impl Fn(usize) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let row = |row| if array.is_null(row) { Ok(py.None().into_bound(py)) } else { value(row) };
    (0..array.len()).map(row).collect()
}
