//! What can go wrong in a run.

mod audit;
mod contamination;
mod cut;
mod decision;
mod difference;
mod estimates;
mod job;
mod message;
mod spill_position;
mod survivors;

pub use audit::AuditError;
pub use contamination::ContaminationError;
pub use cut::{CutPart, CutProblem};
pub use decision::{DecisionError, DecisionProblem};
pub use difference::Difference;
pub use estimates::NoEstimates;
pub use job::{JobError, JobStage};
pub use spill_position::SpillPosition;
pub use survivors::SurvivorsProblem;

use crate::engine::ids::DocumentNumber;
use crate::progress::Interruption;
use crate::read::{Location, ReadError};
use crate::report::{TakenPlace, UnknownName};
use crate::shard::ShardError;
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
    /// A temporary file holds something that was not written to it.
    TemporaryFile {
        /// What was expected there.
        what: String,
        /// The file, if it is known and not a part of memory.
        path: Option<PathBuf>,
        /// Where in the file, if it is known.
        position: Option<SpillPosition>,
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
    /// A temporary file could not be written or read.
    Spill {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A temporary file does not hold what was written to it.
    SpillDamaged {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        problem: String,
        /// The folder of a resumable run to remove, if it is one of those.
        folder: Option<PathBuf>,
    },
    /// The folder for temporary files does not exist or takes no files.
    TempDir {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A run to go on with was started with other inputs or parameters.
    RunDiffers {
        /// The folder of that run.
        path: PathBuf,
        /// What differs, one at least.
        differences: Vec<Difference>,
    },
    /// A run to go on with is at work.
    RunInUse {
        /// The folder of that run.
        path: PathBuf,
    },
    /// The folder of a run to go on with may hold what somebody else wrote.
    RunNotPrivate {
        /// The folder.
        path: PathBuf,
        /// What was expected of it and what was found.
        problem: String,
    },
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
            Err(source) => Self::Spill { path: PathBuf::from("temporary files"), source },
        }
    }

    /// The error of a temporary file that does not hold what was written to it, where neither the
    /// file nor the place in it is known.
    pub(crate) fn temporary_file(what: impl Into<String>) -> Self {
        Self::TemporaryFile { what: what.into(), path: None, position: None }
    }

    /// The way there, for what reads and writes.
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            Self::Spill { source, .. } if source.kind() != io::ErrorKind::Other => {
                io::Error::new(source.kind(), source)
            }
            other => io::Error::other(other),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => error.source(),
            Self::Index(error) => error.source(),
            Self::Write { source, .. }
            | Self::Spill { source, .. }
            | Self::TempDir { source, .. } => Some(source),
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
