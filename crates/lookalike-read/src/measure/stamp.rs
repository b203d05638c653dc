//! The size of a file and the time of its last change when it was opened. They suffice to detect
//! later writes at the cost of reading the file's metadata.

use lookalike_extract::date;
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
        let since_epoch = |time: std::time::SystemTime| time.duration_since(UNIX_EPOCH);
        let modified = metadata.modified().ok().map(|time| {
            since_epoch(time).map_or(0, |age| u64::try_from(age.as_nanos()).unwrap_or(u64::MAX))
        });
        Self { bytes: metadata.len(), modified }
    }
}

impl fmt::Display for Stamp {
    /// `120 bytes, changed 2023-11-14T22:13:20.000000001Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes)?;
        let Some(modified) = self.modified else { return Ok(()) };
        let second = i64::try_from(modified / 1_000_000_000).ok().and_then(date::iso);
        let second = second.unwrap_or_default();
        let rest = modified % 1_000_000_000;
        write!(f, ", changed {}.{rest:09}Z", second.trim_end_matches('Z'))
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
