//! Texts of documents: normal forms, stop words, units.

#[cfg(feature = "scripts")]
mod normal_forms;
pub(crate) mod normalize;
pub mod stop_words;
pub mod unit;

pub use normalize::{NormalForm, Normalization, TextNormalizer, language_of};
pub use unit::TextUnit;
pub(crate) use unit::parent_id;
