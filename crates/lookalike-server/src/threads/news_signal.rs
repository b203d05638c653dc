//! Tells a thread that there is something new to do, or that it ends.

use parking_lot::{Condvar, Mutex};
use std::time::Duration;

/// A signal between threads.
#[derive(Default)]
pub(crate) struct NewsSignal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Default)]
struct SignalState {
    has_work: bool,
    is_closed: bool,
}

impl NewsSignal {
    /// Tells that there is something to do.
    pub(crate) fn notify(&self) {
        self.state.lock().has_work = true;
        self.changed.notify_all();
    }

    /// Tells that the thread ends.
    pub(crate) fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Whether the thread ends.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    /// Waits for something to do. Returns `false` if the thread ends. A signal between two calls is
    /// not lost.
    pub(crate) fn wait(&self) -> bool {
        let mut state = self.state.lock();
        self.changed.wait_while(&mut state, |state| !state.has_work && !state.is_closed);
        state.has_work = false;
        !state.is_closed
    }

    /// Waits for a time; returns whether the thread ends.
    pub(crate) fn pause(&self, pause: Duration) -> bool {
        let mut state = self.state.lock();
        self.changed.wait_while_for(&mut state, |state| !state.is_closed, pause);
        state.is_closed
    }
}
