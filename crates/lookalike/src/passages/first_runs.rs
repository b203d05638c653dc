//! Maps each repeated run to the first equal run, with one number in memory for each run. If these
//! numbers do not fit, uses sorted pairs, which take longer if they are written to a file.

use crate::spill::{PartSorter, PartedValues, SpillError, TempSpace};
use lookalike_core::passage::unitig::EqualRun;
use std::ops::Range;
use std::sync::Arc;

/// Marks the absence of a run.
const NONE: u32 = u32::MAX;

/// Receives runs in any order.
pub(super) enum FirstRunsWriter {
    Direct(Vec<u32>),
    Sorting(PartSorter),
}

impl FirstRunsWriter {
    /// Creates a writer for runs numbered below `len`, in at most `direct` bytes. If that does not
    /// suffice, the runs are sorted in `sorted` bytes.
    pub(super) fn new(temp: &Arc<TempSpace>, len: u64, direct: usize, sorted: usize) -> Self {
        if len < u64::from(NONE) && len.saturating_mul(size_of::<u32>() as u64) <= direct as u64 {
            return Self::Direct(vec![NONE; len as usize]);
        }
        let bits = 2 * u64::BITS - len.leading_zeros();
        Self::Sorting(PartSorter::new(temp, bits, len, sorted))
    }

    /// Adds a run.
    pub(super) fn push(&mut self, run: EqualRun) -> Result<(), SpillError> {
        match self {
            Self::Direct(first) => {
                if let Some(first) = first.get_mut(run.run as usize) {
                    *first = run.first as u32;
                }
                Ok(())
            }
            Self::Sorting(sorter) => sorter.push(u128::from(run.run) << 64 | u128::from(run.first)),
        }
    }

    /// Returns all added runs.
    pub(super) fn finish(self) -> Result<FirstRuns, SpillError> {
        match self {
            Self::Direct(first) => Ok(FirstRuns { direct: first, sorted: None }),
            Self::Sorting(sorter) => {
                Ok(FirstRuns { direct: Vec::new(), sorted: Some(sorter.finish()?) })
            }
        }
    }
}

/// Runs in ascending order.
pub(super) struct FirstRuns {
    /// The first equal run, by run number.
    direct: Vec<u32>,
    sorted: Option<PartedValues>,
}

impl FirstRuns {
    /// Bytes of memory besides the share for sorting.
    pub(super) fn held_bytes(&self) -> u64 {
        (self.direct.len() * size_of::<u32>()) as u64
    }

    /// Returns true if [`iter`](Self::iter) accepts any range. Otherwise, its range must contain
    /// all runs.
    pub(super) fn is_direct(&self) -> bool {
        self.sorted.is_none()
    }

    /// Iterates over the runs with the numbers of `range`, each with the first equal one.
    pub(super) fn iter(
        &self,
        range: Range<u64>,
    ) -> impl Iterator<Item = Result<EqualRun, SpillError>> + '_ {
        let direct = if self.is_direct() {
            &self.direct[range.start as usize..range.end as usize]
        } else {
            &[]
        };
        let runs = (range.start..).zip(direct).filter(|(_, first)| **first != NONE);
        let direct = runs.map(|(run, first)| Ok(EqualRun { run, first: u64::from(*first) }));
        let pair = |value: u128| EqualRun { run: (value >> 64) as u64, first: value as u64 };
        let sorted = self.sorted.iter().flat_map(PartedValues::iter);
        direct.chain(sorted.map(move |value| value.map(pair)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_storage_modes_yield_same_runs() {
        let parent = tempfile::tempdir().unwrap();
        let temp = Arc::new(TempSpace::new(parent.path().to_owned()));
        let pairs = [(90, 3), (3, 3), (7, 7), (99, 7), (8, 7), (0, 0), (1, 0)];
        let of = |direct: usize| {
            let mut writer = FirstRunsWriter::new(&temp, 100, direct, 0);
            for (run, first) in pairs {
                writer.push(EqualRun { run, first }).unwrap();
            }
            let runs = writer.finish().unwrap();
            if runs.is_direct() {
                let numbers = |range| runs.iter(range).map(|run| run.unwrap().run);
                assert!(numbers(3..90).eq([3, 7, 8]) && numbers(9..9).next().is_none());
            }
            let found: Result<Vec<EqualRun>, SpillError> = runs.iter(0..100).collect();
            (found.unwrap(), runs.held_bytes())
        };
        let mut expected = pairs.map(|(run, first)| EqualRun { run, first });
        expected.sort_unstable();
        assert_eq!(of(400), (expected.to_vec(), 400));
        assert_eq!(of(399), (expected.to_vec(), 0));
    }
}
