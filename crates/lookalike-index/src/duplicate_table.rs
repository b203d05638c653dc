//! Documents that were removed as duplicates of an index's documents. They count in the sizes of
//! groups.
//!
//! A run whose reference is an index removes documents that resemble a document there. The index
//! stores the ids of removed documents, each with its keeper. A keeper can then be weighted by the
//! number of documents that it represents, regardless of the batches that they were in.
//! `docs/guides/dedup.md` describes the rule.

use crate::entry::{DocumentNumber, check_id};
use crate::error::IndexError;

/// A document that was removed as a duplicate of a document of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DuplicateEntry<'a> {
    /// Its id.
    pub id: &'a str,
    /// The id of its keeper.
    pub keeper: &'a str,
}

/// Takes the number of a keeper and the id of one of its duplicates.
pub type DuplicateCallback<'a> = &'a mut dyn FnMut(DocumentNumber, &str) -> Result<(), IndexError>;

/// Checks ids.
///
/// # Errors
/// [`IndexError::Document`] with the problem.
pub(crate) fn check(entries: &[DuplicateEntry<'_>]) -> Result<(), IndexError> {
    entries.iter().flat_map(|entry| [entry.id, entry.keeper]).try_for_each(check_id)
}
