//! Divides a limit on memory among the stages, and computes the least limit.
//!
//! ```text
//! limit = process (code, tables, buffers of the threads)
//!       + resident (some bytes for every document and block)
//!       + long records, unless the share of blocks has room for them
//!       + work: three quarters (a half for units) for columns, an eighth for lists of buckets, an
//!         eighth and most of the columns' unused share for sorting; after the columns are dropped,
//!         their share is for batches, shingle sets and results
//!         (exact runs: a quarter for columns, five sixteenths for the shingle log)
//!         (to compare words: three quarters for blocks, eighths for anchors and rows)
//! ```
//!
//! Without a limit, memory holds everything and shares are unlimited. A share determines whether
//! bytes pass through a temporary file. It never changes results.

use crate::engine::error::FindError;
use crate::engine::prepare::long_records::{LongRecords, RecordCost, RecordMemory};
use crate::engine::workers::MAX_THREADS;
use crate::read::{Document, TextUnit};
use lookalike_core::params::{Measure, Params};
use std::num::NonZeroUsize;
use std::path::PathBuf;

const MIB: u64 = 1 << 20;
/// The program itself, and the memory that the allocator retains.
const PROCESS_BYTES: u64 = 20 * MIB;
/// Buffers of one thread: a block and its decoded texts, tables of the hash functions, shingles.
const THREAD_BYTES: u64 = 10 * MIB;
/// Bytes held permanently for each document: its state, its place in the forest of candidates, and
/// its weight there.
const DOCUMENT_BYTES: u64 = 10;
/// Bytes held permanently for each document in exact runs: its number in the log of shingles, its
/// number of shingles, and the rest of its prefix. Each thread holds one more byte for each
/// document.
const LOGGED_BYTES: u64 = 12;
/// Bytes held permanently for each block: the place of its columns, and its place in the input.
const BLOCK_BYTES: u64 = 400;
/// The minimum memory of the stages, besides long records.
const LEAST_WORK: u64 = 16 * MIB;
/// The minimum memory of a run that compares words, with room for the anchors of few documents.
const LEAST_TEXT_WORK: u64 = LEAST_WORK + MIB;
/// Bytes of memory for each byte of a block while it is read or compared: the block and the next
/// one, texts, shingles, two sets.
const BLOCK_FACTOR: u64 = 6;
/// Like [`BLOCK_FACTOR`], for units, whose shingles are few: the block and the next one, texts.
const UNIT_BLOCK_FACTOR: u64 = 4;
/// Like [`BLOCK_FACTOR`], for words: the block in a growing buffer and its case-folded text, or
/// its case-folded text and the text of the other document.
const TEXT_BLOCK_FACTOR: u64 = 4;
/// Additional bytes for each word of a block: tokens and windows of tokens, or words of two
/// documents.
const WORD_BYTES: u64 = 16;
/// Memory for a record before its full memory is known: its buffer and a copy, in quarters of its
/// length.
const HELD_QUARTERS: u64 = 9;
/// Bytes after a record that are read to find its end.
const BYTES_BEHIND: u64 = 4 << 10;
/// Words of documents up to this length fit in the buffers of a thread.
const USUAL_RECORD_BYTES: usize = 1 << 20;
/// The most bytes of a cache that only saves work, even without a memory limit.
const CACHE_BYTES: u64 = 256 * MIB;

/// The available memory, and the place of temporary files.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// The most bytes of the whole process, at least 1; `None` for no limit. A limit that is too
    /// small for the run is [`FindError::MemoryTooSmall`].
    pub limit: Option<u64>,
    /// The folder for temporary files; `None` for the current folder.
    pub temp_dir: Option<PathBuf>,
    /// Whether finished stages are kept in `temp_dir`, so that the run resumes after an
    /// interruption.
    pub resume: bool,
    /// The most bytes of results in memory before they are written to a temporary file. `limit` may
    /// allow fewer. `None` uses as many as `limit` allows.
    pub results: Option<u64>,
}

impl Memory {
    /// The folder for temporary files.
    pub(crate) fn temp_dir(&self) -> PathBuf {
        self.temp_dir.clone().unwrap_or_else(|| PathBuf::from("."))
    }
}

/// The shares of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    limit: Option<u64>,
    threads: u64,
    resident: u64,
    /// Bytes of the work that rows of documents occupy permanently.
    rows: u64,
    /// Bytes of columns in memory; `None` before they are known, which counts as the whole share.
    columns: Option<u64>,
    /// [`Memory::results`].
    results: u64,
    blocks: BlockUse,
    /// Whether the shingles of all documents are logged. Columns are then short.
    logs_shingles: bool,
    /// The memory that long records need.
    records: RecordMemory,
    /// Whether long records may use everything except the least work. This is the case for an input
    /// that is read only once.
    reserves_all: bool,
}

/// Counts the words of a long document by the same rule as for a record that is too long to be held
/// in memory. Returns 0 for a short document.
pub(crate) fn long_words(document: &Document<'_>) -> u64 {
    document.long_record(USUAL_RECORD_BYTES).map_or(0, |size| size.words)
}

/// The use of blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
enum BlockUse {
    /// Columns and shingle sets.
    Documents,
    /// Columns and shingle sets of units. A long document is in memory, and its units need little.
    Units,
    /// Anchors, and words that are compared.
    Texts,
}

impl Budget {
    /// Creates the budget of a run before its documents are known.
    ///
    /// # Errors
    /// [`FindError::TooManyThreads`] and [`FindError::MemoryTooSmall`].
    pub(crate) fn new(memory: &Memory, threads: usize) -> Result<Self, FindError> {
        let budget = Self::unchecked(memory, threads)?;
        budget.check()?;
        Ok(budget)
    }

    /// Creates the budget of a run that compares words. `held_bytes` are occupied permanently.
    pub(crate) fn of_texts(
        memory: &Memory,
        threads: usize,
        held_bytes: u64,
    ) -> Result<Self, FindError> {
        let unchecked = Self::unchecked(memory, threads)?;
        let budget = Self { resident: held_bytes, blocks: BlockUse::Texts, ..unchecked };
        budget.check_work(LEAST_TEXT_WORK)?;
        Ok(budget)
    }

    fn unchecked(memory: &Memory, threads: usize) -> Result<Self, FindError> {
        if threads > MAX_THREADS {
            return Err(FindError::TooManyThreads { got: threads, most: MAX_THREADS });
        }
        Ok(Self {
            limit: memory.limit,
            threads: threads as u64,
            resident: 0,
            rows: 0,
            columns: None,
            results: memory.results.unwrap_or(u64::MAX),
            blocks: BlockUse::Documents,
            logs_shingles: false,
            records: RecordMemory::default(),
            reserves_all: false,
        })
    }

    /// Creates a budget without checking the limit. The caller first measures the input, and then
    /// calls [`check`](Self::check).
    ///
    /// # Errors
    /// [`FindError::TooManyThreads`].
    pub(crate) fn open(memory: &Memory, threads: usize) -> Result<Self, FindError> {
        Self::unchecked(memory, threads)
    }

    /// Returns the budget for a run that compares words.
    pub(crate) fn with_texts(self) -> Self {
        Self { blocks: BlockUse::Texts, ..self }
    }

    /// Returns the budget of a run that also holds these documents, blocks and bytes permanently.
    pub(crate) fn next_to(self, documents: usize, blocks: usize, bytes: u64) -> Self {
        let store_bytes = self.document_bytes() * documents as u64 + BLOCK_BYTES * blocks as u64;
        Self { resident: self.resident + store_bytes + bytes, ..self }
    }

    fn document_bytes(&self) -> u64 {
        DOCUMENT_BYTES + if self.logs_shingles { LOGGED_BYTES + self.threads } else { 0 }
    }

    /// Returns the budget with the memory that long records need.
    pub(crate) fn with_records(self, mut records: RecordMemory) -> Self {
        if self.reserves_all {
            // Records are held before their full memory is known.
            let held_bytes =
                (records.longest * HELD_QUARTERS).div_ceil(4).saturating_sub(THREAD_BYTES);
            records.bytes = records.bytes.max(held_bytes);
        }
        Self { records, ..self }
    }

    /// Returns the budget with room for the measured long records.
    pub(crate) fn with_records_of(self, measured: &Self) -> Self {
        Self { records: measured.records, ..self }
    }

    /// Returns the budget for an input that is read only once. Its long records may use everything
    /// except the least work.
    pub(crate) fn reading_once(self, reserves_all: bool) -> Self {
        Self { reserves_all, ..self }
    }

    /// Whether the input is read only once.
    pub(crate) fn is_read_once(&self) -> bool {
        self.reserves_all
    }

    /// Whether `other` reserves the same memory for long records.
    pub(crate) fn has_records_of(&self, other: &Self) -> bool {
        self.records == other.records
    }

    /// Creates the counter of the long records of a run.
    pub(crate) fn long_records(&self, cost: RecordCost) -> LongRecords {
        LongRecords::new(cost, self.threads as usize, THREAD_BYTES)
    }

    /// Returns an error if long records need more memory than is reserved. If the input can be read
    /// again, the caller then measures it and reserves memory for them.
    pub(crate) fn check_records(&self, records: RecordMemory) -> Result<(), FindError> {
        let with = self.with_records(records);
        let is_reserved = with.records.bytes <= self.records.bytes;
        if self.limit.is_none() || is_reserved || !self.reserves_all && with.reserved() == 0 {
            return Ok(());
        }
        with.check()?;
        let got = self.limit.unwrap_or(u64::MAX);
        if self.reserves_all { Ok(()) } else { Err(FindError::MemoryTooSmall { got, least: got }) }
    }

    /// The number of threads that compare documents at the same time: fewer than `threads` if
    /// memory does not hold a long document for each thread.
    pub(crate) fn comparing(&self, threads: NonZeroUsize) -> NonZeroUsize {
        if self.limit.is_none() || self.records.compared == 0 {
            return threads;
        }
        let (blocks, whole) = self.block_share();
        let room = match self.reserved() {
            0 => self.total() / whole * blocks,
            reserved => reserved,
        };
        let fit = (room + THREAD_BYTES) / self.records.compared;
        threads.min(NonZeroUsize::new(fit as usize).unwrap_or(NonZeroUsize::MIN))
    }

    /// Returns the budget for a run that compares these units.
    pub(crate) fn with_unit(self, unit: TextUnit) -> Self {
        let is_whole = unit == TextUnit::Document;
        let blocks = if is_whole { BlockUse::Documents } else { BlockUse::Units };
        Self { blocks, ..self }
    }

    /// Returns the budget for a run with these parameters.
    pub(crate) fn with_params(self, params: &Params) -> Self {
        Self { logs_shingles: params.exact(), ..self }
    }

    /// Bytes of memory for each byte of a block.
    fn block_factor(&self) -> u64 {
        match self.blocks {
            BlockUse::Documents => BLOCK_FACTOR,
            BlockUse::Units => UNIT_BLOCK_FACTOR,
            BlockUse::Texts => TEXT_BLOCK_FACTOR,
        }
    }

    /// The part of the work for blocks, as a fraction. The rest is for their columns, and for
    /// anchors if there are any.
    fn block_share(&self) -> (u64, u64) {
        match self.blocks {
            BlockUse::Documents => (1, 4),
            BlockUse::Units => (1, 2),
            BlockUse::Texts => (3, 4),
        }
    }

    /// Returns the budget for this number of documents and blocks, and bytes of their columns in
    /// memory.
    pub(crate) fn with_documents(
        self,
        documents: usize,
        blocks: usize,
        columns: usize,
    ) -> Result<Self, FindError> {
        let store_bytes = self.document_bytes() * documents as u64 + BLOCK_BYTES * blocks as u64;
        let budget =
            Self { resident: self.resident + store_bytes, columns: Some(columns as u64), ..self };
        budget.check()?;
        Ok(budget)
    }

    /// Returns the budget with rows in memory. Their bytes are taken from the work.
    pub(crate) fn with_rows(self, bytes: u64) -> Self {
        Self { rows: self.rows + bytes, ..self }
    }

    /// Returns the budget with further bytes that are held permanently.
    pub(crate) fn with_held(self, bytes: u64) -> Result<Self, FindError> {
        let budget = Self { resident: self.resident + bytes, ..self };
        budget.check()?;
        Ok(budget)
    }

    fn process_bytes(&self) -> u64 {
        PROCESS_BYTES + THREAD_BYTES * self.threads
    }

    /// Refuses a limit that is too small.
    pub(crate) fn check(&self) -> Result<(), FindError> {
        self.check_work(LEAST_WORK)
    }

    fn check_work(&self, work: u64) -> Result<(), FindError> {
        let least = self.least_for(work);
        if let Some(got) = self.limit
            && got < least
        {
            return Err(FindError::MemoryTooSmall { got, least });
        }
        Ok(())
    }

    /// The least limit that leaves `work` to the stages.
    fn least_for(&self, work: u64) -> u64 {
        (self.process_bytes() + self.resident).saturating_add(self.total_for(work))
    }

    /// The least limit of a run that compares words and needs `work` at the same time.
    pub(crate) fn least_for_texts(&self, work: u64) -> u64 {
        self.least_for(work.max(LEAST_TEXT_WORK))
    }

    /// Bytes that stages and long records may hold besides the resident bytes.
    fn total(&self) -> u64 {
        match self.limit {
            Some(limit) => limit.saturating_sub(self.process_bytes() + self.resident),
            None => u64::MAX / 2,
        }
    }

    /// The least [`total`](Self::total) that leaves `work` besides long records. Long records are
    /// in the share of blocks, or are added to the work.
    fn total_for(&self, work: u64) -> u64 {
        let sum = work.saturating_add(self.records.bytes);
        if self.reserves_all {
            return sum;
        }
        let (blocks, whole) = self.block_share();
        let shared = self.records.bytes.saturating_mul(whole).div_ceil(blocks);
        work.max(shared).min(sum)
    }

    /// Bytes for long records that the work must not use.
    fn reserved(&self) -> u64 {
        let (blocks, whole) = self.block_share();
        if self.limit.is_none() {
            0
        } else if self.reserves_all {
            self.total().saturating_sub(LEAST_WORK)
        } else if self.records.bytes.saturating_mul(whole).div_ceil(blocks) <= self.total() {
            0
        } else {
            self.records.bytes
        }
    }

    /// Bytes that stages may hold.
    fn work(&self) -> u64 {
        self.total().saturating_sub(self.reserved() + self.rows)
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.threads as usize
    }

    /// Whether the memory is limited.
    pub(crate) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// One of `parts` equal shares of the work.
    pub(crate) fn share(&self, parts: u64) -> usize {
        (self.work() / parts) as usize
    }

    /// Bytes of columns in memory before they are written to the disk.
    pub(crate) fn columns(&self) -> usize {
        if self.logs_shingles {
            return self.share(4);
        }
        let (blocks, whole) = self.block_share();
        let share = self.work() / whole * (whole - blocks);
        // Half of this share is for anchors.
        (if self.blocks == BlockUse::Texts { share / 2 } else { share }) as usize
    }

    /// Bytes of entries that one thread may sort at a time. Each sorted range of a column takes a
    /// pass, so most of the columns' unused share is added.
    pub(crate) fn entries(&self) -> usize {
        let share = self.columns() as u64;
        let unused = self.columns.map_or(0, |used| share.saturating_sub(used));
        ((self.work() / 8 + unused / 4 * 3) / self.threads) as usize
    }

    /// Bytes of the log of all shingles.
    pub(crate) fn shingle_log(&self) -> usize {
        self.share(16) * 5
    }

    /// Bytes of the log of shingles that several documents have. The caller adds the room that the
    /// log of all shingles leaves. For Jaccard, the log of all shingles also releases each part
    /// after its shingles are counted.
    pub(crate) fn shared_shingles(&self, measure: Measure) -> usize {
        match measure {
            Measure::Jaccard => self.share(4),
            Measure::Containment => self.share(8),
        }
    }

    /// Bytes of each of the two kinds of lists: of buckets, and of equal documents.
    pub(crate) fn buckets(&self) -> usize {
        (self.work() / 16) as usize
    }

    /// Bytes of records, memberships and results of the components in progress.
    pub(crate) fn batch(&self) -> usize {
        (self.work() / 4) as usize
    }

    /// Refuses a component of this many bytes if it does not fit, because a component cannot be
    /// divided. It may use all memory except the shares of buckets, sets and results.
    pub(crate) fn component(&self, bytes: u64) -> Result<(), FindError> {
        self.need(bytes.saturating_mul(2))
    }

    /// Refuses a block of this many bytes, unless it fits in the buffers of its thread and in the
    /// share that the columns do not use.
    pub(crate) fn block(&self, bytes: u64) -> Result<(), FindError> {
        self.need(self.work_of_blocks(self.block_factor().saturating_mul(bytes)))
    }

    /// Refuses a long document whose words are compared, in a block of this many bytes.
    pub(crate) fn text(&self, block_bytes: u64, document: &Document<'_>) -> Result<(), FindError> {
        if self.limit.is_none() {
            return Ok(());
        }
        self.words(block_bytes, long_words(document))
    }

    fn words(&self, bytes: u64, words: u64) -> Result<(), FindError> {
        self.need(self.work_for_words(bytes, words))
    }

    /// The least work in which each thread can hold a block of `bytes` bytes and compare a document
    /// of `words` words.
    pub(crate) fn work_for_words(&self, bytes: u64, words: u64) -> u64 {
        let of_words = WORD_BYTES.saturating_mul(words);
        self.work_of_blocks(self.block_factor().saturating_mul(bytes).saturating_add(of_words))
    }

    /// The least work in which each thread can hold this many bytes for its block.
    fn work_of_blocks(&self, bytes: u64) -> u64 {
        let (blocks, whole) = self.block_share();
        let excess = bytes.saturating_sub(THREAD_BYTES).saturating_mul(self.threads);
        excess.saturating_mul(whole).div_ceil(blocks)
    }

    /// The longest record that is held before its full memory is known; `None` without a limit.
    pub(crate) fn longest_record(&self) -> Option<u64> {
        self.limit?;
        let (blocks, whole) = self.block_share();
        let room = if self.reserves_all {
            self.reserved()
        } else {
            self.total() / whole * blocks / self.threads
        };
        let held_bytes = room.saturating_add(THREAD_BYTES) / HELD_QUARTERS * 4;
        Some(held_bytes.max(self.records.longest + BYTES_BEHIND))
    }

    /// Refuses a step that needs this many bytes at the same time.
    pub(crate) fn need(&self, work: u64) -> Result<(), FindError> {
        if let Some(got) = self.limit
            && work > self.work()
        {
            let least = self.least_for(work.saturating_add(self.rows));
            return Err(FindError::MemoryTooSmall { got, least });
        }
        Ok(())
    }

    /// Refuses values of this many bytes, derived from texts, if they do not fit beside the other
    /// shares of the work: an eighth each for anchors, words and rows, and a sixteenth for the
    /// places of runs.
    pub(crate) fn need_beside_shares(&self, bytes: u64) -> Result<(), FindError> {
        self.need(bytes.saturating_mul(16).div_ceil(9))
    }

    /// Bytes of shingle sets for each thread.
    pub(crate) fn sets(&self) -> usize {
        (self.work() / 8 / self.threads).min(CACHE_BYTES) as usize
    }

    /// Bytes of results of one kind before they are written to the disk.
    pub(crate) fn results(&self) -> usize {
        (self.work() / 16).min(self.results) as usize
    }

    /// Bytes of all counters of shingles in exact mode, for an expected number of `shingles`. The
    /// counters are divided into `parts`, and each thread holds one part at a time.
    pub(crate) fn counters(&self, shingles: u64, parts: u64) -> u64 {
        let ideal = (3 * shingles).next_power_of_two().max(1 << 20);
        let most = (self.work() / 8 / self.threads).saturating_mul(parts).max(MIB);
        let mut bytes = ideal;
        while bytes > most {
            bytes /= 2;
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_memory_minimum_is_sufficient() {
        let tight = |limit| Memory { limit: Some(limit), ..Memory::default() };
        let Err(FindError::MemoryTooSmall { got: 1, least }) = Budget::new(&tight(1), 2) else {
            panic!("one byte was enough");
        };
        let budget = Budget::new(&tight(least), 2).unwrap();
        let Err(FindError::MemoryTooSmall { least: more, .. }) =
            budget.with_documents(1_000_000, 2000, 0)
        else {
            panic!("documents need no memory");
        };
        let budget =
            Budget::new(&tight(more), 2).unwrap().with_documents(1_000_000, 2000, 0).unwrap();
        assert_eq!(budget.work(), LEAST_WORK);
    }

    fn of_texts(budget: &Budget) -> Budget {
        Budget { blocks: BlockUse::Texts, ..*budget }
    }

    #[test]
    fn oversized_needs_report_sufficient_memory() {
        let limited = |limit| {
            let memory = Memory { limit: Some(limit), ..Memory::default() };
            Budget::new(&memory, 2).unwrap().with_documents(1000, 10, 0).unwrap()
        };
        let small = limited(60 << 20);
        let words = |budget: &Budget, bytes| of_texts(budget).words(bytes, bytes / 3);
        let texts = |budget: &Budget, bytes| of_texts(budget).block(bytes);
        for refuse in [Budget::component, Budget::block, words, texts, Budget::need_beside_shares] {
            refuse(&small, 1 << 20).unwrap();
            refuse(&Budget::new(&Memory::default(), 2).unwrap(), 1 << 40).unwrap();
            let Err(FindError::MemoryTooSmall { least, .. }) = refuse(&small, 30 << 20) else {
                panic!("it fits");
            };
            refuse(&limited(least), 30 << 20).unwrap();
            refuse(&limited(least - 1), 30 << 20).unwrap_err();
        }
    }

    #[test]
    fn unlimited_budgets_have_unlimited_shares() {
        let budget = Budget::new(&Memory::default(), 64).unwrap();
        let budget = budget.with_documents(u32::MAX as usize, 1 << 30, 1 << 40).unwrap();
        assert!(budget.columns() > 1 << 50 && budget.entries() > 1 << 50);
        assert_eq!(budget.sets() as u64, CACHE_BYTES);
    }
}
