//! Records and decisions → survivors, in the format of the input. `docs/dedup.md` says exactly
//! what each format gives.
//!
//! ```text
//! Findings ─ Decisions (by document number) ─┐
//! inputs ─ replay (reading order) ─ Record ──┴─► Survivors ─ finish ─► a file or folder, whole
//! ```
//!
//! Everything is streamed: memory holds one record, and for Parquet one batch of rows and one
//! column chunk. What is written has its name when it is complete, and not before.

pub mod actions;
mod annotation;
mod apply;
mod decisions;
mod destination;
mod files;
mod index_survivors;
mod non_documents;
#[cfg(feature = "parquet")]
mod parquet;
mod removed;
mod survivors;
mod values;

pub use crate::error::SurvivorsProblem;
pub use annotation::{Annotate, AnnotationSubject, DEFAULT_FIELD};
pub use apply::{apply, apply_cuts, find_files};
pub use destination::Destination;
pub use index_survivors::add_survivors;
pub use non_documents::{Others, OthersCopied, RefusedFile};
pub use removed::RemovedList;
pub use survivors::{SurvivorCounts, Survivors};

use crate::words::TextSpan;
use std::path::Path;

/// What is said about a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision<'a> {
    /// It resembles no other document, and stays.
    Unique,
    /// It is in no group and stays, and resembles documents that are duplicates of other keepers.
    Related {
        /// The id of the most similar one of them.
        neighbour: &'a str,
        /// How similar the two are, with six decimals.
        similarity: &'a str,
    },
    /// It has no token, resembles nothing, and stays.
    Empty,
    /// Of its group it is the one that stays.
    Keeper {
        /// The number of the group, from 1.
        group: u64,
        /// The documents of the group, this one among them.
        size: u64,
    },
    /// It goes.
    Duplicate {
        /// The number of the group, from 1.
        group: u64,
        /// The id of the document that stays.
        keeper: &'a str,
        /// How similar it is to the keeper, with six decimals.
        similarity: &'a str,
        /// Why the keeper stays rather than this one.
        reason: &'a str,
    },
    /// It goes, since a list says so.
    Dropped,
    /// Passages of it are repeated, or could be.
    Repeated {
        /// Whether it stays.
        kept: bool,
        /// How many of its words go with its spans.
        words: u64,
        /// What goes of its text, ascending and apart.
        spans: &'a [TextSpan],
    },
}

impl Decision<'_> {
    /// Whether the document stays.
    pub fn is_kept(&self) -> bool {
        !matches!(self, Self::Duplicate { .. } | Self::Dropped | Self::Repeated { kept: false, .. })
    }
}

/// A document as it is in its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceRecord<'a> {
    /// The bytes of a record, without a line feed behind them.
    Bytes(&'a [u8]),
    /// A file that is one document.
    File(&'a Path),
    /// A document in a file of several, which stays as long as one of them does. Those of a file
    /// come one after the other.
    Part(&'a Path),
    /// A row of a Parquet file, from 0.
    Row(u64),
}
