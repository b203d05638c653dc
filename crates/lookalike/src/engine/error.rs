//! The error type of the engine.

use super::no_estimates::NoEstimates;
use crate::decisions::DecisionError;
use crate::engine::ids::DocumentNumber;
use crate::error_macros::wraps_error;
use crate::progress::Interruption;
use crate::read::{Location, ReadError};
use crate::spill::SpillError;
use lookalike_core::candidate::MAX_DOCUMENTS;
use lookalike_core::error::ParamsError;
use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use lookalike_index::IndexError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error of reading and comparing documents. The message names the place, the expected and the
/// found value, and the remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum FindError {
    /// An input could not be read as documents.
    Read(ReadError),
    /// A parameter cannot be used.
    Params(ParamsError),
    /// An index could not be read or written.
    Index(IndexError),
    /// User decisions cannot be used.
    Decisions(DecisionError),
    /// Two documents have the same id.
    RepeatedId {
        /// The id.
        id: String,
        /// The place of the first document.
        first: Location,
        /// The place of the second document.
        second: Location,
    },
    /// A document has changed since its first reading.
    Changed {
        /// The document's id.
        id: String,
        /// Its place.
        place: Location,
    },
    /// The memory limit is too small.
    MemoryTooSmall {
        /// The limit in bytes.
        got: u64,
        /// The least sufficient limit known so far.
        least: u64,
    },
    /// Too many threads are requested.
    TooManyThreads {
        /// The requested number.
        got: usize,
        /// The largest number.
        most: usize,
    },
    /// No document of the run has this number.
    NoDocument {
        /// The requested number.
        document: DocumentNumber,
        /// The number of documents, which are numbered from 0.
        documents: usize,
    },
    /// A search for passages needs texts, which the index does not keep.
    WithoutTexts {
        /// The index.
        source_name: String,
    },
    /// Different words have equal hashes with every seed.
    EqualHashes,
    /// A word of the normal form has no range in the original text.
    NotAligned {
        /// The document's id.
        id: String,
        /// Its place; `None` for a text in memory.
        place: Option<Location>,
    },
    /// More documents than one run can number.
    TooManyDocuments {
        /// A lower bound of their number.
        got: usize,
    },
    /// The field of sources has too many values.
    TooManySources {
        /// The field.
        field: String,
        /// A lower bound of the number of values.
        got: usize,
        /// The largest number.
        most: usize,
    },
    /// More pairs than one run can list.
    TooManyPairs {
        /// Their number.
        got: u64,
        /// The largest number.
        most: u64,
    },
    /// The run has no estimates of signatures.
    Estimates(NoEstimates),
    /// The pairs of connected documents exceed the memory limit.
    PairsDoNotFit {
        /// The number of pairs that fit.
        most: u64,
    },
    /// A temporary file could not be used.
    Spill(SpillError),
    /// The caller cancelled the run.
    Interrupted,
    /// A report or truth file is malformed.
    Table {
        /// The file.
        path: PathBuf,
        /// The line, from 1; 0 for the whole file.
        line: u64,
        /// The expected and the found content.
        problem: String,
    },
}

impl FindError {
    /// Returns the error inside the error of an iterator such as
    /// [`Groups::iter`](crate::find::Groups::iter). Any other error becomes an error of a temporary
    /// file.
    pub fn of_io(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => error,
            Err(error) => Self::Spill(error.downcast::<SpillError>().unwrap_or_else(|source| {
                SpillError::Io { path: PathBuf::from("temporary files"), source }
            })),
        }
    }

    /// Converts the error for iterators and writers, whose errors are [`io::Error`].
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            Self::Spill(error) => error.into_io(),
            other => io::Error::other(other),
        }
    }
}

impl std::error::Error for FindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => error.source(),
            Self::Index(error) => error.source(),
            Self::Spill(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Interruption> for FindError {
    fn from(_: Interruption) -> Self {
        Self::Interrupted
    }
}

impl From<ReadError> for FindError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Index(error) => (*error).into(),
            error => Self::Read(error),
        }
    }
}

wraps_error!(FindError::Params(ParamsError));
wraps_error!(FindError::Index(IndexError: Params));
wraps_error!(FindError::Decisions(DecisionError: Index));
wraps_error!(FindError::Spill(SpillError));

impl NamesParameters for FindError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt_with(f, name),
            Self::Params(error) => error.fmt_with(f, name),
            Self::Index(error) => error.fmt_with(f, name),
            Self::Decisions(error) => fmt::Display::fmt(error, f),
            Self::Spill(error) => error.fmt_with(f, name),
            Self::Estimates(why) => why.fmt_with(f, name),
            Self::RepeatedId { id, first, second } if first == second => write!(
                f,
                "{first} is read twice, so the id {id:?} would belong to two documents; name each \
                 file and folder once, and no file inside a named folder"
            ),
            Self::RepeatedId { id, first, second } => write!(
                f,
                "the id {id:?} occurs at {first} and again at {second}; ids must be unique. {} \
                 names another field, {} makes ids of file names and line numbers, {} leaves out \
                 the later document and counts it",
                name(Parameter::IdField),
                name(Parameter::LineIds),
                name(Parameter::SkipBad)
            ),
            Self::Changed { id, place } => write!(
                f,
                "document {id:?} at {place} changed while it was being read; run again when \
                 nothing writes to the input, or work on a copy"
            ),
            Self::NoDocument { document, documents } => write!(
                f,
                "document {document} does not exist: the run read {documents} documents, numbered \
                 from 0"
            ),
            Self::WithoutTexts { source_name } => write!(
                f,
                "passages are found in texts, and {source_name} has documents without them; name \
                 the files it was made of"
            ),
            Self::EqualHashes => f.write_str(
                "different words have equal hashes with every seed that was tried; remove the \
                 documents that were made for that",
            ),
            Self::NotAligned { id, place } => {
                let at = place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
                let option = name(Parameter::Normalize);
                write!(
                    f,
                    "the words of document {id:?}{at} cannot be found in its original text; \
                     leave out {option}"
                )
            }
            Self::Interrupted => f.write_str("interrupted; nothing was written"),
            Self::Table { path, line: 0, problem } => write!(f, "{}: {problem}", path.display()),
            Self::Table { path, line, problem } => {
                write!(f, "{} line {line}: {problem}", path.display())
            }
            Self::MemoryTooSmall { got, least } => write!(
                f,
                "{} {} is too small: this run needs at least {}",
                name(Parameter::Memory),
                amount(*got),
                amount(least.next_multiple_of(1 << 20))
            ),
            Self::TooManyThreads { got, most } => write!(
                f,
                "{} is {got}, expected 1 to {most}: more take memory and save no time",
                name(Parameter::Threads)
            ),
            Self::TooManyDocuments { got } => write!(
                f,
                "the input has at least {got} documents, one run can number {MAX_DOCUMENTS}; split \
                 the input"
            ),
            Self::TooManySources { field, got, most } => write!(
                f,
                "the field {field:?} has at least {got} values, documents are counted under at \
                 most {most}; let {} name a field with fewer values, or leave it out",
                name(Parameter::SourceField)
            ),
            Self::TooManyPairs { got, most } => write!(
                f,
                "the documents form at least {got} pairs, one run lists at most {most}; groups \
                 (without {}) hold the same duplicates, or raise {}",
                name(Parameter::Pairs),
                name(Parameter::Threshold)
            ),
            Self::PairsDoNotFit { most } => write!(
                f,
                "more than {most} pairs of documents are connected with each other, which do not \
                 fit in {}; allow more, raise {}, or leave out {}: groups hold the same duplicates",
                name(Parameter::Memory),
                name(Parameter::Threshold),
                name(Parameter::Pairs)
            ),
        }
    }
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with(f, Parameter::plain)
    }
}

/// Formats bytes in a form that [`parse_memory`](crate::find::parse_memory) accepts.
fn amount(bytes: u64) -> String {
    match bytes {
        0x10_0000.. if bytes.is_multiple_of(1 << 20) => format!("{}MiB", bytes >> 20),
        0x400.. if bytes.is_multiple_of(1 << 10) => format!("{}KiB", bytes >> 10),
        bytes => format!("{bytes}B"),
    }
}
