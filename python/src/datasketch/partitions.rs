//! Intervals of set sizes with the least expected number of false positives, as LSH Ensemble
//! divides sets (Zhu, Nargesian, Pu and Miller 2016), rounded as datasketch rounds.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::sums;

/// Expected false positives of every interval of sizes.
struct Costs {
    length: usize,
    of: Vec<f64>,
}

impl Costs {
    fn new(sizes: &[f64], counts: &[f64]) -> Self {
        let length = sizes.len();
        let mut of = vec![0.0; length * length];
        let mut parts = Vec::new();
        for upper in 0..length {
            let most = sizes[upper];
            let all = sizes.iter().zip(counts).take(upper + 1);
            parts.clear();
            parts.extend(all.map(|(size, count)| (most - size) / most * count));
            for lower in 0..=upper {
                of[lower * length + upper] = sums::pairwise(&parts[lower..]);
            }
        }
        Self { length, of }
    }

    /// Of the sizes from number `lower` to number `upper`, both included.
    fn between(&self, lower: usize, upper: usize) -> f64 {
        self.of[lower * self.length + upper]
    }
}

/// The first of the least pairs.
fn least(pairs: impl Iterator<Item = (f64, usize)>) -> (f64, usize) {
    pairs.fold((f64::INFINITY, usize::MAX), |best, pair| if pair.0 < best.0 { pair } else { best })
}

/// The numbers of the greatest sizes of all partitions but the last.
fn best_uppers(parts: usize, costs: &Costs) -> Vec<usize> {
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
    let mut upper = step(&least_costs[parts - 2], parts, length - 1).1;
    let mut uppers = vec![upper];
    for p in (2..parts).rev() {
        // The costs of p partitions stand here where those of p - 1 are meant: so datasketch
        // goes back, and the intervals are to be the same.
        upper = step(&least_costs[p - 1], p, upper).1;
        uppers.push(upper);
    }
    uppers.reverse();
    uppers
}

/// `num_part` intervals (least and greatest size, both included) of ascending `sizes`, which occur
/// `counts` times; fewer if there are fewer sizes.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "lists of Python come as vectors")]
fn ds_best_partitions(
    py: Python<'_>,
    sizes: Vec<u64>,
    counts: Vec<u64>,
    num_part: usize,
) -> PyResult<Vec<(u64, u64)>> {
    let (Some(&first), Some(&last)) = (sizes.first(), sizes.last()) else {
        return Err(PyValueError::new_err("entries is empty"));
    };
    if sizes.len() != counts.len() || !sizes.is_sorted_by(|a, b| a < b) {
        return Err(PyValueError::new_err("sizes must be ascending and each have a count"));
    }
    if num_part < 2 {
        return Ok(vec![(first, last)]);
    }
    if num_part >= sizes.len() {
        return Ok(sizes.into_iter().map(|size| (size, size)).collect());
    }
    let uppers = py.detach(|| {
        let [sizes, counts] = [&sizes, &counts]
            .map(|numbers| numbers.iter().map(|&number| number as f64).collect::<Vec<_>>());
        best_uppers(num_part, &Costs::new(&sizes, &counts))
    });
    let lowers = [0].into_iter().chain(uppers.iter().map(|upper| upper + 1));
    let all_uppers = uppers.iter().copied().chain([sizes.len() - 1]);
    Ok(lowers.zip(all_uppers).map(|(lower, upper)| (sizes[lower], sizes[upper])).collect())
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ds_best_partitions, module)?)
}
