//! Runs the same work in several threads until it is done or one of them fails.

use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Builder;

/// The most threads that a run may have. More would take memory and save no time.
pub const MAX_THREADS: usize = 1024;

/// One thread for each processor, at most [`MAX_THREADS`].
pub(crate) fn default_threads() -> NonZeroUsize {
    let most = NonZeroUsize::new(MAX_THREADS).unwrap_or(NonZeroUsize::MIN);
    std::thread::available_parallelism().map_or(NonZeroUsize::MIN, |threads| threads.min(most))
}

/// Signals to workers that one of them failed, so that the others stop early.
#[derive(Debug, Default)]
pub struct StopFlag(AtomicBool);

impl StopFlag {
    /// Requests all workers to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The failure of the earliest of several pieces of work. If pieces are assigned in order and every
/// begun piece is finished, the result does not depend on the number of threads.
#[derive(Debug)]
pub struct Earliest<K, E>(Mutex<Option<(K, E)>>);

impl<K, E> Default for Earliest<K, E> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<K: Ord, E> Earliest<K, E> {
    /// Records a failed piece of work and its error.
    pub fn keep(&self, at: K, error: E) {
        let mut first = self.0.lock();
        if first.as_ref().is_none_or(|(earlier, _)| at < *earlier) {
            *first = Some((at, error));
        }
    }

    /// Returns the result of all the work.
    ///
    /// # Errors
    /// The failure of the earliest piece; without one, the error of `result`.
    pub fn or<T, F: From<E>>(self, result: Result<T, F>) -> Result<T, F> {
        match self.0.into_inner() {
            Some((_, error)) => Err(error.into()),
            None => result,
        }
    }
}

/// Runs `work` on every thread, or on as many as the system allows. Returns the results in no
/// particular order.
///
/// # Errors
/// An error of one of the threads, after all threads have stopped.
///
/// # Panics
/// If `work` panics on a thread, the panic is continued on the caller's thread.
pub fn on_threads<T: Send, E: Send>(
    threads: NonZeroUsize,
    work: impl Fn(&StopFlag) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let stop = StopFlag::default();
    let run = || {
        let result = work(&stop);
        if result.is_err() {
            stop.request();
        }
        result
    };
    if threads.get() == 1 {
        return Ok(vec![run()?]);
    }
    std::thread::scope(|scope| {
        // If the system allows no more threads, the running ones do the work.
        let thread = || Builder::new().spawn_scoped(scope, run).ok();
        let handles: Vec<_> = (1..threads.get()).map_while(|_| thread()).collect();
        let mut results = vec![run()];
        for handle in handles {
            match handle.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results.into_iter().collect()
    })
}

/// Computes a value for each number below `end` in several threads. Each thread has its own state.
/// Returns the values in order, or the error of the least number that failed.
pub(crate) fn map_numbers<S, T: Send, E: Send>(
    threads: NonZeroUsize,
    end: usize,
    new_state: impl Fn() -> S + Sync,
    compute: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let counter = Counter::default();
    let failed = Earliest::default();
    let found = on_threads::<_, E>(threads, |stop| {
        let mut state = new_state();
        let mut found = Vec::new();
        while !stop.is_requested()
            && let Some(i) = counter.next(end)
        {
            match compute(&mut state, i) {
                Ok(value) => found.push((i, value)),
                Err(error) => {
                    failed.keep(i, error);
                    stop.request();
                }
            }
        }
        Ok(found)
    });
    let found = failed.or(found)?;
    let mut found: Vec<(usize, T)> = found.into_iter().flatten().collect();
    found.sort_unstable_by_key(|(i, _)| *i);
    Ok(found.into_iter().map(|(_, value)| value).collect())
}

/// Returns 0, 1, 2 … to successive callers.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicUsize);

impl Counter {
    /// The next number below `end`, if there is one.
    pub(crate) fn next(&self, end: usize) -> Option<usize> {
        Some(self.0.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn mapped_values_keep_their_order() {
        for threads in [1, 3, 16] {
            let threads = NonZeroUsize::new(threads).unwrap();
            let doubled = map_numbers::<_, _, Infallible>(threads, 100, || (), |(), i| Ok(2 * i));
            assert_eq!(doubled, Ok((0..100).map(|i| 2 * i).collect()));
            let failed =
                map_numbers(threads, 100, || (), |(), i| if i < 50 { Ok(i) } else { Err(i) });
            assert_eq!(failed, Err(50));
        }
    }

    #[test]
    fn earliest_failure_is_reported() {
        for threads in [1, 2, 5] {
            let (next, failed) = (Counter::default(), Earliest::default());
            let result = on_threads(NonZeroUsize::new(threads).unwrap(), |stop| {
                while !stop.is_requested() {
                    let Some(at) = next.next(200) else { break };
                    if at % 50 == 20 {
                        failed.keep(at, format!("number {at}"));
                        stop.request();
                    }
                }
                Ok(())
            });
            assert_eq!(failed.or(result), Err("number 20".to_owned()));
        }
    }

    #[test]
    fn earliest_failure_has_the_lowest_position() {
        let failed = Earliest::default();
        for at in [70, 20, 120] {
            failed.keep(at, at);
        }
        assert_eq!(failed.or(Ok::<(), i32>(())), Err(20));
    }

    #[test]
    fn result_is_unchanged_without_a_failure() {
        let failed = Earliest::<u32, String>::default();
        assert_eq!(failed.or::<_, String>(Ok(5)), Ok(5));
        let failed = Earliest::<u32, String>::default();
        assert_eq!(failed.or::<u32, _>(Err("no room".to_owned())), Err("no room".to_owned()));
    }
}
