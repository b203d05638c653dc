//! Signals between writers and the thread that merges segments.
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Signals between writers and the thread that merges segments.
#[derive(Default)]
pub(crate) struct MergeSignal {
    pub(crate) flags: Mutex<SignalFlags>,
    pub(crate) changed: Condvar,
    /// Locked by the thread that merges or rebuilds segments.
    turn: Mutex<()>,
}

/// The state that [`MergeSignal`] guards.
#[derive(Default)]
pub(crate) struct SignalFlags {
    /// Whether merges must be planned: segments were added, or merges were abandoned.
    flushed: bool,
    /// Whether the thread must end.
    pub(crate) end: bool,
    /// Number of threads that wait for exclusive access.
    pub(crate) waiters: usize,
    /// Whether the last merge failed, so that writers do not wait for merges.
    pub(crate) failed: bool,
}

impl MergeSignal {
    /// Signals a new segment.
    pub(crate) fn flushed(&self) {
        let mut flags = self.flags.lock();
        flags.flushed = true;
        flags.failed = false;
        self.changed.notify_all();
    }

    /// Tells the merging thread to finish its running merges and end.
    pub(crate) fn end(&self) {
        self.flags.lock().end = true;
        self.changed.notify_all();
    }

    /// Prevents other threads from merging or rebuilding segments until the guard is dropped.
    /// Running merges are abandoned.
    pub(crate) fn exclusive(&self) -> MutexGuard<'_, ()> {
        self.flags.lock().waiters += 1;
        self.changed.notify_all();
        let turn = self.turn.lock();
        let mut flags = self.flags.lock();
        // Abandoned merges are planned again after this turn.
        flags.waiters -= 1;
        flags.flushed = true;
        self.changed.notify_all();
        turn
    }

    /// Waits until merges must be planned and no thread waits for exclusive access. Returns the
    /// lock to hold while merging, or `None` if the thread must end.
    pub(crate) fn next(&self) -> Option<MutexGuard<'_, ()>> {
        let idle = |flags: &mut SignalFlags| (!flags.flushed || flags.waiters > 0) && !flags.end;
        let mut flags = self.flags.lock();
        self.changed.wait_while(&mut flags, idle);
        flags.flushed = false;
        let ends = flags.end;
        drop(flags);
        (!ends).then(|| self.turn.lock())
    }

    /// Waits up to `timeout` for a new segment or another signal. Clears the signal of a new
    /// segment, because the caller reads the segments again.
    pub(crate) fn pause(&self, timeout: Duration) {
        let idle = |flags: &mut SignalFlags| !flags.flushed && flags.waiters == 0 && !flags.end;
        let mut flags = self.flags.lock();
        self.changed.wait_while_for(&mut flags, idle, timeout);
        flags.flushed = false;
    }

    /// Returns true if the thread must end.
    pub(crate) fn ends(&self) -> bool {
        self.flags.lock().end
    }

    /// Returns true if a thread waits for exclusive access.
    pub(crate) fn has_waiters(&self) -> bool {
        self.flags.lock().waiters > 0
    }

    /// Records whether the last merges succeeded.
    pub(crate) fn merged(&self, is_done: bool) {
        self.flags.lock().failed = !is_done;
        self.changed.notify_all();
    }
}
