//! Who reads files that are no plain text: another process, so that a parser that crashes takes
//! nothing else with it.

use lookalike::extract::ExtractOptions;
use pyo3::prelude::*;

/// What is taken from them by default.
pub(crate) fn options(py: Python<'_>) -> PyResult<ExtractOptions> {
    Ok(ExtractOptions { worker: crate::cli::worker_command(py)?, ..ExtractOptions::default() })
}
