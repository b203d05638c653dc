//! The stored values of each block: notes, columns, rows and anchors. All except the notes are in
//! logs.
//!
//! [`BlockStoreWriter`] receives blocks from all threads. The columns of many blocks are gathered
//! into a *chunk*, column after column, so that a column can later be read in long ranges. A chunk
//! is a step of a resumable run. If columns stay in memory, each block is a chunk. A block of many
//! units is stored in parts. Each part has its own chunk, and is listed like a block, with the
//! number of its block.

use crate::engine::checkpoint::{Checkpoint, ChunkStep, Step};
use crate::engine::error::FindError;
use crate::engine::ids::RowIndex;
use crate::engine::memory::Budget;
use crate::engine::prepare::anchor_log::{AnchorEntry, AnchorLog};
use crate::engine::prepare::block_notes::{BlockNotes, BlockRanges, ColumnChunk};
use crate::engine::prepare::columns::{self, FixedColumns, RowBuffer, Rows};
use crate::engine::prepare::skipped::SkippedLog;
use crate::engine::prepare::sources::{SourceTally, Sources, Tallies};
use crate::read::{BlockNumber, Collection, ReadError, RetainedBlock, RetainedState, Spool};
use crate::spill::{SpillError, SpillLog, TempSpace};
use parking_lot::{Mutex, MutexGuard};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// The most bytes of columns that are gathered before they become a chunk.
const CHUNK_BYTES: usize = 64 << 20;

/// The stored values of one block besides its columns and rows.
pub(crate) struct StoredBlock {
    /// The whole block, even if this is only a part of it.
    pub(crate) retained: Arc<RetainedBlock>,
    pub(crate) notes: BlockNotes,
    ranges: BlockRanges,
}

impl StoredBlock {
    /// Returns the state with which another process can read the block again.
    ///
    /// # Errors
    /// [`ReadError::NotAgain`] if some of its bytes are only in memory.
    pub(crate) fn state(&self) -> Result<RetainedState, FindError> {
        let source_name = || format!("source {}", self.retained.number().source);
        let state = self.retained.state();
        Ok(state.ok_or_else(|| ReadError::NotAgain { source_name: source_name() })?)
    }
}

/// A block before it is stored.
pub(crate) struct ColumnBlock {
    pub(crate) retained: RetainedBlock,
    /// The parts that are already stored.
    pub(crate) parts: Vec<BlockPart>,
    pub(crate) documents: BlockContents,
}

/// Some documents of a block.
pub(crate) struct BlockContents {
    pub(crate) notes: BlockNotes,
    pub(crate) columns: FixedColumns,
    pub(crate) rows: RowBuffer,
    /// Empty unless the run searches for passages.
    pub(crate) anchors: Vec<AnchorEntry>,
}

/// Documents of a block that are stored before the others are read.
pub(crate) struct BlockPart {
    notes: BlockNotes,
    ranges: BlockRanges,
}

/// All blocks of a run, in reading order.
pub(crate) struct BlockStore {
    pub(crate) blocks: Vec<StoredBlock>,
    /// Whether a chunk has several blocks, in the order in which they were read.
    is_gathered: bool,
    chunks: Vec<ColumnChunk>,
    columns: SpillLog<u64>,
    rows: SpillLog<u8>,
    anchors: SpillLog<AnchorEntry>,
    pub(crate) skipped: Arc<SkippedLog>,
    pub(crate) sources: Arc<Sources>,
}

impl BlockStore {
    /// Creates a store in memory, without blocks.
    pub(crate) fn new(skipped: Arc<SkippedLog>, sources: Arc<Sources>) -> Self {
        Self {
            blocks: Vec::new(),
            is_gathered: false,
            chunks: Vec::new(),
            columns: SpillLog::default(),
            rows: SpillLog::default(),
            anchors: SpillLog::default(),
            skipped,
            sources,
        }
    }

    /// Bytes of columns and rows that are in memory.
    pub(crate) fn held_bytes(&self) -> usize {
        self.columns.held_bytes() + self.rows.held_bytes()
    }

    /// Drops the columns and keeps the rows.
    pub(crate) fn drop_columns(&mut self) {
        self.columns = SpillLog::default();
    }

    /// Removes and returns the anchors of all blocks.
    pub(crate) fn take_anchors(&mut self) -> AnchorLog {
        let ranges = self.blocks.iter().map(|block| block.ranges.anchors.clone()).collect();
        AnchorLog::new(std::mem::take(&mut self.anchors), ranges)
    }

    /// Returns the blocks chunk by chunk, in the order of their columns. If each block is a chunk,
    /// returns them in reading order.
    pub(crate) fn by_chunk(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.blocks.len() as u32).collect();
        if !self.is_gathered {
            return order;
        }
        let ranges = |block: u32| &self.blocks[block as usize].ranges;
        order.sort_unstable_by_key(|block| (ranges(*block).chunk, ranges(*block).within));
        order
    }

    /// Returns the chunk with the columns of a block, and the range of the block in the chunk.
    pub(crate) fn in_chunk(&self, block: usize) -> (u32, Range<u32>) {
        let StoredBlock { notes, ranges, .. } = &self.blocks[block];
        (ranges.chunk, ranges.within..ranges.within + notes.documents)
    }

    /// Some documents of one column of a chunk.
    pub(crate) fn column(
        &self,
        chunk: u32,
        column: usize,
        documents: Range<u32>,
    ) -> Result<Cow<'_, [u64]>, SpillError> {
        let chunk = self.chunks[chunk as usize];
        let at = chunk.at + column as u64 * u64::from(chunk.documents);
        self.columns.range(at + u64::from(documents.start)..at + u64::from(documents.end))
    }

    /// All rows of a block.
    pub(crate) fn rows(&self, block: usize) -> Result<Rows<'_>, SpillError> {
        let StoredBlock { notes, ranges, .. } = &self.blocks[block];
        Ok(Rows::new(self.rows.range(ranges.rows.clone())?, notes.documents as usize))
    }

    /// Returns the bytes of one row of a block. For many rows, use [`rows`](Self::rows).
    pub(crate) fn row(&self, block: usize, row: RowIndex) -> Result<Cow<'_, [u8]>, SpillError> {
        let StoredBlock { notes, ranges: BlockRanges { rows, .. }, .. } = &self.blocks[block];
        let end_of = |row: u32| {
            let at = rows.start + 4 * u64::from(row);
            let end = self.rows.range(at..at + 4)?;
            let end = end.first_chunk().ok_or_else(columns::damaged)?;
            Ok::<u64, SpillError>(u32::from_le_bytes(*end).into())
        };
        let from = if row.0 == 0 { 0 } else { end_of(row.0 - 1)? };
        let first = rows.start + 4 * u64::from(notes.documents);
        self.rows.range(first + from..first + end_of(row.0)?)
    }
}

impl WriterState {
    /// Writes columns and rows to the disk if they take more than this many bytes of memory.
    fn spill_above(&mut self, bytes: usize) -> Result<(), FindError> {
        if self.store.held_bytes() > bytes {
            self.store.columns.spill()?;
            self.store.rows.spill()?;
        }
        Ok(())
    }
}

/// Receives blocks from all threads.
pub(crate) struct BlockStoreWriter<'a> {
    checkpoint: &'a Checkpoint,
    spool: Option<&'a Arc<Spool>>,
    sources: Arc<Sources>,
    budget: Budget,
    state: Mutex<WriterState>,
}

struct WriterState {
    store: BlockStore,
    /// Blocks that are not in a chunk yet.
    gathered: Vec<(StoredBlock, FixedColumns)>,
    /// Parts of the gathered blocks, which are in earlier chunks.
    parts: Vec<StoredBlock>,
    gathered_bytes: usize,
    /// The tallies of the gathered blocks.
    tallies: Tallies,
    /// The number of sources whose names are in the journal.
    named: usize,
}

impl<'a> BlockStoreWriter<'a> {
    /// Creates a store with the blocks that an earlier run finished.
    pub(crate) fn new(
        collection: &Collection,
        temp: &Arc<TempSpace>,
        spool: Option<&'a Arc<Spool>>,
        skipped: Arc<SkippedLog>,
        sources: Arc<Sources>,
        budget: &Budget,
        checkpoint: &'a Checkpoint,
    ) -> Result<Self, FindError> {
        let completed = &checkpoint.completed;
        let (columns, rows) =
            completed.chunks.last().map_or((0, 0), |step| (step.columns, step.rows));
        sources.resume(&completed.sources, &completed.tallies);
        let mut store = BlockStore::new(skipped, Arc::clone(&sources));
        // Reading from the disk benefits from long ranges. In memory, gathering would only copy.
        store.is_gathered = budget.is_limited() || checkpoint.is_active();
        // Both logs have one common share, which `spill_above` enforces.
        store.columns = SpillLog::stored(temp, "columns", usize::MAX, columns)?;
        store.rows = SpillLog::stored(temp, "rows", usize::MAX, rows)?;
        for step in &completed.chunks {
            store.chunks.push(step.chunk);
            for (state, notes, ranges) in &step.blocks {
                let retained = Arc::new(collection.retained(*state, spool)?);
                let notes = notes.clone();
                let ranges = ranges.clone();
                store.blocks.push(StoredBlock { retained, notes, ranges });
            }
        }
        let state = Mutex::new(WriterState {
            store,
            gathered: Vec::new(),
            parts: Vec::new(),
            gathered_bytes: 0,
            tallies: Tallies::default(),
            named: completed.sources.len(),
        });
        Ok(Self { checkpoint, spool, sources, budget: *budget, state })
    }

    /// Also stores anchors, with `share` bytes of them in memory.
    pub(crate) fn with_anchors(
        self,
        temp: &Arc<TempSpace>,
        share: usize,
    ) -> Result<Self, FindError> {
        let len = self.checkpoint.completed.chunks.last().map_or(0, |step| step.anchors);
        self.state().store.anchors = SpillLog::stored(temp, "anchors", share, len)?;
        Ok(self)
    }

    /// The blocks that are already stored.
    pub(crate) fn blocks(&self) -> HashSet<BlockNumber> {
        self.state().store.blocks.iter().map(|block| block.retained.number()).collect()
    }

    /// Adds a block and its counts by source.
    pub(crate) fn push(
        &self,
        block: ColumnBlock,
        tallies: &[SourceTally],
    ) -> Result<(), FindError> {
        // The share, without the names of sources. A half is for the logs, a quarter for gathered
        // blocks, and a quarter for the copy of these when they become a chunk.
        let share = self.budget.with_held(self.sources.held_bytes())?.columns();
        self.sources.count(tallies);
        let mut state = self.state();
        if self.checkpoint.is_active() {
            state.tallies.add(tallies);
        }
        let ColumnBlock { retained, parts, documents } = block;
        let BlockContents { notes, columns, rows, anchors } = documents;
        let retained = Arc::new(retained);
        let stored = |BlockPart { notes, ranges }| {
            let retained = Arc::clone(&retained);
            StoredBlock { retained, notes, ranges }
        };
        state.parts.extend(parts.into_iter().map(stored));
        let rows = state.store.rows.append(rows.into_bytes())?;
        let anchors = state.store.anchors.append(anchors)?;
        let chunk = state.store.chunks.len() as u32;
        let ranges = BlockRanges { chunk, within: 0, rows, anchors };
        state.gathered_bytes += columns.held_bytes();
        state.gathered.push((StoredBlock { retained, notes, ranges }, columns));
        if !state.store.is_gathered || state.gathered_bytes > CHUNK_BYTES.min(share / 4) {
            self.end_chunk(&mut state)?;
        }
        state.spill_above(share / 2)
    }

    /// Adds documents of a block before the rest of the block is read. They form a chunk, which has
    /// no blocks until the whole block is pushed.
    pub(crate) fn push_part(&self, documents: BlockContents) -> Result<BlockPart, FindError> {
        let BlockContents { notes, columns, rows, anchors } = documents;
        let share = self.budget.with_held(self.sources.held_bytes())?.columns();
        let mut state = self.state();
        self.end_chunk(&mut state)?;
        let chunk = state.store.chunks.len() as u32;
        let rows = state.store.rows.append(rows.into_bytes())?;
        let anchors = state.store.anchors.append(anchors)?;
        self.store_chunk(&mut state, columns.values, notes.documents, Vec::new())?;
        state.spill_above(share / 2)?;
        Ok(BlockPart { notes, ranges: BlockRanges { chunk, within: 0, rows, anchors } })
    }

    /// All blocks, in reading order.
    pub(crate) fn finish(self) -> Result<BlockStore, FindError> {
        self.end_chunk(&mut self.state())?;
        let mut store = self.state.into_inner().store;
        // The sort is stable, so parts of a block keep their order.
        store.blocks.sort_by_key(|block| block.retained.number());
        Ok(store)
    }

    /// Makes a chunk of the gathered blocks.
    fn end_chunk(&self, state: &mut WriterState) -> Result<(), FindError> {
        let mut gathered = std::mem::take(&mut state.gathered);
        if gathered.is_empty() {
            return Ok(());
        }
        gathered.sort_unstable_by_key(|(block, _)| block.retained.number());
        let width = gathered.iter().map(|(_, columns)| columns.width()).max().unwrap_or(0);
        if gathered.iter().any(|(_, columns)| columns.documents > 0 && columns.width() != width) {
            return Err(SpillError::altered("the columns of a block").into());
        }
        let values = in_column_order(&mut gathered, width, state.gathered_bytes);
        let mut blocks = std::mem::take(&mut state.parts);
        let mut documents = 0;
        for (mut block, _) in gathered {
            block.ranges.within = documents;
            documents += block.notes.documents;
            blocks.push(block);
        }
        state.gathered_bytes = 0;
        self.store_chunk(state, values, documents, blocks)
    }

    /// Stores a chunk of columns, and the blocks that are complete with it.
    fn store_chunk(
        &self,
        state: &mut WriterState,
        values: Vec<u64>,
        documents: u32,
        blocks: Vec<StoredBlock>,
    ) -> Result<(), FindError> {
        let chunk = ColumnChunk { at: state.store.columns.append(values)?.start, documents };
        state.store.chunks.push(chunk);
        let begun = state.store.blocks.len();
        state.store.blocks.extend(blocks);
        if self.checkpoint.is_active() {
            let step = self.step(state, chunk, begun)?;
            self.checkpoint.append(Step::Chunk(step))?;
        }
        Ok(())
    }

    /// Returns the step of a chunk whose blocks begin at `begun`. All data of the step are then on
    /// the disk.
    fn step(
        &self,
        state: &mut WriterState,
        chunk: ColumnChunk,
        begun: usize,
    ) -> Result<ChunkStep, FindError> {
        if let Some(spool) = self.spool {
            let failed = |source| SpillError::Io { path: spool.path().to_owned(), source };
            spool.sync().map_err(failed)?;
        }
        state.store.columns.sync()?;
        state.store.rows.sync()?;
        state.store.anchors.sync()?;
        let skipped = state.store.skipped.sync()?;
        let stored =
            |block: &StoredBlock| Ok((block.state()?, block.notes.clone(), block.ranges.clone()));
        let blocks = state.store.blocks[begun..].iter().map(stored);
        let blocks = blocks.collect::<Result<Vec<_>, FindError>>()?;
        let sources = self.sources.names_from(state.named);
        state.named += sources.len();
        Ok(ChunkStep {
            chunk,
            columns: state.store.columns.len(),
            rows: state.store.rows.len(),
            anchors: state.store.anchors.len(),
            skipped,
            // The length of the spool is unsuitable, because other threads may be writing to its
            // end.
            texts: blocks.iter().map(|(state, ..)| state.spooled()).max().unwrap_or(0),
            blocks,
            sources,
            tallies: state.tallies.take(),
        })
    }

    fn state(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock()
    }
}

/// Returns the values of blocks, column after column. The values of a single block are moved.
fn in_column_order(
    gathered: &mut [(StoredBlock, FixedColumns)],
    width: usize,
    bytes: usize,
) -> Vec<u64> {
    if let [(_, columns)] = gathered {
        return std::mem::take(&mut columns.values);
    }
    let mut values = Vec::with_capacity(bytes / 8);
    for column in 0..width {
        for (_, columns) in &*gathered {
            values.extend_from_slice(columns.get(column));
        }
    }
    values
}
