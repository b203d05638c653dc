//! Runs queries, and converts their results to Python values.

use super::convert::{optional_time, time};
use super::json::dictionary;
use super::open_index::{Handle, QueryTools};
use lookalike::find::MAX_THREADS;
use lookalike::find::workers::{Earliest, on_threads};
use lookalike::index::time::now;
use lookalike::store::entry::{IndexRecord, RecordFields, shortened_id};
use lookalike::store::filter::MetadataFilter;
use lookalike::store::nearest::NearestRequest;
use lookalike::store::query::{Match, QueryRequest, QueryResult};
use lookalike::store::query_by_id::query_stored;
use lookalike::store::{Index, IndexError, set};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The options of a query.
#[derive(Debug, Clone)]
pub(super) struct TextQuery {
    pub(super) threshold: Option<f64>,
    pub(super) top: Option<usize>,
    pub(super) nearest: Option<NonZeroUsize>,
    pub(super) filters: Vec<MetadataFilter>,
    pub(super) texts: bool,
}

/// The result of a query.
pub(super) struct FoundDocuments {
    answer: QueryResult,
    threshold: f64,
    /// The number of shingles of the query, or `None` if the index does not store it.
    shingles: Option<usize>,
}

impl TextQuery {
    fn request<'a>(&'a self, index: &'a Index) -> QueryRequest<'a> {
        let signatures = index.compact_signatures();
        QueryRequest {
            threshold: self.threshold.unwrap_or(index.settings().threshold),
            top: self.top,
            nearest: self.nearest.map(|count| NearestRequest { count, signatures }),
            filters: &self.filters,
            now: now(),
            except: None,
            wanted: RecordFields { metadata: true, text: self.texts, ..RecordFields::default() },
        }
    }

    /// Finds documents similar to a text.
    ///
    /// # Errors
    /// Errors of the engine.
    pub(super) fn of_text(
        &self,
        handle: &Handle,
        text: &str,
    ) -> Result<FoundDocuments, IndexError> {
        handle.with_tools(|index, tools| self.ask(index, tools, text))
    }

    fn ask(
        &self,
        index: &Index,
        tools: &mut QueryTools,
        text: &str,
    ) -> Result<FoundDocuments, IndexError> {
        let probe = tools.preparer.prepare(text).query_document();
        let request = self.request(index);
        let answer = index.query(&probe, &request, &mut tools.scratch)?;
        let shingles = Some(probe.set.len());
        Ok(FoundDocuments { answer, threshold: threshold(&request), shingles })
    }

    /// Finds documents similar to a document of the index, without the document itself. Returns
    /// `None` if the id is unknown.
    ///
    /// # Errors
    /// Errors of the engine.
    pub(super) fn of_id(
        &self,
        handle: &Handle,
        id: &str,
    ) -> Result<Option<FoundDocuments>, IndexError> {
        handle.with_tools(|index, tools| {
            let mut snapshot = index.snapshot()?;
            let settings = index.settings();
            let request = self.request(index);
            let found = query_stored(&mut *snapshot, settings, id, &request, &mut tools.scratch)?;
            Ok(found.map(|(stored, answer)| FoundDocuments {
                answer,
                threshold: threshold(&request),
                shingles: stored.shingles(),
            }))
        })
    }

    /// Finds documents similar to each of several texts, on several threads. Stops early if
    /// `is_cancelled` becomes true.
    ///
    /// # Errors
    /// The error of the first text that failed.
    pub(super) fn of_texts<S: AsRef<str> + Sync>(
        &self,
        handle: &Handle,
        texts: &[S],
        threads: NonZeroUsize,
        is_cancelled: &AtomicBool,
    ) -> Result<Vec<FoundDocuments>, IndexError> {
        let next = AtomicUsize::new(0);
        let failed = Earliest::default();
        let threads = threads.min(NonZeroUsize::new(texts.len()).unwrap_or(NonZeroUsize::MIN));
        let results = on_threads(threads, |stop| {
            handle.with_tools(|index, tools| {
                let mut found = Vec::new();
                while !stop.is_requested() && !is_cancelled.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(text) = texts.get(at) else { break };
                    match self.ask(index, tools, text.as_ref()) {
                        Ok(found_documents) => found.push((at, found_documents)),
                        Err(error) => {
                            failed.keep(at, error);
                            stop.request();
                        }
                    }
                }
                Ok(found)
            })
        });
        let found = failed.or::<_, IndexError>(results)?;
        let mut found: Vec<(usize, FoundDocuments)> = found.into_iter().flatten().collect();
        found.sort_unstable_by_key(|(at, _)| *at);
        Ok(found.into_iter().map(|(_, found)| found).collect())
    }
}

/// The threshold of a query, or 0 for a query of the nearest documents.
fn threshold(request: &QueryRequest<'_>) -> f64 {
    if request.nearest.is_some() { 0.0 } else { request.threshold }
}

/// Checks the number of threads. The default is one per processor.
///
/// # Errors
/// A message with the valid numbers.
pub(super) fn threads(requested: Option<usize>) -> Result<NonZeroUsize, String> {
    if let Some(got) = requested.filter(|threads| !(1..=MAX_THREADS).contains(threads)) {
        return Err(format!("threads is {got}, expected 1 to {MAX_THREADS}"));
    }
    let all = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Ok(requested.and_then(NonZeroUsize::new).unwrap_or_else(all))
}

/// Fails if `texts` is true and the index does not store texts.
///
/// # Errors
/// A message with the remedy.
pub(super) fn expect_texts(index: &Index, texts: bool) -> Result<(), String> {
    if !texts || index.settings().store.has_texts() {
        return Ok(());
    }
    let kept = format!("{:?}", index.settings().store).to_lowercase();
    Err(format!(
        "with_texts=True needs an index with texts, but {} keeps {kept}; remove it, or create \
         an index with store=\"texts\"",
        index.name()
    ))
}

impl FoundDocuments {
    /// Returns the list of matches, followed by the attributes of the result: found, candidates,
    /// threshold, predicted recall, its caveat, shingles.
    ///
    /// # Errors
    /// Errors of the interpreter.
    pub(super) fn python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let QueryResult { matches, candidates, found, predicted_recall, recall_caveat } =
            &self.answer;
        let rows = matches.iter().map(|found| row(py, found));
        let rows = rows.collect::<PyResult<Vec<_>>>()?;
        let rows = PyList::new(py, rows)?;
        let caveat = recall_caveat.map(|caveat| caveat.to_string());
        let threshold = self.threshold;
        let shingles = self.shingles;
        (rows, found, candidates, threshold, predicted_recall, caveat, shingles).into_pyobject(py)
    }
}

fn row<'py>(py: Python<'py>, found: &Match) -> PyResult<Bound<'py, PyTuple>> {
    let Match { record, similarity } = found;
    let exact = similarity.overlap();
    let share = |of: u64| exact.map(|overlap| overlap.intersection as f64 / of as f64);
    PyTuple::new(
        py,
        [
            record.id.as_str().into_pyobject(py)?.into_any(),
            similarity.value().into_pyobject(py)?.into_any(),
            exact.is_none().into_pyobject(py)?.to_owned().into_any(),
            exact.map(|overlap| overlap.intersection).into_pyobject(py)?,
            exact.map(|overlap| overlap.right).into_pyobject(py)?,
            exact.and_then(|overlap| share(overlap.left)).into_pyobject(py)?,
            exact.and_then(|overlap| share(overlap.right)).into_pyobject(py)?,
            record.bytes.into_pyobject(py)?.into_any(),
            dictionary(py, &record.metadata)?.into_any(),
            time(py, record.added)?,
            optional_time(py, record.modified)?,
            optional_time(py, record.expires)?,
            record.text.as_deref().into_pyobject(py)?,
        ],
    )
}

/// Converts a document to a tuple: id, bytes, shingles, metadata, added, modified, expires, text.
///
/// # Errors
/// Errors of the interpreter.
pub(super) fn document<'py>(
    py: Python<'py>,
    record: &IndexRecord,
) -> PyResult<Bound<'py, PyTuple>> {
    let shingles = record.set.as_deref().map(set::len).transpose();
    let shingles = shingles.map_err(crate::error::index_error)?;
    PyTuple::new(
        py,
        [
            record.id.as_str().into_pyobject(py)?.into_any(),
            record.bytes.into_pyobject(py)?.into_any(),
            shingles.into_pyobject(py)?,
            dictionary(py, &record.metadata)?.into_any(),
            time(py, record.added)?,
            optional_time(py, record.modified)?,
            optional_time(py, record.expires)?,
            record.text.as_deref().into_pyobject(py)?,
        ],
    )
}

/// The error for an unknown id.
pub(super) fn unknown(index: &str, id: &str) -> PyErr {
    crate::error::DocumentError::new_err(format!(
        "document {:?} does not exist in {index}; Index.ids lists its ids",
        shortened_id(id)
    ))
}
