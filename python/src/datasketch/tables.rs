//! The tables of a `MinHashLSH`: keys of the user's, and the bands of their sketches.

use std::borrow::Cow;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySet};

use super::minhash::MinHash;
use super::store::{Bands, Store};

/// Keys by the bands of their sketches.
#[pyclass(subclass, name = "DsTables", module = "lookalike._engine")]
pub(crate) struct Tables {
    length: usize,
    rows: usize,
    hashfunc: Option<Py<PyAny>>,
    scheme: Option<String>,
    /// From keys to the numbers of their first records, in the order of insertion.
    numbers: Py<PyDict>,
    /// Of each record: its key.
    keys: Vec<Py<PyAny>>,
    store: Store,
}

impl Tables {
    /// The bands of a sketch.
    fn bands_of(
        slf: &Bound<'_, Self>,
        minhash: &Bound<'_, PyAny>,
        remember: bool,
    ) -> PyResult<Bands> {
        let py = slf.py();
        let mut bytes = Vec::new();
        let (length, scheme) = if let Ok(known) = minhash.cast::<MinHash>() {
            let known = known.borrow();
            known.with_values(py, |values| values.append_swapped(&mut bytes));
            (known.length(), Some(Cow::Borrowed(known.scheme.name())))
        } else {
            bytes = swapped_values(minhash)?;
            (minhash.len()?, scheme_of(minhash)?.map(Cow::Owned))
        };
        let mut this = slf.borrow_mut();
        if length != this.length {
            return Err(PyValueError::new_err(format!(
                "Expecting minhash with length {}, got {length}",
                this.length
            )));
        }
        this.check_scheme(scheme, remember)?;
        let width = bytes.len() / length * this.rows;
        bytes.truncate(width * this.store.bands());
        let hashfunc = this.hashfunc.as_ref().map(|function| function.clone_ref(py));
        drop(this);
        match hashfunc {
            None => Ok(Bands { bytes, lengths: Vec::new() }),
            Some(function) => hashed(function.bind(py), &bytes, width),
        }
    }

    /// Compares the scheme of a sketch with those before; one without a scheme is any.
    fn check_scheme(&mut self, scheme: Option<Cow<'_, str>>, remember: bool) -> PyResult<()> {
        let Some(scheme) = scheme else { return Ok(()) };
        match &self.scheme {
            Some(expected) if **expected != *scheme => Err(PyValueError::new_err(format!(
                "MinHash scheme '{scheme}' does not match scheme '{expected}' of the MinHash \
                 previously given to this index; make all of them with scheme='{expected}'"
            ))),
            None if remember => {
                self.scheme = Some(scheme.into_owned());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Adds bands under `key`, to those that it has.
    fn add(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, bands: &Bands) -> PyResult<()> {
        let py = slf.py();
        let numbers = slf.borrow().numbers.clone_ref(py).into_bound(py);
        let owner = numbers.get_item(key)?.map(|number| number.extract()).transpose()?;
        let mut this = slf.borrow_mut();
        let number = this.store.add(bands, owner);
        let place = number as usize;
        if place == this.keys.len() {
            this.keys.push(key.clone().unbind());
        } else {
            this.keys[place] = key.clone().unbind();
        }
        drop(this);
        if owner.is_none() { numbers.set_item(key, number) } else { Ok(()) }
    }

    /// The number of the first record of `key`.
    fn number_of(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        let numbers = slf.borrow().numbers.clone_ref(slf.py()).into_bound(slf.py());
        numbers.get_item(key)?.map(|number| number.extract()).transpose()
    }

    /// Numbers of the first records of all keys.
    fn owners(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.numbers.bind(py).values().iter().map(|number| number.extract()).collect()
    }

    fn counts<'py>(&self, py: Python<'py>, owners: &[u32]) -> PyResult<Bound<'py, PyList>> {
        let counts = PyList::empty(py);
        for band in 0..self.store.bands() {
            let of_band = PyDict::new(py);
            for number in owners.iter().flat_map(|&owner| self.store.records_of(owner)) {
                if self.store.is_repeated(number, band) {
                    continue;
                }
                let key = PyBytes::new(py, self.store.band(number, band));
                let before = of_band.get_item(&key)?.map_or(Ok(0), |n| n.extract::<usize>())?;
                of_band.set_item(key, before + 1)?;
            }
            counts.append(of_band)?;
        }
        Ok(counts)
    }
}

/// What a function of the user's makes of each band.
fn hashed(function: &Bound<'_, PyAny>, bytes: &[u8], width: usize) -> PyResult<Bands> {
    let mut bands = Bands { bytes: Vec::new(), lengths: Vec::new() };
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

/// The swapped bytes of the hash values of a sketch that is not of the engine.
fn swapped_values(minhash: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let values = minhash.getattr("hashvalues")?;
    let bytes = values.call_method0("byteswap")?.call_method0("tobytes")?;
    Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
}

fn scheme_of(minhash: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    match minhash.getattr_opt("scheme")? {
        Some(scheme) => scheme.extract(),
        None => Ok(None),
    }
}

#[pymethods]
impl Tables {
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
            store: Store::new(0),
        }
    }

    /// Empty tables for sketches of `length` values in `bands` bands of `rows` values.
    fn _set_up(
        &mut self,
        py: Python<'_>,
        length: usize,
        bands: usize,
        rows: usize,
        hashfunc: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        if bands.checked_mul(rows).is_none_or(|used| used > length) {
            return Err(PyValueError::new_err(format!(
                "{bands} bands of {rows} values are more than the {length} values of a sketch"
            )));
        }
        self.length = length;
        self.rows = rows;
        self.hashfunc = hashfunc;
        self.scheme = None;
        self.numbers = PyDict::new(py).unbind();
        self.keys = Vec::new();
        self.store = Store::new(bands);
        Ok(())
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

    /// Adds bands that are known already, as many as the tables have.
    #[expect(clippy::needless_pass_by_value, reason = "lists of Python come as vectors")]
    fn _add_bands(
        slf: &Bound<'_, Self>,
        key: &Bound<'_, PyAny>,
        bands: Vec<Bound<'_, PyBytes>>,
    ) -> PyResult<()> {
        let expected = slf.borrow().store.bands();
        if bands.len() != expected {
            return Err(PyValueError::new_err(format!(
                "expected {expected} bands of a key, got {}",
                bands.len()
            )));
        }
        let lengths: Vec<u32> = bands.iter().map(|band| band.as_bytes().len() as u32).collect();
        let is_even = lengths.iter().all(|&length| length == lengths[0] && length > 0);
        let bytes = bands.iter().flat_map(PyBytesMethods::as_bytes).copied().collect();
        let lengths = if is_even { Vec::new() } else { lengths };
        Self::add(slf, key, &Bands { bytes, lengths })
    }

    /// The keys that share a bucket with `minhash`.
    fn _find<'py>(
        slf: &Bound<'py, Self>,
        minhash: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let bands = Self::bands_of(slf, minhash, false)?;
        let mut this = slf.borrow_mut();
        let count = this.store.bands();
        let found = this.store.query(&bands, count);
        PyList::new(slf.py(), found.iter().map(|&owner| &this.keys[owner as usize]))
    }

    /// Those that share one of the first `count` buckets.
    fn _find_in<'py>(
        slf: &Bound<'py, Self>,
        minhash: &Bound<'py, PyAny>,
        count: usize,
    ) -> PyResult<Bound<'py, PySet>> {
        let bands = Self::bands_of(slf, minhash, false)?;
        let mut this = slf.borrow_mut();
        if count > this.store.bands() {
            return Err(PyValueError::new_err(format!(
                "b must be less or equal to the number of hash tables, {}, got {count}",
                this.store.bands()
            )));
        }
        let found = this.store.query(&bands, count);
        let keys: Vec<_> =
            found.iter().map(|&owner| this.keys[owner as usize].clone_ref(slf.py())).collect();
        drop(this);
        PySet::new(slf.py(), keys)
    }

    fn _discard(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(owner) = Self::number_of(slf, key)? else {
            return Err(PyValueError::new_err(format!(
                "The given key does not exist: {}",
                key.repr()?
            )));
        };
        let py = slf.py();
        let numbers = slf.borrow().numbers.clone_ref(py);
        numbers.bind(py).del_item(key)?;
        let dropped: Vec<_> = {
            let mut this = slf.borrow_mut();
            let records: Vec<u32> = this.store.records_of(owner).collect();
            this.store.remove(owner);
            let none = || py.None();
            let keys = &mut this.keys;
            records.iter().map(|&r| std::mem::replace(&mut keys[r as usize], none())).collect()
        };
        drop(dropped);
        Ok(())
    }

    /// Adds all keys of `other`, which has as many bands.
    fn _add_all(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let theirs: Vec<(Py<PyAny>, Bands)> = {
            let other = other.borrow();
            let owners = other.owners(py)?;
            let records = owners.iter().flat_map(|&owner| other.store.records_of(owner));
            records
                .map(|n| (other.keys[n as usize].clone_ref(py), other.store.bands_of(n)))
                .collect()
        };
        theirs.iter().try_for_each(|(key, bands)| Self::add(slf, key.bind(py), bands))
    }

    fn _has(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(Self::number_of(slf, key)?.is_some())
    }

    /// All keys in the order of insertion.
    fn _keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.numbers.bind(py).keys()
    }

    fn _size(&self, py: Python<'_>) -> usize {
        self.numbers.bind(py).len()
    }

    /// The bands of `key`; none if it is not there.
    fn _bands_of<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let owner = Self::number_of(slf, key)?;
        let this = slf.borrow();
        let bands = PyList::empty(slf.py());
        for number in owner.iter().flat_map(|&owner| this.store.records_of(owner)) {
            for band in 0..this.store.bands() {
                bands.append(PyBytes::new(slf.py(), this.store.band(number, band)))?;
            }
        }
        Ok(bands)
    }

    /// The keys of one bucket.
    fn _bucket<'py>(
        &self,
        py: Python<'py>,
        band: usize,
        bucket_key: &[u8],
    ) -> PyResult<Bound<'py, PyList>> {
        let owners = self.store.bucket(band, bucket_key);
        PyList::new(py, owners.iter().map(|&owner| &self.keys[owner as usize]))
    }

    /// For each band, how many keys each of its buckets has.
    fn _counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.counts(py, &self.owners(py)?)
    }

    /// The same, of these keys only; what is not there is left out.
    fn _counts_of<'py>(
        slf: &Bound<'py, Self>,
        keys: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut owners = Vec::new();
        for key in keys {
            owners.extend(Self::number_of(slf, &key)?);
        }
        slf.borrow().counts(slf.py(), &owners)
    }
}
