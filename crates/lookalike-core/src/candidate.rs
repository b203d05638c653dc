//! Buckets from bucket keys: documents that share a key of a band are candidate pairs.
//!
//! ```text
//! one band's keys  group_equal_keys → its buckets of two or more ┐
//!                                                            ├ Candidates::gather → components
//! the next band's  group_equal_keys → …                          ┘
//! ```
//!
//! Pairs are never listed: a bucket of n documents has n entries, and [`group`](crate::group)
//! decides which of them to compare. Documents of different components share no bucket, so
//! components are grouped independently, in parallel or one after the other in little memory. This
//! module neither limits buckets nor drops pairs.
//!
//! [`BandIndex`] finds the candidates of one document at a time instead.

use crate::disjoint_sets::DisjointSets;

/// The number that represents "no bucket yet" and "no document".
const NONE: u32 = u32::MAX;

/// Maximum number of documents of a run.
pub const MAX_DOCUMENTS: usize = (NONE - 1) as usize;

/// The buckets of one band that contain two or more documents. Buckets from
/// [`from_memberships`](Self::from_memberships) may overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BandBuckets {
    /// (document, bucket) for every member of a bucket.
    memberships: Vec<(u32, u32)>,
    /// One member of each bucket.
    leaders: Vec<u32>,
}

impl BandBuckets {
    /// Takes buckets from another source. `memberships` contains (document, bucket) for every
    /// member, in any order. `leaders` contains one member of each bucket, by the bucket's number.
    /// A document may be in any number of buckets.
    pub fn from_memberships(memberships: Vec<(u32, u32)>, leaders: Vec<u32>) -> Self {
        debug_assert!(memberships.iter().all(|(_, bucket)| (*bucket as usize) < leaders.len()));
        Self { memberships, leaders }
    }

    /// (document, bucket) for every member of a bucket.
    pub fn memberships(&self) -> &[(u32, u32)] {
        &self.memberships
    }

    /// One member of each bucket, by the bucket's number.
    pub fn leaders(&self) -> &[u32] {
        &self.leaders
    }

    /// The buckets as lists of their documents, ascending, in the order of their first documents.
    pub fn sorted(&self) -> Vec<Vec<u32>> {
        let mut buckets = vec![Vec::new(); self.leaders.len()];
        for &(document, bucket) in &self.memberships {
            buckets[bucket as usize].push(document);
        }
        buckets.sort_unstable();
        buckets
    }
}

/// Reusable buffers of [`group_equal_keys`]: slightly more than 8 bytes per document.
#[derive(Debug, Default)]
pub struct BandScratch {
    partitioned: Vec<u64>,
    ends: Vec<u32>,
    slots: Vec<u64>,
    buckets: Vec<u32>,
}

/// Groups documents with equal keys into buckets. `keys[d]` is a key of document `d`, such as its
/// bucket key in a band or the hash of its id. Accepts at most [`MAX_DOCUMENTS`] keys. Documents
/// for which `active` is false are in no bucket. Takes O(n) time, about 10 ns per document.
///
/// One pass distributes the documents over partitions by the top bits of their keys. The table that
/// finds equal keys in one partition stays in the cache (Polychroniou, Ross 2014). Keys are
/// compared as a whole.
pub fn group_equal_keys(
    keys: &[u64],
    active: impl Fn(usize) -> bool,
    scratch: &mut BandScratch,
) -> BandBuckets {
    debug_assert!(keys.len() <= MAX_DOCUMENTS);
    // With 2,000 to 4,000 documents per partition, the table of 8-byte slots fits in the
    // second-level cache.
    let bits = (keys.len() + 1).ilog2().saturating_sub(11).min(12);
    partition(keys, &active, bits, scratch);
    let mut found = BandBuckets::default();
    let mut start = 0;
    for partition in 0..1 << bits {
        let end = scratch.ends[partition] as usize;
        let entries = &scratch.partitioned[start..end];
        start = end;
        find_equal(keys, entries, &mut scratch.slots, &mut scratch.buckets, &mut found);
    }
    found
}

/// Writes (32 key bits, document) entries partition by partition. `ends` then contains the end of
/// each partition.
fn partition(keys: &[u64], active: &impl Fn(usize) -> bool, bits: u32, scratch: &mut BandScratch) {
    let place = |key: u64| (key >> 32 >> (32 - bits)) as usize;
    let ends = &mut scratch.ends;
    ends.clear();
    ends.resize(1 << bits, 0);
    for (document, &key) in keys.iter().enumerate() {
        ends[place(key)] += u32::from(active(document));
    }
    let mut sum = 0;
    for end in ends.iter_mut() {
        let count = *end;
        *end = sum;
        sum += count;
    }
    scratch.partitioned.resize(sum as usize, 0);
    for (document, &key) in keys.iter().enumerate() {
        if active(document) {
            let end = &mut ends[place(key)];
            scratch.partitioned[*end as usize] = (key << bits) >> 32 << 32 | document as u64;
            *end += 1;
        }
    }
}

/// Finds the documents of a partition that have equal keys. An open-addressing table contains the
/// first document of each key.
fn find_equal(
    keys: &[u64],
    entries: &[u64],
    slots: &mut Vec<u64>,
    buckets: &mut Vec<u32>,
    found: &mut BandBuckets,
) {
    const FREE: u64 = u64::MAX;
    if entries.len() < 2 {
        return;
    }
    let capacity = (2 * entries.len()).next_power_of_two();
    if slots.len() < capacity {
        slots.resize(capacity, FREE);
        buckets.resize(capacity, NONE);
    }
    let slots = &mut slots[..capacity];
    let buckets = &mut buckets[..capacity];
    slots.fill(FREE);
    let shift = 64 - capacity.trailing_zeros();
    for &entry in entries {
        let document = entry as u32;
        let mut slot = ((entry >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize;
        loop {
            let other = slots[slot];
            if other == FREE {
                slots[slot] = entry;
                buckets[slot] = NONE;
                break;
            }
            let leader = other as u32;
            if other >> 32 == entry >> 32 && keys[leader as usize] == keys[document as usize] {
                if buckets[slot] == NONE {
                    buckets[slot] = found.leaders.len() as u32;
                    found.leaders.push(leader);
                    found.memberships.push((leader, buckets[slot]));
                }
                found.memberships.push((document, buckets[slot]));
                break;
            }
            slot = (slot + 1) & (capacity - 1);
        }
    }
}

/// Returns, for each index, the earliest index with an equal fingerprint. This is the index itself
/// if no other fingerprint is equal, or if `active` is false. `earlier(a, b)` returns whether index
/// `a` precedes index `b`. Takes O(n) time.
pub fn first_of_equal(
    fingerprints: &[u128],
    active: impl Fn(usize) -> bool,
    mut earlier: impl FnMut(u32, u32) -> bool,
) -> Vec<u32> {
    let upper: Vec<u64> = fingerprints.iter().map(|f| (f >> 64) as u64).collect();
    let found = group_equal_keys(&upper, active, &mut BandScratch::default());
    let mut first: Vec<u32> = (0..fingerprints.len() as u32).collect();
    // Documents whose upper halves agree are nearly always one class. If they are not, the members
    // that differ from the leader start classes of their own, in order of appearance.
    let mut classes: Vec<Vec<(u128, u32)>> = vec![Vec::new(); found.leaders.len()];
    for &(document, bucket) in &found.memberships {
        let fingerprint = fingerprints[document as usize];
        let classes = &mut classes[bucket as usize];
        match classes.iter_mut().find(|(f, _)| *f == fingerprint) {
            None => classes.push((fingerprint, document)),
            Some((_, least)) if earlier(document, *least) => *least = document,
            Some(_) => {}
        }
    }
    for &(document, bucket) in &found.memberships {
        let fingerprint = fingerprints[document as usize];
        if let Some((_, least)) = classes[bucket as usize].iter().find(|(f, _)| *f == fingerprint) {
            first[document as usize] = *least;
        }
    }
    first
}

/// The candidate pairs of a run, as components of documents connected through shared buckets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    members: Vec<u32>,
    member_ends: Vec<u32>,
    /// Buckets of `members[i]`: `buckets[offsets[i]..offsets[i + 1]]`, numbered per component. A
    /// document may have one bucket per band, so the total may exceed 32 bits.
    offsets: Vec<u64>,
    buckets: Vec<u32>,
    bucket_counts: Vec<u32>,
}

/// A component: documents that are connected through shared buckets.
#[derive(Debug, Clone, Copy)]
pub struct Component<'a> {
    /// The documents, ascending.
    pub members: &'a [u32],
    /// The start of each member's buckets in `buckets`, and the end of the last member's buckets.
    offsets: &'a [u64],
    buckets: &'a [u32],
    /// The number of buckets of the component. Buckets are numbered from 0.
    pub bucket_count: usize,
}

impl<'a> Component<'a> {
    /// The buckets of the i-th member, band after band, and within each band in the order of the
    /// band's memberships. Bands from [`group_equal_keys`] have at most one bucket per document.
    pub fn buckets_of(&self, i: usize) -> &'a [u32] {
        &self.buckets[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }
}

impl Candidates {
    /// Connects `documents` documents through the buckets of all bands. Takes O(documents +
    /// memberships) time.
    pub fn gather(documents: usize, bands: &[BandBuckets]) -> Self {
        let mut sets = DisjointSets::new(documents);
        let mut memberships = vec![0u32; documents];
        for band in bands {
            for &(document, bucket) in &band.memberships {
                memberships[document as usize] += 1;
                sets.join(band.leaders[bucket as usize], document);
            }
        }
        let mut this = Self::default();
        let places = this.place_members(&mut sets, &memberships);
        this.place_buckets(bands, &places);
        this
    }

    /// Sorts the documents that have memberships by component, and components by their first
    /// document. Returns the new place of each document, and its component.
    fn place_members(&mut self, sets: &mut DisjointSets, memberships: &[u32]) -> Vec<(u32, u32)> {
        let mut places = vec![(NONE, NONE); sets.len()];
        let mut sizes = Vec::new();
        let involved = |d: &u32| memberships[*d as usize] > 0;
        for document in (0..sets.len() as u32).filter(involved) {
            let root = sets.first(document) as usize;
            if places[root].1 == NONE {
                places[root].1 = sizes.len() as u32;
                sizes.push(0u32);
            }
            let component = places[root].1;
            places[document as usize].1 = component;
            sizes[component as usize] += 1;
        }
        let mut next: Vec<u32> = Vec::with_capacity(sizes.len());
        let mut sum = 0;
        for size in sizes {
            next.push(sum);
            sum += size;
        }
        self.members = vec![0; sum as usize];
        for document in (0..sets.len() as u32).filter(involved) {
            let (position, component) = &mut places[document as usize];
            let at = &mut next[*component as usize];
            self.members[*at as usize] = document;
            *position = *at;
            *at += 1;
        }
        self.member_ends = next;
        self.offsets = Vec::with_capacity(self.members.len() + 1);
        let mut sum = 0;
        for &document in &self.members {
            self.offsets.push(sum);
            sum += u64::from(memberships[document as usize]);
        }
        self.offsets.push(sum);
        self.buckets = vec![0; sum as usize];
        places
    }

    /// Lists every member's buckets, band after band, numbered within their component.
    fn place_buckets(&mut self, bands: &[BandBuckets], places: &[(u32, u32)]) {
        let mut next = self.offsets.clone();
        self.bucket_counts = vec![0; self.member_ends.len()];
        let mut numbers = Vec::new();
        for band in bands {
            numbers.clear();
            numbers.extend(band.leaders.iter().map(|leader| {
                let count = &mut self.bucket_counts[places[*leader as usize].1 as usize];
                *count += 1;
                *count - 1
            }));
            for &(document, bucket) in &band.memberships {
                let at = &mut next[places[document as usize].0 as usize];
                self.buckets[*at as usize] = numbers[bucket as usize];
                *at += 1;
            }
        }
    }

    /// The number of components.
    pub fn len(&self) -> usize {
        self.member_ends.len()
    }

    /// Returns true if no two documents share a bucket.
    pub fn is_empty(&self) -> bool {
        self.member_ends.is_empty()
    }

    /// The number of documents that share a bucket with another one.
    pub fn documents(&self) -> usize {
        self.members.len()
    }

    /// The i-th component, in the order of their first documents.
    pub fn component(&self, i: usize) -> Component<'_> {
        let start = if i == 0 { 0 } else { self.member_ends[i - 1] as usize };
        let end = self.member_ends[i] as usize;
        Component {
            members: &self.members[start..end],
            offsets: &self.offsets[start..=end],
            buckets: &self.buckets,
            bucket_count: self.bucket_counts[i] as usize,
        }
    }
}

/// Bucket keys of a collection, for queries of one document at a time: call [`BandIndex::build`]
/// once, then [`BandIndex::candidates`]. Takes 12 bytes per document and band.
#[derive(Debug, Clone)]
pub struct BandIndex {
    bands: Vec<Band>,
}

/// A band: keys in ascending order, and the document of each.
#[derive(Debug, Clone)]
struct Band {
    keys: Vec<u64>,
    documents: Vec<u32>,
}

impl BandIndex {
    /// Builds the index of at most [`MAX_DOCUMENTS`] documents. `keys` contains `bands` keys per
    /// document, document after document. Takes O(n log n) time per band.
    pub fn build(keys: &[u64], bands: usize) -> Self {
        let bands = bands.max(1);
        let mut entries = Vec::with_capacity(keys.len() / bands);
        let bands = (0..bands).map(|band| {
            entries.clear();
            let column = keys.iter().skip(band).step_by(bands);
            entries.extend((0u32..).zip(column).map(|(document, key)| (*key, document)));
            entries.sort_unstable();
            Band {
                keys: entries.iter().map(|e| e.0).collect(),
                documents: entries.iter().map(|e| e.1).collect(),
            }
        });
        Self { bands: bands.collect() }
    }

    /// Replaces the content of `found` with the documents that share a bucket with `keys` (one per
    /// band), ascending and without repeats. A query for a document of the index also finds the
    /// document itself.
    pub fn candidates(&self, keys: &[u64], found: &mut Vec<u32>) {
        found.clear();
        for (band, &key) in self.bands.iter().zip(keys) {
            let start = band.first_at_least(key);
            let bucket = band.keys[start..].iter().take_while(|k| **k == key).count();
            found.extend_from_slice(&band.documents[start..start + bucket]);
        }
        found.sort_unstable();
        found.dedup();
    }
}

impl Band {
    /// The index of the first key that is at least `key`. Keys are uniform, so the search starts at
    /// an estimated place and continues with doubling steps.
    fn first_at_least(&self, key: u64) -> usize {
        let guess = ((u128::from(key) * self.keys.len() as u128) >> 64) as usize;
        let mut low = guess;
        let mut high = guess;
        let mut step = 8;
        while low > 0 && self.keys[low - 1] >= key {
            low = low.saturating_sub(step);
            step *= 2;
        }
        step = 8;
        while high < self.keys.len() && self.keys[high] < key {
            high = (high + step).min(self.keys.len());
            step *= 2;
        }
        low + self.keys[low..high.max(low)].partition_point(|k| *k < key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix64;
    use std::collections::{BTreeMap, BTreeSet};

    /// Groups documents by key with a map.
    fn plain(keys: &[u64], active: impl Fn(usize) -> bool) -> Vec<Vec<u32>> {
        let mut buckets: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for (document, key) in keys.iter().enumerate().filter(|(d, _)| active(*d)) {
            buckets.entry(*key).or_default().push(document as u32);
        }
        let mut buckets: Vec<_> = buckets.into_values().filter(|b| b.len() > 1).collect();
        buckets.sort();
        buckets
    }

    #[test]
    fn buckets_equal_a_naive_grouping() {
        let mut random = SplitMix64::new(3);
        let mut scratch = BandScratch::default();
        for n in [0usize, 1, 2, 100, 5_000, 40_000] {
            for distinct in [1, 10, n as u64 + 1, u64::MAX] {
                let keys: Vec<u64> = (0..n)
                    .map(|_| match distinct {
                        u64::MAX => random.next_u64(),
                        d => crate::hash::mix64(random.below(d)),
                    })
                    .collect();
                let active = |d: usize| d % 7 != 3;
                let found = group_equal_keys(&keys, active, &mut scratch);
                assert_eq!(found.sorted(), plain(&keys, active), "{n} {distinct}");
            }
        }
    }

    #[test]
    fn low_key_bits_separate_buckets() {
        let keys: Vec<u64> = (0..3000u64).map(|i| 0xabcd_0000_0000_0000 | (i % 1500)).collect();
        let found = group_equal_keys(&keys, |_| true, &mut BandScratch::default());
        assert_eq!(found.sorted(), plain(&keys, |_| true));
    }

    #[test]
    fn components_hold_exactly_the_shared_buckets() {
        let bands: Vec<Vec<u64>> = vec![
            vec![1, 1, 2, 3, 4, 5, 6, 7],
            vec![1, 2, 3, 2, 5, 6, 7, 8],
            vec![9, 8, 7, 6, 5, 4, 5, 2],
        ];
        let mut scratch = BandScratch::default();
        let buckets: Vec<_> =
            bands.iter().map(|b| group_equal_keys(b, |_| true, &mut scratch)).collect();
        let found = Candidates::gather(8, &buckets);
        assert_eq!((found.len(), found.documents()), (2, 5));
        let first = found.component(0);
        assert_eq!((first.members, first.bucket_count), (&[0, 1, 3][..], 2));
        assert_eq!(first.buckets_of(1).len(), 2);
        assert_eq!(first.buckets_of(0), &first.buckets_of(1)[..1]);
        assert_eq!(found.component(1).members, &[4, 6]);
    }

    #[test]
    fn gathering_keeps_overlapping_buckets() {
        let mut random = SplitMix64::new(8);
        for round in 0..200 {
            let (documents, count) = (30u64, 1 + random.below(14));
            let lists: Vec<Vec<BTreeSet<u32>>> = (0..=round % 3)
                .map(|_| {
                    let mut draw = |n| (0..n).map(|_| random.below(documents) as u32).collect();
                    (0..count).map(|i| draw(1 + i % 4)).collect()
                })
                .collect();
            let bands: Vec<BandBuckets> =
                lists.iter().map(|lists| buckets_of_lists(lists)).collect();
            let found = Candidates::gather(documents as usize, &bands);
            // Maps the buckets of the components back to documents.
            let mut back: Vec<Vec<u32>> = Vec::new();
            let mut seen = BTreeSet::new();
            for i in 0..found.len() {
                let component = found.component(i);
                let mut buckets = vec![Vec::new(); component.bucket_count];
                for (place, member) in component.members.iter().enumerate() {
                    assert!(seen.insert(*member), "in one component only");
                    for bucket in component.buckets_of(place) {
                        buckets[*bucket as usize].push(*member);
                    }
                }
                back.extend(buckets);
            }
            back.sort();
            let mut expected: Vec<Vec<u32>> =
                lists.iter().flatten().map(|list| list.iter().copied().collect()).collect();
            expected.sort();
            assert_eq!(back, expected);
            assert_eq!(seen, lists.iter().flatten().flatten().copied().collect());
        }
    }

    /// The buckets of one band. The memberships are in reverse order, and the last member is the
    /// leader.
    fn buckets_of_lists(lists: &[BTreeSet<u32>]) -> BandBuckets {
        let members = |(b, list): (usize, &BTreeSet<u32>)| {
            list.iter().rev().map(move |d| (*d, b as u32)).collect::<Vec<_>>()
        };
        let memberships = lists.iter().enumerate().rev().flat_map(members).collect();
        let leaders: Vec<u32> = lists.iter().filter_map(|list| list.last().copied()).collect();
        let buckets = BandBuckets::from_memberships(memberships, leaders.clone());
        assert_eq!(buckets.leaders(), leaders);
        assert_eq!(buckets.memberships().len(), lists.iter().map(BTreeSet::len).sum::<usize>());
        buckets
    }

    #[test]
    fn equal_fingerprints_map_to_the_earliest() {
        let high = 1u128 << 100;
        let fingerprints = [7, high | 1, 7, high | 2, high | 1, high | 2, 9, 9];
        let later_first = |a: u32, b: u32| a > b;
        let first = first_of_equal(&fingerprints, |d| d != 7, later_first);
        assert_eq!(first, [2, 4, 2, 5, 4, 5, 6, 7]);
    }

    #[test]
    fn index_candidates_share_a_band_key() {
        let mut random = SplitMix64::new(11);
        let (n, bands) = (2_000, 5);
        let keys: Vec<u64> =
            (0..n * bands).map(|_| crate::hash::mix64(random.below(900))).collect();
        let index = BandIndex::build(&keys, bands);
        let mut found = Vec::new();
        for document in 0..n {
            let own = &keys[document * bands..][..bands];
            index.candidates(own, &mut found);
            let shares = |d: &u32| {
                let other = &keys[*d as usize * bands..][..bands];
                own.iter().zip(other).any(|(a, b)| a == b)
            };
            assert!(found.iter().eq((0..n as u32).filter(shares).collect::<Vec<_>>().iter()));
        }
    }
}
