//! Sorts numbers of 128 bits that are roughly uniform. Their upper bits divide them into parts,
//! which are written unsorted to a temporary file. Each part is sorted when it is read. A part fits
//! in the caches of a processor, and nothing is merged.
//!
//! ```text
//! append → parts, in memory ─ above the share → blocks of one file
//! parts one after the other ◄ memory + blocks, sorted      (a part that is too large: ValueSorter)
//! ```

use super::error::SpillError;
use super::log::SpillLog;
use super::temp_space::TempSpace;
use super::value_sorter::{SortedValues, ValueSorter, sort_values};
use std::borrow::Cow;
use std::mem::take;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

/// The intended number of values of a part.
const PART_VALUES: u64 = 1 << 15;
/// The most parts. Each has its own buffer in memory.
const MOST_PARTS: u64 = 1 << 11;
/// The least bytes of a part per write.
const LEAST_BLOCK: usize = 1 << 14;
/// The number of values in memory when merging a part.
const PIECE: usize = 1 << 12;

/// Sorts numbers in ascending order and keeps repeated ones.
#[derive(Debug)]
pub(crate) struct PartSorter {
    temp: Arc<TempSpace>,
    /// The number of bits below those that select the part.
    shift: u32,
    parts: Vec<ValuePart>,
    /// The most numbers of a part in memory, and the initial capacity.
    most: usize,
    first: usize,
    /// The most numbers of a part to sort in memory.
    most_sorted: usize,
    log: SpillLog<u128>,
}

/// Numbers with the same upper bits.
#[derive(Debug, Default)]
struct ValuePart {
    values: Vec<u128>,
    written: Vec<Range<u64>>,
    len: usize,
    /// All numbers of the part, if they are too many to sort in memory.
    merged: Option<SortedValues>,
}

impl PartSorter {
    /// Creates a sorter for about `expected` numbers below 2 to the power of `bits`. Uses at most
    /// `memory` bytes (at least some MiB), half of them for reading a part. Further numbers go to a
    /// file in `temp`. Numbers whose upper bits are not uniform take longer.
    pub(crate) fn new(temp: &Arc<TempSpace>, bits: u32, expected: u64, memory: usize) -> Self {
        let half = (memory / 2).max(64 * LEAST_BLOCK);
        let most_parts = MOST_PARTS.min((half / LEAST_BLOCK) as u64);
        let ideal = expected / PART_VALUES + 1;
        let parts = if ideal < most_parts { ideal.next_power_of_two() } else { most_parts };
        let chosen_by = parts.ilog2().min(bits);
        let parts = 1_usize << chosen_by;
        Self {
            temp: Arc::clone(temp),
            shift: bits - chosen_by,
            parts: (0..parts).map(|_| ValuePart::default()).collect(),
            most: half / parts / size_of::<u128>(),
            first: (expected / parts as u64 * 9 / 8) as usize + 64,
            // Sorting needs a second buffer.
            most_sorted: half / 2 / size_of::<u128>(),
            log: SpillLog::scratch(temp, "parts", 0),
        }
    }

    /// Moves all numbers out of `values`.
    ///
    /// # Errors
    /// [`SpillError::TempDir`] and [`SpillError::Io`].
    pub(crate) fn append(&mut self, values: &mut Vec<u128>) -> Result<(), SpillError> {
        values.drain(..).try_for_each(|value| self.push(value))
    }

    /// Adds a number.
    ///
    /// # Errors
    /// See [`append`](Self::append).
    #[inline]
    pub(crate) fn push(&mut self, value: u128) -> Result<(), SpillError> {
        let last = self.parts.len() - 1;
        let at = ((value >> self.shift) as usize).min(last);
        let values = &mut self.parts[at].values;
        if values.len() == values.capacity() {
            return self.push_with_room(at, value);
        }
        values.push(value);
        Ok(())
    }

    /// Adds a number to a part whose buffer is full.
    #[cold]
    fn push_with_room(&mut self, at: usize, value: u128) -> Result<(), SpillError> {
        let part = &mut self.parts[at];
        let len = part.values.len();
        if len >= self.most {
            let room = part.values.capacity();
            part.written.push(self.log.append(take(&mut part.values))?);
            part.len += len;
            part.values.reserve_exact(room);
        } else {
            part.values.reserve_exact(len.max(self.first).min(self.most - len));
        }
        part.values.push(value);
        Ok(())
    }

    /// Returns all numbers in ascending order.
    ///
    /// # Errors
    /// [`SpillError::TempDir`] and [`SpillError::Io`].
    pub(crate) fn finish(mut self) -> Result<PartedValues, SpillError> {
        for part in self.parts.iter_mut().filter(|part| part.written.is_empty()) {
            sort_values(&mut part.values);
        }
        Ok(PartedValues { is_sorted: true, ..self.finish_parts()? })
    }

    /// Returns all numbers. Every part that is not merged is sorted each time it is read, by the
    /// reading thread.
    ///
    /// # Errors
    /// [`SpillError::TempDir`] and [`SpillError::Io`].
    pub(crate) fn finish_parts(mut self) -> Result<PartedValues, SpillError> {
        let most_sorted = self.most_sorted;
        for part in &mut self.parts {
            part.len += part.values.len();
            if !part.written.is_empty() && part.len > most_sorted {
                let memory = most_sorted * size_of::<u128>();
                part.merged = Some(merged(part, &self.log, &self.temp, memory)?);
            }
        }
        Ok(PartedValues { parts: self.parts, is_sorted: false, most_sorted, log: self.log })
    }
}

/// Returns the numbers of a part, sorted within `memory` bytes. Consumes the numbers in memory.
fn merged(
    part: &mut ValuePart,
    log: &SpillLog<u128>,
    temp: &Arc<TempSpace>,
    memory: usize,
) -> Result<SortedValues, SpillError> {
    let mut sorter = ValueSorter::new(temp, memory);
    sorter.append(&mut take(&mut part.values))?;
    for range in &part.written {
        sorter.append(&mut log.range(range.clone())?.into_owned())?;
    }
    sorter.finish()
}

/// Numbers in ascending order.
#[derive(Debug)]
pub(crate) struct PartedValues {
    parts: Vec<ValuePart>,
    /// Whether parts in memory are sorted.
    is_sorted: bool,
    /// The most numbers to sort in memory at a time.
    most_sorted: usize,
    log: SpillLog<u128>,
}

impl PartedValues {
    /// Iterates over the numbers. Yields [`SpillError::Io`] if the file cannot be read, and ends
    /// after an error.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<u128, SpillError>> + '_ {
        self.read(0..self.parts.len())
    }

    /// The number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Like [`iter`](Self::iter), for the numbers of a part. Numbers with the same upper bits are
    /// in one part.
    pub(crate) fn part(&self, i: usize) -> impl Iterator<Item = Result<u128, SpillError>> + '_ {
        self.read(i..i + 1)
    }

    /// The number of threads, at most `threads`, that can read parts at the same time.
    pub(crate) fn readers(&self, threads: NonZeroUsize) -> NonZeroUsize {
        let sorted = self.parts.iter().filter(|part| part.merged.is_none());
        let longest = sorted.map(|part| part.len).max().unwrap_or(0);
        let fit = NonZeroUsize::new(self.most_sorted / longest.max(1));
        threads.min(fit.unwrap_or(NonZeroUsize::MIN))
    }

    fn read(&self, parts: Range<usize>) -> PartReader<'_> {
        PartReader { of: self, parts, merged: None, batch: Cow::default(), returned: 0 }
    }

    /// Reads and sorts a part that was not merged.
    fn sorted(&self, part: &'_ ValuePart) -> Result<Vec<u128>, SpillError> {
        let mut values = Vec::with_capacity(part.len);
        for range in &part.written {
            values.extend_from_slice(&self.log.range(range.clone())?);
        }
        values.extend_from_slice(&part.values);
        sort_values(&mut values);
        Ok(values)
    }
}

/// Reads the parts one after the other.
struct PartReader<'a> {
    of: &'a PartedValues,
    /// The parts that follow the batch.
    parts: Range<usize>,
    /// The rest of a merged part.
    merged: Option<Box<dyn Iterator<Item = Result<u128, SpillError>> + 'a>>,
    batch: Cow<'a, [u128]>,
    /// The number of values of the batch that were returned.
    returned: usize,
}

impl<'a> PartReader<'a> {
    /// Reads the next batch. Returns `false` at the end.
    fn next_batch(&mut self) -> Result<bool, SpillError> {
        self.batch = Cow::default();
        self.returned = 0;
        while self.batch.is_empty() {
            if let Some(merged) = &mut self.merged {
                let piece: Result<Vec<u128>, SpillError> = merged.take(PIECE).collect();
                self.batch = Cow::Owned(piece?);
                if self.batch.is_empty() {
                    self.merged = None;
                }
                continue;
            }
            let of: &'a PartedValues = self.of;
            let Some(part) = self.parts.next().and_then(|i| of.parts.get(i)) else {
                return Ok(false);
            };
            if let Some(merged) = &part.merged {
                self.merged = Some(Box::new(merged.iter()));
            } else if part.written.is_empty() && of.is_sorted {
                self.batch = Cow::Borrowed(&part.values);
            } else {
                self.batch = Cow::Owned(of.sorted(part)?);
            }
        }
        Ok(true)
    }
}

impl Iterator for PartReader<'_> {
    type Item = Result<u128, SpillError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.returned == self.batch.len() {
            match self.next_batch() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.parts = 0..0;
                    self.merged = None;
                    return Some(Err(error));
                }
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

    /// The sorted numbers, whether some were written to a file, and whether a part was merged.
    fn sorted(values: &[u128], bits: u32, memory: usize) -> (Vec<u128>, bool, bool) {
        let parent = tempfile::tempdir().unwrap();
        let temp = Arc::new(TempSpace::new(parent.path().to_owned()));
        let mut sorter = PartSorter::new(&temp, bits, values.len() as u64, memory);
        for some in values.chunks(999) {
            sorter.append(&mut some.to_vec()).unwrap();
        }
        let mut sorted = sorter.finish().unwrap();
        let read =
            |of: &PartedValues| of.iter().collect::<Result<Vec<u128>, SpillError>>().unwrap();
        let values = read(&sorted);
        assert_eq!(read(&sorted), values);
        sorted.is_sorted = false;
        let parts = (0..sorted.parts()).flat_map(|i| sorted.part(i));
        assert!(parts.map(Result::unwrap).eq(values.iter().copied()));
        let is_written = sorted.parts.iter().any(|part| !part.written.is_empty());
        (values, is_written, sorted.parts.iter().any(|part| part.merged.is_some()))
    }

    #[test]
    fn numbers_sort_in_memory_and_files() {
        let mut random = SplitMix64::new(7);
        for count in [0, 1, 70_000, 300_000] {
            let uniform = |_| u128::from(random.below(1 << 61)) << 64 | u128::from(random.below(9));
            let values: Vec<u128> = (0..count).map(uniform).collect();
            let mut want = values.clone();
            want.sort_unstable();
            assert!(sorted(&values, 125, usize::MAX) == (want.clone(), false, false), "{count}");
            assert!(sorted(&values, 125, 0) == (want, count >= 70_000, false), "{count}");
        }
    }

    #[test]
    fn numbers_with_equal_prefixes_are_merged() {
        let mut random = SplitMix64::new(8);
        let drawn = |_| u128::from(random.below(3)) << 64 | u128::from(random.below(1 << 20));
        let values: Vec<u128> = (0..200_000).map(drawn).collect();
        let mut want = values.clone();
        want.sort_unstable();
        assert!(sorted(&values, 125, usize::MAX) == (want.clone(), false, false));
        assert!(sorted(&values, 125, 0) == (want.clone(), true, true));
        // Numbers above the limit are put into the last part.
        assert!(sorted(&values, 40, 0) == (want, true, true));
    }
}
