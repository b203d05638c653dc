//! What a process that was forked must leave to the one that it was forked from.

use pyo3::prelude::*;

/// Keeps an object for good, so that nothing is done on its end: a connection to a file of another
/// process would clean up behind that one.
#[pyfunction]
fn ds_leave(object: Py<PyAny>) {
    std::mem::forget(object);
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ds_leave, module)?)
}
