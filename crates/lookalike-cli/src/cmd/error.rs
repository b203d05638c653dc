//! Errors of commands: exit codes, and messages with the options and commands that help.

use crate::exit_code::ExitCode;
use lookalike::audit::AuditError;
use lookalike::contamination::ContaminationError;
use lookalike::core::error::ParamsError;
use lookalike::core::parameter::NamesParameters;
use lookalike::decisions::DecisionError;
use lookalike::dedup::DedupError;
use lookalike::error::Error;
use lookalike::find::FindError;
use lookalike::index::AddError;
use lookalike::read::ReadError;
use lookalike::report::{OutputError, option_name};
use lookalike::shard::job::JobError;
use lookalike::store::error::Unwritable;
use lookalike::store::{Index, IndexError};
use std::fmt;
use std::io;
use std::path::Path;

/// The result of a command.
pub(crate) type CommandResult = Result<ExitCode, CommandError>;

/// The error of a command.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// Wrong use, with the remedy.
    Usage(String),
    /// A failed run.
    Run(Error),
    /// Unsuitable input, with the remedy.
    Data(String),
    /// Standard output cannot be written.
    Print(io::Error),
}

impl CommandError {
    /// Returns 2 for wrong use, as clap does, and 1 for other errors. Returns 0 if the reader has
    /// closed the output.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Print(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Self::Run(_) | Self::Data(_) | Self::Print(_) => ExitCode::FAILURE,
        }
    }

    /// The message; `None` if the reader has closed the output.
    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Self::Print(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
            other => Some(other.to_string()),
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Data(message) => f.write_str(message),
            Self::Run(error) => f.write_str(&run_message(error)),
            Self::Print(error) => {
                write!(
                    f,
                    "cannot write to standard output: {error}; check the program or file that \
                     receives it"
                )
            }
        }
    }
}

/// Returns the message of an error, with the names of options and the command that is the remedy.
pub(crate) fn run_message(error: &Error) -> String {
    match error {
        Error::Find(FindError::Index(error)) => index_message(error),
        Error::Add(AddError::NotAdded { place, error }) => {
            format!("{place}: {}", index_message(error))
        }
        Error::Audit(audit) if matches!(**audit, AuditError::NotARun { .. }) => {
            error.spelled(option_name) + " (`find --json > report.json`)"
        }
        error => error.spelled(option_name),
    }
}

/// Like [`run_message`], for an error of an index.
pub(crate) fn index_message(error: &IndexError) -> String {
    if let IndexError::InUse { service: Some(address), .. } = error {
        return format!(
            "{}: `lookalike index add {address} …`; update, remove, export, compact, check and \
             backup also take this address",
            error.spelled(option_name)
        );
    }
    let command = match error {
        IndexError::Missing { .. } => "`lookalike index create`",
        IndexError::Exists { .. } => "`lookalike index add`",
        IndexError::NotBuilt { .. } => {
            "`cargo install --path crates/lookalike-cli --features …`; `lookalike --version` lists \
             the features of this build"
        }
        IndexError::ReadOnly { cause: Unwritable::FileSystem | Unwritable::Server, .. } => {
            "`lookalike query`, `lookalike serve --read-only`"
        }
        IndexError::Damaged { .. } => "`lookalike index check`",
        IndexError::DamagedCatalogue { .. } => {
            "`lookalike index restore`, `lookalike index export`"
        }
        _ => return error.spelled(option_name),
    };
    format!("{} ({command})", error.spelled(option_name))
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        match error {
            Error::Find(FindError::Params(error)) => error.into(),
            Error::Find(FindError::Read(error)) => error.into(),
            Error::Find(FindError::Index(error)) => error.into(),
            Error::Find(FindError::Estimates(_))
            | Error::Contamination(ContaminationError::Ngram { .. }) => {
                Self::Usage(error.spelled(option_name))
            }
            Error::Output(OutputError::Write { path, source }) if path == Path::new("-") => {
                Self::Print(source)
            }
            error => Self::Run(error),
        }
    }
}

macro_rules! from_use_cases {
    ($($error:ident),*) => {
        $(impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Error::from(error).into()
            }
        })*
    };
}

from_use_cases!(
    FindError,
    OutputError,
    DedupError,
    AddError,
    AuditError,
    ContaminationError,
    DecisionError,
    JobError
);

impl std::error::Error for CommandError {}

impl From<ParamsError> for CommandError {
    fn from(error: ParamsError) -> Self {
        Self::Usage(error.spelled(option_name))
    }
}

impl From<ReadError> for CommandError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::NoInputs
            | ReadError::StdinTwice
            | ReadError::ReadTwice { .. }
            | ReadError::Filter { .. }
            | ReadError::Params(_) => Self::Usage(error.spelled(option_name)),
            ReadError::Index(error) if matches!(*error, IndexError::NotBuilt { .. }) => {
                (*error).into()
            }
            error => Self::Run(error.into()),
        }
    }
}

impl From<IndexError> for CommandError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::NearestMeasure { got, expected } => Self::Usage(format!(
                "--nearest needs an index with --measure {expected}, but this index has --measure \
                 {got}; use a low --threshold instead of --nearest, or create another index"
            )),
            IndexError::Params(_)
            | IndexError::Filter { .. }
            | IndexError::OtherSettings { .. }
            | IndexError::NotBuilt { .. } => Self::Usage(index_message(&error)),
            error => Self::Run(error.into()),
        }
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::Print(error)
    }
}

/// Returns the error of a `dedup` request that the inputs do not allow. `action` is the option for
/// the action on files, and `folder` is the folder of this option.
pub(crate) fn of_dedup_request(
    error: DedupError,
    action: Option<&str>,
    folder: Option<&Path>,
) -> CommandError {
    match (&error, action) {
        (DedupError::NotFiles { source_name }, Some(option)) => CommandError::Usage(format!(
            "{option} is for inputs that are files of one document each, and {source_name} holds \
             records or is an archive; --output writes the kept documents"
        )),
        (DedupError::Survivors { path, .. }, Some(option)) if folder == Some(path) => {
            CommandError::Usage(format!("{option}: {}", error.spelled(option_name)))
        }
        (DedupError::Survivors { .. } | DedupError::Output(OutputError::Taken(_)), _) => {
            CommandError::Usage(error.spelled(option_name))
        }
        _ => error.into(),
    }
}

/// Returns the error of `dedup --add`. The message names the index if the index has another text
/// for an id.
pub(crate) fn of_added_documents(error: DedupError, index: Option<&Index>) -> CommandError {
    match (error, index) {
        (DedupError::Find(FindError::Index(IndexError::IdTaken { id })), Some(index)) => {
            CommandError::Data(format!(
                "{}: the index already has a document {id:?} with another text; the documents \
                 before it in the input were added. Choose another id, or remove the document from \
                 the index",
                index.name()
            ))
        }
        (error, _) => error.into(),
    }
}

/// The error of `index add`, with the options that skip a document.
pub(crate) fn of_index_add(error: CommandError) -> CommandError {
    match error {
        CommandError::Run(Error::Add(AddError::NotAdded {
            place,
            error: IndexError::IdTaken { id },
        })) => id_taken(&place, &id),
        error @ CommandError::Run(Error::Add(_)) => {
            CommandError::Data(format!("{error}; --skip-bad leaves out such documents"))
        }
        error => error,
    }
}

/// Returns the error of a stage of a job. `is_plan` is true for the stage `plan`. The other stages
/// open the inputs of a plan.
pub(crate) fn of_job_stage(error: CommandError, is_plan: bool) -> CommandError {
    let CommandError::Run(Error::Find(FindError::Read(error))) = error else { return error };
    match error {
        ReadError::NotAgain { source_name } => CommandError::Usage(format!(
            "{source_name} is a stream or an index, and each task reads the inputs from files; \
             write its documents to a file (`lookalike index export` for an index), and name \
             that"
        )),
        ReadError::Missing { path } if is_plan => {
            CommandError::Data(format!("{path}: no such file or folder; check the name"))
        }
        ReadError::Missing { path } => missing_in_task(Path::new(&path)),
        error => CommandError::Run(error.into()),
    }
}

/// The error of a task if a file of the plan is missing.
pub(crate) fn missing_in_task(path: &Path) -> CommandError {
    let remedy = if path.is_relative() {
        "names in the plan are relative to the folder in which `lookalike shard plan` ran: run \
         tasks there, or make a new plan with absolute names"
    } else {
        "the plan names it: tasks need it under this name on all machines"
    };
    CommandError::Data(format!("{}: no such file or folder; {remedy}", path.display()))
}

/// The error of a document whose id the index contains. `place` is where the document was read.
pub(crate) fn id_taken(place: &dyn fmt::Display, id: &str) -> CommandError {
    CommandError::Data(format!(
        "{place}: the index already contains document {id:?}; `index update` replaces it, \
         --skip-existing keeps it"
    ))
}

/// The error of the stage `components`, which refuses repeated ids even with `--skip-bad`.
pub(crate) fn of_job_components(error: JobError, has_ids_by_file: bool) -> CommandError {
    match error {
        JobError::Find(FindError::RepeatedId { id, first, second }) if first != second => {
            let helps = !has_ids_by_file && first.source() != second.source();
            let by_file = if helps {
                "--ids-by-file puts the names of files before the ids of records in folders, "
            } else {
                ""
            };
            CommandError::Data(format!(
                "the id {id:?} occurs at {first} and again at {second}; ids must be unique in a \
                 job, even with --skip-bad. Give each document an id of its own, and make a new \
                 plan: {by_file}--id-field names another field, --id-field :line makes ids of file \
                 names and line numbers"
            ))
        }
        error => error.into(),
    }
}
