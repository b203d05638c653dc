//! An open index, which this process can use until it is closed.

use crate::call::PATIENCE;
use crate::error::StoreError;
use crate::error::index_error;
use lookalike::index::TextPreparer;
use lookalike::store::query::QueryBuffers;
use lookalike::store::{Index, IndexError};
use parking_lot::{Condvar, Mutex};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Deref;
use std::sync::Arc;
use std::thread::{self, ThreadId};

/// Maximum number of idle [`QueryTools`] that an index keeps.
const IDLE: usize = 16;

/// An index, with tools that its calls reuse.
pub(super) struct Handle {
    pub(super) index: Index,
    tools: Mutex<Vec<QueryTools>>,
}

/// The text preparer and the buffers of a query.
pub(super) struct QueryTools {
    pub(super) preparer: TextPreparer,
    pub(super) scratch: QueryBuffers,
}

impl Handle {
    /// Runs `work` with tools that no other call uses at the same time.
    ///
    /// # Errors
    /// Errors of `work` and of creating tools.
    pub(super) fn with_tools<T>(
        &self,
        work: impl FnOnce(&Index, &mut QueryTools) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let idle = self.tools.lock().pop();
        let mut tools = match idle {
            Some(tools) => tools,
            None => QueryTools {
                preparer: TextPreparer::new(self.index.settings())?,
                scratch: QueryBuffers::default(),
            },
        };
        let result = work(&self.index, &mut tools);
        let mut idle = self.tools.lock();
        if idle.len() < IDLE {
            idle.push(tools);
        }
        result
    }
}

/// An index that this process opened. A process forked from it shares the file positions and the
/// locks, but not the threads. Operations in a forked process could damage the index. They fail
/// there, and closing does nothing.
pub(super) struct OpenIndex {
    process: u32,
    name: String,
    handle: Mutex<Option<Arc<Handle>>>,
    calls: Arc<Calls>,
}

/// The running calls.
#[derive(Default)]
struct Calls {
    /// Number of calls by thread.
    of: Mutex<HashMap<ThreadId, usize>>,
    ended: Condvar,
}

impl Calls {
    fn begin(&self) -> ThreadId {
        let thread = thread::current().id();
        *self.of.lock().entry(thread).or_default() += 1;
        thread
    }

    fn end(&self, thread: ThreadId) {
        let mut of = self.of.lock();
        if let Entry::Occupied(mut calls) = of.entry(thread) {
            *calls.get_mut() -= 1;
            if *calls.get() == 0 {
                calls.remove();
            }
        }
        drop(of);
        self.ended.notify_all();
    }

    /// Waits for the end of all calls, up to a timeout. Returns true if a call is still running. A
    /// thread that is itself in a call does not wait, because this call cannot end while it waits.
    fn wait(&self) -> bool {
        let this = thread::current().id();
        let is_busy = |of: &HashMap<ThreadId, usize>| !of.is_empty() && !of.contains_key(&this);
        let mut of = self.of.lock();
        self.ended.wait_while_for(&mut of, |of| is_busy(of), PATIENCE);
        is_busy(&of)
    }
}

/// An index during one call.
pub(super) struct Call {
    handle: Arc<Handle>,
    // Rust drops this field after the handle, so the index is closed when a
    // waiting thread wakes up.
    ended: CallGuard,
}

/// Records the end of a call.
struct CallGuard {
    calls: Arc<Calls>,
    process: u32,
    thread: ThreadId,
}

impl Deref for Call {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // A process forked during the call must not close the index of its parent.
        if std::process::id() != self.ended.process {
            std::mem::forget(Arc::clone(&self.handle));
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        // Another thread may have held the lock when the process forked.
        if std::process::id() == self.process {
            self.calls.end(self.thread);
        }
    }
}

impl OpenIndex {
    pub(super) fn new(index: Index) -> Self {
        let name = index.name().to_owned();
        let handle = Arc::new(Handle { index, tools: Mutex::new(Vec::new()) });
        let process = std::process::id();
        let calls = Arc::default();
        Self { process, name, handle: Mutex::new(Some(handle)), calls }
    }

    /// The name of the index, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The process that opened the index.
    pub(super) fn process(&self) -> u32 {
        self.process
    }

    /// Returns true if the index is closed for this process.
    pub(super) fn is_closed(&self) -> bool {
        self.is_forked() || self.handle.lock().is_none()
    }

    fn is_forked(&self) -> bool {
        std::process::id() != self.process
    }

    /// Begins a call.
    ///
    /// # Errors
    /// `StoreError` if the index is closed, or was opened by the parent of this process.
    pub(super) fn get(&self) -> PyResult<Call> {
        let name = &self.name;
        // Checked before locking: another thread may have held the lock when the process forked.
        if self.is_forked() {
            let opened = self.process;
            let pid = std::process::id();
            return Err(StoreError::new_err(format!(
                "cannot use {name} in process {pid}, which was forked from process {opened} that \
                 opened it; open it again in process {pid} with lookalike.Index.open, and close \
                 it before the fork or start processes with spawn"
            )));
        }
        let guard = self.handle.lock();
        let handle = guard.clone().ok_or_else(|| {
            StoreError::new_err(format!(
                "{name} is closed: open it again with lookalike.Index.open"
            ))
        })?;
        // Count the call while `handle` is locked, before another thread can close the index.
        let calls = Arc::clone(&self.calls);
        let thread = self.calls.begin();
        drop(guard);
        Ok(Call { handle, ended: CallGuard { calls, process: self.process, thread } })
    }

    /// Runs `work` on the index, without the interpreter's lock.
    ///
    /// # Errors
    /// As [`get`](Self::get), and errors of `work`.
    pub(super) fn detached<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Handle) -> Result<T, IndexError> + Send,
    ) -> PyResult<T> {
        let handle = self.get()?;
        // Dropping the last handle closes the index, which can take time.
        let result = py.detach(move || work(&handle));
        result.map_err(index_error)
    }

    /// Closes the index, and waits for the running calls of other threads. A thread that closes the
    /// index within its own call does not wait: the index is closed when all calls have ended. Does
    /// nothing in a forked process.
    ///
    /// # Errors
    /// Exceptions of a signal handler. Running calls then continue, and new calls fail.
    pub(super) fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_forked() {
            return Ok(());
        }
        let handle = self.handle.lock().take();
        py.detach(move || drop(handle));
        while py.detach(|| self.calls.wait()) {
            py.check_signals()?;
        }
        Ok(())
    }
}

impl Drop for OpenIndex {
    fn drop(&mut self) {
        let handle = self.handle.get_mut().take();
        if self.is_forked() {
            std::mem::forget(handle);
            return;
        }
        let Some(handle) = handle else { return };
        // Closing may wait for other threads, and these may wait for the interpreter's lock. So
        // this thread releases the lock.
        let handle = Mutex::new(Some(handle));
        let _ = Python::try_attach(|py| {
            let handle = handle.lock().take();
            py.detach(move || drop(handle));
        });
    }
}
