//! A collection in, its documents in an index: read by all threads, written in reading order.

use super::add_options::{AddOptions, Existing};
use super::prepare::TextPreparer;
use super::prepared_block::{BlockMaker, PreparedBlock, PreparedRow};
use super::reorder_buffer::ReorderBuffer;
use crate::error::Error;
use crate::progress::{Interruption, Progress, Stage};
use crate::read::{Block, Collection, ReadError, SkippedItem};
use lookalike_index::backend::{Change, ChangeOutcome};
use lookalike_index::entry::RecordFields;
use lookalike_index::query_by_id::record;
use lookalike_index::{Index, IndexError};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Documents that are written together.
const BATCH_DOCUMENTS: usize = 4096;
/// Bytes of them after which they are written, however few they are.
const BATCH_BYTES: usize = 64 << 20;

/// What was done, for good.
#[derive(Debug, Default)]
pub struct AddCounts {
    /// Documents with new ids.
    pub added: u64,
    /// Documents that replaced others.
    pub replaced: u64,
    /// Documents that were not put, for their ids were there.
    pub existing: u64,
    /// How many of those that were put have no shingles, and resemble nothing.
    pub without_shingles: u64,
    /// Names of [`AddOptions::metadata`] that no document has; none where no document was read.
    pub not_found: Vec<String>,
    /// What is no document, that of the collection's walk of folders included.
    pub skipped: Vec<SkippedItem>,
}

/// Interrupted adding of documents.
#[derive(Debug)]
pub struct InterruptedAdd {
    /// What was done before, for good: all documents before the one that failed.
    pub before: AddCounts,
    /// Why.
    pub error: Error,
}

/// Reads a collection and puts its documents into an index, in reading order, some thousand at a
/// time; what is done stays done, whatever happens later. Texts are to be read as they are: the
/// index brings them to its wording itself, so that the collection must have none.
///
/// Every document gets the metadata `source` (its file), what a file that is no plain text says
/// about itself (`title`, `subject`, `from`, `date`, …), and the chosen fields; in JSONL these keep
/// their types, elsewhere they are texts. Where an id comes twice in the collection, the second
/// document meets the first one in the index.
///
/// # Errors
/// The first record in reading order that cannot be read or stored, with its place; what keeps
/// the index from being written. All documents before it are stored.
pub fn add(
    index: &Index,
    collection: &Collection,
    options: &AddOptions,
    progress: &dyn Progress,
) -> Result<AddCounts, Box<InterruptedAdd>> {
    let start = Instant::now();
    progress.begin(Stage::Add, collection.bytes());
    let (handed_out, reported) = (Mutex::new(0), AtomicU64::new(0));
    let reading = CollectionReader { index, collection, options, progress, handed_out, reported };
    let mut writer = BlockWriter::new(index, options);
    writer.added.skipped.extend_from_slice(collection.listed());
    let written = reading.write(&mut writer);
    progress.end(Stage::Add, start.elapsed());
    match written {
        Ok(()) => Ok(writer.done()),
        Err(error) => Err(Box::new(InterruptedAdd { before: writer.added, error })),
    }
}

/// A collection on its way into an index.
struct CollectionReader<'a> {
    index: &'a Index,
    collection: &'a Collection,
    options: &'a AddOptions,
    progress: &'a dyn Progress,
    /// Blocks that were handed out.
    handed_out: Mutex<u64>,
    /// Bytes that were reported.
    reported: AtomicU64,
}

impl CollectionReader<'_> {
    /// Has all of it read by other threads and written by this one.
    fn write(&self, writer: &mut BlockWriter<'_>) -> Result<(), Error> {
        let ordered = &ReorderBuffer::new(self.options.threads.get());
        std::thread::scope(|scope| {
            let _taker = ordered.taker();
            for number in 0..self.options.threads.get() {
                let (maker, preparer) = (ordered.maker(), self.preparer()?);
                let work = move || {
                    let _maker = maker;
                    self.parts(preparer).all(|(number, part)| ordered.put(number, part))
                };
                if std::thread::Builder::new().spawn_scoped(scope, work).is_ok() {
                    continue;
                }
                // Where the system gives no more threads, those there are read; without any, this
                // one does.
                if number == 0 {
                    return writer.write_all(self.parts(self.preparer()?).map(|(_, part)| part));
                }
                break;
            }
            writer.write_all(std::iter::from_fn(|| ordered.take()))
        })
    }

    fn preparer(&self) -> Result<TextPreparer, IndexError> {
        TextPreparer::new(self.index.settings())
    }

    /// The blocks that one thread takes, each with its number; one that fails is the last.
    fn parts(&self, preparer: TextPreparer) -> impl Iterator<Item = (u64, BlockOutcome)> {
        let mut maker = BlockMaker::new(self.collection, preparer, self.options);
        let (mut wanted, mut failed) = (Ok::<(), Interruption>(()), false);
        std::iter::from_fn(move || {
            if failed {
                return None;
            }
            let (number, block) = self.next()?;
            let outcome = match (wanted, block) {
                (Ok(()), Ok(block)) => maker.part(&block),
                (Ok(()), Err(error)) => (PreparedBlock::default(), Err(error.into())),
                (Err(interrupted), _) => (PreparedBlock::default(), Err(interrupted.into())),
            };
            failed = outcome.1.is_err();
            wanted = self.tell();
            Some((number, outcome))
        })
    }

    /// The next block in reading order, and its number.
    fn next(&self) -> Option<(u64, Result<Block, ReadError>)> {
        let mut number = self.handed_out.lock().unwrap_or_else(PoisonError::into_inner);
        let block = self.collection.next_block_in_order().transpose()?;
        *number += 1;
        Some((*number - 1, block))
    }

    fn tell(&self) -> Result<(), Interruption> {
        let read = self.collection.bytes_read();
        let before = self.reported.fetch_max(read, Ordering::Relaxed);
        self.progress.advance(read.saturating_sub(before))
    }
}

/// The documents of a block before a record that fails, and why it fails.
type BlockOutcome = (PreparedBlock, Result<(), Error>);

/// Writes parts as they come.
pub(super) struct BlockWriter<'a> {
    index: &'a Index,
    options: &'a AddOptions,
    /// Which fields any document has.
    found: Vec<bool>,
    /// Documents that came.
    read: u64,
    /// The line of the document that failed.
    pub(super) failed: Option<u64>,
    pub(super) added: AddCounts,
}

impl<'a> BlockWriter<'a> {
    pub(super) fn new(index: &'a Index, options: &'a AddOptions) -> Self {
        let found = vec![false; options.metadata.len()];
        Self { index, options, found, read: 0, failed: None, added: AddCounts::default() }
    }

    fn done(mut self) -> AddCounts {
        if self.read > 0 {
            let names = self.options.metadata.iter().zip(&self.found);
            let missing = names.filter(|(_, found)| !**found).map(|(name, _)| name.clone());
            self.added.not_found = missing.collect();
        }
        self.added
    }

    fn write_all(&mut self, parts: impl Iterator<Item = BlockOutcome>) -> Result<(), Error> {
        let mut batch: Vec<PreparedBlock> = Vec::new();
        for (part, read) in parts {
            batch.push(part);
            let rows: usize = batch.iter().map(|part| part.rows.len()).sum();
            let bytes: usize = batch.iter().map(PreparedBlock::bytes).sum();
            if read.is_err() || rows >= BATCH_DOCUMENTS || bytes >= BATCH_BYTES {
                self.write(std::mem::take(&mut batch))?;
            }
            read?;
        }
        self.write(batch)
    }

    /// Writes some parts, all of them or all before the document that fails.
    pub(super) fn write(&mut self, mut parts: Vec<PreparedBlock>) -> Result<(), Error> {
        for part in &mut parts {
            self.added.skipped.append(&mut part.skipped);
            self.read += part.rows.len() as u64;
            for (found, here) in self.found.iter_mut().zip(&part.found) {
                *found |= *here;
            }
        }
        let rows = parts.iter().flat_map(|part| part.rows.iter().map(move |row| (part, row)));
        let mut rows: Vec<(&PreparedBlock, &PreparedRow)> = rows.collect();
        let mut left_out = Vec::new();
        if self.options.existing == Existing::Keep {
            left_out = self.leave_out(&mut rows)?;
        }
        let Err(error) = self.put(&rows) else {
            self.added.existing += left_out.len() as u64;
            return Ok(());
        };
        let Some(at) = self.place_of(&error, &rows) else { return Err(error.into()) };
        self.put(&rows[..at])?;
        self.added.existing += left_out.iter().filter(|before| **before <= at).count() as u64;
        self.failed = rows[at].1.line();
        Err(Error::NotAdded { place: rows[at].1.place(), error })
    }

    fn put(&mut self, rows: &[(&PreparedBlock, &PreparedRow)]) -> Result<(), IndexError> {
        if rows.is_empty() {
            return Ok(());
        }
        let AddOptions { existing, added, expires, .. } = *self.options;
        let entries = rows.iter().map(|&(part, row)| part.entry(row, added, expires));
        let change = if existing == Existing::Replace { Change::Put } else { Change::Add };
        let changes: Vec<Change<'_>> = entries.map(change).collect();
        for done in self.index.write(&changes)? {
            match done {
                ChangeOutcome::Added => self.added.added += 1,
                ChangeOutcome::Replaced => self.added.replaced += 1,
                ChangeOutcome::Removed | ChangeOutcome::Absent => {}
            }
        }
        self.added.without_shingles += rows.iter().filter(|(_, row)| row.is_empty()).count() as u64;
        Ok(())
    }

    /// Leaves out documents whose ids are there, or come twice. Of each: how many stay before it.
    fn leave_out(
        &mut self,
        rows: &mut Vec<(&PreparedBlock, &PreparedRow)>,
    ) -> Result<Vec<usize>, IndexError> {
        let (mut snapshot, now) = (self.index.snapshot()?, self.options.added);
        let mut seen = HashSet::new();
        let (mut staying, mut left_out) = (Vec::with_capacity(rows.len()), Vec::new());
        for (part, row) in rows.drain(..) {
            let id = part.id(row);
            let known = record(&mut *snapshot, id, now, RecordFields::default())?;
            if known.is_none() && seen.insert(id) {
                staying.push((part, row));
            } else {
                left_out.push(staying.len());
            }
        }
        *rows = staying;
        Ok(left_out)
    }

    /// Which document an error is about.
    fn place_of(
        &self,
        error: &IndexError,
        rows: &[(&PreparedBlock, &PreparedRow)],
    ) -> Option<usize> {
        let ids = || rows.iter().map(|(part, row)| part.id(row));
        match error {
            IndexError::IdTaken { id } => {
                let first = ids().position(|other| other == id)?;
                let known = self.index.snapshot().and_then(|mut now| now.number_of(id));
                if known.is_ok_and(|number| number.is_some()) {
                    return Some(first);
                }
                ids().skip(first + 1).position(|other| other == id).map(|at| first + 1 + at)
            }
            IndexError::Document { id, .. } => {
                ids().position(|other| lookalike_index::entry::shown(other) == *id)
            }
            _ => None,
        }
    }
}
