//! The error type of the stages.

use crate::engine::FindError;
use crate::error_macros::wraps_find_error;
use lookalike_core::parameter::{NamesParameters, ParameterSpelling};
use std::fmt;

/// An error of a stage: the second reading failed, or found other documents than the first.
#[derive(Debug)]
pub enum ShardError {
    /// The documents could not be read or compared.
    Find(FindError),
    /// The shingles of a document differ from those in the stage `keys`.
    Changed {
        /// Its id.
        id: String,
    },
    /// The second reading did not find a document of the stage `keys`.
    Missing {
        /// The number of missing documents.
        documents: u64,
    },
}

wraps_find_error!(ShardError);

impl NamesParameters for ShardError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        const REMEDY: &str = "the input must return the same rows each time: write it to a table \
                              first, and read the table";
        match self {
            Self::Find(error) => error.fmt_with(f, name),
            Self::Changed { id } => {
                write!(f, "the text of {id:?} differs from the first reading; {REMEDY}")
            }
            Self::Missing { documents } => write!(
                f,
                "{documents} documents of the first reading are not in the second; {REMEDY}"
            ),
        }
    }
}
