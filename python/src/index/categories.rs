//! Categories of the documents of an index.

use super::open_index::Handle;
use crate::call;
use crate::error::{OptionError, StoreError, index_error, run_error};
use crate::options::KeywordOptions;
use lookalike::categories::{CategoryNumber, MAX_TOPICS, NO_CATEGORY};
use lookalike::find::FindError;
use lookalike::index::{CategoriseOptions, IndexCategories, categorise, time};
use lookalike::store::IndexError;
use lookalike::store::entry::{DocumentNumber, RecordFields};
use lookalike::store::query_by_id::record;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A category: its path, the path of its parent, the similarity of its level, its words, and its
/// number of documents.
pub(super) type CategoryTuple = (String, Option<String>, f64, Vec<String>, u64);

/// The path that selects documents without a category.
const NONE: &str = "none";

/// Creates the categories of an index. They replace existing ones.
///
/// # Errors
/// `OptionError` for an invalid option, and errors of the engine.
pub(super) fn make(
    py: Python<'_>,
    handle: &Handle,
    arguments: &Bound<'_, PyDict>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<()> {
    let keywords = KeywordOptions::new(arguments)?;
    let topics = keywords.count("topics")?;
    if let Some(got) = topics.filter(|topics| topics.get() > MAX_TOPICS) {
        let expected = format!("topics: expected a number from 1 to {MAX_TOPICS}, got {got}");
        return Err(OptionError::new_err(expected));
    }
    let options = CategoriseOptions { topics, threads: keywords.threads()? };
    keywords.finish()?;
    let result = call::long(py, progress, |watch| {
        match categorise(&handle.index, options, time::now(), watch) {
            Err(error @ FindError::Interrupted) => Err(error.into()),
            result => Ok(result),
        }
    });
    match result? {
        Ok(_) => Ok(()),
        Err(FindError::Index(IndexError::NoTexts { index })) => Err(StoreError::new_err(format!(
            "{index} keeps no texts, which categories need; create it again with \
             store=\"texts\" or store=\"originals\""
        ))),
        Err(FindError::Index(error)) => Err(index_error(error)),
        Err(error) => Err(run_error(error)),
    }
}

/// Returns the tree of categories, each before its subcategories. Empty if the index has no
/// categories.
///
/// # Errors
/// Read errors.
pub(super) fn tree(handle: &Handle) -> Result<Vec<CategoryTuple>, IndexError> {
    let mut snapshot = handle.index.snapshot()?;
    let Some(categories) = IndexCategories::read(&mut *snapshot, None)? else {
        return Ok(Vec::new());
    };
    let counts = categories.counts(&mut *snapshot)?;
    let model = categories.model();
    let rows = model.categories().iter().zip(&counts[1..]).map(|(category, documents)| {
        let parent = category.parent.and_then(|parent| model.get(parent));
        (
            category.path.clone(),
            parent.map(|parent| parent.path.clone()),
            category.level.similarity(),
            category.label.clone(),
            *documents,
        )
    });
    Ok(rows.collect())
}

/// The category of an existing document.
pub(super) struct FoundCategory {
    /// The path. `None` if the document has no category, or the index has no categories.
    pub(super) path: Option<String>,
}

/// Returns the category of a document, or `None` for an unknown document.
///
/// # Errors
/// Read errors.
pub(super) fn of_document(handle: &Handle, id: &str) -> Result<Option<FoundCategory>, IndexError> {
    let mut snapshot = handle.index.snapshot()?;
    let found = record(&mut *snapshot, id, time::now(), RecordFields::default())?;
    let Some(found) = found else { return Ok(None) };
    let Some(categories) = IndexCategories::read(&mut *snapshot, None)? else {
        return Ok(Some(FoundCategory { path: None }));
    };
    let number = categories.of_document(&mut *snapshot, found.number)?;
    let path = categories.model().get(number).map(|category| category.path.clone());
    Ok(Some(FoundCategory { path }))
}

/// Returns ids of documents in a category and its subcategories. Takes up to `most` documents with
/// numbers above `after`, and also returns the number of the last one. Returns `None` after the
/// last document.
///
/// # Errors
/// `OptionError` for an unknown category, and read errors.
pub(super) fn ids(
    handle: &Handle,
    path: &str,
    after: u64,
    most: usize,
) -> PyResult<Option<(Vec<String>, u64)>> {
    let mut snapshot = handle.index.snapshot().map_err(index_error)?;
    let categories = IndexCategories::read(&mut *snapshot, None).map_err(index_error)?;
    let Some(categories) = categories else {
        let message = "the index has no categories: index.categorise() makes them";
        return Err(OptionError::new_err(format!("category: {message}")));
    };
    let category = number(&categories, path)?;
    let numbers = categories.members(&mut *snapshot, category, DocumentNumber(after), most);
    let numbers = numbers.map_err(index_error)?;
    let now = time::now();
    let mut ids = Vec::with_capacity(numbers.len());
    let read = snapshot.records(&numbers, RecordFields::default(), &mut |record| {
        if !record.is_expired(now) {
            ids.push(record.id.clone());
        }
        Ok(())
    });
    read.map_err(index_error)?;
    Ok(numbers.last().map(|last| (ids, last.0)))
}

fn number(categories: &IndexCategories, path: &str) -> PyResult<CategoryNumber> {
    if path == NONE {
        return Ok(NO_CATEGORY);
    }
    let found = categories.model().find(path);
    found.ok_or_else(|| {
        OptionError::new_err(format!(
            "category: unknown path {path:?}; index.categories() lists all, and \"none\" selects \
             documents without a category"
        ))
    })
}
