//! Options of adding documents to an index.

use super::prepare::DocumentFields;
use crate::engine::workers::default_threads;
use std::num::NonZeroUsize;

/// What is done with a document whose id the index has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// Fail.
    #[default]
    Refuse,
    /// Keep the document of the index; the new one is counted.
    Keep,
    /// Replace the document of the index.
    Replace,
    /// Replace it where the new one has another text or another original; otherwise keep it.
    ReplaceChanged,
}

/// How documents are added.
#[derive(Debug, Clone)]
pub struct AddOptions {
    /// What is done with a document whose id the index has.
    pub existing: Existing,
    /// Names of fields that become metadata: what
    /// [`ReadOptions::fields`](crate::read::ReadOptions::fields) was set to when the collection was
    /// opened.
    pub metadata: Vec<String>,
    /// Whether the documents are JSON lines of [`export`](super::export()): metadata and times are
    /// those of the line, so that what was exported is there again. Where a line does not say when
    /// it was added or expires, it is as any other.
    pub exported: bool,
    /// What is left out at the beginning of ids that begin so, such as the folder that files are
    /// named in.
    pub id_prefix: Option<String>,
    /// Time of the addition, in ns since 1970.
    pub added: i64,
    /// Time of expiry, from which on they count as removed, in ns since 1970.
    pub expires: Option<i64>,
    /// Whether documents that an index cannot take are skipped and listed rather than errors.
    pub skip_bad: bool,
    /// Maximum number of threads, without the one that writes.
    pub threads: NonZeroUsize,
}

impl AddOptions {
    /// Ids must be new, no fields, no expiry, all processors.
    pub fn new(added: i64) -> Self {
        Self {
            existing: Existing::default(),
            metadata: Vec::new(),
            exported: false,
            id_prefix: None,
            added,
            expires: None,
            skip_bad: false,
            threads: default_threads(),
        }
    }
    /// Fields of a document that says nothing of them.
    pub(super) fn fields(&self) -> DocumentFields {
        let Self { added, expires, .. } = *self;
        DocumentFields { added, expires, ..DocumentFields::default() }
    }
}
