//! Draws a simple random sample: the documents with the smallest seeded hashes of their ids.
//!
//! The sample depends only on ids and the seed, not on order, threads or files. Each document with
//! shingles is equally likely to be drawn. All samples of the same size are equally likely.

use crate::id_sample::IdSample;
use crate::read::BlockNumber;
use lookalike_core::hash::mix64;
use lookalike_core::hash::{SplitMix64, token_hash};

/// Seeded hashes of ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdHasher {
    documents: u64,
    neighbours: u64,
}

impl IdHasher {
    pub(super) fn new(seed: u64) -> Self {
        let mut numbers = SplitMix64::new(seed);
        Self { documents: numbers.next_u64(), neighbours: numbers.next_u64() }
    }

    /// The hash of a document. The documents with the smallest hashes are drawn.
    pub(super) fn document(self, id: &str) -> u64 {
        mix64(token_hash(id.as_bytes()) ^ self.documents)
    }

    /// The hash of a neighbour (a similar document) of a drawn document. The neighbours with the
    /// smallest hashes are kept. It is independent of [`Self::document`] and of the hash for the
    /// reversed pair.
    pub(super) fn neighbour(self, drawn: &str, neighbour: &str) -> u64 {
        let drawn = mix64(token_hash(drawn.as_bytes()) ^ self.neighbours);
        mix64(drawn.wrapping_add(token_hash(neighbour.as_bytes())))
    }
}

/// The position of a document in the reading order.
pub(super) type Position = (BlockNumber, u32);

/// A document of the sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SampledDocument {
    pub(super) position: Position,
    pub(super) fingerprint: u128,
    /// Whether the document belongs to the reference collection, whose documents are not compared
    /// with each other.
    pub(super) reference: bool,
    /// Its shingles, ascending and not empty.
    pub(super) set: Vec<u64>,
}

/// The documents with the smallest hashes so far. If two documents have the same id, the sample
/// has the first in the reading order, like a run that leaves out repeated ids.
#[derive(Debug)]
pub(super) struct DocumentSample(IdSample<String, SampledDocument>);

impl DocumentSample {
    pub(super) fn new(most: usize) -> Self {
        Self(IdSample::new(most))
    }

    /// Returns false if a document with the hash `id_hash` cannot enter the sample.
    pub(super) fn wants(&self, id_hash: u64) -> bool {
        self.0.wants(id_hash)
    }

    /// Adds a document with the hash `id_hash`. The document with the largest hash leaves a sample
    /// that is too large.
    pub(super) fn insert(&mut self, id_hash: u64, id: String, document: SampledDocument) {
        self.0.insert(id_hash, id, document, precedes);
    }

    /// Adds the documents drawn by another thread.
    pub(super) fn merge(&mut self, other: Self) {
        self.0.merge(other.0, precedes);
    }

    /// Whether the sample has the requested size.
    pub(super) fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Returns the ids and the documents, in the order of the hashes.
    pub(super) fn into_documents(self) -> impl Iterator<Item = (String, SampledDocument)> {
        self.0.into_values()
    }
}

fn precedes(a: &SampledDocument, b: &SampledDocument) -> bool {
    a.position < b.position
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(index: u32) -> SampledDocument {
        let position = (BlockNumber { source: 0, index }, 0);
        SampledDocument { position, fingerprint: u128::from(index), reference: false, set: vec![1] }
    }

    fn sample(seed: u64, most: usize, numbers: impl Iterator<Item = u32>) -> Vec<String> {
        let hasher = IdHasher::new(seed);
        let mut parts =
            [DocumentSample::new(most), DocumentSample::new(most), DocumentSample::new(most)];
        for number in numbers {
            let id = format!("d{number}");
            let id_hash = hasher.document(&id);
            let part = &mut parts[number as usize % 3];
            if part.wants(id_hash) {
                part.insert(id_hash, id, drawn(number));
            }
        }
        let [mut all, second, third] = parts;
        all.merge(third);
        all.merge(second);
        all.into_documents().map(|(id, _)| id).collect()
    }

    #[test]
    fn order_and_threads_do_not_matter() {
        let forward = sample(7, 20, 0..500);
        assert_eq!(forward.len(), 20);
        assert_eq!(sample(7, 20, (0..500).rev()), forward);
        assert_ne!(sample(8, 20, 0..500), forward);
        assert_eq!(sample(7, 20, 0..5).len(), 5);
        assert_eq!(sample(7, 0, 0..5).len(), 0);
    }

    #[test]
    fn documents_are_drawn_equally_often() {
        let mut times = [0u32; 50];
        for seed in 0..4_000 {
            for id in sample(seed, 10, 0..50) {
                times[id[1..].parse::<usize>().unwrap()] += 1;
            }
        }
        // 4,000 draws with probability 1/5: 800, standard deviation 25.
        assert!(times.iter().all(|n| (680..920).contains(n)), "{times:?}");
    }

    #[test]
    fn first_of_repeated_ids_is_drawn() {
        for order in [[3, 1, 2], [1, 2, 3]] {
            let mut sample = DocumentSample::new(2);
            for index in order {
                sample.insert(5, "same".to_owned(), drawn(index));
            }
            sample.insert(6, "other".to_owned(), drawn(9));
            let documents: Vec<_> = sample.into_documents().collect();
            assert_eq!(documents.len(), 2);
            assert_eq!(documents[0].1, drawn(1));
        }
    }

    #[test]
    fn order_and_seed_change_neighbour_hashes() {
        let hasher = IdHasher::new(1);
        assert_ne!(hasher.neighbour("a", "b"), hasher.neighbour("b", "a"));
        assert_ne!(hasher.neighbour("a", "b"), IdHasher::new(2).neighbour("a", "b"));
    }
}
