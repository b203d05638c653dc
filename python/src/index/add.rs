//! Adds the documents of a Python iterator to an index. Also contains the code that
//! adding tables shares.

use super::convert::{id as id_text, text};
use super::json::{kind, metadata};
use super::open_index::Handle;
use crate::call::without_unwind;
use crate::error::{DocumentError, DocumentTypeError, OptionError};
use crate::error::{index_error, with_message};
use crate::input::text::COLUMN_SEPARATOR;
use lookalike::find::MAX_THREADS;
use lookalike::index::{
    AddCounts, AddOptions, DocumentBatch, Existing, FeedError, InterruptedAdd, NewDocument,
    add_documents, time,
};
use lookalike::progress::Stage;
use lookalike::store::entry::Metadata;
use pyo3::exceptions::{PyKeyError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyIterator, PyList, PyMapping, PyString, PyTuple};
use std::ffi::CString;
use std::num::NonZeroUsize;

/// The settings of a call that adds documents.
pub(super) struct AddSettings {
    existing: Existing,
    expires: Option<i64>,
    threads: Option<usize>,
}

impl AddSettings {
    /// Reads the arguments of a call; `expires` is in ns since 1970.
    ///
    /// # Errors
    /// `OptionError` for an invalid option.
    pub(super) fn new(
        existing: &str,
        expires: Option<i64>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let existing = match existing {
            "error" => Existing::Refuse,
            "update" => Existing::Replace,
            "keep" => Existing::Keep,
            other => {
                return Err(OptionError::new_err(format!(
                    "on_existing is {other:?}, expected \"error\", \"update\" or \"keep\""
                )));
            }
        };
        if let Some(threads) = threads.filter(|threads| *threads > MAX_THREADS) {
            let text = format!("threads is {threads}, expected 1 to {MAX_THREADS}");
            return Err(OptionError::new_err(text));
        }
        Ok(Self { existing, expires, threads })
    }

    pub(super) fn options(&self) -> AddOptions {
        let mut options = AddOptions::new(time::now());
        options.existing = self.existing;
        options.expires = self.expires;
        if let Some(threads) = self.threads.and_then(NonZeroUsize::new) {
            options.threads = threads;
        }
        options
    }
}

/// Numbers of added, replaced, kept and empty documents.
pub(super) type AddTuple = (u64, u64, u64, u64);

pub(super) fn counts(added: &AddCounts) -> AddTuple {
    (added.added, added.replaced, added.existing, added.without_shingles)
}

/// A source of documents.
pub(super) trait Feed: Send {
    /// Ids and texts.
    type Text: AsRef<str> + Send;

    /// Appends documents to the empty batch. Returns true if more documents follow. The caller does
    /// not hold the interpreter's lock.
    ///
    /// # Errors
    /// The error of the first document that cannot be read. The batch contains the
    /// documents before it.
    fn fill_batch(&mut self, batch: &mut DocumentBatch<Self::Text>) -> PyResult<bool>;
}

/// The documents of an iterator.
pub(super) struct IteratorRows {
    documents: Py<PyIterator>,
    /// Metadata that every document receives.
    common: Metadata,
    /// The names of record members that become metadata.
    names: Vec<String>,
    columns: IdAndTexts,
    /// For each of `names`, whether a record had this member.
    found: Vec<bool>,
    row: u64,
    progress_callback: ProgressCallback,
}

/// The names of the members or columns with ids and texts.
pub(super) struct IdAndTexts {
    pub(super) id: String,
    /// The texts of several members are joined.
    pub(super) texts: Vec<String>,
}

/// A progress function of Python, and the total number of documents.
#[derive(Default)]
pub(super) struct ProgressCallback {
    pub(super) progress: Option<Py<PyAny>>,
    pub(super) total: Option<u64>,
}

impl ProgressCallback {
    /// Calls the function, if it is set. `count` is the number of documents taken from the input.
    ///
    /// # Errors
    /// Exceptions of the function.
    pub(super) fn report(&self, count: u64) -> PyResult<()> {
        let Self { progress: Some(progress), total } = self else { return Ok(()) };
        let arguments = (Stage::Add.to_string(), count, *total);
        Python::attach(|py| without_unwind(|| progress.call1(py, arguments)).map(drop))
    }
}

impl Feed for IteratorRows {
    type Text = PyBackedStr;

    fn fill_batch(&mut self, batch: &mut DocumentBatch<PyBackedStr>) -> PyResult<bool> {
        Python::attach(|py| without_unwind(|| self.take(py, batch)))
    }
}

impl IteratorRows {
    /// Converts the arguments of a call. `common` contains metadata for every document. `names` are
    /// members of records that become metadata.
    ///
    /// # Errors
    /// `DocumentTypeError` for metadata of a wrong type.
    pub(super) fn new(
        documents: Bound<'_, PyIterator>,
        common: &Bound<'_, PyAny>,
        names: Vec<String>,
        columns: IdAndTexts,
        progress_callback: ProgressCallback,
    ) -> PyResult<Self> {
        let common = metadata(common, "all documents")?;
        let documents = documents.unbind();
        let found = vec![false; names.len()];
        Ok(Self { documents, common, names, columns, found, row: 0, progress_callback })
    }

    fn take(&mut self, py: Python<'_>, batch: &mut DocumentBatch<PyBackedStr>) -> PyResult<bool> {
        py.check_signals()?;
        for item in self.documents.bind(py).clone() {
            let item = item?;
            let document = self.document(&item).map_err(|error| with_row(py, error, self.row))?;
            self.row += 1;
            batch.push(document);
            if batch.is_full() {
                self.progress_callback.report(self.row)?;
                return Ok(true);
            }
        }
        self.progress_callback.report(self.row)?;
        self.warn_of_unknown_names(py)?;
        Ok(false)
    }

    /// Warns of names that no record had. Called after the last record.
    fn warn_of_unknown_names(&self, py: Python<'_>) -> PyResult<()> {
        let unknown = self.names.iter().zip(&self.found).filter(|(_, found)| !**found);
        for (name, _) in unknown.filter(|_| self.row > 0) {
            let documents = self.row;
            let text = format!(
                "metadata names {name:?}, which none of the {documents} documents of this call has"
            );
            let text = CString::new(text).unwrap_or_default();
            PyErr::warn(py, py.get_type::<PyUserWarning>().as_any(), &text, 2)?;
        }
        Ok(())
    }

    /// Converts a pair, a triple with metadata, or a record with named members.
    fn document(&mut self, item: &Bound<'_, PyAny>) -> PyResult<NewDocument<PyBackedStr>> {
        let row = self.row;
        if let Ok(tuple) = item.cast::<PyTuple>() {
            return match tuple.len() {
                2 => self.pair(&tuple.get_item(0)?, &tuple.get_item(1)?, None),
                3 => self.pair(&tuple.get_item(0)?, &tuple.get_item(1)?, Some(tuple.get_item(2)?)),
                other => Err(shape(row, &format!("a tuple of {other}"))),
            };
        }
        if let Ok(list) = item.cast::<PyList>() {
            return match list.len() {
                2 => self.pair(&list.get_item(0)?, &list.get_item(1)?, None),
                3 => self.pair(&list.get_item(0)?, &list.get_item(1)?, Some(list.get_item(2)?)),
                other => Err(shape(row, &format!("a list of {other}"))),
            };
        }
        match item.cast::<PyMapping>() {
            Ok(record) => self.record(record),
            Err(_) => Err(shape(row, &kind(item))),
        }
    }

    fn record(&mut self, record: &Bound<'_, PyMapping>) -> PyResult<NewDocument<PyBackedStr>> {
        let columns = &self.columns;
        let member = |name: &str| {
            self::member(record, name)?.ok_or_else(|| {
                let texts: Vec<String> =
                    columns.texts.iter().map(|name| format!("{name:?}")).collect();
                DocumentError::new_err(format!(
                    "document {}: the record has no {name:?}, expected {:?} and {}: name others \
                     with id and text",
                    self.row,
                    columns.id,
                    texts.join(", ")
                ))
            })
        };
        let id = member(&columns.id)?;
        let id_name = in_member("id", &columns.id);
        let texts = columns.texts.iter().map(|name| Ok((member(name)?, in_member("text", name))));
        let texts: Vec<_> = texts.collect::<PyResult<_>>()?;
        let metadata_value = PyDict::new(record.py());
        for (name, found) in self.names.iter().zip(&mut self.found) {
            let value = self::member(record, name)?;
            *found |= value.is_some();
            if let Some(value) = value.filter(|value| !value.is_none()) {
                metadata_value.set_item(name, value)?;
            }
        }
        self.of((&id, &id_name), &texts, Some(metadata_value.into_any()))
    }

    fn pair(
        &self,
        id: &Bound<'_, PyAny>,
        text: &Bound<'_, PyAny>,
        metadata_value: Option<Bound<'_, PyAny>>,
    ) -> PyResult<NewDocument<PyBackedStr>> {
        self.of((id, "the id"), &[(text.clone(), "the text".to_owned())], metadata_value)
    }

    /// Converts the values of a document. The id and each text come with their names in messages.
    fn of(
        &self,
        (id, id_name): (&Bound<'_, PyAny>, &str),
        texts: &[(Bound<'_, PyAny>, String)],
        metadata_value: Option<Bound<'_, PyAny>>,
    ) -> PyResult<NewDocument<PyBackedStr>> {
        let row = self.row;
        let py = id.py();
        let id = id_text(id, || format!("document {row}: {id_name}"))?;
        let values = texts.iter().filter(|(value, _)| texts.len() == 1 || !value.is_none());
        let values = values.map(|(value, name)| text(value, || format!("document {row}: {name}")));
        let mut values: Vec<PyBackedStr> = values.collect::<PyResult<_>>()?;
        let one_text = match (values.pop(), values.is_empty()) {
            (Some(only), true) => only,
            (None, _) => {
                let text = format!("document {row}: all its texts are None: leave it out");
                return Err(DocumentError::new_err(text));
            }
            (Some(last), false) => {
                values.push(last);
                let parts: Vec<&str> = values.iter().map(|text| &**text).collect();
                PyBackedStr::try_from(PyString::new(py, &parts.join(COLUMN_SEPARATOR)))?
            }
        };
        let mut members = self.common.clone();
        if let Some(metadata_value) = metadata_value {
            members.append(&mut metadata(&metadata_value, &format!("document {row}"))?);
        }
        Ok(NewDocument {
            id,
            text: one_text,
            metadata: members,
            original: None,
            modified: None,
            expires: None,
        })
    }
}

/// Returns a phrase for messages: `the text` for a member `text`, `the text in "body"` for another.
fn in_member(label: &str, name: &str) -> String {
    if name == label { format!("the {label}") } else { format!("the {label} in {name:?}") }
}

/// Returns a member of a record, or `None` if the record does not have it.
fn member<'py>(record: &Bound<'py, PyMapping>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    match record.get_item(name) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyKeyError>(record.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

fn shape(row: u64, got: &str) -> PyErr {
    DocumentTypeError::new_err(format!(
        "document {row} is {got}, expected (id, text), (id, text, metadata), or a dict with both"
    ))
}

/// Adds the row to an error of a document.
pub(super) fn with_row(py: Python<'_>, error: PyErr, row: u64) -> PyErr {
    if error.is_instance_of::<DocumentError>(py) {
        // `DocumentError` has this attribute, so setting it does not fail.
        let _ = error.value(py).setattr("row", row);
    }
    error
}

/// Adds documents to the index without the interpreter's lock, which the feed takes when necessary.
///
/// # Errors
/// `DocumentError` with the row of the first document that cannot be stored; earlier documents are
/// stored.
pub(super) fn add(
    py: Python<'_>,
    handle: &Handle,
    settings: &AddSettings,
    feed: impl Feed,
) -> PyResult<AddTuple> {
    let options = settings.options();
    // Drop the feed without the lock as well, because a producer may wait for the lock.
    let result = py.detach(move || {
        let mut feed = feed;
        add_documents(&handle.index, &options, |batch| feed.fill_batch(batch))
    });
    result.map(|added| counts(&added)).map_err(|interrupted| error_of(py, *interrupted))
}

fn error_of(py: Python<'_>, interrupted: InterruptedAdd<FeedError<PyErr>>) -> PyErr {
    let InterruptedAdd { before, error } = interrupted;
    let (row, error) = match error {
        FeedError::Feed(error) => return error,
        FeedError::Index(error) => return index_error(error),
        FeedError::Document { row, error } => (row, index_error(error)),
    };
    let stored = before.added + before.replaced + before.existing;
    let text = format!("document {row}: {}; the {stored} before it are stored", error.value(py));
    with_row(py, with_message(py, error, text), row)
}

/// Adds one document. Unlike the documents of a feed, it may have its own times.
pub(super) fn add_one(
    py: Python<'_>,
    handle: &Handle,
    settings: &AddSettings,
    document: NewDocument<PyBackedStr>,
) -> PyResult<AddTuple> {
    let mut pending = Some(document);
    let mut options = settings.options();
    options.threads = NonZeroUsize::MIN;
    let result = py.detach(|| {
        add_documents(&handle.index, &options, |batch| {
            if let Some(document) = pending.take() {
                batch.push(document);
            }
            Ok::<bool, PyErr>(false)
        })
    });
    result.map(|added| counts(&added)).map_err(|interrupted| match interrupted.error {
        FeedError::Feed(error) => error,
        FeedError::Index(error) | FeedError::Document { error, .. } => index_error(error),
    })
}
