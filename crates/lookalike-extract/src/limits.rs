//! Accounting of one file's resource limits: time, expanded bytes and members.

use crate::error::ExtractError;
use crate::options::{ExtractOptions, LimitUsage};
use std::cell::Cell;
use std::io::Read;
use std::time::{Duration, Instant};

/// Bytes of input between two time checks.
pub(crate) const CHECK_INTERVAL_BYTES: usize = 1 << 20;

/// Factor on the time limit for a part that is read a second time.
const RETRY_TIME_FACTOR: u32 = 4;

/// The options and the resource usage of one file, its members included.
pub(crate) struct LimitTracker<'a> {
    pub(crate) options: &'a ExtractOptions,
    started: Instant,
    /// Time used before `started`, and the limit of the sum.
    before: Duration,
    time: Duration,
    expanded: Cell<u64>,
    /// Bytes that were charged and are in memory.
    held: Cell<u64>,
    members: Cell<u32>,
}

impl<'a> LimitTracker<'a> {
    pub(crate) fn new(options: &'a ExtractOptions) -> Self {
        Self::continued(options, LimitUsage::default())
    }

    /// Starts from the usage of the container that the file is in.
    pub(crate) fn continued(options: &'a ExtractOptions, used: LimitUsage) -> Self {
        Self {
            options,
            started: Instant::now(),
            before: used.time,
            time: options.limits.time,
            expanded: Cell::new(used.expanded),
            held: Cell::new(0),
            members: Cell::new(used.members),
        }
    }

    /// For a part that was read within the limits before: a busy machine may take longer.
    pub(crate) fn retry(options: &'a ExtractOptions) -> Self {
        let time = options.limits.time.saturating_mul(RETRY_TIME_FACTOR);
        Self { time, ..Self::new(options) }
    }

    /// The total usage, that of the container included.
    pub(crate) fn used(&self) -> LimitUsage {
        let time = self.before.saturating_add(self.started.elapsed());
        LimitUsage { time, expanded: self.expanded.get(), members: self.members.get() }
    }

    /// Fails when the time limit is reached. Readers call this at least once per
    /// [`CHECK_INTERVAL_BYTES`] of input.
    pub(crate) fn check_time(&self) -> Result<(), ExtractError> {
        if !self.time_left().is_zero() {
            return Ok(());
        }
        Err(ExtractError::TooSlow { seconds: self.options.limits.time.as_secs() })
    }

    /// Counts decompressed bytes or produced text against the limit. Readers call this step by
    /// step, before large allocations.
    pub(crate) fn charge_bytes(&self, bytes: usize) -> Result<(), ExtractError> {
        let (limit, most) = (self.options.limits.expanded, self.options.limits.held);
        let sum = self.expanded.get().saturating_add(bytes as u64);
        let held = self.held.get().saturating_add(bytes as u64);
        self.expanded.set(sum);
        self.held.set(held);
        if sum > limit {
            return Err(ExtractError::expanded(limit));
        }
        if held > most {
            return Err(ExtractError::held(most));
        }
        Ok(())
    }

    /// Bytes that were charged and are in memory.
    pub(crate) fn held(&self) -> u64 {
        self.held.get()
    }

    /// Lets go of the bytes that were charged since [`held`](Self::held) was `held`.
    pub(crate) fn release(&self, held: u64) {
        self.held.set(held);
    }

    /// Counts one member against the limit.
    pub(crate) fn charge_member(&self) -> Result<(), ExtractError> {
        let limit = self.options.limits.members;
        let count = self.members.get().saturating_add(1);
        self.members.set(count);
        if count <= limit {
            return Ok(());
        }
        Err(ExtractError::members(limit))
    }

    /// Reads a decompressed stream to its end, within the limits.
    pub(crate) fn drain(&self, mut stream: impl Read) -> Result<Vec<u8>, ExtractError> {
        let mut inner = Vec::new();
        loop {
            self.check_time()?;
            let got = stream.by_ref().take(CHECK_INTERVAL_BYTES as u64).read_to_end(&mut inner);
            let got = got.map_err(|error| ExtractError::damaged(error.to_string()))?;
            self.charge_bytes(got)?;
            if got == 0 {
                return Ok(inner);
            }
        }
    }

    pub(crate) fn time_left(&self) -> Duration {
        let left = self.time.saturating_sub(self.before);
        left.saturating_sub(self.started.elapsed())
    }

    pub(crate) fn bytes_left(&self) -> u64 {
        let limits = &self.options.limits;
        let expanded = limits.expanded.saturating_sub(self.expanded.get());
        expanded.min(limits.held.saturating_sub(self.held.get()))
    }
}
