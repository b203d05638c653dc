//! Converts a row group to packed rows, block after block.

use super::column::{self, ParquetColumn};
use super::pages::CheckedPages;
use super::{ParquetFile, guarded};
use crate::error::ReadError;
use crate::measure::MAX_DOCUMENT_BYTES;
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::SerializedPageReader;
use std::sync::Arc;

/// Approximate size in bytes of the values of a batch, and its maximum number of rows.
const BATCH_BYTES: u64 = 256 << 10;
const BATCH_ROWS: u64 = 1024;

/// A row group that is being read. Holds the current pages of each column.
pub(crate) struct RowGroup {
    columns: Vec<Box<dyn ParquetColumn>>,
    /// Number of rows that are not in the batches decoded so far.
    left: u64,
    /// Number of rows of a batch, and number of decoded rows that were not returned yet.
    batch: usize,
    ready: usize,
    /// The number of the next row in the file, from 0.
    row: u64,
    text: String,
}

impl RowGroup {
    pub(crate) fn open(
        table: &ParquetFile,
        group: usize,
        display_name: &str,
    ) -> std::result::Result<Self, ReadError> {
        guarded(display_name, || Self::decoder(table, group))
    }

    fn decoder(table: &ParquetFile, group: usize) -> Result<Self> {
        let missing = || ParquetError::General(format!("no row group {group}"));
        let meta = table.footer.row_groups().get(group).ok_or_else(missing)?;
        let rows = u64::try_from(meta.num_rows())?;
        let schema = table.footer.file_metadata().schema_descr();
        let mut columns = Vec::new();
        let mut bytes = 0_u64;
        for &(index, kind) in &table.columns {
            let (Some(chunk), Some(column)) =
                (meta.columns().get(index), schema.columns().get(index))
            else {
                return Err(missing());
            };
            if chunk.column_type() != column.physical_type() {
                return Err(ParquetError::General(format!(
                    "the column {} is {} in the schema and {} in row group {group}",
                    column.path().string(),
                    column.physical_type(),
                    chunk.column_type()
                )));
            }
            for offset in [chunk.dictionary_page_offset(), Some(chunk.data_page_offset())] {
                u64::try_from(offset.unwrap_or(0))?;
            }
            bytes = bytes.saturating_add(u64::try_from(chunk.uncompressed_size())?);
            u64::try_from(chunk.compressed_size())?;
            let file = Arc::new(table.file.clone());
            let pages = SerializedPageReader::new(file, chunk, usize::try_from(rows)?, None)?;
            let pages = CheckedPages { pages, kind: column.physical_type(), rows };
            columns.push(column::open(kind, Arc::clone(column), Box::new(pages)));
        }
        let batch = (BATCH_BYTES.saturating_mul(rows) / bytes.max(1)).clamp(1, BATCH_ROWS) as usize;
        let row = table.first_rows.get(group).copied().unwrap_or(0);
        Ok(Self { columns, left: rows, batch, ready: 0, row, text: String::new() })
    }

    /// Appends rows to `bytes` until it has `block_bytes`; at least one row, except at the end.
    /// Returns the number in the file, from 0, of the first appended row.
    pub(crate) fn next(
        &mut self,
        bytes: &mut Vec<u8>,
        block_bytes: usize,
        display_name: &str,
    ) -> std::result::Result<u64, ReadError> {
        let first = self.row;
        while bytes.len() < block_bytes {
            if self.ready == 0 {
                self.ready = guarded(display_name, || self.decode())?;
                if self.ready == 0 {
                    break;
                }
            }
            let start = bytes.len();
            for column in &mut self.columns {
                column.push(&mut self.text, bytes);
                if bytes.len() - start > MAX_DOCUMENT_BYTES {
                    let source_name = display_name.to_owned();
                    return Err(ReadError::RecordTooLong { source_name, line: self.row + 1 });
                }
            }
            self.ready -= 1;
            self.row += 1;
        }
        Ok(first)
    }

    /// Decodes the next batch of every column. Returns its number of rows.
    fn decode(&mut self) -> Result<usize> {
        let rows = self.batch.min(usize::try_from(self.left)?);
        for column in &mut self.columns {
            let got = column.fill(rows)?;
            if got != rows {
                return Err(ParquetError::EOF(format!(
                    "a column ends {} rows before the row group does",
                    self.left - got as u64
                )));
            }
        }
        self.left -= rows as u64;
        Ok(rows)
    }
}
