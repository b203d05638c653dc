//! Modes of opening an index.

use std::time::Duration;

/// The mode in which an index is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read only; other processes may write in parallel.
    Read,
    /// Read and write. A folder has one writer at a time.
    Write {
        /// Maximum time to wait for another writer.
        wait: Duration,
    },
}
