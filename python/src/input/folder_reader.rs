//! Reads a folder as tables: a table of documents and a table of skipped items for each block.

use crate::arrow::table::ArrowTable;
use crate::arrow::text_column::TextColumn;
use crate::error::{read_error, run_error};
use crate::options::KeywordOptions;
use crate::results::skipped::SkippedColumns;
use arrow_array::builder::Int64Builder;
use lookalike::error::Error;
use lookalike::read::{
    Collection, Document, DocumentSink, ReadBuffers, ReadError, ReadOptions, SkippedItem,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// Reads a folder block by block. The command line reads the same documents if the
/// folder is its only input.
#[pyclass(name = "FolderReader", module = "lookalike._engine")]
pub(crate) struct FolderReader {
    collection: Collection,
    fields: Vec<String>,
    /// Items that the walk of the folder skipped. The first block returns them.
    listed: Vec<SkippedItem>,
}

#[pymethods]
impl FolderReader {
    /// `fields` names additional values of each document. With `ids_by_file`, the ids of records
    /// begin with the name of their file.
    #[new]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        options: &Bound<'_, PyDict>,
        fields: Vec<String>,
        ids_by_file: bool,
    ) -> PyResult<Self> {
        let keywords = KeywordOptions::new(options)?;
        let reading =
            keywords.reading(keywords.normalization()?, crate::extraction::options(py)?)?;
        keywords.finish()?;
        let reading = ReadOptions { fields: fields.clone(), ..reading };
        let collection = py.detach(|| Collection::open(&[folder], &reading)).map_err(read_error)?;
        if ids_by_file {
            collection.name_ids_by_file();
        }
        let listed = collection.listed().to_vec();
        Ok(Self { collection, fields, listed })
    }

    /// Returns the documents and the skipped items of the next block; `None` after the last block.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<(ArrowTable, ArrowTable)>> {
        let Self { collection, fields, listed } = self;
        let rows = py.detach(|| -> Result<Option<FolderRows>, Error> {
            let block = collection.next_block_in_order()?;
            if block.is_none() && listed.is_empty() {
                return Ok(None);
            }
            let mut rows = FolderRows::new(fields.len());
            listed.drain(..).for_each(|item| rows.skipped.push(&item));
            if let Some(block) = block {
                block.read(&mut ReadBuffers::default(), &mut rows)?;
            }
            Ok(Some(rows))
        });
        rows.map_err(run_error)?.map(|rows| rows.tables(fields)).transpose()
    }
}

/// Columns of documents: `id`, `text`, `modified` (in ns since 1970), and one for each field.
struct FolderRows {
    ids: TextColumn,
    texts: TextColumn,
    modified: Int64Builder,
    fields: Vec<TextColumn>,
    skipped: SkippedColumns,
}

impl FolderRows {
    fn new(fields: usize) -> Self {
        Self {
            ids: TextColumn::default(),
            texts: TextColumn::default(),
            modified: Int64Builder::new(),
            fields: (0..fields).map(|_| TextColumn::default()).collect(),
            skipped: SkippedColumns::new(false),
        }
    }

    fn tables(mut self, names: &[String]) -> PyResult<(ArrowTable, ArrowTable)> {
        let mut columns = vec![
            ("id", self.ids.finish(), false),
            ("text", self.texts.finish(), false),
            ("modified", Arc::new(self.modified.finish()) as _, true),
        ];
        let fields = self.fields.iter_mut().zip(names);
        columns.extend(fields.map(|(column, name)| (name.as_str(), column.finish(), true)));
        Ok((ArrowTable::new(columns)?, self.skipped.table()?))
    }
}

impl DocumentSink for FolderRows {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        self.ids.push(Some(document.id));
        self.texts.push(Some(document.text));
        let modified = document.modified.and_then(|modified| i64::try_from(modified).ok());
        self.modified.append_option(modified);
        for (column, value) in self.fields.iter_mut().zip(document.fields) {
            column.push(*value);
        }
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), ReadError> {
        self.skipped.push(&skipped);
        Ok(())
    }
}
