//! Accounting of one file's resource limits: time, expanded bytes and members.

use crate::reading::error::{ExtractError, LimitKind};
use crate::reading::options::{ExtractOptions, LimitUsage};
use flate2::{Decompress, FlushDecompress, Status};
use std::cell::Cell;
use std::fmt::Display;
use std::io::Read;
use std::time::{Duration, Instant};

/// Bytes of input between two time checks.
pub(crate) const CHECK_INTERVAL_BYTES: usize = 1 << 20;

/// Minimum bytes per allocation while data is inflated.
const INFLATE_STEP_BYTES: u64 = 64 << 10;

/// Factor on the time limit for a part that is read a second time.
const RETRY_TIME_FACTOR: u32 = 4;

/// The options and the resource usage of one file, its members included.
pub(crate) struct LimitTracker<'a> {
    pub(crate) options: &'a ExtractOptions,
    started: Instant,
    /// Time used before `started`; `time` is the limit of the total time.
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

    /// Creates a tracker for a part that was once read within the limits. The time limit is higher,
    /// because a busy machine may take longer.
    pub(crate) fn retry(options: &'a ExtractOptions) -> Self {
        let time = options.limits.time.saturating_mul(RETRY_TIME_FACTOR);
        Self { time, ..Self::new(options) }
    }

    /// The total usage, including the container.
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
        let limit = self.options.limits.expanded;
        let most = self.options.limits.held;
        let sum = self.expanded.get().saturating_add(bytes as u64);
        let held = self.held.get().saturating_add(bytes as u64);
        self.expanded.set(sum);
        self.held.set(held);
        if sum > limit {
            return Err(ExtractError::limited(LimitKind::Expanded, limit));
        }
        if held > most {
            return Err(ExtractError::limited(LimitKind::Held, most));
        }
        Ok(())
    }

    /// Bytes that were charged and are in memory.
    pub(crate) fn held(&self) -> u64 {
        self.held.get()
    }

    /// Releases the bytes that were charged since [`held`](Self::held) returned `held`.
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
        Err(ExtractError::limited(LimitKind::Members, limit))
    }

    /// Reads a decompressed stream to its end, within the limits.
    pub(crate) fn drain(&self, mut stream: impl Read) -> Result<Vec<u8>, ExtractError> {
        let mut inner = Vec::new();
        loop {
            self.check_time()?;
            let count = stream.by_ref().take(CHECK_INTERVAL_BYTES as u64).read_to_end(&mut inner);
            let count = count.map_err(|error| ExtractError::damaged(error.to_string()))?;
            self.charge_bytes(count)?;
            if count == 0 {
                return Ok(inner);
            }
        }
    }

    /// Inflates deflate data step by step, within the limits, and appends it to `out`. `name` names
    /// the data in errors. `first` is the number of bytes reserved at first.
    pub(crate) fn inflate(
        &self,
        name: &str,
        deflated: &[u8],
        first: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ExtractError> {
        let damaged = |error: &dyn Display| ExtractError::damaged(format!("{name}: {error}"));
        let mut inflater = Decompress::new(false);
        out.reserve(first.min(self.bytes_left()) as usize);
        loop {
            if out.len() == out.capacity() {
                // One byte more than the limit, so that exceeding it is detected.
                let step = (out.len() as u64).max(INFLATE_STEP_BYTES);
                out.reserve_exact(step.min(self.bytes_left().saturating_add(1)) as usize);
            }
            let read = inflater.total_in();
            let before = out.len();
            let rest = deflated.get(read as usize..).unwrap_or_default();
            let status = inflater
                .decompress_vec(rest, out, FlushDecompress::None)
                .map_err(|error| damaged(&error))?;
            self.check_time()?;
            self.charge_bytes(out.len() - before)?;
            if status == Status::StreamEnd {
                return Ok(());
            }
            let is_stuck = inflater.total_in() == read && out.len() == before;
            if is_stuck && out.len() < out.capacity() {
                return Err(damaged(&"it is cut off"));
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
