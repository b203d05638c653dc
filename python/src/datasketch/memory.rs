//! Memory for as many things as a user says: where there is none, an error, not the end of the
//! process.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// An empty vector with room for `count` elements.
///
/// # Errors
/// `MemoryError` where there is no such room.
pub(super) fn room<T>(count: usize) -> PyResult<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| lacking::<T>(count))?;
    Ok(room)
}

/// `count` times `value`.
///
/// # Errors
/// `MemoryError` where there is no room for them.
pub(super) fn filled<T: Clone>(value: T, count: usize) -> PyResult<Vec<T>> {
    let mut filled = room(count)?;
    filled.resize(count, value);
    Ok(filled)
}

/// Makes room for `more` elements behind those that are there.
///
/// # Errors
/// `MemoryError` where there is none.
pub(super) fn reserve<T>(vector: &mut Vec<T>, more: usize) -> PyResult<()> {
    let count = vector.len().saturating_add(more);
    vector.try_reserve(more).map_err(|_| lacking::<T>(count))
}

/// A new array of `length` bytes, which `write` fills.
///
/// # Errors
/// `MemoryError` where there is no room for it.
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

fn lacking<T>(count: usize) -> PyErr {
    let bytes = size_of::<T>() as u128 * count as u128;
    PyMemoryError::new_err(format!(
        "{count} elements need {bytes} bytes of memory, which the system does not give"
    ))
}
