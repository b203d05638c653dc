//! Comparison of a document with candidates, for queries and for searches for the nearest
//! documents.

use crate::backend::Snapshot;
use crate::entry::{DocumentNumber, IndexRecord, RecordFields};
use crate::error::IndexError;
use crate::query::compact::CompactSignatures;
use crate::query::filter::MetadataFilter;
use crate::set;
use crate::settings::{IndexSettings, StoredContent};
use lookalike_core::params::{Measure, RecallCaveat};
use lookalike_core::verify::{self, Overlap};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::num::NonZeroUsize;

/// The document of a query, shingled and signed with the settings of the index.
#[derive(Debug, Clone, Copy)]
pub struct QueryDocument<'a> {
    /// Its shingle set, ascending, without repeats; empty for a document without shingles.
    pub set: &'a [u64],
    /// The fingerprint of its shingles.
    pub fingerprint: u128,
    /// Its signature; empty for a document without shingles.
    pub signature: &'a [u32],
}

/// A query.
#[derive(Debug, Clone, Copy)]
pub struct QueryRequest<'a> {
    /// Threshold: above 0, at most 1. Ignored in a search for the nearest.
    pub threshold: f64,
    /// Maximum number of matches; the most similar ones are kept. `None` returns all. Ignored in a
    /// search for the nearest.
    pub top: Option<usize>,
    /// Search for the most similar documents, with any similarity above 0.
    pub nearest: Option<NearestRequest<'a>>,
    /// Conditions on the metadata of matches.
    pub filters: &'a [MetadataFilter],
    /// The current time in ns since 1970; documents that expired before it do not match.
    pub now: i64,
    /// A document to exclude: the subject of the query.
    pub except: Option<DocumentNumber>,
    /// The fields of the records of matches.
    pub wanted: RecordFields,
}

/// A search for the nearest documents.
#[derive(Debug, Clone, Copy)]
pub struct NearestRequest<'a> {
    /// The number of documents.
    pub count: NonZeroUsize,
    /// The signatures of the index, which are searched; see
    /// [`Index::compact_signatures`](crate::Index::compact_signatures).
    pub signatures: &'a CompactSignatures,
}

/// The similarity of a match, and how it was computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MatchSimilarity {
    /// By exact comparison of shingle sets; the query document is on the left.
    Exact(Overlap),
    /// By exact comparison, as the containment of the shorter set in the longer one.
    Contained(Overlap),
    /// Estimated from signatures, from 0 to 1, if the index stores no sets.
    Estimated(f64),
}

impl MatchSimilarity {
    /// The similarity from 0 to 1.
    pub fn value(&self) -> f64 {
        match self {
            Self::Exact(overlap) => overlap.similarity(Measure::Jaccard),
            Self::Contained(overlap) => overlap.similarity(Measure::Containment),
            Self::Estimated(value) => *value,
        }
    }

    /// The similarity with six decimals, as in reports.
    pub fn six_decimals(&self) -> String {
        match self {
            Self::Exact(overlap) => overlap.six_decimals(),
            Self::Contained(overlap) => overlap.six_decimals_of(Measure::Containment),
            Self::Estimated(value) => format!("{value:.6}"),
        }
    }

    /// The overlap of both sets, if it is known.
    pub fn overlap(&self) -> Option<Overlap> {
        match self {
            Self::Exact(overlap) | Self::Contained(overlap) => Some(*overlap),
            Self::Estimated(_) => None,
        }
    }

    /// An exact similarity in this measure.
    pub fn of(overlap: Overlap, measure: Measure) -> Self {
        match measure {
            Measure::Jaccard => Self::Exact(overlap),
            Measure::Containment => Self::Contained(overlap),
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) => a.compare(b, Measure::Jaccard),
            (Self::Contained(a), Self::Contained(b)) => a.compare(b, Measure::Containment),
            (a, b) => a.value().total_cmp(&b.value()),
        }
    }
}

/// A document that is similar to the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The document.
    pub record: IndexRecord,
    /// Its similarity.
    pub similarity: MatchSimilarity,
}

/// The result of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryResult {
    /// Matches by descending similarity, then by id.
    pub matches: Vec<Match>,
    /// The number of candidates: documents that share a bucket key or, in a search for the nearest,
    /// documents that were compared.
    pub candidates: u64,
    /// The number of similar documents. Exceeds the length of `matches` if `top` limits them.
    pub found: u64,
    /// The probability of finding a document exactly at the threshold or, in a search for the
    /// nearest, a document as similar as the last match.
    pub predicted_recall: f64,
    /// A reason why `predicted_recall` may not be reached.
    pub recall_caveat: Option<RecallCaveat>,
}

/// Number of candidates that are compared together.
pub(crate) const CHUNK: usize = 1_024;

/// Maximum number of shingle sets whose similarity is cached for documents with equal sets, in
/// addition to one chunk.
const MAX_CACHED: usize = 1 << 14;

/// Buffers that a thread reuses between queries.
#[derive(Debug, Default)]
pub struct QueryBuffers {
    pub(crate) keys: Vec<u64>,
    pub(crate) numbers: Vec<DocumentNumber>,
    candidates: Vec<Candidate>,
    unread: Vec<DocumentNumber>,
    set: Vec<u64>,
    similarities: HashMap<u128, Option<MatchSimilarity>>,
}

/// A document that may be similar.
#[derive(Debug)]
pub(crate) struct Candidate {
    number: DocumentNumber,
    fingerprint: u128,
    id: String,
}

pub(crate) type MatchCallback<'a> = &'a mut dyn FnMut(&mut Candidate, MatchSimilarity);

/// Counts of a comparison.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ComparisonCounts {
    /// Existing documents.
    pub(crate) candidates: u64,
    /// Candidates that meet the filters.
    pub(crate) compared: u64,
}

impl QueryBuffers {
    /// Prepares the buffers for a document.
    pub(crate) fn start(&mut self, settings: &IndexSettings, document: &QueryDocument<'_>) {
        if settings.store != StoredContent::Signatures {
            let left = document.set.len() as u64;
            let same = Overlap { intersection: left, left, right: left };
            self.similarities.clear();
            let same = MatchSimilarity::of(same, settings.measure());
            self.similarities.insert(document.fingerprint, Some(same));
        }
    }
}

/// Passes the similar documents among `numbers` (ascending) to `each`.
///
/// # Errors
/// As for [`query`].
pub(crate) fn compare(
    snapshot: &mut dyn Snapshot,
    settings: &IndexSettings,
    numbers: &[DocumentNumber],
    document: &QueryDocument<'_>,
    request: &QueryRequest<'_>,
    buffers: &mut QueryBuffers,
    each: MatchCallback<'_>,
) -> Result<ComparisonCounts, IndexError> {
    match settings.store {
        StoredContent::Signatures => compare_signatures(snapshot, numbers, document, request, each),
        StoredContent::Sets | StoredContent::Texts | StoredContent::Originals => {
            compare_sets(snapshot, numbers, settings.measure(), document, request, buffers, each)
        }
    }
}

/// Passes the similar documents to `each`, compared by their signatures.
fn compare_signatures(
    snapshot: &mut dyn Snapshot,
    numbers: &[DocumentNumber],
    document: &QueryDocument<'_>,
    request: &QueryRequest<'_>,
    each: MatchCallback<'_>,
) -> Result<ComparisonCounts, IndexError> {
    let wanted = RecordFields { signature: true, ..request.filtered() };
    let mut counts = ComparisonCounts::default();
    snapshot.records(numbers, wanted, &mut |record| {
        counts.candidates += u64::from(request.is_candidate(record));
        if request.may_match(record) {
            counts.compared += 1;
            record.check_signature(document.signature.len())?;
            let estimate = verify::estimate(document.signature, &record.signature);
            if estimate >= request.threshold {
                each(&mut Candidate::of(record), MatchSimilarity::Estimated(estimate));
            }
        }
        Ok(())
    })?;
    Ok(counts)
}

/// Passes the similar documents to `each`, compared by their shingle sets.
fn compare_sets(
    snapshot: &mut dyn Snapshot,
    numbers: &[DocumentNumber],
    measure: Measure,
    document: &QueryDocument<'_>,
    request: &QueryRequest<'_>,
    buffers: &mut QueryBuffers,
    each: MatchCallback<'_>,
) -> Result<ComparisonCounts, IndexError> {
    let QueryBuffers { candidates, unread, set, similarities, .. } = buffers;
    let mut count = 0;
    candidates.clear();
    snapshot.records(numbers, request.filtered(), &mut |record| {
        count += u64::from(request.is_candidate(record));
        if request.may_match(record) {
            candidates.push(Candidate::of(record));
        }
        Ok(())
    })?;
    if similarities.len() > MAX_CACHED {
        similarities.retain(|fingerprint, _| *fingerprint == document.fingerprint);
    }
    unread.clear();
    for candidate in &*candidates {
        // Compared below, with the set of the first document that has this fingerprint.
        similarities.entry(candidate.fingerprint).or_insert_with(|| {
            unread.push(candidate.number);
            None
        });
    }
    let counts = ComparisonCounts { candidates: count, compared: candidates.len() as u64 };
    let mut read = candidates.iter();
    snapshot.sets(unread, &mut |number, code| {
        let candidate = read.find(|candidate| candidate.number == number);
        if let Some(candidate) = candidate {
            let similarity = compared(document, code, measure, request.threshold, set)?;
            similarities.insert(candidate.fingerprint, similarity);
        }
        Ok(())
    })?;
    for candidate in candidates {
        if let Some(Some(similarity)) = similarities.get(&candidate.fingerprint) {
            each(candidate, *similarity);
        }
    }
    Ok(counts)
}

impl QueryRequest<'_> {
    /// The fields that the filters need.
    fn filtered(&self) -> RecordFields {
        RecordFields { metadata: !self.filters.is_empty(), ..RecordFields::default() }
    }

    /// Returns true if a document counts as a candidate.
    fn is_candidate(&self, record: &IndexRecord) -> bool {
        !record.is_expired(self.now) && self.except != Some(record.number)
    }

    /// Returns true if a document may be a match.
    fn may_match(&self, record: &IndexRecord) -> bool {
        self.is_candidate(record)
            && self.filters.iter().all(|filter| filter.matches(&record.metadata))
    }
}

impl Candidate {
    fn of(record: &IndexRecord) -> Self {
        Self { number: record.number, fingerprint: record.fingerprint, id: record.id.clone() }
    }
}

/// A document that is similar enough. More similar documents may replace it.
pub(crate) struct ScoredCandidate {
    number: DocumentNumber,
    id: String,
    similarity: MatchSimilarity,
}

/// The most similar documents so far. Takes O(`most`) memory.
pub(crate) struct TopMatches {
    most: usize,
    similar: Vec<ScoredCandidate>,
}

impl TopMatches {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, similar: Vec::new() }
    }

    /// Returns true if it contains the requested number of documents.
    pub(crate) fn is_full(&self) -> bool {
        self.similar.len() >= self.most
    }

    /// The similarity of the least similar document, after [`keep`](Self::keep).
    pub(crate) fn last(&self) -> Option<MatchSimilarity> {
        self.similar.get(..self.most.min(self.similar.len()))?.last().map(|one| one.similarity)
    }

    /// The similarity that another document must reach to be one of the best, after
    /// [`keep`](Self::keep). Slightly less than the similarity of the last of them, so that
    /// rounding excludes no document. Above 0.
    pub(crate) fn threshold(&self) -> f64 {
        let last = self.last().filter(|_| self.is_full());
        last.map_or(f64::MIN_POSITIVE, |last| last.value() * (1.0 - 1e-9))
    }

    pub(crate) fn push(&mut self, candidate: &mut Candidate, similarity: MatchSimilarity) {
        let id = std::mem::take(&mut candidate.id);
        self.similar.push(ScoredCandidate { number: candidate.number, id, similarity });
        // Sort rarely: collect somewhat more than twice the requested number first.
        if self.similar.len() > self.most.saturating_mul(2).saturating_add(64) {
            self.keep();
        }
    }

    pub(crate) fn keep(&mut self) {
        self.similar
            .sort_by(|a, b| b.similarity.compare(&a.similarity).then_with(|| a.id.cmp(&b.id)));
        self.similar.truncate(self.most);
    }

    pub(crate) fn sorted(mut self) -> Vec<ScoredCandidate> {
        self.keep();
        self.similar
    }
}

/// The records of matches.
pub(crate) fn read(
    snapshot: &mut dyn Snapshot,
    similar: Vec<ScoredCandidate>,
    wanted: RecordFields,
) -> Result<Vec<Match>, IndexError> {
    let mut numbers: Vec<DocumentNumber> = similar.iter().map(|one| one.number).collect();
    numbers.sort_unstable();
    let mut records = HashMap::with_capacity(numbers.len());
    if !numbers.is_empty() {
        snapshot.records(&numbers, wanted, &mut |record| {
            records.insert(record.number, record.clone());
            Ok(())
        })?;
    }
    let one = |ScoredCandidate { number, id, similarity }| {
        let record = records.remove(&number).ok_or_else(|| {
            let why = "its row disappeared within one snapshot";
            IndexError::damaged_document(&id, why)
        })?;
        Ok(Match { record, similarity })
    };
    similar.into_iter().map(one).collect()
}

/// The similarity of the document with this encoded set, if it reaches the threshold.
fn compared(
    document: &QueryDocument<'_>,
    code: &[u8],
    measure: Measure,
    threshold: f64,
    set: &mut Vec<u64>,
) -> Result<Option<MatchSimilarity>, IndexError> {
    let left = document.set.len() as u64;
    // The similarity is highest if one of the sets is a subset of the other.
    let right = set::len(code)? as u64;
    let best = Overlap { intersection: left.min(right), left, right };
    if !best.reaches(measure, threshold) {
        return Ok(None);
    }
    set::decode(code, set)?;
    let overlap = verify::overlap_at_least(document.set, set, measure, threshold);
    Ok(overlap.map(|overlap| MatchSimilarity::of(overlap, measure)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_matches_keep_the_best() {
        let (most, mut best) = (5, TopMatches::new(5));
        let mut all = Vec::new();
        for number in 0..10_000u64 {
            let value = (number * 7919 % 1000) as f64 / 1000.0;
            let mut candidate = Candidate {
                number: DocumentNumber(number),
                id: format!("{number:05}"),
                fingerprint: 0,
            };
            best.push(&mut candidate, MatchSimilarity::Estimated(value));
            assert!(best.similar.len() <= 2 * most + 64);
            all.push((value, number));
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let kept: Vec<u64> = best.sorted().iter().map(|one| one.number.0).collect();
        let expected: Vec<u64> = all[..most].iter().map(|one| one.1).collect();
        assert_eq!(kept, expected);
    }
}
