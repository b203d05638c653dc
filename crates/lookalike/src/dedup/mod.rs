//! Writes the survivors of a run in the format of the input. `docs/guides/dedup.md` specifies the
//! output of each format.
//!
//! ```text
//! Findings ─ Outcomes (by document number) ──┐
//! inputs ─ replay (reading order) ─ Record ──┴─► Survivors ─ finish ─► a file or folder, whole
//! ```
//!
//! Everything is streamed: memory holds one record, and for Parquet one batch of rows and one
//! column chunk. An output receives its final name only when it is complete.

pub mod actions;
mod annotation;
mod apply;
mod cut_problem;
mod destination;
mod error;
mod files;
mod index_survivors;
mod non_documents;
#[cfg(feature = "parquet")]
mod parquet;
mod removed;
mod survivors;
mod survivors_problem;
mod values;

pub use annotation::{Annotate, AnnotationSubject, AnnotationValues, DEFAULT_FIELD};
pub use apply::{apply, apply_cuts, find_files};
pub use cut_problem::{CutPart, CutProblem};
pub use destination::Destination;
pub use error::DedupError;
pub use index_survivors::add_survivors;
pub use non_documents::{Others, OthersCopied, RefusedFile};
pub use removed::RemovedList;
pub use survivors::{SurvivorCounts, Survivors};
pub use survivors_problem::SurvivorsProblem;

use std::path::Path;

/// A document in the form of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceRecord<'a> {
    /// The bytes of a record, without the line feed that ends it.
    Bytes(&'a [u8]),
    /// A file that is one document.
    File(&'a Path),
    /// A document in a file with several documents. The file is kept if one of its documents is
    /// kept. The documents of a file are consecutive.
    Part(&'a Path),
    /// A row of a Parquet file, from 0.
    Row(u64),
}
