//! An index that is open: in this process only, until it is closed.

use super::telling::told;
use crate::error::StoreError;
use lookalike::index::Preparer;
use lookalike::store::query::Scratch;
use lookalike::store::{Index, IndexError};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Idle tools that are kept for the next calls.
const IDLE: usize = 16;

/// An index, and what its calls use again.
pub(super) struct Handle {
    pub(super) index: Index,
    tools: Mutex<Vec<Tools>>,
}

/// What a call that asks for texts uses.
pub(super) struct Tools {
    pub(super) preparer: Preparer,
    pub(super) scratch: Scratch,
}

impl Handle {
    /// Does something with tools that nobody else has meanwhile.
    ///
    /// # Errors
    /// What `work` gives, and what keeps tools from being made.
    pub(super) fn with_tools<T>(
        &self,
        work: impl FnOnce(&Index, &mut Tools) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let idle = lock(&self.tools).pop();
        let mut tools = match idle {
            Some(tools) => tools,
            None => Tools {
                preparer: Preparer::new(self.index.settings())?,
                scratch: Scratch::default(),
            },
        };
        let done = work(&self.index, &mut tools);
        let mut idle = lock(&self.tools);
        if idle.len() < IDLE {
            idle.push(tools);
        }
        done
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An index that was opened by this process. A process forked from it shares the file positions,
/// the locks and none of the threads, so that anything it did would damage the index: it does
/// nothing.
pub(super) struct Opened {
    process: u32,
    name: String,
    handle: Mutex<Option<Arc<Handle>>>,
}

impl Opened {
    pub(super) fn new(index: Index) -> Self {
        let name = index.name().to_owned();
        let handle = Arc::new(Handle { index, tools: Mutex::new(Vec::new()) });
        Self { process: std::process::id(), name, handle: Mutex::new(Some(handle)) }
    }

    /// Its name, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The process that opened it.
    pub(super) fn process(&self) -> u32 {
        self.process
    }

    /// Whether nothing more can be asked of it here.
    pub(super) fn is_closed(&self) -> bool {
        self.is_forked() || lock(&self.handle).is_none()
    }

    fn is_forked(&self) -> bool {
        std::process::id() != self.process
    }

    /// The index.
    ///
    /// # Errors
    /// `StoreError` where it is closed, or was opened by the process that this one was forked from.
    pub(super) fn get(&self) -> PyResult<Arc<Handle>> {
        let name = &self.name;
        // Before the lock is touched, which another thread may have had when the process forked.
        if self.is_forked() {
            let (opened, here) = (self.process, std::process::id());
            return Err(StoreError::new_err(format!(
                "{name} was opened by process {opened}, this is process {here}, forked from it: \
                 open it anew after the fork, with lookalike.Index.open"
            )));
        }
        lock(&self.handle).clone().ok_or_else(|| {
            StoreError::new_err(format!("{name} is closed: open it anew with lookalike.Index.open"))
        })
    }

    /// Does something with the index, without the interpreter's lock.
    ///
    /// # Errors
    /// As [`get`](Self::get), and what `work` gives.
    pub(super) fn detached<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Handle) -> Result<T, IndexError> + Send,
    ) -> PyResult<T> {
        let handle = self.get()?;
        // The last one who has it closes it, which takes its time.
        let done = py.detach(move || work(&handle));
        done.map_err(told)
    }

    /// Closes it; calls of other threads that are under way are finished before. Nothing happens
    /// where that is done, and in a forked process.
    pub(super) fn close(&self, py: Python<'_>) {
        if !self.is_forked() {
            let handle = lock(&self.handle).take();
            py.detach(move || drop(handle));
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let handle = self.handle.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if self.is_forked() {
            std::mem::forget(handle);
            return;
        }
        let Some(handle) = handle else { return };
        // Threads that close it must not wait for the lock that this one has.
        let handle = Mutex::new(Some(handle));
        let _ = Python::try_attach(|py| {
            let handle = lock(&handle).take();
            py.detach(move || drop(handle));
        });
    }
}
