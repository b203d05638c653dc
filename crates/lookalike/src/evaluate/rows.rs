//! Reads a Parquet table of pairs or groups as lines of comma-separated values, so that one parser
//! handles both formats.

use crate::engine::FindError;
use crate::read::{
    Collection, Document, DocumentSink, Format, ReadBuffers, ReadError, ReadOptions, SkippedItem,
};
use csv::Writer;
use std::path::Path;

/// The columns of the tables in `docs/reference/report.md`. The first two are texts.
const LAYOUTS: [&[&str]; 7] = [
    &["id_a", "id_b", "jaccard", "estimated_jaccard", "error", "standard_error"],
    &["id_a", "id_b", "jaccard", "containment"],
    &["id_a", "id_b", "jaccard"],
    &["id_a", "id_b"],
    &["id", "keeper", "group", "role", "jaccard", "containment"],
    &["id", "keeper", "group", "role", "jaccard"],
    &["id", "cluster"],
];

/// Returns all lines of a file in memory, the header first.
pub(super) fn lines(path: &Path) -> Result<Vec<u8>, FindError> {
    for columns in LAYOUTS {
        match of_layout(path, columns) {
            Err(FindError::Read(ReadError::Table { .. })) => {}
            other => return other,
        }
    }
    Err(FindError::Table {
        path: path.to_owned(),
        line: 0,
        problem:
            "expected a Parquet table with the columns id_a and id_b, or id, keeper, group and \
                  role, or id and cluster"
                .to_owned(),
    })
}

fn of_layout(path: &Path, columns: &[&str]) -> Result<Vec<u8>, FindError> {
    let [id, text, further @ ..] = columns else { return Ok(Vec::new()) };
    let options = ReadOptions {
        format: Some(Format::Parquet),
        id_field: (*id).to_owned(),
        text_field: (*text).to_owned(),
        fields: further.iter().map(|name| (*name).to_owned()).collect(),
        ..ReadOptions::default()
    };
    let collection = Collection::open(&[path.to_owned()], &options)?;
    let mut lines = RowReader { csv: Writer::from_writer(Vec::new()) };
    lines.write(columns)?;
    let mut scratch = ReadBuffers::default();
    while let Some(block) = collection.next_block()? {
        block.read(&mut scratch, &mut lines)?;
    }
    lines.csv.into_inner().map_err(|error| FindError::of_io(error.into_error()))
}

struct RowReader {
    csv: Writer<Vec<u8>>,
}

impl RowReader {
    fn write(&mut self, values: &[&str]) -> Result<(), FindError> {
        self.csv.write_record(values).map_err(|error| FindError::of_io(error.into()))
    }
}

impl DocumentSink for RowReader {
    type Error = FindError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        let further = document.fields.iter().map(|value| value.unwrap_or_default());
        let values: Vec<&str> = [document.id, document.text].into_iter().chain(further).collect();
        self.write(&values)
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), FindError> {
        Ok(())
    }
}
