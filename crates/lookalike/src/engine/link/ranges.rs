//! Divides a column that is too long for one sort into ranges of values. Each range takes one pass.
//! The values are hashes, so ranges of equal width have about equal numbers of values.

use crate::engine::memory::Budget;

/// One range of 64-bit values out of several of equal width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyRange {
    number: u64,
    of: u64,
}

impl KeyRange {
    /// Whether the value is in the range.
    pub(crate) fn has(self, value: u64) -> bool {
        self.of == 1 || (u128::from(value) * u128::from(self.of)) >> 64 == u128::from(self.number)
    }
}

/// Ranges that together contain every value once.
#[derive(Debug)]
pub(crate) struct KeyRanges {
    next: u64,
    of: u64,
}

impl KeyRanges {
    /// Creates so many ranges that one fits one thread's share, if each of the `entries` values
    /// takes `entry_bytes`.
    pub(crate) fn new(entries: usize, entry_bytes: usize, budget: &Budget) -> Self {
        let needed = entries.saturating_mul(entry_bytes);
        Self { next: 0, of: needed.div_ceil(budget.entries().max(1)).max(1) as u64 }
    }
}

impl Iterator for KeyRanges {
    type Item = KeyRange;

    fn next(&mut self) -> Option<KeyRange> {
        let number = self.next;
        self.next += 1;
        (number < self.of).then_some(KeyRange { number, of: self.of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::memory::{Budget, Memory};

    #[test]
    fn key_ranges_partition_all_values() {
        let Err(crate::engine::error::FindError::MemoryTooSmall { least, .. }) =
            Budget::new(&Memory { limit: Some(1), ..Memory::default() }, 1)
        else {
            panic!("one byte was enough");
        };
        let memory = Memory { limit: Some(least), ..Memory::default() };
        let budget = Budget::new(&memory, 1).unwrap();
        let ranges: Vec<KeyRange> = KeyRanges::new(1_000_000, 32, &budget).collect();
        assert!(ranges.len() > 2);
        for value in [0, 1, u64::MAX / 3, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            assert_eq!(ranges.iter().filter(|range| range.has(value)).count(), 1);
        }
        let unlimited = Budget::new(&Memory::default(), 1).unwrap();
        assert_eq!(KeyRanges::new(1 << 40, 32, &unlimited).count(), 1);
    }
}
