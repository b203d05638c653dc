//! The size of a file and the time of its last change when it was opened. They suffice to detect
//! later writes at the cost of reading the file's metadata.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::Metadata;
use std::time::UNIX_EPOCH;

/// Size and time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Its length in bytes on the disk.
    pub bytes: u64,
    /// When it was last changed, in ns since 1970 (0 for earlier times); `None` if the system does
    /// not know it.
    pub modified: Option<u64>,
}

impl Stamp {
    /// The size and time of change of a file.
    pub fn of(metadata: &Metadata) -> Self {
        let since = |time: std::time::SystemTime| time.duration_since(UNIX_EPOCH);
        let modified = metadata.modified().ok().map(|time| {
            since(time).map_or(0, |age| u64::try_from(age.as_nanos()).unwrap_or(u64::MAX))
        });
        Self { bytes: metadata.len(), modified }
    }
}

impl fmt::Display for Stamp {
    /// `120 bytes, changed 1700000000.000000001 s after 1970`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes)?;
        let Some(modified) = self.modified else { return Ok(()) };
        let seconds = modified / 1_000_000_000;
        let rest = modified % 1_000_000_000;
        write!(f, ", changed {seconds}.{rest:09} s after 1970")
    }
}

/// A file that is read, with its state when the collection was opened.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InputStamp {
    /// The file, as a path relative to the working directory of the inputs.
    pub name: String,
    /// See [`Stamp::bytes`].
    pub bytes: u64,
    /// See [`Stamp::modified`].
    pub modified: Option<u64>,
}
