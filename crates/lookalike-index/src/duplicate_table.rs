//! Documents that went as duplicates of documents of an index: what counts in the size of a group.
//!
//! A run whose reference is an index leaves out what resembles a document there. The index keeps
//! the ids of what was left out, each with its keeper, so that a keeper can be weighted by the
//! documents that it represents, whichever batches they were in. `docs/dedup.md` has the rule.

use crate::entry::{DocumentNumber, check_id};
use crate::error::IndexError;

/// A document that went as the duplicate of a document of the index.
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
