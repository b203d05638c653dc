//! What resembles a text, as Python has it.

use super::convert::time;
use super::json::dictionary;
use super::opened::{Handle, Tools};
use lookalike::index::time::now;
use lookalike::store::entry::{Record, Wanted, shown};
use lookalike::store::filter::Filter;
use lookalike::store::query::{Answer, Match, Probe, Question, Similarity, query};
use lookalike::store::settings::Store;
use lookalike::store::{Index, IndexError, set};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What is asked of every text.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) threshold: Option<f64>,
    pub(super) top: Option<usize>,
    pub(super) filters: Vec<Filter>,
    pub(super) texts: bool,
}

/// What was found, and what it is about.
pub(super) struct Found {
    answer: Answer,
    threshold: f64,
    /// Shingles of the text; `None` where they are not known.
    shingles: Option<usize>,
}

impl Asked {
    fn question(&self, index: &Index, except: Option<u64>) -> Question<'_> {
        Question {
            threshold: self.threshold.unwrap_or(index.settings().threshold),
            top: self.top,
            filters: &self.filters,
            now: now(),
            except,
            wanted: Wanted { metadata: true, text: self.texts, ..Wanted::default() },
        }
    }

    /// What resembles a text.
    ///
    /// # Errors
    /// As those of the engine.
    pub(super) fn of_text(&self, handle: &Handle, text: &str) -> Result<Found, IndexError> {
        handle.with_tools(|index, tools| self.ask(index, tools, text))
    }

    fn ask(&self, index: &Index, tools: &mut Tools, text: &str) -> Result<Found, IndexError> {
        let probe = tools.preparer.prepare(text).probe();
        let question = self.question(index, None);
        let answer = index.query(&probe, &question, &mut tools.scratch)?;
        let shingles = Some(probe.set.len());
        Ok(Found { answer, threshold: question.threshold, shingles })
    }

    /// What resembles a document of the index, but for itself; `None` where there is none with
    /// this id.
    ///
    /// # Errors
    /// As those of the engine.
    pub(super) fn of_id(&self, handle: &Handle, id: &str) -> Result<Option<Found>, IndexError> {
        let index = &handle.index;
        let mut snapshot = index.snapshot()?;
        let wanted = Wanted { signature: true, set: true, ..Wanted::default() };
        let Some(number) = snapshot.number_of(id)? else { return Ok(None) };
        let mut record = None;
        snapshot.records(&[number], wanted, &mut |found| {
            record = Some(found.clone());
            Ok(())
        })?;
        let Some(record) = record.filter(|record| !record.is_expired(now())) else {
            return Ok(None);
        };
        let mut set = Vec::new();
        if let Some(code) = &record.set {
            set::decode(code, &mut set)?;
        }
        let shingles = record.set.is_some().then_some(set.len());
        let (fingerprint, signature) = (record.fingerprint, record.signature.as_slice());
        let probe = Probe { set: &set, fingerprint, signature };
        let question = self.question(index, Some(number));
        let answer = handle.with_tools(|index, tools| {
            query(&mut *snapshot, index.settings(), &probe, &question, &mut tools.scratch)
        })?;
        Ok(Some(Found { answer, threshold: question.threshold, shingles }))
    }

    /// What resembles each of several texts, by several threads. Ends early where `stop` is set.
    ///
    /// # Errors
    /// The first of the engine's.
    pub(super) fn of_texts<S: AsRef<str> + Sync>(
        &self,
        handle: &Handle,
        texts: &[S],
        threads: NonZeroUsize,
        stop: &AtomicBool,
    ) -> Result<Vec<Found>, IndexError> {
        let next = AtomicUsize::new(0);
        let all = Mutex::new((Vec::with_capacity(texts.len()), None));
        let work = || {
            let mut found = Vec::new();
            let done = handle.with_tools(|index, tools| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(text) = texts.get(at).filter(|_| !stop.load(Ordering::Relaxed)) else {
                        return Ok(());
                    };
                    found.push((at, self.ask(index, tools, text.as_ref())?));
                }
            });
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.0.append(&mut found);
            if let Err(error) = done {
                // The others need not go on.
                next.fetch_max(texts.len(), Ordering::Relaxed);
                all.1 = Some(error);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.get().min(texts.len()) {
                scope.spawn(work);
            }
            work();
        });
        let (mut found, failed) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failed {
            return Err(error);
        }
        found.sort_unstable_by_key(|(at, _)| *at);
        Ok(found.into_iter().map(|(_, found)| found).collect())
    }
}

/// What is wanted of texts that the index does not keep.
///
/// # Errors
/// What is missing, in words.
pub(super) fn expect_texts(index: &Index, texts: bool) -> Result<(), String> {
    if !texts || index.settings().store == Store::Texts {
        return Ok(());
    }
    let kept = format!("{:?}", index.settings().store).to_lowercase();
    Err(format!(
        "texts were asked for, {} keeps {kept}: leave texts=True out, or create an index with \
         store=\"texts\"",
        index.name()
    ))
}

impl Found {
    /// A list of matches, and what it says of all of them: found, candidates, threshold,
    /// predicted recall, shingles.
    ///
    /// # Errors
    /// What the interpreter gives.
    pub(super) fn python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let Answer { matches, candidates, found, predicted_recall } = &self.answer;
        let rows = matches.iter().map(|found| row(py, found));
        let rows = rows.collect::<PyResult<Vec<_>>>()?;
        let rows = PyList::new(py, rows)?;
        (rows, found, candidates, self.threshold, predicted_recall, self.shingles).into_pyobject(py)
    }
}

fn row<'py>(py: Python<'py>, found: &Match) -> PyResult<Bound<'py, PyTuple>> {
    let Match { record, similarity } = found;
    let exact = match similarity {
        Similarity::Exact(overlap) => Some(overlap),
        Similarity::Estimated(_) => None,
    };
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

fn optional_time(py: Python<'_>, at: Option<i64>) -> PyResult<Bound<'_, PyAny>> {
    at.map_or_else(|| Ok(py.None().into_bound(py)), |at| time(py, at))
}

/// A document: id, bytes, shingles, metadata, added, modified, expires, text.
///
/// # Errors
/// What the interpreter gives.
pub(super) fn document<'py>(py: Python<'py>, record: &Record) -> PyResult<Bound<'py, PyTuple>> {
    let shingles = record.set.as_deref().map(set::len).transpose();
    let shingles = shingles.map_err(super::telling::told)?;
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

/// That there is no such document.
pub(super) fn unknown(index: &str, id: &str) -> PyErr {
    crate::error::DocumentError::new_err(format!(
        "there is no document {:?} in {index}, expected the id of one that is: Index.ids lists \
         them",
        shown(id)
    ))
}
