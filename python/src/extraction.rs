//! Who reads files that are no plain text: another process, so that a parser that crashes takes
//! nothing else with it.

use lookalike::extract::Options;
use pyo3::prelude::*;

/// What is taken from them when nothing else is said.
pub(crate) fn options(py: Python<'_>) -> PyResult<Options> {
    Ok(Options { worker: crate::cli::worker_command(py)?, ..Options::default() })
}
