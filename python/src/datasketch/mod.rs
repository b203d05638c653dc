//! What `lookalike.datasketch` does in Rust: sketches with the bits of datasketch 2.0.0.

mod arrays;
mod bulk;
mod hashing;
mod kernel;
mod minhash;
mod scheme;
mod sums;
mod tokens;
mod twister;

use pyo3::prelude::*;

/// Adds its classes and functions, whose names begin with `Ds` and `ds_`.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<minhash::MinHash>()?;
    bulk::register(module)?;
    hashing::register(module)
}
