//! Groups documents into topics by spherical k-means over weighted words (Dhillon and Modha,
//! *Concept decompositions for large sparse text data*, 2001). The arithmetic uses integers, so the
//! result depends neither on the machine nor on the order of the documents within a sum.
//!
//! The crate `linfa-clustering` is not used. It needs a dense matrix, and takes about 100 times the
//! CPU time for 2,000 documents with a vocabulary of 2,000 words (November 2026,
//! `contributing/libraries.md`).

use super::vocabulary::{TopicVocabulary, WordPlace};
use lookalike_core::hash::SplitMix64;

/// The number of runs with different initial vectors. The best run is used.
const RESTARTS: u64 = 4;
/// The most rounds of one run.
const ROUNDS: usize = 30;
/// The integer that represents 1.0 in the vectors of topics.
const UNIT: u64 = 0xffff;
/// The integer that represents 1.0 in the vectors of documents.
const DOCUMENT_UNIT: u64 = 1 << 16;

/// The vectors of topics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Topics {
    /// The number of topics.
    pub(super) count: usize,
    /// The coordinates of all topics for each word of the vocabulary.
    pub(super) vectors: Vec<u16>,
}

/// The result of a run of k-means.
struct TopicRun {
    topics: Topics,
    /// The total length of the sum vectors of all topics, which k-means increases.
    quality: u64,
}

/// A document as a vector of unit length: the places of its words with their coordinates.
type DocumentVector = Vec<(WordPlace, u32)>;

impl Topics {
    /// Finds at most `count` topics of documents, which are given by the places of their words.
    pub(super) fn new(
        vocabulary: &TopicVocabulary,
        documents: &[Vec<WordPlace>],
        count: usize,
    ) -> Self {
        let worded = documents.iter().filter(|words| !words.is_empty());
        let vectors: Vec<_> = worded.map(|words| vocabulary.unit_vector(words)).collect();
        let count = count.min(vectors.len());
        let words = vocabulary.hashes.len();
        if count == 0 {
            return Self::default();
        }
        let runs = (0..RESTARTS).map(|seed| run(words, &vectors, count, seed));
        // If several runs have the best quality, use the first.
        let best = runs.reduce(|best, run| if run.quality > best.quality { run } else { best });
        best.map(|best| best.topics).unwrap_or_default()
    }

    /// Returns the topic whose vector is most similar to the document. If several are equally
    /// similar, returns the first. `None` for a document without a word of the vocabulary. `scores`
    /// is a buffer.
    pub(super) fn of(&self, document: &[(WordPlace, u32)], scores: &mut Vec<u64>) -> Option<usize> {
        scores.clear();
        scores.resize(self.count, 0);
        for (place, value) in document {
            let row = &self.vectors[*place as usize * self.count..][..self.count];
            for (score, coordinate) in scores.iter_mut().zip(row) {
                *score += u64::from(*value) * u64::from(*coordinate);
            }
        }
        let best = *scores.iter().max().filter(|_| !document.is_empty())?;
        scores.iter().position(|score| *score == best)
    }

    /// Returns only these topics, in this order.
    pub(super) fn select(&self, topics: &[usize]) -> Self {
        let rows = self.vectors.chunks_exact(self.count.max(1));
        let vectors = rows.flat_map(|row| topics.iter().map(|topic| row[*topic])).collect();
        Self { count: topics.len(), vectors }
    }

    /// Scales the sum vector of each topic to unit length. The quality is the total length before
    /// scaling. `sums` contains the sums of all topics for the first word, then for the next word.
    /// With at most 20,000 documents, a sum is below 2³¹.
    fn of_sums(count: usize, sums: &[u64]) -> TopicRun {
        let mut squares = vec![0u128; count];
        for row in sums.chunks_exact(count) {
            for (square, sum) in squares.iter_mut().zip(row) {
                *square += u128::from(*sum).pow(2);
            }
        }
        let lengths: Vec<u64> = squares.iter().map(|square| square.isqrt().max(1) as u64).collect();
        let coordinate = |(sum, length): (&u64, &u64)| ((sum * UNIT + length / 2) / length) as u16;
        let rows = sums.chunks_exact(count);
        let vectors = rows.flat_map(|row| row.iter().zip(&lengths).map(coordinate)).collect();
        TopicRun { topics: Self { count, vectors }, quality: lengths.iter().sum() }
    }
}

/// Runs k-means: draws initial vectors by `seed`, then runs rounds until no document changes its
/// topic, but at most `ROUNDS`.
fn run(words: usize, documents: &[DocumentVector], count: usize, seed: u64) -> TopicRun {
    let mut run = Topics::of_sums(count, &first_sums(words, documents, count, seed));
    let mut assigned = vec![usize::MAX; documents.len()];
    let mut scores = Vec::new();
    let mut sums = vec![0u64; words * count];
    for _ in 0..ROUNDS {
        sums.fill(0);
        let mut changed = false;
        for (document, before) in documents.iter().zip(&mut assigned) {
            let topic = run.topics.of(document, &mut scores).unwrap_or(0);
            changed |= std::mem::replace(before, topic) != topic;
            for (place, value) in document {
                sums[*place as usize * count + topic] += u64::from(*value);
            }
        }
        if !changed {
            break;
        }
        run = Topics::of_sums(count, &sums);
    }
    run
}

/// Returns initial vectors: documents drawn by k-means++ (Arthur and Vassilvitskii 2007), with a
/// probability that grows with the distance to the documents drawn before.
fn first_sums(words: usize, documents: &[DocumentVector], count: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    let mut sums = vec![0u64; words * count];
    // 1 − cosine to the closest document drawn.
    let mut distances = vec![DOCUMENT_UNIT; documents.len()];
    let mut drawn_vector = vec![0u64; words];
    for topic in 0..count {
        let drawn = draw(&distances, &mut random);
        drawn_vector.fill(0);
        for (place, value) in &documents[drawn] {
            drawn_vector[*place as usize] = u64::from(*value);
            sums[*place as usize * count + topic] = u64::from(*value);
        }
        for (document, distance) in documents.iter().zip(&mut distances) {
            let product = |(place, value): &(WordPlace, u32)| {
                u64::from(*value) * drawn_vector[*place as usize]
            };
            let cosine = document.iter().map(product).sum::<u64>() / DOCUMENT_UNIT;
            *distance = (*distance).min(DOCUMENT_UNIT.saturating_sub(cosine));
        }
    }
    sums
}

/// Draws a position with a probability proportional to its distance.
fn draw(distances: &[u64], random: &mut SplitMix64) -> usize {
    let mut remaining = random.below(distances.iter().sum::<u64>().max(1));
    let beyond = |distance: &u64| match remaining.checked_sub(*distance) {
        Some(rest) => {
            remaining = rest;
            false
        }
        None => true,
    };
    distances.iter().position(beyond).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents of two vocabularies of ten words, and one without words.
    fn documents() -> (TopicVocabulary, Vec<Vec<WordPlace>>) {
        let mut random = SplitMix64::new(7);
        let mut documents: Vec<Vec<WordPlace>> = (0..60)
            .map(|document| {
                let first = if document % 3 == 0 { 10 } else { 0 };
                let mut words: Vec<_> = (0..6).map(|_| first + random.below(10) as u32).collect();
                words.sort_unstable();
                words.dedup();
                words
            })
            .collect();
        documents.push(Vec::new());
        let counts = (0..20).map(|word: u64| (word, 20));
        (TopicVocabulary::new(60, counts), documents)
    }

    #[test]
    fn disjoint_documents_form_two_topics() {
        let (vocabulary, documents) = documents();
        let topics = Topics::new(&vocabulary, &documents, 2);
        let mut scores = Vec::new();
        let mut of = |words: &[u32]| topics.of(&vocabulary.unit_vector(words), &mut scores);
        let topic = of(&documents[0]).unwrap();
        for (document, words) in documents[..60].iter().enumerate() {
            assert_eq!(of(words) == Some(topic), document % 3 == 0, "{document}");
        }
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn topic_count_is_limited_by_documents() {
        let (vocabulary, documents) = documents();
        assert_eq!(Topics::new(&vocabulary, &documents[58..], 5).count, 2);
        assert_eq!(Topics::new(&vocabulary, &documents[60..], 5), Topics::default());
        let empty = TopicVocabulary::default();
        assert_eq!(Topics::new(&empty, &[Vec::new()], 3).count, 0);
    }
}
