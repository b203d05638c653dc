//! Reasons why a file is not read as a table of records.

use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Field {
    /// The id.
    Id,
    /// The text.
    Text,
    /// One of [`ReadOptions::fields`](crate::ReadOptions::fields).
    #[serde(rename = "Further")]
    Extra,
}

/// The reason why a file is not read as a table of records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableProblem {
    /// The header does not name the column exactly once.
    Column {
        /// The field for which the column is needed.
        field: Field,
        /// Its name.
        name: String,
        /// The number of columns with this name: 0, or more than 1.
        found: usize,
        /// The columns of the header.
        present: Vec<String>,
    },
    /// The header has more columns than a table may have. A first line that consists of delimiters
    /// would take many times its length in memory.
    TooManyColumns {
        /// The number of columns.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// A column of a Parquet file has an unsupported type.
    ColumnType {
        /// The field for which the column is needed.
        field: Field,
        /// Its name.
        name: String,
        /// Its type.
        got: String,
        /// The columns of the file, with their types.
        present: Vec<String>,
    },
    /// Parquet in a pipe, or inside gzip or zstd.
    ParquetStream,
    /// Parquet in a build without support for it.
    NoParquet,
}

impl TableProblem {
    /// The field of the problem's column, if it concerns a column.
    pub fn field(&self) -> Option<Field> {
        match self {
            Self::Column { field, .. } | Self::ColumnType { field, .. } => Some(*field),
            Self::TooManyColumns { .. } | Self::ParquetStream | Self::NoParquet => None,
        }
    }
}

impl NamesParameters for TableProblem {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::Column { found: 0, present, .. } if present.is_empty() => {
                f.write_str("the input is empty; a table needs a first line with the column names")
            }
            Self::Column { field, name: column, found: 0, present } => write!(
                f,
                "no column {column:?} in the header, which has {}; name {} with {}{}",
                present.join(", "),
                match field {
                    Field::Id => "the id column",
                    Field::Text => "the text column",
                    Field::Extra => "another column",
                },
                option(*field, name),
                or_lines(*field, name)
            ),
            Self::Column { field, name: column, found, .. } => write!(
                f,
                "{found} columns have the name {column:?}; rename one, or choose another column \
                 with {}",
                option(*field, name)
            ),
            Self::TooManyColumns { found, most } => write!(
                f,
                "the header has {found} columns, and a table has at most {most}; keep only the \
                 columns that you need, or convert the file to JSONL"
            ),
            Self::ColumnType { field, name: column, got, present } => write!(
                f,
                "the column {column:?} must contain {}, but has type {got}; the columns are {}; \
                 name another column with {}",
                match field {
                    Field::Id => "strings or whole numbers",
                    Field::Text => "strings",
                    Field::Extra => "strings, numbers or booleans",
                },
                present.join(", "),
                option(*field, name)
            ),
            Self::ParquetStream => f.write_str(
                "Parquet cannot be read from a pipe or through gzip or zstd, because its index is \
                 at the end of the file; name an uncompressed Parquet file",
            ),
            Self::NoParquet => f.write_str(
                "this program was built without Parquet; build it with the feature `parquet`, or \
                 convert the file to JSONL",
            ),
        }
    }
}

/// The parameter that names the column.
fn option(field: Field, name: ParameterSpelling) -> String {
    match field {
        Field::Id => name(Parameter::IdField),
        Field::Text => name(Parameter::TextField),
        Field::Extra => "the option that selects it".to_owned(),
    }
}

fn or_lines(field: Field, name: ParameterSpelling) -> String {
    match field {
        Field::Id => {
            format!(", or use file and line as ids with {}", name(Parameter::LineIds))
        }
        Field::Text | Field::Extra => String::new(),
    }
}
