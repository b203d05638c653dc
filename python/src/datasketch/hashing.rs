//! Hash functions for a single token, and kernels for tests that compare them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::memory::memory_error;
use super::token_bytes::TokenBytes;
use super::tokens::{self, TokenText};
use crate::datasketch::minhash::scheme_named;
use lookalike_datasketch::instruction_set::InstructionSet;
use lookalike_datasketch::scheme::Permutations;
use lookalike_datasketch::sha1;
use lookalike_datasketch::token_hasher::TokenHasher;

/// The first four bytes of the SHA-1 of `data`, in little-endian order.
#[pyfunction]
fn ds_sha1_hash32(data: Bound<'_, PyAny>) -> PyResult<u64> {
    ds_sha1_hash64(data).map(|hash| hash & 0xffff_ffff)
}

/// The first eight bytes of the SHA-1 of `data`, in little-endian order.
#[pyfunction]
fn ds_sha1_hash64(data: Bound<'_, PyAny>) -> PyResult<u64> {
    let bytes = tokens::bytes_of(data, TokenText::Refused)?;
    Ok(tokens::hash_one(TokenHasher::Sha64, &bytes))
}

/// The token hash of `docs/reference/signature.md`.
#[pyfunction]
fn ds_token_hash(data: Bound<'_, PyAny>) -> PyResult<u64> {
    let bytes = tokens::bytes_of(data, TokenText::Refused)?;
    Ok(tokens::hash_one(TokenHasher::Token64, &bytes))
}

/// The names of the kernels of this processor, the fastest last.
#[pyfunction]
fn ds_kernels() -> Vec<String> {
    InstructionSet::available().into_iter().map(InstructionSet::name).collect()
}

/// The SHA-1 hashes of `tokens`, computed by the named kernel.
#[pyfunction]
fn ds_kernel_sha1(name: &str, tokens: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let mut buffer = TokenBytes::default();
    buffer.add(tokens, TokenText::Refused)?;
    let mut hashes = Vec::new();
    sha1::hash_all(named(name)?, buffer.slices(), &mut hashes);
    Ok(hashes)
}

/// The MinHash values of a set with these `hashes`, computed by the named kernel with the
/// permutations of `seed`.
#[pyfunction]
fn ds_kernel_values(
    name: &str,
    scheme: &str,
    seed: u32,
    num_perm: usize,
    mut hashes: Vec<u64>,
) -> PyResult<Vec<u64>> {
    let scheme = scheme_named(scheme)?;
    let mut values = scheme.empty_values(num_perm).map_err(memory_error)?;
    let permutations = Permutations::drawn(scheme, seed, num_perm).map_err(memory_error)?;
    permutations.lower(named(name)?, scheme, &mut hashes, &mut values);
    Ok(values.to_wide())
}

fn named(name: &str) -> PyResult<InstructionSet> {
    let known = InstructionSet::available().into_iter().find(|kernel| kernel.name() == name);
    known.ok_or_else(|| {
        PyValueError::new_err(format!("kernel must be one of {:?}, got {name:?}", ds_kernels()))
    })
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ds_sha1_hash32, module)?)?;
    module.add_function(wrap_pyfunction!(ds_sha1_hash64, module)?)?;
    module.add_function(wrap_pyfunction!(ds_token_hash, module)?)?;
    module.add_function(wrap_pyfunction!(ds_kernels, module)?)?;
    module.add_function(wrap_pyfunction!(ds_kernel_sha1, module)?)?;
    module.add_function(wrap_pyfunction!(ds_kernel_values, module)?)
}
