//! Skipped documents, records and files, with the reasons.

use crate::error::table_problem::{Field, TableProblem};
use crate::measure::{Content, MAX_DOCUMENT_BYTES};
use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use lookalike_extract::{ExtractError, LimitKind};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A document, record or file that was not read, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedItem {
    /// The file, as a path relative to the working directory of the inputs, or `stdin`.
    pub source: String,
    /// The line on which the record begins, or its row in a Parquet file, from 1; `None` for a
    /// whole file.
    pub line: Option<u64>,
    /// The record's id, if it has a readable one.
    pub id: Option<String>,
    /// The reason.
    pub reason: SkipReason,
}

impl SkippedItem {
    /// A file or stream that was not read as a whole.
    pub fn whole(source: impl Into<String>, reason: SkipReason) -> Self {
        Self { source: source.into(), line: None, id: None, reason }
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }
}

impl NamesParameters for SkippedItem {
    /// `file:line: reason`.
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: ", self.source)?,
            None => write!(f, "{}: ", self.source)?,
        }
        self.reason.fmt_with(f, name)
    }
}

impl fmt::Display for SkippedItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with(f, Parameter::plain)
    }
}

/// The reason why a document was not read. `Display` writes a phrase that follows a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SkipReason {
    /// The name, or the name of a parent folder, begins with a dot.
    Hidden,
    /// An ignore file excludes it.
    Ignored,
    /// Named like a file of the operating system or the lock of an office program.
    SystemFile,
    /// An earlier input is the same file.
    ReachedTwice,
    /// A reference is the same file.
    IsReference,
    /// A symbolic link that was not followed.
    SymbolicLink,
    /// Neither a file nor a folder: a pipe, a socket, a device.
    NotAFile,
    /// It contains a NUL byte.
    Binary,
    /// No text could be extracted from a file that is not plain text.
    NoText {
        /// The cause.
        failure: ExtractError,
        /// The hash of its bytes, if these were read. Files with equal hashes are copies.
        content: Option<Box<Content>>,
    },
    /// The system refused access. Also for a symbolic link to one of the folders that contain the
    /// link, and for broken compressed data.
    Unreadable {
        /// The message of the system.
        message: String,
    },
    /// Longer than [`MAX_DOCUMENT_BYTES`](crate::MAX_DOCUMENT_BYTES).
    TooLong,
    /// A file of records that cannot be read as such.
    NotRecords {
        /// The problem.
        problem: Box<TableProblem>,
    },
    /// A file of records or an archive without contents.
    NoContent,
    /// More bytes than a limit allows.
    OverLimit {
        /// The limit, in bytes.
        limit: u64,
        /// The parameter that sets it.
        #[serde(with = "parameter_name")]
        parameter: Parameter,
    },
    /// The document cannot be stored in an index.
    NotStored {
        /// The problem and the remedy.
        why: String,
    },
    /// Bytes that are not UTF-8.
    NotUtf8 {
        /// The position of the first invalid byte, from the start of the record, from 1.
        column: u64,
    },
    /// Not JSON.
    BrokenJson {
        /// The expected syntax.
        expected: Cow<'static, str>,
        /// The actual characters.
        got: Box<str>,
        /// The position in characters from the start of the line, from 1.
        column: u64,
    },
    /// JSON, but not an object.
    NotAnObject {
        /// The kind of the value.
        got: Cow<'static, str>,
    },
    /// The object has no such field.
    MissingField {
        /// The field.
        field: Field,
        /// Its name.
        name: String,
        /// The names of the record's fields, up to 20.
        present: Vec<String>,
    },
    /// The field holds a value of another type.
    WrongType {
        /// The field.
        field: Field,
        /// Its name.
        name: String,
        /// The kind of the value.
        got: Cow<'static, str>,
    },
    /// The id has no characters.
    EmptyId,
    /// The value contains `\ud800` to `\udfff` without the other half: legal JSON, but not a text.
    LoneSurrogate {
        /// The field.
        field: Field,
        /// Its name.
        name: String,
    },
    /// A record of separated values whose number of values differs from the header.
    FieldCount {
        /// Number of columns of the header.
        expected: usize,
        /// Number of values of the record.
        got: usize,
    },
    /// A quoted value that never ends.
    UnclosedQuote,
    /// The row has no value in the column.
    Null {
        /// The field.
        field: Field,
        /// The column's name.
        name: String,
    },
    /// An earlier document has the same id.
    RepeatedId {
        /// The place of the earlier document.
        first: String,
    },
}

impl SkipReason {
    /// Returns true if a record is bad, or if a file cannot be read to its end. If bad records are
    /// not skipped, a run over a folder then ends with an exit code that indicates this.
    pub fn is_fault(&self) -> bool {
        matches!(
            self,
            Self::Unreadable { .. }
                | Self::NotUtf8 { .. }
                | Self::BrokenJson { .. }
                | Self::NotAnObject { .. }
                | Self::MissingField { .. }
                | Self::WrongType { .. }
                | Self::EmptyId
                | Self::LoneSurrogate { .. }
                | Self::FieldCount { .. }
                | Self::UnclosedQuote
                | Self::Null { .. }
        )
    }

    /// Writes the remedies other than skipping.
    pub(crate) fn fmt_remedy(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: ParameterSpelling,
    ) -> fmt::Result {
        let id = Parameter::IdField;
        let text = Parameter::TextField;
        match self {
            Self::NotUtf8 { .. } => write!(
                f,
                "name the file's encoding with {} (windows-1252, shift_jis, …), or ",
                name(Parameter::Encoding)
            ),
            Self::MissingField { field: Field::Id, .. } => write!(
                f,
                "name the field with {}, use file and line as ids with {}, or ",
                name(id),
                name(Parameter::LineIds)
            ),
            Self::MissingField { field: Field::Text, .. } => {
                write!(f, "name the field with {}, or ", name(text))
            }
            Self::WrongType { field: Field::Id, .. }
            | Self::Null { field: Field::Id, .. }
            | Self::EmptyId => write!(
                f,
                "name another field with {}, use file and line as ids with {}, or ",
                name(id),
                name(Parameter::LineIds)
            ),
            Self::WrongType { field: Field::Text, .. } | Self::Null { field: Field::Text, .. } => {
                write!(f, "name another field with {}, or ", name(text))
            }
            Self::Binary | Self::NoText { .. } => f.write_str("leave the file out, or "),
            Self::OverLimit { .. } => f.write_str("raise the limit, or "),
            _ => f.write_str("fix the record, or "),
        }
    }
}

impl NamesParameters for SkipReason {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::RepeatedId { first } => write!(f, "the id is already used at {first}"),
            Self::Hidden => write!(f, "hidden ({} reads it)", name(Parameter::Hidden)),
            Self::Ignored => {
                write!(f, "left out by an ignore file ({} reads it)", name(Parameter::NoIgnore))
            }
            Self::SystemFile => f.write_str(
                "a file of the system, or the lock of an office program (it is read if it is \
                 named)",
            ),
            Self::ReachedTwice => f.write_str("found a second time, read once"),
            Self::IsReference => f.write_str("also in the reference, read only as reference"),
            Self::SymbolicLink => {
                write!(f, "a symbolic link ({} reads it)", name(Parameter::Follow))
            }
            Self::NotAFile => f.write_str("neither a file nor a folder"),
            Self::Binary => f.write_str("binary: it holds a NUL byte"),
            Self::NoText { failure, .. } => match limit_parameter(failure) {
                Some(parameter) => write!(f, "{failure} ({} allows more)", name(parameter)),
                None => write!(f, "{failure}"),
            },
            Self::Unreadable { message } => write!(f, "cannot be read: {message}"),
            Self::TooLong => {
                write!(f, "more than {MAX_DOCUMENT_BYTES} bytes, the maximum of a document")
            }
            Self::NotRecords { problem } => problem.fmt_with(f, name),
            Self::NoContent => f.write_str("empty: it has no content"),
            Self::OverLimit { limit, parameter } => {
                write!(f, "more than {limit} bytes, the most that {} allows", name(*parameter))
            }
            Self::NotStored { why } => write!(f, "{why}"),
            Self::NotUtf8 { column } => write!(f, "not UTF-8 at byte {column}"),
            Self::BrokenJson { expected, got, column } => {
                write!(f, "not JSON: expected {expected} at column {column}, got {got}")
            }
            Self::NotAnObject { got } => {
                write!(f, "expected a JSON object such as {{\"id\":…}}, got {got}")
            }
            Self::MissingField { name, present, .. } if present.is_empty() => {
                write!(f, "no field {name:?}; the record has none at all")
            }
            Self::MissingField { name, present, .. } => {
                write!(f, "no field {name:?}; the record has {}", present.join(", "))
            }
            Self::WrongType { field, name, got } => write!(
                f,
                "the field {name:?} must be {}, got {got}",
                match field {
                    Field::Id => "a string or a number",
                    Field::Text => "a string",
                    Field::Extra => "a value",
                }
            ),
            Self::EmptyId => f.write_str("the id is empty"),
            Self::Null { name, .. } => write!(f, "the column {name:?} is null in this row"),
            Self::LoneSurrogate { name, .. } => write!(
                f,
                "the field {name:?} holds half a surrogate pair (\\ud800 to \\udfff alone), which \
                 is not a character"
            ),
            Self::FieldCount { expected, got } => {
                write!(
                    f,
                    "the number of values differs from the header ({got} instead of {expected}); \
                     put quotes around values that contain the delimiter"
                )
            }
            Self::UnclosedQuote => {
                f.write_str("a quoted value begins in this record and never ends")
            }
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with(f, Parameter::plain)
    }
}

/// Serializes a [`Parameter`] as its name, for the files of a run.
mod parameter_name {
    use lookalike_core::parameter::Parameter;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn serialize<S: Serializer>(
        parameter: &Parameter,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        parameter.name().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Parameter, D::Error> {
        let name = String::deserialize(deserializer)?;
        Parameter::named(&name)
            .ok_or_else(|| D::Error::custom(format!("no parameter is called {name:?}")))
    }
}

/// The parameter for the limit that a file exceeded; `None` for other failures.
pub fn limit_parameter(failure: &ExtractError) -> Option<Parameter> {
    match failure {
        ExtractError::TooSlow { .. } => Some(Parameter::MaxSeconds),
        ExtractError::Limit { kind, .. } => match kind {
            LimitKind::Bytes => Some(Parameter::MaxFileSize),
            LimitKind::Expanded => Some(Parameter::MaxExpanded),
            LimitKind::Held => Some(Parameter::Memory),
            LimitKind::Depth | LimitKind::PartDepth => Some(Parameter::MaxDepth),
            LimitKind::Members | LimitKind::Parts => Some(Parameter::MaxMembers),
            LimitKind::Pages => Some(Parameter::MaxPages),
            _ => None,
        },
        _ => None,
    }
}
