//! Converts values from and to `NumPy` arrays through bytes, because the stable ABI of `CPython`
//! 3.10 lacks the buffer protocol.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFrozenSet, PySet};

use super::memory;
use lookalike_datasketch::scheme::{HashValues, PermutationScheme};

static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The `NumPy` type of a scheme's values.
fn dtype(scheme: PermutationScheme) -> &'static str {
    if scheme == PermutationScheme::Affine32 { "<u4" } else { "<u8" }
}

/// An array that shares the memory of `bytes`.
pub(super) fn array_over<'py>(
    bytes: &Bound<'py, PyByteArray>,
    dtype: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = bytes.py();
    let from_buffer = FROM_BUFFER.import(py, "numpy", "frombuffer")?;
    from_buffer.call1((bytes, dtype))
}

/// Copies `values` to the bytes of a new array.
pub(super) fn bytes_of<'py>(
    py: Python<'py>,
    values: &HashValues,
) -> PyResult<Bound<'py, PyByteArray>> {
    memory::byte_array(py, values.size(), |bytes| values.write_to(bytes))
}

/// An array of values of `scheme` that shares the memory of `bytes`.
pub(super) fn array<'py>(
    bytes: &Bound<'py, PyByteArray>,
    scheme: PermutationScheme,
) -> PyResult<Bound<'py, PyAny>> {
    array_over(bytes, dtype(scheme))
}

/// A new array of `rows` rows and `columns` columns that shares the memory of `bytes`.
pub(super) fn matrix<'py>(
    bytes: &Bound<'py, PyByteArray>,
    scheme: PermutationScheme,
    rows: usize,
    columns: usize,
) -> PyResult<Bound<'py, PyAny>> {
    array_over(bytes, dtype(scheme))?.call_method1("reshape", (rows, columns))
}

/// Converts a user's values: an array or a sequence of integers in the range of `scheme`. `label`
/// names them in messages.
pub(super) fn parse(
    scheme: PermutationScheme,
    object: &Bound<'_, PyAny>,
    label: &str,
) -> PyResult<HashValues> {
    refuse_unordered(object, label)?;
    let Ok(kind) = object.getattr("dtype").and_then(|dtype| dtype.getattr("kind")) else {
        return parse_each(scheme, object, label);
    };
    let kind: String = kind.extract()?;
    if object.getattr("ndim")?.extract::<usize>()? != 1 {
        return Err(PyValueError::new_err(format!(
            "{label} must have one dimension, got an array of shape {}",
            object.getattr("shape")?
        )));
    }
    if kind != "i" && kind != "u" {
        return parse_each(scheme, &object.call_method0("tolist")?, label);
    }
    let is_empty = object.getattr("size")?.extract::<usize>()? == 0;
    if !is_empty {
        for name in ["min", "max"] {
            in_range(scheme, &object.call_method0(name)?, label, false)?;
        }
    }
    let bytes = object.call_method1("astype", (dtype(scheme),))?.call_method0("tobytes")?;
    Ok(HashValues::from_bytes(scheme, bytes.cast::<PyBytes>()?.as_bytes()))
}

/// Rejects iterables that are not sequences of values.
fn refuse_unordered(object: &Bound<'_, PyAny>, label: &str) -> PyResult<()> {
    if object.is_instance_of::<PyBytes>() {
        return Err(PyValueError::new_err(format!(
            "{label} must be integers, got bytes; numpy.frombuffer makes an array of them"
        )));
    }
    let is_set = object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>();
    if is_set || object.is_instance_of::<PyDict>() {
        return Err(PyTypeError::new_err(format!(
            "{label} must be a sequence or an array of integers, got {}",
            object.get_type().name()?
        )));
    }
    let Ok(mask) = object.getattr("mask") else { return Ok(()) };
    if mask.call_method0("any")?.is_truthy()? {
        return Err(PyValueError::new_err(format!(
            "{label} must not be masked, got a masked array; pass array.filled()"
        )));
    }
    Ok(())
}

fn parse_each(
    scheme: PermutationScheme,
    object: &Bound<'_, PyAny>,
    label: &str,
) -> PyResult<HashValues> {
    let mut values = memory::with_capacity(object.len().unwrap_or(0))?;
    for value in object.try_iter()? {
        values.push(in_range(scheme, &value?, label, scheme == PermutationScheme::Legacy)?);
    }
    Ok(match scheme {
        PermutationScheme::Affine32 => {
            HashValues::Narrow(values.into_iter().map(|v| v as u32).collect())
        }
        _ => HashValues::Wide(values),
    })
}

/// Converts an integer in the range of `scheme`.
///
/// # Errors
/// `TypeError` for a value that is not an integer. For one out of range, `OverflowError` if
/// `overflows`, otherwise `ValueError`.
pub(super) fn in_range(
    scheme: PermutationScheme,
    value: &Bound<'_, PyAny>,
    label: &str,
    overflows: bool,
) -> PyResult<u64> {
    let bits = if scheme == PermutationScheme::Affine32 { 32 } else { 64 };
    if let Ok(number) = value.extract::<u64>()
        && (bits == 64 || number >> 32 == 0)
    {
        return Ok(number);
    }
    if value.call_method0("__index__").is_err() {
        return Err(PyTypeError::new_err(format!(
            "{label} must be integers, got {} ({})",
            value.repr()?,
            value.get_type().name()?
        )));
    }
    let text = format!(
        "{label} out of range for scheme '{}': expected 0 to 2**{bits} - 1, got {value}",
        scheme.name()
    );
    Err(if overflows { PyOverflowError::new_err(text) } else { PyValueError::new_err(text) })
}
