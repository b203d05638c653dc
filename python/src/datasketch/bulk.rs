//! Computes the values of many sets in one call.

use std::panic::resume_unwind;
use std::thread::{Builder, ScopedJoinHandle};

use lookalike::find::MAX_THREADS;
use lookalike_datasketch::scheme::HashValues;
use lookalike_datasketch::token_hasher::TokenHasher;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyType};

use super::arrays;
use super::memory;
use super::memory::memory_error;
use super::minhash::{MinHash, UpdateTools, tools_of};
use super::token_bytes::{TokenBytes, with_short_list};
use super::tokens::TokenText;
use crate::error::OptionError;

/// Number of hashed tokens, or of sets, after which their values are computed without the
/// interpreter's lock.
const GATHERED: usize = 1 << 11;
/// Number of tokens, or of sets, to gather for each of several threads. Less work does not justify
/// the start of a thread.
const GATHERED_EACH: usize = 1 << 16;

/// The tokens of several sets. `ends` contains the position after the last token of each set.
#[derive(Default)]
struct TokenSets<'py> {
    tokens: TokenBytes<'py>,
    ends: Vec<usize>,
}

impl TokenSets<'_> {
    /// Computes the values of all sets on `threads` threads. If the system cannot start a thread,
    /// the calling thread does its work.
    fn values(
        &self,
        py: Python<'_>,
        (tools, hasher): (&UpdateTools, TokenHasher),
        threads: usize,
    ) -> PyResult<Vec<HashValues>> {
        let tokens = self.tokens.slices();
        let ends = &self.ends;
        py.detach(|| {
            let share = ends.len().div_ceil(threads).max(1);
            if share == ends.len() {
                return values_between((tools, hasher), tokens, 0, ends);
            }
            std::thread::scope(|scope| {
                let running: Vec<_> = (0..ends.len())
                    .step_by(share)
                    .map(|at| {
                        let start = at.checked_sub(1).map_or(0, |before| ends[before]);
                        let part_ends = &ends[at..ends.len().min(at + share)];
                        let work =
                            move || values_between((tools, hasher), tokens, start, part_ends);
                        Builder::new().spawn_scoped(scope, work).map_err(|_| work)
                    })
                    .collect();
                let mut values = Vec::with_capacity(ends.len());
                for share in running {
                    values.append(&mut share.map_or_else(|work| work(), joined)?);
                }
                Ok(values)
            })
        })
    }
}

/// The result of a thread. Continues its panic, so that no set remains without values.
fn joined(thread: ScopedJoinHandle<'_, PyResult<Vec<HashValues>>>) -> PyResult<Vec<HashValues>> {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

fn values_between(
    (tools, hasher): (&UpdateTools, TokenHasher),
    tokens: &[&[u8]],
    start: usize,
    ends: &[usize],
) -> PyResult<Vec<HashValues>> {
    let mut hashes = Vec::new();
    let mut from = start;
    ends.iter()
        .map(|&end| {
            let values = tools.values_of_bytes(hasher, &tokens[from..end], &mut hashes);
            from = end;
            values
        })
        .collect()
}

/// Like [`each_set`], on one thread. Hashes short lists at once, while their tokens are in the
/// cache. Computes the values of several sets together while other threads run Python code.
fn one_by_one<'py>(
    py: Python<'py>,
    (tools, hasher): (&UpdateTools, TokenHasher),
    sets: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    text: TokenText,
    mut take: impl FnMut(HashValues) -> PyResult<()>,
) -> PyResult<()> {
    let mut slices = Vec::new();
    let mut hashes = Vec::new();
    let mut ends = Vec::new();
    for set in sets {
        let set = set?;
        let is_short = with_short_list(&set, text, &mut slices, |tokens| {
            hasher.hash_all(tokens, &mut hashes);
        });
        if is_short {
            ends.push(hashes.len());
        }
        if !is_short || hashes.len() >= GATHERED || ends.len() >= GATHERED {
            take_gathered(py, tools, &mut hashes, &mut ends, &mut take)?;
        }
        if !is_short {
            take(tools.values_of(&set, text)?.map_or_else(|| tools.empty_values(), Ok)?)?;
        }
    }
    take_gathered(py, tools, &mut hashes, &mut ends, &mut take)
}

/// Calls `take` with the values of the hashed sets, and removes these sets from the buffers.
fn take_gathered(
    py: Python<'_>,
    tools: &UpdateTools,
    hashes: &mut Vec<u64>,
    ends: &mut Vec<usize>,
    take: impl FnMut(HashValues) -> PyResult<()>,
) -> PyResult<()> {
    let all_values = py.detach(|| permuted(tools, hashes, ends))?;
    hashes.clear();
    ends.clear();
    py.check_signals()?;
    all_values.into_iter().try_for_each(take)
}

/// Computes the values of sets whose hashes end at `ends`.
fn permuted(tools: &UpdateTools, hashes: &mut [u64], ends: &[usize]) -> PyResult<Vec<HashValues>> {
    let mut from = 0;
    let values = ends.iter().map(|&end| {
        let values = tools.lowered(&mut hashes[from..end]);
        from = end;
        values
    });
    values.collect()
}

/// Calls `take` with the values of each of `sets`, in order.
fn each_set(
    tools: &UpdateTools,
    sets: &Bound<'_, PyAny>,
    text: TokenText,
    threads: usize,
    mut take: impl FnMut(HashValues) -> PyResult<()>,
) -> PyResult<()> {
    let py = sets.py();
    let mut sets = sets.try_iter()?;
    let most = threads.saturating_mul(GATHERED_EACH);
    let Some(hasher) = tools.hasher else {
        for set in sets {
            let values = tools.values_of(&set?, text)?;
            take(values.map_or_else(|| tools.empty_values(), Ok)?)?;
            py.check_signals()?;
        }
        return Ok(());
    };
    if threads == 1 {
        return one_by_one(py, (tools, hasher), sets, text, take);
    }
    loop {
        let mut batch = TokenSets::default();
        while batch.tokens.len() < most && batch.ends.len() < most {
            let Some(set) = sets.next() else { break };
            batch.tokens.add(&set?, text)?;
            batch.ends.push(batch.tokens.len());
        }
        if batch.ends.is_empty() {
            return Ok(());
        }
        batch.values(py, (tools, hasher), threads)?.into_iter().try_for_each(&mut take)?;
        py.check_signals()?;
    }
}

/// Creates an object of `class` for each of `sets`: a copy of `prototype` with the
/// tokens of the set added.
#[pyfunction]
fn ds_bulk<'py>(
    class: &Bound<'py, PyType>,
    prototype: &Bound<'py, MinHash>,
    sets: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let py = sets.py();
    let objects = PyList::empty(py);
    let first = prototype.try_borrow()?.current(py)?;
    each_set(&tools_of(prototype)?, sets, TokenText::Refused, checked(threads)?, |mut values| {
        values.lower_to(&first);
        let object = class.call_method1(pyo3::intern!(py, "__new__"), (class,))?;
        let minhash = object.cast::<MinHash>()?;
        minhash.try_borrow_mut()?.set_like(py, &*prototype.try_borrow()?, values);
        objects.append(object)
    })?;
    Ok(objects)
}

/// Returns a matrix whose rows are the values of `sets`, computed with the parameters of
/// `prototype`.
#[pyfunction]
fn ds_matrix<'py>(
    prototype: &Bound<'py, MinHash>,
    sets: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let tools = tools_of(prototype)?;
    let mut bytes = Vec::new();
    let mut rows = 0;
    each_set(&tools, sets, TokenText::Encoded, checked(threads)?, |values| {
        values.append_to(&mut bytes).map_err(memory_error)?;
        rows += 1;
        Ok(())
    })?;
    let bytes = memory::byte_array(sets.py(), bytes.len(), |array| array.copy_from_slice(&bytes))?;
    arrays::matrix(&bytes, tools.scheme, rows, tools.permutations.a.len())
}

fn checked(threads: usize) -> PyResult<usize> {
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(OptionError::new_err(format!(
            "threads must be a whole number from 1 to {MAX_THREADS}, got {threads}"
        )));
    }
    Ok(threads)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ds_bulk, module)?)?;
    module.add_function(wrap_pyfunction!(ds_matrix, module)?)
}
