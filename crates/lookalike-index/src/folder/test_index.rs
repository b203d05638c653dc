//! Small indexes for tests.

use super::index_folder::IndexFolder;
use super::index_state::IndexState;
use super::{Tuning, folder, write};
use crate::backend::Change;
use crate::entry::{IndexEntry, Metadata};
use crate::error::IndexError;
use crate::settings::{IndexSettings, StoredContent};
use lookalike_core::params::{Params, ParamsBuilder};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What an index with sets is made with.
pub(super) fn settings() -> IndexSettings {
    let params = Params::new(&ParamsBuilder::default()).unwrap();
    IndexSettings::new(&params, "", StoredContent::Sets).unwrap()
}

/// A document without shingles.
pub(super) fn entry<'a>(id: &'a str, metadata: &'a Metadata) -> IndexEntry<'a> {
    IndexEntry {
        id,
        fingerprint: 0,
        bytes: 0,
        signature: &[],
        set: &[0],
        text: None,
        original: None,
        metadata,
        added: 0,
        modified: None,
        expires: None,
    }
}

/// A new index, open for writing; nothing is merged by itself.
pub(super) fn state(path: &Path, tuning: Tuning) -> Arc<IndexState> {
    folder::create(path, &settings()).unwrap();
    opened(path, tuning)
}

/// An index, open for writing; nothing is merged by itself.
pub(super) fn opened(path: &Path, tuning: Tuning) -> Arc<IndexState> {
    let state = folder::open_for_writing(&IndexFolder::new(path), Duration::ZERO, tuning);
    Arc::new(state.unwrap())
}

/// Adds a document or replaces it.
pub(super) fn try_put(state: &IndexState, id: &str) -> Result<(), IndexError> {
    let metadata = Metadata::default();
    write::write(state, &[Change::Put(entry(id, &metadata))]).map(|_| ())
}

/// The same, where nothing keeps it from being done.
pub(super) fn put(state: &IndexState, id: &str) {
    try_put(state, id).unwrap();
}
