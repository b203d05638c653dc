//! Categories: groups of documents by looser similarity, and by shared vocabulary.
//!
//! ```text
//! sample of texts ─ words ─► word sets ─ topics (k-means), leaders (MinHash) ─► CategoryModel
//! text ─ words ─► word set ─ CategoryModel ─► its category
//! ```
//!
//! A model is built once from a sample, and then assigns each text to a category. The result does
//! not depend on other documents or on their order. So a new document has a category immediately,
//! and the categories of other documents do not change.
//!
//! | level | category |
//! |---|---|
//! | 0.2 | a topic: documents of a common vocabulary, by k-means over weighted words |
//! | 0.5 | in a topic: documents that share half of their words with a leader |
//! | 0.8 | in such a category: documents that share four of five words with a leader |
//!
//! All arithmetic is in integers, so equal samples yield equal models on every machine.

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
