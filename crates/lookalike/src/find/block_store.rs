//! Parts: what is kept of each block, in memory or in temporary files.
//!
//! [`BlockStoreWriter`] takes parts from all threads; above its share of memory it writes those it
//! holds as one *chunk*, column after column, so that later a column is read in long stretches.

use super::checkpoint::{BlockState, Checkpoint, ChunkStep, ColumnChunk};
use super::columns::{FixedColumns, RowBuffer};
use super::cut_from_mail::CutFromMail;
use super::memory::Budget;
use super::skipped::{SkippedFile, SkippedPart};
use super::sources::{SourceTally, Sources, Tallies};
use crate::digest::InputsDigest;
use crate::error::Error;
use crate::folding::SampledText;
use crate::read::{BlockNumber, Collection, RetainedBlock, Spool};
use crate::spill::{SpillFile, TempSpace};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Columns that are gathered before they are taken down as a step that is done.
const STEP_BYTES: usize = 64 << 20;

/// What is kept of one block.
pub(super) struct StoredBlock {
    pub(super) number: BlockNumber,
    pub(super) retained: RetainedBlock,
    /// Whether its documents are of a reference collection.
    pub(super) reference: bool,
    pub(super) documents: u32,
    /// Documents without tokens, by their place in the block.
    pub(super) empty: Vec<u32>,
    pub(super) skipped: SkippedPart,
    pub(super) inputs: InputsDigest,
    pub(super) cut_from_mail: CutFromMail,
    pub(super) drawn: Vec<SampledText>,
    pub(super) data: BlockData,
}

impl StoredBlock {
    /// What is stored of it, once it is on the disk.
    fn state(&self) -> Option<BlockState> {
        let BlockData::Disk { within, rows_at, rows_bytes, .. } = self.data else { return None };
        Some(BlockState {
            number: self.number,
            retained: self.retained.state()?,
            reference: self.reference,
            documents: self.documents,
            empty: self.empty.clone(),
            skipped: self.skipped.clone(),
            inputs: self.inputs,
            cut_from_mail: self.cut_from_mail,
            drawn: self.drawn.clone(),
            within,
            rows: (rows_at, rows_bytes),
        })
    }
}

impl BlockState {
    /// The part that was stored.
    fn part(&self, retained: RetainedBlock, chunk: u32) -> StoredBlock {
        let (rows_at, rows_bytes) = self.rows;
        StoredBlock {
            number: self.number,
            retained,
            reference: self.reference,
            documents: self.documents,
            empty: self.empty.clone(),
            skipped: self.skipped.clone(),
            inputs: self.inputs,
            cut_from_mail: self.cut_from_mail,
            drawn: self.drawn.clone(),
            data: BlockData::Disk { chunk, within: self.within, rows_at, rows_bytes },
        }
    }
}

/// Where a part's columns and rows are.
pub(super) enum BlockData {
    Memory {
        columns: FixedColumns,
        rows: RowBuffer,
    },
    /// Columns: documents `within ..` of chunk `chunk`. Rows: their ends, then their bytes.
    Disk {
        chunk: u32,
        within: u32,
        rows_at: u64,
        rows_bytes: u64,
    },
}

impl BlockData {
    /// Bytes of memory held.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Memory { columns, rows } => columns.held() + rows.held(),
            Self::Disk { .. } => 0,
        }
    }
}

/// The temporary files of the parts.
pub(super) struct BlockFiles {
    columns: SpillFile,
    rows: SpillFile,
}

impl BlockFiles {
    fn open(temp: &TempSpace, columns: u64, rows: u64) -> Result<Self, Error> {
        let workspace = temp.workspace()?;
        let (columns, rows) = (workspace.open("columns", columns)?, workspace.open("rows", rows)?);
        Ok(Self { columns, rows })
    }

    /// Some documents of one column of a chunk, into `values` (which is cleared).
    pub(super) fn column(
        &self,
        chunk: ColumnChunk,
        column: usize,
        documents: Range<u32>,
        buffer: &mut Vec<u8>,
        values: &mut Vec<u64>,
    ) -> Result<(), Error> {
        buffer.resize(8 * documents.len(), 0);
        let before = column as u64 * u64::from(chunk.documents) + u64::from(documents.start);
        self.columns.read_at(buffer, chunk.at + 8 * before)?;
        values.clear();
        values.extend(buffer.chunks_exact(8).map(le_u64));
        Ok(())
    }

    /// All rows of a part.
    pub(super) fn rows(&self, at: u64, bytes: u64, documents: u32) -> Result<RowBuffer, Error> {
        let mut buffer = vec![0; bytes as usize];
        self.rows.read_at(&mut buffer, at)?;
        let (ends, rows) = buffer.split_at(4 * documents as usize);
        let ends = ends.chunks_exact(4).map(le_u32).collect();
        Ok(RowBuffer { bytes: rows.to_vec(), ends })
    }

    /// One row of a part.
    pub(super) fn row(&self, at: u64, documents: u32, place: u32) -> Result<Vec<u8>, Error> {
        let mut ends = [0; 8];
        let known = if place == 0 { &mut ends[4..] } else { &mut ends[..] };
        self.rows.read_at(known, at + 4 * u64::from(place.saturating_sub(1)))?;
        let (start, end) = (le_u32(&ends[..4]), le_u32(&ends[4..]));
        let mut row = vec![0; end.saturating_sub(start) as usize];
        self.rows.read_at(&mut row, at + 4 * u64::from(documents) + u64::from(start))?;
        Ok(row)
    }

    /// Writes parts as one chunk and lets go of their memory.
    fn write(&self, parts: &mut [StoredBlock], chunk: u32) -> Result<ColumnChunk, Error> {
        let mut bytes = Vec::new();
        let width = parts.iter().find_map(|part| match &part.data {
            BlockData::Memory { columns, .. } if columns.documents > 0 => {
                Some(columns.values.len() / columns.documents)
            }
            _ => None,
        });
        let mut at = None;
        // Nobody else appends meanwhile, so the columns are one behind the other.
        for column in 0..width.unwrap_or(0) {
            bytes.clear();
            for part in parts.iter() {
                if let BlockData::Memory { columns, .. } = &part.data {
                    let values = if columns.documents > 0 { columns.get(column) } else { &[] };
                    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                }
            }
            let column_at = self.columns.append(&bytes)?;
            at = at.or(Some(column_at));
        }
        let at = at.unwrap_or(0);
        let mut within = 0;
        for part in parts {
            if let BlockData::Memory { rows, .. } = &part.data {
                bytes.clear();
                bytes.extend(rows.ends.iter().flat_map(|end| end.to_le_bytes()));
                bytes.extend_from_slice(&rows.bytes);
                let rows_at = self.rows.append(&bytes)?;
                part.data =
                    BlockData::Disk { chunk, within, rows_at, rows_bytes: bytes.len() as u64 };
                within += part.documents;
            }
        }
        Ok(ColumnChunk { at, documents: within })
    }
}

fn le_u64(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

fn le_u32(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

/// All parts of a run, in reading order, with the chunks of those that are on the disk.
pub(super) struct BlockStore {
    pub(super) all: Vec<StoredBlock>,
    pub(super) chunks: Vec<ColumnChunk>,
    pub(super) files: Option<BlockFiles>,
    pub(super) skipped: Arc<SkippedFile>,
    pub(super) sources: Arc<Sources>,
}

/// Takes parts from all threads.
pub(super) struct BlockStoreWriter<'a> {
    temp: &'a Arc<TempSpace>,
    checkpoint: Option<&'a Checkpoint>,
    spool: Option<&'a Arc<Spool>>,
    skipped: Arc<SkippedFile>,
    sources: Arc<Sources>,
    budget: Budget,
    inner: Mutex<WriterState>,
}

#[derive(Default)]
struct WriterState {
    held: Vec<StoredBlock>,
    held_bytes: usize,
    written: Vec<StoredBlock>,
    chunks: Vec<ColumnChunk>,
    files: Option<BlockFiles>,
    /// Of the parts that are held.
    tallies: Tallies,
    /// Sources whose names are taken down.
    named: usize,
}

impl<'a> BlockStoreWriter<'a> {
    pub(super) fn new(
        temp: &'a Arc<TempSpace>,
        spool: Option<&'a Arc<Spool>>,
        skipped: Arc<SkippedFile>,
        sources: Arc<Sources>,
        budget: &Budget,
    ) -> Self {
        let (budget, inner) = (*budget, Mutex::default());
        Self { temp, checkpoint: None, spool, skipped, sources, budget, inner }
    }

    /// The same, with what an earlier run has finished; what it takes from now on is taken down in
    /// steps.
    pub(super) fn resumed(
        self,
        checkpoint: &'a Checkpoint,
        collection: &Collection,
    ) -> Result<Self, Error> {
        let mut inner = WriterState::default();
        for step in &checkpoint.done.chunks {
            let chunk = inner.chunks.len() as u32;
            inner.chunks.push(step.chunk);
            for state in &step.parts {
                let retained = collection.retained(state.retained, self.spool)?;
                inner.written.push(state.part(retained, chunk));
            }
        }
        let last = checkpoint.done.chunks.last();
        let (columns, rows) = last.map_or((0, 0), |step| (step.columns_len, step.rows_len));
        inner.files = Some(BlockFiles::open(self.temp, columns, rows)?);
        self.sources.resume(&checkpoint.done.sources, &checkpoint.done.tallies);
        inner.named = checkpoint.done.sources.len();
        Ok(Self { checkpoint: Some(checkpoint), inner: Mutex::new(inner), ..self })
    }

    /// The blocks that are in it already.
    pub(super) fn blocks(&self) -> HashSet<BlockNumber> {
        self.inner().written.iter().map(|part| part.number).collect()
    }

    /// Bytes of parts that are held before they are written: a share of what names of sources
    /// leave.
    fn share(&self) -> Result<usize, Error> {
        let share = self.budget.with_held(self.sources.held())?.columns();
        Ok(if self.checkpoint.is_some() { share.min(STEP_BYTES) } else { share })
    }

    /// Takes a part and what it has of each source; writes what it holds when that is more than its
    /// share.
    pub(super) fn push(&self, part: StoredBlock, tallies: &[SourceTally]) -> Result<(), Error> {
        let share = self.share()?;
        self.sources.count(tallies);
        let mut inner = self.inner();
        if self.checkpoint.is_some() {
            inner.tallies.add(tallies);
        }
        inner.held_bytes += part.data.held() + part.skipped.held();
        inner.held.push(part);
        // The bytes of one column are gathered once more before they are written.
        if inner.held_bytes > share / 16 * 15 { self.write(&mut inner) } else { Ok(()) }
    }

    /// All parts, in reading order. Once some are on the disk all are.
    pub(super) fn finish(self) -> Result<BlockStore, Error> {
        let mut inner = self.inner();
        if inner.files.is_some() {
            self.write(&mut inner)?;
        }
        let mut inner = std::mem::take(&mut *inner);
        let mut parts = inner.written;
        parts.append(&mut inner.held);
        parts.sort_unstable_by_key(|part| part.number);
        let (skipped, sources) = (Arc::clone(&self.skipped), Arc::clone(&self.sources));
        Ok(BlockStore { all: parts, chunks: inner.chunks, files: inner.files, skipped, sources })
    }

    /// Writes what is held as one chunk.
    fn write(&self, inner: &mut WriterState) -> Result<(), Error> {
        if inner.held.is_empty() {
            return Ok(());
        }
        let files = match inner.files.take() {
            Some(files) => files,
            None => BlockFiles::open(self.temp, 0, 0)?,
        };
        let chunk = files.write(&mut inner.held, inner.chunks.len() as u32)?;
        inner.held.iter_mut().try_for_each(|part| part.skipped.write(&self.skipped))?;
        if let Some(checkpoint) = self.checkpoint {
            let sources = self.sources.names_from(inner.named);
            inner.named += sources.len();
            let tallies = inner.tallies.take();
            let step = self.step(&files, chunk, &inner.held)?;
            checkpoint.chunk(ChunkStep { sources, tallies, ..step })?;
        }
        inner.files = Some(files);
        inner.chunks.push(chunk);
        inner.written.append(&mut inner.held);
        inner.held_bytes = 0;
        Ok(())
    }

    /// What to take down of a chunk, which is on the disk when this returns.
    fn step(
        &self,
        files: &BlockFiles,
        chunk: ColumnChunk,
        parts: &[StoredBlock],
    ) -> Result<ChunkStep, Error> {
        if let Some(spool) = self.spool {
            let failed = |source| Error::Spill { path: spool.path().to_owned(), source };
            spool.sync().map_err(failed)?;
        }
        files.columns.sync()?;
        files.rows.sync()?;
        self.skipped.sync()?;
        let parts = parts.iter().map(StoredBlock::state).collect::<Option<Vec<_>>>();
        let parts = parts.ok_or_else(|| Error::TemporaryFile { what: "a part".to_owned() })?;
        // Not the length of the file: other threads may be writing to its end.
        let texts = parts.iter().map(|part| part.retained.spooled()).max();
        Ok(ChunkStep {
            chunk,
            parts,
            columns_len: files.columns.len(),
            rows_len: files.rows.len(),
            texts_len: texts.unwrap_or(0),
            sources: Vec::new(),
            tallies: Vec::new(),
        })
    }

    fn inner(&self) -> MutexGuard<'_, WriterState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
