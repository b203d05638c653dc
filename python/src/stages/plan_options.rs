//! Converts the options of a plan for the engine.

use crate::options::KeywordOptions;
use lookalike::find::FindOptions;
use lookalike::read::ReadOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the options of the run and of reading that a plan contains.
pub(super) fn plan_options(
    py: Python<'_>,
    options: &Bound<'_, PyDict>,
) -> PyResult<(FindOptions, ReadOptions)> {
    let options = KeywordOptions::new(options)?;
    let normalization = options.normalization()?;
    let (find, _) = options.run(normalization)?;
    let reading = options.reading(normalization, crate::extraction::options(py)?)?;
    options.finish()?;
    let reading = find.read_options(reading);
    Ok((find, reading))
}
