//! What `lookalike.datasketch` does in Rust: sketches with the bits of datasketch 2.0.0.

mod arrays;
mod bulk;
mod forest;
mod gathered;
mod hashing;
mod kept;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod memory;
mod minhash;
mod optimal;
mod partitions;
mod permute;
#[cfg(target_arch = "x86_64")]
mod products;
mod scheme;
mod sha1;
mod sketch;
mod store;
mod sums;
mod tables;
mod tokens;
mod twister;
mod weights;

use pyo3::prelude::*;

/// Adds its classes and functions, whose names begin with `Ds` and `ds_`.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<minhash::MinHash>()?;
    module.add_class::<tables::Tables>()?;
    module.add_class::<weights::Weights>()?;
    forest::register(module)?;
    optimal::register(module)?;
    partitions::register(module)?;
    bulk::register(module)?;
    kept::register(module)?;
    sketch::register(module)?;
    hashing::register(module)
}
