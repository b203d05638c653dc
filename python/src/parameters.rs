//! The parameters of a run as Python has them.

use lookalike::core::params::Params;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What was chosen and what it promises, by the names that the options have.
pub(crate) fn dict<'py>(py: Python<'py>, params: &Params) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("threshold", params.threshold())?;
    dict.set_item("measure", params.measure().to_string())?;
    dict.set_item("exact", params.exact())?;
    dict.set_item("shingle", params.shingle().to_string())?;
    dict.set_item("recall", params.recall())?;
    if !params.exact() {
        dict.set_item("predicted_recall", params.predicted_recall())?;
        if let Some(caveat) = params.recall_caveat() {
            dict.set_item("recall_caveat", caveat.to_string())?;
        }
        dict.set_item("scheme", params.scheme().to_string())?;
        dict.set_item("seed", params.seed())?;
        dict.set_item("num_hashes", params.num_hashes())?;
        dict.set_item("bands", params.bands())?;
        dict.set_item("rows", params.rows())?;
    }
    Ok(dict)
}
