//! One file's way through the readers: what is wanted, and what is left of its limits.

use crate::failure::Failure;
use crate::options::Options;
use std::cell::Cell;
use std::io::Read;
use std::time::{Duration, Instant};

/// A file under way, with all that is in it.
pub(crate) struct Job<'a> {
    pub(crate) options: &'a Options,
    started: Instant,
    expanded: Cell<u64>,
    members: Cell<u32>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self { options, started: Instant::now(), expanded: Cell::new(0), members: Cell::new(0) }
    }

    /// Refuses to go on when the time is over. Call it at least once for every MiB of input.
    pub(crate) fn in_time(&self) -> Result<(), Failure> {
        let time = self.options.limits.time;
        if self.started.elapsed() < time {
            return Ok(());
        }
        Err(Failure::TooSlow { seconds: time.as_secs() })
    }

    /// Takes bytes that came out of something compressed, or text that was made, from what the
    /// file may become. Call it before much is allocated, step by step.
    pub(crate) fn expand(&self, bytes: usize) -> Result<(), Failure> {
        let limit = self.options.limits.expanded;
        let sum = self.expanded.get().saturating_add(bytes as u64);
        self.expanded.set(sum);
        if sum <= limit {
            return Ok(());
        }
        Err(Failure::Limit { what: "expanded bytes".to_owned(), limit })
    }

    /// Counts one more file in the file.
    pub(crate) fn member(&self) -> Result<(), Failure> {
        let limit = self.options.limits.members;
        let count = self.members.get().saturating_add(1);
        self.members.set(count);
        if count <= limit {
            return Ok(());
        }
        Err(Failure::Limit { what: "members".to_owned(), limit: u64::from(limit) })
    }

    /// All that comes out of something compressed, within the limits.
    pub(crate) fn drain(&self, mut stream: impl Read) -> Result<Vec<u8>, Failure> {
        let mut inner = Vec::new();
        loop {
            self.in_time()?;
            let got = stream.by_ref().take(1 << 20).read_to_end(&mut inner);
            let got = got.map_err(|error| Failure::damaged(error.to_string()))?;
            self.expand(got)?;
            if got == 0 {
                return Ok(inner);
            }
        }
    }

    /// How long it may still take.
    pub(crate) fn time_left(&self) -> Duration {
        self.options.limits.time.saturating_sub(self.started.elapsed())
    }

    /// How many bytes may still come out.
    pub(crate) fn left(&self) -> u64 {
        self.options.limits.expanded.saturating_sub(self.expanded.get())
    }
}
