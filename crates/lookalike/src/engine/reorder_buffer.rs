//! Passes values from several threads to one thread, in order.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::BTreeMap;

/// Receives numbered values from several threads and returns them to one thread in the order of
/// their numbers.
pub(crate) struct ReorderBuffer<T> {
    state: Mutex<ReorderState<T>>,
    changed: Condvar,
    /// A sender waits if its value is at least this far after the next value to return.
    window: u64,
}

struct ReorderState<T> {
    next: u64,
    waiting: BTreeMap<u64, T>,
    senders: usize,
    is_closed: bool,
}

impl<T> ReorderBuffer<T> {
    /// Creates a buffer. A sender waits if its value is at least `window` after the next value to
    /// return.
    pub(crate) fn new(window: u64) -> Self {
        let waiting = BTreeMap::new();
        let state = ReorderState { next: 0, waiting, senders: 0, is_closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), window }
    }

    fn state(&self) -> MutexGuard<'_, ReorderState<T>> {
        self.state.lock()
    }

    /// Adds the value with a number. Waits if the number is too far ahead. Returns `false` if the
    /// receiver was dropped.
    pub(crate) fn put(&self, number: u64, value: T) -> bool {
        let mut state = self.state();
        while number >= state.next + self.window && !state.is_closed {
            self.changed.wait(&mut state);
        }
        if state.is_closed {
            return false;
        }
        state.waiting.insert(number, value);
        self.changed.notify_all();
        true
    }

    /// Returns the next value; `None` if all senders are dropped, or if one of them panicked.
    pub(crate) fn take(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            if let Some(value) = self.remove_next(&mut state) {
                return Some(value);
            }
            if state.senders == 0 || state.is_closed {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }

    /// Like [`take`](Self::take), for a receiver that also makes values. Instead of waiting, takes
    /// the next value from `make`, unless `window` values are in the buffer.
    pub(crate) fn take_or_make(&self, make: &mut impl Iterator<Item = (u64, T)>) -> Option<T> {
        loop {
            let mut state = self.state();
            if let Some(value) = self.remove_next(&mut state) {
                return Some(value);
            }
            let is_full = state.waiting.len() as u64 >= self.window;
            drop(state);
            match if is_full { None } else { make.next() } {
                Some((number, value)) => self.state().waiting.insert(number, value),
                None => return self.take(),
            };
        }
    }

    /// Removes the next value if it was added.
    fn remove_next(&self, state: &mut ReorderState<T>) -> Option<T> {
        let value = state.waiting.remove(&state.next)?;
        state.next += 1;
        self.changed.notify_all();
        Some(value)
    }

    /// Returns a guard that closes the buffer when it is dropped, also by a panic.
    pub(crate) fn receiver(&self) -> ReorderReceiver<'_, T> {
        ReorderReceiver(self)
    }

    /// Returns a guard for a thread that adds values. When the guard is dropped, also by a panic,
    /// the thread counts as finished.
    pub(crate) fn sender(&self) -> ReorderSender<'_, T> {
        self.state().senders += 1;
        ReorderSender(self)
    }
}

/// See [`ReorderBuffer::receiver`].
pub(crate) struct ReorderReceiver<'a, T>(&'a ReorderBuffer<T>);

impl<T> Drop for ReorderReceiver<'_, T> {
    fn drop(&mut self) {
        self.0.state().is_closed = true;
        self.0.changed.notify_all();
    }
}

/// See [`ReorderBuffer::sender`].
pub(crate) struct ReorderSender<'a, T>(&'a ReorderBuffer<T>);

impl<T> Drop for ReorderSender<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.senders -= 1;
        // After a panic, the thread's next value will be missing, so later values cannot be
        // returned.
        state.is_closed |= std::thread::panicking();
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn reorder_buffer_preserves_number_order() {
        let (ordered, counter) = (ReorderBuffer::new(12), AtomicU64::new(0));
        let work = || loop {
            let number = counter.fetch_add(1, Ordering::Relaxed);
            if number >= 500 || !ordered.put(number, number * 2) {
                return;
            }
        };
        let received: Vec<u64> = std::thread::scope(|scope| {
            for sender in [ordered.sender(), ordered.sender(), ordered.sender()] {
                scope.spawn(move || {
                    let _sender = sender;
                    work();
                });
            }
            std::iter::from_fn(|| ordered.take()).collect()
        });
        assert_eq!(received, (0..500).map(|n| n * 2).collect::<Vec<u64>>());
    }

    #[test]
    fn producing_receiver_gets_all_values() {
        for threads in 0..3 {
            let ordered = ReorderBuffer::new(2);
            let counter = AtomicU64::new(0);
            let next = || Some(counter.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < 500);
            let received: Vec<u64> = std::thread::scope(|scope| {
                let ordered = &ordered;
                let next = &next;
                for _ in 0..threads {
                    let sender = ordered.sender();
                    scope.spawn(move || {
                        let _sender = sender;
                        while next().is_some_and(|number| ordered.put(number, number)) {}
                    });
                }
                let mut own = std::iter::from_fn(|| next().map(|number| (number, number)));
                std::iter::from_fn(|| ordered.take_or_make(&mut own)).collect()
            });
            assert_eq!(received, (0..500).collect::<Vec<u64>>(), "{threads}");
        }
    }

    #[test]
    fn dropped_receiver_ends_the_senders() {
        let ordered = ReorderBuffer::new(4);
        std::thread::scope(|scope| {
            let (receiver, sender) = (ordered.receiver(), ordered.sender());
            let ordered = &ordered;
            scope.spawn(move || {
                let _sender = sender;
                assert!((0..1_000_000).any(|number| !ordered.put(number, ())));
            });
            assert_eq!(ordered.take(), Some(()));
            drop(receiver);
        });
    }

    #[test]
    fn sender_panic_ends_all_threads() {
        let ordered = ReorderBuffer::new(8);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                let (_receiver, one, other) =
                    (ordered.receiver(), ordered.sender(), ordered.sender());
                let ordered = &ordered;
                scope.spawn(move || {
                    let _sender = one;
                    assert!((1..1_000_000).any(|number| !ordered.put(number, ())));
                });
                scope.spawn(move || {
                    let _sender = other;
                    panic!("the value 0 never comes");
                });
                assert_eq!(ordered.take(), None);
            });
        }));
        assert!(ended.is_err());
    }
}
