//! Removes documents from an index by their ids.

use crate::engine::FindError;
use crate::progress::{Progress, Stage};
use crate::read::{Collection, Document, DocumentSink, ReadBuffers, ReadError, SkippedItem};
use crate::read_progress::ReadProgress;
use lookalike_index::backend::{Change, ChangeOutcome};
use lookalike_index::{Index, IndexError};
use std::collections::HashSet;
use std::time::Instant;

/// The number of ids per write.
const BATCH: usize = 4096;

/// Counts of committed removals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemovedCounts {
    /// Removed documents.
    pub removed: u64,
    /// Ids without a document, in the order of the request.
    pub absent: Vec<String>,
}

/// Removes the documents with these ids, in batches of a few thousand. An absent id is not an
/// error. Memory: all ids.
///
/// # Errors
/// Errors of writing to the index. Documents that were removed before the error remain removed.
pub fn remove<'a>(
    index: &Index,
    ids: impl IntoIterator<Item = &'a str>,
) -> Result<RemovedCounts, IndexError> {
    let mut remover = Remover { index, seen: HashSet::new(), removed: RemovedCounts::default() };
    remover.remove(ids)?;
    Ok(remover.removed)
}

/// Removes the documents whose ids occur in a collection.
///
/// # Errors
/// Errors of [`remove`] and of reading the collection.
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
    /// All ids so far, so that a repeated id is not reported as absent.
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
            // On a full disk, smaller batches need less space before they free some.
            Err(IndexError::DiskFull { .. }) if ids.len() > 1 => {
                let (first, second) = ids.split_at(ids.len() / 2);
                self.write(first)?;
                return self.write(second);
            }
            written => written?,
        };
        for (id, outcome) in ids.iter().zip(written) {
            match outcome {
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
