//! `dedup(…, add=True)`: adds the kept documents to the index that they were compared with.

use super::open_index::Handle;
use crate::call;
use crate::error::{DocumentError, run_error};
use lookalike::find::{FindError, FindOptions, Findings};
use lookalike::read::Collection;
use lookalike::request::add_kept;
use lookalike::store::IndexError;
use pyo3::prelude::*;

/// Adds the kept documents to the index and records the removed ones, as the command line does.
/// Returns the number of added documents.
///
/// # Errors
/// `DocumentError` if the index has a document with the same id and another text. Errors of
/// [`add_kept`].
pub(super) fn add(
    py: Python<'_>,
    handle: &Handle,
    run: (&Findings, &Collection, &FindOptions),
) -> PyResult<u64> {
    let added = call::long(py, None, |watch| match add_kept(run, &handle.index, watch) {
        Err(error @ FindError::Interrupted) => Err(error.into()),
        added => Ok(added),
    })?;
    match added {
        Ok(added) => Ok(added.added),
        Err(FindError::Index(IndexError::IdTaken { id })) => Err(DocumentError::new_err(format!(
            "{}: the index has document {id:?} with another text; the documents before it are \
             added: choose another id, or remove the document from the index (Index.remove)",
            handle.index.name()
        ))),
        Err(error) => Err(run_error(error)),
    }
}
