//! Texts of documents: normal forms, stop words, units.

#[cfg(feature = "scripts")]
mod normal_forms;
pub(crate) mod normalize;
pub mod stop_words;
pub mod unit;
