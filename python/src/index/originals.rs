//! Reads the original files of documents in an index, and the versions of a document.

use super::convert::{optional_time, time};
use super::open_index::Handle;
use super::query::unknown;
use crate::error::{OptionError, index_error};
use lookalike::index::time::now;
use lookalike::store::IndexError;
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::{RecordFields, shortened_id};
use lookalike::store::original::DocumentVersion;
use lookalike::store::query_by_id::record;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Returns the versions of a document ordered by time, or `None` for an unknown document.
///
/// # Errors
/// [`IndexError::NoOriginals`], and read errors.
pub(super) fn versions(
    handle: &Handle,
    id: &str,
) -> Result<Option<Vec<DocumentVersion>>, IndexError> {
    versions_in(&mut *handle.index.snapshot()?, id)
}

fn versions_in(
    snapshot: &mut dyn Snapshot,
    id: &str,
) -> Result<Option<Vec<DocumentVersion>>, IndexError> {
    let versions = snapshot.versions(id)?;
    // An expired document and its versions no longer exist.
    let found = record(snapshot, id, now(), RecordFields::default())?;
    Ok(found.map(|_| versions))
}

/// Returns the original bytes of a version of a document, by default of the last version.
///
/// # Errors
/// `DocumentError` for an unknown document, `OptionError` for an unknown version, and read errors.
pub(super) fn original(handle: &Handle, id: &str, number: Option<u64>) -> PyResult<Vec<u8>> {
    let mut snapshot = handle.index.snapshot().map_err(index_error)?;
    let version = version(handle, &mut *snapshot, id, number)?;
    snapshot.original(&version).map_err(index_error)
}

/// Returns the text of a version of a document, or `None` for a version stored without a text.
///
/// # Errors
/// As [`original`].
pub(super) fn text(handle: &Handle, id: &str, number: Option<u64>) -> PyResult<Option<String>> {
    let mut snapshot = handle.index.snapshot().map_err(index_error)?;
    let version = version(handle, &mut *snapshot, id, number)?;
    snapshot.version_text(&version).map_err(index_error)
}

fn version(
    handle: &Handle,
    snapshot: &mut dyn Snapshot,
    id: &str,
    number: Option<u64>,
) -> PyResult<DocumentVersion> {
    let versions = versions_in(snapshot, id).map_err(index_error)?;
    let mut versions = versions.ok_or_else(|| unknown(handle.index.name(), id))?;
    let last = versions.last().map_or(0, |version| version.number);
    let wanted = number.unwrap_or(last);
    let at = versions.iter().position(|version| version.number == wanted).ok_or_else(|| {
        OptionError::new_err(format!(
            "version is {wanted}, document {:?} has no such version: expected 1 to {last}",
            shortened_id(id)
        ))
    })?;
    Ok(versions.swap_remove(at))
}

/// Converts a version to a tuple: number, added, ended, modified, media type, name, bytes, SHA-256.
///
/// # Errors
/// Errors of the interpreter.
pub(super) fn row<'py>(
    py: Python<'py>,
    version: &DocumentVersion,
) -> PyResult<Bound<'py, PyTuple>> {
    (
        version.number,
        time(py, version.added)?,
        optional_time(py, version.ended)?,
        optional_time(py, version.modified)?,
        version.media_type.as_str(),
        version.name.as_str(),
        version.bytes,
        version.sha256_hex(),
    )
        .into_pyobject(py)
}
