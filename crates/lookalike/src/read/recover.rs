//! Errors of one file among many → entries of the list of skipped files.

use super::column_error::{NO_PARQUET, PARQUET_STREAM, column, column_type};
use super::error::{Field, ReadError, SkipReason, Skipped};
use std::fmt;
use std::io;

/// The inner value of an [`io::Error`]: a stream has more bytes than a limit allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct OverLimit {
    pub(super) limit: u64,
    pub(super) option: &'static str,
}

/// The option whose limit ends a run, since it must not change what a run finds.
pub(super) const MEMORY: &str = "--memory";

impl OverLimit {
    /// Whether the limit is that of the memory.
    pub(super) fn is_memory(self) -> bool {
        self.option == MEMORY
    }

    pub(super) fn reason(self) -> SkipReason {
        SkipReason::OverLimit { limit: self.limit, option: self.option.into() }
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

/// Why bytes cannot be read.
pub(super) fn unreadable(error: &io::Error) -> SkipReason {
    let over = error.get_ref().and_then(|inner| inner.downcast_ref::<OverLimit>());
    over.map_or_else(|| SkipReason::Unreadable { message: error.to_string() }, |over| over.reason())
}

impl ReadError {
    /// The error of a file with more bytes than a limit allows names the limit as the cause.
    pub(super) fn with_limit(self) -> Self {
        match self {
            Self::Io { source_name: source, error } => match unreadable(&error) {
                reason @ SkipReason::OverLimit { .. } => {
                    Self::BadRecord(Skipped { source, line: None, id: None, reason })
                }
                _ => Self::Io { source_name: source, error },
            },
            other => other,
        }
    }

    /// The entry for a file that cannot be read, or cannot be read to its end.
    ///
    /// # Errors
    /// The error itself where it is about more than one file, as that of a field that an option
    /// names.
    pub(super) fn into_skipped(self) -> Result<Skipped, Self> {
        let whole = |source, reason| Skipped { source, line: None, id: None, reason };
        let not_records = |problem| SkipReason::NotRecords { problem };
        Ok(match self {
            Self::Column { field: Field::Further, .. }
            | Self::ColumnType { field: Field::Further, .. } => return Err(self),
            Self::BadRecord(skipped) => skipped,
            Self::Io { source_name, error } => whole(source_name, unreadable(&error)),
            Self::Column { source_name, field, name, found, present } => {
                whole(source_name, not_records(column(field, &name, found, &present)))
            }
            Self::ColumnType { source_name, field, name, got, present } => {
                whole(source_name, not_records(column_type(field, &name, &got, &present)))
            }
            Self::Parquet { source_name, problem } => {
                let message = format!("it is no whole Parquet file: {problem}");
                whole(source_name, SkipReason::Unreadable { message })
            }
            Self::ParquetStream { source_name } => {
                whole(source_name, not_records(PARQUET_STREAM.to_owned()))
            }
            Self::NoParquet { source_name } => {
                whole(source_name, not_records(NO_PARQUET.to_owned()))
            }
            Self::RecordTooLong { source_name, line } => {
                Skipped { line: Some(line), ..whole(source_name, SkipReason::TooLong) }
            }
            other => return Err(other),
        })
    }
}
