//! The state of a `MinHash`, and what is done with it often.

use std::sync::Arc;

use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyTuple};

use super::arrays;
use super::gathered::{Gathered, with_part_of_list};
use super::kernel::Kernel;
use super::scheme::{Permutations, Scheme, Values};
use super::sums;
use super::tokens::{self, Hasher, Text};

/// Tokens above which other threads of Python run meanwhile.
const LONG: usize = 64;

/// Hash values of a set, and how elements are added to it.
#[pyclass(subclass, name = "DsMinHash", module = "lookalike._engine")]
pub(crate) struct MinHash {
    pub(super) scheme: Scheme,
    seed: Py<PyAny>,
    hasher: Hasher,
    hashfunc: Option<Py<PyAny>>,
    values: Values,
    /// The array that was given out, and its bytes, which are the values from then on.
    shared: Option<(Py<PyByteArray>, Py<PyAny>)>,
    pub(super) permutations: Option<Arc<Permutations>>,
}

impl MinHash {
    /// The values, also when an array of them was given out and may have been written to.
    pub(super) fn current(&self, py: Python<'_>) -> Values {
        match &self.shared {
            Some((bytes, _)) => Values::from_bytes(self.scheme, &bytes.bind(py).to_vec()),
            None => self.values.clone(),
        }
    }

    /// How many values there are.
    pub(super) fn length(&self) -> usize {
        self.values.len()
    }

    /// Calls `use_values` with the values.
    pub(super) fn with_values<T>(
        &self,
        py: Python<'_>,
        use_values: impl FnOnce(&Values) -> T,
    ) -> T {
        if self.shared.is_some() { use_values(&self.current(py)) } else { use_values(&self.values) }
    }

    /// Values of its own, that no array shows.
    fn own_values(&mut self, py: Python<'_>) -> &mut Values {
        if self.shared.is_some() {
            self.values = self.current(py);
            self.shared = None;
        }
        &mut self.values
    }

    fn take_hashfunc(&mut self, hashfunc: Option<Py<PyAny>>, hasher: u8) {
        self.hashfunc = hashfunc;
        self.hasher = match hasher {
            32 => Hasher::Sha32,
            64 => Hasher::Sha64,
            33 => Hasher::Token32,
            65 => Hasher::Token64,
            _ => Hasher::Own,
        };
    }

    /// What hashes its tokens: nothing for a frozen one.
    fn means(&self, py: Python<'_>) -> PyResult<Means> {
        match (&self.permutations, &self.hashfunc) {
            (Some(permutations), Some(function)) => Ok(Means {
                scheme: self.scheme,
                hasher: self.hasher,
                function: function.clone_ref(py),
                permutations: Arc::clone(permutations),
            }),
            _ => Err(PyAttributeError::new_err(
                "this MinHash has no hashfunc and no permutations, so it cannot be updated; \
                 make a MinHash from its seed, hashvalues and scheme",
            )),
        }
    }

    /// Another with the same parameters and these values.
    pub(super) fn set_like(&mut self, py: Python<'_>, other: &Self, values: Values) {
        self.scheme = other.scheme;
        self.seed = other.seed.clone_ref(py);
        self.hasher = other.hasher;
        self.hashfunc = other.hashfunc.as_ref().map(|function| function.clone_ref(py));
        self.values = values;
        self.shared = None;
        self.permutations.clone_from(&other.permutations);
    }
}

/// All that is needed to add tokens.
pub(super) struct Means {
    pub(super) scheme: Scheme,
    pub(super) hasher: Hasher,
    function: Py<PyAny>,
    pub(super) permutations: Arc<Permutations>,
}

impl Means {
    /// Values of the set of `tokens`, or nothing if there are none.
    pub(super) fn values_of(
        &self,
        tokens: &Bound<'_, PyAny>,
        text: Text,
    ) -> PyResult<Option<Values>> {
        let py = tokens.py();
        if self.hasher == Hasher::Own {
            let mut hashes = Vec::new();
            let function = self.function.bind(py);
            for token in tokens.try_iter()? {
                hashes.push(tokens::own_hash(self.scheme, function, token?)?);
            }
            return Ok((!hashes.is_empty()).then(|| py.detach(|| self.lowered(&mut hashes))));
        }
        let mut values = None;
        if self.lower_by_list(tokens, text, &mut values) {
            return Ok(values);
        }
        let mut gathered = Gathered::default();
        gathered.add(tokens, text)?;
        let slices = gathered.slices();
        Ok(match slices.len() {
            0 => None,
            1..LONG => Some(self.values_of_bytes(slices, &mut Vec::new())),
            _ => Some(py.detach(|| self.values_of_bytes(slices, &mut Vec::new()))),
        })
    }

    /// Values of the set of `tokens`; `hashes` is room to work in.
    pub(super) fn values_of_bytes(&self, tokens: &[&[u8]], hashes: &mut Vec<u64>) -> Values {
        hashes.clear();
        tokens::hash_all(Kernel::best(), self.hasher, tokens, hashes);
        self.lowered(hashes)
    }

    /// Lowers values, if there are some, by a list, part by part, so that tokens are hashed while
    /// the processor has them at hand and other threads of Python get their turn. False where it is
    /// no list of such tokens; the values then mean nothing.
    fn lower_by_list(
        &self,
        tokens: &Bound<'_, PyAny>,
        text: Text,
        all: &mut Option<Values>,
    ) -> bool {
        let (mut slices, mut hashes, mut from) = (Vec::new(), Vec::new(), 0);
        loop {
            hashes.clear();
            let part = with_part_of_list(tokens, from, text, &mut slices, |tokens| {
                tokens::hash_all(Kernel::best(), self.hasher, tokens, &mut hashes);
            });
            let Some(part) = part else { return false };
            let values = match part {
                0 => return true,
                1..LONG => self.lowered(&mut hashes),
                _ => tokens.py().detach(|| self.lowered(&mut hashes)),
            };
            match all.as_mut() {
                Some(all) => all.lower_to(&values),
                None => *all = Some(values),
            }
            from += part;
        }
    }

    pub(super) fn lowered(&self, hashes: &mut [u64]) -> Values {
        let mut values = self.scheme.no_values(self.permutations.a.len());
        self.permutations.lower(Kernel::best(), self.scheme, hashes, &mut values);
        values
    }
}

/// What tokens are added with, of the object that Python has.
pub(super) fn means_of(minhash: &Bound<'_, MinHash>) -> PyResult<Means> {
    minhash.borrow().means(minhash.py())
}

#[pymethods]
impl MinHash {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(
        py: Python<'_>,
        _args: &Bound<'_, PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> Self {
        Self {
            scheme: Scheme::Affine32,
            seed: py.None(),
            hasher: Hasher::Own,
            hashfunc: None,
            values: Values::Narrow(Vec::new()),
            shared: None,
            permutations: None,
        }
    }

    /// Everything at once. Without `hashvalues` it is the empty set of `num_perm` values; without
    /// `permutations` they are drawn from `seed`. `hasher` is 32 or 64 for
    /// SHA-1, 33 or 65 for the token hash, 0 for `hashfunc`.
    #[expect(clippy::too_many_arguments, reason = "all that a MinHash consists of")]
    fn _set_up(
        &mut self,
        py: Python<'_>,
        scheme: &str,
        seed: Py<PyAny>,
        num_perm: usize,
        hashfunc: Option<Py<PyAny>>,
        hasher: u8,
        hashvalues: Option<&Bound<'_, PyAny>>,
        permutations: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.scheme = Scheme::named(scheme)?;
        self.values = match hashvalues {
            Some(given) => arrays::parse(self.scheme, given, "hash values")?,
            None => self.scheme.no_values(num_perm),
        };
        self.shared = None;
        self.take_hashfunc(hashfunc, hasher);
        self.permutations = None;
        if let Some(given) = permutations {
            self.set_permutations(given)?;
        } else if self.hashfunc.is_some() {
            let word = seed.bind(py).extract::<u32>().map_err(|_| {
                PyValueError::new_err(format!(
                    "Seed must be between 0 and 2**32 - 1, got {}",
                    seed.bind(py)
                ))
            })?;
            self.permutations = Some(Permutations::drawn(self.scheme, word, self.values.len()));
        }
        self.seed = seed;
        Ok(())
    }

    fn _set_hashfunc(&mut self, hashfunc: Option<Py<PyAny>>, hasher: u8) {
        self.take_hashfunc(hashfunc, hasher);
    }

    /// Becomes equal to `other`.
    fn _set_like(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) {
        let py = slf.py();
        if !slf.is(other) {
            let other = other.borrow();
            slf.borrow_mut().set_like(py, &other, other.current(py));
        }
    }

    #[getter]
    fn scheme(&self) -> &'static str {
        self.scheme.name()
    }

    #[getter]
    fn seed(&self, py: Python<'_>) -> Py<PyAny> {
        self.seed.clone_ref(py)
    }

    #[setter]
    fn set_seed(&mut self, seed: Py<PyAny>) {
        self.seed = seed;
    }

    #[getter]
    fn _hashfunc(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.hashfunc.as_ref().map(|function| function.clone_ref(py))
    }

    #[getter]
    fn hashvalues<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let (scheme, values) = {
            let this = slf.borrow();
            if let Some((_, array)) = &this.shared {
                return Ok(array.bind(py).clone());
            }
            (this.scheme, this.values.clone())
        };
        let (bytes, array) = arrays::shared_array(py, scheme, &values)?;
        slf.borrow_mut().shared = Some((bytes.unbind(), array.clone().unbind()));
        Ok(array)
    }

    #[setter]
    fn set_hashvalues(slf: &Bound<'_, Self>, given: &Bound<'_, PyAny>) -> PyResult<()> {
        let scheme = slf.borrow().scheme;
        let values = arrays::parse(scheme, given, "hash values")?;
        let mut this = slf.borrow_mut();
        this.values = values;
        this.shared = None;
        Ok(())
    }

    #[getter]
    fn permutations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(permutations) = &self.permutations else {
            return Err(PyAttributeError::new_err("a frozen MinHash keeps no permutations"));
        };
        let mut bytes = Vec::new();
        permutations.a.append_to(&mut bytes);
        permutations.b.append_to(&mut bytes);
        let length = permutations.a.len();
        arrays::matrix(&PyByteArray::new(py, &bytes), self.scheme, 2, length)
    }

    #[setter]
    fn set_permutations(&mut self, given: &Bound<'_, PyAny>) -> PyResult<()> {
        let what = "permutation parameters";
        let a = arrays::parse(self.scheme, &given.get_item(0)?, what)?;
        let b = arrays::parse(self.scheme, &given.get_item(1)?, what)?;
        if a.len() != b.len() {
            return Err(PyValueError::new_err(format!(
                "permutation parameters must be as many of the first kind as of the second, got \
                 {} and {}",
                a.len(),
                b.len()
            )));
        }
        if self.scheme != Scheme::Legacy && a.to_wide().iter().any(|a| a & 1 == 0) {
            return Err(PyValueError::new_err(format!(
                "all `a` permutation parameters must be odd for scheme '{}'",
                self.scheme.name()
            )));
        }
        if a.len() != self.values.len() {
            return Err(PyValueError::new_err(format!(
                "Numbers of hash values and permutations mismatch: {} and {}",
                self.values.len(),
                a.len()
            )));
        }
        self.permutations = Some(Arc::new(Permutations { a, b }));
        Ok(())
    }

    fn update(slf: &Bound<'_, Self>, b: Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let means = means_of(slf)?;
        let mut hash = if means.hasher == Hasher::Own {
            tokens::own_hash(means.scheme, means.function.bind(py), b)?
        } else {
            let token = tokens::bytes_of(b, Text::Refused)?;
            means.hasher.hash(Kernel::best(), token.as_bytes())
        };
        let hashes = std::slice::from_mut(&mut hash);
        let mut this = slf.borrow_mut();
        let values = this.own_values(py);
        means.permutations.lower(Kernel::best(), means.scheme, hashes, values);
        Ok(())
    }

    fn update_batch(slf: &Bound<'_, Self>, b: &Bound<'_, PyAny>) -> PyResult<()> {
        let means = means_of(slf)?;
        if let Some(values) = means.values_of(b, Text::Refused)? {
            slf.borrow_mut().own_values(slf.py()).lower_to(&values);
        }
        Ok(())
    }

    /// How many values are equal to those of `other`.
    fn _equal_values(&self, py: Python<'_>, other: &Bound<'_, Self>) -> usize {
        self.with_values(py, |mine| other.borrow().with_values(py, |theirs| mine.equal_to(theirs)))
    }

    /// Lowers values to those of `other`.
    fn _merge_values(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) {
        let py = slf.py();
        let theirs = other.borrow().current(py);
        slf.borrow_mut().own_values(py).lower_to(&theirs);
    }

    fn digest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (_, array) = arrays::shared_array(py, self.scheme, &self.current(py))?;
        Ok(array)
    }

    fn count(&self, py: Python<'_>) -> f64 {
        self.with_values(py, |values| {
            let most = self.scheme.empty() as f64;
            let parts: Vec<f64> = values.to_wide().iter().map(|&v| v as f64 / most).collect();
            values.len() as f64 / sums::pairwise(&parts) - 1.0
        })
    }

    fn is_empty(&self, py: Python<'_>) -> bool {
        let empty = self.scheme.empty();
        self.with_values(py, |values| values.to_wide().iter().all(|&value| value == empty))
    }

    fn clear(&mut self) {
        self.values = self.scheme.no_values(self.values.len());
        self.shared = None;
    }

    /// The values as bytes, the least byte of each first.
    fn _value_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut bytes = Vec::new();
        self.with_values(py, |values| values.append_to(&mut bytes));
        PyBytes::new(py, &bytes)
    }

    fn __len__(&self) -> usize {
        self.values.len()
    }
}
