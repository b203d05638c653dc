//! Long work on a thread of its own, while this one checks for signals such as Ctrl-C.

use crate::error::LookalikeError;
use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Interval between checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter's lock. An exception of a signal handler is returned at
/// once; the work continues until it is done or the process ends. Stored data stays consistent.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let thread = std::thread::Builder::new().name("lookalike".to_owned());
    // There is no receiver after a signal.
    let spawned = thread.spawn(move || drop(sender.send(work())));
    spawned
        .map_err(|error| LookalikeError::new_err(format!("no thread can be started: {error}")))?;
    wait(py, receiver)
}

fn wait<T: Send>(py: Python<'_>, receiver: Receiver<T>) -> PyResult<T> {
    let mut receiver = receiver;
    loop {
        let (got, back) = py.detach(move || (receiver.recv_timeout(CHECK_INTERVAL), receiver));
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
