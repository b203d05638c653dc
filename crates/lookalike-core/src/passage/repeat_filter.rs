//! Which hashes were seen more than once, in a fixed number of bytes: two Bloom filters, one for
//! the hashes that were seen and one for those that were seen again.
//!
//! Each hash has four bits in one 64-bit word of either filter (Putze, Sanders, Singler, *Cache-,
//! Hash- and Space-Efficient Bloom Filters*, 2007, section 3), and both words are neighbours. One
//! atomic operation marks a hash and says whether it was marked before, so any number of threads
//! may insert; each hash that is inserted twice is reported as repeated, whichever thread is first.

use std::sync::atomic::{AtomicU64, Ordering};

/// The least number of hashes for which there is room.
const LEAST: usize = 1 << 10;

/// A set of the hashes that were inserted at least twice. It contains all of them, and, by chance,
/// some that were inserted once: about 1 in 100 where there are 16 bits for each hash.
#[derive(Debug)]
pub struct RepeatFilter {
    /// The hashes that were seen, and those that were seen again.
    words: Vec<[AtomicU64; 2]>,
}

impl RepeatFilter {
    /// Room for `hashes` hashes: 4 bytes for each, in at most `bytes` bytes or 16 KiB, whichever
    /// is more.
    pub fn new(hashes: usize, bytes: usize) -> Self {
        let wanted = hashes.max(LEAST) / 4;
        let most = (bytes / 16).max(LEAST);
        let words = wanted.min(most).next_power_of_two();
        let words = if words > most { words / 2 } else { words }.max(LEAST);
        Self { words: (0..words).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]).collect() }
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.words.len() * 16
    }

    /// Inserts a hash. O(1).
    #[inline]
    pub fn insert(&self, hash: u64) {
        let (word, mask) = self.place(hash);
        if word[0].fetch_or(mask, Ordering::Relaxed) & mask == mask {
            word[1].fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// Whether the hash may have been inserted more than once. O(1). Insertions of other threads
    /// are seen once these threads are joined.
    #[inline]
    pub fn repeats(&self, hash: u64) -> bool {
        let (word, mask) = self.place(hash);
        word[1].load(Ordering::Relaxed) & mask == mask
    }

    #[inline]
    fn place(&self, hash: u64) -> (&[AtomicU64; 2], u64) {
        let mixed = crate::hash::mix64(hash);
        let bit = |at: u32| 1_u64 << (mixed >> (40 + 6 * at) & 63);
        let word = mixed as usize & (self.words.len() - 1);
        (&self.words[word], bit(0) | bit(1) | bit(2) | bit(3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;

    #[test]
    fn what_is_inserted_twice_repeats() {
        let filter = RepeatFilter::new(10_000, 1 << 20);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..5000).for_each(|i| filter.insert(mix64(i))));
            }
        });
        (5000..10_000).for_each(|i| filter.insert(mix64(i)));
        assert!((0..5000).all(|i| filter.repeats(mix64(i))));
        let wrong = (5000..10_000).filter(|i| filter.repeats(mix64(*i))).count();
        assert!(wrong < 150, "{wrong} of 5,000 that were inserted once repeat");
    }

    #[test]
    fn the_memory_is_bounded() {
        for (hashes, bytes) in [(0, 0), (1000, 1 << 20), (1 << 20, 1 << 20), (1 << 20, 3 << 20)] {
            let filter = RepeatFilter::new(hashes, bytes);
            assert!(
                filter.bytes() <= bytes.max(16 * LEAST),
                "{hashes}, {bytes}: {}",
                filter.bytes()
            );
            assert!(filter.bytes() >= (4 * hashes).min(bytes / 2).max(16 * LEAST));
        }
    }
}
