//! An inverted index of sampled shingle sets, which finds the sets that a document could resemble.
//!
//! A set A and a set B with |A ∩ B| ≥ m share at least k elements of any |A| − m + k elements of A
//! (Chaudhuri, Ganti, Kaushik, *A primitive operator for similarity joins*, 2006). So the index has
//! only that many elements of A, the rarest in the sample. A document is compared with A if it
//! contains at least k of them. No pair that reaches the threshold is lost.
//!
//! Elements are looked up by the upper 32 bits of their hashes. A collision of these bits costs one
//! more comparison and causes no error. Most shingles of a collection are in no sampled document. A
//! filter with two bits per element, in one word, detects most of them. The filter fits in the
//! cache of a core.

use crate::progress::{Interruption, Progress};
use lookalike_core::hash::mix64;
use lookalike_core::params::Measure;
use lookalike_core::verify::Overlap;

/// The number of indexed elements of a set that a document must contain before it is compared:
/// `NEEDED`, or the smallest possible overlap divided by `NEEDED_PART` if that is more, but never
/// more than this overlap. One element would suffice, but texts share phrases, and a comparison
/// costs more than some lookups. An audit of a million documents took 5.6 CPU seconds with a
/// divisor of 10, 7.1 with 30 and 6.0 with 4.
const NEEDED: usize = 3;
const NEEDED_PART: usize = 10;
/// The binary logarithm of the number of filter words: 8 KiB to 1 MiB.
const FILTER_BITS: std::ops::RangeInclusive<u32> = 10..=17;

/// An index of the sample's sets by their elements. Sets are numbered from 0.
pub(super) struct SetIndex {
    /// Two bits per element. The upper bits of the element's hash select the word.
    filter: Vec<u64>,
    filter_shift: u32,
    /// A hash table of elements by their upper 32 bits. The uppermost bits select the slot; if it
    /// is taken, the element is in the next free one.
    slots: Vec<ElementSlot>,
    slots_shift: u32,
    /// The sets of each element that several sets contain: their number, then the sets.
    lists: Vec<u32>,
    /// For each set, the number of its indexed elements that a document must contain.
    needed: Vec<u32>,
}

/// An element and its sets.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ElementSlot {
    hash: u32,
    /// A set or, if the highest bit is 1, the position of a list.
    sets: u32,
}

const IN_LIST: u32 = 1 << 31;
const FREE: ElementSlot = ElementSlot { hash: 0, sets: u32::MAX };

/// For each set, the number of its elements in the current document. One per thread.
#[derive(Debug, Default)]
pub(super) struct Hits {
    counts: Vec<u32>,
    touched: Vec<u32>,
    /// A buffer that begins with the hashes that passed the filter.
    maybe: Vec<u32>,
}

impl SetIndex {
    /// Indexes sets, which are ascending and not empty. `least_overlap` takes the size of a set and
    /// returns the smallest overlap with which a document reaches the threshold.
    pub(super) fn new(
        sets: &[&[u64]],
        least_overlap: impl Fn(usize) -> usize,
        progress: &dyn Progress,
    ) -> Result<Self, Interruption> {
        let mut all: Vec<u64> = sets.iter().flat_map(|set| set.iter().copied()).collect();
        all.sort_unstable();
        // Elements are hashes, so that about eight of them share their upper bits.
        let shift = u64::BITS - (all.len() / 8).max(2).ilog2();
        let mut starts = vec![0; (u64::MAX >> shift) as usize + 2];
        for element in &all {
            starts[(element >> shift) as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let count = |element: u64| {
            let at = (element >> shift) as usize;
            let near = &all[starts[at]..starts[at + 1]];
            near.partition_point(|other| *other <= element)
                - near.partition_point(|other| *other < element)
        };
        let mut entries = Vec::new();
        let mut needed = Vec::new();
        for (number, set) in (0u32..).zip(sets) {
            progress.advance(0)?;
            let least = least_overlap(set.len()).clamp(1, set.len().max(1));
            let found = NEEDED.max(least / NEEDED_PART).min(least);
            // Order equally rare elements by mixed hashes, which spreads the indexed elements
            // evenly.
            let mut rarest: Vec<(usize, u64, u64)> =
                set.iter().map(|element| (count(*element), mix64(*element), *element)).collect();
            let indexed = set.len() - least + found;
            if indexed < rarest.len() {
                rarest.select_nth_unstable(indexed);
                rarest.truncate(indexed);
            }
            entries.extend(rarest.iter().map(|(.., element)| ((element >> 32) as u32, number)));
            needed.push(found as u32);
        }
        entries.sort_unstable();
        Ok(Self::of_entries(&entries, needed))
    }

    /// Builds the index from sorted pairs of an element's upper bits and a set.
    fn of_entries(entries: &[(u32, u32)], needed: Vec<u32>) -> Self {
        let bits = entries.len().max(1).ilog2();
        let filter_bits = bits.saturating_sub(1).clamp(*FILTER_BITS.start(), *FILTER_BITS.end());
        let slots_bits = (bits + 2).min(31);
        let mut this = Self {
            filter: vec![0; 1 << filter_bits],
            filter_shift: 32 - filter_bits,
            slots: vec![FREE; 1 << slots_bits],
            slots_shift: 32 - slots_bits,
            lists: Vec::new(),
            needed,
        };
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            let &[(hash, set), ..] = same else { continue };
            let mut sets = set;
            if same.len() > 1 {
                sets = this.lists.len() as u32 | IN_LIST;
                this.lists.push(same.len() as u32);
                this.lists.extend(same.iter().map(|(_, set)| *set));
            }
            this.filter[(hash >> this.filter_shift) as usize] |= mask(hash);
            let mut place = (hash >> this.slots_shift) as usize;
            while this.slots[place] != FREE {
                place = (place + 1) & (this.slots.len() - 1);
            }
            this.slots[place] = ElementSlot { hash, sets };
        }
        this
    }

    /// Returns the sets that contain an element with this hash.
    #[inline]
    fn sets<'a>(&'a self, hash: u32, buffer: &'a mut [u32; 1]) -> &'a [u32] {
        let mut place = (hash >> self.slots_shift) as usize;
        loop {
            let slot = self.slots[place];
            if slot == FREE {
                return &[];
            }
            if slot.hash == hash {
                if slot.sets & IN_LIST == 0 {
                    *buffer = [slot.sets];
                    return buffer;
                }
                let list = (slot.sets & !IN_LIST) as usize;
                return &self.lists[list + 1..][..self.lists[list] as usize];
            }
            place = (place + 1) & (self.slots.len() - 1);
        }
    }

    /// Replaces the content of `candidates` by the sets with which a document may reach the
    /// threshold, in no particular order. `hashes` are the hashes of the document, including
    /// repeats.
    pub(super) fn candidates(&self, hashes: &[u32], hits: &mut Hits, candidates: &mut Vec<u32>) {
        candidates.clear();
        let Hits { counts, touched, maybe } = hits;
        counts.resize(self.needed.len(), 0);
        if maybe.len() < hashes.len() {
            maybe.resize(hashes.len(), 0);
        }
        // This loop has no branch, because a branch would be mispredicted in a third of the cases.
        let mut found = 0;
        for &hash in hashes {
            let word = self.filter[(hash >> self.filter_shift) as usize];
            maybe[found] = hash;
            found += usize::from(word & mask(hash) == mask(hash));
        }
        for &hash in &maybe[..found] {
            for &set in self.sets(hash, &mut [0]) {
                let count = &mut counts[set as usize];
                if *count == 0 {
                    touched.push(set);
                }
                *count = count.saturating_add(1);
            }
        }
        for set in touched.drain(..) {
            let count = std::mem::take(&mut counts[set as usize]);
            if count >= self.needed[set as usize] {
                candidates.push(set);
            }
        }
    }
}

/// Returns a word with two bits set. The lower bits of the hash select them; the upper bits select
/// the filter word.
fn mask(hash: u32) -> u64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63)
}

/// The smallest |A ∩ B| with which any B reaches the threshold: ⌈t·|A|⌉ for Jaccard, computed with
/// exact fractions; 1 for containment, because B may be a single element of A.
pub(super) fn least_overlap(size: usize, measure: Measure, threshold: f64) -> usize {
    if measure == Measure::Containment {
        return 1;
    }
    let size = size as u64;
    let reaches =
        |part| Overlap { intersection: part, left: size, right: part }.reaches(measure, threshold);
    let about = (size as f64 * threshold) as u64;
    let mut least = about.saturating_sub(1).max(1);
    while least < size && !reaches(least) {
        least += 1;
    }
    least as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use lookalike_core::verify;
    use proptest::prelude::*;

    #[test]
    fn least_overlap_rounds_up() {
        for (size, threshold, least) in
            [(5, 0.8, 4), (6, 0.8, 5), (1, 0.8, 1), (100, 1.0, 100), (1_000, 0.001, 1), (7, 0.5, 4)]
        {
            assert_eq!(
                least_overlap(size, Measure::Jaccard, threshold),
                least,
                "{size} {threshold}"
            );
        }
    }

    proptest! {
        /// The domain of elements is small, so that overlaps of every size occur.
        #[test]
        fn set_index_finds_all_similar_sets(
            sets in prop::collection::vec(prop::collection::btree_set(0u64..40, 1..30), 1..8),
            document in prop::collection::btree_set(0u64..40, 1..30),
            percent in 1u32..=100,
            contained in any::<bool>(),
        ) {
            let measure = if contained { Measure::Containment } else { Measure::Jaccard };
            let threshold = f64::from(percent) / 100.0;
            let hashed = |set: &std::collections::BTreeSet<u64>| {
                let mut set: Vec<u64> = set.iter().map(|n| mix64(*n)).collect();
                set.sort_unstable();
                set
            };
            let sets: Vec<Vec<u64>> = sets.iter().map(hashed).collect();
            let slices: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
            let least = |size| least_overlap(size, measure, threshold);
            let index = SetIndex::new(&slices, least, &NoProgress).unwrap();
            let document = hashed(&document);
            let hashes: Vec<u32> = document.iter().map(|h| (h >> 32) as u32).collect();
            let (mut hits, mut candidates) = (Hits::default(), Vec::new());
            for _ in 0..2 {
                index.candidates(&hashes, &mut hits, &mut candidates);
                for (number, set) in (0u32..).zip(&sets) {
                    if verify::overlap(set, &document).reaches(measure, threshold) {
                        prop_assert!(candidates.contains(&number));
                    }
                }
            }
        }
    }
}
