//! Values of documents in a log whose parts are groups of consecutive documents.
//!
//! A value consists of the place of its document in the part (24 bits), a mark (8 bits) and the
//! rest (32 bits). Values are sorted by these three.

use crate::engine::error::FindError;
use crate::engine::ids::{DocumentNumber, Id};
use crate::spill::{CompleteParts, SpillError};
use std::ops::Range;

/// The most groups, except for one more at the end. The size of a group is at least half of this
/// number.
const GROUPS: usize = 1 << 10;

/// Groups of consecutive documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentParts {
    documents: usize,
    log2_group: u32,
}

impl DocumentParts {
    /// Divides this many documents into groups.
    pub(crate) fn new(documents: usize) -> Self {
        let size = documents.div_ceil(GROUPS).max(GROUPS / 2).next_power_of_two();
        Self { documents, log2_group: size.ilog2() }
    }

    /// The number of groups.
    pub(crate) fn count(self) -> usize {
        (self.documents >> self.log2_group) + 1
    }

    /// The documents of a group.
    pub(crate) fn documents(self, group: usize) -> Range<usize> {
        let first = group << self.log2_group;
        first..self.documents.min(first + (1 << self.log2_group))
    }

    /// The group of a document, and its place in it.
    pub(crate) fn place(self, document: DocumentNumber) -> (usize, u32) {
        let place = document.0 & ((1 << self.log2_group) - 1);
        (document.index() >> self.log2_group, place)
    }
}

/// Packs a value.
pub(crate) fn pack(place: u32, mark: u8, rest: u32) -> u64 {
    u64::from(place) << 40 | u64::from(mark) << 32 | u64::from(rest)
}

/// The place of a packed value in its part.
pub(crate) fn place(value: u64) -> u32 {
    (value >> 40) as u32
}

/// The mark of a packed value.
pub(crate) fn mark(value: u64) -> u8 {
    (value >> 32) as u8
}

/// The rest of a packed value.
pub(crate) fn rest(value: u64) -> u32 {
    value as u32
}

/// The values of consecutive documents of a part, as many as fit in memory. The place of a value is
/// the index of its document in the part.
#[derive(Default)]
pub(crate) struct DocumentValues {
    /// For each document of the part, the start of its values; then the end of all values.
    starts: Vec<usize>,
    /// The documents in memory.
    loaded: Range<usize>,
    /// Their values, one document after the other.
    values: Vec<u64>,
}

impl DocumentValues {
    /// Counts the values of each document of a part with this many documents.
    pub(crate) fn count(
        &mut self,
        log: &CompleteParts<u64>,
        part: usize,
        documents: usize,
    ) -> Result<(), FindError> {
        self.starts.clear();
        self.starts.resize(documents + 1, 0);
        let mut is_altered = false;
        log.each(part, |values| {
            for value in values {
                match self.starts.get_mut(place(*value) as usize + 1) {
                    Some(count) => *count += 1,
                    None => is_altered = true,
                }
            }
        })?;
        if is_altered {
            return Err(SpillError::altered("the values of documents").into());
        }
        for i in 1..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        self.loaded = 0..0;
        Ok(())
    }

    /// Loads the values of the next documents, up to `most` values and at least one document.
    /// Returns false after the last document.
    pub(crate) fn load_next(
        &mut self,
        log: &CompleteParts<u64>,
        part: usize,
        most: usize,
    ) -> Result<bool, FindError> {
        let first = self.loaded.end;
        if first + 1 >= self.starts.len() {
            return Ok(false);
        }
        let start = self.starts[first];
        let fitting = self.starts[first + 1..].partition_point(|end| end - start <= most);
        self.loaded = first..first + fitting.max(1);
        let mut next: Vec<usize> =
            self.starts[self.loaded.clone()].iter().map(|place| place - start).collect();
        self.values.clear();
        self.values.resize(self.starts[self.loaded.end] - start, 0);
        let mut is_altered = false;
        log.each(part, |values| {
            for value in values {
                let Some(index) = (place(*value) as usize).checked_sub(first) else { continue };
                let Some(next) = next.get_mut(index) else { continue };
                match self.values.get_mut(*next) {
                    Some(target) => *target = *value,
                    None => is_altered = true,
                }
                *next += 1;
            }
        })?;
        if is_altered {
            return Err(SpillError::altered("the values of documents").into());
        }
        Ok(true)
    }

    /// The documents in memory, by their index in the part.
    pub(crate) fn loaded(&self) -> Range<usize> {
        self.loaded.clone()
    }

    /// The values of a document in memory.
    pub(crate) fn of(&mut self, index: usize) -> &mut [u64] {
        let start = self.starts[self.loaded.start];
        &mut self.values[self.starts[index] - start..self.starts[index + 1] - start]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spill::{PartLog, TempSpace};
    use lookalike_core::hash::SplitMix64;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    #[test]
    fn packed_values_sort_by_place_and_mark() {
        let value = pack((1 << 24) - 1, 200, u32::MAX);
        assert_eq!((place(value), mark(value), rest(value)), ((1 << 24) - 1, 200, u32::MAX));
        assert!(pack(1, 0, 0) > pack(0, 255, u32::MAX) && pack(1, 1, 0) > pack(1, 0, u32::MAX));
    }

    #[test]
    fn documents_receive_their_values() {
        let groups = DocumentParts::new(1_300);
        assert_eq!(groups.count(), 3);
        let temp = Arc::new(TempSpace::new(std::env::temp_dir()));
        let log = PartLog::new(&temp, "values", 4_000, groups.count(), 1);
        let mut writer = log.writer();
        let mut random = SplitMix64::new(3);
        let mut expected: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for rest in 0..9_000 {
            let document = random.below(1_300) as u32;
            let (group, place) = groups.place(DocumentNumber(document));
            let value = pack(place, rest as u8, rest);
            writer.push(group, [value]).unwrap();
            expected.entry(document as usize).or_default().push(value);
        }
        writer.finish().unwrap();
        let log = log.finish();
        // At least one document, some of them, all of a group.
        for most in [0, 100, usize::MAX] {
            let mut found: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
            let mut values = DocumentValues::default();
            for group in 0..groups.count() {
                let documents = groups.documents(group);
                values.count(&log, group, documents.len()).unwrap();
                while values.load_next(&log, group, most).unwrap() {
                    for index in values.loaded() {
                        found.insert(documents.start + index, values.of(index).to_vec());
                    }
                }
            }
            found.retain(|_, values| !values.is_empty());
            assert_eq!(found, expected, "{most}");
        }
    }
}
