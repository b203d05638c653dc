//! The tables of a `MinHashLSH` in a folder. [`LshTables`](super::tables::LshTables) holds the
//! tables of an index in memory.
//!
//! ```text
//! keys ─ ids.rs ─► ids ─┐
//! bands ────────────────┴─ sketch_index.rs, pending_changes.rs ─► folder
//! folder ─ band_probe.rs ─► rows ─ ids.rs ─► keys
//! ```
//!
//! A thread releases the interpreter's lock before it waits for another lock. Otherwise two threads
//! could wait for each other.

mod band_probe;
mod error;
mod ids;
mod open_folder;
mod origin;
mod pending_changes;
mod sketch_index;

use crate::datasketch::sketch::check_band;
use crate::error::StoreError;
use crate::index::interruptible::interruptible;
use band_probe::{KeyRow, Scan};
use error::{SketchIndexError, reported};
use ids::Key;
use lookalike::index::time;
use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use sketch_index::{IndexParameters, SketchIndex};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// Maximum number of rows that one call reads from a scan.
const PIECE: usize = 1_024;

/// An index in a folder, which finds keys by the bands of their sketches.
#[pyclass(frozen, weakref, name = "DsKept", module = "lookalike._engine")]
pub(crate) struct FolderLsh {
    /// The process that opened the index. A process forked from it shares the file positions and
    /// the locks, but not the threads. Operations in a forked process could damage the index. They
    /// fail there, and closing does nothing.
    process: u32,
    name: String,
    bands: usize,
    /// `None` only during `drop`.
    sketch_index: Option<SketchIndex>,
}

/// A page of keys, and the number of the row at which the next page starts.
type KeyPage<'py> = (Bound<'py, PyList>, u64);

impl FolderLsh {
    /// # Errors
    /// `StoreError` in a forked process.
    fn sketch_index(&self) -> PyResult<&SketchIndex> {
        let pid = std::process::id();
        // Checked before locking: another thread may have held a lock when the process forked.
        match &self.sketch_index {
            Some(sketch_index) if self.process == pid => Ok(sketch_index),
            _ => Err(StoreError::new_err(format!(
                "cannot use {} in process {pid}, which was forked from process {} that opened \
                 it; open it again in process {pid}, with 'readonly': True if another process \
                 writes, and close it before the fork or start processes with spawn",
                self.name, self.process
            ))),
        }
    }

    /// Runs work without the interpreter's lock.
    fn detached<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&SketchIndex) -> Result<T, SketchIndexError> + Send,
    ) -> PyResult<T> {
        let sketch_index = self.sketch_index()?;
        py.detach(|| work(sketch_index)).map_err(|refused| refused.reported(&self.name))
    }

    /// Runs long work on another thread while this thread checks for signals. Returns `fallback` if
    /// the folder does not exist yet.
    fn interruptible<T: Send + 'static>(
        &self,
        py: Python<'_>,
        fallback: T,
        work: impl FnOnce(&open_folder::OpenFolder) -> Result<T, lookalike::store::IndexError>
        + Send
        + 'static,
    ) -> PyResult<T> {
        let Some(open) = self.detached(py, SketchIndex::settled)? else { return Ok(fallback) };
        interruptible(py, move || work(&open))?.map_err(|error| reported(error, &self.name))
    }

    fn key<'py>(&self, py: Python<'py>, row: &KeyRow) -> PyResult<Bound<'py, PyAny>> {
        let allows_pickles = self.sketch_index()?.allows_pickles();
        let original = row.original.as_deref();
        ids::key(py, &self.name, row.number, (&row.id, original), allows_pickles)
    }

    fn keys<'py>(&self, py: Python<'py>, rows: &[KeyRow]) -> PyResult<Vec<Bound<'py, PyAny>>> {
        rows.iter().map(|row| self.key(py, row)).collect()
    }

    fn found<'py>(
        &self,
        py: Python<'py>,
        bands: &[(usize, PyBackedBytes)],
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let rows = self.detached(py, |sketch_index| sketch_index.find(bands))?;
        self.keys(py, &rows)
    }

    /// Returns the next rows, and no rows at the end. Reads their bands only if `bands` is true.
    fn next(&self, py: Python<'_>, scan: &mut Scan, bands: bool) -> PyResult<Vec<KeyRow>> {
        py.check_signals()?;
        py.detach(|| scan.next(PIECE, bands)).map_err(|refused| refused.reported(&self.name))
    }

    fn empty_counts<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyDict>> {
        (0..self.bands).map(|_| PyDict::new(py)).collect()
    }
}

/// Counts a record in each of its buckets, unless the bucket contains an earlier record of the same
/// key. `earlier` contains the bands of the earlier records.
fn count<'py>(
    py: Python<'py>,
    counts: &[Bound<'py, PyDict>],
    row: &KeyRow,
    earlier: &[Vec<Vec<u8>>],
) -> PyResult<()> {
    for (at, (band, of_band)) in row.bands.iter().zip(counts).enumerate() {
        if earlier.iter().any(|bands| bands.get(at) == Some(band)) {
            continue;
        }
        let bucket = PyBytes::new(py, band);
        let before = of_band.get_item(&bucket)?;
        let before = before.map_or(Ok(0), |count| count.extract::<u64>())?;
        of_band.set_item(bucket, before + 1)?;
    }
    Ok(())
}

fn by_band(bands: Vec<PyBackedBytes>) -> Vec<(usize, PyBackedBytes)> {
    bands.into_iter().enumerate().collect()
}

#[pymethods]
impl FolderLsh {
    /// Opens the index in the folder `path`. If the folder does not exist, the first inserted
    /// sketch creates it.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "settings of an index")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        num_perm: usize,
        bands: usize,
        rows: usize,
        prepickle: bool,
        hashfunc: Option<String>,
        read_only: bool,
        allow_pickle: bool,
    ) -> PyResult<Self> {
        let name = path.display().to_string();
        // The working directory may change before the first sketch creates the folder.
        let folder = std::path::absolute(&path).map_err(|error| {
            StoreError::new_err(format!("{name:?} is not a valid path: {error}"))
        })?;
        let expected = IndexParameters { num_perm, bands, rows, prepickle, hashfunc };
        let sketch_index =
            py.detach(|| SketchIndex::new(folder, expected, read_only, allow_pickle));
        let sketch_index = Some(sketch_index.map_err(|refused| refused.reported(&name))?);
        Ok(Self { process: std::process::id(), name, bands, sketch_index })
    }

    #[getter]
    fn path(&self) -> &str {
        &self.name
    }

    /// The scheme of the sketches, if it is known.
    #[getter]
    fn scheme(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.detached(py, SketchIndex::scheme)
    }

    /// Adds a record of a key. If `is_new` is true and the key exists, adds nothing and returns
    /// false. Writes the pending changes as soon as there are `most` of them.
    fn insert(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        bands: Vec<PyBackedBytes>,
        scheme: Option<String>,
        is_new: bool,
        most: usize,
    ) -> PyResult<bool> {
        self.sketch_index()?;
        let key = Key::of(key)?;
        self.detached(py, |sketch_index| {
            sketch_index.insert(key, &bands, scheme.as_deref(), is_new, most)
        })
    }

    /// Adds all keys with their bands, or none.
    fn insert_all(
        &self,
        py: Python<'_>,
        rows: Vec<(Bound<'_, PyAny>, Vec<PyBackedBytes>)>,
        scheme: Option<String>,
    ) -> PyResult<()> {
        self.sketch_index()?;
        let rows = rows.into_iter().map(|(key, bands)| Ok((Key::of(&key)?, bands)));
        let rows = rows.collect::<PyResult<Vec<_>>>()?;
        self.detached(py, |sketch_index| sketch_index.insert_all(rows, scheme.as_deref()))
    }

    /// Removes a key. Returns false if it does not exist. Writes pending changes like `insert`.
    fn remove(&self, py: Python<'_>, key: &Bound<'_, PyAny>, most: usize) -> PyResult<bool> {
        self.sketch_index()?;
        let key = Key::of(key)?;
        self.detached(py, |sketch_index| sketch_index.remove(&key.id, most))
    }

    /// Writes pending changes.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.detached(py, SketchIndex::commit)
    }

    /// Writes pending changes and closes the folder. Does nothing in a forked process.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.process == std::process::id() {
            self.detached(py, SketchIndex::close)
        } else {
            Ok(())
        }
    }

    /// The keys that share a bucket with these bands.
    fn _find_bands<'py>(
        &self,
        py: Python<'py>,
        bands: Vec<PyBackedBytes>,
    ) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.found(py, &by_band(bands))?)
    }

    /// The keys that share a bucket with one of the first `count` bands.
    fn _find_in<'py>(
        &self,
        py: Python<'py>,
        bands: Vec<PyBackedBytes>,
        count: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        if count > self.bands {
            return Err(PyValueError::new_err(format!(
                "b must be less or equal to the number of hash tables, {}, got {count}",
                self.bands
            )));
        }
        let mut bands = by_band(bands);
        bands.truncate(count);
        PyList::new(py, self.found(py, &bands)?)
    }

    fn _has(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.sketch_index()?;
        let key = Key::of(key)?;
        self.detached(py, |sketch_index| sketch_index.has(&key.id))
    }

    /// All keys in the order of insertion.
    fn _keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let keys = PyList::empty(py);
        let Some(mut scan) = self.detached(py, |sketch_index| sketch_index.scan(0))? else {
            return Ok(keys);
        };
        loop {
            let rows = self.next(py, &mut scan, false)?;
            if rows.is_empty() {
                return Ok(keys);
            }
            for row in rows.iter().filter(|row| row.repeat == 0) {
                keys.append(self.key(py, row)?)?;
            }
        }
    }

    /// Returns a page of keys from row `start` on, and the row at which the next page starts.
    /// Returns `None` at the end.
    fn _page<'py>(&self, py: Python<'py>, start: u64) -> PyResult<Option<KeyPage<'py>>> {
        let Some(mut scan) = self.detached(py, |sketch_index| sketch_index.scan(start))? else {
            return Ok(None);
        };
        let rows = self.next(py, &mut scan, false)?;
        let Some(last) = rows.last().map(|row| row.number) else { return Ok(None) };
        let firsts: Vec<KeyRow> = rows.into_iter().filter(|row| row.repeat == 0).collect();
        Ok(Some((PyList::new(py, self.keys(py, &firsts)?)?, last + 1)))
    }

    /// Every record: its key and its bands.
    fn _rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        let Some(mut scan) = self.detached(py, |sketch_index| sketch_index.scan(0))? else {
            return Ok(all);
        };
        loop {
            let rows = self.next(py, &mut scan, true)?;
            if rows.is_empty() {
                return Ok(all);
            }
            for row in &rows {
                let bands = PyList::new(py, row.bands.iter().map(|band| PyBytes::new(py, band)))?;
                all.append(PyTuple::new(py, [self.key(py, row)?, bands.into_any()])?)?;
            }
        }
    }

    fn _size(&self, py: Python<'_>) -> PyResult<u64> {
        self.detached(py, SketchIndex::size)
    }

    /// The bands of `key`; empty if it does not exist.
    fn _bands_of<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.sketch_index()?;
        let key = Key::of(key)?;
        let rows = self.detached(py, |sketch_index| sketch_index.rows_of(&key.id))?;
        let bands = rows.iter().flat_map(|row| &row.bands);
        PyList::new(py, bands.map(|band| PyBytes::new(py, band)).collect::<Vec<_>>())
    }

    /// The keys of one bucket.
    fn _bucket<'py>(
        &self,
        py: Python<'py>,
        band: usize,
        bucket_key: PyBackedBytes,
    ) -> PyResult<Bound<'py, PyList>> {
        check_band(band, self.bands)?;
        PyList::new(py, self.found(py, &[(band, bucket_key)])?)
    }

    /// The number of keys in each bucket of a band.
    fn _counts_in<'py>(&self, py: Python<'py>, band: usize) -> PyResult<Bound<'py, PyDict>> {
        check_band(band, self.bands)?;
        Ok(self.counts(py)?.swap_remove(band))
    }

    /// For each band, the number of keys in each bucket.
    #[pyo3(name = "_counts")]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let counts = self.empty_counts(py);
        let Some(mut scan) = self.detached(py, |sketch_index| sketch_index.scan(0))? else {
            return Ok(counts);
        };
        // The bands of the earlier records of each key that was inserted repeatedly.
        let mut repeated: HashMap<String, Vec<Vec<Vec<u8>>>> = HashMap::new();
        loop {
            let rows = self.next(py, &mut scan, true)?;
            if rows.is_empty() {
                return Ok(counts);
            }
            for row in rows {
                if row.repeat == 0 {
                    count(py, &counts, &row, &[])?;
                    continue;
                }
                if !repeated.contains_key(&row.id) {
                    let first = py.detach(|| scan.first_of(&row.id));
                    let first = first.map_err(|refused| refused.reported(&self.name))?;
                    let bands = first.into_iter().map(|row| row.bands).collect();
                    repeated.insert(row.id.clone(), bands);
                }
                let earlier = repeated.entry(row.id.clone()).or_default();
                count(py, &counts, &row, earlier)?;
                earlier.push(row.bands);
            }
        }
    }

    /// Like [`counts`](Self::counts), for these keys only. Ignores unknown keys.
    fn _counts_of<'py>(
        &self,
        py: Python<'py>,
        keys: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.sketch_index()?;
        let counts = self.empty_counts(py);
        let mut met = HashSet::new();
        for key in keys {
            let key = Key::of(&key)?;
            let rows = self.detached(py, |sketch_index| sketch_index.rows_of(&key.id))?;
            if !met.insert(key.id) {
                continue;
            }
            let mut earlier = Vec::new();
            for row in rows {
                count(py, &counts, &row, &earlier)?;
                earlier.push(row.bands);
            }
        }
        Ok(counts)
    }

    /// Returns the problems of the index: the place, the description, and whether
    /// `repair` can repair it.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<(String, String, bool)>> {
        let problems = self.interruptible(py, Vec::new(), |open| open.backend.check())?;
        let row = |problem: lookalike::store::backend::IndexProblem| {
            (problem.place, problem.what, problem.repairable)
        };
        Ok(problems.into_iter().map(row).collect())
    }

    fn repair(&self, py: Python<'_>) -> PyResult<()> {
        self.interruptible(py, (), |open| open.backend.repair())
    }

    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.interruptible(py, (), |open| open.backend.compact(time::now()))
    }

    /// Copies the index to a new folder. Returns false if no sketch has created the index yet.
    fn backup(&self, py: Python<'_>, to: PathBuf) -> PyResult<bool> {
        let to = std::path::absolute(&to).map_err(|error| {
            StoreError::new_err(format!("{} is not a valid path: {error}", to.display()))
        })?;
        let is_own = self.sketch_index()?.allows_pickles();
        self.interruptible(py, false, move |open| {
            open.backend.backup(&to)?;
            // This process may load the pickles of the copy as well.
            if is_own {
                origin::record(&to);
            }
            Ok(true)
        })
    }
}

impl Drop for FolderLsh {
    fn drop(&mut self) {
        let Some(sketch_index) = self.sketch_index.take() else { return };
        if std::process::id() != self.process {
            std::mem::forget(sketch_index);
            return;
        }
        // Release the interpreter's lock while closing, as for every operation on the index.
        let sketch_index = Mutex::new(Some(sketch_index));
        let take = || sketch_index.lock().take();
        let _ = Python::try_attach(|py| {
            let result = py.detach(|| take().map_or(Ok(()), |sketch_index| sketch_index.close()));
            match result {
                Ok(()) => {}
                Err(refused) => refused.reported(&self.name).write_unraisable(py, None),
            }
        });
        // After the end of the interpreter, no code can receive an error.
        if let Some(sketch_index) = take() {
            let _ = sketch_index.close();
        }
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FolderLsh>()
}
