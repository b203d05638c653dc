//! Errors of temporary files and of the folder of a resumable run.

use super::difference::{Difference, fmt_list};
use crate::temporary::system_message;
use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The most differences that a message lists.
const SHOWN_DIFFERENCES: usize = 8;

/// An error of temporary files, or of the folder of a resumable run.
#[derive(Debug)]
#[non_exhaustive]
pub enum SpillError {
    /// A temporary file could not be written or read.
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is not in the format of temporary files.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The expected and the found content.
        problem: String,
        /// The folder to remove, if the run can be resumed.
        folder: Option<PathBuf>,
    },
    /// A temporary file lacks a value that was written to it.
    Altered {
        /// The expected content.
        what: String,
        /// The file; `None` if it is unknown or if the value was in memory.
        path: Option<PathBuf>,
        /// The place in the file, if it is known.
        position: Option<SpillPosition>,
    },
    /// The folder for temporary files does not exist or is not writable.
    TempDir {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The run to resume was started with other inputs or parameters.
    RunDiffers {
        /// The folder of that run.
        path: PathBuf,
        /// The differences, one at least.
        differences: Vec<Difference>,
    },
    /// Another process continues the run to resume.
    RunInUse {
        /// The folder of that run.
        path: PathBuf,
    },
    /// Other users may write to the folder of the run to resume.
    RunNotPrivate {
        /// The folder.
        path: PathBuf,
        /// The expected and the found property of the folder.
        problem: String,
    },
}

impl SpillError {
    /// Creates an error for a missing value if neither the file nor the position is known.
    pub(crate) fn altered(what: impl Into<String>) -> Self {
        Self::Altered { what: what.into(), path: None, position: None }
    }

    /// Converts the error for iterators and writers, whose errors are [`io::Error`].
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            Self::Io { source, .. } if source.kind() != io::ErrorKind::Other => {
                io::Error::new(source.kind(), source)
            }
            other => io::Error::other(other),
        }
    }
}

impl NamesParameters for SpillError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        let temp_dir = name(Parameter::TempDir);
        match self {
            Self::Io { path, source } => {
                let resume = name(Parameter::Resume);
                let path = path.display();
                let problem = system_message(source);
                write!(f, "cannot write or read the temporary file {path}: {problem}; ")?;
                match source.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => write!(
                        f,
                        "the disk is full: make room there (a run with {resume} then continues \
                         where it stopped), or name another {temp_dir}"
                    ),
                    _ => write!(
                        f,
                        "try again (a run with {resume} continues where it stopped), or name \
                         another {temp_dir}"
                    ),
                }
            }
            Self::Damaged { path, problem, folder } => {
                write!(f, "the temporary file {} is damaged: {problem}; ", path.display())?;
                match folder {
                    Some(folder) => write!(
                        f,
                        "remove the folder {}, and the run starts from the beginning",
                        folder.display()
                    ),
                    None => write!(f, "run again, with {temp_dir} on another disk"),
                }
            }
            Self::Altered { what, path, position } => {
                match path {
                    Some(path) => write!(f, "the temporary file {}", path.display())?,
                    None => f.write_str("a temporary file")?,
                }
                write!(f, " does not hold {what} any more")?;
                if let Some(position) = position {
                    write!(f, " at {position}")?;
                }
                f.write_str(
                    "; run again, and let nothing else write to the folder for temporary files",
                )
            }
            Self::TempDir { path, source } => write!(
                f,
                "cannot make temporary files in {}: {}; {temp_dir} names a folder that exists and \
                 takes files",
                path.display(),
                system_message(source)
            ),
            Self::RunDiffers { path, differences } => {
                let path = path.display();
                write!(f, "the run stored in {path} is another one:")?;
                fmt_list(f, differences, SHOWN_DIFFERENCES)?;
                write!(
                    f,
                    " to continue it, use the inputs and parameters of its start; to start from \
                     the beginning, remove the folder {path} or name another {temp_dir}"
                )
            }
            Self::RunInUse { path } => write!(
                f,
                "the run stored in {} is in use by another run; wait until that ends, or name \
                 another {temp_dir}",
                path.display()
            ),
            Self::RunNotPrivate { path, problem } => write!(
                f,
                "the folder {} for the run's temporary files exists, and {problem}, so nothing in \
                 it is used; remove it if it is yours, or name a {temp_dir} that only you can \
                 write to",
                path.display()
            ),
        }
    }
}

impl fmt::Display for SpillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with(f, Parameter::plain)
    }
}

impl std::error::Error for SpillError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::TempDir { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A place in a temporary file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpillPosition {
    /// An offset in bytes.
    Byte(u64),
    /// The number of a record in sorted order, from 0.
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
