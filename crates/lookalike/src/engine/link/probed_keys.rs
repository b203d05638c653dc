//! Finds which documents contain the keys that other documents probe, in one part of the shingle
//! log.
//!
//! ```text
//! probing entries, sorted ─ index → first entry of a key, Bloom filter
//! shingles of the part ─ filter ─ first → (entry, document) ─ each_bucket → documents by key
//! ```

use crate::engine::ids::DocumentNumber;
use crate::engine::link::document_values::place;
use crate::engine::prepare::shingle_log::{EncodedShingles, PLACE_BITS};

/// Bits of the filter for each entry, as an exponent of 2.
const LOG2_FILTER_BITS: u32 = 5;

/// The probed keys of a part, by the places of their shingles in the part.
#[derive(Default)]
pub(crate) struct ProbedKeys {
    /// Packed values, sorted: the place of a key, the mark of `document_values`, and a document
    /// that probes the key.
    entries: Vec<u64>,
    /// The first entry of each range of places, and the end of the last range. All ranges have the
    /// same width. Keys are uniform, so a range has about one entry.
    firsts: Vec<u32>,
    firsts_shift: u32,
    /// A Bloom filter with one hash, which most shingles do not pass. The top bits of a place
    /// select the bit of its key.
    filter: Vec<u64>,
    filter_shift: u32,
    /// The shingles that passed the filter: the place, the temporary number of the document.
    passed: Vec<(u32, u32)>,
    /// The documents that have a probed key: the index of the key's first entry, the document.
    found: Vec<(u32, DocumentNumber)>,
}

impl ProbedKeys {
    /// Returns the entries. The caller replaces them with sorted entries, and then calls
    /// [`index`](Self::index).
    pub(crate) fn entries_mut(&mut self) -> &mut Vec<u64> {
        &mut self.entries
    }

    /// Indexes the entries, and removes all documents.
    pub(crate) fn index(&mut self) {
        let log2 = self.entries.len().max(1).next_power_of_two().ilog2().min(PLACE_BITS);
        self.firsts_shift = PLACE_BITS - log2;
        self.firsts.clear();
        self.firsts.resize((1 << log2) + 1, 0);
        let log2 = (log2 + LOG2_FILTER_BITS).clamp(6, PLACE_BITS);
        self.filter_shift = PLACE_BITS - log2;
        self.filter.clear();
        self.filter.resize(1 << (log2 - 6), 0);
        for entry in &self.entries {
            self.firsts[(place(*entry) >> self.firsts_shift) as usize + 1] += 1;
            let bit = place(*entry) >> self.filter_shift;
            self.filter[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        for i in 1..self.firsts.len() {
            self.firsts[i] += self.firsts[i - 1];
        }
        self.found.clear();
    }

    /// Adds the documents of shingles with a probed key. `document` returns the document with a
    /// temporary number, or `None` if it is excluded.
    pub(crate) fn add_documents(
        &mut self,
        shingles: EncodedShingles<'_>,
        document: impl Fn(u32) -> Option<DocumentNumber>,
    ) {
        // Few shingles pass, at unpredictable places, so a branch for each would often be
        // mispredicted.
        let mut count = 0;
        self.passed.resize(shingles.len().max(self.passed.len()), (0, 0));
        shingles.for_each_place(|place, number| {
            self.passed[count] = (place, number);
            let bit = place >> self.filter_shift;
            count += (self.filter[(bit / 64) as usize] >> (bit % 64) & 1) as usize;
        });
        for &(place, number) in &self.passed[..count] {
            if let Some(first) = self.first(place)
                && let Some(document) = document(number)
            {
                self.found.push((first, document));
            }
        }
    }

    /// The index of the first entry of a key.
    fn first(&self, key: u32) -> Option<u32> {
        let range = (key >> self.firsts_shift) as usize;
        let end = self.firsts[range + 1];
        (self.firsts[range]..end)
            .find(|i| place(self.entries[*i as usize]) >= key)
            .filter(|i| place(self.entries[*i as usize]) == key)
    }

    /// For each key that two or more documents have, passes its entries and these documents to
    /// `take`.
    ///
    /// # Errors
    /// The first error of `take`.
    pub(crate) fn each_bucket<E>(
        &mut self,
        mut take: impl FnMut(&[u64], &[DocumentNumber]) -> Result<(), E>,
    ) -> Result<(), E> {
        // A counting sort: `ends[i]` is first the start of the documents of the key whose first
        // entry is i. The second loop moves it to their end.
        let mut ends = vec![0u32; self.entries.len() + 1];
        for (first, _) in &self.found {
            ends[*first as usize + 1] += 1;
        }
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let mut documents = vec![DocumentNumber::default(); self.found.len()];
        for (first, document) in &self.found {
            let end = &mut ends[*first as usize];
            documents[*end as usize] = *document;
            *end += 1;
        }
        let mut first = 0;
        let mut start = 0;
        for entries in self.entries.chunk_by(|a, b| place(*a) == place(*b)) {
            let end = ends[first] as usize;
            first += entries.len();
            let bucket = &mut documents[start..end];
            start = end;
            bucket.sort_unstable();
            // A document may have a shingle more than once.
            let mut count = 0;
            for i in 0..bucket.len() {
                if i == 0 || bucket[i] != bucket[count - 1] {
                    bucket[count] = bucket[i];
                    count += 1;
                }
            }
            if count > 1 {
                take(entries, &bucket[..count])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::link::document_values::pack;
    use lookalike_core::hash::SplitMix64;
    use std::collections::{BTreeMap, BTreeSet};

    /// Checks the documents of keys at random `places`. Two in three documents are used.
    fn check(places: u64, keys: u32, shingles: usize, seed: u64) {
        let mut random = SplitMix64::new(seed);
        let spread = (1 << PLACE_BITS) / places;
        let mut place = || (random.below(places) * spread) as u32;
        let mut entries: Vec<u64> = (0..keys).map(|i| pack(place(), i as u8, i)).collect();
        entries.sort_unstable();
        let mut values: Vec<u32> = (0..shingles).map(|_| place()).collect();
        let mut documents_by_place: BTreeMap<u32, BTreeSet<DocumentNumber>> = BTreeMap::new();
        // Every third document is excluded. `add_documents` is called twice, so each document has
        // its shingle twice.
        for (number, value) in (0..).zip(&values).filter(|(number, _)| number % 3 != 0) {
            documents_by_place.entry(*value).or_default().insert(DocumentNumber(number));
        }
        let mut expected = Vec::new();
        for own in entries.chunk_by(|a, b| super::place(*a) == super::place(*b)) {
            let documents =
                documents_by_place.get(&super::place(own[0])).filter(|all| all.len() > 1);
            let documents = documents.map(|all| all.iter().copied().collect::<Vec<_>>());
            expected.extend(documents.map(|documents| (own.to_vec(), documents)));
        }
        let mut probed = ProbedKeys::default();
        // The buffers contain the values of an earlier call.
        probed.entries_mut().extend([1, 2, 3]);
        probed.index();
        probed.entries_mut().clone_from(&entries);
        probed.index();
        let shingles = EncodedShingles::one_for_each(&mut values);
        let document = |number| (number % 3 != 0).then_some(DocumentNumber(number));
        probed.add_documents(shingles, document);
        probed.add_documents(shingles, document);
        let mut found = Vec::new();
        let take = |own: &[u64], documents: &[DocumentNumber]| {
            found.push((own.to_vec(), documents.to_vec()));
            Ok::<_, ()>(())
        };
        probed.each_bucket(take).unwrap();
        assert!(found == expected, "{places} {keys}");
        assert!(keys == 0 || !found.is_empty());
    }

    #[test]
    fn keys_receive_their_documents_once() {
        for (i, (places, keys)) in
            [(1, 1), (9, 0), (9, 40), (500, 30), (9_000, 4_000)].iter().enumerate()
        {
            check(*places, *keys, 5_000, i as u64);
        }
    }
}
