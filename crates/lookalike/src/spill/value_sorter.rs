//! Sorts numbers of 128 bits. A [`Sorter`](super::Sorter) would need more memory and time for so
//! many records of a fixed width.

use super::error::SpillError;
use super::log::SpillLog;
use super::temp_space::TempSpace;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The least bytes in memory before a run is written.
const LEAST_BYTES: usize = 1 << 20;
/// The most runs in one merge.
const FAN_IN: usize = 64;
/// The number of parts that are sorted separately, and the least number of values to divide.
const PARTS: usize = 1 << 11;
const LEAST_PARTED: usize = 1 << 13;
/// The most numbers of a part to sort by comparison.
const LEAST_PART: usize = 32;
/// The most numbers with equal part bits that are sorted by insertion.
const MOST_NEAR: usize = 64;
/// The number of values of a run per read.
const PIECE: u64 = 1 << 12;

/// Sorts numbers in ascending order and keeps repeated ones.
#[derive(Debug)]
pub(crate) struct ValueSorter {
    temp: Arc<TempSpace>,
    most: usize,
    batch: Vec<u128>,
    runs: SortedRuns,
}

/// Ascending runs, one after the other.
#[derive(Debug)]
struct SortedRuns {
    log: SpillLog<u128>,
    ranges: Vec<Range<u64>>,
}

impl SortedRuns {
    fn new(temp: &Arc<TempSpace>) -> Self {
        // The log writes everything to the file immediately.
        Self { log: SpillLog::scratch(temp, "values", 0), ranges: Vec::new() }
    }
}

impl ValueSorter {
    /// Creates a sorter that uses at most `memory` bytes, but at least some MiB. More numbers go to
    /// a file in `temp`.
    pub(crate) fn new(temp: &Arc<TempSpace>, memory: usize) -> Self {
        // A buffer that grows or is sorted needs a second one for a moment.
        let most = memory.max(4 * LEAST_BYTES) / 3 / size_of::<u128>();
        Self { temp: Arc::clone(temp), most, batch: Vec::new(), runs: SortedRuns::new(temp) }
    }

    /// Moves all numbers out of `values`.
    ///
    /// # Errors
    /// [`SpillError::TempDir`] and [`SpillError::Io`].
    pub(crate) fn append(&mut self, values: &mut Vec<u128>) -> Result<(), SpillError> {
        if self.batch.len() + values.len() > self.most && !self.batch.is_empty() {
            self.spill()?;
        }
        self.batch.append(values);
        if self.batch.len() > self.most { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<(), SpillError> {
        sort_values(&mut self.batch);
        let room = self.batch.capacity();
        let range = self.runs.log.append(std::mem::take(&mut self.batch))?;
        self.runs.ranges.push(range);
        self.batch = Vec::with_capacity(room);
        Ok(())
    }

    /// Sorts the numbers in memory. Merges runs until a single pass can return all numbers.
    ///
    /// # Errors
    /// [`SpillError::TempDir`] and [`SpillError::Io`].
    pub(crate) fn finish(mut self) -> Result<SortedValues, SpillError> {
        if self.runs.ranges.is_empty() {
            sort_values(&mut self.batch);
            self.batch.shrink_to_fit();
            return Ok(SortedValues { batch: self.batch, runs: self.runs });
        }
        self.spill()?;
        self.batch = Vec::new();
        let mut runs = self.runs;
        while runs.ranges.len() > FAN_IN {
            let mut longer = SortedRuns::new(&self.temp);
            for some in runs.ranges.chunks(FAN_IN) {
                let start = longer.log.len();
                let mut piece = Vec::with_capacity(PIECE as usize);
                for value in MergedValues::new(&runs.log, some) {
                    piece.push(value?);
                    if piece.len() as u64 == PIECE {
                        longer.log.append(std::mem::take(&mut piece))?;
                    }
                }
                longer.log.append(piece)?;
                longer.ranges.push(start..longer.log.len());
            }
            runs = longer;
        }
        Ok(SortedValues { batch: Vec::new(), runs })
    }
}

/// Sorts numbers. Divides them into parts by the upper bits among the bits in which they differ,
/// and divides each part again. Every number is then close to its final place. Uniform numbers take
/// a third of the time of a comparison sort. Parts of other numbers are sorted by comparison.
pub(crate) fn sort_values(values: &mut Vec<u128>) {
    if values.len() < LEAST_PARTED {
        values.sort_unstable();
        return;
    }
    let bits = differing_bits(values);
    let mut parted = vec![0; values.len()];
    let mut ends = Vec::new();
    part_by_bits(values, &mut parted, bits, PARTS.ilog2(), &mut ends);
    let mut start = 0;
    let mut counts = Vec::new();
    let bits = bits.saturating_sub(PARTS.ilog2());
    for end in ends {
        let part = &mut parted[start..end];
        let scratch = &mut values[start..end];
        if part.len() > LEAST_PART {
            let parts = part.len().ilog2().min(bits);
            part_by_bits(part, scratch, bits, parts, &mut counts);
            let larger = |(start, most): (usize, usize), end: &usize| (*end, most.max(end - start));
            let (_, most) = counts.iter().fold((0, 0), larger);
            part.copy_from_slice(scratch);
            if most > MOST_NEAR { part.sort_unstable() } else { insertion_sort(part) }
        } else {
            part.sort_unstable();
        }
        start = end;
    }
    *values = parted;
}

/// The number of lower bits that may differ.
fn differing_bits(values: &[u128]) -> u32 {
    let first = values.first().copied().unwrap_or(0);
    u128::BITS - values.iter().fold(0, |all, value| all | value ^ first).leading_zeros()
}

/// Copies `values`, which differ only in the lower `bits`, to `out`, ordered by the upper `parts`
/// of these bits. Sets `ends` to the end of each part.
fn part_by_bits(values: &[u128], out: &mut [u128], bits: u32, parts: u32, ends: &mut Vec<usize>) {
    let shift = bits.saturating_sub(parts);
    let mask = (1_usize << parts) - 1;
    let part = |value: u128| (value >> shift) as usize & mask;
    ends.clear();
    ends.resize(mask + 2, 0);
    for value in values {
        ends[part(*value) + 1] += 1;
    }
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    for value in values {
        let end = &mut ends[part(*value)];
        out[*end] = *value;
        *end += 1;
    }
    ends.pop();
}

fn insertion_sort(values: &mut [u128]) {
    for i in 1..values.len() {
        let value = values[i];
        let mut j = i;
        while j > 0 && values[j - 1] > value {
            values[j] = values[j - 1];
            j -= 1;
        }
        values[j] = value;
    }
}

/// Numbers in ascending order.
#[derive(Debug)]
pub(crate) struct SortedValues {
    batch: Vec<u128>,
    runs: SortedRuns,
}

impl SortedValues {
    /// Iterates over the numbers. Yields [`SpillError::Io`] if the file cannot be read, and ends
    /// after an error.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<u128, SpillError>> + '_ {
        let merged = MergedValues::new(&self.runs.log, &self.runs.ranges);
        self.batch.iter().map(|value| Ok(*value)).chain(merged)
    }
}

/// Merges runs in batches. A batch consists of all numbers in memory up to the smallest number
/// after which a run continues in the file. On uniform numbers, sorting the batches takes a quarter
/// of the time of a heap.
struct MergedValues<'a> {
    log: &'a SpillLog<u128>,
    cursors: Vec<RunCursor<'a>>,
    batch: Vec<u128>,
    /// The number of values of the batch that were returned.
    returned: usize,
    has_failed: bool,
}

struct RunCursor<'a> {
    rest: Range<u64>,
    piece: Cow<'a, [u128]>,
    at: usize,
}

impl<'a> RunCursor<'a> {
    /// Reads the next piece if the current one is exhausted.
    fn load(&mut self, log: &'a SpillLog<u128>) -> Result<(), SpillError> {
        if self.at == self.piece.len() {
            let end = self.rest.end.min(self.rest.start + PIECE);
            self.piece = log.range(self.rest.start..end)?;
            self.rest.start = end;
            self.at = 0;
        }
        Ok(())
    }

    /// The last number in memory, if more numbers follow in the file.
    fn bound(&self) -> Option<u128> {
        self.piece.last().copied().filter(|_| !self.rest.is_empty())
    }
}

impl<'a> MergedValues<'a> {
    fn new(log: &'a SpillLog<u128>, runs: &[Range<u64>]) -> Self {
        let cursor =
            |run: &Range<u64>| RunCursor { rest: run.clone(), piece: Cow::default(), at: 0 };
        let cursors = runs.iter().map(cursor).collect();
        Self { log, cursors, batch: Vec::new(), returned: 0, has_failed: false }
    }

    fn next_batch(&mut self) -> Result<(), SpillError> {
        self.batch.clear();
        self.returned = 0;
        self.cursors.iter_mut().try_for_each(|cursor| cursor.load(self.log))?;
        let bound = self.cursors.iter().filter_map(RunCursor::bound).min();
        for cursor in &mut self.cursors {
            let rest = &cursor.piece[cursor.at..];
            let count_within = |bound| rest.partition_point(|value| *value <= bound);
            let count = bound.map_or(rest.len(), count_within);
            self.batch.extend_from_slice(&rest[..count]);
            cursor.at += count;
        }
        sort_values(&mut self.batch);
        Ok(())
    }
}

impl Iterator for MergedValues<'_> {
    type Item = Result<u128, SpillError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.returned == self.batch.len() {
            if self.has_failed {
                return None;
            }
            if let Err(error) = self.next_batch() {
                self.has_failed = true;
                self.batch.clear();
                return Some(Err(error));
            }
        }
        let value = self.batch.get(self.returned).copied()?;
        self.returned += 1;
        Some(Ok(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::hash::SplitMix64;

    #[test]
    fn values_are_sorted_across_many_runs() {
        let parent = tempfile::tempdir().unwrap();
        let temp = Arc::new(TempSpace::new(parent.path().to_owned()));
        let mut random = SplitMix64::new(3);
        let sizes = [(0, 10), (1, 10), (1000, 5000), (1000, 100), (20_000, 50), (40_000, 15_000)];
        for (count, most) in sizes.into_iter().chain([(30_000, 90_000)]) {
            let mut sorter = ValueSorter::new(&temp, 0);
            sorter.most = most;
            let value = |_| u128::from(random.below(500)) << 90 | u128::from(random.below(9));
            let values: Vec<u128> = (0..count).map(value).collect();
            for some in values.chunks(33) {
                sorter.append(&mut some.to_vec()).unwrap();
            }
            let sorted = sorter.finish().unwrap();
            let mut want = values;
            want.sort_unstable();
            for _ in 0..2 {
                let got: Result<Vec<u128>, SpillError> = sorted.iter().collect();
                assert_eq!(got.unwrap(), want, "{count}, {most}");
            }
        }
    }
}
