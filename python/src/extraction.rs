//! Extraction options for Python: parsers run in a child process, so that a crash does not end the
//! interpreter.

use lookalike::extract::ExtractOptions;
use pyo3::prelude::*;

/// The default options.
pub(crate) fn options(py: Python<'_>) -> PyResult<ExtractOptions> {
    Ok(ExtractOptions { worker: crate::cli::worker_command(py)?, ..ExtractOptions::default() })
}
