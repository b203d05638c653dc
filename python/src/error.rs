//! Errors as Python has them: classes of `lookalike.errors`.

use lookalike::core::error::ParamsError;
use lookalike::error::Error;
use lookalike::read::ReadError;
use lookalike::store::IndexError;
use pyo3::prelude::*;

pyo3::import_exception!(lookalike.errors, ChangedError);
pyo3::import_exception!(lookalike.errors, DamagedError);
pyo3::import_exception!(lookalike.errors, DocumentError);
pyo3::import_exception!(lookalike.errors, DocumentTypeError);
pyo3::import_exception!(lookalike.errors, FileError);
pyo3::import_exception!(lookalike.errors, LookalikeError);
pyo3::import_exception!(lookalike.errors, MismatchError);
pyo3::import_exception!(lookalike.errors, OptionError);
pyo3::import_exception!(lookalike.errors, StoreError);

/// What went wrong in a call, before it is a Python error.
pub(crate) enum Failure {
    /// In the run.
    Run(Error),
    /// In Python code that was called, or in what it handed over.
    Python(PyErr),
}
