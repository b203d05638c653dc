//! A note about pipes to which no program writes. Opening such a pipe blocks until a program
//! writes.

use crate::output::terminal;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// How long an input may block before a note says so.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes the note to standard error if it is not dropped within a second.
pub(crate) struct WaitingNote {
    _opened: Option<Sender<()>>,
}

impl WaitingNote {
    /// Watches the first named pipe of the inputs. Without one, or if `quiet`, writes nothing.
    pub(crate) fn new<'a>(inputs: impl IntoIterator<Item = &'a PathBuf>, quiet: bool) -> Self {
        let mut inputs = inputs.into_iter().filter(|_| !quiet);
        let Some(pipe) = inputs.find(|path| is_pipe(path)) else { return Self { _opened: None } };
        let pipe = pipe.display().to_string();
        let (opened, dropped) = mpsc::channel();
        let wait = move || {
            if dropped.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let note = "is a pipe, and nothing has been written to it yet";
                // If standard error is closed, the note is lost.
                let _ = terminal::stderr().message(&format!("waiting for input: {pipe} {note}"));
            }
        };
        // Without a thread, only the note is missing: the input is still read.
        let _ = thread::Builder::new().spawn(wait);
        Self { _opened: Some(opened) }
    }
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_path: &Path) -> bool {
    false
}
