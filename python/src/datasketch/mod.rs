//! The classes and functions of `lookalike.datasketch` over the crate `lookalike-datasketch`.

mod arrays;
mod bulk;
mod folder_index;
mod forest;
mod hashing;
mod memory;
mod minhash;
mod parameters;
mod sketch;
mod tables;
mod token_bytes;
mod tokens;
mod weights;

use pyo3::prelude::*;

/// Adds the classes and functions, whose names begin with `Ds` and `ds_`.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<minhash::MinHash>()?;
    module.add_class::<tables::LshTables>()?;
    module.add_class::<weights::Weights>()?;
    forest::register(module)?;
    parameters::register(module)?;
    bulk::register(module)?;
    folder_index::register(module)?;
    sketch::register(module)?;
    hashing::register(module)
}
