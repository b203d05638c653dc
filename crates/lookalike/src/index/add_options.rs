//! Options of adding documents to an index.

use super::prepare::DocumentFields;
use crate::engine::workers::default_threads;
use std::num::NonZeroUsize;

/// How to handle a document whose id exists in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// Fail.
    #[default]
    Refuse,
    /// Leave out the new document, and count it.
    Keep,
    /// Replace the stored document.
    Replace,
    /// Replace the stored document if the text or the original differs. Otherwise keep it.
    ReplaceChanged,
}

/// Options for adding documents.
#[derive(Debug, Clone)]
pub struct AddOptions {
    /// How to handle a document whose id exists in the index.
    pub existing: Existing,
    /// Names of the fields to store as metadata. Must equal
    /// [`ReadOptions::fields`](crate::read::ReadOptions::fields) of the collection.
    pub metadata: Vec<String>,
    /// Whether the documents are JSON lines of [`export`](super::export()). Their metadata and
    /// times are restored from the lines. If a line lacks the time of addition or of expiry, the
    /// document gets the time in these options.
    pub exported: bool,
    /// A prefix to remove from ids that begin with it, such as the folder of the files.
    pub id_prefix: Option<String>,
    /// Time of the addition, in ns since 1970.
    pub added: i64,
    /// Time of expiry in ns since 1970, after which the documents count as removed.
    pub expires: Option<i64>,
    /// Whether to skip and list documents that an index cannot store. Otherwise they are errors.
    pub skip_bad: bool,
    /// Maximum number of threads that prepare documents. For documents of files, one of them also
    /// writes. For documents of the caller, another thread writes if this number is above 1.
    pub threads: NonZeroUsize,
}

impl AddOptions {
    /// Default options: ids must be new, no fields, no expiry, all processors.
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
    /// The fields of a document that has no values of its own.
    pub(super) fn fields(&self) -> DocumentFields {
        let Self { added, expires, .. } = *self;
        DocumentFields { added, expires, ..DocumentFields::default() }
    }
}
