//! Tells a thread that there is something new to do, or that it ends.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A signal between threads.
#[derive(Default)]
pub(crate) struct NewsSignal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Default)]
struct SignalState {
    has_news: bool,
    is_closed: bool,
}

impl NewsSignal {
    fn lock(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells that there is something to do.
    pub(crate) fn tell(&self) {
        self.lock().has_news = true;
        self.changed.notify_all();
    }

    /// Tells that the thread ends.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Whether the thread ends.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Waits for something to do; `false` if the thread ends. A signal since it last returned
    /// counts.
    pub(crate) fn wait(&self) -> bool {
        let waited =
            self.changed.wait_while(self.lock(), |state| !state.has_news && !state.is_closed);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.has_news = false;
        !state.is_closed
    }

    /// Waits for a time; returns whether the thread ends.
    pub(crate) fn pause(&self, pause: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), pause, |state| !state.is_closed);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_closed
    }
}
