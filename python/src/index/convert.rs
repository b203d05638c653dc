//! Converts arguments and results: texts, ids and times.

use super::json::kind;
use crate::error::{DocumentError, DocumentTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDateTime, PyDelta, PyString, PyTzInfo};

const NS: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// Converts a Python string without copying it. `label` names it in messages.
///
/// # Errors
/// `DocumentTypeError` for other types than `str`, `DocumentError` for a string with a lone
/// surrogate.
pub(super) fn text(
    value: &Bound<'_, PyAny>,
    label: impl FnOnce() -> String,
) -> PyResult<PyBackedStr> {
    let Ok(text) = value.cast::<PyString>() else {
        let remedy = match kind(value).as_str() {
            "of type bytes" => "decode it first",
            "None" | "of type float" => "leave out what is missing",
            _ => "turn it into one first",
        };
        return Err(DocumentTypeError::new_err(format!(
            "{} is {}, expected str: {remedy}",
            label(),
            kind(value)
        )));
    };
    PyBackedStr::try_from(text.clone()).map_err(|_| {
        DocumentError::new_err(format!(
            "{} has a lone surrogate, expected Unicode text: read it with errors=\"replace\"",
            label()
        ))
    })
}

/// Converts an id: a `str`, an integer or a `uuid.UUID`.
///
/// # Errors
/// As [`text`].
pub(super) fn id(
    value: &Bound<'_, PyAny>,
    label: impl FnOnce() -> String,
) -> PyResult<PyBackedStr> {
    if value.is_instance_of::<PyString>() {
        return text(value, label);
    }
    let kind = value.get_type();
    if kind.name()? == "UUID" && kind.module()? == "uuid" {
        return text(value.str()?.as_any(), label);
    }
    // Integer types of other packages have `__index__`, but so do booleans.
    let number = (!value.is_instance_of::<PyBool>()).then(|| value.call_method0("__index__").ok());
    match number.flatten() {
        Some(number) => text(number.str()?.as_any(), label),
        None => text(value, label),
    }
}

/// Converts a time in ns since 1970 to a UTC `datetime`, rounded down to whole microseconds.
///
/// # Errors
/// Errors of the interpreter.
pub(super) fn time(py: Python<'_>, ns: i64) -> PyResult<Bound<'_, PyAny>> {
    static EPOCH: PyOnceLock<Py<PyDateTime>> = PyOnceLock::new();
    let epoch = EPOCH.get_or_try_init(py, || {
        let utc = PyTzInfo::utc(py)?;
        PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&utc)).map(Bound::unbind)
    })?;
    let seconds = ns.div_euclid(NS);
    let rest = ns.rem_euclid(NS);
    let days = seconds.div_euclid(DAY);
    let seconds = seconds.rem_euclid(DAY);
    // A signed 64-bit number of ns is less than 107,000 days.
    let delta = PyDelta::new(py, days as i32, seconds as i32, (rest / 1000) as i32, false)?;
    epoch.bind(py).add(delta)
}

/// Like [`time`]. Converts an unknown time to `None`.
///
/// # Errors
/// Errors of the interpreter.
pub(super) fn optional_time(py: Python<'_>, ns: Option<i64>) -> PyResult<Bound<'_, PyAny>> {
    ns.map_or_else(|| Ok(py.None().into_bound(py)), |ns| time(py, ns))
}
