//! Errors of reading inputs.

pub(crate) mod location;
pub(crate) mod skippable_error;
pub(crate) mod skipped;
pub(crate) mod table_problem;

pub use location::Location;
pub(crate) use skippable_error::{OverLimit, unreadable};
pub use skipped::{SkipReason, SkippedItem, limit_parameter};
pub use table_problem::{Field, TableProblem};

use crate::measure::{MAX_DOCUMENT_BYTES, RecordSize, Stamp};
use lookalike_core::error::ParamsError;
use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use lookalike_index::IndexError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error of reading inputs. Every message names the place and ends with a remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// No inputs were given.
    NoInputs,
    /// An index could not be read.
    Index(Box<IndexError>),
    /// An input must be read again, but can be read only once.
    NotAgain {
        /// The input, `stdin` for standard input.
        source_name: String,
    },
    /// An input can be read only once, but the operation reads all inputs twice.
    ReadTwice {
        /// The input as given, `-` for standard input.
        source_name: String,
        /// The operation that reads them twice.
        reader: String,
    },
    /// An input does not exist.
    Missing {
        /// The input as given.
        path: String,
    },
    /// A folder contains no file to read.
    NoFiles {
        /// The folder as given.
        path: String,
        /// Number of files skipped because they are hidden.
        hidden: usize,
        /// Number of files skipped because of ignore files.
        ignored: usize,
        /// Number of links, pipes and unreadable folders.
        other: usize,
        /// Number of files excluded by [`ReadOptions::include`](crate::ReadOptions::include) and
        /// similar options.
        filtered: usize,
    },
    /// A file cannot be opened, or its bytes cannot be read or decompressed.
    Io {
        /// The file, or `stdin`.
        source_name: String,
        /// The error of the system or the decompressor.
        error: io::Error,
    },
    /// The value of an option is invalid.
    Params(ParamsError),
    /// A pattern or a type of files is invalid.
    Filter {
        /// The parameter.
        parameter: Parameter,
        /// Its value.
        got: String,
        /// The problem.
        problem: String,
    },
    /// The first byte of a stream does not show its format.
    FormatNeeded {
        /// The stream: `stdin` or a pipe.
        source_name: String,
    },
    /// Standard input is named twice.
    StdinTwice,
    /// A file is not read as a table of records.
    Table {
        /// The file or stream.
        source_name: String,
        /// The problem.
        problem: TableProblem,
    },
    /// A Parquet file is damaged, encrypted, or in an unsupported form.
    Parquet {
        /// The file.
        source_name: String,
        /// The message of the decoder.
        problem: String,
    },
    /// The crate was built without a feature that an option needs.
    NotBuilt {
        /// The feature.
        feature: &'static str,
    },
    /// A record is bad and bad records are not skipped.
    BadRecord(Box<SkippedItem>),
    /// A row of documents in memory is bad.
    BadRow(Box<SkippedItem>),
    /// A record is longer than [`MAX_DOCUMENT_BYTES`](crate::MAX_DOCUMENT_BYTES).
    RecordTooLong {
        /// The file, or `stdin`.
        source_name: String,
        /// The line on which it begins, from 1.
        line: u64,
    },
    /// The run has too little memory for a record or a compressed text.
    OverMemory {
        /// The file, or `stdin`.
        source_name: String,
        /// The line on which it begins, from 1; `None` for a whole file.
        line: Option<u64>,
        /// The size of the whole record.
        size: Box<RecordSize>,
    },
    /// A document has changed since it was first read.
    Changed {
        /// The file.
        source_name: String,
        /// The line of the record, from 1; `None` for a whole file.
        line: Option<u64>,
        /// The difference.
        what: String,
    },
    /// A file no longer exists, or has another size or time than when it was opened.
    InputChanged {
        /// The file.
        source_name: String,
        /// Its former size and time.
        before: Stamp,
        /// Its current size and time, or the error of the system.
        after: io::Result<Stamp>,
    },
    /// The error of a [`DocumentSink`](crate::DocumentSink), which is passed to the caller.
    Sink(Box<dyn std::error::Error + Send + Sync>),
    /// The temporary file for bytes that cannot be read again failed.
    Spool {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl NamesParameters for ReadError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::Index(error) => error.fmt_with(f, name),
            Self::Params(error) => error.fmt_with(f, name),
            Self::Sink(error) => write!(f, "{error}"),
            Self::NoInputs => f.write_str("no input; name files or folders, or - for stdin"),
            Self::Missing { path } => {
                write!(f, "{path}: no such file or folder; check the name, or use - for stdin")
            }
            Self::NoFiles { path, hidden, ignored, other, filtered } => {
                fmt_no_files(f, name, path, [*hidden, *ignored, *other, *filtered])
            }
            Self::Io { source_name, error } => write!(
                f,
                "{source_name}: cannot be read: {error}; check that the file is whole and may be \
                 read"
            ),
            Self::Filter { parameter, got, problem } => {
                write!(f, "{} cannot be {got:?}: {problem}", name(*parameter))
            }
            Self::FormatNeeded { source_name } => write!(
                f,
                "{source_name}: the format is not recognised; say {} lines (id, blank, text), \
                 jsonl, csv, tsv, or text (all of it one document)",
                name(Parameter::Format)
            ),
            Self::NotBuilt { feature } => write!(
                f,
                "an option needs the feature {feature:?}, without which lookalike was built; build \
                 it with that feature, or leave the option out"
            ),
            Self::NotAgain { source_name } => write!(
                f,
                "{source_name} cannot be read a second time, so a resumed run could not continue; \
                 write it to a file first, or leave out {}",
                name(Parameter::Resume)
            ),
            Self::ReadTwice { source_name, reader } => write!(
                f,
                "{source_name} can be read only once, and {reader} reads its inputs twice; name \
                 files or folders"
            ),
            Self::StdinTwice => f.write_str("stdin (-) is named twice; name it once"),
            Self::Table { source_name, problem } => {
                write!(f, "{source_name}: ")?;
                problem.fmt_with(f, name)
            }
            Self::Parquet { source_name, problem } => write!(
                f,
                "{source_name}: cannot be read as Parquet: {problem}; check that the file is whole \
                 and not encrypted, or write it again"
            ),
            Self::BadRecord(skipped) | Self::BadRow(skipped) => fmt_bad_record(skipped, f, name),
            Self::RecordTooLong { source_name, line } => write!(
                f,
                "{source_name}:{line}: a record of more than {MAX_DOCUMENT_BYTES} bytes, the most \
                 there can be; check that the format is right and the file has line feeds"
            ),
            Self::OverMemory { source_name, line, size } => write!(
                f,
                "{source_name}{}: {} bytes or more in one document, which {} has no room for; \
                 allow more",
                after_colon(*line),
                size.bytes,
                name(Parameter::Memory)
            ),
            Self::Changed { source_name, line, what } => {
                let line = after_colon(*line);
                write!(f, "{source_name}{line}: changed while reading ({what}); {ALONE}")
            }
            Self::InputChanged { source_name, before, after } => {
                write!(f, "{source_name}: changed since it was opened: it had {before}; now ")?;
                match after {
                    Ok(after) => write!(f, "it has {after}; {ALONE}"),
                    Err(error) => write!(f, "the system says: {error}; {ALONE}"),
                }
            }
            Self::Spool { path, error } => write!(
                f,
                "the temporary file {}: {error}; make room there, or name another folder with {}",
                path.display(),
                name(Parameter::TempDir)
            ),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with(f, Parameter::plain)
    }
}

/// A line number after the name of a source.
fn after_colon(line: Option<u64>) -> String {
    line.map_or_else(String::new, |line| format!(":{line}"))
}

const ALONE: &str = "run again when nothing writes to it";

fn fmt_no_files(
    f: &mut fmt::Formatter<'_>,
    name: ParameterSpelling,
    path: &str,
    left_out: [usize; 4],
) -> fmt::Result {
    write!(f, "{path}: no file to read in this folder")?;
    let [include, exclude, kind] = [Parameter::Include, Parameter::Exclude, Parameter::Type];
    let causes = [
        ("hidden", format!("{} reads them", name(Parameter::Hidden))),
        ("ignored", format!("{} reads them", name(Parameter::NoIgnore))),
        (
            "links, pipes, system files or unreadable",
            format!("{} follows links", name(Parameter::Follow)),
        ),
        (
            "left out by patterns",
            format!("change {}, {} or {}", name(include), name(exclude), name(kind)),
        ),
    ];
    let mut is_empty = true;
    for (number, (cause, remedy)) in left_out.iter().zip(causes).filter(|(n, _)| **n > 0) {
        write!(f, "{} {number} {cause} ({remedy})", if is_empty { ":" } else { "," })?;
        is_empty = false;
    }
    if is_empty {
        f.write_str("; name a folder with documents")?;
    }
    Ok(())
}

fn fmt_bad_record(
    skipped: &SkippedItem,
    f: &mut fmt::Formatter<'_>,
    name: ParameterSpelling,
) -> fmt::Result {
    skipped.fmt_with(f, name)?;
    f.write_str("; ")?;
    skipped.reason.fmt_remedy(f, name)?;
    write!(f, "skip and list such records with {}", name(Parameter::SkipBad))
}

impl From<ParamsError> for ReadError {
    fn from(error: ParamsError) -> Self {
        Self::Params(error)
    }
}

impl From<IndexError> for ReadError {
    fn from(error: IndexError) -> Self {
        Self::Index(Box::new(error))
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. }
            | Self::Spool { error, .. }
            | Self::InputChanged { after: Err(error), .. } => Some(error),
            Self::Index(error) => error.source(),
            Self::Sink(error) => error.source(),
            _ => None,
        }
    }
}
