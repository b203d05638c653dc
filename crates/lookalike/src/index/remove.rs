//! Ids in, documents out of an index.

use crate::engine::FindError;
use crate::progress::{Progress, Stage};
use crate::read::{Collection, Document, DocumentSink, ReadBuffers, ReadError, SkippedItem};
use crate::read_progress::ReadProgress;
use lookalike_index::backend::{Change, ChangeOutcome};
use lookalike_index::{Index, IndexError};
use std::collections::HashSet;
use std::time::Instant;

/// Ids that are removed together.
const BATCH: usize = 4096;

/// What was removed, for good.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemovedCounts {
    /// Documents that are gone now.
    pub removed: u64,
    /// Ids of which there was no document, in the order in which they were given.
    pub absent: Vec<String>,
}

/// Removes the documents with these ids, some thousand at a time. One that is not there is no
/// error. Cost: the ids are held in memory.
///
/// # Errors
/// What keeps the index from being written; what was removed before stays so.
pub fn remove<'a>(
    index: &Index,
    ids: impl IntoIterator<Item = &'a str>,
) -> Result<RemovedCounts, IndexError> {
    let mut remover = Remover { index, seen: HashSet::new(), removed: RemovedCounts::default() };
    remover.remove(ids)?;
    Ok(remover.removed)
}

/// Removes the documents that have the ids of those in a collection.
///
/// # Errors
/// As [`remove`], and what keeps the collection from being read.
pub fn remove_inputs(
    index: &Index,
    collection: &Collection,
    progress: &dyn Progress,
) -> Result<RemovedCounts, FindError> {
    let start = Instant::now();
    progress.begin(Stage::Add, collection.bytes());
    let mut remover = Remover { index, seen: HashSet::new(), removed: RemovedCounts::default() };
    let mut scratch = ReadBuffers::default();
    let mut ids = IdBatch::default();
    let read_progress = ReadProgress::new(collection, progress);
    while let Some(block) = collection.next_block_in_order()? {
        let read = block.read(&mut scratch, &mut ids);
        remover.remove(ids.0.iter().map(String::as_str))?;
        read?;
        ids.0.clear();
        read_progress.report()?;
    }
    progress.end(Stage::Add, start.elapsed());
    Ok(remover.removed)
}

struct Remover<'a> {
    index: &'a Index,
    /// All ids so far: one that comes twice is no document that was not there.
    seen: HashSet<String>,
    removed: RemovedCounts,
}

impl Remover<'_> {
    fn remove<'i>(&mut self, ids: impl IntoIterator<Item = &'i str>) -> Result<(), IndexError> {
        let mut batch = Vec::new();
        for id in ids {
            if !self.seen.contains(id) {
                self.seen.insert(id.to_owned());
                batch.push(id);
            }
            if batch.len() == BATCH {
                self.write(&batch)?;
                batch.clear();
            }
        }
        self.write(&batch)
    }

    fn write(&mut self, ids: &[&str]) -> Result<(), IndexError> {
        let changes: Vec<Change<'_>> = ids.iter().map(|id| Change::Remove(id)).collect();
        let written = match self.index.write(&changes) {
            // Fewer at a time need less space on a full disk before they free any.
            Err(IndexError::DiskFull { .. }) if ids.len() > 1 => {
                let (first, second) = ids.split_at(ids.len() / 2);
                self.write(first)?;
                return self.write(second);
            }
            written => written?,
        };
        for (id, done) in ids.iter().zip(written) {
            match done {
                ChangeOutcome::Absent => self.removed.absent.push((*id).to_owned()),
                ChangeOutcome::Removed | ChangeOutcome::Added | ChangeOutcome::Replaced => {
                    self.removed.removed += 1;
                }
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct IdBatch(Vec<String>);

impl DocumentSink for IdBatch {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        self.0.push(document.id.to_owned());
        Ok(())
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), ReadError> {
        Ok(())
    }
}
