//! The error type of adding documents to an index.

use crate::engine::FindError;
use crate::error_macros::wraps_find_error;
use crate::read::Location;
use lookalike_core::parameter::{NamesParameters, ParameterSpelling};
use lookalike_index::IndexError;
use std::fmt;

/// An error of adding documents to an index.
#[derive(Debug)]
#[non_exhaustive]
pub enum AddError {
    /// The documents could not be read, or the index could not be written.
    Find(FindError),
    /// The index refused a document.
    NotAdded {
        /// The place of the document.
        place: Box<Location>,
        /// The cause.
        error: IndexError,
    },
}

wraps_find_error!(AddError);

impl NamesParameters for AddError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::Find(error) => error.fmt_with(f, name),
            Self::NotAdded { place, error } => {
                write!(f, "{place}: ")?;
                error.fmt_with(f, name)
            }
        }
    }
}
