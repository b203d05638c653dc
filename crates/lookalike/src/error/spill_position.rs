//! Where in a temporary file something is wrong.

use std::fmt;

/// A place in a temporary file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpillPosition {
    /// An offset in bytes.
    Byte(u64),
    /// The number of a record in the order of its sorted records, from 0.
    Record(u64),
}

impl fmt::Display for SpillPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte(offset) => write!(f, "byte {offset}"),
            Self::Record(number) => write!(f, "record {number}"),
        }
    }
}
