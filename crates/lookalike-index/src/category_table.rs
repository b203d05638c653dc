//! The categories of an index: a model, and the category of each document that had been looked at
//! by then.
//!
//! An index keeps the model, and does not read it: `lookalike::categories` specifies its bytes and
//! which category a text is in. Documents that were added since the last look are those numbered
//! above [`CategoryState::through`]; who reads categories finds theirs by their texts.

use crate::entry::DocumentNumber;

/// The most bytes of a model.
pub const MAX_MODEL_BYTES: usize = 512 << 20;

/// Which categories an index has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CategoryState {
    /// The number of the model: another one for each that is made.
    pub number: u64,
    /// The number of the last document whose category is stored, if it is still there.
    pub through: DocumentNumber,
}

/// A document and the number of its category; 0 for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CategoryMember {
    /// The number of the document.
    pub document: DocumentNumber,
    /// The number of its category in the model.
    pub category: u32,
}
