//! Reading in another process, so that a parser that overflows its stack, fills the memory or
//! never ends takes only that process with it.
//!
//! ```text
//! parent: Worker::run ── length, task ──► stdin │ child: serve ─ Task::perform
//!                     ◄─ length, done ── stdout │ stderr: not shown
//! ```
//!
//! The parent waits until the time of the file is over, then kills. The child ends when its
//! standard input does, and so with its parent, at the latest when the file at hand is done.

use crate::failure::Failure;
use crate::guard::{Done, STACK_BYTES, Task};
use crate::options::WorkerCommand;
use crate::wire;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Bytes of address space that a child gives itself, on Unix.
#[cfg(unix)]
const MEMORY_BYTES: u64 = 4 << 30;
/// How long after the time of a file the child may still say by itself that it was too slow.
const GRACE: Duration = Duration::from_millis(500);

/// A process that reads files, started when the first one comes.
pub(crate) struct Worker {
    command: WorkerCommand,
    running: Option<Running>,
}

struct Running {
    child: Child,
    tasks: ChildStdin,
    replies: ChildStdout,
}

impl Worker {
    pub(crate) fn new(command: &WorkerCommand) -> Self {
        Self { command: command.clone(), running: None }
    }

    /// Reads a file in the child.
    pub(crate) fn run(&mut self, task: &Task<'_>) -> Done {
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
                return Done::failed(Failure::Crashed { what });
            }
        };
        match running.ask(task) {
            Ok(done) => done,
            Err(failure) => {
                self.running = None;
                Done::failed(failure)
            }
        }
    }

    fn start(&self) -> io::Result<Running> {
        let mut child = Command::new(&self.command.program)
            .args(&self.command.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(tasks), Some(replies)) => Ok(Running { child, tasks, replies }),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Running {
    /// Sends a task and waits for the reply, until the time is over.
    fn ask(&mut self, task: &Task<'_>) -> Result<Done, Failure> {
        let limits = task.options.limits;
        let Self { child, tasks, replies } = self;
        let (sender, receiver) = mpsc::channel();
        let reply = thread::scope(|scope| {
            let talk = move || {
                let reply = wire::send_task(task, tasks)
                    .and_then(|()| wire::receive(replies, limits.expanded));
                // Nobody listens any more when the time is over.
                let _ = sender.send(reply);
            };
            if thread::Builder::new().spawn_scoped(scope, talk).is_err() {
                return Err(RecvTimeoutError::Disconnected);
            }
            let reply = receiver.recv_timeout(limits.time.saturating_add(GRACE));
            if !matches!(reply, Ok(Ok(_))) {
                // Ends the other thread too: its pipes break.
                end(child, matches!(reply, Err(RecvTimeoutError::Timeout)));
            }
            reply
        });
        match reply {
            Ok(Ok(reply)) => wire::done(&reply)
                .ok_or_else(|| Failure::Crashed { what: "its reply makes no sense".to_owned() }),
            Err(RecvTimeoutError::Timeout) => {
                Err(Failure::TooSlow { seconds: limits.time.as_secs() })
            }
            _ => Err(Failure::Crashed { what: self.obituary() }),
        }
    }

    /// What is known of the end of the child.
    fn obituary(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => died_of(status),
            Err(error) => error.to_string(),
        }
    }
}

/// Ends a child: at once, or when it has not ended by itself, having closed its output.
fn end(child: &mut Child, at_once: bool) {
    if !at_once {
        for _ in 0..20 {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
    // It fails only when the child is gone.
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Running {
    fn drop(&mut self) {
        end(&mut self.child, true);
    }
}

#[cfg(unix)]
fn died_of(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    let Some(signal) = status.signal() else { return status.to_string() };
    let meaning = match signal {
        6 => ": it gave up, its stack or its memory was full",
        9 => ": it was killed",
        11 => ": it reached for memory that is not its own",
        _ => "",
    };
    format!("signal {signal}{meaning}")
}

#[cfg(not(unix))]
fn died_of(status: ExitStatus) -> String {
    status.to_string()
}

/// What the process named by [`WorkerCommand`] does: reads tasks from standard input and writes
/// what became of them to standard output, until the input ends. Nothing else may write there.
///
/// On Unix it limits its own address space to 4 GiB, or less if it is limited already, and
/// leaves no memory image when it crashes.
///
/// # Errors
///
/// What the parent sends is no task, or it does not take the reply.
pub fn serve() -> io::Result<()> {
    limit_memory();
    let serving = thread::Builder::new().stack_size(STACK_BYTES).spawn(|| {
        let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
        answer(&mut input, &mut output)
    })?;
    serving.join().unwrap_or_else(|_| Err(io::Error::other("the worker panicked")))
}

fn answer(input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
    while let Some(task) = wire::receive_task(input)? {
        let done = wire::task(&task).ok_or(io::ErrorKind::InvalidData)?.perform();
        wire::send_done(&done, output)?;
    }
    Ok(())
}

#[cfg(unix)]
fn limit_memory() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let limit = |resource, most: u64| {
        if let Ok((soft, hard)) = getrlimit(resource) {
            // Where this is not allowed, the limits of the file remain.
            let _ = setrlimit(resource, soft.min(most), hard.min(most));
        }
    };
    limit(Resource::RLIMIT_AS, MEMORY_BYTES);
    limit(Resource::RLIMIT_CORE, 0);
}

#[cfg(not(unix))]
fn limit_memory() {}
