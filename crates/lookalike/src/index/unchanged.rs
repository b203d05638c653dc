//! Finds documents that an index contains unchanged.

use super::buffered_documents::PreparedRow;
use lookalike_index::backend::Snapshot;
use lookalike_index::entry::RecordFields;
use lookalike_index::original::original_hash;
use lookalike_index::query_by_id::record;
use lookalike_index::{Index, IndexError};
use std::collections::HashSet;

/// Removes documents that the index contains with the same shingles, text and original. Returns for
/// each removed document how many documents before it are kept.
///
/// # Errors
/// Errors of reading the index.
pub(super) fn leave_out_unchanged(
    index: &Index,
    rows: &mut Vec<PreparedRow<'_>>,
    now: i64,
) -> Result<Vec<usize>, IndexError> {
    let mut snapshot = index.snapshot()?;
    let has_originals = index.settings().store.has_originals();
    let mut staying = Vec::new();
    let mut left_out = Vec::new();
    let mut changed = HashSet::new();
    for row in rows.iter() {
        let id = row.id();
        // If an earlier row of this batch changes the document, the index contains an outdated
        // version.
        let is_same = !changed.contains(id) && is_stored(&mut *snapshot, *row, has_originals, now)?;
        if is_same {
            left_out.push(staying.len() - left_out.len());
        } else {
            changed.insert(id);
        }
        staying.push(!is_same);
    }
    let mut staying = staying.into_iter();
    rows.retain(|_| staying.next() == Some(true));
    Ok(left_out)
}

/// Whether the index contains the document unchanged.
fn is_stored(
    snapshot: &mut dyn Snapshot,
    row: PreparedRow<'_>,
    has_originals: bool,
    now: i64,
) -> Result<bool, IndexError> {
    let document = row.entry();
    let wanted = RecordFields { text: document.text.is_some(), ..RecordFields::default() };
    let Some(stored) = record(snapshot, document.id, now, wanted)? else { return Ok(false) };
    let is_same = stored.fingerprint == document.fingerprint
        && stored.bytes == document.bytes
        && stored.text.as_deref() == document.text.map(|text| text.text);
    if !is_same || !has_originals {
        return Ok(is_same);
    }
    let text = || document.text.map(|text| original_hash(text.text.as_bytes()));
    let sha256 = document.original.map(|original| original.sha256).or_else(text);
    let versions = snapshot.versions(document.id)?;
    Ok(versions.last().map(|version| version.sha256) == sha256)
}
