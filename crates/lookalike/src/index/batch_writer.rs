//! Collects prepared blocks into batches and writes them to the backend.

use super::add_options::{AddOptions, Existing};
use super::buffered_documents::{BufferedDocuments, PreparedRow, RowLocation};
use super::categories::index_categories::catch_up;
use super::existing_ids::ExistingIds;
use super::group_members::record_members;
use super::prepared_block::PreparedBlock;
use super::unchanged::leave_out_unchanged;
use crate::index::error::AddError;
use crate::read::SkippedItem;
use lookalike_index::backend::{Change, ChangeOutcome};
use lookalike_index::entry::shortened_id;
use lookalike_index::{Index, IndexError};

/// Counts of committed changes.
#[derive(Debug, Default)]
pub struct AddCounts {
    /// Documents with new ids.
    pub added: u64,
    /// Documents that replaced others.
    pub replaced: u64,
    /// Documents that were left out because their ids exist in the index.
    pub existing: u64,
    /// Documents that were newly recorded as duplicates of documents in the index.
    pub duplicates: u64,
    /// Stored documents without shingles, which are never similar to others.
    pub without_shingles: u64,
    /// Names of [`AddOptions::metadata`] that no document has; empty if no document was read.
    pub not_found: Vec<String>,
    /// Skipped items, including those found when the collection walked folders.
    pub skipped: Vec<SkippedItem>,
}

/// An interrupted addition of documents.
#[derive(Debug)]
pub struct InterruptedAdd<E = AddError> {
    /// Counts of committed changes: all documents before the failed one.
    pub before: AddCounts,
    /// The error that ended the addition.
    pub error: E,
}

/// The error of a batch that was not written.
pub(super) struct NotWritten {
    /// The document that cannot be stored; `None` if the cause is not a document.
    pub(super) location: Option<RowLocation>,
    pub(super) error: IndexError,
}

impl From<IndexError> for NotWritten {
    fn from(error: IndexError) -> Self {
        Self { location: None, error }
    }
}

impl From<NotWritten> for AddError {
    fn from(NotWritten { location, error }: NotWritten) -> Self {
        match location {
            Some(location) => Self::NotAdded { place: Box::new(location.into()), error },
            None => error.into(),
        }
    }
}

/// Writes blocks in batches.
pub(super) struct BatchWriter<'a> {
    index: &'a Index,
    options: &'a AddOptions,
    /// The numbers of documents and of bytes at which a batch is written.
    limits: (usize, usize),
    /// For each chosen field, whether any document has it.
    found: Vec<bool>,
    /// Number of documents that were read.
    read: u64,
    pub(super) counts: AddCounts,
}

impl<'a> BatchWriter<'a> {
    pub(super) fn new(index: &'a Index, options: &'a AddOptions, limits: (usize, usize)) -> Self {
        let counts = AddCounts::default();
        Self { index, options, limits, found: Vec::new(), read: 0, counts }
    }

    /// Returns the counts. If not everything was written, returns an error with the counts and the
    /// cause.
    pub(super) fn finish<E>(
        mut self,
        written: Result<(), E>,
    ) -> Result<AddCounts, Box<InterruptedAdd<E>>> {
        if let Err(error) = written {
            return Err(Box::new(InterruptedAdd { before: self.counts, error }));
        }
        if self.read > 0 {
            let names = self.options.metadata.iter().zip(&self.found);
            let missing = names.filter(|(_, found)| !**found).map(|(name, _)| name.clone());
            self.counts.not_found = missing.collect();
        }
        Ok(self.counts)
    }

    /// Writes blocks as they arrive, up to the first that fails. Then stores the categories of
    /// their documents, if the index has categories.
    pub(super) fn write_all<E: From<NotWritten>>(
        &mut self,
        blocks: &mut dyn Iterator<Item = PreparedBlock<E>>,
    ) -> Result<(), E> {
        let mut batch = Vec::new();
        let mut count = 0;
        let mut bytes = 0;
        for mut block in blocks {
            self.note(&mut block);
            count += block.documents.iter().map(BufferedDocuments::len).sum::<usize>();
            bytes += block.documents.iter().map(BufferedDocuments::bytes).sum::<usize>();
            batch.append(&mut block.documents);
            let is_full = count >= self.limits.0 || bytes >= self.limits.1;
            if is_full || block.failure.is_some() {
                self.write(&batch)?;
                batch.clear();
                count = 0;
                bytes = 0;
            }
            block.failure.map_or(Ok(()), Err)?;
        }
        self.write(&batch)?;
        drop(batch);
        catch_up(self.index).map_err(NotWritten::from)?;
        Ok(())
    }

    /// Records the skipped items, the number of documents and the found fields of a block.
    fn note<E>(&mut self, block: &mut PreparedBlock<E>) {
        self.counts.skipped.append(&mut block.skipped);
        self.read += block.documents.iter().map(|batch| batch.len() as u64).sum::<u64>();
        self.found.resize(block.found.len().max(self.found.len()), false);
        for (found, in_block) in self.found.iter_mut().zip(&block.found) {
            *found |= *in_block;
        }
    }

    /// Writes all documents of a batch, or all before the first that fails.
    fn write(&mut self, documents: &[BufferedDocuments]) -> Result<(), NotWritten> {
        let mut rows: Vec<_> = documents.iter().flat_map(BufferedDocuments::rows).collect();
        let mut left_out = Vec::new();
        match self.options.existing {
            Existing::Keep => left_out = self.leave_out_existing(&mut rows)?,
            Existing::ReplaceChanged => {
                left_out = leave_out_unchanged(self.index, &mut rows, self.options.added)?;
            }
            Existing::Refuse | Existing::Replace => {}
        }
        let Err(error) = self.put(&rows) else {
            self.counts.existing += left_out.len() as u64;
            return Ok(());
        };
        let Some(at) = self.position_of(&error, &rows) else { return Err(error.into()) };
        self.put(&rows[..at])?;
        self.counts.existing += left_out.iter().filter(|before| **before <= at).count() as u64;
        Err(NotWritten { location: Some(rows[at].location().clone()), error })
    }

    fn put(&mut self, rows: &[PreparedRow<'_>]) -> Result<(), IndexError> {
        if rows.is_empty() {
            return Ok(());
        }
        let replaces =
            matches!(self.options.existing, Existing::Replace | Existing::ReplaceChanged);
        let changes = rows.iter().map(|row| {
            let change = if replaces || row.is_next_version() { Change::Put } else { Change::Add };
            change(row.entry())
        });
        let changes: Vec<_> = changes.collect();
        for (outcome, row) in self.index.write(&changes)?.into_iter().zip(rows) {
            match outcome {
                // The first version of the document was counted.
                _ if row.is_next_version() => {}
                ChangeOutcome::Added => self.counts.added += 1,
                ChangeOutcome::Replaced => self.counts.replaced += 1,
                ChangeOutcome::Removed | ChangeOutcome::Absent => {}
            }
        }
        self.counts.duplicates +=
            record_members(self.index, rows.iter().map(|row| (row.id(), row.duplicates())))?;
        let is_former = rows.iter().skip(1).map(|next| next.is_next_version()).chain([false]);
        let last = rows.iter().zip(is_former).filter(|(_, is_former)| !is_former);
        let empty = last.filter(|(row, _)| row.entry().signature.is_empty());
        self.counts.without_shingles += empty.count() as u64;
        Ok(())
    }

    /// Removes documents whose ids exist in the index or earlier in the batch. Returns for each
    /// removed document how many documents before it are kept.
    fn leave_out_existing(
        &self,
        rows: &mut Vec<PreparedRow<'_>>,
    ) -> Result<Vec<usize>, IndexError> {
        let mut ids = ExistingIds::new(self.index);
        let mut staying = Vec::with_capacity(rows.len());
        let mut left_out = Vec::new();
        let mut kept = 0;
        for row in rows.iter() {
            let id = row.id();
            let is_new = if row.is_next_version() {
                staying.last() == Some(&true)
            } else if ids.has(id, self.options.added)? {
                left_out.push(kept);
                false
            } else {
                ids.set(id, true);
                true
            };
            kept += usize::from(is_new);
            staying.push(is_new);
        }
        let mut staying = staying.into_iter();
        rows.retain(|_| staying.next() == Some(true));
        Ok(left_out)
    }

    /// Returns the position of the document that caused an error.
    fn position_of(&self, error: &IndexError, rows: &[PreparedRow<'_>]) -> Option<usize> {
        let ids = || rows.iter().map(|row| row.id());
        match error {
            IndexError::IdTaken { id } => {
                let first = ids().position(|other| other == id)?;
                let stored = self.index.snapshot().and_then(|mut now| now.number_of(id));
                if stored.is_ok_and(|number| number.is_some()) {
                    return Some(first);
                }
                ids().skip(first + 1).position(|other| other == id).map(|at| first + 1 + at)
            }
            IndexError::Document { id, .. } => ids().position(|other| shortened_id(other) == *id),
            _ => None,
        }
    }
}
