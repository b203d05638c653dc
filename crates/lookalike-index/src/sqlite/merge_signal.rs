//! Signals between writers and the thread that merges segments.

use super::lock::lock;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Signals between writers and the thread that merges segments.
#[derive(Default)]
pub(super) struct MergeSignal {
    pub(super) flags: Mutex<SignalFlags>,
    pub(super) changed: Condvar,
    /// Locked by the thread that merges or rebuilds segments.
    turn: Mutex<()>,
}

/// The state that [`MergeSignal`] guards.
#[derive(Default)]
pub(super) struct SignalFlags {
    /// There is a new segment.
    flushed: bool,
    /// The thread must end.
    pub(super) end: bool,
    /// Number of threads that wait for exclusive access.
    pub(super) waiters: usize,
    /// The last merge failed: no thread waits for another.
    pub(super) failed: bool,
}

impl MergeSignal {
    /// Signals a new segment.
    pub(super) fn flushed(&self) {
        let mut flags = lock(&self.flags);
        (flags.flushed, flags.failed) = (true, false);
        self.changed.notify_all();
    }

    /// Ends the thread after the merges that are running.
    pub(super) fn end(&self) {
        lock(&self.flags).end = true;
        self.changed.notify_all();
    }

    /// Prevents other threads from merging or rebuilding segments until the guard is dropped.
    /// Running merges are abandoned.
    pub(super) fn exclusive(&self) -> MutexGuard<'_, ()> {
        lock(&self.flags).waiters += 1;
        self.changed.notify_all();
        let turn = lock(&self.turn);
        let mut flags = lock(&self.flags);
        // Abandoned merges are planned again after this turn.
        (flags.waiters, flags.flushed) = (flags.waiters - 1, true);
        self.changed.notify_all();
        turn
    }

    /// Waits for work; `None` when the thread must end.
    pub(super) fn next(&self) -> Option<MutexGuard<'_, ()>> {
        let idle = |flags: &mut SignalFlags| (!flags.flushed || flags.waiters > 0) && !flags.end;
        let waited = self.changed.wait_while(lock(&self.flags), idle);
        let mut flags = waited.unwrap_or_else(PoisonError::into_inner);
        flags.flushed = false;
        let ends = flags.end;
        drop(flags);
        (!ends).then(|| lock(&self.turn))
    }

    /// Waits up to `timeout` for a new segment or another signal.
    pub(super) fn pause(&self, timeout: Duration) {
        let idle = |flags: &mut SignalFlags| !flags.flushed && flags.waiters == 0 && !flags.end;
        let waited = self.changed.wait_timeout_while(lock(&self.flags), timeout, idle);
        waited.unwrap_or_else(PoisonError::into_inner).0.flushed = false;
    }

    /// Whether the thread must end.
    pub(super) fn ends(&self) -> bool {
        lock(&self.flags).end
    }

    /// Whether a thread waits for exclusive access.
    pub(super) fn has_waiters(&self) -> bool {
        lock(&self.flags).waiters > 0
    }

    /// Records whether the last merges succeeded.
    pub(super) fn merged(&self, is_done: bool) {
        lock(&self.flags).failed = !is_done;
        self.changed.notify_all();
    }
}
