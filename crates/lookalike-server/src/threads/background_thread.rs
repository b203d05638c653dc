//! A thread of the service. When the service stops, it waits for the end of the thread.

use parking_lot::Mutex;
use std::io;
use std::mem;
use std::thread::{Builder, JoinHandle};

/// A handle that many threads may share. The default is the handle of an ended thread.
#[derive(Debug, Default)]
pub(crate) struct BackgroundThread(Mutex<Option<JoinHandle<()>>>);

impl BackgroundThread {
    /// Starts a thread with a name for the system.
    ///
    /// # Errors
    /// The system starts no more threads.
    pub(crate) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let thread = Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Self(Mutex::new(Some(thread))))
    }

    /// Replaces the handle of an ended thread.
    pub(crate) fn replace(&self, other: Self) {
        let other = other.0.into_inner();
        drop(mem::replace(&mut *self.0.lock(), other));
    }

    /// Waits for the end of the thread. A second caller does not wait.
    pub(crate) fn join(&self) {
        let thread = self.0.lock().take();
        if let Some(thread) = thread {
            // A panic of the thread is on standard error.
            let _ = thread.join();
        }
    }
}
