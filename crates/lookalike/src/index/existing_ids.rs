//! The ids that exist in an index in the middle of a batch of changes.

use lookalike_index::backend::Snapshot;
use lookalike_index::entry::RecordFields;
use lookalike_index::query_by_id::record;
use lookalike_index::{Index, IndexError};
use std::collections::HashMap;

/// The ids of an index, with the changes of a batch so far. The first look-up opens the snapshot of
/// the index.
pub struct ExistingIds<'a> {
    index: &'a Index,
    snapshot: Option<Box<dyn Snapshot>>,
    changed: HashMap<&'a str, bool>,
}

impl<'a> ExistingIds<'a> {
    /// Starts with the ids of an index, without changes.
    pub fn new(index: &'a Index) -> Self {
        Self { index, snapshot: None, changed: HashMap::new() }
    }

    /// Records that a change of the batch stores or removes the document with this id.
    pub fn set(&mut self, id: &'a str, exists: bool) {
        self.changed.insert(id, exists);
    }

    /// Whether a document with this id exists and does not expire by `now`, in ns since 1970.
    ///
    /// # Errors
    /// Errors of reading the index.
    pub fn has(&mut self, id: &str, now: i64) -> Result<bool, IndexError> {
        if let Some(exists) = self.changed.get(id) {
            return Ok(*exists);
        }
        let snapshot = match &mut self.snapshot {
            Some(snapshot) => snapshot,
            slot => slot.insert(self.index.snapshot()?),
        };
        Ok(record(&mut **snapshot, id, now, RecordFields::default())?.is_some())
    }
}
