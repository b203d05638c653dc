//! Categories: groups of documents by looser similarity, and by shared vocabulary.
//!
//! ```text
//! sample of texts ─ words ─► word sets ─ topics (k-means), leaders (MinHash) ─► CategoryModel
//! text ─ words ─► word set ─ CategoryModel ─► its category
//! ```
//!
//! A model is made once of a sample, and then decides of each text alone which category it is in:
//! the answer does not depend on other documents or on their order, so that a new document has its
//! category at once, and no other document changes its own.
//!
//! | level | category |
//! |---|---|
//! | 0.2 | a topic: documents of a common vocabulary, by k-means over weighted words |
//! | 0.5 | in a topic: documents that share half of their words with a leader |
//! | 0.8 | in such a category: documents that share four of five words with a leader |
//!
//! All arithmetic is in integers; equal samples make equal models on every machine.

mod build;
mod encode;
mod fixed_log;
mod function_words;
mod labels;
mod leaders;
mod model;
mod topics;
mod vocabulary;
mod words;

pub use build::{CategorySample, MAX_SAMPLE, MAX_TOPICS};
pub use encode::CategoryModelError;
pub use leaders::CategoryLevel;
pub use model::{Category, CategoryBuffers, CategoryModel, CategoryNumber, NO_CATEGORY};

#[cfg(test)]
mod tests;
