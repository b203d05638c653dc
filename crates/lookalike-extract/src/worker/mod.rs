//! The worker process: a parser that overflows its stack, exhausts the memory or does not
//! terminate ends only this process.
//!
//! ```text
//! parent: WorkerProcess::run ── length, task ───► stdin  │ child: serve ─ PdfTask::read
//!                            ◄─ length, outcome ─ stdout │ stderr: discarded
//! ```
//!
//! The parent kills the child when the time limit of the file is reached. The child exits when its
//! standard input is closed, at the latest after the current file. Therefore it also exits with its
//! parent.

mod ipc;
pub(crate) mod sandbox;

use crate::reading::{ExtractError, WorkerCommand};
use crate::worker::sandbox::{PdfTask, STACK_BYTES, TaskOutcome};
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Address space limit of the child, on Unix.
#[cfg(unix)]
const MEMORY_BYTES: u64 = 4 << 30;
/// Time beyond the limit of a file in which the child may still report the timeout itself.
const GRACE: Duration = Duration::from_millis(500);

/// A process that reads files. It is started for the first file.
pub(crate) struct WorkerProcess {
    command: WorkerCommand,
    running: Option<WorkerChild>,
}

struct WorkerChild {
    child: Child,
    tasks: ChildStdin,
    replies: ChildStdout,
}

impl WorkerProcess {
    pub(crate) fn new(command: &WorkerCommand) -> Self {
        Self { command: command.clone(), running: None }
    }

    /// # Errors
    /// The process cannot be started, crashes, or takes too long.
    pub(crate) fn run(&mut self, task: &PdfTask<'_>) -> Result<TaskOutcome, ExtractError> {
        if let Some(running) = &mut self.running
            && !matches!(running.child.try_wait(), Ok(None))
        {
            self.running = None;
        }
        let running = match self.running.take().map_or_else(|| self.start(), Ok) {
            Ok(running) => self.running.insert(running),
            Err(error) => {
                let program = self.command.program.display();
                let what = format!("{program} could not be started: {error}");
                return Err(ExtractError::Crashed { what });
            }
        };
        let outcome = running.exchange(task);
        if outcome.is_err() {
            self.running = None;
        }
        outcome
    }

    fn start(&self) -> io::Result<WorkerChild> {
        let mut child = Command::new(&self.command.program)
            .args(&self.command.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(tasks), Some(replies)) => Ok(WorkerChild { child, tasks, replies }),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl WorkerChild {
    /// Sends a task and waits for the reply, within the time limit.
    fn exchange(&mut self, task: &PdfTask<'_>) -> Result<TaskOutcome, ExtractError> {
        let limits = task.options.limits;
        let Self { child, tasks, replies } = self;
        let (sender, receiver) = mpsc::channel();
        let reply = thread::scope(|scope| {
            let talk = move || {
                let reply = ipc::send_task(task, tasks)
                    .and_then(|()| ipc::receive(replies, limits.expanded));
                // Fails after a timeout, when the receiver is dropped.
                let _ = sender.send(reply);
            };
            if thread::Builder::new().spawn_scoped(scope, talk).is_err() {
                return Err(RecvTimeoutError::Disconnected);
            }
            let reply = receiver.recv_timeout(limits.time.saturating_add(GRACE));
            if !matches!(reply, Ok(Ok(_))) {
                // Also ends the other thread, whose pipes break.
                stop_child(child, matches!(reply, Err(RecvTimeoutError::Timeout)));
            }
            reply
        });
        match reply {
            Ok(Ok(reply)) => ipc::decode_outcome(&reply)
                .ok_or_else(|| ExtractError::Crashed { what: "invalid reply".to_owned() }),
            Err(RecvTimeoutError::Timeout) => {
                Err(ExtractError::TooSlow { seconds: limits.time.as_secs() })
            }
            _ => Err(ExtractError::Crashed { what: self.exit_reason() }),
        }
    }

    /// Waits for the child and describes how it exited.
    fn exit_reason(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => describe_exit(status),
            Err(error) => error.to_string(),
        }
    }
}

/// Kills a child, either at once or if it does not exit within 200 ms.
fn stop_child(child: &mut Child, at_once: bool) {
    if !at_once {
        for _ in 0..20 {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
    // Fails only if the child has exited.
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for WorkerChild {
    fn drop(&mut self) {
        stop_child(&mut self.child, true);
    }
}

#[cfg(unix)]
fn describe_exit(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    let Some(signal) = status.signal() else { return status.to_string() };
    let meaning = match signal {
        6 => ": aborted, stack or memory exhausted",
        9 => ": killed",
        11 => ": segmentation fault",
        _ => "",
    };
    format!("signal {signal}{meaning}")
}

#[cfg(not(unix))]
fn describe_exit(status: ExitStatus) -> String {
    status.to_string()
}

/// Runs the worker process started by [`WorkerCommand`]: reads tasks from standard input and
/// writes their outcomes to standard output, until the input ends. Nothing else may write to
/// standard output.
///
/// On Unix, limits its own address space to 4 GiB, or to a lower existing limit, and disables
/// core dumps.
///
/// # Errors
///
/// The parent sends an invalid task, or standard output is closed.
pub fn serve() -> io::Result<()> {
    limit_memory();
    let serving = thread::Builder::new().stack_size(STACK_BYTES).spawn(|| {
        let mut input = io::stdin().lock();
        let mut output = io::stdout().lock();
        serve_tasks(&mut input, &mut output)
    })?;
    serving.join().unwrap_or_else(|_| Err(io::Error::other("the worker panicked")))
}

fn serve_tasks(input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
    while let Some(task) = ipc::receive_task(input)? {
        let outcome = ipc::decode_task(&task).ok_or(io::ErrorKind::InvalidData)?.read();
        ipc::send_outcome(&outcome, output)?;
    }
    Ok(())
}

#[cfg(unix)]
fn limit_memory() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let limit = |resource, most: u64| {
        if let Ok((soft, hard)) = getrlimit(resource) {
            // Best effort: the limits of the file apply in any case.
            let _ = setrlimit(resource, soft.min(most), hard.min(most));
        }
    };
    limit(Resource::RLIMIT_AS, MEMORY_BYTES);
    limit(Resource::RLIMIT_CORE, 0);
}

#[cfg(not(unix))]
fn limit_memory() {}
