//! Queries, which find the candidates of a document and verify them.

pub mod compact;
mod comparison;
pub mod containment;
pub mod filter;
pub mod nearest;
pub mod query_by_id;

use crate::backend::{Snapshot, bucket_keys};
use crate::error::IndexError;
use crate::query::comparison::{CHUNK, Candidate, TopMatches, compare, read};
pub use crate::query::comparison::{
    Match, MatchSimilarity, NearestRequest, QueryBuffers, QueryDocument, QueryRequest, QueryResult,
};
use crate::query::nearest::nearest;
use crate::settings::{ContainmentSettings, IndexSettings};

/// Finds the documents similar to a document. For the nearest documents, see [`nearest`].
///
/// Takes one look-up per band, reads the row of every candidate, and compares every distinct
/// shingle set whose size allows a match. Only the records of the `top` most similar documents are
/// read.
///
/// # Errors
/// [`IndexError::Params`] for a threshold out of range, [`IndexError::Damaged`] for a stored set
/// that is invalid, and read errors.
pub fn query(
    snapshot: &mut dyn Snapshot,
    settings: &IndexSettings,
    document: &QueryDocument<'_>,
    request: &QueryRequest<'_>,
    buffers: &mut QueryBuffers,
) -> Result<QueryResult, IndexError> {
    if let Some(NearestRequest { count, signatures }) = request.nearest {
        return nearest(snapshot, settings, document, request, (count, signatures), buffers);
    }
    let threshold = request.threshold;
    if !(threshold > 0.0 && threshold <= 1.0) {
        return Err(lookalike_core::error::ParamsError::Threshold { got: threshold }.into());
    }
    match settings.containment {
        None => bucket_keys(settings, document.signature, &mut buffers.keys),
        Some(ContainmentSettings { anchors }) => {
            containment::query_keys(anchors, document.set, &mut buffers.keys);
        }
    }
    let mut numbers = std::mem::take(&mut buffers.numbers);
    snapshot.candidates(&buffers.keys, &mut numbers)?;
    buffers.start(settings, document);
    let mut candidates = 0;
    let mut found = 0;
    let mut best = TopMatches::new(request.top.unwrap_or(usize::MAX));
    for chunk in numbers.chunks(CHUNK) {
        let mut similar = |candidate: &mut Candidate, similarity| {
            found += 1;
            best.push(candidate, similarity);
        };
        candidates += compare(snapshot, settings, chunk, document, request, buffers, &mut similar)?
            .candidates;
    }
    buffers.numbers = numbers;
    let matches = read(snapshot, best.sorted(), request.wanted)?;
    let predicted_recall = settings.predicted_recall(threshold);
    let recall_caveat = settings.recall_caveat();
    Ok(QueryResult { matches, candidates, found, predicted_recall, recall_caveat })
}
