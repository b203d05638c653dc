//! Reads sketches for indexes: objects of the engine, and any other objects with hash values.

use std::borrow::Cow;

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::minhash::MinHash;

/// The data of a sketch that an index stores.
pub(super) struct Sketch {
    /// The number of values.
    pub(super) length: usize,
    /// The scheme of the values; `None` matches any scheme.
    pub(super) scheme: Option<Cow<'static, str>>,
    /// The values in big-endian order.
    pub(super) bytes: Vec<u8>,
}

impl Sketch {
    /// # Errors
    /// `TypeError` for an object without a length. `ValueError` if the length differs from the
    /// number of values, or if the values have no bytes.
    pub(super) fn of(minhash: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = minhash.py();
        if let Ok(known) = minhash.cast::<MinHash>() {
            let known = known.try_borrow()?;
            let mut bytes = Vec::new();
            known.with_values(py, |values| values.append_swapped(&mut bytes));
            let scheme = Some(Cow::Borrowed(known.scheme.name()));
            return Ok(Self { length: known.length(), scheme, bytes });
        }
        let length = minhash.len()?;
        let values = minhash.getattr_opt("hashvalues")?.ok_or_else(|| {
            let got = minhash.get_type();
            PyTypeError::new_err(format!("expected a MinHash or a weighted one, got {got}"))
        })?;
        let held = values.len()?;
        let bytes = values.call_method0("byteswap")?.call_method0("tobytes")?;
        let bytes = bytes.cast::<PyBytes>()?.as_bytes().to_vec();
        let is_uneven = bytes.len() % length.max(1) != 0 || (length > 0 && bytes.is_empty());
        if held != length || is_uneven {
            return Err(PyValueError::new_err(format!(
                "a sketch must have len() values: its len() is {length}, but it has {held} \
                 hashvalues of {} bytes",
                bytes.len()
            )));
        }
        Ok(Self { length, scheme: scheme_of(minhash)?.map(Cow::Owned), bytes })
    }
}

fn scheme_of(minhash: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    match minhash.getattr_opt("scheme")? {
        Some(scheme) => scheme.extract(),
        None => Ok(None),
    }
}

/// Compares the scheme of a sketch with the scheme of earlier ones. A sketch without a scheme
/// matches any.
///
/// # Errors
/// `ValueError` if they differ.
pub(super) fn check_scheme(known: Option<&str>, scheme: Option<&str>) -> PyResult<()> {
    match (known, scheme) {
        (Some(known), Some(scheme)) if known != scheme => Err(other_scheme(known, scheme)),
        (Some(_), Some(_)) | (None, _) | (_, None) => Ok(()),
    }
}

/// The error for a sketch whose scheme differs from earlier ones.
pub(super) fn other_scheme(known: &str, scheme: &str) -> PyErr {
    PyValueError::new_err(format!(
        "MinHash scheme '{scheme}' does not match scheme '{known}' of the MinHash previously \
         given to this index; make all of them with scheme='{known}'"
    ))
}

/// Checks the number of a band.
///
/// # Errors
/// `IndexError` if there is no such band.
pub(super) fn check_band(band: usize, bands: usize) -> PyResult<()> {
    if band < bands {
        return Ok(());
    }
    let last = bands.saturating_sub(1);
    Err(PyIndexError::new_err(format!("expected a band from 0 to {last}, got {band}")))
}

/// Returns the scheme that an index stores after it received another sketch. Raises `ValueError` if
/// the sketch has a scheme that differs from `known`.
#[pyfunction]
fn ds_check_scheme(known: Option<String>, minhash: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let scheme = scheme_of(minhash)?;
    check_scheme(known.as_deref(), scheme.as_deref())?;
    Ok(known.or(scheme))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ds_check_scheme, module)?)
}
