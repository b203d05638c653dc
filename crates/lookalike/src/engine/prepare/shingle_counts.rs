//! Approximate counts of shingles, never too low, from one pass by all threads.
//!
//! The top bits of the hashes distribute the counters over tables. A thread gathers hashes by
//! table, and adds some at a time under the table's lock. So the accesses of one batch stay in
//! memory that the cache can hold, and do not wait for each other.

use lookalike_core::prefix::Counters;
use parking_lot::Mutex;

/// The number of tables as an exponent of 2.
const LOG2_TABLES: u32 = 9;
/// Hashes gathered for a table before they are added.
const GATHERED: usize = 1024;
/// Hashes looked up at a time, so that their memory accesses overlap.
const LOOKED_UP: usize = 32;

/// The table of a hash.
fn table_of(upper: u32) -> usize {
    (upper >> (u32::BITS - LOG2_TABLES)) as usize
}

/// Counters of shingles.
pub(crate) struct ShingleCounts {
    tables: Vec<Mutex<Counters>>,
}

impl ShingleCounts {
    /// Creates `bytes` counters of one byte each.
    pub(crate) fn new(bytes: u64) -> Self {
        let log2_slots = bytes.max(2).ilog2().saturating_sub(LOG2_TABLES).max(8);
        let table = || Mutex::new(Counters::new(log2_slots));
        Self { tables: (0..1 << LOG2_TABLES).map(|_| table()).collect() }
    }

    /// Returns the interface of one thread for adding counts.
    pub(crate) fn counting(&self) -> ShingleCounter<'_> {
        let tables = self.tables.len();
        ShingleCounter {
            counts: self,
            gathered: vec![0; tables * GATHERED],
            lengths: vec![0; tables],
        }
    }

    /// Returns the counters after all shingles were counted.
    pub(crate) fn finish(self) -> CompleteCounts {
        let tables = self.tables.into_iter();
        let tables: Vec<Counters> = tables.map(Mutex::into_inner).collect();
        CompleteCounts { tables }
    }
}

/// The gathered hashes of one thread.
pub(crate) struct ShingleCounter<'a> {
    counts: &'a ShingleCounts,
    /// Hashes for each table.
    gathered: Vec<u32>,
    lengths: Vec<usize>,
}

impl ShingleCounter<'_> {
    /// Counts the shingles of a document by the upper halves of their hashes.
    pub(crate) fn add(&mut self, hashes: &[u32]) {
        for hash in hashes {
            let table = table_of(*hash);
            let length = &mut self.lengths[table];
            self.gathered[table * GATHERED + *length] = *hash;
            *length += 1;
            if *length == GATHERED {
                *length = 0;
                flush(&self.counts.tables[table], &self.gathered[table * GATHERED..][..GATHERED]);
            }
        }
    }

    /// Counts the remaining hashes.
    pub(crate) fn finish(self) {
        for (table, gathered) in self.gathered.chunks(GATHERED).enumerate() {
            flush(&self.counts.tables[table], &gathered[..self.lengths[table]]);
        }
    }
}

fn flush(table: &Mutex<Counters>, gathered: &[u32]) {
    let mut table = table.lock();
    for upper in gathered {
        table.add(u64::from(*upper) << 32);
    }
}

/// The complete counts.
pub(crate) struct CompleteCounts {
    tables: Vec<Counters>,
}

impl CompleteCounts {
    /// Returns the count of a shingle: at least the true number, capped at 255.
    pub(crate) fn get(&self, upper: u32) -> u8 {
        self.tables[table_of(upper)].get(u64::from(upper) << 32)
    }

    /// Looks up the hashes of a document. Returns how many of them occur only once in all
    /// documents. Replaces the content of `shared` by the others, each as its count above the hash,
    /// in any order, including repeats. Stops after `enough` single ones.
    pub(crate) fn look_up(&self, hashes: &[u32], enough: usize, shared: &mut Vec<u64>) -> usize {
        shared.clear();
        let mut singles = 0;
        for some in hashes.chunks(LOOKED_UP) {
            let mut counts = [0; LOOKED_UP];
            for (count, upper) in counts.iter_mut().zip(some) {
                *count = self.get(*upper);
            }
            for (count, upper) in counts.iter().zip(some) {
                if *count == 1 {
                    singles += 1;
                } else {
                    shared.push(u64::from(*count) << 32 | u64::from(*upper));
                }
            }
            if singles >= enough {
                break;
            }
        }
        singles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::hash::SplitMix64;
    use std::collections::BTreeMap;

    #[test]
    fn counts_are_never_too_low_and_singles_are_counts_of_one() {
        let mut random = SplitMix64::new(4);
        let hashes: Vec<u32> = (0..40_000).map(|_| random.below(30_000) as u32 * 143_000).collect();
        let counts = ShingleCounts::new(1 << 18);
        let (one, two) = hashes.split_at(12_345);
        for some in [one, two] {
            let mut counting = counts.counting();
            some.chunks(77).for_each(|document| counting.add(document));
            counting.finish();
        }
        let counted = counts.finish();
        let mut exact: BTreeMap<u32, usize> = BTreeMap::new();
        for hash in hashes {
            *exact.entry(hash).or_default() += 1;
        }
        let mut equal = 0;
        for (hash, count) in &exact {
            assert!(usize::from(counted.get(*hash)) >= (*count).min(255));
            equal += usize::from(usize::from(counted.get(*hash)) == *count);
        }
        assert!(equal * 10 > exact.len() * 8, "{equal} of {}", exact.len());
        let all: Vec<u32> = exact.keys().copied().collect();
        let mut shared = Vec::new();
        let singles = counted.look_up(&all, usize::MAX, &mut shared);
        assert_eq!(singles, all.iter().filter(|hash| counted.get(**hash) == 1).count());
        assert_eq!(singles + shared.len(), all.len());
        assert!(shared.iter().all(|x| u64::from(counted.get(*x as u32)) == x >> 32));
        assert_eq!(counted.look_up(&all, 1, &mut shared) + shared.len(), LOOKED_UP);
    }
}
