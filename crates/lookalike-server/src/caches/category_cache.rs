//! The categories of the index, in memory, and the category of a document in answers.

use crate::http::problem::{Code, Problem};
use lookalike::categories::{CategoryNumber, NO_CATEGORY};
use lookalike::index::IndexCategories;
use lookalike::store::IndexError;
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::DocumentNumber;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// The value of the parameter `category` for documents that are in none.
const NONE: &str = "none";

/// The model of the categories that was read last.
#[derive(Default)]
pub(crate) struct CategoryCache(Mutex<Option<IndexCategories>>);

impl CategoryCache {
    /// The categories of a snapshot, if it has any.
    pub(crate) fn read(
        &self,
        snapshot: &mut dyn Snapshot,
    ) -> Result<Option<IndexCategories>, IndexError> {
        let known = self.0.lock().clone();
        let read = IndexCategories::read(snapshot, known.as_ref())?;
        self.0.lock().clone_from(&read);
        Ok(read)
    }

    /// The categories for answers that only name the category of a document. Ignores a damaged
    /// model, which `GET /v1/categories` and `lookalike index check` report.
    pub(crate) fn for_answer(
        &self,
        snapshot: &mut dyn Snapshot,
    ) -> Result<Option<IndexCategories>, IndexError> {
        match self.read(snapshot) {
            Err(IndexError::Damaged { .. }) => Ok(None),
            read => read,
        }
    }
}

/// The JSON of a category in answers; `null` for none.
pub(crate) fn category_json(categories: &IndexCategories, number: CategoryNumber) -> Value {
    categories
        .model()
        .get(number)
        .map_or(Value::Null, |category| json!({ "path": category.path, "label": category.label }))
}

/// The JSON of the category of the document with this number.
pub(crate) fn document_category(
    categories: &IndexCategories,
    snapshot: &mut dyn Snapshot,
    number: DocumentNumber,
) -> Result<Value, IndexError> {
    Ok(category_json(categories, categories.of_document(snapshot, number)?))
}

/// The number of the category that a parameter names.
pub(crate) fn named(
    categories: Option<&IndexCategories>,
    path: &str,
) -> Result<CategoryNumber, Problem> {
    let unknown = |detail: String| Problem::new(Code::UNKNOWN_CATEGORY, detail);
    let Some(categories) = categories else {
        let detail = "the index has no categories; `lookalike index categorise` creates them";
        return Err(unknown(detail.to_owned()));
    };
    if path == NONE {
        return Ok(NO_CATEGORY);
    }
    let found = categories.model().find(path);
    found.ok_or_else(|| {
        let path = lookalike::store::entry::shortened_id(path);
        unknown(format!("category {path:?} does not exist; GET /v1/categories lists all"))
    })
}
