//! The rest of each document's prefix: the number of its shingles that other documents may have.
//!
//! Shingles that occur once come first in the order of rarity. If they fill the prefix of a
//! document, its rest is 0, and no other prefix meets it. This is the case for most documents.

use crate::engine::prepare::shingle_log::DocumentShingles;

/// The rest of each prefix, by the temporary number of the document.
pub(crate) struct PrefixRests(Vec<u32>);

impl PrefixRests {
    /// Starts with the lengths of the prefixes, in the order of [`DocumentShingles::documents`].
    pub(crate) fn new(lengths: impl Iterator<Item = u32>) -> Self {
        Self(lengths.collect())
    }

    /// Returns true if the rest of a document's prefix is not 0.
    #[inline]
    pub(crate) fn has_rest(&self, number: u32) -> bool {
        // If another process has altered a temporary file, no document may have this number.
        self.0.get(DocumentShingles::index(number)).is_some_and(|rest| *rest > 0)
    }

    /// Returns the counter of one thread.
    pub(crate) fn counter(&self) -> SingleCounter {
        SingleCounter { counts: vec![0; self.0.len()], full: Vec::new() }
    }

    /// Subtracts the shingles that a thread has counted.
    pub(crate) fn subtract(&mut self, counter: &SingleCounter) {
        for (rest, count) in self.0.iter_mut().zip(&counter.counts) {
            *rest = rest.saturating_sub((*count).into());
        }
        for index in &counter.full {
            let rest = &mut self.0[*index as usize];
            *rest = rest.saturating_sub(u8::MAX.into());
        }
    }
}

/// Counts, for each document, the shingles that occur once.
pub(crate) struct SingleCounter {
    /// The counts modulo 255, because most documents have fewer such shingles.
    counts: Vec<u8>,
    /// The index of a document, once for every 255 of its shingles.
    full: Vec<u32>,
}

impl SingleCounter {
    /// Counts a shingle of a document if it occurs once.
    #[inline]
    pub(crate) fn add(&mut self, number: u32, is_single: bool) {
        let index = DocumentShingles::index(number);
        let Some(count) = self.counts.get_mut(index) else { return };
        *count += u8::from(is_single);
        if *count == u8::MAX {
            *count = 0;
            self.full.push(index as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::prepare::shingle_log::FIRST;

    #[test]
    fn all_counters_reduce_the_rests() {
        let mut rests = PrefixRests::new([3, 700, 601, 0].into_iter());
        let numbers = [0, 1, 2, 3].map(|index| FIRST + index);
        let remaining = |rests: &PrefixRests| numbers.map(|number| rests.has_rest(number));
        for _ in 0..2 {
            let mut counter = rests.counter();
            counter.add(numbers[0], true);
            for _ in 0..300 {
                counter.add(numbers[1], false);
                counter.add(numbers[2], true);
                counter.add(numbers[3], true);
            }
            counter.add(u32::MAX, true);
            rests.subtract(&counter);
        }
        assert_eq!(remaining(&rests), [true, true, true, false]);
        assert!(!rests.has_rest(u32::MAX));
        let mut counter = rests.counter();
        counter.add(numbers[0], true);
        counter.add(numbers[2], true);
        rests.subtract(&counter);
        assert_eq!(remaining(&rests), [false, true, false, false]);
    }
}
