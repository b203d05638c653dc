//! What can go wrong in a run.

mod audit;
mod contamination;
mod cut;
mod decision;
mod difference;
mod estimates;
mod job;
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

use crate::progress::Interruption;
use crate::read::{Location, ReadError};
use crate::report::UnknownName;
use crate::shard::ShardError;
use lookalike_core::candidate::MAX_DOCUMENTS;
use lookalike_core::error::ParamsError;
use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use lookalike_index::IndexError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

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

/// How many differences a message lists.
const SHOWN_DIFFERENCES: usize = 8;

impl NamesParameters for Error {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        let message = MessageWriter { f: &mut *f, name };
        match self {
            Self::Read(error) => error.fmt_with(f, name),
            Self::Params(error) => error.fmt_with(f, name),
            Self::Index(error) => error.fmt_with(f, name),
            Self::NotAdded { place, error } => {
                write!(f, "{place}: ")?;
                error.fmt_with(f, name)
            }
            Self::Audit(error) => error.fmt_with(f, name),
            Self::Contamination(error) => error.fmt_with(f, name),
            Self::Decisions(error) => fmt::Display::fmt(error, f),
            Self::RepeatedId { id, first, second } => message.repeated_id(id, first, second),
            Self::Changed { id, place } => write!(
                f,
                "document {id:?} at {place} changed while it was being read; run again when \
                 nothing writes to the input, or work on a copy"
            ),
            Self::Shard(error) => fmt::Display::fmt(error, f),
            Self::Job(error) => fmt::Display::fmt(error, f),
            Self::MemoryTooSmall { got, least } => message.memory_too_small(*got, *least),
            Self::WithoutTexts { source_name } => message.without_texts(source_name),
            Self::EqualHashes => message.equal_hashes(),
            Self::NotAligned { id, place } => message.not_aligned(id, place.as_ref()),
            Self::TemporaryFile { what, path, position } => {
                message.temporary_file(what, path.as_deref(), *position)
            }
            Self::Estimates(why) => why.fmt_with(f, name),
            Self::TooManyDocuments { got } => write!(
                f,
                "the input has at least {got} documents, one run can number {MAX_DOCUMENTS}; split \
                 the input"
            ),
            Self::TooManySources { field, got, most } => {
                message.too_many_sources(field, *got, *most)
            }
            Self::TooManyPairs { got, most } => message.too_many_pairs(*got, *most),
            Self::PairsDoNotFit { most } => message.pairs_do_not_fit(*most),
            Self::Write { path, source } => write!(
                f,
                "cannot write {}: {}; what was there before is untouched, {}",
                path.display(),
                plain(source),
                remedy(source.kind())
            ),
            Self::OutputName(name) => fmt::Display::fmt(name, f),
            Self::Survivors { path, problem } => {
                write!(f, "cannot write {}: ", path.display())?;
                problem.fmt_with(f, name)
            }
            Self::Spill { path, source } => message.spill(path, source),
            Self::SpillDamaged { path, problem, folder } => {
                message.spill_damaged(path, problem, folder.as_deref())
            }
            Self::TempDir { path, source } => message.temp_dir(path, source),
            Self::RunDiffers { path, differences } => message.run_differs(path, differences),
            Self::RunInUse { path } => message.run_in_use(path),
            Self::RunNotPrivate { path, problem } => message.run_not_private(path, problem),
            Self::Interrupted => f.write_str("interrupted; nothing was written"),
            Self::Table { path, line: 0, problem } => write!(f, "{}: {problem}", path.display()),
            Self::Table { path, line, problem } => {
                write!(f, "{} line {line}: {problem}", path.display())
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with(f, Parameter::plain)
    }
}

/// Where a message is written, and how parameters are spelled in it.
struct MessageWriter<'w, 'f> {
    f: &'w mut fmt::Formatter<'f>,
    name: ParameterSpelling,
}

impl MessageWriter<'_, '_> {
    fn run_in_use(self, path: &Path) -> fmt::Result {
        write!(
            self.f,
            "the run stored in {} is in use by another run; wait until that ends, or name another \
             {}",
            path.display(),
            (self.name)(Parameter::TempDir)
        )
    }

    fn without_texts(self, source_name: &str) -> fmt::Result {
        write!(
            self.f,
            "passages are found in texts, and {source_name} has documents without them; name the \
             files it was made of"
        )
    }

    fn equal_hashes(self) -> fmt::Result {
        self.f.write_str(
            "different words have equal hashes with every seed that was tried; remove the \
             documents that were made for that",
        )
    }

    fn not_aligned(self, id: &str, place: Option<&Location>) -> fmt::Result {
        write!(self.f, "the words of document {id:?}")?;
        if let Some(place) = place {
            write!(self.f, " at {place}")?;
        }
        write!(
            self.f,
            " cannot be found in the text as it is written; leave out {}",
            (self.name)(Parameter::Normalize)
        )
    }

    fn repeated_id(self, id: &str, first: &Location, second: &Location) -> fmt::Result {
        if first == second {
            return write!(
                self.f,
                "{first} is read twice, so the id {id:?} would belong to two documents; name each \
                 file and folder once, and no file inside a named folder"
            );
        }
        write!(
            self.f,
            "the id {id:?} occurs at {first} and again at {second}; ids must be unique. {} names \
             another field, {} makes ids of file names and line numbers, {} leaves out the later \
             document and counts it",
            (self.name)(Parameter::IdField),
            (self.name)(Parameter::LineIds),
            (self.name)(Parameter::SkipBad)
        )
    }

    fn memory_too_small(self, got: u64, least: u64) -> fmt::Result {
        write!(
            self.f,
            "{} {} is too small: this run needs at least {}",
            (self.name)(Parameter::Memory),
            amount(got),
            amount(least.next_multiple_of(1 << 20))
        )
    }

    fn temporary_file(
        self,
        what: &str,
        path: Option<&Path>,
        position: Option<SpillPosition>,
    ) -> fmt::Result {
        match path {
            Some(path) => write!(self.f, "the temporary file {}", path.display())?,
            None => self.f.write_str("a temporary file")?,
        }
        write!(self.f, " does not hold {what} any more")?;
        if let Some(position) = position {
            write!(self.f, " at {position}")?;
        }
        self.f
            .write_str("; run again, and let nothing else write to the folder for temporary files")
    }

    fn run_not_private(self, path: &Path, problem: &str) -> fmt::Result {
        write!(
            self.f,
            "the folder {} for the run's temporary files exists, and {problem}, so nothing in it \
             is used; remove it if it is yours, or name a {} that only you can write to",
            path.display(),
            (self.name)(Parameter::TempDir)
        )
    }

    fn too_many_sources(self, field: &str, got: usize, most: usize) -> fmt::Result {
        write!(
            self.f,
            "the field {field:?} has at least {got} values, documents are counted under at most \
             {most}; let {} name a field with fewer values, or leave it out",
            (self.name)(Parameter::SourceField)
        )
    }

    fn too_many_pairs(self, got: u64, most: u64) -> fmt::Result {
        write!(
            self.f,
            "the documents form at least {got} pairs, one run lists at most {most}; groups \
             (without {}) hold the same duplicates, or raise {}",
            (self.name)(Parameter::Pairs),
            (self.name)(Parameter::Threshold)
        )
    }

    fn pairs_do_not_fit(self, most: u64) -> fmt::Result {
        write!(
            self.f,
            "more than {most} pairs of documents are connected with each other, which do not fit \
             in {}; allow more, raise {}, or leave out {}: groups hold the same duplicates",
            (self.name)(Parameter::Memory),
            (self.name)(Parameter::Threshold),
            (self.name)(Parameter::Pairs)
        )
    }

    fn temp_dir(self, path: &Path, source: &io::Error) -> fmt::Result {
        write!(
            self.f,
            "cannot make temporary files in {}: {}; {} names a folder that exists and takes files",
            path.display(),
            plain(source),
            (self.name)(Parameter::TempDir)
        )
    }

    fn spill(self, path: &Path, source: &io::Error) -> fmt::Result {
        let (resume, temp_dir) = ((self.name)(Parameter::Resume), (self.name)(Parameter::TempDir));
        write!(
            self.f,
            "cannot write or read the temporary file {}: {}; ",
            path.display(),
            plain(source)
        )?;
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => write!(
                self.f,
                "the disk is full: make room there (a run with {resume} then goes on where it \
                 stopped), or name another {temp_dir}"
            ),
            _ => write!(
                self.f,
                "try again (a run with {resume} goes on where it stopped), or name another \
                 {temp_dir}"
            ),
        }
    }

    fn spill_damaged(self, path: &Path, problem: &str, folder: Option<&Path>) -> fmt::Result {
        write!(self.f, "the temporary file {} is damaged: {problem}; ", path.display())?;
        match folder {
            Some(folder) => {
                write!(
                    self.f,
                    "remove the folder {}, and the run starts from the beginning",
                    folder.display()
                )
            }
            None => write!(
                self.f,
                "run again, with {} on another disk",
                (self.name)(Parameter::TempDir)
            ),
        }
    }

    fn run_differs(self, path: &Path, differences: &[Difference]) -> fmt::Result {
        let path = path.display();
        write!(self.f, "the run stored in {path} is another one:")?;
        difference::fmt_list(self.f, differences, SHOWN_DIFFERENCES)?;
        write!(
            self.f,
            " to go on with it, give it the inputs and parameters it was started with; to start \
             from the beginning, remove the folder {path} or name another {}",
            (self.name)(Parameter::TempDir)
        )
    }
}

/// Bytes as [`parse_memory`](crate::find::parse_memory) reads them.
fn amount(bytes: u64) -> String {
    match bytes {
        0x10_0000.. if bytes.is_multiple_of(1 << 20) => format!("{}MiB", bytes >> 20),
        0x400.. if bytes.is_multiple_of(1 << 10) => format!("{}KiB", bytes >> 10),
        bytes => format!("{bytes}B"),
    }
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

/// What the system said, without the temporary name it was said about.
fn plain(error: &io::Error) -> String {
    if let Some(code) = error.raw_os_error() {
        return io::Error::from_raw_os_error(code).to_string();
    }
    error.to_string().split(" at path ").next().unwrap_or_default().to_owned()
}

fn remedy(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "make its folder first",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room, or write elsewhere"
        }
        _ => "write to another place",
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
