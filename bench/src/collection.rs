//! The documents of a measurement.

use crate::excerpt;
use std::path::PathBuf;

/// A collection of documents, with the known similar pairs if it has a truth.
pub(crate) struct BenchCollection {
    /// The JSONL file with `id` and `text`.
    pub(crate) documents: PathBuf,
    /// The CSV file of similar pairs: `id_a`, `id_b`, `jaccard`.
    pub(crate) truth: Option<PathBuf>,
    /// The CSV file of planted excerpts: `id_a`, `id_b`, `containment`.
    pub(crate) excerpts: Option<PathBuf>,
}

impl BenchCollection {
    /// Creates a collection. Includes the planted excerpts if their file exists next to the truth.
    pub(crate) fn of(documents: PathBuf, truth: Option<PathBuf>) -> Self {
        let excerpts = truth.as_deref().map(excerpt::file).filter(|path| path.exists());
        Self { documents, truth, excerpts }
    }
}
