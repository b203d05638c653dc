//! The documents that are measured.

use crate::excerpt;
use std::path::PathBuf;

/// A collection with its truth, if it has one.
pub(crate) struct BenchCollection {
    /// JSONL with `id` and `text`.
    pub(crate) documents: PathBuf,
    /// CSV with `id_a`, `id_b`, `jaccard`.
    pub(crate) truth: Option<PathBuf>,
    /// CSV with `id_a`, `id_b`, `containment`: planted excerpts.
    pub(crate) excerpts: Option<PathBuf>,
}

impl BenchCollection {
    /// With the planted excerpts, if they are in the folder of the truth.
    pub(crate) fn of(documents: PathBuf, truth: Option<PathBuf>) -> Self {
        let excerpts = truth.as_deref().map(excerpt::file).filter(|path| path.exists());
        Self { documents, truth, excerpts }
    }
}
