//! What the stages refuse.

use std::fmt;

/// Bytes that are no block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockError {
    /// They do not begin as a block does, or are a block of another version.
    Version {
        /// The first bytes.
        got: [u8; 4],
    },
    /// The length is not what the beginning states.
    Length {
        /// Bytes that there are.
        got: usize,
        /// Bytes that the beginning states.
        expected: u64,
    },
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { got } => write!(
                f,
                "the rows begin with {got:?}, expected {:?}: they are of another version of \
                 lookalike, or not of its stage keys; run all stages with one version",
                super::BLOCK_VERSION
            ),
            Self::Length { got, expected } => write!(
                f,
                "the rows have {got} bytes, expected {expected}: they were cut short; run the \
                 stage keys again"
            ),
        }
    }
}

impl std::error::Error for BlockError {}

/// Counters that are none, or do not add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountersError {
    /// They do not begin as counters do, or are of another version.
    Version {
        /// The first bytes.
        got: [u8; 4],
    },
    /// The number of bytes is not that of counters, a power of two of them.
    Length {
        /// Bytes that there are.
        got: usize,
    },
    /// Two tasks have another number of counters each.
    Sizes {
        /// Those of the first.
        expected: usize,
        /// Those of the other.
        got: usize,
    },
}

impl fmt::Display for CountersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { got } => write!(
                f,
                "the counters begin with {got:?}, expected {:?}: they are of another version of \
                 lookalike, or not of its stage count; run all stages with one version",
                super::COUNTERS_VERSION
            ),
            Self::Length { got } => write!(
                f,
                "the counters have {got} bytes, expected 4 and 4 for each of a power of two: they \
                 were cut short; run the stage count again"
            ),
            Self::Sizes { expected, got } => write!(
                f,
                "a task has {got} counters, expected {expected}; run the stage count with one \
                 size in all tasks"
            ),
        }
    }
}

impl std::error::Error for CountersError {}

/// What the stage `decide` refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShardError {
    /// A document has other shingles than in the stage `keys`.
    Changed {
        /// Its id.
        id: String,
    },
    /// A document was read in the stage `keys`, and not again.
    Missing {
        /// How many of them.
        documents: u64,
    },
}

impl fmt::Display for ShardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const REMEDY: &str = "the input must give the same rows each time it is read: write it to \
                              a table first, and read that";
        match self {
            Self::Changed { id } => {
                write!(f, "the text of {id:?} is not what it was in the first reading; {REMEDY}")
            }
            Self::Missing { documents } => write!(
                f,
                "{documents} documents of the first reading are not in the second; {REMEDY}"
            ),
        }
    }
}

impl std::error::Error for ShardError {}
