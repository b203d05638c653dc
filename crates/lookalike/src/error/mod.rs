//! What can go wrong in a run.

mod audit;
mod contamination;
mod cut;
mod decision;
mod estimates;
mod job;
mod message;
mod survivors;

pub use audit::AuditError;
pub use contamination::ContaminationError;
pub use cut::{CutPart, CutProblem};
pub use decision::{DecisionError, DecisionProblem};
pub use estimates::NoEstimates;
pub use job::{JobError, JobStage};
pub use survivors::SurvivorsProblem;

use crate::engine::ids::DocumentNumber;
use crate::progress::Interruption;
use crate::read::{Location, ReadError};
use crate::report::{TakenPlace, UnknownName};
use crate::shard::ShardError;
pub use crate::spill::{Difference, SpillError, SpillPosition};
use lookalike_core::error::ParamsError;
use lookalike_index::IndexError;
use std::io;
use std::path::PathBuf;

/// An error of a run; each message names the place, what was expected and found, and the remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An input could not be read as documents.
    Read(ReadError),
    /// A parameter cannot be used.
    Params(ParamsError),
    /// An index could not be read or written.
    Index(IndexError),
    /// A document could not be put into an index.
    NotAdded {
        /// Where it is.
        place: Box<Location>,
        /// Why not.
        error: IndexError,
    },
    /// A report cannot be compared with these documents.
    Audit(Box<AuditError>),
    /// A benchmark cannot be compared with a corpus.
    Contamination(ContaminationError),
    /// Decisions of people cannot be used.
    Decisions(DecisionError),
    /// Two documents have the same id.
    RepeatedId {
        /// The id.
        id: String,
        /// Where it is first.
        first: Location,
        /// Where it is again.
        second: Location,
    },
    /// A document read again for verification is not the one that was read first.
    Changed {
        /// The document's id.
        id: String,
        /// Where it is.
        place: Location,
    },
    /// The documents of a task are not those of the stage before.
    Shard(ShardError),
    /// A task of a job in files cannot run.
    Job(Box<JobError>),
    /// The memory that is allowed is not enough.
    MemoryTooSmall {
        /// Bytes allowed.
        got: u64,
        /// The least that works, as far as is known by then.
        least: u64,
    },
    /// More threads than a run may have.
    TooManyThreads {
        /// Threads asked for.
        got: usize,
        /// The largest number.
        most: usize,
    },
    /// Results have no document of a number.
    NoDocument {
        /// The number asked for.
        document: DocumentNumber,
        /// How many documents were read; they are numbered from 0.
        documents: usize,
    },
    /// Passages are to be found in an index that keeps no texts.
    WithoutTexts {
        /// The index.
        source_name: String,
    },
    /// Different words have equal hashes, whatever the seed.
    EqualHashes,
    /// It is not known which part of a text, as it is written, a word of its normal form is.
    NotAligned {
        /// The document's id.
        id: String,
        /// Where it is; `None` for a text that the caller has.
        place: Option<Location>,
    },
    /// More documents than one run can number.
    TooManyDocuments {
        /// How many there are at least.
        got: usize,
    },
    /// A field that documents are counted under has more values than a table of sources.
    TooManySources {
        /// The field.
        field: String,
        /// How many values there are at least.
        got: usize,
        /// The largest number.
        most: usize,
    },
    /// More pairs than one run can list.
    TooManyPairs {
        /// How many there are.
        got: u64,
        /// The largest number.
        most: u64,
    },
    /// Estimates of signatures were asked for where there are none.
    Estimates(NoEstimates),
    /// The pairs of documents that are connected do not fit in the memory that is allowed.
    PairsDoNotFit {
        /// How many fit.
        most: u64,
    },
    /// A file could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// What is written has no format of that name.
    OutputName(UnknownName),
    /// An output is an input, or two outputs have one name.
    OutputTaken(TakenPlace),
    /// An action on files was requested for records.
    NotFiles {
        /// The first input.
        source_name: String,
    },
    /// Survivors cannot be written there, or not as what was asked for.
    Survivors {
        /// Where they were to go.
        path: PathBuf,
        /// Why not, and what to do.
        problem: SurvivorsProblem,
    },
    /// A temporary file could not be used.
    Spill(SpillError),
    /// The one who asked for it does not want it any more.
    Interrupted,
    /// A report or truth file cannot be understood.
    Table {
        /// The file.
        path: PathBuf,
        /// The line, from 1; 0 where it is about the whole file.
        line: u64,
        /// What was expected and what was found.
        problem: String,
    },
}

impl Error {
    /// The error inside of one that results read from temporary files give, such as those of
    /// [`Groups::iter`](crate::find::Groups::iter); another one is that of a temporary file.
    pub fn of_io(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => error,
            Err(error) => Self::Spill(error.downcast::<SpillError>().unwrap_or_else(|source| {
                SpillError::Io { path: PathBuf::from("temporary files"), source }
            })),
        }
    }

    /// The way there, for what reads and writes.
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            Self::Spill(error) => error.into_io(),
            other => io::Error::other(other),
        }
    }
}

impl From<SpillError> for Error {
    fn from(error: SpillError) -> Self {
        Self::Spill(error)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => error.source(),
            Self::Index(error) => error.source(),
            Self::Spill(error) => error.source(),
            Self::Write { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<JobError> for Error {
    fn from(error: JobError) -> Self {
        Self::Job(Box::new(error))
    }
}

impl From<Interruption> for Error {
    fn from(_: Interruption) -> Self {
        Self::Interrupted
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Index(error) => (*error).into(),
            error => Self::Read(error),
        }
    }
}

impl From<IndexError> for Error {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Params(error) => Self::Params(error),
            error => Self::Index(error),
        }
    }
}

impl From<AuditError> for Error {
    fn from(error: AuditError) -> Self {
        Self::Audit(Box::new(error))
    }
}

impl From<DecisionError> for Error {
    fn from(error: DecisionError) -> Self {
        Self::Decisions(error)
    }
}

impl From<ContaminationError> for Error {
    fn from(error: ContaminationError) -> Self {
        Self::Contamination(error)
    }
}

impl From<ParamsError> for Error {
    fn from(error: ParamsError) -> Self {
        Self::Params(error)
    }
}
