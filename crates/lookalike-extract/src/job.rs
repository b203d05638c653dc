//! One file's way through the readers: what is wanted, and what is left of its limits.

use crate::failure::Failure;
use crate::options::{Options, Used};
use std::cell::Cell;
use std::io::Read;
use std::time::{Duration, Instant};

/// How many times as long as before it may take to read a part again.
const PATIENCE: u32 = 4;

/// A file under way, with all that is in it.
pub(crate) struct Job<'a> {
    pub(crate) options: &'a Options,
    started: Instant,
    /// Time that was used before, and how much there is in all.
    before: Duration,
    time: Duration,
    expanded: Cell<u64>,
    members: Cell<u32>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self::continued(options, Used::default())
    }

    /// For a file of a container that has used some of its limits.
    pub(crate) fn continued(options: &'a Options, used: Used) -> Self {
        Self {
            options,
            started: Instant::now(),
            before: used.time,
            time: options.limits.time,
            expanded: Cell::new(used.expanded),
            members: Cell::new(used.members),
        }
    }

    /// For a part that was read before within the limits: a busy machine may take longer now.
    pub(crate) fn again(options: &'a Options) -> Self {
        Self { time: options.limits.time.saturating_mul(PATIENCE), ..Self::new(options) }
    }

    /// What has been used, before and now.
    pub(crate) fn used(&self) -> Used {
        let time = self.before.saturating_add(self.started.elapsed());
        Used { time, expanded: self.expanded.get(), members: self.members.get() }
    }

    /// Refuses to go on when the time is over. Call it at least once for every MiB of input.
    pub(crate) fn in_time(&self) -> Result<(), Failure> {
        if !self.time_left().is_zero() {
            return Ok(());
        }
        Err(Failure::TooSlow { seconds: self.options.limits.time.as_secs() })
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
        Err(Failure::expanded(limit))
    }

    /// Counts one more file in the file.
    pub(crate) fn member(&self) -> Result<(), Failure> {
        let limit = self.options.limits.members;
        let count = self.members.get().saturating_add(1);
        self.members.set(count);
        if count <= limit {
            return Ok(());
        }
        Err(Failure::members(limit))
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
        let left = self.time.saturating_sub(self.before);
        left.saturating_sub(self.started.elapsed())
    }

    /// How many bytes may still come out.
    pub(crate) fn left(&self) -> u64 {
        self.options.limits.expanded.saturating_sub(self.expanded.get())
    }
}
