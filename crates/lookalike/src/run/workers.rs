//! The only threads: the same work on each, until there is no more or somebody fails.

use crate::error::Error;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Lets workers know that one of them failed, so that the others stop early.
#[derive(Debug, Default)]
pub(crate) struct Stop(AtomicBool);

impl Stop {
    /// Asks all workers to stop.
    pub(crate) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether to stop.
    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work` on every thread and gives what each returns, in no particular order. The first
/// error met in that order is returned when all have stopped.
pub(crate) fn on_threads<T: Send>(
    threads: NonZeroUsize,
    work: impl Fn(&Stop) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let stop = Stop::default();
    let run = || {
        let result = work(&stop);
        if result.is_err() {
            stop.ask();
        }
        result
    };
    if threads.get() == 1 {
        return Ok(vec![run()?]);
    }
    std::thread::scope(|scope| {
        // Where the system gives no more threads, the work is done by those there are.
        let thread = || std::thread::Builder::new().spawn_scoped(scope, run).ok();
        let others: Vec<_> = (1..threads.get()).map_while(|_| thread()).collect();
        let mut results = vec![run()];
        for other in others {
            match other.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results.into_iter().collect()
    })
}

/// Hands out 0, 1, 2 … to whoever asks.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicUsize);

impl Counter {
    /// The next number below `end`, if there is one.
    pub(crate) fn next(&self, end: usize) -> Option<usize> {
        Some(self.0.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < end)
    }
}
