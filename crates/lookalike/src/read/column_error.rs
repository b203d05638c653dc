//! Messages about tables that lack columns, or cannot be read at all.

use super::error::Field;

pub(super) const PARQUET_STREAM: &str = "Parquet cannot be read from a pipe or through gzip or \
                                         zstd, since its table of contents is at the end; name an \
                                         uncompressed file";
pub(super) const NO_PARQUET: &str = "this program was built without Parquet; build it with \
                                     --features parquet, or convert the file to JSONL";

/// What is wrong with a column of values, and the remedy.
pub(super) fn column_type(field: Field, name: &str, got: &str, present: &[String]) -> String {
    let expected = match field {
        Field::Id => "strings or whole numbers",
        Field::Text => "strings",
        Field::Further => "strings, numbers or booleans",
    };
    format!(
        "the column {name:?} must hold {expected}, it holds {got}; the file has {}; name the \
         column with {}",
        present.join(", "),
        field.option()
    )
}

/// What is wrong with a header, and the remedy.
pub(super) fn column(field: Field, name: &str, found: usize, present: &[String]) -> String {
    let option = field.option();
    let or_lines = match field {
        Field::Id => " or make ids of file and line with --line-ids",
        Field::Text | Field::Further => "",
    };
    match (found, present) {
        (0, []) => "it is empty, and a table needs a first line that names its columns; write one"
            .to_owned(),
        (0, _) => format!(
            "no column {name:?} in the header, which has {}; name the column with \
             {option}{or_lines}",
            present.join(", ")
        ),
        _ => format!(
            "{found} columns are called {name:?}; rename one, or name another with {option}"
        ),
    }
}
