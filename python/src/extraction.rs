//! Who reads files that are no plain text.

use lookalike::extract::Options;
use pyo3::prelude::*;

/// What is taken from them when nothing else is said.
pub(crate) fn options(_py: Python<'_>) -> PyResult<Options> {
    Ok(Options::default())
}
