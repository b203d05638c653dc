//! Divides set sizes into intervals with the least expected number of false positives, like LSH
//! Ensemble (Zhu, Nargesian, Pu and Miller 2016). Rounds like datasketch.

use crate::allocation::{self, AllocationError};
use crate::pairwise_sum::pairwise_sum;
use std::error::Error;
use std::fmt;

/// The expected numbers of false positives of all intervals of sizes, ordered by the greatest size
/// of the interval, then by the least.
struct IntervalCosts {
    length: usize,
    costs: Vec<f64>,
}

impl IntervalCosts {
    /// Allocates the costs of the intervals of `length` sizes.
    fn room(length: usize) -> Result<Vec<f64>, AllocationError> {
        let count = length as u128 * (length as u128 + 1) / 2;
        allocation::with_capacity(count.try_into().unwrap_or(usize::MAX))
    }

    fn new<E>(
        mut costs: Vec<f64>,
        sizes: &[f64],
        counts: &[f64],
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut parts = Vec::new();
        for (upper, most) in sizes.iter().enumerate() {
            check()?;
            let all = sizes.iter().zip(counts).take(upper + 1);
            parts.clear();
            parts.extend(all.map(|(size, count)| (most - size) / most * count));
            costs.extend((0..=upper).map(|lower| pairwise_sum(&parts[lower..])));
        }
        Ok(Self { length: sizes.len(), costs })
    }

    /// The cost of the sizes from number `lower` to number `upper`, both included.
    fn between(&self, lower: usize, upper: usize) -> f64 {
        self.costs[upper * (upper + 1) / 2 + lower]
    }
}

/// The first pair with the least cost.
fn least(pairs: impl Iterator<Item = (f64, usize)>) -> (f64, usize) {
    pairs.fold((f64::INFINITY, usize::MAX), |best, pair| if pair.0 < best.0 { pair } else { best })
}

/// The indices of the greatest sizes of all partitions except the last. `None` if the costs
/// overflow.
fn best_uppers(parts: usize, costs: &IntervalCosts) -> Option<Vec<usize>> {
    let length = costs.length;
    // `least_costs[p]` contains the least cost of p + 1 partitions up to each size.
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
    let checked = |upper: usize| (upper < length).then_some(upper);
    let mut upper = checked(step(&least_costs[parts - 2], parts, length - 1).1)?;
    let mut uppers = vec![upper];
    for p in (2..parts).rev() {
        // datasketch reads the costs of p partitions here, although the costs of p - 1 would be
        // right. The intervals are the same.
        upper = checked(step(&least_costs[p - 1], p, upper).1)?;
        uppers.push(upper);
    }
    uppers.reverse();
    Some(uppers)
}

/// The reason why sizes cannot be divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartitionsError {
    /// The list of sizes is empty.
    Empty,
    /// The sizes and the counts differ in number.
    Lengths {
        /// The number of sizes.
        sizes: usize,
        /// The number of counts.
        counts: usize,
    },
    /// A number is infinite or NaN, or the sizes do not ascend.
    Order,
    /// The least size is not above 0.
    Size(f64),
    /// The sums of the counts are not finite.
    Overflow,
    /// The system has no memory for the costs of all intervals.
    Allocation(AllocationError),
}

impl fmt::Display for PartitionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("entries is empty"),
            Self::Lengths { sizes, counts } => {
                write!(f, "each size must have a count, got {sizes} sizes and {counts} counts")
            }
            Self::Order => f.write_str("sizes must be finite numbers, and ascending"),
            Self::Size(size) => write!(f, "sizes must be above 0, got {size}"),
            Self::Overflow => {
                f.write_str("the sums of the counts are too great for a number; divide the counts")
            }
            Self::Allocation(error) => error.fmt(f),
        }
    }
}

impl Error for PartitionsError {}

impl From<AllocationError> for PartitionsError {
    fn from(error: AllocationError) -> Self {
        Self::Allocation(error)
    }
}

/// A division of sizes into intervals. The sizes are checked, and memory for the costs is
/// allocated.
#[derive(Debug)]
pub struct PartitionPlan<'a> {
    sizes: &'a [f64],
    counts: &'a [f64],
    parts: usize,
    room: Vec<f64>,
}

impl<'a> PartitionPlan<'a> {
    /// Prepares the division of ascending `sizes`, which occur `counts` times, into `parts`
    /// intervals.
    ///
    /// # Errors
    /// If the sizes or counts are invalid, or if the system has no memory for the costs.
    pub fn new(sizes: &'a [f64], counts: &'a [f64], parts: usize) -> Result<Self, PartitionsError> {
        if sizes.is_empty() {
            return Err(PartitionsError::Empty);
        }
        if sizes.len() != counts.len() {
            return Err(PartitionsError::Lengths { sizes: sizes.len(), counts: counts.len() });
        }
        let is_number = sizes.iter().chain(counts).all(|number| number.is_finite());
        if !is_number || !sizes.is_sorted() {
            return Err(PartitionsError::Order);
        }
        let mut room = Vec::new();
        if (2..sizes.len()).contains(&parts) {
            // The costs are divided by sizes.
            if let Some(size) = sizes.first().filter(|size| **size <= 0.0) {
                return Err(PartitionsError::Size(*size));
            }
            room = IntervalCosts::room(sizes.len())?;
        }
        Ok(Self { sizes, counts, parts, room })
    }

    /// The intervals, as the indices of their least and their greatest size, both included. Returns
    /// fewer than `parts` intervals if there are fewer sizes. Calls `check` between parts of the
    /// work.
    ///
    /// # Errors
    /// The outer error is an error of `check`, the inner one is [`PartitionsError::Overflow`].
    pub fn intervals<E>(
        self,
        check: impl FnMut() -> Result<(), E>,
    ) -> Result<Result<Vec<(usize, usize)>, PartitionsError>, E> {
        let last = self.sizes.len() - 1;
        if self.parts < 2 {
            return Ok(Ok(vec![(0, last)]));
        }
        if self.parts >= self.sizes.len() {
            return Ok(Ok((0..self.sizes.len()).map(|size| (size, size)).collect()));
        }
        let costs = IntervalCosts::new(self.room, self.sizes, self.counts, check)?;
        let Some(uppers) = best_uppers(self.parts, &costs) else {
            return Ok(Err(PartitionsError::Overflow));
        };
        let lowers = [0].into_iter().chain(uppers.iter().map(|upper| upper + 1));
        let all_uppers = uppers.iter().copied().chain([last]);
        Ok(Ok(lowers.zip(all_uppers).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn intervals(
        sizes: &[f64],
        counts: &[f64],
        parts: usize,
    ) -> Result<Vec<(usize, usize)>, PartitionsError> {
        let result =
            PartitionPlan::new(sizes, counts, parts)?.intervals(|| Ok::<_, Infallible>(()));
        result.unwrap_or_else(|never| match never {})
    }

    #[test]
    fn intervals_match_datasketch() {
        // `datasketch.lshensemble_partition.optimal_partitions` of 2.0.0, as numbers of sizes.
        let sizes = [1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0];
        let counts = [5.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        let known: [&[(usize, usize)]; 5] = [
            &[(0, 7)],
            &[(0, 5), (6, 7)],
            &[(0, 2), (3, 5), (6, 7)],
            &[(0, 2), (3, 4), (5, 5), (6, 7)],
            &[(0, 2), (3, 3), (4, 4), (5, 5), (6, 7)],
        ];
        for (parts, known) in (1..).zip(known) {
            assert_eq!(intervals(&sizes, &counts, parts).as_deref(), Ok(known));
        }
        let each: Vec<_> = (0..8).map(|size| (size, size)).collect();
        assert_eq!(intervals(&sizes, &counts, 8).as_ref(), Ok(&each));
        assert_eq!(intervals(&sizes, &counts, 9), Ok(each));
    }

    #[test]
    fn two_intervals_have_the_least_cost() {
        let sizes: Vec<f64> = (1..30).map(|k| f64::from(k * k)).collect();
        let counts: Vec<f64> = (1..30).map(|k| f64::from(1 + k * 7 % 11)).collect();
        let check = || Ok::<_, Infallible>(());
        let costs = IntervalCosts::new(Vec::new(), &sizes, &counts, check).unwrap();
        let cost = |upper: usize| costs.between(0, upper) + costs.between(upper + 1, 28);
        let best = (0..28).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap();
        assert_eq!(intervals(&sizes, &counts, 2), Ok(vec![(0, best), (best + 1, 28)]));
    }

    #[test]
    fn wrong_numbers_are_errors() {
        let error = |sizes: &[f64], counts: &[f64]| intervals(sizes, counts, 2).unwrap_err();
        assert_eq!(error(&[], &[]), PartitionsError::Empty);
        assert_eq!(error(&[1.0], &[]), PartitionsError::Lengths { sizes: 1, counts: 0 });
        assert_eq!(error(&[2.0, 1.0], &[1.0; 2]), PartitionsError::Order);
        assert_eq!(error(&[1.0, f64::NAN], &[1.0; 2]), PartitionsError::Order);
        assert_eq!(error(&[0.0, 1.0, 2.0], &[1.0; 3]), PartitionsError::Size(0.0));
        assert_eq!(error(&[1.0, 10.0, 100.0, 1e3], &[f64::MAX; 4]), PartitionsError::Overflow);
    }

    #[test]
    fn failed_checks_stop_partitioning() {
        let plan = PartitionPlan::new(&[1.0, 2.0, 3.0], &[1.0; 3], 2).unwrap();
        assert_eq!(plan.intervals(|| Err("interrupted")), Err("interrupted"));
    }
}
