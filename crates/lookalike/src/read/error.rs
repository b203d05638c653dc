//! What can go wrong with inputs, and why a document was skipped.

use super::column_error::{NO_PARQUET, PARQUET_STREAM, column, column_type};
use super::content::Content;
use super::stamp::Stamp;
use lookalike_extract::{ExtractError, LimitKind};
use lookalike_index::IndexError;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Which of a record's fields is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Field {
    /// The id.
    Id,
    /// The text.
    Text,
    /// One of [`ReadOptions::fields`](super::ReadOptions::fields).
    Further,
}

impl Field {
    /// The option that names the field.
    pub(super) fn option(self) -> &'static str {
        match self {
            Self::Id => "--id-field",
            Self::Text => "--text-field",
            Self::Further => "the option that asks for it",
        }
    }
}

/// A document, record or file that was not read, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The file, as a path that can be opened from where the inputs were named, or `stdin`.
    pub source: String,
    /// The line the record begins on, or its row in a Parquet file, from 1; `None` for a whole
    /// file.
    pub line: Option<u64>,
    /// The record's id, where it has a readable one.
    pub id: Option<String>,
    /// Why.
    pub reason: SkipReason,
}

impl fmt::Display for Skipped {
    /// `file:line: reason`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.source, self.reason),
            None => write!(f, "{}: {}", self.source, self.reason),
        }
    }
}

/// Why a document was not read. `Display` is a phrase that follows a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SkipReason {
    /// The name, or that of a folder above, begins with a dot.
    Hidden,
    /// An ignore file leaves it out.
    Ignored,
    /// A symbolic link that was not followed.
    SymbolicLink,
    /// Neither a file nor a folder: a pipe, a socket, a device.
    NotAFile,
    /// Holds a NUL byte.
    Binary,
    /// No text could be got out of a file that is not plain text.
    NoText {
        /// Why.
        failure: ExtractError,
        /// The hash of its bytes, where these were read: files with equal hashes are copies.
        content: Option<Box<Content>>,
    },
    /// The system refused; also a symbolic link into its own parents, and broken compressed data.
    Unreadable {
        /// What it said.
        message: String,
    },
    /// Longer than [`MAX_DOCUMENT_BYTES`](super::MAX_DOCUMENT_BYTES).
    TooLong,
    /// A file of records that cannot be read as such.
    NotRecords {
        /// What is missing in it, or wrong with it.
        problem: String,
    },
    /// A file of records or an archive without anything in it.
    NoContent,
    /// More bytes than a limit allows.
    OverLimit {
        /// The limit, in bytes.
        limit: u64,
        /// The option that sets it.
        option: Cow<'static, str>,
    },
    /// No index takes it.
    NotStored {
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// Bytes that are not UTF-8.
    NotUtf8 {
        /// The first of them, counted in bytes from the start of the record, from 1.
        column: u64,
    },
    /// Not JSON.
    BrokenJson {
        /// What was expected.
        expected: Cow<'static, str>,
        /// What stands there instead.
        got: Box<str>,
        /// Where, in characters from the start of the line, from 1.
        column: u64,
    },
    /// JSON, but not an object.
    NotAnObject {
        /// What it is.
        got: Cow<'static, str>,
    },
    /// The object has no such field.
    MissingField {
        /// Which field.
        field: Field,
        /// Its name.
        name: String,
        /// The names of the fields the record has, up to 20.
        present: Vec<String>,
    },
    /// The field holds a value of another type.
    WrongType {
        /// Which field.
        field: Field,
        /// Its name.
        name: String,
        /// What it holds.
        got: Cow<'static, str>,
    },
    /// The id has no characters.
    EmptyId,
    /// The value has `\ud800` to `\udfff` without the other half: legal JSON, but no text.
    LoneSurrogate {
        /// Which field.
        field: Field,
        /// Its name.
        name: String,
    },
    /// A record of comma- or tab-separated values with more or fewer than the header.
    FieldCount {
        /// Columns of the header.
        expected: usize,
        /// Values of the record.
        got: usize,
    },
    /// A quoted value that never ends.
    UnclosedQuote,
    /// The row has no value in the column.
    Null {
        /// Which field.
        field: Field,
        /// The column's name.
        name: String,
    },
    /// An earlier document has the same id.
    RepeatedId {
        /// Where that one stands.
        first: String,
    },
}

impl SkipReason {
    /// What the user can do, besides skipping.
    fn remedy(&self) -> &'static str {
        match self {
            Self::NotUtf8 { .. } => {
                "name the file's encoding with --encoding (windows-1252, shift_jis, …), or "
            }
            Self::MissingField { field: Field::Id, .. } => {
                "name the field with --id-field, have ids made of file and line with --line-ids, \
                 or "
            }
            Self::MissingField { field: Field::Text, .. } => {
                "name the field with --text-field, or "
            }
            Self::WrongType { field: Field::Id, .. }
            | Self::Null { field: Field::Id, .. }
            | Self::EmptyId => {
                "name another field with --id-field, have ids made of file and line with \
                 --line-ids, or "
            }
            Self::WrongType { field: Field::Text, .. } | Self::Null { field: Field::Text, .. } => {
                "name another field with --text-field, or "
            }
            Self::Binary | Self::NoText { .. } => "leave the file out, or ",
            Self::OverLimit { .. } => "raise the limit, or ",
            _ => "mend it, or ",
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepeatedId { first } => write!(f, "the id is that of the document at {first}"),
            Self::Hidden => f.write_str("hidden (--hidden reads it)"),
            Self::Ignored => f.write_str("left out by an ignore file (--no-ignore reads it)"),
            Self::SymbolicLink => f.write_str("a symbolic link (--follow reads it)"),
            Self::NotAFile => f.write_str("neither a file nor a folder"),
            Self::Binary => f.write_str("binary: it holds a NUL byte"),
            Self::NoText { failure, .. } => match limit_option(failure) {
                Some(option) => write!(f, "{failure} ({option} allows more)"),
                None => failure.fmt(f),
            },
            Self::Unreadable { message } => write!(f, "cannot be read: {message}"),
            Self::TooLong => write!(
                f,
                "a document of more than {} bytes, the most there can be",
                super::MAX_DOCUMENT_BYTES
            ),
            Self::NotRecords { problem } => f.write_str(problem),
            Self::NoContent => f.write_str("empty: there is nothing in it"),
            Self::OverLimit { limit, option } => {
                write!(f, "more than {limit} bytes, the most that {option} allows")
            }
            Self::NotStored { why } => write!(f, "{why}"),
            Self::NotUtf8 { column } => write!(f, "not UTF-8 at byte {column}"),
            Self::BrokenJson { expected, got, column } => {
                write!(f, "not JSON: expected {expected} at column {column}, got {got}")
            }
            Self::NotAnObject { got } => {
                write!(f, "expected a JSON object such as {{\"id\":…}}, got {got}")
            }
            Self::MissingField { name, present, .. } if present.is_empty() => {
                write!(f, "no field {name:?}; the record has none at all")
            }
            Self::MissingField { name, present, .. } => {
                write!(f, "no field {name:?}; the record has {}", present.join(", "))
            }
            Self::WrongType { field, name, got } => write!(
                f,
                "the field {name:?} must be {}, got {got}",
                match field {
                    Field::Id => "a string or a number",
                    Field::Text => "a string",
                    Field::Further => "a value",
                }
            ),
            Self::EmptyId => f.write_str("the id is empty"),
            Self::Null { name, .. } => write!(f, "the column {name:?} is null in this row"),
            Self::LoneSurrogate { name, .. } => write!(
                f,
                "the field {name:?} holds half a surrogate pair (\\ud800 to \\udfff alone), \
                 which is no character"
            ),
            Self::FieldCount { expected, got } => {
                write!(f, "a record of {got} values, the header has {expected} columns")
            }
            Self::UnclosedQuote => {
                f.write_str("a quoted value begins in this record and never ends")
            }
        }
    }
}

/// The option that raises the limit which a file reached; `None` for other failures.
pub fn limit_option(failure: &ExtractError) -> Option<&'static str> {
    Some(match failure.limit()? {
        LimitKind::Bytes => "--max-file-size",
        LimitKind::Expanded => "--max-expanded",
        LimitKind::Depth => "--max-depth",
        LimitKind::Members => "--max-members",
        LimitKind::Pages => "--max-pages",
        LimitKind::Time => "--max-seconds",
    })
}

/// Why inputs could not be read. Every message names the place and ends with a remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// No inputs at all.
    NoInputs,
    /// An index could not be read.
    Index(Box<IndexError>),
    /// An input that can be read only once, where it must be read again.
    NotAgain {
        /// The input, `stdin` for standard input.
        source_name: String,
    },
    /// An input does not exist.
    Missing {
        /// The input as given.
        path: String,
    },
    /// A folder in which nothing is left to read.
    NoFiles {
        /// The folder as given.
        path: String,
        /// Files left out because they are hidden.
        hidden: usize,
        /// Files left out by ignore files.
        ignored: usize,
        /// Links, pipes and unreadable folders.
        other: usize,
    },
    /// A file cannot be opened, or its bytes cannot be read or decompressed.
    Io {
        /// The file, or `stdin`.
        source_name: String,
        /// What the system or the decompressor said.
        error: io::Error,
    },
    /// A text names no format.
    UnknownFormat {
        /// The text given.
        got: String,
    },
    /// A pattern or a type of files that has no meaning.
    Filter {
        /// The option.
        option: &'static str,
        /// Its value.
        got: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A text names no character encoding.
    UnknownEncoding {
        /// The text given.
        got: String,
    },
    /// The format of a stream cannot be told from its first byte.
    FormatNeeded {
        /// The stream: `stdin` or a pipe.
        source_name: String,
    },
    /// Standard input is named twice.
    StdinTwice,
    /// The header of a CSV or TSV file names the column not once.
    Column {
        /// The file.
        source_name: String,
        /// Which column.
        field: Field,
        /// Its name.
        name: String,
        /// How often it is there: 0, or more than 1.
        found: usize,
        /// The columns there are.
        present: Vec<String>,
    },
    /// A column of a Parquet file holds what is no id or no text.
    ColumnType {
        /// The file.
        source_name: String,
        /// Which column.
        field: Field,
        /// Its name.
        name: String,
        /// What it holds.
        got: String,
        /// The columns there are, with what they hold.
        present: Vec<String>,
    },
    /// A Parquet file is damaged, encrypted, or made in a way that cannot be read.
    Parquet {
        /// The file.
        source_name: String,
        /// What the decoder said.
        problem: String,
    },
    /// The crate was built without a feature that an option needs.
    NotBuilt {
        /// Which.
        feature: &'static str,
    },
    /// Parquet from a stream or inside of gzip or zstd.
    ParquetStream {
        /// The file or stream.
        source_name: String,
    },
    /// Parquet, for which this program was not built.
    NoParquet {
        /// The file.
        source_name: String,
    },
    /// A record is bad and bad records are not skipped.
    BadRecord(Skipped),
    /// The same of a row of documents that the caller holds.
    BadRow(Box<Skipped>),
    /// A record is longer than [`MAX_DOCUMENT_BYTES`](super::MAX_DOCUMENT_BYTES).
    RecordTooLong {
        /// The file, or `stdin`.
        source_name: String,
        /// The line it begins on, from 1.
        line: u64,
    },
    /// A record or a compressed text is longer than the memory of the run has room for.
    OverMemory {
        /// The file, or `stdin`.
        source_name: String,
        /// The line it begins on, from 1; `None` for a whole file.
        line: Option<u64>,
        /// Its length in bytes, as far as it is known.
        bytes: u64,
    },
    /// A document is no longer what it was when it was first read.
    Changed {
        /// The file.
        source_name: String,
        /// The line of the record, from 1; `None` for a whole file.
        line: Option<u64>,
        /// What is different.
        what: String,
    },
    /// A file is gone, or has another size or time than when it was opened.
    InputChanged {
        /// The file.
        source_name: String,
        /// What it looked like then.
        before: Stamp,
        /// What it looks like now, or what the system says when asked.
        after: io::Result<Stamp>,
    },
    /// The temporary file for bytes that cannot be read again fails.
    Spool {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(error) => error.fmt(f),
            Self::NoInputs => f.write_str("no input; name files or folders, or - for stdin"),
            Self::Missing { path } => {
                write!(f, "{path}: no such file or folder; check the name, or use - for stdin")
            }
            Self::NoFiles { path, hidden, ignored, other } => write!(
                f,
                "{path}: no file to read in this folder ({hidden} hidden, {ignored} ignored, \
                 {other} links, pipes or unreadable); --hidden, --no-ignore and --follow read \
                 what is left out"
            ),
            Self::Io { source_name, error } => write!(
                f,
                "{source_name}: cannot be read: {error}; check that the file is whole and may be \
                 read"
            ),
            Self::Filter { option, got, problem } => {
                write!(f, "{option} cannot be {got:?}: {problem}")
            }
            Self::UnknownFormat { .. }
            | Self::UnknownEncoding { .. }
            | Self::FormatNeeded { .. }
            | Self::NotAgain { .. }
            | Self::NotBuilt { .. }
            | Self::StdinTwice => self.choice(f),
            Self::Column { source_name, field, name, found, present } => {
                write!(f, "{source_name}: {}", column(*field, name, *found, present))
            }
            Self::ColumnType { source_name, field, name, got, present } => {
                write!(f, "{source_name}: {}", column_type(*field, name, got, present))
            }
            Self::Parquet { source_name, problem } => write!(
                f,
                "{source_name}: cannot be read as Parquet: {problem}; check that the file is whole \
                 and not encrypted, or write it anew"
            ),
            Self::ParquetStream { source_name } => write!(f, "{source_name}: {PARQUET_STREAM}"),
            Self::NoParquet { source_name } => write!(f, "{source_name}: {NO_PARQUET}"),
            Self::BadRecord(skipped) => bad(skipped, f),
            Self::BadRow(skipped) => bad(skipped, f),
            Self::RecordTooLong { source_name, line } => write!(
                f,
                "{source_name}:{line}: a record of more than {} bytes, the most there can be; \
                 check that the format is right and the file has line feeds",
                super::MAX_DOCUMENT_BYTES
            ),
            Self::OverMemory { source_name, line, bytes } => write!(
                f,
                "{source_name}{}: {bytes} bytes or more in one document, which --memory has no \
                 room for; allow more",
                after_colon(*line)
            ),
            Self::Changed { source_name, line, what } => {
                let line = after_colon(*line);
                write!(f, "{source_name}{line}: changed while reading ({what}); {ALONE}")
            }
            Self::InputChanged { source_name, before, after } => {
                write!(f, "{source_name}: {CHANGED} {before}; now {}; {ALONE}", state(after))
            }
            Self::Spool { path, error } => write!(
                f,
                "the temporary file {}: {error}; make room there, or name another folder with \
                 --temp-dir",
                path.display()
            ),
        }
    }
}

/// A line number as it follows the name of a source.
fn after_colon(line: Option<u64>) -> String {
    line.map_or_else(String::new, |line| format!(":{line}"))
}

/// What a file is like now, or why the system does not say.
fn state(after: &io::Result<Stamp>) -> String {
    match after {
        Ok(after) => format!("it has {after}"),
        Err(error) => format!("the system says: {error}"),
    }
}

impl ReadError {
    /// `Display` of a choice that cannot be.
    fn choice(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFormat { got } => {
                write!(
                    f,
                    "--format cannot be {got:?}; expected text, lines, jsonl, csv, tsv, parquet, \
                     file, mbox, warc or tar"
                )
            }
            Self::UnknownEncoding { got } => write!(
                f,
                "--encoding cannot be {got:?}; expected a label of the WHATWG Encoding Standard \
                 such as utf-8, windows-1252, utf-16le, shift_jis or gb18030"
            ),
            Self::FormatNeeded { source_name } => write!(
                f,
                "{source_name}: the format cannot be told; say --format lines (id, blank, text), \
                 jsonl, csv, tsv, or text (all of it one document)"
            ),
            Self::NotBuilt { feature } => write!(
                f,
                "an option needs the feature {feature:?}, without which lookalike was built; build \
                 it with that feature, or leave the option out"
            ),
            Self::NotAgain { source_name } => write!(
                f,
                "{source_name} cannot be read a second time, so this run could not go on from it; \
                 write it to a file first, or leave out --resume"
            ),
            Self::StdinTwice => f.write_str("stdin (-) is given twice; give it once"),
            _ => Ok(()),
        }
    }
}

const ALONE: &str = "run again when nothing writes to it";
const CHANGED: &str = "changed since it was opened: it had";
fn bad(skipped: &Skipped, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let remedy = skipped.reason.remedy();
    write!(f, "{skipped}; {remedy}let --skip-bad count and list such records and go on")
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
            _ => None,
        }
    }
}
