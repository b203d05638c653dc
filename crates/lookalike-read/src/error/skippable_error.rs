//! Converts errors of one file among many to entries of the list of skipped files.

use crate::error::ReadError;
use crate::error::skipped::{SkipReason, SkippedItem};
use crate::error::table_problem::Field;
use lookalike_core::parameter::Parameter;
use lookalike_extract::ExtractError;
use std::fmt;
use std::io;

/// The inner value of the [`io::Error`] for a stream that has more bytes than a limit allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OverLimit {
    pub(crate) limit: u64,
    pub(crate) parameter: Parameter,
}

impl OverLimit {
    /// Returns true for a memory limit. Exceeding it ends a run, because a memory limit must not
    /// change the findings.
    pub(crate) fn is_memory(self) -> bool {
        self.parameter == Parameter::Memory
    }

    pub(crate) fn reason(self) -> SkipReason {
        SkipReason::OverLimit { limit: self.limit, parameter: self.parameter }
    }
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason().fmt(f)
    }
}

impl std::error::Error for OverLimit {}

impl From<OverLimit> for io::Error {
    fn from(over: OverLimit) -> Self {
        Self::other(over)
    }
}

/// The reason why bytes cannot be read.
pub(crate) fn unreadable(error: &io::Error) -> SkipReason {
    let inner = error.get_ref();
    if let Some(over) = inner.and_then(|inner| inner.downcast_ref::<OverLimit>()) {
        return over.reason();
    }
    match inner.and_then(|inner| inner.downcast_ref::<ExtractError>()) {
        Some(failure) => SkipReason::NoText { failure: failure.clone(), content: None },
        None => SkipReason::Unreadable { message: error.to_string() },
    }
}

impl ReadError {
    /// Replaces the error of a file that exceeds a limit by an error that names the limit.
    pub(crate) fn with_limit(self) -> Self {
        match self {
            Self::Io { source_name, error } => match unreadable(&error) {
                reason @ (SkipReason::OverLimit { .. } | SkipReason::NoText { .. }) => {
                    Self::BadRecord(Box::new(SkippedItem::whole(source_name, reason)))
                }
                _ => Self::Io { source_name, error },
            },
            other => other,
        }
    }

    /// Converts the error of a file that cannot be read completely to an entry of the list.
    ///
    /// # Errors
    /// The error itself if it concerns more than one file, such as an error about a field that an
    /// option names.
    pub(crate) fn into_skipped(self) -> Result<SkippedItem, Self> {
        Ok(match self {
            Self::Table { ref problem, .. } if problem.field() == Some(Field::Extra) => {
                return Err(self);
            }
            Self::BadRecord(skipped) => *skipped,
            Self::Io { source_name, error } => SkippedItem::whole(source_name, unreadable(&error)),
            Self::Table { source_name, problem } => SkippedItem::whole(
                source_name,
                SkipReason::NotRecords { problem: Box::new(problem) },
            ),
            Self::Parquet { source_name, problem } => {
                let message = format!("it is not a complete Parquet file: {problem}");
                SkippedItem::whole(source_name, SkipReason::Unreadable { message })
            }
            Self::RecordTooLong { source_name, line } => SkippedItem {
                line: Some(line),
                ..SkippedItem::whole(source_name, SkipReason::TooLong)
            },
            other => return Err(other),
        })
    }
}
