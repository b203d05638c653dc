//! Long calls: the work is done without the interpreter's lock, which looks after Ctrl-C and
//! progress.
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

/// How long a Ctrl-C may wait.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);
/// How long work that is not wanted any more may take to stop, where it can be left behind.
const GRACE: Duration = Duration::from_secs(1);

/// How far the work is, and whether it is still wanted.
#[derive(Default)]
pub(crate) struct Watch {
    unwanted: AtomicBool,
    done: AtomicU64,
    stages: Mutex<StageLog>,
    /// The first warning, and whether it was reported.
    warning: OnceLock<Warning>,
    is_warned: AtomicBool,
}

#[derive(Default)]
struct StageLog {
    /// Those that have ended and were not reported. Another one behind it, or a result, says that
    /// one was completed.
    ended: Vec<StageProgress>,
    /// The one that is under way, and of how much.
    now: Option<(Stage, Option<u64>)>,
}

/// A stage, how much of it is done, and of how much.
type StageProgress = (Stage, u64, Option<u64>);

impl Watch {
    /// Polls for an interruption in work that reports no progress.
    ///
    /// # Errors
    /// When the work is not wanted any more.
    pub(crate) fn go_on(&self) -> Result<(), Error> {
        Ok(self.advance(0)?)
    }

    /// The first warning, once.
    fn warning(&self) -> Option<&Warning> {
        let warning = self.warning.get()?;
        (!self.is_warned.swap(true, Ordering::Relaxed)).then_some(warning)
    }

    /// What was not reported yet: stages that were completed, and the one that is under way.
    fn news(&self, is_done: bool) -> Vec<StageProgress> {
        let mut stages = self.stages.lock();
        // The last one may have ended because it failed.
        let open = usize::from(!is_done && stages.now.is_none());
        let completed = stages.ended.len().saturating_sub(open);
        let mut news: Vec<StageProgress> = stages.ended.drain(..completed).collect();
        let done = self.done.load(Ordering::Relaxed);
        news.extend(stages.now.map(|(stage, total)| (stage, done, total)));
        news
    }
}

impl Progress for Watch {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        let mut stages = self.stages.lock();
        stages.now = Some((stage, total));
        // Before others see the stage, which has done nothing yet.
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, done: u64) -> Result<(), Interruption> {
        if done > 0 {
            self.done.fetch_add(done, Ordering::Relaxed);
        }
        if self.unwanted.load(Ordering::Relaxed) { Err(Interruption) } else { Ok(()) }
    }

    fn end(&self, stage: Stage, _: Duration) {
        let mut stages = self.stages.lock();
        let total = stages.now.take().and_then(|(_, total)| total);
        // Not everything is counted that is done, such as the columns of a file that nobody reads.
        let done = total.unwrap_or_else(|| self.done.load(Ordering::Relaxed));
        stages.ended.push((stage, done, total));
    }

    fn warn(&self, warning: &Warning) {
        self.warning.get_or_init(|| warning.clone());
    }
}

/// Does work on another thread, without the interpreter. `progress` is called with the stage, how
/// much of it is done and of how much, some twenty times a second, and once when the stage is
/// completed.
///
/// # Errors
/// Those of the work; what a signal handler or `progress` raises, when the work has stopped.
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
        let done = poll_signals(py, watch, receiver, progress, None);
        // What it came to is known; a panic is one of the things.
        let _ = py.detach(|| worker.join());
        done
    })
}

/// The same for work that only reads and has all that it needs: where it is waiting for something
/// else, such as a pipe that nobody writes to, it is left behind after a second.
///
/// # Errors
/// Those of the work; what a signal handler or `progress` raises.
pub(crate) fn reading<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let theirs = Arc::clone(&watch);
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new()
        .name("lookalike".to_owned())
        .spawn(move || drop(sender.send(work(&theirs))))
        .map_err(|error| no_thread(&error))?;
    poll_signals(py, &watch, receiver, progress, Some(GRACE))
}

pub(crate) fn no_thread(error: &io::Error) -> PyErr {
    LookalikeError::new_err(format!(
        "no thread can be started: {error}; end others, or raise the limits of the process"
    ))
}

/// Waits without the interpreter until another thread sends a value; `None` if it ends without
/// one. Some twenty times a second, `poll` is called with the interpreter: for `false` the wait
/// ends with `None`.
///
/// # Errors
/// Those of `poll`, at once.
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

/// Waits until the work is done, or is left behind.
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
            watch.unwanted.store(true, Ordering::Relaxed);
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

/// The error where a thread ended without a result.
pub(crate) fn contradiction() -> PyErr {
    LookalikeError::new_err(
        "the engine stopped at an inner contradiction (above); this is a fault of lookalike, \
         please report it with the documents if you can",
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
        staying(|| py.import("lookalike._progress")?.call_method1("warn", (text,)))?;
    }
    let Some(progress) = progress else { return Ok(()) };
    for (stage, done, total) in watch.news(is_done) {
        staying(|| progress.call1(py, (stage.to_string(), done, total)))?;
    }
    Ok(())
}

const SPELLING: RemedySpelling =
    RemedySpelling { setting, auto: "bands='auto'", tune: "lookalike.tune" };

fn setting(choice: &Choice) -> String {
    let Choice { num_hashes, bands, rows } = choice;
    format!("num_hashes={num_hashes}, bands={bands}, rows={rows}")
}

/// Calls what runs functions of Python while others use what is on this thread's stack.
pub(crate) fn staying<T>(work: impl FnOnce() -> T) -> T {
    let stays = InterpreterGuard;
    let done = work();
    std::mem::forget(stays);
    done
}

/// An interpreter that ends while a daemon thread is in a function of Python ends that thread by
/// unwinding its stack (before Python 3.14), which must not go through frames of Rust: others use
/// what is on them. The thread stays until the process is gone.
struct InterpreterGuard;

impl Drop for InterpreterGuard {
    fn drop(&mut self) {
        while !thread::panicking() {
            thread::park();
        }
    }
}
