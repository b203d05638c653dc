//! What several threads make, in the order of what they make it from.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Takes values from several threads, each with its number, and gives them to one by number.
pub(super) struct ReorderBuffer<T> {
    state: Mutex<ReorderState<T>>,
    changed: Condvar,
    /// How far one may be ahead of the one that is wanted next.
    window: u64,
}

struct ReorderState<T> {
    next: u64,
    waiting: BTreeMap<u64, T>,
    makers: usize,
    given_up: bool,
}

impl<T> ReorderBuffer<T> {
    /// For this many threads at most that make values.
    pub(super) fn new(makers: usize) -> Self {
        let state = ReorderState { next: 0, waiting: BTreeMap::new(), makers: 0, given_up: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), window: 4 * makers as u64 }
    }

    fn state(&self) -> MutexGuard<'_, ReorderState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &'a self,
        state: MutexGuard<'a, ReorderState<T>>,
    ) -> MutexGuard<'a, ReorderState<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands on the value with a number; waits where it is far ahead of the others. `false` when
    /// nobody wants any more.
    pub(super) fn put(&self, number: u64, value: T) -> bool {
        let mut state = self.state();
        while number >= state.next + self.window && !state.given_up {
            state = self.wait(state);
        }
        if state.given_up {
            return false;
        }
        state.waiting.insert(number, value);
        self.changed.notify_all();
        true
    }

    /// The next value; `None` when there will be none. All makers are there before it is asked for.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            let next = state.next;
            if let Some(value) = state.waiting.remove(&next) {
                state.next += 1;
                self.changed.notify_all();
                return Some(value);
            }
            if state.makers == 0 || state.given_up {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Who takes values: nothing more is wanted when this is dropped, in whatever way.
    pub(super) fn taker(&self) -> ReorderReceiver<'_, T> {
        ReorderReceiver(self)
    }

    /// One thread that makes values; it ends when this is dropped, in whatever way.
    pub(super) fn maker(&self) -> ReorderSender<'_, T> {
        self.state().makers += 1;
        ReorderSender(self)
    }
}

/// See [`ReorderBuffer::taker`].
pub(super) struct ReorderReceiver<'a, T>(&'a ReorderBuffer<T>);

impl<T> Drop for ReorderReceiver<'_, T> {
    fn drop(&mut self) {
        self.0.state().given_up = true;
        self.0.changed.notify_all();
    }
}

/// See [`ReorderBuffer::maker`].
pub(super) struct ReorderSender<'a, T>(&'a ReorderBuffer<T>);

impl<T> Drop for ReorderSender<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.makers -= 1;
        // The value it was about to make is missing, so that nobody gets any further.
        state.given_up |= std::thread::panicking();
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn values_come_in_order_whichever_thread_makes_them() {
        let (ordered, counter) = (ReorderBuffer::new(3), AtomicU64::new(0));
        let work = || loop {
            let number = counter.fetch_add(1, Ordering::Relaxed);
            if number >= 500 || !ordered.put(number, number * 2) {
                return;
            }
        };
        let taken: Vec<u64> = std::thread::scope(|scope| {
            for maker in [ordered.maker(), ordered.maker(), ordered.maker()] {
                scope.spawn(move || {
                    let _maker = maker;
                    work();
                });
            }
            std::iter::from_fn(|| ordered.take()).collect()
        });
        assert_eq!(taken, (0..500).map(|n| n * 2).collect::<Vec<u64>>());
    }

    #[test]
    fn who_gives_up_lets_the_others_end() {
        let ordered = ReorderBuffer::new(1);
        std::thread::scope(|scope| {
            let (taker, maker) = (ordered.taker(), ordered.maker());
            let ordered = &ordered;
            scope.spawn(move || {
                let _maker = maker;
                assert!((0..1_000_000).any(|number| !ordered.put(number, ())));
            });
            assert_eq!(ordered.take(), Some(()));
            drop(taker);
        });
    }

    #[test]
    fn a_maker_that_panics_ends_all() {
        let ordered = ReorderBuffer::new(2);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                let (_taker, one, other) = (ordered.taker(), ordered.maker(), ordered.maker());
                let ordered = &ordered;
                scope.spawn(move || {
                    let _maker = one;
                    assert!((1..1_000_000).any(|number| !ordered.put(number, ())));
                });
                scope.spawn(move || {
                    let _maker = other;
                    panic!("the value 0 never comes");
                });
                assert_eq!(ordered.take(), None);
            });
        }));
        assert!(ended.is_err());
    }
}
