//! An index in a folder: documents in a catalogue, band postings in segments.

use crate::backend::Backend;
use crate::error::IndexError;
use crate::index::Access;
use crate::settings::Settings;
use std::path::Path;

/// Makes an index in a new folder.
///
/// # Errors
/// [`IndexError::Exists`] where there is something.
pub fn create(folder: &Path, _: &Settings) -> Result<Box<dyn Backend>, IndexError> {
    Err(IndexError::NotBuilt { index: folder.display().to_string(), feature: "sqlite" })
}

/// Opens the index in a folder.
///
/// # Errors
/// As [`open`](crate::index::open).
pub fn open(folder: &Path, _: Access) -> Result<Box<dyn Backend>, IndexError> {
    Err(IndexError::NotBuilt { index: folder.display().to_string(), feature: "sqlite" })
}
