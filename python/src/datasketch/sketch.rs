//! Sketches as indexes take them: those of the engine, and any others with hash values.

use std::borrow::Cow;

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::minhash::MinHash;

/// What an index needs of a sketch.
pub(super) struct Sketch {
    /// How many values it has.
    pub(super) length: usize,
    /// That of its values; any, where it has none.
    pub(super) scheme: Option<Cow<'static, str>>,
    /// Its values, the greatest byte of each first.
    pub(super) bytes: Vec<u8>,
}

impl Sketch {
    /// # Errors
    /// `TypeError` for what has no length, `ValueError` where that is not the number of its
    /// values, or these have no bytes.
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
                "a sketch must have as many values as it is long: its len() is {length}, but it \
                 has {held} hashvalues of {} bytes",
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

/// Compares the scheme of a sketch with that of those before; one without a scheme is any.
///
/// # Errors
/// `ValueError` if they differ.
pub(super) fn check_scheme(known: Option<&str>, scheme: Option<&str>) -> PyResult<()> {
    match (known, scheme) {
        (Some(known), Some(scheme)) if known != scheme => Err(other_scheme(known, scheme)),
        (Some(_), Some(_)) | (None, _) | (_, None) => Ok(()),
    }
}

/// The error of a sketch whose scheme is not that of those before.
pub(super) fn other_scheme(known: &str, scheme: &str) -> PyErr {
    PyValueError::new_err(format!(
        "MinHash scheme '{scheme}' does not match scheme '{known}' of the MinHash previously \
         given to this index; make all of them with scheme='{known}'"
    ))
}

/// Checks that there is a band of this number.
///
/// # Errors
/// `IndexError` where there is none.
pub(super) fn check_band(band: usize, bands: usize) -> PyResult<()> {
    if band < bands {
        return Ok(());
    }
    let last = bands.saturating_sub(1);
    Err(PyIndexError::new_err(format!("expected a band from 0 to {last}, got {band}")))
}

/// The scheme that an index remembers, given that of one more sketch.
#[pyfunction]
fn ds_check_scheme(known: Option<String>, minhash: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let scheme = scheme_of(minhash)?;
    check_scheme(known.as_deref(), scheme.as_deref())?;
    Ok(known.or(scheme))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ds_check_scheme, module)?)
}
