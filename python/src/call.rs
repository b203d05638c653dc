//! Long calls: the work runs without the interpreter's lock, while the calling thread handles
//! Ctrl-C and progress.
//!
//! ```text
//! the caller's thread: without the interpreter ── wakes now and then: signals, progress ─┐
//! another thread: work(&Watch) ── advance, again and again ── ends ─────────────────────┴─► result
//! ```

use crate::error::{LookalikeError, run_error};
use lookalike::core::curve::Choice;
use lookalike::error::Error;
use lookalike::progress::{Interruption, Progress, Stage, Warning};
use lookalike::report::phrases::{self, RemedySpelling};
use parking_lot::Mutex;
use pyo3::prelude::*;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// The interval at which a waiting thread checks for signals such as Ctrl-C.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);
/// Time that cancelled work has to stop before [`reading`] abandons it.
const GRACE: Duration = Duration::from_secs(1);

/// The progress of the work, and whether the caller cancelled it.
#[derive(Default)]
pub(crate) struct Watch {
    is_cancelled: AtomicBool,
    done: AtomicU64,
    stages: Mutex<StageLog>,
    /// The first warning, and whether it was reported.
    warning: OnceLock<Warning>,
    is_warned: AtomicBool,
}

#[derive(Default)]
struct StageLog {
    /// Ended stages that were not reported. The last one is known to be complete only if another
    /// stage follows it or the work returns a result.
    ended: Vec<StageProgress>,
    /// The current stage with its total.
    now: Option<(Stage, Option<u64>)>,
}

/// A stage, the amount done and the total.
type StageProgress = (Stage, u64, Option<u64>);

impl Watch {
    /// Polls for an interruption in work that reports no progress.
    ///
    /// # Errors
    /// If the caller cancelled the work.
    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        Ok(self.advance(0)?)
    }

    /// Returns the first warning of the work, once.
    fn warning(&self) -> Option<&Warning> {
        let warning = self.warning.get()?;
        (!self.is_warned.swap(true, Ordering::Relaxed)).then_some(warning)
    }

    /// Takes the unreported progress: completed stages and the current one.
    fn take_progress(&self, is_done: bool) -> Vec<StageProgress> {
        let mut stages = self.stages.lock();
        // While the work runs, the last stage may have ended because it failed.
        let open = usize::from(!is_done && stages.now.is_none());
        let completed = stages.ended.len().saturating_sub(open);
        let mut progress: Vec<StageProgress> = stages.ended.drain(..completed).collect();
        let done = self.done.load(Ordering::Relaxed);
        progress.extend(stages.now.map(|(stage, total)| (stage, done, total)));
        progress
    }
}

impl Progress for Watch {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        let mut stages = self.stages.lock();
        stages.now = Some((stage, total));
        // Reset the counter before other threads see the stage.
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, done: u64) -> Result<(), Interruption> {
        if done > 0 {
            self.done.fetch_add(done, Ordering::Relaxed);
        }
        if self.is_cancelled.load(Ordering::Relaxed) { Err(Interruption) } else { Ok(()) }
    }

    fn end(&self, stage: Stage, _: Duration) {
        let mut stages = self.stages.lock();
        let total = stages.now.take().and_then(|(_, total)| total);
        // Reports a known total as done, because some work is not counted, such as unread columns.
        let done = total.unwrap_or_else(|| self.done.load(Ordering::Relaxed));
        stages.ended.push((stage, done, total));
    }

    fn warn(&self, warning: &Warning) {
        self.warning.get_or_init(|| warning.clone());
    }
}

/// Runs work on another thread, without the interpreter's lock. Calls `progress` about twenty times
/// a second with the stage, the amount done and the total, and once for each completed stage.
///
/// # Errors
/// If the work fails. An exception of a signal handler or of `progress` is raised after the work
/// has stopped.
pub(crate) fn long<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let watch = &watch;
        let worker = thread::Builder::new()
            .name("lookalike".to_owned())
            .spawn_scoped(scope, move || drop(sender.send(work(watch))))
            .map_err(|error| no_thread(&error))?;
        let result = poll_signals(py, watch, receiver, progress, None);
        // After a panic, `result` contains an error.
        let _ = py.detach(|| worker.join());
        result
    })
}

/// Like [`long`], for work that only reads and that owns its data. Abandons work that does not stop
/// within one second of a cancellation, such as a read from a pipe without a writer.
///
/// # Errors
/// If the work fails, or if a signal handler or `progress` raises an exception.
pub(crate) fn reading<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let worker_watch = Arc::clone(&watch);
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new()
        .name("lookalike".to_owned())
        .spawn(move || drop(sender.send(work(&worker_watch))))
        .map_err(|error| no_thread(&error))?;
    poll_signals(py, &watch, receiver, progress, Some(GRACE))
}

pub(crate) fn no_thread(error: &io::Error) -> PyErr {
    LookalikeError::new_err(format!(
        "cannot start a thread: {error}; end other threads, or raise the limits of the process"
    ))
}

/// Waits until another thread sends a value. Returns `None` if the thread ends without a value.
/// Releases the interpreter's lock while waiting. Calls `poll` with the lock about twenty times a
/// second. If `poll` returns false, the wait ends with `None`.
///
/// # Errors
/// Returns the errors of `poll` at once.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    mut receiver: Receiver<T>,
    mut poll: impl FnMut() -> PyResult<bool>,
) -> PyResult<Option<T>> {
    loop {
        let (got, back) = py.detach(move || (receiver.recv_timeout(PATIENCE), receiver));
        receiver = back;
        match got {
            Ok(value) => return Ok(Some(value)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                if !poll()? {
                    return Ok(None);
                }
            }
        }
    }
}

/// Checks signals and reports progress until the work is done or abandoned.
fn poll_signals<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    ended: Receiver<Result<T, Error>>,
    progress: Option<&Py<PyAny>>,
    grace: Option<Duration>,
) -> PyResult<T> {
    let mut raised: Option<(PyErr, Instant)> = None;
    let result = wait(py, ended, || {
        if let Some((_, since)) = &raised {
            return Ok(grace.is_none_or(|grace| since.elapsed() <= grace));
        }
        let reported = py.check_signals().and_then(|()| report(py, watch, false, progress));
        if let Err(error) = reported {
            watch.is_cancelled.store(true, Ordering::Relaxed);
            raised = Some((error, Instant::now()));
        }
        Ok(true)
    })?;
    if let Some((error, _)) = raised {
        py.detach(move || drop(result));
        return Err(error);
    }
    match result {
        Some(Ok(result)) => report(py, watch, true, progress).map(|()| result),
        Some(Err(error)) => Err(run_error(error)),
        None => Err(contradiction()),
    }
}

/// The error for a thread that ended without a result.
pub(crate) fn contradiction() -> PyErr {
    LookalikeError::new_err(
        "the engine stopped because of an internal error (see above), a bug in lookalike; please \
         report it, with the documents if you can",
    )
}

fn report(
    py: Python<'_>,
    watch: &Watch,
    is_done: bool,
    progress: Option<&Py<PyAny>>,
) -> PyResult<()> {
    if let Some(Warning::ExcessCandidates(excess)) = watch.warning() {
        let text = phrases::excess_candidates(excess, &SPELLING, false);
        without_unwind(|| py.import("lookalike._progress")?.call_method1("warn", (text,)))?;
    }
    let Some(progress) = progress else { return Ok(()) };
    for (stage, done, total) in watch.take_progress(is_done) {
        without_unwind(|| progress.call1(py, (stage.to_string(), done, total)))?;
    }
    Ok(())
}

const SPELLING: RemedySpelling =
    RemedySpelling { setting, auto: "bands='auto'", tune: "lookalike.tune" };

fn setting(choice: &Choice) -> String {
    let Choice { num_hashes, bands, rows } = choice;
    format!("num_hashes={num_hashes}, bands={bands}, rows={rows}")
}

/// Runs work that calls Python functions while other threads use data on this thread's stack.
pub(crate) fn without_unwind<T>(work: impl FnOnce() -> T) -> T {
    let guard = InterpreterGuard;
    let result = work();
    std::mem::forget(guard);
    result
}

/// Keeps a thread from being unwound at the end of the interpreter.
///
/// Before Python 3.14, an interpreter that ends while a daemon thread runs a Python function
/// unwinds the stack of that thread. The unwinding must not pass frames of Rust, because other
/// threads use data on them. The thread therefore waits until the process has ended.
struct InterpreterGuard;

impl Drop for InterpreterGuard {
    fn drop(&mut self) {
        while !thread::panicking() {
            thread::park();
        }
    }
}
