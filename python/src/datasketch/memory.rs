//! Memory errors as Python exceptions, and byte arrays.

use lookalike_datasketch::allocation::{self, AllocationError};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// Converts the error to a `MemoryError`.
pub(super) fn memory_error(error: AllocationError) -> PyErr {
    PyMemoryError::new_err(error.to_string())
}

/// An empty vector with capacity for `count` elements.
///
/// # Errors
/// `MemoryError` if the system has no memory for them.
pub(super) fn with_capacity<T>(count: usize) -> PyResult<Vec<T>> {
    allocation::with_capacity(count).map_err(memory_error)
}

/// A new array of `length` bytes, which `write` fills.
///
/// # Errors
/// `MemoryError` if the system has no memory for it.
pub(super) fn byte_array(
    py: Python<'_>,
    length: usize,
    write: impl FnOnce(&mut [u8]),
) -> PyResult<Bound<'_, PyByteArray>> {
    PyByteArray::new_with(py, length, |bytes| {
        write(bytes);
        Ok(())
    })
}
