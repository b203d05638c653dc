//! Long work in a thread of its own, while this one looks for Ctrl-C.

use crate::error::LookalikeError;
use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Does something without the interpreter's lock. Where a signal handler raises meanwhile, that is
/// given at once: the work goes on until it is done or the process ends, as after any other end of
/// a process nothing that is stored suffers.
pub(crate) fn patiently<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let thread = std::thread::Builder::new().name("lookalike".to_owned());
    // Nobody waits for it where a signal came.
    let spawned = thread.spawn(move || drop(sender.send(work())));
    spawned
        .map_err(|error| LookalikeError::new_err(format!("no thread can be started: {error}")))?;
    wait(py, receiver)
}

fn wait<T: Send>(py: Python<'_>, receiver: Receiver<T>) -> PyResult<T> {
    let mut receiver = receiver;
    loop {
        let (got, back) = py.detach(move || (receiver.recv_timeout(LOOK), receiver));
        receiver = back;
        match got {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(LookalikeError::new_err(
                    "the work ended without a result, which is a fault of this package",
                ));
            }
        }
    }
}
