//! Many sets at once.

use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyList, PyType};

use super::arrays;
use super::gathered::{Gathered, with_short_list};
use super::kernel::Kernel;
use super::minhash::{Means, MinHash, means_of};
use super::scheme::Values;
use super::tokens::{self, Hasher, Text};

/// Tokens that are hashed before they are permuted, so that other threads get their turn.
const GATHERED: usize = 1 << 11;
/// Tokens that are gathered for each of several threads, so that starting them is worth it.
const GATHERED_EACH: usize = 1 << 16;

/// Sets whose tokens are gathered: where each ends among the tokens.
#[derive(Default)]
struct Sets<'py> {
    tokens: Gathered<'py>,
    ends: Vec<usize>,
}

impl Sets<'_> {
    /// Values of every set, made by `threads` threads.
    fn values(&self, py: Python<'_>, means: &Means, threads: usize) -> Vec<Values> {
        let tokens = self.tokens.slices();
        let ends = &self.ends;
        py.detach(|| {
            let share = ends.len().div_ceil(threads).max(1);
            if share == ends.len() {
                return values_between(means, tokens, 0, ends);
            }
            std::thread::scope(|scope| {
                let running: Vec<_> = (0..ends.len())
                    .step_by(share)
                    .map(|at| {
                        let start = at.checked_sub(1).map_or(0, |before| ends[before]);
                        let mine = &ends[at..ends.len().min(at + share)];
                        scope.spawn(move || values_between(means, tokens, start, mine))
                    })
                    .collect();
                running.into_iter().flat_map(joined).collect()
            })
        })
    }
}

/// What the thread made. Its panic goes on here, so that no set is without values.
fn joined(thread: ScopedJoinHandle<'_, Vec<Values>>) -> Vec<Values> {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

fn values_between(means: &Means, tokens: &[&[u8]], start: usize, ends: &[usize]) -> Vec<Values> {
    let mut hashes = Vec::new();
    let mut from = start;
    ends.iter()
        .map(|&end| {
            let values = means.values_of_bytes(&tokens[from..end], &mut hashes);
            from = end;
            values
        })
        .collect()
}

/// [`each_set`] for one thread: short lists are hashed as they come, while their tokens are in the
/// cache, and permuted together while other threads of Python run.
fn one_by_one<'py>(
    means: &Means,
    sets: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    text: Text,
    mut take: impl FnMut(Values) -> PyResult<()>,
) -> PyResult<()> {
    let (mut slices, mut hashes, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    let mut sets = sets.peekable();
    while let Some(set) = sets.next() {
        let set = set?;
        let is_short = with_short_list(&set, text, &mut slices, |tokens| {
            tokens::hash_all(Kernel::best(), means.hasher, tokens, &mut hashes);
        });
        if !is_short {
            let mut gathered = Gathered::default();
            gathered.add(&set, text)?;
            let tokens = gathered.slices();
            set.py().detach(|| {
                tokens::hash_all(Kernel::best(), means.hasher, tokens, &mut hashes);
            });
        }
        ends.push(hashes.len());
        if hashes.len() >= GATHERED || ends.len() >= GATHERED || sets.peek().is_none() {
            let made = set.py().detach(|| permuted(means, &mut hashes, &ends));
            made.into_iter().try_for_each(&mut take)?;
            hashes.clear();
            ends.clear();
        }
    }
    Ok(())
}

/// The values of sets whose hashes end at `ends`.
fn permuted(means: &Means, hashes: &mut [u64], ends: &[usize]) -> Vec<Values> {
    let mut from = 0;
    let values = ends.iter().map(|&end| {
        let values = means.lowered(&mut hashes[from..end]);
        from = end;
        values
    });
    values.collect()
}

/// Calls `take` with the values of each of `sets`, in order.
fn each_set(
    means: &Means,
    sets: &Bound<'_, PyAny>,
    text: Text,
    threads: usize,
    mut take: impl FnMut(Values) -> PyResult<()>,
) -> PyResult<()> {
    let py = sets.py();
    let mut sets = sets.try_iter()?;
    let most = threads.saturating_mul(GATHERED_EACH);
    if means.hasher == Hasher::Own {
        for set in sets {
            let values = means.values_of(&set?, text)?;
            take(values.unwrap_or_else(|| means.scheme.no_values(means.permutations.a.len())))?;
        }
        return Ok(());
    }
    if threads == 1 {
        return one_by_one(means, sets, text, take);
    }
    loop {
        let mut gathered = Sets::default();
        while gathered.tokens.len() < most && gathered.ends.len() < most {
            let Some(set) = sets.next() else { break };
            gathered.tokens.add(&set?, text)?;
            gathered.ends.push(gathered.tokens.len());
        }
        if gathered.ends.is_empty() {
            return Ok(());
        }
        gathered.values(py, means, threads).into_iter().try_for_each(&mut take)?;
    }
}

/// New objects of `class` like `prototype`, each with the values of one of `sets` added.
#[pyfunction]
fn ds_bulk<'py>(
    class: &Bound<'py, PyType>,
    prototype: &Bound<'py, MinHash>,
    sets: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let py = sets.py();
    let made = PyList::empty(py);
    let first = prototype.borrow().current(py);
    each_set(&means_of(prototype)?, sets, Text::Refused, at_least_one(threads)?, |mut values| {
        values.lower_to(&first);
        let object = class.call_method1(pyo3::intern!(py, "__new__"), (class,))?;
        object.cast::<MinHash>()?.borrow_mut().set_like(py, &prototype.borrow(), values);
        made.append(object)
    })?;
    Ok(made)
}

/// A matrix with the values of one of `sets` in each row, parameters as `prototype` has them.
#[pyfunction]
fn ds_matrix<'py>(
    prototype: &Bound<'py, MinHash>,
    sets: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let means = means_of(prototype)?;
    let mut bytes = Vec::new();
    let mut rows = 0;
    each_set(&means, sets, Text::Encoded, at_least_one(threads)?, |values| {
        values.append_to(&mut bytes);
        rows += 1;
        Ok(())
    })?;
    let bytes = PyByteArray::new(sets.py(), &bytes);
    arrays::matrix(&bytes, means.scheme, rows, means.permutations.a.len())
}

fn at_least_one(threads: usize) -> PyResult<usize> {
    if threads == 0 {
        return Err(PyValueError::new_err("threads must be at least 1, got 0"));
    }
    Ok(threads)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ds_bulk, module)?)?;
    module.add_function(wrap_pyfunction!(ds_matrix, module)?)
}
