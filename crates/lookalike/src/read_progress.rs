//! Reports bytes read as progress. Each byte is reported once, regardless of the thread that read
//! it.

use crate::progress::{Interruption, Progress};
use crate::read::Collection;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reports the progress of reading a collection.
pub(crate) struct ReadProgress<'a> {
    collection: &'a Collection,
    progress: &'a dyn Progress,
    reported: AtomicU64,
}

impl<'a> ReadProgress<'a> {
    /// Starts at the first byte.
    pub(crate) fn new(collection: &'a Collection, progress: &'a dyn Progress) -> Self {
        Self { collection, progress, reported: AtomicU64::new(0) }
    }

    /// Reports the bytes that were read since the last report.
    ///
    /// # Errors
    /// [`Interruption`] if the caller cancelled.
    pub(crate) fn report(&self) -> Result<(), Interruption> {
        self.report_up_to(self.collection.bytes_read())
    }

    /// Reports the first `read` bytes, except the bytes that were reported before.
    ///
    /// # Errors
    /// See [`report`](Self::report).
    pub(crate) fn report_up_to(&self, read: u64) -> Result<(), Interruption> {
        let before = self.reported.fetch_max(read, Ordering::Relaxed);
        self.progress.advance(read.saturating_sub(before))
    }
}
