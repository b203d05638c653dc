//! The class that `lookalike.Index` wraps.

use super::add::{self, AddSettings, AddTuple, IdAndTexts, IteratorRows, ProgressCallback};
use super::categories::{self, CategoryTuple};
use super::convert::{id as id_text, text};
use super::group_sizes::group_sizes;
use super::groups;
use super::interruptible::interruptible;
use super::json::metadata;
use super::open_index::OpenIndex;
use super::originals;
use super::query::{self, TextQuery, document, expect_texts, unknown};
use super::read::{self, InputFiles, SkippedTuple};
use super::settings;
use super::survivors;
use super::table::TableFeed;
use crate::error::index_error;
use crate::error::{OptionError, read_error, run_error};
use crate::find::PyFindings;
use lookalike::error::Error;
use lookalike::find::{FindError, FindOptions, Findings};
use lookalike::index::{self, NewDocument, time};
use lookalike::read::Collection;
use lookalike::report::{Output, OutputFormat, Target};
use lookalike::store::IndexError;
use lookalike::store::entry::{DocumentNumber, RecordFields};
use lookalike::store::error::Unwritable;
use lookalike::store::filter::MetadataFilter;
use lookalike::store::index::{Access, IndexLocation};
use lookalike::store::query_by_id::record;
use lookalike::store::settings::StoredContent;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyTuple};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An open index.
#[pyclass(frozen, module = "lookalike._engine")]
pub(crate) struct StoredIndex {
    opened: OpenIndex,
    read_only: bool,
    /// The folder of the index, which is excluded from its inputs.
    folder: Option<PathBuf>,
}

fn place(path: PathBuf) -> IndexLocation {
    match path.to_str() {
        Some(text) => IndexLocation::of(text),
        None => IndexLocation::Folder(path),
    }
}

fn folder(place: &IndexLocation) -> Option<PathBuf> {
    match place {
        IndexLocation::Folder(folder) => Some(folder.clone()),
        IndexLocation::Postgres(_) => None,
    }
}

fn text_query(
    threshold: Option<f64>,
    top: Option<usize>,
    nearest: Option<usize>,
    filters: Vec<String>,
    texts: bool,
) -> PyResult<TextQuery> {
    let filters = filters.iter().map(|filter| filter.parse::<MetadataFilter>());
    let filters =
        filters.collect::<Result<Vec<MetadataFilter>, IndexError>>().map_err(index_error)?;
    Ok(TextQuery { threshold, top, nearest: nearest.and_then(NonZeroUsize::new), filters, texts })
}

#[pymethods]
impl StoredIndex {
    #[staticmethod]
    fn create(py: Python<'_>, path: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let settings = settings::settings(options)?;
        let place = place(path);
        let folder = folder(&place);
        let create = move || lookalike::store::index::create(&place, &settings);
        let index = py.detach(create).map_err(index_error)?;
        Ok(Self { opened: OpenIndex::new(index), read_only: false, folder })
    }

    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        read_only: bool,
        wait: f64,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let wait = Duration::try_from_secs_f64(wait).map_err(|_| {
            OptionError::new_err(format!("wait is {wait}, expected seconds, from 0"))
        })?;
        let access = if read_only { Access::Read } else { Access::Write { wait } };
        let place = place(path);
        let folder = folder(&place);
        let open = move || lookalike::store::index::open(&place, access);
        let index = interruptible(py, open)?.map_err(index_error)?;
        if let Err(error) = settings::check_compatible(options, &index) {
            py.detach(move || drop(index));
            return Err(error);
        }
        Ok(Self { opened: OpenIndex::new(index), read_only, folder })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.opened.close(py)
    }

    #[getter]
    fn closed(&self) -> bool {
        self.opened.is_closed()
    }

    #[getter]
    fn name(&self) -> &str {
        self.opened.name()
    }

    #[getter]
    fn read_only(&self) -> bool {
        self.read_only
    }

    #[getter]
    fn process(&self) -> u32 {
        self.opened.process()
    }

    /// Rejects an index that is closed, or was opened for reading only.
    fn expect_writable(&self) -> PyResult<()> {
        let handle = self.opened.get()?;
        if !self.read_only {
            return Ok(());
        }
        let index = handle.index.name().to_owned();
        Err(index_error(IndexError::ReadOnly { index, cause: Unwritable::Opened }))
    }

    /// The settings as JSON, the predicted recall, and the reason why the recall
    /// may be lower, if any.
    fn settings(&self, py: Python<'_>) -> PyResult<(String, f64, Option<String>)> {
        self.opened.detached(py, |handle| {
            let settings = handle.index.settings();
            let recall = settings.predicted_recall(settings.threshold);
            let caveat = settings.recall_caveat().map(|caveat| caveat.to_string());
            Ok((settings.to_json(handle.index.name())?, recall, caveat))
        })
    }

    #[expect(clippy::too_many_arguments, reason = "options of one call")]
    #[pyo3(signature = (
        documents, common, names, id, texts, expires, on_existing, threads, progress=None,
        total=None
    ))]
    fn add(
        &self,
        py: Python<'_>,
        documents: Bound<'_, PyIterator>,
        common: &Bound<'_, PyAny>,
        names: Vec<String>,
        id: String,
        texts: Vec<String>,
        expires: Option<i64>,
        on_existing: &str,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
        total: Option<u64>,
    ) -> PyResult<AddTuple> {
        let settings = AddSettings::new(on_existing, expires, threads)?;
        let feed = IteratorRows::new(
            documents,
            common,
            names,
            IdAndTexts { id, texts },
            ProgressCallback { progress, total },
        )?;
        let handle = self.opened.get()?;
        let result = add::add(py, &handle, &settings, feed);
        py.detach(move || drop(handle));
        result
    }

    #[expect(clippy::too_many_arguments, reason = "options of one call")]
    #[pyo3(signature = (
        tables, common, names, id, texts, expires, on_existing, threads, progress=None
    ))]
    fn add_tables(
        &self,
        py: Python<'_>,
        tables: Bound<'_, PyIterator>,
        common: &Bound<'_, PyAny>,
        names: Vec<String>,
        id: String,
        texts: Vec<String>,
        expires: Option<i64>,
        on_existing: &str,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<AddTuple> {
        let settings = AddSettings::new(on_existing, expires, threads)?;
        let callback = ProgressCallback { progress, total: None };
        let columns = IdAndTexts { id, texts };
        let feed = TableFeed::new(tables, common, names, columns, callback)?;
        let handle = self.opened.get()?;
        let result = add::add(py, &handle, &settings, feed);
        py.detach(move || drop(handle));
        result
    }

    #[expect(clippy::too_many_arguments, reason = "options of one call")]
    #[pyo3(signature = (paths, names, expires, on_existing, threads, options, progress=None))]
    fn add_files(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        names: Vec<String>,
        expires: Option<i64>,
        on_existing: &str,
        threads: Option<usize>,
        options: &Bound<'_, PyDict>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(AddTuple, Vec<String>, Vec<SkippedTuple>)> {
        let settings = AddSettings::new(on_existing, expires, threads)?;
        let files = InputFiles::new(py, paths, names, self.folder.clone(), options)?;
        let handle = self.opened.get()?;
        let result = read::add(py, &handle, &settings, &files, progress.as_ref());
        py.detach(move || drop(handle));
        result
    }

    /// Adds the kept documents of a run whose reference was this index, and records the removed
    /// ones. The documents of the run are in memory. Returns the number of added documents.
    fn add_survivors_of(&self, py: Python<'_>, found: &PyFindings) -> PyResult<u64> {
        let run = py.detach(|| found.reopened()).map_err(read_error)?;
        self.add_survivors(py, (run.0, &run.1, run.2))
    }

    #[expect(clippy::too_many_arguments, reason = "options of one call")]
    fn add_one(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        given: &Bound<'_, PyAny>,
        described: &Bound<'_, PyAny>,
        modified: Option<i64>,
        expires: Option<i64>,
        on_existing: &str,
    ) -> PyResult<AddTuple> {
        let settings = AddSettings::new(on_existing, expires, None)?;
        let document = NewDocument {
            id: id_text(id, || "the id".to_owned())?,
            text: text(given, || "the text".to_owned())?,
            metadata: metadata(described, "the document")?,
            original: None,
            modified,
            expires,
        };
        let handle = self.opened.get()?;
        let result = add::add_one(py, &handle, &settings, document);
        py.detach(move || drop(handle));
        result
    }

    /// Removes documents. Returns their number, and the unknown ids.
    fn remove(&self, py: Python<'_>, ids: Bound<'_, PyIterator>) -> PyResult<(u64, Vec<String>)> {
        let numbered = ids.enumerate();
        let ids = numbered.map(|(row, id)| id_text(&id?, || format!("id {row}")));
        let ids = ids.collect::<PyResult<Vec<PyBackedStr>>>()?;
        let result = self.opened.detached(py, |handle| {
            let removed = index::remove(&handle.index, ids.iter().map(|id| &**id))?;
            Ok((removed.removed, removed.absent))
        });
        drop(ids);
        result
    }

    #[expect(clippy::too_many_arguments, reason = "options of one call")]
    fn query<'py>(
        &self,
        py: Python<'py>,
        given: Option<&Bound<'py, PyAny>>,
        id: Option<&Bound<'py, PyAny>>,
        limit: Option<usize>,
        threshold: Option<f64>,
        nearest: Option<usize>,
        filters: Vec<String>,
        texts: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let request = text_query(threshold, limit, nearest, filters, texts)?;
        self.expect_texts(py, texts)?;
        if let Some(id) = id {
            let id = id_text(id, || "the id".to_owned())?;
            let found = self.opened.detached(py, |handle| request.of_id(handle, &id))?;
            return found.ok_or_else(|| unknown(self.opened.name(), &id))?.python(py);
        }
        let Some(given) = given else {
            return Err(OptionError::new_err("neither a text nor an id was given, expected one"));
        };
        let given = text(given, || "the text".to_owned())?;
        self.opened.detached(py, |handle| request.of_text(handle, &given))?.python(py)
    }

    #[expect(clippy::too_many_arguments, reason = "options of one call")]
    fn query_many<'py>(
        &self,
        py: Python<'py>,
        given: Bound<'py, PyIterator>,
        limit: Option<usize>,
        threshold: Option<f64>,
        nearest: Option<usize>,
        filters: Vec<String>,
        texts: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let request = text_query(threshold, limit, nearest, filters, texts)?;
        let threads = query::threads(threads).map_err(OptionError::new_err)?;
        let rows = given.enumerate();
        let rows = rows.map(|(row, value)| text(&value?, || format!("text {row}")));
        let rows = rows.collect::<PyResult<Vec<PyBackedStr>>>()?;
        self.expect_texts(py, texts)?;
        let handle = self.opened.get()?;
        let stop = Arc::new(AtomicBool::new(false));
        let told_to_stop = Arc::clone(&stop);
        let work = move || (request.of_texts(&handle, &rows, threads, &told_to_stop), rows);
        let (found, rows) = interruptible(py, work).inspect_err(|_| {
            stop.store(true, Ordering::Relaxed);
        })?;
        drop(rows);
        let found = found.map_err(index_error)?;
        let lists = found.iter().map(|found| found.python(py)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, lists)
    }

    fn get<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let id = id_text(id, || "the id".to_owned())?;
        let found = self.opened.detached(py, |handle| {
            let wanted = RecordFields {
                metadata: true,
                set: handle.index.settings().store != StoredContent::Signatures,
                text: handle.index.settings().store.has_texts(),
                ..RecordFields::default()
            };
            record(handle.index.snapshot()?.as_mut(), &id, time::now(), wanted)
        })?;
        found.map(|found| document(py, &found)).transpose()
    }

    fn contains(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = id_text(id, || "the id".to_owned())?;
        self.opened.detached(py, |handle| {
            let mut snapshot = handle.index.snapshot()?;
            Ok(record(snapshot.as_mut(), &id, time::now(), RecordFields::default())?.is_some())
        })
    }

    /// Returns the sizes of the groups of the documents with these ids, or 0 for an unknown id.
    fn group_sizes(&self, py: Python<'_>, ids: Bound<'_, PyIterator>) -> PyResult<Vec<u64>> {
        let ids = ids.enumerate().map(|(row, id)| id_text(&id?, || format!("id {row}")));
        let ids = ids.collect::<PyResult<Vec<PyBackedStr>>>()?;
        let sizes = self.opened.detached(py, |handle| group_sizes(handle, &ids));
        drop(ids);
        sizes
    }

    fn len(&self, py: Python<'_>) -> PyResult<u64> {
        self.opened.detached(py, |handle| Ok(handle.index.snapshot()?.len()))
    }

    /// Reads up to `most` documents with numbers above `after`. Returns their ids, and the number
    /// of the last one. Returns `None` after the last document.
    fn ids(&self, py: Python<'_>, after: u64, most: usize) -> PyResult<Option<(Vec<String>, u64)>> {
        self.opened.detached(py, |handle| {
            let now = time::now();
            let mut ids = Vec::new();
            let mut last = None;
            let mut snapshot = handle.index.snapshot()?;
            snapshot.scan(
                DocumentNumber(after.saturating_add(1)),
                most,
                RecordFields::default(),
                &mut |record| {
                    last = Some(record.number);
                    if !record.is_expired(now) {
                        ids.push(record.id.clone());
                    }
                    Ok(())
                },
            )?;
            Ok(last.map(|last| (ids, last.0)))
        })
    }

    #[pyo3(signature = (arguments, progress=None))]
    fn groups(
        &self,
        py: Python<'_>,
        arguments: &Bound<'_, PyDict>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyFindings> {
        let handle = self.opened.get()?;
        let found = groups::groups(py, &handle, arguments, progress.as_ref());
        py.detach(move || drop(handle));
        found
    }

    #[pyo3(signature = (arguments, progress=None))]
    fn categorise(
        &self,
        py: Python<'_>,
        arguments: &Bound<'_, PyDict>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let handle = self.opened.get()?;
        let result = categories::make(py, &handle, arguments, progress.as_ref());
        py.detach(move || drop(handle));
        result
    }

    /// The path, path of the parent, similarity, words and number of documents of each category.
    fn categories(&self, py: Python<'_>) -> PyResult<Vec<CategoryTuple>> {
        let handle = self.opened.get()?;
        interruptible(py, move || categories::tree(&handle))?.map_err(index_error)
    }

    /// Returns the path of the category of a document, or `None` if it has none.
    fn category(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let id = id_text(id, || "the id".to_owned())?;
        let found = self.opened.detached(py, |handle| categories::of_document(handle, &id))?;
        Ok(found.ok_or_else(|| unknown(self.opened.name(), &id))?.path)
    }

    /// Like `ids`, for the documents in a category and its subcategories.
    fn category_ids(
        &self,
        py: Python<'_>,
        path: &str,
        after: u64,
        most: usize,
    ) -> PyResult<Option<(Vec<String>, u64)>> {
        let handle = self.opened.get()?;
        py.detach(move || categories::ids(&handle, path, after, most))
    }

    /// Returns the versions of a document, ordered by time.
    fn versions<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let id = id_text(id, || "the id".to_owned())?;
        let found = self.opened.detached(py, |handle| originals::versions(handle, &id))?;
        let found = found.ok_or_else(|| unknown(self.opened.name(), &id))?;
        found.iter().map(|version| originals::row(py, version)).collect()
    }

    fn original<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
        version: Option<u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let id = id_text(id, || "the id".to_owned())?;
        let handle = self.opened.get()?;
        let original = py.detach(move || originals::original(&handle, &id, version))?;
        Ok(PyBytes::new(py, &original))
    }

    fn version_text(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        version: Option<u64>,
    ) -> PyResult<Option<String>> {
        let id = id_text(id, || "the id".to_owned())?;
        let handle = self.opened.get()?;
        py.detach(move || originals::text(&handle, &id, version))
    }

    /// Counts and sizes, in the order of `lookalike.IndexStats` and `lookalike.OriginalStats`.
    fn stats(&self, py: Python<'_>) -> PyResult<([u64; 9], Option<[u64; 5]>)> {
        let handle = self.opened.get()?;
        let stats = interruptible(py, move || handle.index.stats())?.map_err(index_error)?;
        let originals = stats
            .originals
            .map(|of| [of.versions, of.originals, of.differences, of.bytes, of.stored_bytes]);
        let all = [
            stats.documents,
            stats.without_shingles,
            stats.postings,
            stats.segments,
            stats.tail,
            stats.catalogue_bytes,
            stats.set_bytes,
            stats.text_bytes,
            stats.segment_bytes,
        ];
        Ok((all, originals))
    }

    /// Returns the problems of the index: the place, the description, and whether
    /// `repair` can repair it.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<(String, String, bool)>> {
        let handle = self.opened.get()?;
        let problems = interruptible(py, move || handle.index.check())?.map_err(index_error)?;
        let row = |problem: lookalike::store::backend::IndexProblem| {
            (problem.place, problem.what, problem.repairable)
        };
        Ok(problems.into_iter().map(row).collect())
    }

    fn repair(&self, py: Python<'_>) -> PyResult<()> {
        let handle = self.opened.get()?;
        interruptible(py, move || handle.index.repair())?.map_err(index_error)
    }

    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        let handle = self.opened.get()?;
        interruptible(py, move || handle.index.compact(time::now()))?.map_err(index_error)
    }

    fn backup(&self, py: Python<'_>, to: PathBuf) -> PyResult<()> {
        let handle = self.opened.get()?;
        interruptible(py, move || handle.index.backup(&to))?.map_err(index_error)
    }

    /// Exports documents. Returns their number.
    fn export(&self, py: Python<'_>, to: PathBuf) -> PyResult<u64> {
        let target = Target::new(&to, &[OutputFormat::Jsonl]);
        let target = target.map_err(|error| OptionError::new_err(error.to_string()))?;
        let handle = self.opened.get()?;
        let work = move || {
            let mut written = Ok(0);
            let finished = Output::create(&target)?.finish(|out| {
                written = index::export(&handle.index, time::now(), out)?;
                if written.is_err() {
                    // The error discards the incomplete file.
                    return Err(std::io::Error::other("the index cannot be read"));
                }
                Ok(())
            });
            let written = written?;
            finished?;
            Ok::<_, Error>(written)
        };
        interruptible(py, work)?.map_err(|error| match error {
            Error::Find(FindError::Index(error)) => index_error(error),
            error => run_error(error),
        })
    }
}

impl StoredIndex {
    /// Adds the kept documents of a run whose reference was this index, and records the removed
    /// ones. Returns the number of added documents.
    pub(crate) fn add_survivors(
        &self,
        py: Python<'_>,
        run: (&Findings, &Collection, &FindOptions),
    ) -> PyResult<u64> {
        let handle = self.opened.get()?;
        let added = survivors::add(py, &handle, run);
        py.detach(move || drop(handle));
        added
    }

    /// Fails if a call requests texts that the index does not store.
    fn expect_texts(&self, py: Python<'_>, texts: bool) -> PyResult<()> {
        let expected = self.opened.detached(py, |handle| Ok(expect_texts(&handle.index, texts)))?;
        expected.map_err(OptionError::new_err)
    }
}
