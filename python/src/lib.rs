//! The module `lookalike._engine`.
mod error;

use pyo3::prelude::*;

/// What is done in Rust.
#[pymodule]
mod _engine {
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
