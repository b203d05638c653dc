//! The documents on one side of a comparison: in memory or in files.

use crate::input::documents::PythonDocuments;
use pyo3::prelude::*;
use std::path::PathBuf;

/// One side of a comparison.
#[derive(FromPyObject)]
pub(crate) enum ComparedInput {
    /// Documents in memory.
    #[pyo3(transparent)]
    Documents(Py<PythonDocuments>),
    /// Files and folders.
    #[pyo3(transparent)]
    Paths(Vec<PathBuf>),
}
