//! The number of shingles of each document's prefix that other documents may have.
//!
//! Shingles that occur once come first in the order of rarity. If they fill the prefix of a
//! document, no other prefix meets it. This is the case for most documents.

use crate::engine::prepare::shingle_log::DocumentShingles;
use std::sync::atomic::{AtomicU32, Ordering};

/// The rest of each prefix, by the temporary number of the document.
pub(crate) struct PrefixRests(Vec<AtomicU32>);

impl PrefixRests {
    /// Starts with the lengths of the prefixes, in the order of [`DocumentShingles::documents`].
    pub(crate) fn new(lengths: impl Iterator<Item = u32>) -> Self {
        Self(lengths.map(AtomicU32::new).collect())
    }

    /// Whether a document has a rest.
    #[inline]
    pub(crate) fn is_left(&self, number: u32) -> bool {
        let rest = self.0.get(DocumentShingles::index(number));
        rest.is_some_and(|rest| rest.load(Ordering::Relaxed) > 0)
    }

    /// Returns the interface with which one thread counts shingles that occur once.
    pub(crate) fn counter(&self) -> SingleCounter<'_> {
        SingleCounter { rests: self, counts: vec![0; self.0.len()] }
    }

    fn subtract(&self, index: usize, count: u8) {
        let less = |rest: u32| Some(rest.saturating_sub(count.into()));
        let _ = self.0[index].fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

/// The shingles that occur once, as counted by one thread. Atomic operations for each shingle would
/// take more time than everything else.
pub(crate) struct SingleCounter<'a> {
    rests: &'a PrefixRests,
    /// The counts that are not yet subtracted from the rests.
    counts: Vec<u8>,
}

impl SingleCounter<'_> {
    /// Counts a shingle of a document if it occurs once.
    #[inline]
    pub(crate) fn add(&mut self, number: u32, is_single: bool) {
        // If another process has altered a temporary file, no document may have this number.
        let index = DocumentShingles::index(number);
        let Some(count) = self.counts.get_mut(index) else { return };
        *count += u8::from(is_single);
        if *count == u8::MAX {
            *count = 0;
            self.rests.subtract(index, u8::MAX);
        }
    }

    /// Subtracts the counts from the rests.
    pub(crate) fn finish(self) {
        for (index, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.rests.subtract(index, *count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_reduce_the_rests() {
        let rests = PrefixRests::new([3, 700, 601, 0].into_iter());
        let number = |index: u32| (0..).find(|n| DocumentShingles::index(*n) == index as usize);
        let numbers: Vec<u32> = (0..4).filter_map(number).collect();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut counter = rests.counter();
                    counter.add(numbers[0], true);
                    for _ in 0..300 {
                        counter.add(numbers[1], false);
                        counter.add(numbers[2], true);
                        counter.add(numbers[3], true);
                    }
                    counter.add(u32::MAX, true);
                    counter.finish();
                });
            }
        });
        let left = |number: &u32| rests.is_left(*number);
        assert_eq!(numbers.iter().map(left).collect::<Vec<_>>(), [true, true, true, false]);
        let mut counter = rests.counter();
        counter.add(numbers[0], true);
        counter.add(numbers[2], true);
        counter.finish();
        assert_eq!(numbers.iter().map(left).collect::<Vec<_>>(), [false, true, false, false]);
    }
}
