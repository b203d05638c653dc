//! Small indexes for tests.

use super::fault::Place;
use super::shared::Shared;
use super::{Tuning, folder, write};
use crate::backend::Change;
use crate::entry::{Entry, Metadata};
use crate::error::IndexError;
use crate::settings::{Settings, Store};
use lookalike_core::params::{Params, Wishes};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What an index with sets is made with.
pub(super) fn settings() -> Settings {
    let params = Params::new(&Wishes::default()).unwrap();
    Settings::new(&params, "", Store::Sets).unwrap()
}

/// A document without shingles.
pub(super) fn entry<'a>(id: &'a str, metadata: &'a Metadata) -> Entry<'a> {
    Entry {
        id,
        fingerprint: 0,
        bytes: 0,
        signature: &[],
        set: &[0],
        text: None,
        metadata,
        added: 0,
        modified: None,
        expires: None,
    }
}

/// A new index, open for writing; nothing is merged by itself.
pub(super) fn shared(path: &Path, tuning: Tuning) -> Arc<Shared> {
    folder::create(path, &settings()).unwrap();
    opened(path, tuning)
}

/// An index, open for writing; nothing is merged by itself.
pub(super) fn opened(path: &Path, tuning: Tuning) -> Arc<Shared> {
    let shared = folder::open_for_writing(&Place::new(path), Duration::ZERO, tuning);
    Arc::new(shared.unwrap())
}

/// Adds a document or replaces it.
pub(super) fn try_put(shared: &Shared, id: &str) -> Result<(), IndexError> {
    let metadata = Metadata::default();
    write::write(shared, &[Change::Put(entry(id, &metadata))]).map(|_| ())
}

/// The same, where nothing keeps it from being done.
pub(super) fn put(shared: &Shared, id: &str) {
    try_put(shared, id).unwrap();
}
