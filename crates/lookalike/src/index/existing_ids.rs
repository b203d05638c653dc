//! Which ids an index has in the middle of a batch of changes.

use lookalike_index::backend::Snapshot;
use lookalike_index::entry::RecordFields;
use lookalike_index::query_by_id::record;
use lookalike_index::{Index, IndexError};
use std::collections::HashMap;

/// The ids of an index, with the changes of a batch so far. The index is read as it is at the first
/// look-up.
pub struct ExistingIds<'a> {
    index: &'a Index,
    snapshot: Option<Box<dyn Snapshot>>,
    changed: HashMap<&'a str, bool>,
}

impl<'a> ExistingIds<'a> {
    /// Of an index, before any change.
    pub fn new(index: &'a Index) -> Self {
        Self { index, snapshot: None, changed: HashMap::new() }
    }

    /// Records that a change of the batch stores or removes the document with this id.
    pub fn set(&mut self, id: &'a str, exists: bool) {
        self.changed.insert(id, exists);
    }

    /// Whether there is a document with this id that does not expire by `now`, in ns since 1970.
    ///
    /// # Errors
    /// What keeps the index from being read.
    pub fn has(&mut self, id: &str, now: i64) -> Result<bool, IndexError> {
        if let Some(exists) = self.changed.get(id) {
            return Ok(*exists);
        }
        let snapshot = match &mut self.snapshot {
            Some(snapshot) => snapshot,
            none => none.insert(self.index.snapshot()?),
        };
        Ok(record(&mut **snapshot, id, now, RecordFields::default())?.is_some())
    }
}
