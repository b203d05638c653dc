//! Errors of writing files.

use super::{TakenPlace, UnknownName};
use crate::engine::FindError;
use crate::error_macros::wraps_find_error;
use crate::temporary::system_message;
use lookalike_core::parameter::{NamesParameters, ParameterSpelling};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error of writing results.
#[derive(Debug)]
#[non_exhaustive]
pub enum OutputError {
    /// The results could not be read.
    Find(FindError),
    /// A file could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The extension of the file name does not match a possible format.
    Name(UnknownName),
    /// An output is an input, or two outputs have the same name.
    Taken(TakenPlace),
}

wraps_find_error!(OutputError, Self::Write { source, .. } => Some(source));

impl NamesParameters for OutputError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::Find(error) => error.fmt_with(f, name),
            Self::Write { path, source } => write!(
                f,
                "cannot write {}: {}; an existing file is unchanged, {}",
                path.display(),
                system_message(source),
                match source.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                        "make its folder first"
                    }
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                        "make room, or write elsewhere"
                    }
                    _ => "write to another place",
                }
            ),
            Self::Name(error) => fmt::Display::fmt(error, f),
            Self::Taken(error) => fmt::Display::fmt(error, f),
        }
    }
}
