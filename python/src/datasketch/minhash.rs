//! The state of a `MinHash`, and the operations that must be fast.

use std::sync::Arc;

use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyNone, PyTuple};

use super::arrays;
use super::memory::{self, memory_error};
use super::token_bytes::{self, ListSlice, TokenBytes, with_part_of_list};
use super::tokens::{self, TokenText};
use lookalike_datasketch::instruction_set::InstructionSet;
use lookalike_datasketch::pairwise_sum::pairwise_sum;
use lookalike_datasketch::scheme::{HashValues, PermutationScheme, Permutations};
use lookalike_datasketch::token_hasher::TokenHasher;

/// Minimum number of tokens for which this module releases the interpreter's lock.
const LONG: usize = 64;
/// Products of a permutation and a hash between two checks for signals: some milliseconds.
const PRODUCTS: usize = 1 << 22;
/// Calls of a user's function between two checks for signals. A function that is not written in
/// Python does not check for signals itself.
const SIGNALS: usize = 1 << 10;

/// The hash values of a set, with the tools for adding elements.
#[pyclass(subclass, name = "DsMinHash", module = "lookalike._engine")]
pub(crate) struct MinHash {
    pub(super) scheme: PermutationScheme,
    seed: Py<PyAny>,
    /// `None` if `hashfunc` hashes the tokens.
    hasher: Option<TokenHasher>,
    hashfunc: Option<Py<PyAny>>,
    values: HashValues,
    /// The bytes and the array that was exported over them. If set, the bytes hold the values, and
    /// the field `values` is out of date.
    shared: Option<(Py<PyByteArray>, Py<PyAny>)>,
    pub(super) permutations: Option<Arc<Permutations>>,
}

impl MinHash {
    /// Returns a copy of the values, including modifications through an exported array.
    ///
    /// # Errors
    /// `MemoryError` if the system has no memory for a copy.
    pub(super) fn current(&self, py: Python<'_>) -> PyResult<HashValues> {
        match &self.shared {
            Some((bytes, _)) => Ok(HashValues::from_bytes(self.scheme, &bytes.bind(py).to_vec())),
            None => self.values.copied().map_err(memory_error),
        }
    }

    /// The number of values.
    pub(super) fn length(&self) -> usize {
        self.values.len()
    }

    /// Calls `use_values` with the current values.
    pub(super) fn with_values<T>(
        &self,
        py: Python<'_>,
        use_values: impl FnOnce(&HashValues) -> T,
    ) -> T {
        match &self.shared {
            Some((bytes, _)) => {
                use_values(&HashValues::from_bytes(self.scheme, &bytes.bind(py).to_vec()))
            }
            None => use_values(&self.values),
        }
    }

    /// Returns the values, after copying them from an exported array and releasing the array.
    fn own_values(&mut self, py: Python<'_>) -> PyResult<&mut HashValues> {
        if self.shared.is_some() {
            self.values = self.current(py)?;
            self.shared = None;
        }
        Ok(&mut self.values)
    }

    fn take_hashfunc(&mut self, hashfunc: Option<Py<PyAny>>, hasher: u8) {
        self.hashfunc = hashfunc;
        self.hasher = match hasher {
            32 => Some(TokenHasher::Sha32),
            64 => Some(TokenHasher::Sha64),
            33 => Some(TokenHasher::Token32),
            65 => Some(TokenHasher::Token64),
            _ => None,
        };
    }

    /// Returns the tools for adding tokens. Fails for a frozen object.
    fn tools(&self, py: Python<'_>) -> PyResult<UpdateTools> {
        match (&self.permutations, &self.hashfunc) {
            (Some(permutations), Some(function)) => Ok(UpdateTools {
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

    /// Copies the parameters of another object and sets the values.
    pub(super) fn set_like(&mut self, py: Python<'_>, other: &Self, values: HashValues) {
        self.scheme = other.scheme;
        self.seed = other.seed.clone_ref(py);
        self.hasher = other.hasher;
        self.hashfunc = other.hashfunc.as_ref().map(|function| function.clone_ref(py));
        self.values = values;
        self.shared = None;
        self.permutations.clone_from(&other.permutations);
    }
}

/// The tools for adding tokens.
pub(super) struct UpdateTools {
    pub(super) scheme: PermutationScheme,
    /// `None` if `function` hashes the tokens.
    pub(super) hasher: Option<TokenHasher>,
    function: Py<PyAny>,
    pub(super) permutations: Arc<Permutations>,
}

impl UpdateTools {
    /// Computes the values of a set of `tokens`. Returns `None` if it is empty.
    pub(super) fn values_of(
        &self,
        tokens: &Bound<'_, PyAny>,
        text: TokenText,
    ) -> PyResult<Option<HashValues>> {
        let Some(hasher) = self.hasher else { return self.values_by_function(tokens) };
        let mut values = self.empty_values()?;
        if let Some(count) = self.lower_by_list(hasher, tokens, text, &mut values)? {
            return Ok((count > 0).then_some(values));
        }
        let mut buffer = TokenBytes::default();
        buffer.add(tokens, text)?;
        let slices = buffer.slices();
        if slices.is_empty() {
            return Ok(None);
        }
        let mut values = self.empty_values()?;
        let mut hashes = Vec::new();
        for part in token_bytes::parts(slices) {
            hashes.clear();
            let hash = |hashes| hasher.hash_all(part, hashes);
            if slices.len() < LONG {
                hash(&mut hashes);
            } else {
                tokens.py().detach(|| hash(&mut hashes));
            }
            self.lower(tokens.py(), &mut hashes, &mut values)?;
        }
        Ok(Some(values))
    }

    /// Like [`values_of`](Self::values_of), with a user's hash function.
    fn values_by_function(&self, tokens: &Bound<'_, PyAny>) -> PyResult<Option<HashValues>> {
        let py = tokens.py();
        let function = self.function.bind(py);
        let mut hashes = Vec::new();
        for token in tokens.try_iter()? {
            hashes.push(tokens::own_hash(self.scheme, function, token?)?);
            if hashes.len() % SIGNALS == 0 {
                py.check_signals()?;
            }
        }
        if hashes.is_empty() {
            return Ok(None);
        }
        let mut values = self.empty_values()?;
        self.lower(py, &mut hashes, &mut values)?;
        Ok(Some(values))
    }

    /// Computes the values of a set of `tokens` without calling the interpreter.
    /// `hashes` is a buffer.
    pub(super) fn values_of_bytes(
        &self,
        hasher: TokenHasher,
        tokens: &[&[u8]],
        hashes: &mut Vec<u64>,
    ) -> PyResult<HashValues> {
        hashes.clear();
        hasher.hash_all(tokens, hashes);
        self.lowered(hashes)
    }

    /// Lowers values by the tokens of a list, part by part. So tokens are hashed while they
    /// are in the cache, and other threads run Python code between two parts. Returns the
    /// number of tokens. If the tokens cannot be read from a list in place, returns `None` and
    /// leaves `values` invalid.
    fn lower_by_list(
        &self,
        hasher: TokenHasher,
        tokens: &Bound<'_, PyAny>,
        text: TokenText,
        values: &mut HashValues,
    ) -> PyResult<Option<usize>> {
        let mut slices = Vec::new();
        let mut hashes = Vec::new();
        let mut from = 0;
        loop {
            hashes.clear();
            let part = with_part_of_list(tokens, from, text, &mut slices, |tokens| {
                hasher.hash_all(tokens, &mut hashes);
            });
            match part {
                ListSlice::Other => return Ok(None),
                ListSlice::Short(0) => return Ok(Some(from)),
                ListSlice::Short(count) => from += count,
                ListSlice::Great(token) => {
                    hashes.push(tokens::hash_one(hasher, &tokens::bytes_of(token, text)?));
                    tokens.py().check_signals()?;
                    from += 1;
                }
            }
            self.lower(tokens.py(), &mut hashes, values)?;
        }
    }

    /// Lowers values by hashes. For many hashes, releases the interpreter's lock
    /// and checks for Ctrl-C.
    fn lower(&self, py: Python<'_>, hashes: &mut [u64], values: &mut HashValues) -> PyResult<()> {
        if hashes.len() < LONG {
            self.permutations.lower(InstructionSet::best(), self.scheme, hashes, values);
            return Ok(());
        }
        let part = (PRODUCTS / self.permutations.a.len().max(1)).max(LONG);
        for hashes in hashes.chunks_mut(part) {
            py.detach(|| {
                self.permutations.lower(InstructionSet::best(), self.scheme, hashes, values);
            });
            py.check_signals()?;
        }
        Ok(())
    }

    /// Returns the values of an empty set.
    pub(super) fn empty_values(&self) -> PyResult<HashValues> {
        self.scheme.empty_values(self.permutations.a.len()).map_err(memory_error)
    }

    pub(super) fn lowered(&self, hashes: &mut [u64]) -> PyResult<HashValues> {
        let mut values = self.empty_values()?;
        self.permutations.lower(InstructionSet::best(), self.scheme, hashes, &mut values);
        Ok(values)
    }
}

/// Returns the scheme called `name`.
///
/// # Errors
/// `ValueError` if there is none.
pub(super) fn scheme_named(name: &str) -> PyResult<PermutationScheme> {
    PermutationScheme::named(name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "scheme must be one of affine32, affine64, legacy, got {name:?}"
        ))
    })
}

/// Returns the tools of a Python object for adding tokens.
pub(super) fn tools_of(minhash: &Bound<'_, MinHash>) -> PyResult<UpdateTools> {
    minhash.try_borrow()?.tools(minhash.py())
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
            scheme: PermutationScheme::Affine32,
            seed: py.None(),
            hasher: None,
            hashfunc: None,
            values: HashValues::Narrow(Vec::new()),
            shared: None,
            permutations: None,
        }
    }

    /// Initializes all fields. Without `hashvalues`, the set is empty and has `num_perm` values.
    /// Without `permutations`, draws them from `seed` if `hashfunc` is set. `hasher` is 32 or 64
    /// for SHA-1, 33 or 65 for the token hash, 0 for any other `hashfunc`.
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
        self.scheme = scheme_named(scheme)?;
        self.values = match hashvalues {
            Some(object) => arrays::parse(self.scheme, object, "hash values")?,
            None => self.scheme.empty_values(num_perm).map_err(memory_error)?,
        };
        self.shared = None;
        self.take_hashfunc(hashfunc, hasher);
        self.permutations = None;
        if let Some(object) = permutations {
            self.set_permutations(object)?;
        } else if self.hashfunc.is_some() {
            let word = seed.bind(py).extract::<u32>().map_err(|_| {
                PyValueError::new_err(format!(
                    "Seed must be between 0 and 2**32 - 1, got {}",
                    seed.bind(py)
                ))
            })?;
            let drawn = Permutations::drawn(self.scheme, word, self.values.len());
            self.permutations = Some(drawn.map_err(memory_error)?);
        }
        self.seed = seed;
        Ok(())
    }

    fn _set_hashfunc(&mut self, hashfunc: Option<Py<PyAny>>, hasher: u8) {
        self.take_hashfunc(hashfunc, hasher);
    }

    /// Copies all fields of `other`.
    fn _set_like(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        if !slf.is(other) {
            let other = other.try_borrow()?;
            slf.try_borrow_mut()?.set_like(py, &other, other.current(py)?);
        }
        Ok(())
    }

    /// Releases the tools for adding tokens.
    fn _freeze(&mut self) {
        self.hashfunc = None;
        self.hasher = None;
        self.permutations = None;
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.seed)?;
        if let Some(function) = &self.hashfunc {
            visit.call(function)?;
        }
        if let Some((bytes, array)) = &self.shared {
            visit.call(bytes)?;
            visit.call(array)?;
        }
        Ok(())
    }

    fn __clear__(&mut self) {
        self.hashfunc = None;
        self.shared = None;
        self.seed = Python::attach(|py| PyNone::get(py).to_owned().into_any().unbind());
    }

    /// The scheme of the permutations.
    #[getter]
    fn scheme(&self) -> &'static str {
        self.scheme.name()
    }

    /// The seed of the permutations.
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

    /// The hash values: an array of uint32 for the scheme "affine32", of uint64 for the other
    /// schemes. Changes of the array change the sketch, until a method changes the sketch.
    #[getter]
    fn hashvalues<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let (scheme, bytes) = {
            let this = slf.try_borrow()?;
            if let Some((_, array)) = &this.shared {
                return Ok(array.bind(py).clone());
            }
            (this.scheme, arrays::bytes_of(py, &this.values)?)
        };
        let array = arrays::array(&bytes, scheme)?;
        slf.try_borrow_mut()?.shared = Some((bytes.unbind(), array.clone().unbind()));
        Ok(array)
    }

    #[setter]
    fn set_hashvalues(slf: &Bound<'_, Self>, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let scheme = slf.try_borrow()?.scheme;
        let values = arrays::parse(scheme, object, "hash values")?;
        let mut this = slf.try_borrow_mut()?;
        if let Some(permutations) = &this.permutations
            && permutations.a.len() != values.len()
        {
            return Err(PyValueError::new_err(format!(
                "expected {} hash values, one for each permutation, got {}",
                permutations.a.len(),
                values.len()
            )));
        }
        this.values = values;
        this.shared = None;
        Ok(())
    }

    /// The parameters of the permutations: an array with two rows. Raises `AttributeError` for a
    /// frozen sketch, which has none.
    #[getter]
    fn permutations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(permutations) = &self.permutations else {
            return Err(PyAttributeError::new_err("a frozen MinHash keeps no permutations"));
        };
        let a = &permutations.a;
        let b = &permutations.b;
        let bytes = memory::byte_array(py, a.size() + b.size(), |bytes| {
            let (first, second) = bytes.split_at_mut(a.size());
            a.write_to(first);
            b.write_to(second);
        })?;
        arrays::matrix(&bytes, self.scheme, 2, a.len())
    }

    #[setter]
    fn set_permutations(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let label = "permutation parameters";
        let a = arrays::parse(self.scheme, &object.get_item(0)?, label)?;
        let b = arrays::parse(self.scheme, &object.get_item(1)?, label)?;
        if a.len() != b.len() {
            return Err(PyValueError::new_err(format!(
                "permutation parameters must be as many of the first kind as of the second, got \
                 {} and {}",
                a.len(),
                b.len()
            )));
        }
        if self.scheme != PermutationScheme::Legacy && a.to_wide().iter().any(|a| a & 1 == 0) {
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

    /// Adds a token to the set. `b` is bytes, another object with a buffer, or an object that your
    /// `hashfunc` takes.
    ///
    /// With a `hashfunc` of this package, raises `TypeError` for a `str` and for an object without
    /// a buffer. With another one, raises its exceptions, `TypeError` for a result that is not an
    /// integer, and `ValueError` (`OverflowError` for the scheme "legacy") for a number that the
    /// scheme cannot hold. Raises `AttributeError` for a frozen sketch.
    fn update(slf: &Bound<'_, Self>, b: Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let tools = tools_of(slf)?;
        let mut hash = match tools.hasher {
            None => tokens::own_hash(tools.scheme, tools.function.bind(py), b)?,
            Some(hasher) => tokens::hash_one(hasher, &tokens::bytes_of(b, TokenText::Refused)?),
        };
        let hashes = std::slice::from_mut(&mut hash);
        let mut this = slf.try_borrow_mut()?;
        let values = this.own_values(py)?;
        tools.permutations.lower(InstructionSet::best(), tools.scheme, hashes, values);
        Ok(())
    }

    /// Adds tokens to the set.
    fn update_batch(slf: &Bound<'_, Self>, b: &Bound<'_, PyAny>) -> PyResult<()> {
        let tools = tools_of(slf)?;
        if let Some(values) = tools.values_of(b, TokenText::Refused)? {
            slf.try_borrow_mut()?.own_values(slf.py())?.lower_to(&values);
        }
        Ok(())
    }

    /// The number of values that equal the value of `other` at the same position.
    fn _equal_values(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<usize> {
        let other = other.try_borrow()?;
        Ok(self.with_values(py, |own_values| {
            other.with_values(py, |other_values| own_values.equal_to(other_values))
        }))
    }

    /// Lowers each value to the value of `other` if that is smaller.
    fn _merge_values(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let other_values = other.try_borrow()?.current(py)?;
        slf.try_borrow_mut()?.own_values(py)?.lower_to(&other_values);
        Ok(())
    }

    /// Returns a copy of the hash values as an array.
    fn digest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.with_values(py, |values| arrays::bytes_of(py, values))?;
        arrays::array(&bytes, self.scheme)
    }

    /// Estimates the number of distinct tokens.
    fn count(&self, py: Python<'_>) -> f64 {
        self.with_values(py, |values| {
            let most = self.scheme.empty() as f64;
            let parts: Vec<f64> = values.to_wide().iter().map(|&v| v as f64 / most).collect();
            values.len() as f64 / pairwise_sum(&parts) - 1.0
        })
    }

    /// Returns True if the set contains no token.
    fn is_empty(&self, py: Python<'_>) -> bool {
        let empty = self.scheme.empty();
        self.with_values(py, |values| values.to_wide().iter().all(|&value| value == empty))
    }

    /// Removes all tokens.
    fn clear(&mut self) -> PyResult<()> {
        self.values = self.scheme.empty_values(self.values.len()).map_err(memory_error)?;
        self.shared = None;
        Ok(())
    }

    /// The values as bytes in little-endian order.
    fn _value_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.with_values(py, |values| values.append_to(&mut bytes)).map_err(memory_error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __len__(&self) -> usize {
        self.values.len()
    }
}
