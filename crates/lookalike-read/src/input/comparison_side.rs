//! A side of a comparison.

use crate::source::InMemoryDocuments;
use std::path::PathBuf;

/// The documents to compare, or those to compare with.
#[derive(Clone, Copy)]
pub enum Side<'a> {
    /// Files, folders and `-`.
    Paths(&'a [PathBuf]),
    /// Documents in memory, a source each.
    InMemory(&'a [InMemoryDocuments]),
}
