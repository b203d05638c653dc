//! The errors of the stage `decide`.

use std::fmt;

/// The second reading has other documents than the first.
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
