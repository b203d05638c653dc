//! The bands of records in memory, for finding the records that share a band.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::allocation::{self, AllocationError};

/// Represents "no record".
const NONE: u32 = u32::MAX;
/// Number of bytes of removed records above which the bytes are compacted.
const WASTE: usize = 1 << 20;

/// The bands of one record.
#[derive(Clone, Copy, Debug)]
struct BandRecord {
    /// The index of its first byte.
    start: usize,
    /// The number of bytes of a band. 0 if the lengths differ; the lengths then precede the bytes.
    width: u32,
    /// The first record with the same key, usually the record itself.
    owner: u32,
    /// The next record with the same key.
    sibling: u32,
    /// The last record with the same key. Only valid for the first record.
    last: u32,
    /// The number of records added before. Determines the order, because numbers of removed records
    /// are reused.
    added_before: u64,
    is_live: bool,
}

/// The bytes of all bands of a record.
#[derive(Clone, Debug)]
pub struct BandBytes {
    /// The bytes, band after band.
    pub bytes: Vec<u8>,
    /// The length of each band; empty if all lengths are equal.
    pub lengths: Vec<u32>,
}

impl BandBytes {
    /// The bytes of each of the `count` bands.
    pub fn pieces(&self, count: usize) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut rest = &self.bytes[..];
        (0..count).map(move |band| {
            let even = rest.len() / (count - band);
            let length = self.lengths.get(band).map_or(even, |&length| length as usize);
            let (piece, after) = rest.split_at(length.min(rest.len()));
            rest = after;
            piece
        })
    }
}

/// Uses keys as their own hashes, because they are hashes already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type BucketHeads = HashMap<u64, u32, BuildHasherDefault<IdentityHasher>>;

/// Records by the bytes of each of their bands.
///
/// A bucket is a doubly linked list of records with an equal band. A hash of the band is the key of
/// the bucket. If different bands have the same hash, the later bucket is stored under the next
/// free number.
#[derive(Debug)]
pub struct BucketTables {
    count: usize,
    tables: Vec<BucketHeads>,
    records: Vec<BandRecord>,
    free: Vec<u32>,
    /// The neighbours in the bucket, at index record × bands + band.
    next: Vec<u32>,
    previous: Vec<u32>,
    bytes: Vec<u8>,
    waste: usize,
    /// The last query that found each record.
    last_query: Vec<u32>,
    query: u32,
    /// The number of added records, including removed ones.
    added: u64,
}

impl BucketTables {
    /// Creates empty tables for records of `count` bands.
    ///
    /// # Errors
    /// If the system has no memory for that many tables.
    pub fn new(count: usize) -> Result<Self, AllocationError> {
        let mut tables = allocation::with_capacity(count)?;
        tables.extend((0..count).map(|_| BucketHeads::default()));
        Ok(Self { count, tables, ..Self::empty() })
    }

    /// Creates tables that accept no records.
    pub fn empty() -> Self {
        Self {
            count: 0,
            tables: Vec::new(),
            records: Vec::new(),
            free: Vec::new(),
            next: Vec::new(),
            previous: Vec::new(),
            bytes: Vec::new(),
            waste: 0,
            last_query: Vec::new(),
            query: 0,
            added: 0,
        }
    }

    /// The number of bands of a record.
    pub fn bands(&self) -> usize {
        self.count
    }

    /// Returns true if a record exists.
    pub fn is_live(&self, number: u32) -> bool {
        self.records.get(number as usize).is_some_and(|record| record.is_live)
    }

    /// Adds a record and returns its number. With `owner`, adds the record to the key whose first
    /// record is `owner`.
    pub fn add(&mut self, bands: &BandBytes, owner: Option<u32>) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.next.resize(self.next.len() + self.count, NONE);
            self.previous.resize(self.previous.len() + self.count, NONE);
            self.last_query.push(self.query);
            let empty = BandRecord {
                start: 0,
                width: 0,
                owner: NONE,
                sibling: NONE,
                last: NONE,
                added_before: 0,
                is_live: false,
            };
            self.records.push(empty);
            self.records.len() as u32 - 1
        });
        let start = self.bytes.len();
        let is_even = bands.lengths.is_empty();
        for length in &bands.lengths {
            self.bytes.extend(length.to_le_bytes());
        }
        self.bytes.extend(&bands.bytes);
        let width = if is_even { (bands.bytes.len() / self.count) as u32 } else { 0 };
        let owner = owner.unwrap_or(number);
        let place = number as usize;
        let sibling = NONE;
        let added_before = self.added;
        self.records[place] =
            BandRecord { start, width, owner, sibling, last: number, added_before, is_live: true };
        self.added += 1;
        self.last_query[place] = self.query.wrapping_sub(1);
        if owner != number {
            let last = std::mem::replace(&mut self.records[owner as usize].last, number);
            self.records[last as usize].sibling = number;
        }
        for band in 0..self.count {
            self.link(number, band);
        }
        number
    }

    /// Removes all records of the key whose first record is `owner`.
    pub fn remove(&mut self, owner: u32) {
        let mut number = if self.is_live(owner) { owner } else { NONE };
        while number != NONE {
            for band in 0..self.count {
                self.unlink(number, band);
            }
            self.waste += self.size_of(number);
            let record = &mut self.records[number as usize];
            record.is_live = false;
            let sibling = std::mem::replace(&mut record.sibling, NONE);
            self.free.push(number);
            number = sibling;
        }
        if self.waste > WASTE && self.waste * 2 > self.bytes.len() {
            self.compact();
        }
    }

    /// All records of the key whose first record is `owner`, in the order of insertion. Empty if
    /// the record does not exist.
    pub fn records_of(&self, owner: u32) -> impl Iterator<Item = u32> + '_ {
        let first = Some(owner).filter(|&owner| self.is_live(owner));
        std::iter::successors(first, |&number| {
            let sibling = self.records[number as usize].sibling;
            (sibling != NONE).then_some(sibling)
        })
    }

    /// The bytes of a band of a record.
    pub fn band(&self, number: u32, band: usize) -> &[u8] {
        let record = self.records[number as usize];
        if record.width > 0 {
            let width = record.width as usize;
            return &self.bytes[record.start + band * width..][..width];
        }
        let mut from = record.start + self.count * 4;
        for before in 0..band {
            from += self.length_at(record.start, before);
        }
        &self.bytes[from..from + self.length_at(record.start, band)]
    }

    /// All bands of a record.
    pub fn bands_of(&self, number: u32) -> BandBytes {
        let all = (0..self.count).map(|band| self.band(number, band));
        let is_even = self.records[number as usize].width > 0;
        BandBytes {
            lengths: if is_even {
                Vec::new()
            } else {
                all.clone().map(|band| band.len() as u32).collect()
            },
            bytes: all.flatten().copied().collect(),
        }
    }

    /// The first records of all keys that share one of the first `count` bands, each once, in the
    /// order of insertion.
    pub fn query(&mut self, bands: &BandBytes, count: usize) -> Vec<u32> {
        self.query = self.query.wrapping_add(1);
        let mut found = Vec::new();
        for (band, mut number) in self.heads(bands, count).into_iter().enumerate() {
            while number != NONE {
                let owner = self.records[number as usize].owner;
                let last_query = &mut self.last_query[owner as usize];
                if *last_query != self.query {
                    *last_query = self.query;
                    found.push(owner);
                }
                number = self.next[number as usize * self.count + band];
            }
        }
        found.sort_unstable_by_key(|&number| self.records[number as usize].added_before);
        found
    }

    /// The first records of the keys in a bucket, each once, the latest first.
    pub fn bucket(&self, band: usize, key: &[u8]) -> Vec<u32> {
        let mut found = Vec::new();
        let mut number = self.head(band, key);
        while number != NONE {
            let owner = self.records[number as usize].owner;
            if !self.is_repeated(number, band) {
                found.push(owner);
            }
            number = self.next[number as usize * self.count + band];
        }
        found
    }

    /// Returns true if an earlier record of the same key has the same band.
    fn is_repeated(&self, number: u32, band: usize) -> bool {
        let owner = self.records[number as usize].owner;
        let mut before = self.records_of(owner).take_while(|&other| other != number);
        owner != number && before.any(|other| self.band(other, band) == self.band(number, band))
    }

    /// For each band, the buckets that contain these keys, with the number of these keys in each
    /// bucket.
    pub fn counts(&self, owners: &[u32]) -> Vec<Vec<(Vec<u8>, usize)>> {
        (0..self.count).map(|band| self.counts_in(band, owners)).collect()
    }

    /// The buckets of one band that contain these keys, with the number of these keys in each
    /// bucket.
    pub fn counts_in(&self, band: usize, owners: &[u32]) -> Vec<(Vec<u8>, usize)> {
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        let mut counts: Vec<(Vec<u8>, usize)> = Vec::new();
        for number in owners.iter().flat_map(|&owner| self.records_of(owner)) {
            if self.is_repeated(number, band) {
                continue;
            }
            let key = self.band(number, band);
            let place = *places.entry(key).or_insert(counts.len());
            match counts.get_mut(place) {
                Some((_, count)) => *count += 1,
                None => counts.push((key.to_vec(), 1)),
            }
        }
        counts
    }

    fn length_at(&self, start: usize, band: usize) -> usize {
        let at = start + band * 4;
        let bytes = self.bytes[at..].first_chunk().copied().unwrap_or_default();
        u32::from_le_bytes(bytes) as usize
    }

    fn size_of(&self, number: u32) -> usize {
        let record = self.records[number as usize];
        if record.width > 0 {
            return record.width as usize * self.count;
        }
        (0..self.count).map(|band| 4 + self.length_at(record.start, band)).sum()
    }

    /// The first records of the buckets of the first `count` bands.
    ///
    /// Computes all hashes, then reads all table entries, then compares all bytes. The reads of a
    /// step do not depend on each other, so that the processor waits for memory once per step
    /// instead of once per band. Together with hashing sixteen bytes at a time, this shortens a
    /// query by a quarter to a third (`bench/python_datasketch.py`).
    fn heads(&self, bands: &BandBytes, count: usize) -> Vec<u32> {
        let hashes: Vec<u64> = bands.pieces(self.count).take(count).map(hash_of).collect();
        let entries = self.tables.iter().zip(&hashes).map(|(table, hash)| table.get(hash).copied());
        let entries: Vec<Option<u32>> = entries.collect();
        let keys = bands.pieces(self.count).zip(entries).enumerate();
        keys.map(|(band, (key, entry))| match entry {
            None => NONE,
            Some(head) if head != NONE && self.band(head, band) == key => head,
            Some(_) => self.head(band, key),
        })
        .collect()
    }

    /// The first record of the bucket of `key`.
    fn head(&self, band: usize, key: &[u8]) -> u32 {
        self.table_key(band, key).1
    }

    /// The number under which the bucket of `key` is or would be stored, and its first record.
    fn table_key(&self, band: usize, key: &[u8]) -> (u64, u32) {
        let mut hash = hash_of(key);
        loop {
            match self.tables[band].get(&hash) {
                None => return (hash, NONE),
                Some(&head) if head != NONE && self.band(head, band) == key => {
                    return (hash, head);
                }
                Some(_) => hash = hash.wrapping_add(1),
            }
        }
    }

    fn link(&mut self, number: u32, band: usize) {
        let (hash, head) = self.table_key(band, self.band(number, band));
        let place = number as usize * self.count + band;
        self.next[place] = head;
        self.previous[place] = NONE;
        if head != NONE {
            self.previous[head as usize * self.count + band] = number;
        }
        self.tables[band].insert(hash, number);
    }

    fn unlink(&mut self, number: u32, band: usize) {
        let place = number as usize * self.count + band;
        let next = self.next[place];
        let previous = self.previous[place];
        if next != NONE {
            self.previous[next as usize * self.count + band] = previous;
        }
        if previous != NONE {
            self.next[previous as usize * self.count + band] = next;
            return;
        }
        let (hash, _) = self.table_key(band, self.band(number, band));
        let table = &mut self.tables[band];
        if next != NONE || table.contains_key(&hash.wrapping_add(1)) {
            // The next number may hold a bucket that collided with this one, so this entry must
            // remain.
            table.insert(hash, next);
        } else {
            table.remove(&hash);
        }
    }

    /// Removes the bytes of removed records.
    fn compact(&mut self) {
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.waste);
        for number in 0..self.records.len() as u32 {
            if self.records[number as usize].is_live {
                let start = self.records[number as usize].start;
                let size = self.size_of(number);
                self.records[number as usize].start = bytes.len();
                bytes.extend(&self.bytes[start..start + size]);
            }
        }
        self.bytes = bytes;
        self.waste = 0;
    }
}

/// A hash of bytes, sixteen at a time. Each product depends on the previous one.
fn hash_of(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let (pairs, rest) = bytes.as_chunks::<16>();
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    for pair in pairs.iter().chain([&last]) {
        let pair = u128::from_le_bytes(*pair);
        let low = pair as u64;
        let high = (pair >> 64) as u64;
        let product = u128::from(hash ^ low) * u128::from(high ^ 0xa076_1d64_78bd_642f);
        hash = (product as u64) ^ (product >> 64) as u64 ^ 0xe703_7ed1_a0b4_28db;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Three bands of two, one and three bytes, or of one byte each if `is_even`.
    fn bands(values: [u8; 3], is_even: bool) -> BandBytes {
        let [a, b, c] = values;
        if is_even {
            return BandBytes { bytes: vec![a, b, c], lengths: Vec::new() };
        }
        BandBytes { bytes: vec![a, a, b, c, c, c], lengths: vec![2, 1, 3] }
    }

    proptest! {
        #[test]
        fn tables_answer_like_a_list(
            steps in prop::collection::vec((0_u8..8, [0_u8..3, 0..3, 0..3], 0_u8..4), 1..120),
            is_even: bool,
        ) {
            let mut tables = BucketTables::new(3).unwrap();
            let mut owners: BTreeMap<u8, u32> = BTreeMap::new();
            let mut list: Vec<(u8, [u8; 3])> = Vec::new();
            for (key, values, action) in steps {
                if action == 0 {
                    if let Some(owner) = owners.remove(&key) {
                        tables.remove(owner);
                        list.retain(|(other, _)| *other != key);
                    }
                } else {
                    let number = tables.add(&bands(values, is_even), owners.get(&key).copied());
                    owners.entry(key).or_insert(number);
                    list.push((key, values));
                }
                let named: BTreeMap<u32, u8> = owners.iter().map(|(k, n)| (*n, *k)).collect();
                for count in 0..=3 {
                    let found = tables.query(&bands(values, is_even), count);
                    let keys: Vec<u8> = found.iter().map(|number| named[number]).collect();
                    let shares = |other: &[u8; 3]| (0..count).any(|k| other[k] == values[k]);
                    let matches = list.iter().filter(|(_, other)| shares(other));
                    let matches: BTreeSet<u8> = matches.map(|(key, _)| *key).collect();
                    let mut expected: Vec<u8> = Vec::new();
                    for (key, _) in &list {
                        if matches.contains(key) && !expected.contains(key) {
                            expected.push(*key);
                        }
                    }
                    prop_assert_eq!(keys, expected);
                }
                let all: Vec<u32> = owners.values().copied().collect();
                for band in 0..3 {
                    for (bytes, count) in tables.counts_in(band, &all) {
                        let has = |(_, other): &&(u8, [u8; 3])| other[band] == bytes[0];
                        let keys = list.iter().filter(has).map(|(key, _)| *key);
                        let keys: BTreeSet<u8> = keys.collect();
                        prop_assert_eq!(count, keys.len());
                        prop_assert_eq!(tables.bucket(band, &bytes).len(), count);
                    }
                }
                for (key, owner) in &owners {
                    let inserted = list.iter().filter(|(other, _)| other == key);
                    let records: Vec<u32> = tables.records_of(*owner).collect();
                    prop_assert_eq!(records.len(), inserted.clone().count());
                    for (number, (_, values)) in records.into_iter().zip(inserted) {
                        let expected = bands(*values, is_even).bytes;
                        prop_assert_eq!(tables.bands_of(number).bytes, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn removed_records_free_their_bytes() {
        let mut tables = BucketTables::new(1).unwrap();
        let band = |k: u32| BandBytes { bytes: vec![k as u8; 1 << 16], lengths: Vec::new() };
        let numbers: Vec<u32> = (0..40).map(|k| tables.add(&band(k), None)).collect();
        numbers[1..].iter().for_each(|&number| tables.remove(number));
        assert!(tables.bytes.len() < 40 << 16);
        assert_eq!(tables.query(&band(0), 1), [numbers[0]]);
        assert!(tables.query(&band(1), 1).is_empty());
    }
}
