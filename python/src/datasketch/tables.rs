//! The tables of a `MinHashLSH`: the user's keys, and the bands of their sketches.

use std::borrow::Cow;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyBytes, PyDict, PyList};

use super::memory::memory_error;
use super::sketch::{Sketch, check_band, check_scheme};
use lookalike_datasketch::bucket_tables::{BandBytes, BucketTables};

/// Tables in memory that find keys by the bands of their sketches.
#[pyclass(subclass, name = "DsTables", module = "lookalike._engine")]
pub(crate) struct LshTables {
    length: usize,
    rows: usize,
    hashfunc: Option<Py<PyAny>>,
    scheme: Option<String>,
    /// The number of the first record of each key, in the order of insertion.
    numbers: Py<PyDict>,
    /// The key of each record.
    keys: Vec<Py<PyAny>>,
    store: BucketTables,
}

impl LshTables {
    /// Returns the bands of a sketch that fits the tables. With `remember`, the scheme of the first
    /// sketch becomes the scheme of the tables.
    fn bands_of(
        slf: &Bound<'_, Self>,
        minhash: &Bound<'_, PyAny>,
        remember: bool,
    ) -> PyResult<BandBytes> {
        let mut sketch = Sketch::of(minhash)?;
        let (width, hashfunc) = {
            let mut this = slf.try_borrow_mut()?;
            this.check_sketch(&sketch)?;
            if remember && this.scheme.is_none() {
                this.scheme = sketch.scheme.take().map(Cow::into_owned);
            }
            let width = sketch.bytes.len() / sketch.length.max(1) * this.rows;
            sketch.bytes.truncate(width * this.store.bands());
            (width, this.hashfunc.as_ref().map(|function| function.clone_ref(slf.py())))
        };
        match hashfunc {
            None => Ok(BandBytes { bytes: sketch.bytes, lengths: Vec::new() }),
            Some(function) => hashed(function.bind(slf.py()), &sketch.bytes, width),
        }
    }

    /// Checks that a sketch fits the tables.
    fn check_sketch(&self, sketch: &Sketch) -> PyResult<()> {
        self.check_ready()?;
        if sketch.length != self.length {
            return Err(PyValueError::new_err(format!(
                "Expecting minhash with length {}, got {}",
                self.length, sketch.length
            )));
        }
        check_scheme(self.scheme.as_deref(), sketch.scheme.as_deref())
    }

    /// Rejects an index without tables: its `__init__` was not called, or it was cleared.
    fn check_ready(&self) -> PyResult<()> {
        if self.store.bands() == 0 {
            return Err(PyValueError::new_err(
                "this index was not set up: its __init__ was not called, or it was cleared",
            ));
        }
        Ok(())
    }

    /// Converts computed bands, one for each band of the tables.
    fn known_bands(&self, bands: &[Bound<'_, PyBytes>]) -> PyResult<BandBytes> {
        self.check_ready()?;
        let expected = self.store.bands();
        if bands.len() != expected {
            return Err(PyValueError::new_err(format!(
                "expected {expected} bands of a key, got {}",
                bands.len()
            )));
        }
        let lengths: Vec<u32> = bands.iter().map(|band| band.as_bytes().len() as u32).collect();
        let is_even = lengths.iter().all(|&length| length == lengths[0] && length > 0);
        let bytes = bands.iter().flat_map(PyBytesMethods::as_bytes).copied().collect();
        Ok(BandBytes { bytes, lengths: if is_even { Vec::new() } else { lengths } })
    }

    /// Adds bands under `key`, in addition to its existing ones.
    fn add(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, bands: &BandBytes) -> PyResult<()> {
        let numbers = Self::numbers(slf)?;
        let known = Self::number_of(slf, key)?;
        let (number, is_first) = {
            let mut this = slf.try_borrow_mut()?;
            this.check_ready()?;
            let owner = known.filter(|&owner| this.store.is_live(owner));
            let number = this.store.add(bands, owner);
            let place = number as usize;
            if place == this.keys.len() {
                this.keys.push(key.clone().unbind());
            } else {
                this.keys[place] = key.clone().unbind();
            }
            (number, owner.is_none())
        };
        if !is_first {
            return Ok(());
        }
        numbers.set_item(key, number).inspect_err(|_| {
            // If the dictionary rejects the key, remove its bands again.
            if let Ok(mut this) = slf.try_borrow_mut() {
                this.store.remove(number);
            }
        })
    }

    /// The number of the first record of each key.
    fn numbers<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        Ok(slf.try_borrow()?.numbers.clone_ref(slf.py()).into_bound(slf.py()))
    }

    /// The number of the first record of `key`.
    fn number_of(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        Self::numbers(slf)?.get_item(key)?.map(|number| number.extract()).transpose()
    }

    /// Returns the keys whose first records have these numbers. Increments their reference
    /// counts before the caller builds a list, because that may run the garbage collector and
    /// a user's finalizers.
    fn keys_at(&self, py: Python<'_>, owners: &[u32]) -> Vec<Py<PyAny>> {
        let keys = owners.iter().filter_map(|&owner| self.keys.get(owner as usize));
        keys.map(|key| key.clone_ref(py)).collect()
    }

    /// The numbers of the first records of all keys.
    fn all_owners(slf: &Bound<'_, Self>) -> PyResult<Vec<u32>> {
        Self::numbers(slf)?.values().iter().map(|number| number.extract()).collect()
    }

    fn counts<'py>(slf: &Bound<'py, Self>, owners: &[u32]) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        let counted = slf.try_borrow()?.store.counts(owners);
        let counts = PyList::empty(py);
        for band in counted {
            counts.append(dict_of(py, band)?)?;
        }
        Ok(counts)
    }
}

fn dict_of(py: Python<'_>, counts: Vec<(Vec<u8>, usize)>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (key, count) in counts {
        dict.set_item(PyBytes::new(py, &key), count)?;
    }
    Ok(dict)
}

/// Calls a user's function for each band of `width` bytes. Returns the results as bands.
fn hashed(function: &Bound<'_, PyAny>, bytes: &[u8], width: usize) -> PyResult<BandBytes> {
    let mut bands = BandBytes { bytes: Vec::new(), lengths: Vec::new() };
    for band in bytes.chunks_exact(width) {
        let hash = function.call1((PyBytes::new(function.py(), band),))?;
        let hash = hash.cast::<PyBytes>().map_err(|_| {
            PyTypeError::new_err(format!(
                "the hashfunc of an index must return bytes, got {}; an integer can be made so \
                 by its to_bytes(8, 'big')",
                hash.get_type()
            ))
        })?;
        bands.bytes.extend(hash.as_bytes());
        bands.lengths.push(hash.as_bytes().len() as u32);
    }
    Ok(bands)
}

#[pymethods]
impl LshTables {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(
        py: Python<'_>,
        _args: &Bound<'_, pyo3::types::PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> Self {
        Self {
            length: 0,
            rows: 0,
            hashfunc: None,
            scheme: None,
            numbers: PyDict::new(py).unbind(),
            keys: Vec::new(),
            store: BucketTables::empty(),
        }
    }

    /// Creates empty tables for sketches of `length` values in `bands` bands of `rows` values.
    fn _set_up(
        slf: &Bound<'_, Self>,
        length: usize,
        bands: usize,
        rows: usize,
        hashfunc: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let used = bands.checked_mul(rows);
        if used.is_none_or(|used| used > length || used == 0) {
            return Err(PyValueError::new_err(format!(
                "{bands} bands of {rows} values are not from 1 to the {length} values of a sketch"
            )));
        }
        let store = BucketTables::new(bands).map_err(memory_error)?;
        let numbers = PyDict::new(slf.py()).unbind();
        let before = {
            let mut this = slf.try_borrow_mut()?;
            this.length = length;
            this.rows = rows;
            this.scheme = None;
            this.store = store;
            (
                std::mem::replace(&mut this.hashfunc, hashfunc),
                std::mem::replace(&mut this.numbers, numbers),
                std::mem::take(&mut this.keys),
            )
        };
        drop(before);
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(function) = &self.hashfunc {
            visit.call(function)?;
        }
        visit.call(&self.numbers)?;
        self.keys.iter().try_for_each(|key| visit.call(key))
    }

    fn __clear__(&mut self) {
        self.store = BucketTables::empty();
        self.hashfunc = None;
        self.keys = Vec::new();
    }

    #[getter]
    fn _minhash_scheme(&self) -> Option<&str> {
        self.scheme.as_deref()
    }

    #[setter(_minhash_scheme)]
    fn set_minhash_scheme(&mut self, scheme: Option<String>) {
        self.scheme = scheme;
    }

    fn _add(
        slf: &Bound<'_, Self>,
        key: &Bound<'_, PyAny>,
        minhash: &Bound<'_, PyAny>,
        check_duplication: bool,
    ) -> PyResult<()> {
        let bands = Self::bands_of(slf, minhash, true)?;
        if check_duplication && Self::number_of(slf, key)?.is_some() {
            return Err(PyValueError::new_err(format!(
                "The given key already exists: {}",
                key.repr()?
            )));
        }
        Self::add(slf, key, &bands)
    }

    /// Returns the bands of a sketch that fits the tables. Does not change the tables.
    fn _bands_for<'py>(
        slf: &Bound<'py, Self>,
        minhash: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let bands = Self::bands_of(slf, minhash, false)?;
        let count = slf.try_borrow()?.store.bands();
        PyList::new(slf.py(), bands.pieces(count).map(|band| PyBytes::new(slf.py(), band)))
    }

    /// Adds computed bands, one for each band of the tables.
    #[expect(clippy::needless_pass_by_value, reason = "lists of Python come as vectors")]
    fn _add_bands(
        slf: &Bound<'_, Self>,
        key: &Bound<'_, PyAny>,
        bands: Vec<Bound<'_, PyBytes>>,
    ) -> PyResult<()> {
        let bands = slf.try_borrow()?.known_bands(&bands)?;
        Self::add(slf, key, &bands)
    }

    /// The keys that share a bucket with `minhash`, in the order of insertion.
    fn _find<'py>(
        slf: &Bound<'py, Self>,
        minhash: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let bands = Self::bands_of(slf, minhash, false)?;
        let keys = {
            let mut this = slf.try_borrow_mut()?;
            let count = this.store.bands();
            let found = this.store.query(&bands, count);
            this.keys_at(slf.py(), &found)
        };
        PyList::new(slf.py(), keys)
    }

    /// The keys that share a bucket with these bands.
    #[expect(clippy::needless_pass_by_value, reason = "lists of Python come as vectors")]
    fn _find_bands<'py>(
        slf: &Bound<'py, Self>,
        bands: Vec<Bound<'py, PyBytes>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let keys = {
            let mut this = slf.try_borrow_mut()?;
            let bands = this.known_bands(&bands)?;
            let count = this.store.bands();
            let found = this.store.query(&bands, count);
            this.keys_at(slf.py(), &found)
        };
        PyList::new(slf.py(), keys)
    }

    /// The keys that share a bucket of the first `count` bands with `minhash`.
    fn _find_in<'py>(
        slf: &Bound<'py, Self>,
        minhash: &Bound<'py, PyAny>,
        count: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let bands = Self::bands_of(slf, minhash, false)?;
        let keys = {
            let mut this = slf.try_borrow_mut()?;
            if count > this.store.bands() {
                return Err(PyValueError::new_err(format!(
                    "b must be less or equal to the number of hash tables, {}, got {count}",
                    this.store.bands()
                )));
            }
            let found = this.store.query(&bands, count);
            this.keys_at(slf.py(), &found)
        };
        PyList::new(slf.py(), keys)
    }

    fn _discard(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(owner) = Self::number_of(slf, key)? else {
            return Err(PyValueError::new_err(format!(
                "The given key does not exist: {}",
                key.repr()?
            )));
        };
        let py = slf.py();
        Self::numbers(slf)?.del_item(key)?;
        let dropped: Vec<_> = {
            let mut this = slf.try_borrow_mut()?;
            let records: Vec<u32> = this.store.records_of(owner).collect();
            this.store.remove(owner);
            let empty_key = || py.None();
            let keys = &mut this.keys;
            records.iter().map(|&r| std::mem::replace(&mut keys[r as usize], empty_key())).collect()
        };
        drop(dropped);
        Ok(())
    }

    /// Adds all keys of `other`, which has the same number of bands.
    fn _add_all(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let owners = Self::all_owners(other)?;
        let other_records: Vec<(Py<PyAny>, BandBytes)> = {
            let other = other.try_borrow()?;
            let records = owners.iter().flat_map(|&owner| other.store.records_of(owner));
            records
                .map(|n| (other.keys[n as usize].clone_ref(py), other.store.bands_of(n)))
                .collect()
        };
        other_records.iter().try_for_each(|(key, bands)| Self::add(slf, key.bind(py), bands))
    }

    fn _has(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(Self::number_of(slf, key)?.is_some())
    }

    /// All keys in the order of insertion.
    fn _keys<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        Ok(Self::numbers(slf)?.keys())
    }

    fn _size(&self, py: Python<'_>) -> usize {
        self.numbers.bind(py).len()
    }

    /// The bands of `key`; empty if it does not exist.
    fn _bands_of<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let owner = Self::number_of(slf, key)?;
        let bands: Vec<Vec<u8>> = {
            let this = slf.try_borrow()?;
            let records = owner.iter().flat_map(|&owner| this.store.records_of(owner));
            let all = |n| (0..this.store.bands()).map(move |band| (n, band));
            records.flat_map(all).map(|(n, band)| this.store.band(n, band).to_vec()).collect()
        };
        PyList::new(slf.py(), bands.iter().map(|band| PyBytes::new(slf.py(), band)))
    }

    /// The keys of one bucket.
    fn _bucket<'py>(
        slf: &Bound<'py, Self>,
        band: usize,
        bucket_key: &[u8],
    ) -> PyResult<Bound<'py, PyList>> {
        let keys = {
            let this = slf.try_borrow()?;
            check_band(band, this.store.bands())?;
            this.keys_at(slf.py(), &this.store.bucket(band, bucket_key))
        };
        PyList::new(slf.py(), keys)
    }

    /// For each band, the number of keys in each bucket.
    fn _counts<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let owners = Self::all_owners(slf)?;
        Self::counts(slf, &owners)
    }

    /// The number of keys in each bucket of a band.
    fn _counts_in<'py>(slf: &Bound<'py, Self>, band: usize) -> PyResult<Bound<'py, PyDict>> {
        let owners = Self::all_owners(slf)?;
        let counts = {
            let this = slf.try_borrow()?;
            check_band(band, this.store.bands())?;
            this.store.counts_in(band, &owners)
        };
        dict_of(slf.py(), counts)
    }

    /// Like [`_counts`](Self::_counts), for these keys only. Ignores unknown keys.
    fn _counts_of<'py>(
        slf: &Bound<'py, Self>,
        keys: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut owners = Vec::new();
        for key in keys {
            owners.extend(Self::number_of(slf, &key)?);
        }
        Self::counts(slf, &owners)
    }
}
