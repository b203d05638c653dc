//! The module `lookalike._engine`: the Rust part of the package `lookalike`. It converts arguments
//! and results. The crate `lookalike` makes all decisions about documents.
//!
//! ```text
//! Python objects ─ capsule, text, column → documents ─┐
//! paths ──────────────────────────────────────────────┴ inputs ─┐
//! keyword arguments ─ options ──────────────────────────────────┴ find … ─ table, files → results
//! rows of tasks ─ stages → rows of tasks
//! ```
#![expect(clippy::needless_pass_by_value, reason = "what Python calls is given its arguments")]

mod arrow;
mod audit;
mod call;
mod cli;
mod compare;
mod contamination;
mod datasketch;
mod dedup;
mod error;
mod evaluate;
mod extraction;
mod find;
mod index;
mod input;
mod options;
mod parameters;
mod passages;
mod prepare;
mod results;
mod stages;
mod tune;

use pyo3::prelude::*;

/// The Rust functions and classes, private to the package.
///
/// Python versions that can run without the interpreter's lock enable the lock for this module.
/// Reading lists and borrowing objects rely on it.
#[pymodule(gil_used = true)]
mod _engine {
    use pyo3::prelude::*;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::arrow::capsule::{producer_failed, stream_columns};
    #[pymodule_export]
    use super::arrow::table::ArrowTable;
    #[pymodule_export]
    use super::audit::audit;
    #[pymodule_export]
    use super::compare::{compare, comparison_page};
    #[pymodule_export]
    use super::contamination::{PyContamination, contamination};
    #[pymodule_export]
    use super::dedup::{dedup, dedup_passages};
    #[pymodule_export]
    use super::evaluate::evaluate;
    #[pymodule_export]
    use super::find::{PyFindings, fields, find};
    #[pymodule_export]
    use super::index::{StoredIndex, check_columns};
    #[pymodule_export]
    use super::input::document_spool::DocumentSpool;
    #[pymodule_export]
    use super::input::documents::PythonDocuments;
    #[pymodule_export]
    use super::input::folder_reader::FolderReader;
    #[pymodule_export]
    use super::input::json_lines::JsonLines;
    #[pymodule_export]
    use super::passages::{PyPassages, cut_passages, passages};
    #[pymodule_export]
    use super::prepare::prepare;
    #[pymodule_export]
    use super::tune::{curve, tune};
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::datasketch::register(module)?;
        crate::stages::register(module)?;
        crate::cli::register(module)
    }
}
