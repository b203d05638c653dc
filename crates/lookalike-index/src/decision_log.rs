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
