//! Computes parameters: bands and rows, and partitions of set sizes.

use super::memory::memory_error;
use crate::call;
use lookalike_datasketch::optimal_bands::{
    ErrorWeights, containment_bands, error_areas, jaccard_bands,
};
use lookalike_datasketch::partitions::{PartitionPlan, PartitionsError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the best numbers of bands and rows for a threshold of Jaccard similarity.
#[pyfunction]
fn ds_optimal_bands(
    py: Python<'_>,
    threshold: f64,
    num_perm: usize,
    false_positive_weight: f64,
    false_negative_weight: f64,
) -> PyResult<(usize, usize)> {
    let weights = ErrorWeights {
        false_positive: false_positive_weight,
        false_negative: false_negative_weight,
    };
    call::long(py, None, |watch| {
        jaccard_bands(threshold, num_perm, weights, || watch.check_cancelled())
    })
}

/// Returns the areas of false positives and of false negatives.
#[pyfunction]
fn ds_error_areas(threshold: f64, bands: f64, rows: f64) -> (f64, f64) {
    error_areas(threshold, bands, rows)
}

/// Returns the best numbers of bands and rows for a threshold of containment. `ratio` is the size
/// of an indexed set divided by the size of the query.
#[pyfunction]
fn ds_optimal_containment_bands(
    py: Python<'_>,
    threshold: f64,
    num_perm: usize,
    most_rows: usize,
    ratio: f64,
    false_positive_weight: f64,
    false_negative_weight: f64,
) -> PyResult<(usize, usize)> {
    let weights = ErrorWeights {
        false_positive: false_positive_weight,
        false_negative: false_negative_weight,
    };
    call::long(py, None, |watch| {
        containment_bands(threshold, (num_perm, most_rows), ratio, weights, || {
            watch.check_cancelled()
        })
    })
}

/// Divides ascending set sizes into `num_part` intervals, or fewer if there are fewer sizes.
/// `counts` contains the number of sets of each size. Returns the positions of the first and the
/// last size of each interval.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "lists of Python come as vectors")]
fn ds_best_partitions(
    py: Python<'_>,
    sizes: Vec<f64>,
    counts: Vec<f64>,
    num_part: usize,
) -> PyResult<Vec<(usize, usize)>> {
    let plan = PartitionPlan::new(&sizes, &counts, num_part).map_err(partitions_error)?;
    let intervals = call::long(py, None, |watch| plan.intervals(|| watch.check_cancelled()))?;
    intervals.map_err(partitions_error)
}

fn partitions_error(error: PartitionsError) -> PyErr {
    match error {
        PartitionsError::Allocation(error) => memory_error(error),
        error => PyValueError::new_err(error.to_string()),
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ds_optimal_bands, module)?)?;
    module.add_function(wrap_pyfunction!(ds_optimal_containment_bands, module)?)?;
    module.add_function(wrap_pyfunction!(ds_error_areas, module)?)?;
    module.add_function(wrap_pyfunction!(ds_best_partitions, module)?)
}
