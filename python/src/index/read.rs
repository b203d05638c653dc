//! Adds the documents of files and folders to an index.

use super::add::{AddSettings, AddTuple, counts};
use super::open_index::Handle;
use crate::call;
use crate::error::run_error;
use crate::error::{argument, index_error, with_message};
use crate::extraction;
use crate::options::KeywordOptions;
use lookalike::core::parameter::NamesParameters;
use lookalike::find::FindError;
use lookalike::index::{self, AddError, InterruptedAdd};
use lookalike::read::{Collection, Normalization, ReadOptions, SkippedItem};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// A skipped document: file, line, id, reason.
pub(super) type SkippedTuple = (String, Option<u64>, Option<String>, String);

/// The files of a call, and how to read them.
pub(super) struct InputFiles {
    paths: Vec<PathBuf>,
    reading: ReadOptions,
}

impl InputFiles {
    /// Converts the arguments of a call. `names` are fields that become metadata. `own` is the
    /// folder of the index, which reading skips.
    ///
    /// # Errors
    /// `OptionError` for an unknown option or an invalid value.
    pub(super) fn new(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        names: Vec<String>,
        own: Option<PathBuf>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let options = KeywordOptions::new(options)?;
        // The index normalizes texts itself.
        let reading = options.reading(Normalization::default(), extraction::options(py)?)?;
        options.finish()?;
        let leave_out = own.into_iter().collect();
        Ok(Self { paths, reading: ReadOptions { fields: names, leave_out, ..reading } })
    }
}

/// Reads files and adds their documents to the index. Returns the counts, the fields that no
/// document has, and the skipped documents.
///
/// # Errors
/// `FileError` for read errors. `DocumentError` for the first document that cannot be stored.
/// Exceptions of signal handlers and of `progress`. Documents before an error are stored.
pub(super) fn add(
    py: Python<'_>,
    handle: &Handle,
    settings: &AddSettings,
    files: &InputFiles,
    progress: Option<&Py<PyAny>>,
) -> PyResult<(AddTuple, Vec<String>, Vec<SkippedTuple>)> {
    let mut options = settings.options();
    options.metadata.clone_from(&files.reading.fields);
    options.skip_bad = files.reading.skip_bad;
    let result = call::long(py, progress, |watch| {
        let collection = Collection::open(&files.paths, &files.reading)?;
        Ok(index::add(&handle.index, &collection, &options, watch))
    })?;
    let mut added = result.map_err(|interrupted| error_of(py, *interrupted))?;
    let missing = std::mem::take(&mut added.not_found);
    let skipped = std::mem::take(&mut added.skipped);
    Ok((counts(&added), missing, skipped.into_iter().map(left_out).collect()))
}

fn left_out(skipped: SkippedItem) -> SkippedTuple {
    let SkippedItem { source, line, id, reason } = skipped;
    (source, line, id, reason.spelled(argument))
}

fn error_of(py: Python<'_>, interrupted: InterruptedAdd) -> PyErr {
    let InterruptedAdd { before, error } = interrupted;
    let (place, error) = match error {
        AddError::NotAdded { place, error } => (format!("{place}: "), index_error(error)),
        AddError::Find(FindError::Index(error)) => (String::new(), index_error(error)),
        error => (String::new(), run_error(error)),
    };
    let stored = before.added + before.replaced + before.existing;
    let text = format!("{place}{}; {stored} documents before are stored", error.value(py));
    with_message(py, error, text)
}
