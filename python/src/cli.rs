//! The command `lookalike` in the interpreter's process, and the worker process that reads files.

use lookalike::extract::{self, WorkerCommand};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Adds the functions that `python -m lookalike` and the worker processes call.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cli, module)?)?;
    module.add_function(wrap_pyfunction!(extract_worker, module)?)
}

/// Runs the command line in `arguments`, whose first item is the program's name, and returns its
/// exit code. The command prints to the standard streams of the process, not to `sys.stdout`.
#[pyfunction]
fn cli(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let worker = worker_command(py)?;
    Ok(py.detach(|| lookalike_cli::main(arguments, worker.as_ref())).number())
}

/// Reads files that the parent process sends, until the parent ends. Limits the memory of the
/// process.
#[pyfunction]
fn extract_worker(py: Python<'_>) -> PyResult<()> {
    py.detach(extract::serve).map_err(|error| PyOSError::new_err(error.to_string()))
}

/// The command that starts a worker process for reading files, so that a crash of a parser does not
/// end this process. `None` if this interpreter cannot be started a second time; files are then
/// read in this process.
pub(crate) fn worker_command(py: Python<'_>) -> PyResult<Option<WorkerCommand>> {
    let command = py.import("lookalike._worker")?.call_method0("command")?;
    let command: Option<(PathBuf, Vec<OsString>)> = command.extract()?;
    Ok(command.map(|(program, arguments)| WorkerCommand { program, arguments }))
}
