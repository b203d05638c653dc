//! Changes of an index of sketches that are not written yet.

use super::ids::{Key, ORIGINAL, nth};
use super::open_folder::{OpenFolder, records_of};
use lookalike::store::IndexError;
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::Metadata;
use lookalike::store::settings::IndexSettings;
use std::collections::HashMap;
use std::sync::Arc;

/// An unwritten change of one record.
pub(super) enum PlannedChange {
    Add { id: String, signature: Vec<u32>, metadata: Metadata },
    Remove { id: String },
}

/// The unwritten changes in order, with values derived from them.
#[derive(Default)]
pub(super) struct PendingChanges {
    pub(super) planned: Vec<PlannedChange>,
    /// The number of records of each changed key after the changes.
    counts: HashMap<String, u32>,
    /// The difference that the changes make to the number of repeated records, which are not the
    /// first of their key.
    pub(super) repeated: i64,
    /// The settings for the new folder. Set by the first sketch if no folder exists.
    pub(super) settings: Option<Arc<IndexSettings>>,
    /// A snapshot of the stored records, valid until the next write.
    snapshot: Option<Box<dyn Snapshot>>,
}

impl PendingChanges {
    /// Returns a snapshot of the stored records.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn snapshot(&mut self, open: &OpenFolder) -> Result<&mut dyn Snapshot, IndexError> {
        let snapshot = match self.snapshot.take() {
            Some(snapshot) => snapshot,
            None => open.backend.snapshot()?,
        };
        Ok(&mut **self.snapshot.insert(snapshot))
    }

    /// The number of records of a key, including pending changes.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn count(&mut self, open: Option<&OpenFolder>, id: &str) -> Result<u32, IndexError> {
        if let Some(count) = self.counts.get(id) {
            return Ok(*count);
        }
        match open {
            Some(open) => records_of(self.snapshot(open)?, id),
            None => Ok(0),
        }
    }

    /// Releases the snapshot. While it exists, the database cannot truncate its write-ahead log.
    pub(super) fn release_snapshot(&mut self) {
        self.snapshot = None;
    }

    /// Releases the snapshot unless changes are pending. Only a session with changes is likely to
    /// use it again soon.
    pub(super) fn rest(&mut self) {
        if self.planned.is_empty() {
            self.release_snapshot();
        }
    }

    /// Plans a further record of a key that has `count` records.
    pub(super) fn add(&mut self, key: Key, count: u32, signature: Vec<u32>) {
        self.repeated += i64::from(count > 0);
        let mut metadata = Metadata::new();
        if let Some(original) = key.original {
            metadata.insert(ORIGINAL.to_owned(), original.into());
        }
        let id = nth(&key.id, count).into_owned();
        self.planned.push(PlannedChange::Add { id, signature, metadata });
        self.counts.insert(key.id, count + 1);
    }

    /// Plans the removal of the `count` records of a key.
    pub(super) fn remove(&mut self, id: &str, count: u32) {
        self.repeated -= i64::from(count.saturating_sub(1));
        let records = (0..count).map(|at| PlannedChange::Remove { id: nth(id, at).into_owned() });
        self.planned.extend(records);
        self.counts.insert(id.to_owned(), 0);
    }
}
