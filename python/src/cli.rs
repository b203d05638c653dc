//! The command `lookalike` in the interpreter's process, and how files are read in another one.

use lookalike::extract::{self, WorkerCommand};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Adds what `python -m lookalike` and the processes that read files call.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cli, module)?)?;
    module.add_function(wrap_pyfunction!(extract_worker, module)?)
}

/// Runs the command that the arguments are, the first of which is the program's name, and gives
/// its exit code. It prints to the standard streams of the process, past those of `sys`.
#[pyfunction]
fn cli(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let worker = worker_command(py)?;
    Ok(py.detach(|| lookalike_cli::main(arguments, worker.as_ref())).number())
}

/// Reads files that the process that started this one sends, until it ends. It limits the memory
/// of the process.
#[pyfunction]
fn extract_worker(py: Python<'_>) -> PyResult<()> {
    py.detach(extract::serve).map_err(|error| PyOSError::new_err(error.to_string()))
}

/// How a process is started that reads files for this one, so that a parser that crashes takes
/// nothing else with it. `None` where this interpreter cannot be started a second time: there,
/// files are read in this process.
pub(crate) fn worker_command(py: Python<'_>) -> PyResult<Option<WorkerCommand>> {
    let command = py.import("lookalike._worker")?.call_method0("command")?;
    let command: Option<(PathBuf, Vec<OsString>)> = command.extract()?;
    Ok(command.map(|(program, arguments)| WorkerCommand { program, arguments }))
}
