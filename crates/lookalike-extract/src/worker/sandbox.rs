//! Runs a reader isolated from its caller: panics are caught, the stack is large.

use crate::kind::FileKind;
use crate::read_text::read_text;
use crate::reading::{ExtractError, ExtractOptions, Fields, LimitTracker, TextOutput};
use std::panic::{self, AssertUnwindSafe};
use std::thread;

/// Bytes of stack for readers of nested formats.
pub(crate) const STACK_BYTES: usize = 64 << 20;

/// A PDF to be read in the sandbox, with the remaining limits of the enclosing file.
pub(crate) struct PdfTask<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) options: ExtractOptions,
}

/// The result of a task.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TaskOutcome {
    /// Bytes charged to the limit of expanded bytes.
    pub(crate) expanded: u64,
    pub(crate) read: Result<(String, Fields), ExtractError>,
}

impl<'a> PdfTask<'a> {
    pub(crate) fn new(bytes: &'a [u8], tracker: &LimitTracker<'_>) -> Self {
        let mut options = tracker.options.clone();
        options.limits.expanded = tracker.bytes_left();
        options.limits.time = tracker.time_left();
        options.worker = None;
        Self { bytes, options }
    }

    /// Reads the file on the current thread.
    pub(crate) fn read(&self) -> TaskOutcome {
        let tracker = LimitTracker::new(&self.options);
        let mut text = String::new();
        let mut fields = Fields::default();
        let read = catch_panics(|| {
            let mut out = TextOutput { tracker: &tracker, text: &mut text, fields: &mut fields };
            read_text(FileKind::Pdf, self.bytes, &mut out)
        });
        let expanded = self.options.limits.expanded.saturating_sub(tracker.bytes_left());
        TaskOutcome { expanded, read: read.map(|()| (text, fields)) }
    }

    /// Reads the file on a thread with a large stack. The panic hook still prints panics to
    /// standard error, and a parser that does not terminate is not stopped; the worker process
    /// handles both.
    pub(crate) fn read_on_large_stack(&self) -> Result<TaskOutcome, ExtractError> {
        let spawned = thread::scope(|scope| {
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, || self.read()).map(thread::ScopedJoinHandle::join)
        });
        let crashed = |what: &str| ExtractError::Crashed { what: what.to_owned() };
        spawned
            .map_err(|_| crashed("no thread could be started"))?
            .map_err(|_| crashed("it panicked"))
    }
}

/// Runs a reader; a panic becomes [`ExtractError::Crashed`].
pub(crate) fn catch_panics(
    read: impl FnOnce() -> Result<(), ExtractError>,
) -> Result<(), ExtractError> {
    panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().copied();
        let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(ExtractError::Crashed { what: message.unwrap_or("it panicked").to_owned() })
    })
}
