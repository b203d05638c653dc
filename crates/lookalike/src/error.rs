//! One error for front ends that run several use cases.

use crate::audit::AuditError;
use crate::contamination::ContaminationError;
use crate::dedup::DedupError;
use crate::engine::FindError;
use crate::error_macros::{wraps_error, wraps_find_error};
use crate::index::AddError;
use crate::report::OutputError;
use crate::shard::ShardError;
use crate::shard::job::JobError;
use lookalike_core::parameter::{NamesParameters, ParameterSpelling};
use std::fmt;

/// An error of any use case. Each cause has one form: errors of the engine are always in `Find`,
/// and errors of outputs in `Output`, regardless of the use case.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Documents could not be read or compared.
    Find(FindError),
    /// Results could not be written.
    Output(OutputError),
    /// The result of `dedup` could not be written.
    Dedup(Box<DedupError>),
    /// A document was not added to an index.
    Add(AddError),
    /// A report does not fit its documents.
    Audit(Box<AuditError>),
    /// A benchmark cannot be compared with a corpus.
    Contamination(ContaminationError),
    /// The rows of a stage do not fit the documents.
    Shard(ShardError),
    /// A task of a job in files failed.
    Job(Box<JobError>),
}

wraps_find_error!(
    Error,
    Self::Output(error) => error.source(),
    Self::Contamination(error) => error.source()
);
wraps_error!(Error::Output(OutputError: Find));
wraps_error!(Error::Dedup(DedupError: Find, Output));
wraps_error!(Error::Add(AddError: Find));
wraps_error!(Error::Audit(AuditError: Find));
wraps_error!(Error::Contamination(ContaminationError: Find));
wraps_error!(Error::Shard(ShardError: Find));
wraps_error!(Error::Job(JobError: Find, Output));

impl NamesParameters for Error {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::Find(error) => error.fmt_with(f, name),
            Self::Output(error) => error.fmt_with(f, name),
            Self::Dedup(error) => error.fmt_with(f, name),
            Self::Add(error) => error.fmt_with(f, name),
            Self::Audit(error) => error.fmt_with(f, name),
            Self::Contamination(error) => error.fmt_with(f, name),
            Self::Shard(error) => error.fmt_with(f, name),
            Self::Job(error) => error.fmt_with(f, name),
        }
    }
}
