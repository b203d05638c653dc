//! Long calls: the work is done beside the interpreter, which looks after Ctrl-C and progress.
//!
//! ```text
//! the caller's thread: without the interpreter ── wakes now and then: signals, progress ─┐
//! another thread: work(&Watch) ── advance, again and again ── ends ─────────────────────┴─► result
//! ```

use crate::error::{LookalikeError, run_error};
use lookalike::error::Error;
use lookalike::progress::{Interrupted, Progress, Stage};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a Ctrl-C may wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// How far the work is, and whether it is still wanted.
#[derive(Default)]
pub(crate) struct Watch {
    unwanted: AtomicBool,
    done: AtomicU64,
    stage: Mutex<Option<(Stage, Option<u64>)>>,
}

impl Watch {
    /// Asked now and then by work that tells no progress.
    ///
    /// # Errors
    /// When the work is not wanted any more.
    pub(crate) fn go_on(&self) -> Result<(), Error> {
        Ok(self.advance(0)?)
    }
}

impl Progress for Watch {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some((stage, total));
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, done: u64) -> Result<(), Interrupted> {
        self.done.fetch_add(done, Ordering::Relaxed);
        if self.unwanted.load(Ordering::Relaxed) { Err(Interrupted) } else { Ok(()) }
    }

    fn end(&self, _: Stage, _: Duration) {}
}

/// Does work on another thread, without the interpreter. `progress` is called with the stage, how
/// much of it is done and of how much, some twenty times a second.
///
/// # Errors
/// Those of the work; what a signal handler or `progress` raises, when the work has stopped.
pub(crate) fn long<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let (result, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let worker = scope.spawn(|| {
                let _ends = sender;
                work(&watch)
            });
            let raised = look_after(&watch, &receiver, progress);
            (worker.join(), raised)
        })
    });
    match (result, raised) {
        (_, Some(raised)) => Err(raised),
        (Ok(result), None) => result.map_err(run_error),
        (Err(_), None) => Err(LookalikeError::new_err(
            "the engine stopped at an inner contradiction (above); this is a fault of lookalike, \
             please report it with the documents if you can",
        )),
    }
}

/// Waits until the work is done; what was raised meanwhile.
fn look_after(watch: &Watch, ended: &Receiver<()>, progress: Option<&Py<PyAny>>) -> Option<PyErr> {
    let mut raised = None;
    while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
        if raised.is_some() {
            continue;
        }
        raised = Python::attach(|py| {
            py.check_signals()?;
            progress.map_or(Ok(()), |progress| tell(py, watch, progress))
        })
        .err();
        if raised.is_some() {
            watch.unwanted.store(true, Ordering::Relaxed);
        }
    }
    raised.or_else(|| {
        progress.and_then(|progress| Python::attach(|py| tell(py, watch, progress)).err())
    })
}

fn tell(py: Python<'_>, watch: &Watch, progress: &Py<PyAny>) -> PyResult<()> {
    let stage = *watch.stage.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((stage, total)) = stage else { return Ok(()) };
    progress.call1(py, (stage.to_string(), watch.done.load(Ordering::Relaxed), total))?;
    Ok(())
}
