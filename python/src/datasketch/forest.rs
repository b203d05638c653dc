//! The prefix trees of a `MinHashLSHForest`: sorted lists of bytes.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyBytes, PyDict, PyList};

use super::memory;
use super::sketch::Sketch;

/// A tree: the keys of each byte string, and the sorted byte strings that queries search.
#[derive(Default)]
struct Tree {
    members: HashMap<Arc<[u8]>, Vec<u32>>,
    sorted: Arc<Vec<Arc<[u8]>>>,
    /// Byte strings added since the last sort.
    fresh: Vec<Arc<[u8]>>,
}

/// Merges sorted and fresh byte strings without repetitions.
fn merged(sorted: &[Arc<[u8]>], fresh: &[Arc<[u8]>]) -> Vec<Arc<[u8]>> {
    let mut all = [sorted, fresh].concat();
    all[sorted.len()..].sort_unstable();
    // The stable sort detects the sorted run and merges it.
    all.sort();
    all.dedup();
    all
}

impl Tree {
    /// The keys whose bytes begin with `prefix`, ordered by their bytes and then by insertion.
    fn with_prefix<'a>(&'a self, prefix: &'a [u8]) -> impl Iterator<Item = u32> + 'a {
        let first = self.sorted.partition_point(|bytes| **bytes < *prefix);
        let matching = self.sorted[first..].iter().take_while(|bytes| bytes.starts_with(prefix));
        matching.filter_map(|bytes| self.members.get(bytes)).flatten().copied()
    }
}

/// The trees, which map byte strings of sketches to keys.
#[pyclass(name = "DsForest", module = "lookalike._engine")]
pub(crate) struct Forest {
    depth: usize,
    trees: Vec<Tree>,
    numbers: Py<PyDict>,
    keys: Vec<Py<PyAny>>,
    /// The bytes of each key: one piece for each tree.
    bytes: Vec<Box<[u8]>>,
    /// The sorting thread holds this lock, so that only one call at a time
    /// takes fresh byte strings.
    sorting: Arc<Mutex<()>>,
}

#[pymethods]
impl Forest {
    /// Creates an empty forest of `trees` trees, whose byte strings have `depth` values each.
    #[new]
    fn new(py: Python<'_>, trees: usize, depth: usize) -> PyResult<Self> {
        if trees == 0 || depth == 0 {
            return Err(PyValueError::new_err(format!(
                "a forest needs trees and values in them, got {trees} trees of {depth} values"
            )));
        }
        Ok(Self {
            depth,
            trees: {
                let mut room = memory::with_capacity(trees)?;
                room.extend((0..trees).map(|_| Tree::default()));
                room
            },
            numbers: PyDict::new(py).unbind(),
            keys: Vec::new(),
            bytes: Vec::new(),
            sorting: Arc::default(),
        })
    }

    /// Adds a new key. `bytes` consists of pieces of equal length, one for each tree.
    fn add(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, bytes: &[u8]) -> PyResult<()> {
        let (number, numbers) = {
            let mut this = slf.try_borrow_mut()?;
            this.keys.push(key.clone().unbind());
            this.bytes.push(bytes.into());
            (this.keys.len() as u32 - 1, this.numbers.clone_ref(slf.py()))
        };
        // Insert the key before its bytes: queries must not find a key that is not hashable.
        numbers.bind(slf.py()).set_item(key, number)?;
        slf.try_borrow_mut()?.plant(number, bytes);
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.numbers)?;
        self.keys.iter().try_for_each(|key| visit.call(key))
    }

    fn __clear__(&mut self) {
        self.trees.iter_mut().for_each(|tree| *tree = Tree::default());
        self.bytes = Vec::new();
        self.keys = Vec::new();
    }

    /// The number of keys.
    fn size(&self, py: Python<'_>) -> usize {
        self.numbers.bind(py).len()
    }

    /// Makes all byte strings searchable. With `sorted`, makes only these sorted byte strings of
    /// each tree searchable.
    #[pyo3(signature = (sorted=None))]
    fn index(slf: &Bound<'_, Self>, sorted: Option<Vec<Vec<Vec<u8>>>>) -> PyResult<()> {
        let Some(sorted) = sorted else { return Self::sort(slf) };
        for (tree, sorted) in slf.try_borrow_mut()?.trees.iter_mut().zip(sorted) {
            tree.sorted = Arc::new(sorted.into_iter().map(Into::into).collect());
        }
        Ok(())
    }

    /// Returns at most `count` keys. Keys with longer common prefixes come first.
    fn query<'py>(
        slf: &Bound<'py, Self>,
        bytes: &[u8],
        count: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let keys: Vec<_> = {
            let this = slf.try_borrow()?;
            let found = this.found(bytes, count);
            found.iter().map(|&number| this.keys[number as usize].clone_ref(slf.py())).collect()
        };
        PyList::new(slf.py(), keys)
    }

    /// Returns the bytes of a key, or `None` if the forest does not contain it.
    fn bytes_of<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let py = slf.py();
        let numbers = slf.try_borrow()?.numbers.clone_ref(py).into_bound(py);
        let Some(number) = numbers.get_item(key)? else { return Ok(None) };
        let number: usize = number.extract()?;
        let this = slf.try_borrow()?;
        Ok(this.bytes.get(number).map(|bytes| PyBytes::new(py, bytes)))
    }

    /// All keys in the order of insertion.
    fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.numbers.bind(py).keys()
    }

    /// Returns the searchable byte strings of each tree, in order.
    fn sorted<'py>(&self, py: Python<'py>) -> Vec<Vec<Bound<'py, PyBytes>>> {
        let sorted = |tree: &Tree| tree.sorted.iter().map(|b| PyBytes::new(py, b)).collect();
        self.trees.iter().map(sorted).collect()
    }

    /// Returns true if at least one tree has no searchable byte strings.
    fn is_empty(&self) -> bool {
        self.trees.iter().any(|tree| tree.sorted.is_empty())
    }
}

impl Forest {
    /// Makes all fresh byte strings searchable, tree by tree, without the interpreter's lock.
    /// Meanwhile, other threads search the byte strings sorted before. The byte strings that they
    /// add remain fresh until the next sort.
    fn sort(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let (sorting, trees) = {
            let this = slf.try_borrow()?;
            (Arc::clone(&this.sorting), this.trees.len())
        };
        let forest = slf.clone().unbind();
        for number in 0..trees {
            py.detach(|| Self::sort_tree(&forest, &sorting, number))?;
            py.check_signals()?;
        }
        Ok(())
    }

    fn sort_tree(forest: &Py<Self>, sorting: &Mutex<()>, number: usize) -> PyResult<()> {
        let alone = sorting.lock();
        let (sorted, fresh) = Python::attach(|py| {
            let this = forest.bind(py).try_borrow()?;
            let tree = this.trees.get(number);
            let parts = tree.map(|tree| (Arc::clone(&tree.sorted), tree.fresh.clone()));
            Ok::<_, PyErr>(parts.unwrap_or_default())
        })?;
        if !fresh.is_empty() {
            let all = Arc::new(merged(&sorted, &fresh));
            Python::attach(|py| {
                let mut this = forest.bind(py).try_borrow_mut()?;
                if let Some(tree) = this.trees.get_mut(number) {
                    tree.sorted = all;
                    // Other threads only append, or clear the forest.
                    tree.fresh.drain(..fresh.len().min(tree.fresh.len()));
                }
                Ok::<_, PyErr>(())
            })?;
        }
        drop(alone);
        Ok(())
    }

    /// Adds the bytes of a key to the trees.
    fn plant(&mut self, number: u32, bytes: &[u8]) {
        let width = bytes.len() / self.trees.len();
        for (tree, piece) in self.trees.iter_mut().zip(bytes.chunks_exact(width.max(1))) {
            if let Some(members) = tree.members.get_mut(piece) {
                members.push(number);
            } else {
                let piece: Arc<[u8]> = piece.into();
                tree.fresh.push(Arc::clone(&piece));
                tree.members.insert(piece, vec![number]);
            }
        }
    }

    /// Returns the numbers of at most `count` keys, in the order of [`query`](Self::query).
    fn found(&self, bytes: &[u8], count: usize) -> Vec<u32> {
        let width = bytes.len() / self.trees.len();
        let value = width / self.depth;
        let mut is_found = vec![false; self.keys.len()];
        let mut found = Vec::new();
        'all: for depth in (1..=self.depth).rev() {
            for (tree, piece) in self.trees.iter().zip(bytes.chunks_exact(width.max(1))) {
                for number in tree.with_prefix(&piece[..depth * value]) {
                    if !std::mem::replace(&mut is_found[number as usize], true) {
                        found.push(number);
                        if found.len() >= count {
                            break 'all;
                        }
                    }
                }
            }
        }
        found
    }
}

/// Returns the first `count` values of a sketch as bytes that compare like the bytes of datasketch.
#[pyfunction]
fn ds_band_keys<'py>(minhash: &Bound<'py, PyAny>, count: usize) -> PyResult<Bound<'py, PyBytes>> {
    let Sketch { length, bytes, .. } = Sketch::of(minhash)?;
    if length < count || length == 0 {
        return Err(PyTypeError::new_err(format!(
            "expected a sketch of at least {count} values, got {length}"
        )));
    }
    Ok(PyBytes::new(minhash.py(), &bytes[..bytes.len() / length * count]))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Forest>()?;
    module.add_function(wrap_pyfunction!(ds_band_keys, module)?)
}
