//! A document of a batch, prepared for writing: expensive work is done before the lock is acquired.

use super::row::checksums;
use crate::backend::Change;
use crate::checksum::RowFields;
use crate::entry::IndexEntry;
use crate::error::IndexError;
use crate::settings::IndexSettings;
use crate::text_code::frame_of;
use std::borrow::Cow;

/// Maximum size of a row's set and text together. The server limits a row to 2³⁰ bytes.
const MAX_ROW_BYTES: usize = 1_000_000_000;

/// The values of a row, except the number.
pub(super) struct DocumentRowValues<'a> {
    pub(super) entry: IndexEntry<'a>,
    pub(super) metadata: String,
    pub(super) set: Option<&'a [u8]>,
    pub(super) text: Option<Cow<'a, [u8]>>,
}

impl DocumentRowValues<'_> {
    /// The checksums of the row if it is stored under the number `doc`.
    pub(super) fn checksums(&self, doc: i64) -> [u8; 40] {
        let Self { entry, metadata, set, text, .. } = self;
        let fingerprint = entry.fingerprint.to_le_bytes();
        let fields = RowFields::of_entry(doc.cast_unsigned(), entry, &fingerprint, &[]);
        let signature: Vec<u8> = entry.signature.iter().flat_map(|v| v.to_le_bytes()).collect();
        let metadata = Some(metadata.as_bytes());
        checksums(&fields, [Some(&signature[..]), metadata, *set, text.as_deref()])
    }
}

/// Prepares the row of a document that a change adds; `None` for a removal.
///
/// # Errors
/// [`IndexError::Document`] for a document that cannot be stored.
pub(super) fn prepare<'a>(
    change: &Change<'a>,
    settings: &IndexSettings,
) -> Result<Option<DocumentRowValues<'a>>, IndexError> {
    let Some(entry) = change.entry().copied() else { return Ok(None) };
    settings.check_entry(&entry)?;
    let metadata = entry.metadata_json()?;
    let set = settings.store.has_sets().then_some(entry.set);
    let text = entry.text.filter(|_| settings.store.has_texts());
    let text = text.map(|text| frame_of(text, entry.id)).transpose()?;
    let length = set.map_or(0, <[u8]>::len) + text.as_ref().map_or(0, |text| text.len());
    if length > MAX_ROW_BYTES {
        let why = format!(
            "its set and its compressed text have {length} bytes, PostgreSQL takes \
             {MAX_ROW_BYTES}: divide it, or keep no texts"
        );
        return Err(IndexError::document(entry.id, why));
    }
    Ok(Some(DocumentRowValues { entry, metadata, set, text }))
}
