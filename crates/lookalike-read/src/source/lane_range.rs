//! Parts of a collection that separate processes read: ranges of blocks.

use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::ops::Range;

/// Consecutive blocks of one lane of a source, by their numbers. Valid for a
/// [`Collection`](crate::Collection) of the same unchanged inputs and options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneRange {
    /// The source, from 0.
    pub(crate) source: u32,
    /// The lane of that source.
    pub(crate) lane: u32,
    /// Number of the first block.
    pub(crate) start: u32,
    /// Number after the last block; `u32::MAX` for all following blocks.
    pub(crate) end: u32,
}

impl LaneRange {
    /// All blocks of a lane.
    pub(crate) fn whole(source: u32, lane: u32) -> Self {
        Self { source, lane, start: 0, end: u32::MAX }
    }

    /// The numbers of the blocks.
    pub(crate) fn blocks(&self) -> Range<u32> {
        self.start..self.end
    }

    /// Adds the next range of the same lane. Returns false if `next` is not the next range.
    fn join(&mut self, next: &Self) -> bool {
        let follows = (self.source, self.lane, self.end) == (next.source, next.lane, next.start);
        if follows {
            self.end = next.end;
        }
        follows
    }
}

/// Divides ranges, each with its size in bytes, into `count` shares of consecutive ranges with
/// about equal sizes. Some shares are empty if there are fewer ranges than shares.
pub(crate) fn divide(ranges: &[(LaneRange, u64)], count: NonZeroU32) -> Vec<Vec<LaneRange>> {
    // An empty range also counts, so that ranges without bytes are divided by their number.
    let total: u128 = ranges.iter().map(|(_, bytes)| u128::from(*bytes) + 1).sum();
    let mut shares: Vec<Vec<LaneRange>> = vec![Vec::new(); count.get() as usize];
    let mut before = 0_u128;
    for (range, bytes) in ranges {
        let share = &mut shares[(before * u128::from(count.get()) / total) as usize];
        if !share.last_mut().is_some_and(|last| last.join(range)) {
            share.push(*range);
        }
        before += u128::from(*bytes) + 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_are_all_ranges_in_order(
            bytes in prop::collection::vec((0u64..100, 0u32..3), 0..40),
            count in 1u32..12,
        ) {
            let mut ranges: Vec<(LaneRange, u64)> = Vec::new();
            for (number, (bytes, lane)) in (0u32..).zip(&bytes) {
                let (start, end) = (number, number + 1);
                ranges.push((LaneRange { source: 0, lane: *lane, start, end }, *bytes));
            }
            let shares = divide(&ranges, NonZeroU32::new(count).unwrap());
            prop_assert_eq!(shares.len(), count as usize);
            let blocks = shares.concat().into_iter().flat_map(|range| {
                range.blocks().map(move |block| (range.lane, block))
            });
            let expected = ranges.iter().map(|(range, _)| (range.lane, range.start));
            prop_assert!(blocks.eq(expected));
            let total: u64 = bytes.iter().map(|(bytes, _)| bytes + 1).sum();
            let most = bytes.iter().map(|(bytes, _)| bytes + 1).max().unwrap_or(0);
            for share in &shares {
                let of = |block: u32| bytes[block as usize].0 + 1;
                let sum: u64 = share.iter().flat_map(LaneRange::blocks).map(of).sum();
                prop_assert!(sum <= total / u64::from(count) + most + 1, "{sum} of {total}");
            }
        }
    }
}
