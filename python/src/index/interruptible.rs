//! Runs long work on another thread, while the calling thread checks for signals such as Ctrl-C.

use crate::call;
use pyo3::prelude::*;
use std::sync::mpsc::channel;

/// Runs `work` without the interpreter's lock. Returns an exception of a signal handler
/// at once. In this case the work continues until it is done or the process ends. Stored
/// data remains consistent.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let thread = std::thread::Builder::new().name("lookalike".to_owned());
    // After a signal, the receiver no longer exists.
    let spawned = thread.spawn(move || drop(sender.send(work())));
    spawned.map_err(|error| call::no_thread(&error))?;
    let ended = call::wait(py, receiver, || py.check_signals().map(|()| true))?;
    ended.ok_or_else(call::contradiction)
}
