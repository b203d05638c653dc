//! Intervals of set sizes with the least expected number of false positives, as LSH Ensemble
//! divides sets (Zhu, Nargesian, Pu and Miller 2016), rounded as datasketch rounds.

use lookalike::error::Error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{memory, sums};
use crate::call::{self, Watch};

/// Expected false positives of every interval of sizes: those up to the first size, then those up
/// to the second, …
struct Costs {
    length: usize,
    of: Vec<f64>,
}

impl Costs {
    /// Room for those of `length` sizes.
    fn room(length: usize) -> PyResult<Vec<f64>> {
        memory::room((length as u128 * (length as u128 + 1) / 2).try_into().unwrap_or(usize::MAX))
    }

    fn new(watch: &Watch, mut of: Vec<f64>, sizes: &[f64], counts: &[f64]) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for (upper, most) in sizes.iter().enumerate() {
            watch.go_on()?;
            let all = sizes.iter().zip(counts).take(upper + 1);
            parts.clear();
            parts.extend(all.map(|(size, count)| (most - size) / most * count));
            of.extend((0..=upper).map(|lower| sums::pairwise(&parts[lower..])));
        }
        Ok(Self { length: sizes.len(), of })
    }

    /// Of the sizes from number `lower` to number `upper`, both included.
    fn between(&self, lower: usize, upper: usize) -> f64 {
        self.of[upper * (upper + 1) / 2 + lower]
    }
}

/// The first of the least pairs.
fn least(pairs: impl Iterator<Item = (f64, usize)>) -> (f64, usize) {
    pairs.fold((f64::INFINITY, usize::MAX), |best, pair| if pair.0 < best.0 { pair } else { best })
}

/// The numbers of the greatest sizes of all partitions but the last; nothing where costs are too
/// great for numbers.
fn best_uppers(parts: usize, costs: &Costs) -> Option<Vec<usize>> {
    let length = costs.length;
    // Of p + 1 partitions: the least cost up to each size.
    let mut least_costs = vec![(0..length).map(|upper| costs.between(0, upper)).collect()];
    let step = |before: &[f64], p: usize, upper: usize| {
        least((p - 2..upper).map(|u| (before[u] + costs.between(u + 1, upper), u)))
    };
    for p in 2..parts {
        let before: &Vec<f64> = &least_costs[p - 2];
        let next = (0..length)
            .map(|upper| if upper + 1 < p { 0.0 } else { step(before, p, upper).0 })
            .collect();
        least_costs.push(next);
    }
    let known = |upper: usize| (upper < length).then_some(upper);
    let mut upper = known(step(&least_costs[parts - 2], parts, length - 1).1)?;
    let mut uppers = vec![upper];
    for p in (2..parts).rev() {
        // The costs of p partitions stand here where those of p - 1 are meant: so datasketch
        // goes back, and the intervals are to be the same.
        upper = known(step(&least_costs[p - 1], p, upper).1)?;
        uppers.push(upper);
    }
    uppers.reverse();
    Some(uppers)
}

/// `num_part` intervals of ascending `sizes`, which occur `counts` times; fewer if there are fewer
/// sizes. Of each, the numbers of its least and its greatest size, both included.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "lists of Python come as vectors")]
fn ds_best_partitions(
    py: Python<'_>,
    sizes: Vec<f64>,
    counts: Vec<f64>,
    num_part: usize,
) -> PyResult<Vec<(usize, usize)>> {
    let Some(last) = sizes.len().checked_sub(1) else {
        return Err(PyValueError::new_err("entries is empty"));
    };
    if sizes.len() != counts.len() {
        return Err(PyValueError::new_err(format!(
            "each size must have a count, got {} sizes and {} counts",
            sizes.len(),
            counts.len()
        )));
    }
    let is_number = sizes.iter().chain(&counts).all(|number| number.is_finite());
    if !is_number || !sizes.is_sorted() {
        return Err(PyValueError::new_err("sizes must be finite numbers, and ascending"));
    }
    if num_part < 2 {
        return Ok(vec![(0, last)]);
    }
    if num_part >= sizes.len() {
        return Ok((0..sizes.len()).map(|size| (size, size)).collect());
    }
    // Costs are told in parts of a size.
    if let Some(size) = sizes.first().filter(|size| **size <= 0.0) {
        return Err(PyValueError::new_err(format!("sizes must be above 0, got {size}")));
    }
    let room = Costs::room(sizes.len())?;
    let uppers = call::long(py, None, |watch| {
        Ok(best_uppers(num_part, &Costs::new(watch, room, &sizes, &counts)?))
    })?;
    let uppers = uppers.ok_or_else(|| {
        PyValueError::new_err("counts are so great that their sums are no numbers; divide them")
    })?;
    let lowers = [0].into_iter().chain(uppers.iter().map(|upper| upper + 1));
    let all_uppers = uppers.iter().copied().chain([last]);
    Ok(lowers.zip(all_uppers).collect())
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ds_best_partitions, module)?)
}
