//! Exact candidates: the few shingles of a set that must be compared to miss no pair.
//!
//! Order all shingles by how many documents they occur in, rarest first. Two sets A and B with at
//! least o common elements then share one among the first |A| − o + 1 of A and the first |B| − o +
//! 1 of B (Chaudhuri, Ganti, Kaushik, *A primitive operator for similarity joins in data cleaning*,
//! 2006; Bayardo, Ma, Srikant, *Scaling up all pairs similarity search*, 2007; Xiao, Wang, Lin, Yu,
//! *Efficient similarity joins for near duplicate detection*, 2008). For a threshold t:
//!
//! * Jaccard: o is at least ⌈t · |A|⌉ and ⌈t · |B|⌉, so the two prefixes of [`prefix_length`] meet.
//!   If A is not larger than B, o is at least ⌈2t / (1 + t) · |A|⌉, so the shorter prefix of A from
//!   [`short_prefix_length`] meets the prefix of B (Xiao et al., the indexed prefix). Sets that
//!   share a large part, but not enough, meet less often.
//! * Containment: o is at least ⌈t · |A|⌉ if A is the smaller set, so the prefix of A meets the
//!   whole of B. The prefix of B may not meet A.
//!
//! A shingle that occurs in a single document meets no other set, so [`select`] omits it from the
//! prefix; most prefixes are then empty. Two conditions suffice: all sets have the same order, and
//! no count is too low. [`Counters`] may count too much, which loses no candidate.

use crate::params::Measure;
use crate::verify::{Overlap, min_numerator};

/// Estimates the number of documents in which each shingle occurs. All shingles that hash to a slot
/// share one byte, so a count may be too high, but never too low. 255 stands for all greater
/// counts.
///
/// All bits of a shingle's hash determine its slot. Shingles with equal upper bits are distributed
/// evenly by the other bits. Many small tables can therefore replace a large one. Each small table
/// then counts the shingles whose upper bits are the table's number.
#[derive(Debug, Clone)]
pub struct Counters {
    slots: Vec<u8>,
    shift: u32,
}

impl Counters {
    /// Creates `2^log2_slots` slots of one byte. `log2_slots` is limited to 1 ..= 40. Collisions
    /// are rare with at least one slot for every different shingle.
    pub fn new(log2_slots: u32) -> Self {
        let bits = log2_slots.clamp(1, 40);
        Self { slots: vec![0; 1 << bits], shift: u64::BITS - bits }
    }

    /// Sets all counts to 0.
    pub fn clear(&mut self) {
        self.slots.fill(0);
    }

    /// Counts one document's use of a shingle. O(1).
    pub fn add(&mut self, hash: u64) {
        let slot = self.slot(hash);
        if let Some(count) = self.slots.get_mut(slot) {
            *count = count.saturating_add(1);
        }
    }

    /// The count of a shingle: at least the number of its uses, up to 255. O(1).
    pub fn get(&self, hash: u64) -> u8 {
        self.slots.get(self.slot(hash)).copied().unwrap_or(u8::MAX)
    }

    /// Replaces the content of `counts` by the counts of a set's shingles, in their order.
    pub fn get_all(&self, set: &[u64], counts: &mut Vec<u8>) {
        counts.clear();
        counts.extend(set.iter().map(|hash| self.get(*hash)));
    }

    /// Multiply-shift: every bit at the upper end of the product depends on all lower bits of the
    /// hash.
    #[inline]
    fn slot(&self, hash: u64) -> usize {
        (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }
}

/// The number of a set's shingles, rarest first, that must be compared: |A| − ⌈t · |A|⌉ + 1, at
/// most `size`. 0 for an empty set, and if no similarity reaches the threshold. Uses the exact
/// arithmetic of [`Overlap::reaches`](crate::verify::Overlap::reaches), so that a pair exactly at
/// the threshold is not lost.
///
/// ```
/// use lookalike_core::prefix::prefix_length;
///
/// assert_eq!((prefix_length(100, 0.8), prefix_length(101, 0.8)), (21, 21));
/// ```
pub fn prefix_length(size: usize, threshold: f64) -> usize {
    (size + 1).saturating_sub(min_numerator(size as u64, threshold) as usize)
}

/// The length of a set's short prefix, its rarest shingles: |A| − ⌈2t / (1 + t) · |A|⌉ + 1, by
/// exact arithmetic. About half of [`prefix_length`]. If the Jaccard similarity to a set of at
/// least this size reaches `threshold`, the short prefix shares a shingle with the
/// [`prefix_length`] prefix of that set. Does not shrink when `size` grows.
///
/// ```
/// use lookalike_core::prefix::short_prefix_length;
///
/// assert_eq!((short_prefix_length(90, 0.8), short_prefix_length(100, 0.8)), (11, 12));
/// ```
pub fn short_prefix_length(size: usize, threshold: f64) -> usize {
    let left = size as u64;
    let reaches = |intersection: u64| {
        Overlap { intersection, left, right: left }.reaches(Measure::Jaccard, threshold)
    };
    let guess = (2.0 * threshold / (1.0 + threshold) * size as f64).ceil() as u64;
    let mut shared = guess.clamp(1, left + 1);
    while shared > 1 && reaches(shared - 1) {
        shared -= 1;
    }
    while shared <= left && !reaches(shared) {
        shared += 1;
    }
    (size + 1).saturating_sub(shared as usize)
}

/// Reusable buffers of [`select`]: 2 KiB.
#[derive(Debug)]
pub struct SelectScratch {
    /// The number of shingles with each count.
    sizes: [usize; 256],
}

impl Default for SelectScratch {
    fn default() -> Self {
        Self { sizes: [0; 256] }
    }
}

/// Selects the `length` rarest shingles of a set, by count and then by hash. Replaces the content
/// of `out` with the selected shingles that occur more than once, ascending. `set` is ascending and
/// without repeats; `counts` contains the count of each shingle in that order. Takes O(|set|) time:
/// one pass over the counts if at least `length` of them are 1 or less, otherwise three.
///
/// ```
/// use lookalike_core::prefix::{SelectScratch, select};
///
/// let (mut scratch, mut chosen) = (SelectScratch::default(), Vec::new());
/// select(&[11, 12, 13, 14, 15], &[3, 1, 2, 9, 3], 3, &mut scratch, &mut chosen);
/// assert_eq!(chosen, [11, 13]);
/// ```
pub fn select(
    set: &[u64],
    counts: &[u8],
    length: usize,
    scratch: &mut SelectScratch,
    out: &mut Vec<u64>,
) {
    out.clear();
    let mut left = length.saturating_sub(unique(counts));
    if left == 0 {
        return;
    }
    let sizes = &mut scratch.sizes;
    sizes.fill(0);
    for &count in counts {
        sizes[usize::from(count)] += 1;
    }
    // Takes all shingles that are rarer than `level`, and the first of those with this count.
    let mut level = 2;
    while let Some(size) = sizes.get(level).filter(|size| **size < left) {
        left -= size;
        level += 1;
    }
    for (&hash, &count) in set.iter().zip(counts).filter(|(_, count)| **count > 1) {
        let count = usize::from(count);
        if count < level || count == level && left > 0 {
            out.push(hash);
            left -= usize::from(count == level);
        }
    }
}

/// The number of counts that are at most 1. Sums are bytes, because a processor adds many bytes at
/// a time.
fn unique(counts: &[u8]) -> usize {
    let count_small = |block: &[u8]| block.iter().map(|count| u8::from(*count <= 1)).sum::<u8>();
    counts.chunks(192).map(|block| usize::from(count_small(block))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{SplitMix64, mix64};
    use crate::params::Measure::{Containment, Jaccard};
    use crate::verify::{Overlap, overlap};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Sorts a set to find its rarest shingles, and then removes shingles that occur once.
    fn rarest(set: &[u64], counts: &[u8], length: usize) -> Vec<u64> {
        let mut ranked: Vec<(u8, u64)> = counts.iter().copied().zip(set.iter().copied()).collect();
        ranked.sort_unstable();
        ranked.truncate(length);
        ranked.retain(|(count, _)| *count > 1);
        ranked.into_iter().map(|(_, hash)| hash).collect()
    }

    fn selected(set: &[u64], counts: &[u8], length: usize) -> BTreeSet<u64> {
        // Buffers with the content of an earlier call.
        let (mut scratch, mut out) = (SelectScratch { sizes: [9; 256] }, vec![7; 3]);
        select(set, counts, length, &mut scratch, &mut out);
        assert!(out.is_sorted_by(|a, b| a < b));
        out.into_iter().collect()
    }

    /// Sets, many of which have a large overlap.
    fn sets(seed: u64, count: usize, size: u64) -> Vec<Vec<u64>> {
        let mut random = SplitMix64::new(seed);
        let mut sets: Vec<BTreeSet<u64>> = Vec::new();
        for _ in 0..count {
            let mut set = match random.below(3) {
                0 => BTreeSet::new(),
                _ if sets.is_empty() => BTreeSet::new(),
                _ => sets[random.below(sets.len() as u64) as usize].clone(),
            };
            for _ in 0..random.below(size) {
                let element = mix64(random.below(3 * size));
                if random.below(3) == 0 {
                    set.remove(&element)
                } else {
                    set.insert(element)
                };
            }
            sets.push(set);
        }
        sets.into_iter().map(|set| set.into_iter().collect()).collect()
    }

    /// Exact counts. If `raise` is above 0, some counts are then raised.
    fn counted(sets: &[Vec<u64>], raise: u64) -> BTreeMap<u64, u8> {
        let mut counts: BTreeMap<u64, u8> = BTreeMap::new();
        for hash in sets.iter().flatten() {
            let count = counts.entry(*hash).or_insert(0);
            *count = count.saturating_add(1);
        }
        if raise > 0 {
            for (hash, count) in &mut counts {
                *count = count.saturating_add((mix64(hash ^ raise) % 4) as u8);
            }
        }
        counts
    }

    /// Checks all pairs of sets under these counts.
    fn nothing_is_lost(sets: &[Vec<u64>], counts: impl Fn(u64) -> u8, threshold: f64) {
        let select = |length: fn(usize, f64) -> usize| -> Vec<BTreeSet<u64>> {
            let one = |set: &Vec<u64>| {
                let own: Vec<u8> = set.iter().map(|hash| counts(*hash)).collect();
                selected(set, &own, length(set.len(), threshold))
            };
            sets.iter().map(one).collect()
        };
        let (chosen, short) = (select(prefix_length), select(short_prefix_length));
        assert!(short.iter().zip(&chosen).all(|(short, long)| short.is_subset(long)));
        for (i, a) in sets.iter().enumerate() {
            for (j, b) in sets.iter().enumerate().filter(|(j, _)| *j != i) {
                let found = overlap(a, b);
                if found.reaches(Jaccard, threshold) {
                    assert!(!chosen[i].is_disjoint(&chosen[j]), "{a:?} {b:?} {threshold}");
                    let smaller = if a.len() <= b.len() { (i, j) } else { (j, i) };
                    let met = !short[smaller.0].is_disjoint(&chosen[smaller.1]);
                    assert!(met, "{a:?} {b:?} {threshold}");
                }
                if found.reaches(Containment, threshold) && a.len() <= b.len() {
                    assert!(b.iter().any(|h| chosen[i].contains(h)), "{a:?} {b:?} {threshold}");
                }
            }
        }
    }

    #[test]
    fn prefix_lengths_match_the_definition() {
        for size in 0..=200usize {
            for tenths in 1..=10 {
                let needed = (tenths * size).div_ceil(10);
                let expected = if size == 0 { 0 } else { size - needed + 1 };
                assert_eq!(prefix_length(size, tenths as f64 / 10.0), expected, "{size} {tenths}");
            }
        }
        for (size, threshold) in (1..=400).zip([0.1, 0.3, 0.5, 0.8, 0.9, 1.0].iter().cycle()) {
            let (this_size, next_size) = (size, size + 1);
            let of = |size| short_prefix_length(size, *threshold);
            assert!(
                (1..=prefix_length(this_size, *threshold)).contains(&of(this_size)),
                "{this_size}"
            );
            assert!(of(this_size) <= of(next_size), "{this_size} {threshold}");
        }
        assert_eq!((short_prefix_length(0, 0.8), short_prefix_length(10, 1e-30)), (0, 10));
        assert_eq!((short_prefix_length(10, 1.5), short_prefix_length(10, f64::NAN)), (0, 0));
        assert_eq!(prefix_length(10, 1e-30), 10);
        assert_eq!((prefix_length(10, 1.5), prefix_length(10, f64::NAN)), (0, 0));
    }

    #[test]
    fn pairs_exactly_at_the_threshold_meet() {
        // Every size of two sets and of their intersection. Shared shingles come last in the order,
        // so that a prefix that is too short would miss them.
        for (x, y) in (1..=20u64).flat_map(|x| (1..=20u64).map(move |y| (x, y))) {
            for shared in 1..=x.min(y) {
                let a: Vec<u64> = (100..100 + x - shared).chain(1_000..1_000 + shared).collect();
                let b: Vec<u64> = (200..200 + y - shared).chain(1_000..1_000 + shared).collect();
                let sets = [a, b];
                for tenths in 1..=10 {
                    nothing_is_lost(&sets, |_| 2, f64::from(tenths) / 10.0);
                }
            }
        }
    }

    #[test]
    fn counters_saturate_and_never_undercount() {
        let mut counters = Counters::new(0);
        for hash in [1; 300] {
            counters.add(hash);
        }
        assert_eq!(counters.get(1), 255);
        let mut random = SplitMix64::new(5);
        let mut counters = Counters::new(12);
        let hashes: Vec<u64> = (0..9_000).map(|_| mix64(random.below(3_000))).collect();
        for hash in &hashes[..5_000] {
            counters.add(*hash);
        }
        for hash in &hashes[5_000..] {
            counters.add(*hash);
        }
        let exact = counted(std::slice::from_ref(&hashes), 0);
        let mut counts = vec![9];
        let distinct: Vec<u64> = exact.keys().copied().collect();
        counters.get_all(&distinct, &mut counts);
        assert_eq!(counts.len(), distinct.len());
        assert!(exact.values().zip(&counts).all(|(exact, count)| exact <= count));
        let unharmed = exact.values().zip(&counts).filter(|(exact, count)| exact == count);
        assert!(unharmed.count() > distinct.len() / 3);
    }

    #[test]
    fn counters_fill_tables_evenly() {
        for top in [0u64, 1, 0x2a5, 0x3ff] {
            let mut counters = Counters::new(12);
            for i in 0..4_096 {
                counters.add(top << 54 | mix64(i) >> 10);
            }
            // Balls into bins: a share of 1/e stays free, here within six standard deviations.
            let free = counters.slots.iter().map(|count| u32::from(*count == 0)).sum::<u32>();
            assert!((1_390..=1_625).contains(&free), "{top} {free}");
            assert!(counters.slots.iter().all(|count| *count < 12));
        }
    }

    #[test]
    fn empty_prefixes_select_nothing() {
        assert!(selected(&[], &[], 5).is_empty());
        assert!(selected(&[1, 2], &[2, 2], 0).is_empty());
        assert_eq!(selected(&[1, 2, 3], &[2, 1, 0], 3), BTreeSet::from([1]));
        let whole = Overlap { intersection: 1, left: 1, right: 1 };
        assert!(whole.reaches(Jaccard, 1.0) && prefix_length(1, 1.0) == 1);
    }

    proptest! {
        #[test]
        fn prefix_selects_rarest_shared_hashes(
            set in prop::collection::btree_set(any::<u64>(), 0..600), seed: u64,
            length in 0usize..700,
        ) {
            let set: Vec<u64> = set.into_iter().collect();
            let mut random = SplitMix64::new(seed);
            let high = [1, 3, 6, 256][random.below(4) as usize];
            let counts: Vec<u8> = set.iter().map(|_| random.below(high) as u8).collect();
            let expected: BTreeSet<u64> = rarest(&set, &counts, length).into_iter().collect();
            prop_assert_eq!(selected(&set, &counts, length), expected);
        }

        #[test]
        fn similar_pairs_share_a_selected_hash(
            seed: u64, size in 1u64..40, raise in 0u64..3, t in 1u32..=20,
        ) {
            let sets = sets(seed, 12, size);
            let counts = counted(&sets, raise);
            nothing_is_lost(&sets, |hash| counts[&hash], f64::from(t) / 20.0);
        }

        #[test]
        fn counter_collisions_lose_no_pairs(seed: u64, size in 1u64..40, t in 1u32..=20) {
            let sets = sets(seed, 12, size);
            let mut counters = Counters::new(5);
            for set in &sets {
                for hash in set {
                    counters.add(*hash);
                }
            }
            nothing_is_lost(&sets, |hash| counters.get(hash), f64::from(t) / 20.0);
        }
    }
}
