//! Bytes that were read → progress: each byte is reported once, whichever thread read it.

use crate::progress::{Interruption, Progress};
use crate::read::Collection;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reports what is read of a collection.
pub(crate) struct ReadProgress<'a> {
    collection: &'a Collection,
    progress: &'a dyn Progress,
    reported: AtomicU64,
}

impl<'a> ReadProgress<'a> {
    /// From the first byte on.
    pub(crate) fn new(collection: &'a Collection, progress: &'a dyn Progress) -> Self {
        Self { collection, progress, reported: AtomicU64::new(0) }
    }

    /// Reports the bytes that were read since the last report.
    ///
    /// # Errors
    /// The work is not wanted any more.
    pub(crate) fn report(&self) -> Result<(), Interruption> {
        self.report_up_to(self.collection.bytes_read())
    }

    /// The same of the first `read` bytes.
    ///
    /// # Errors
    /// As [`report`](Self::report).
    pub(crate) fn report_up_to(&self, read: u64) -> Result<(), Interruption> {
        let before = self.reported.fetch_max(read, Ordering::Relaxed);
        self.progress.advance(read.saturating_sub(before))
    }
}
