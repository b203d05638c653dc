//! Parts: what is kept of each block, in memory or in temporary files.
//!
//! [`Store`] takes parts from all threads; above its share of memory it writes those it holds as
//! one *chunk*, column after column, so that later a column is read in long stretches.

use super::columns::{Columns, Rows};
use super::memory::Budget;
use crate::digest::Digest;
use crate::error::Error;
use crate::read::{BlockNumber, Retained, Skipped};
use crate::spill::{SpillFile, TempSpace};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The documents of one source in a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) name: String,
    pub(super) documents: u64,
    pub(super) bytes: u64,
}

/// What is kept of one block.
pub(super) struct Part {
    pub(super) number: BlockNumber,
    pub(super) retained: Retained,
    /// Whether its documents are of a reference collection.
    pub(super) reference: bool,
    pub(super) documents: u32,
    /// Documents without tokens, by their place in the block.
    pub(super) empty: Vec<u32>,
    pub(super) labels: Vec<Label>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) digest: Digest,
    pub(super) data: Data,
}

/// Where a part's columns and rows are.
pub(super) enum Data {
    Memory { columns: Columns, rows: Rows },
    /// Columns: documents `within ..` of chunk `chunk`. Rows: their ends, then their bytes.
    Disk { chunk: u32, within: u32, rows_at: u64, rows_bytes: u64 },
}

/// Columns that were written together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    pub(super) at: u64,
    pub(super) documents: u32,
}

/// The temporary files of the parts.
pub(super) struct PartFiles {
    columns: SpillFile,
    rows: SpillFile,
}

impl PartFiles {
    fn create(temp: &TempSpace) -> Result<Self, Error> {
        let workspace = temp.workspace()?;
        Ok(Self { columns: workspace.create("columns")?, rows: workspace.create("rows")? })
    }

    /// One column of a chunk, into `values` (which is cleared).
    pub(super) fn column(
        &self,
        chunk: Chunk,
        column: usize,
        buffer: &mut Vec<u8>,
        values: &mut Vec<u64>,
    ) -> Result<(), Error> {
        let bytes = 8 * chunk.documents as usize;
        buffer.resize(bytes, 0);
        self.columns.read_at(buffer, chunk.at + (column * bytes) as u64)?;
        values.clear();
        values.extend(buffer.chunks_exact(8).map(le_u64));
        Ok(())
    }

    /// All rows of a part.
    pub(super) fn rows(&self, at: u64, bytes: u64, documents: u32) -> Result<Rows, Error> {
        let mut buffer = vec![0; bytes as usize];
        self.rows.read_at(&mut buffer, at)?;
        let (ends, rows) = buffer.split_at(4 * documents as usize);
        let ends = ends.chunks_exact(4).map(le_u32).collect();
        Ok(Rows { bytes: rows.to_vec(), ends })
    }

    /// Writes parts as one chunk and lets go of their memory.
    fn write(&self, parts: &mut [Part], chunk: u32) -> Result<Chunk, Error> {
        let mut bytes = Vec::new();
        let width = parts.iter().find_map(|part| match &part.data {
            Data::Memory { columns, .. } if columns.documents > 0 => {
                Some(columns.values.len() / columns.documents)
            }
            _ => None,
        });
        for column in 0..width.unwrap_or(0) {
            for part in parts.iter() {
                if let Data::Memory { columns, .. } = &part.data {
                    let values = if columns.documents > 0 { columns.get(column) } else { &[] };
                    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                }
            }
        }
        let at = self.columns.append(&bytes)?;
        let mut within = 0;
        for part in parts {
            if let Data::Memory { rows, .. } = &part.data {
                bytes.clear();
                bytes.extend(rows.ends.iter().flat_map(|end| end.to_le_bytes()));
                bytes.extend_from_slice(&rows.bytes);
                let rows_at = self.rows.append(&bytes)?;
                part.data = Data::Disk { chunk, within, rows_at, rows_bytes: bytes.len() as u64 };
                within += part.documents;
            }
        }
        Ok(Chunk { at, documents: within })
    }
}

fn le_u64(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

fn le_u32(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

/// All parts of a run, in reading order, with the chunks of those that are on the disk.
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    pub(super) chunks: Vec<Chunk>,
    pub(super) files: Option<PartFiles>,
}

/// Takes parts from all threads.
pub(super) struct Store<'a> {
    temp: &'a Arc<TempSpace>,
    share: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    held: Vec<Part>,
    held_bytes: usize,
    written: Vec<Part>,
    chunks: Vec<Chunk>,
    files: Option<PartFiles>,
}

impl<'a> Store<'a> {
    pub(super) fn new(temp: &'a Arc<TempSpace>, budget: &Budget) -> Self {
        Self { temp, share: budget.columns(), inner: Mutex::default() }
    }

    /// Takes a part; writes what it holds when that is more than its share.
    pub(super) fn push(&self, part: Part) -> Result<(), Error> {
        let mut inner = self.inner();
        if let Data::Memory { columns, rows } = &part.data {
            inner.held_bytes += columns.held() + rows.held();
        }
        inner.held.push(part);
        // The bytes of a chunk are gathered once more before they are written.
        if inner.held_bytes > self.share / 2 {
            inner.write(self.temp)?;
        }
        Ok(())
    }

    /// All parts, in reading order. Once some are on the disk all are.
    pub(super) fn finish(self) -> Result<Parts, Error> {
        let mut inner = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        if inner.files.is_some() {
            inner.write(self.temp)?;
        }
        let mut parts = inner.written;
        parts.append(&mut inner.held);
        parts.sort_unstable_by_key(|part| part.number);
        Ok(Parts { parts, chunks: inner.chunks, files: inner.files })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn write(&mut self, temp: &TempSpace) -> Result<(), Error> {
        if self.held.is_empty() {
            return Ok(());
        }
        let files = match self.files.take() {
            Some(files) => files,
            None => PartFiles::create(temp)?,
        };
        let chunk = files.write(&mut self.held, self.chunks.len() as u32)?;
        self.files = Some(files);
        self.chunks.push(chunk);
        self.written.append(&mut self.held);
        self.held_bytes = 0;
        Ok(())
    }
}
