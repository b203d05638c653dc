//! The documents nearest to a document, whatever their similarity.
//!
//! ```text
//! compact signatures of all documents → numbers of equal bytes → levels, the greatest number first
//!   → records and sets of a level → exact comparison → the best so far → until no better is likely
//! ```
//!
//! Documents are compared in the order of their numbers of equal bytes. The search ends after a
//! level in one of two cases:
//!
//! - A document as similar as the last of the best would be in that level or an earlier one with a
//!   probability of at least [`CERTAINTY`].
//! - [`compared_at_most`] documents were compared.
//!
//! The result contains the probability that was reached.

use crate::backend::Snapshot;
use crate::entry::DocumentNumber;
use crate::error::IndexError;
use crate::query::compact::{CompactSignatures, SignatureChunk};
pub use crate::query::comparison::NearestRequest;
use crate::query::comparison::{
    CHUNK, MatchSimilarity, QueryBuffers, QueryDocument, QueryRequest, QueryResult, TopMatches,
    compare, read,
};
use crate::settings::{IndexSettings, StoredContent};
use lookalike_core::compact;
use lookalike_core::params::Measure;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The probability with which a document as similar as the last of the nearest is found, if the
/// limit on comparisons allows it.
pub const CERTAINTY: f64 = 0.999;

/// Maximum number of documents that are compared for the `count` nearest ones: 2,048 or four times
/// `count`, whichever is greater. Documents that a filter excludes do not count.
pub fn compared_at_most(count: NonZeroUsize) -> u64 {
    (count.get() as u64).saturating_mul(4).max(2_048)
}

/// Finds the nearest documents. Reads one byte for each value of every signature. Then reads the
/// records of documents in the order of their numbers of equal bytes, and compares at most
/// [`compared_at_most`] documents that meet the filters.
///
/// # Errors
/// [`IndexError::NearestMeasure`] for an index that finds containment, which signatures do not
/// estimate, and read errors.
pub(crate) fn nearest(
    snapshot: &mut dyn Snapshot,
    settings: &IndexSettings,
    document: &QueryDocument<'_>,
    request: &QueryRequest<'_>,
    (count, signatures): (NonZeroUsize, &CompactSignatures),
    buffers: &mut QueryBuffers,
) -> Result<QueryResult, IndexError> {
    if settings.measure() == Measure::Containment {
        let got = Measure::Containment;
        let expected = Measure::Jaccard;
        return Err(IndexError::NearestMeasure { got, expected });
    }
    let mut search = NearestSearch {
        settings,
        document,
        best: TopMatches::new(count.get()),
        left: compared_at_most(count),
        candidates: 0,
    };
    let mut predicted_recall = 1.0;
    if !document.signature.is_empty() {
        let chunks = signatures.of(snapshot, settings.num_hashes)?;
        let levels = SimilarityLevels::new(&chunks, document.signature);
        buffers.start(settings, document);
        predicted_recall = search.run(snapshot, request, &levels, buffers)?;
    }
    let matches = read(snapshot, search.best.sorted(), request.wanted)?;
    let found = matches.len() as u64;
    let candidates = search.candidates;
    let recall_caveat = settings.recall_caveat();
    Ok(QueryResult { matches, candidates, found, predicted_recall, recall_caveat })
}

/// All documents by their level, the number of equal bytes.
struct SimilarityLevels<'a> {
    chunks: &'a [Arc<SignatureChunk>],
    /// The number of equal bytes of each document, for all chunks in order.
    counts: Vec<u16>,
    /// The number of documents of each level.
    sizes: Vec<usize>,
}

impl<'a> SimilarityLevels<'a> {
    fn new(chunks: &'a [Arc<SignatureChunk>], signature: &[u32]) -> Self {
        let probe = compact::probe(signature);
        let mut counts = vec![0; chunks.iter().map(|chunk| chunk.numbers.len()).sum()];
        let mut rest = counts.as_mut_slice();
        for chunk in chunks {
            let (chunk_counts, after) = rest.split_at_mut(chunk.numbers.len());
            compact::count_equal(&probe, &chunk.rows, chunk_counts);
            rest = after;
        }
        let mut sizes = vec![0; signature.len() + 1];
        for count in &counts {
            sizes[usize::from(*count)] += 1;
        }
        Self { chunks, counts, sizes }
    }

    /// The documents of the levels in `least..end`, as an ascending list for each level.
    fn documents(&self, least: usize, end: usize) -> Vec<Vec<DocumentNumber>> {
        let mut lists: Vec<Vec<DocumentNumber>> =
            self.sizes[least..end].iter().map(|size| Vec::with_capacity(*size)).collect();
        let numbers = self.chunks.iter().flat_map(|chunk| &chunk.numbers);
        for (number, count) in numbers.zip(&self.counts) {
            if let Some(level) = usize::from(*count).checked_sub(least)
                && let Some(list) = lists.get_mut(level)
            {
                list.push(*number);
            }
        }
        lists
    }

    /// The start of the shortest range of levels before `end` with at least [`CHUNK`] documents; 0
    /// if there are fewer.
    fn least_before(&self, end: usize) -> usize {
        let mut least = end;
        let mut documents = 0;
        while least > 0 && documents < CHUNK {
            least -= 1;
            documents += self.sizes[least];
        }
        least
    }
}

/// The state of a search.
struct NearestSearch<'a> {
    settings: &'a IndexSettings,
    document: &'a QueryDocument<'a>,
    best: TopMatches,
    /// The number of comparisons that remain.
    left: u64,
    candidates: u64,
}

impl NearestSearch<'_> {
    /// Compares levels until the search ends. Returns the probability that a document as similar as
    /// the last of the best was compared.
    fn run(
        &mut self,
        snapshot: &mut dyn Snapshot,
        request: &QueryRequest<'_>,
        levels: &SimilarityLevels<'_>,
        buffers: &mut QueryBuffers,
    ) -> Result<f64, IndexError> {
        let mut end = levels.sizes.len();
        while end > 0 {
            let least = levels.least_before(end);
            let lists = levels.documents(least, end);
            for (level, numbers) in (least..end).zip(lists).rev() {
                if !self.compare_level(snapshot, request, &numbers, buffers)? {
                    return Ok(self.recall_above(level));
                }
                let recall =
                    level.checked_sub(1).map_or(1.0, |next_level| self.recall_above(next_level));
                if self.best.is_full() && recall >= CERTAINTY {
                    return Ok(recall);
                }
            }
            end = least;
        }
        Ok(1.0)
    }

    /// Compares the documents of a level. Returns `false` if the limit on comparisons excluded
    /// some.
    fn compare_level(
        &mut self,
        snapshot: &mut dyn Snapshot,
        request: &QueryRequest<'_>,
        numbers: &[DocumentNumber],
        buffers: &mut QueryBuffers,
    ) -> Result<bool, IndexError> {
        let mut rest = numbers;
        while !rest.is_empty() {
            if self.left == 0 {
                return Ok(false);
            }
            let size = rest.len().min(CHUNK).min(usize::try_from(self.left).unwrap_or(CHUNK));
            let (chunk, after) = rest.split_at(size);
            let request = QueryRequest { threshold: self.best.threshold(), ..*request };
            let best = &mut self.best;
            let mut each = |candidate: &mut _, similarity| best.push(candidate, similarity);
            let counts = compare(
                snapshot,
                self.settings,
                chunk,
                self.document,
                &request,
                buffers,
                &mut each,
            )?;
            self.candidates += counts.candidates;
            self.left = self.left.saturating_sub(counts.compared);
            self.best.keep();
            rest = after;
        }
        Ok(true)
    }

    /// The probability that a document as similar as the last of the best has more equal bytes than
    /// the documents of a level.
    fn recall_above(&self, level: usize) -> f64 {
        let Some(last) = self.best.last() else { return 0.0 };
        let num_hashes = self.settings.num_hashes;
        match (last, self.settings.store) {
            // An estimate is never greater than the share of equal bytes.
            (MatchSimilarity::Estimated(value), StoredContent::Signatures) => {
                f64::from(u8::from(level as f64 / (num_hashes as f64) < value))
            }
            (similarity, _) => {
                compact::probability_of_more(Some(level), num_hashes, similarity.value())
            }
        }
    }
}
