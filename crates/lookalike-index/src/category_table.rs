//! The categories of an index: a model, and the category of each document that was stored when
//! categories were last updated.
//!
//! An index stores the model without interpreting it: `lookalike::categories` specifies the bytes
//! of a model, and how it assigns a category to a text. Documents that were added since the last
//! update have numbers above [`CategoryState::through`]; readers determine their categories from
//! their texts.

use crate::entry::DocumentNumber;

/// Maximum size of a model in bytes.
pub const MAX_MODEL_BYTES: usize = 512 << 20;

/// The state of the categories of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CategoryState {
    /// The number of the model. Every new model has another number.
    pub number: u64,
    /// The number up to which every existing document has a stored category.
    pub through: DocumentNumber,
}

/// A document and the number of its category; 0 for no category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CategoryMember {
    /// The number of the document.
    pub document: DocumentNumber,
    /// The number of its category in the model.
    pub category: u32,
}
