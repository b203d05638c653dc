//! The module `lookalike._engine`.
mod cli;
mod error;

use pyo3::prelude::*;

/// What is done in Rust.
#[pymodule]
mod _engine {
    use pyo3::prelude::*;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::cli::register(module)
    }
}
