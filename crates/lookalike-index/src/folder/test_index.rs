//! Small indexes for tests.

use crate::backend::Change;
use crate::entry::{IndexEntry, Metadata};
use crate::error::IndexError;
use crate::folder::Tuning;
use crate::folder::index_folder::IndexFolder;
use crate::folder::index_state::IndexState;
use crate::folder::open_folder;
use crate::folder::write;
use crate::settings::{IndexSettings, StoredContent};
use lookalike_core::params::{Params, ParamsBuilder};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The settings of an index with sets.
pub(crate) fn settings() -> IndexSettings {
    let params = Params::new(&ParamsBuilder::default()).unwrap();
    IndexSettings::new(&params, "", StoredContent::Sets).unwrap()
}

/// A document without shingles.
pub(crate) fn entry<'a>(id: &'a str, metadata: &'a Metadata) -> IndexEntry<'a> {
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

/// A new index, open for writing, without automatic merges.
pub(crate) fn state(path: &Path, tuning: Tuning) -> Arc<IndexState> {
    open_folder::create(path, &settings()).unwrap();
    opened(path, tuning)
}

/// An index, open for writing, without automatic merges.
pub(crate) fn opened(path: &Path, tuning: Tuning) -> Arc<IndexState> {
    let state = open_folder::open_for_writing(&IndexFolder::new(path), Duration::ZERO, tuning);
    Arc::new(state.unwrap())
}

/// Adds a document or replaces it.
pub(crate) fn try_put(state: &IndexState, id: &str) -> Result<(), IndexError> {
    let metadata = Metadata::default();
    write::write(state, &[Change::Put(entry(id, &metadata))]).map(|_| ())
}

/// Like [`try_put`], if no error is expected.
pub(crate) fn put(state: &IndexState, id: &str) {
    try_put(state, id).unwrap();
}
