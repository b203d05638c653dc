//! Why survivors cannot be written.

use super::cut_problem::{CutPart, CutProblem};
use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use std::fmt;

/// Why survivors cannot be written, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SurvivorsProblem {
    /// A record already has a field of the annotation.
    FieldTaken {
        /// The document's id.
        id: String,
        /// The field.
        field: String,
    },
    /// A table already has a column of the annotation.
    ColumnTaken {
        /// The table.
        source_name: String,
        /// The column.
        column: String,
    },
    /// A part of a record can only be kept or removed together with the rest.
    PartOfRecord {
        /// The part's id.
        id: String,
    },
    /// A stream is one text and cannot be removed in part.
    OneText {
        /// The stream.
        source_name: String,
    },
    /// Messages of a mailbox cannot hold an annotation.
    AnnotatedMailbox {
        /// The mailbox.
        source_name: String,
    },
    /// Lines of an id and a text cannot hold an annotation.
    AnnotatedLines {
        /// The file.
        source_name: String,
    },
    /// Text files cannot hold an annotation.
    AnnotatedTextFiles,
    /// A list of paths cannot hold an annotation.
    AnnotatedPaths,
    /// Parts of texts cannot be cut out.
    Cut {
        /// The kind of parts to cut out.
        part: CutPart,
        /// The reason.
        problem: CutProblem,
    },
    /// Another problem, described without names of parameters.
    Other(String),
}

impl From<String> for SurvivorsProblem {
    fn from(problem: String) -> Self {
        Self::Other(problem)
    }
}

impl NamesParameters for SurvivorsProblem {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        let annotate = || name(Parameter::Annotate);
        let prefix = || name(Parameter::AnnotateField);
        match self {
            Self::FieldTaken { id, field } => write!(
                f,
                "the document {id:?} already has the field {field:?}; choose another name with {}",
                prefix()
            ),
            Self::ColumnTaken { source_name, column } => write!(
                f,
                "{source_name} already has a column {column:?}; choose another name with {}",
                prefix()
            ),
            Self::PartOfRecord { id } => write!(
                f,
                "{id:?} is a part of a record, which can only be removed as a whole; leave out {}",
                name(Parameter::Attachments)
            ),
            Self::OneText { source_name } => write!(
                f,
                "{source_name} is one text, from which nothing can be removed; name its format \
                 with {}, or name files",
                name(Parameter::Format)
            ),
            Self::AnnotatedMailbox { source_name } => write!(
                f,
                "the messages of {source_name} have no place for an annotation; leave out {} ({} \
                 FILE.csv lists the removed documents with reasons)",
                annotate(),
                name(Parameter::Removed)
            ),
            Self::AnnotatedLines { source_name } => write!(
                f,
                "the lines of {source_name} are an id and a text, without a place for an \
                 annotation; leave out {} ({} FILE.csv lists the removed documents with reasons), \
                 or convert the input to JSONL, CSV or Parquet",
                annotate(),
                name(Parameter::Removed)
            ),
            Self::AnnotatedTextFiles => write!(
                f,
                "text files have no place for an annotation; name a list that ends in .csv or \
                 .jsonl, or leave out {}",
                annotate()
            ),
            Self::AnnotatedPaths => write!(
                f,
                "a list of paths has no place for an annotation; write a list that ends in .csv \
                 or .jsonl, or leave out {}",
                annotate()
            ),
            Self::Other(problem) => f.write_str(problem),
            Self::Cut { part, problem } => problem.fmt_with(*part, f, name),
        }
    }
}
