//! The log of decisions of an index: user decisions about documents, as JSON objects in
//! chronological order.
//!
//! An index stores the log without interpreting it: `lookalike::decisions` specifies the objects.
//! Entries are added and never changed; a later decision revokes an earlier one. Entries that are
//! no longer in force can be removed. The last entry is always kept, so that the numbers of entries
//! are never reused.

use crate::error::IndexError;

/// Maximum size of an entry in bytes.
pub const MAX_DECISION_BYTES: usize = 8 << 20;

/// Takes the number of an entry and its JSON object.
pub type DecisionCallback<'a> = &'a mut dyn FnMut(u64, &str) -> Result<(), IndexError>;
