//! The place from which a document was read.

use crate::error::ReadError;
use std::fmt;

/// The place from which a document was read, for messages and reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A whole file, member of an archive, or index, or a part of it without a line.
    Whole {
        /// Name of the file or index, `stdin` for standard input.
        source: String,
    },
    /// A record of a file or stream.
    Line {
        /// Name of the file, `stdin` for standard input.
        source: String,
        /// The line on which the record begins, or the row of a Parquet file, from 1.
        line: u64,
    },
    /// A row of documents in memory.
    Row {
        /// Name of the documents.
        source: String,
        /// The row, from 0.
        row: u64,
    },
}

impl Location {
    /// A line of a source, from 1, or the whole source if `None`.
    pub fn in_source(source: impl Into<String>, line: Option<u64>) -> Self {
        let source = source.into();
        match line {
            Some(line) => Self::Line { source, line },
            None => Self::Whole { source },
        }
    }

    /// Name of the file, the stream, the index or the documents in memory.
    pub fn source(&self) -> &str {
        let (Self::Whole { source } | Self::Line { source, .. } | Self::Row { source, .. }) = self;
        source
    }

    /// The line from 1, or the row from 0; `None` for a whole file.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Whole { .. } => None,
            Self::Line { line: number, .. } | Self::Row { row: number, .. } => Some(*number),
        }
    }

    /// The error of a document that has changed since it was read.
    pub(crate) fn changed(self, what: String) -> ReadError {
        let line = self.number();
        let (Self::Whole { source } | Self::Line { source, .. } | Self::Row { source, .. }) = self;
        ReadError::Changed { source_name: source, line, what }
    }
}

impl fmt::Display for Location {
    /// `source`, `source:line` or `row 3 of source`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { source } => f.write_str(source),
            Self::Line { source, line } => write!(f, "{source}:{line}"),
            Self::Row { source, row } => write!(f, "row {row} of {source}"),
        }
    }
}
