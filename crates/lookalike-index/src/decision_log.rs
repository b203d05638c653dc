//! The log of decisions of an index: what people decided about documents, as JSON objects in the
//! order in which they were decided.
//!
//! An index keeps the log, and does not read it: `lookalike::decisions` specifies the objects.
//! Entries are added and never changed; a decision is revoked by a later one. Entries that are not
//! in force any more can be removed. Numbers are never given twice, since the last entry stays.

use crate::error::IndexError;

/// The most bytes of an entry.
pub const MAX_DECISION_BYTES: usize = 8 << 20;

/// Takes the number of an entry and its JSON object.
pub type DecisionCallback<'a> = &'a mut dyn FnMut(u64, &str) -> Result<(), IndexError>;

/// Checks that entries can be stored.
///
/// # Errors
/// [`IndexError::Decision`].
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn check(entries: &[&str]) -> Result<(), IndexError> {
    for (position, entry) in entries.iter().enumerate() {
        if entry.len() > MAX_DECISION_BYTES {
            let (got, most) = (entry.len(), MAX_DECISION_BYTES);
            return Err(IndexError::Decision { position, got, most });
        }
    }
    Ok(())
}

/// Checks that an entry is as it was stored.
///
/// # Errors
/// [`IndexError::Damaged`].
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn verify(number: u64, entry: &str, stored: u64) -> Result<(), IndexError> {
    if crate::checksum::content(number, entry.as_bytes()) == stored {
        return Ok(());
    }
    let why = "its checksum is wrong".to_owned();
    Err(IndexError::Damaged { what: format!("decision {number}"), why })
}
