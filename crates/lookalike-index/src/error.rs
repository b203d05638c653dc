//! Errors of an index.

use crate::shortened_id::shortened_id;
use lookalike_core::error::ParamsError;
use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use lookalike_core::params::Measure;
use std::fmt;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use std::path::Path;
use std::time::Duration;

/// An error of an index. Each message names the index, the expected and the actual value, and the
/// remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum IndexError {
    /// The index does not exist.
    Missing {
        /// The place.
        index: String,
    },
    /// The place of a new index is not empty.
    Exists {
        /// The place.
        index: String,
    },
    /// The place contains something other than an index.
    NotAnIndex {
        /// The place.
        index: String,
        /// The problem.
        why: String,
    },
    /// This build of the crate does not support an index at this place.
    NotBuilt {
        /// The place.
        index: String,
        /// The feature to build with.
        feature: &'static str,
    },
    /// The index stores sketches instead of documents.
    OfSketches {
        /// The place.
        index: String,
    },
    /// The index was written by another version.
    Version {
        /// The place.
        index: String,
        /// The version of the index.
        got: u32,
        /// The version that this program reads.
        expected: u32,
    },
    /// The index was created with other settings than requested.
    OtherSettings {
        /// The place.
        index: String,
        /// The setting.
        parameter: Parameter,
        /// The value of the index.
        index_has: String,
        /// The requested value.
        requested: String,
    },
    /// Another process writes to the index.
    InUse {
        /// The place.
        index: String,
        /// The time spent waiting.
        waited: Duration,
        /// The address of the service, if the other process is one.
        service: Option<String>,
    },
    /// The index was opened for reading only, or its place cannot be written to.
    ReadOnly {
        /// The place.
        index: String,
        /// The cause.
        cause: Unwritable,
    },
    /// A document cannot be stored.
    Document {
        /// Its id, shortened if it is long.
        id: String,
        /// The problem, and the remedy.
        why: String,
    },
    /// A model of categories cannot be stored.
    Categories {
        /// Its size in bytes.
        got: usize,
        /// The maximum size in bytes.
        most: usize,
    },
    /// A decision cannot be stored.
    Decision {
        /// Its position among the given decisions, from 0.
        position: usize,
        /// The size of its JSON object in bytes.
        got: usize,
        /// The maximum size in bytes.
        most: usize,
    },
    /// The caller's function ended the reading.
    Stopped,
    /// [`Backend::interrupt`](crate::backend::Backend::interrupt) ended the operation.
    Interrupted {
        /// The place.
        index: String,
    },
    /// A document with this id already exists.
    IdTaken {
        /// The id.
        id: String,
    },
    /// The operation needs shingle sets, which the index does not store.
    NoSets {
        /// The operation.
        what: &'static str,
    },
    /// The operation needs texts, which the index does not store.
    NoTexts {
        /// The place.
        index: String,
    },
    /// The operation needs originals, which the index does not store.
    NoOriginals {
        /// The place.
        index: String,
    },
    /// The nearest documents are requested, but signatures do not estimate the measure of the
    /// index.
    NearestMeasure {
        /// The measure of the index.
        got: Measure,
        /// The measure of an index in which the nearest documents can be searched.
        expected: Measure,
    },
    /// A filter cannot be parsed.
    Filter {
        /// The filter.
        got: String,
        /// The expected form.
        expected: &'static str,
    },
    /// A parameter cannot be used.
    Params(ParamsError),
    /// Stored data is damaged.
    Damaged {
        /// The file, table or row.
        what: String,
        /// The problem.
        why: String,
    },
    /// A column of a table has another type than an index requires, or no value.
    Column {
        /// The table.
        table: &'static str,
        /// The column.
        column: String,
        /// The required type.
        expected: String,
        /// The actual type, or `NULL`.
        got: String,
    },
    /// The catalogue of an index in a folder is damaged. It cannot be rebuilt.
    DamagedCatalogue {
        /// The file.
        file: String,
        /// The problem.
        why: String,
    },
    /// No document number is left.
    Full {
        /// The number of document numbers.
        most: u64,
    },
    /// The disk is full.
    DiskFull {
        /// The place.
        index: String,
    },
    /// The system failed to read or write.
    Io {
        /// The file.
        path: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The database that keeps the index failed.
    Database {
        /// The place, without passwords.
        index: String,
        /// The error of the database.
        why: String,
        /// Whether a retry may succeed.
        transient: bool,
    },
}

/// The error of an index of sketches, with its remedy.
const OF_SKETCHES: &str = "keeps sketches of lookalike.datasketch, not documents; open it in \
                           Python with lookalike.datasketch.MinHashLSH(storage_config={\"type\": \
                           \"lookalike\", \"path\": …})";

/// The message of [`IndexError::NoTexts`] between the name of the index and the option.
const NO_TEXTS: &str = "keeps no texts, whose words are compared here: name the files that its \
     documents were read from, or create it again with";

/// The message of [`IndexError::NoOriginals`] between the name of the index and the option.
const NO_ORIGINALS: &str = "keeps no originals: read the files that its documents were read from, \
     or create it again with";

/// The reason why an index cannot be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unwritable {
    /// It was opened for reading only.
    Opened,
    /// The user has no right to write to its folder or a file in it.
    Rights,
    /// Its file system is mounted for reading only.
    FileSystem,
    /// The database server accepts no changes.
    Server,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Opened => "it is open for reading only: open it for writing",
            Self::Rights => {
                "this user has no right to write to its folder and files: work as their owner, or \
                 let the owner grant it"
            }
            Self::FileSystem => {
                "its file system is mounted for reading only: mount it for writing, or open it for \
                 reading only"
            }
            Self::Server => {
                "the database server takes no changes: name one that does, not a standby, or open \
                 the index for reading only"
            }
        })
    }
}

impl IndexError {
    /// The error of damaged data: a file, table or row, and the problem.
    pub(crate) fn damaged(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Damaged { what: what.into(), why: why.into() }
    }

    /// The error for a place that contains something other than an index.
    pub(crate) fn not_an_index(index: impl Into<String>, why: impl Into<String>) -> Self {
        Self::NotAnIndex { index: index.into(), why: why.into() }
    }

    /// The error of a database that a retry does not resolve.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn database(index: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Database { index: index.into(), why: why.into(), transient: false }
    }

    /// The error of a database that a retry may resolve.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn transient(index: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Database { index: index.into(), why: why.into(), transient: true }
    }

    /// The error of a file that cannot be read or written.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.display().to_string(), source }
    }

    /// The error of a damaged document.
    pub(crate) fn damaged_document(id: &str, why: impl Into<String>) -> Self {
        Self::damaged(format!("document {:?}", shortened_id(id)), why)
    }

    /// The description of damage without its place, or the whole message of another error.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn damage(&self) -> String {
        match self {
            Self::Damaged { why, .. } | Self::DamagedCatalogue { why, .. } => why.clone(),
            error => error.to_string(),
        }
    }

    /// The error of a document that cannot be stored.
    pub(crate) fn document(id: &str, why: impl Into<String>) -> Self {
        Self::Document { id: shortened_id(id), why: why.into() }
    }
}

impl NamesParameters for IndexError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::Missing { index } => write!(f, "index {index} does not exist; create it first"),
            Self::Exists { index } => write!(
                f,
                "{index} already exists; choose another name, or open it to add documents"
            ),
            Self::NotAnIndex { index, why } => write!(f, "{index} is not an index: {why}"),
            Self::NotBuilt { index, feature } => write!(
                f,
                "{index}: this program was built without the feature `{feature}`; build it with \
                 that feature"
            ),
            Self::OfSketches { index } => write!(f, "{index} {OF_SKETCHES}"),
            Self::Version { index, got, expected } => write!(
                f,
                "{index} has format version {got}, this program reads {expected}: export it with \
                 the program that wrote it and create it again"
            ),
            Self::OtherSettings { index, parameter, index_has, requested } => write!(
                f,
                "{index} was created with {} {index_has}, but {requested} was requested; remove \
                 the option to use the index's value, or create another index",
                name(*parameter)
            ),
            Self::InUse { index, waited, service } => {
                fmt_in_use(f, index, *waited, service.as_deref())
            }
            Self::ReadOnly { index, cause } => write!(f, "{index} cannot be written to: {cause}"),
            Self::Document { id, why } => write!(f, "document {id:?} cannot be stored: {why}"),
            Self::Categories { got, most } => write!(
                f,
                "the model of categories has {got} bytes, at most {most} are kept: make fewer \
                 topics"
            ),
            Self::Decision { position, got, most } => write!(
                f,
                "decision {} cannot be stored: it has {got} bytes, at most {most} are kept: \
                 shorten its note",
                position + 1
            ),
            Self::Stopped => f.write_str("the reading was stopped before its end"),
            Self::Interrupted { index } => write!(
                f,
                "the operation on {index} was interrupted before its end: open the index and \
                 start it again"
            ),
            Self::IdTaken { id } => {
                write!(f, "document {id:?} already exists; update replaces it")
            }
            Self::NoSets { what } => write!(
                f,
                "the index keeps no shingle sets, which {what} needs: create it with {} sets",
                name(Parameter::Store)
            ),
            Self::NoTexts { index } => {
                write!(f, "{index} {NO_TEXTS} {} texts", name(Parameter::Store))
            }
            Self::NoOriginals { index } => {
                write!(f, "{index} {NO_ORIGINALS} {} originals", name(Parameter::Store))
            }
            Self::NearestMeasure { got, expected } => write!(
                f,
                "nearest: expected an index with the measure {expected}, got one with {got}, which \
                 signatures do not estimate: query it with a low threshold instead"
            ),
            Self::Filter { got, expected } => write!(f, "filter {got:?}: expected {expected}"),
            Self::Params(error) => error.fmt_with(f, name),
            Self::Damaged { what, why } => {
                write!(f, "{what} is damaged: {why}; check the index to learn what can be repaired")
            }
            Self::Column { table, column, expected, got } => write!(
                f,
                "column {column} of table {table}: expected {expected}, got {got}; restore a \
                 backup, or undo the change of the table"
            ),
            Self::DamagedCatalogue { file, why } => {
                write!(f, "{file} is damaged: {why}; restore a backup, or export what can be read")
            }
            Self::Full { most } => {
                write!(f, "all {most} document numbers are used: compact the index")
            }
            Self::DiskFull { index } => write!(
                f,
                "no space is left on the disk of {index}; only the acknowledged changes are stored"
            ),
            Self::Io { path, source } => write!(f, "{path}: {source}"),
            Self::Database { index, why, .. } => write!(f, "{index}: {why}"),
        }
    }
}

fn fmt_in_use(
    f: &mut fmt::Formatter<'_>,
    index: &str,
    waited: Duration,
    service: Option<&str>,
) -> fmt::Result {
    match service {
        Some(address) => {
            write!(
                f,
                "the service at {address} writes to {index}; use the service, or stop it first"
            )
        }
        None => write!(
            f,
            "another process writes to {index} (waited {} s): try again when it is done",
            waited.as_secs()
        ),
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with(f, Parameter::plain)
    }
}

impl std::error::Error for IndexError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Params(error) => Some(error),
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<ParamsError> for IndexError {
    fn from(error: ParamsError) -> Self {
        Self::Params(error)
    }
}
