//! What several threads make, in the order of what they make it from.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Takes values from several threads, each with its number, and gives them to one by number.
pub(super) struct Ordered<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// How far one may be ahead of the one that is wanted next.
    window: u64,
}

struct State<T> {
    next: u64,
    waiting: BTreeMap<u64, T>,
    makers: usize,
    given_up: bool,
}

impl<T> Ordered<T> {
    /// For so many threads that make values.
    pub(super) fn new(makers: usize) -> Self {
        let state = State { next: 0, waiting: BTreeMap::new(), makers, given_up: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), window: 4 * makers as u64 }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
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

    /// The next value; `None` when there will be none.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            let next = state.next;
            if let Some(value) = state.waiting.remove(&next) {
                state.next += 1;
                self.changed.notify_all();
                return Some(value);
            }
            if state.makers == 0 {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Nothing more is wanted.
    pub(super) fn give_up(&self) {
        self.state().given_up = true;
        self.changed.notify_all();
    }

    /// One thread that makes values; it ends when this is dropped, in whatever way.
    pub(super) fn maker(&self) -> Maker<'_, T> {
        Maker(self)
    }
}

/// See [`Ordered::maker`].
pub(super) struct Maker<'a, T>(&'a Ordered<T>);

impl<T> Drop for Maker<'_, T> {
    fn drop(&mut self) {
        self.0.state().makers -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn values_come_in_order_whoever_makes_them() {
        let (ordered, counter) = (Ordered::new(3), AtomicU64::new(0));
        let work = || {
            let _maker = ordered.maker();
            loop {
                let number = counter.fetch_add(1, Ordering::Relaxed);
                if number >= 500 || !ordered.put(number, number * 2) {
                    return;
                }
            }
        };
        let taken: Vec<u64> = std::thread::scope(|scope| {
            (0..3).for_each(|_| drop(scope.spawn(work)));
            std::iter::from_fn(|| ordered.take()).collect()
        });
        assert_eq!(taken, (0..500).map(|n| n * 2).collect::<Vec<u64>>());
    }

    #[test]
    fn who_gives_up_lets_the_others_end() {
        let ordered = Ordered::new(1);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _maker = ordered.maker();
                assert!((0..1_000_000).any(|number| !ordered.put(number, ())));
            });
            assert_eq!(ordered.take(), Some(()));
            ordered.give_up();
        });
    }
}
