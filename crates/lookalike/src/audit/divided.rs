//! The audit of documents that are divided over tasks. It does not depend on what starts the tasks.
//!
//! ```text
//! a share of the documents  draw_share → DrawnDocument       a task for each share
//! all drawn documents       AuditSample::new                 once, its rows to all tasks
//! a share of the documents  AuditSample::search_share → ShareNeighbours
//! all of them               merge, AuditSample::neighbours → Neighbours, to be judged as usual
//! ```
//!
//! The sample, neighbours and figures are the same as from one call of
//! [`true_neighbours`](super::true_neighbours) for all documents: the hashes of the ids determine
//! the sample, and the neighbours found in the shares are added. Ids must be unique within the
//! documents and within the reference collection.

use super::draw::{DocumentSample, IdHasher, SampledDocument};
use super::neighbours::Neighbours;
use super::search::{FoundNeighbours, SearchedSample, text_digest};
use super::{AuditOptions, check_confidence, search};
use crate::audit::error::AuditError;
use crate::digest::InputsDigest;
use crate::document_pass::{DocumentVisitor, each_document};
use crate::engine::FindError;
use crate::engine::prepare::shingles::ShingleCutter;
use crate::progress::Progress;
use crate::read::{Block, BlockNumber, Collection, Document, DocumentSink, SkippedItem};
use crate::shard::{BlockError, ShardBlock};
use lookalike_core::params::Params;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// A document that may be in the sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnDocument {
    /// Its id.
    pub id: String,
    /// Whether it is part of a reference collection.
    pub reference: bool,
    /// The fingerprint of its shingles.
    pub fingerprint: u128,
    /// Its shingles, ascending; never none.
    pub shingles: Vec<u64>,
}

/// A count and a digest of the documents that a divided run has read, from the run's identities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadTexts {
    /// The number of documents.
    pub documents: u64,
    /// The sum of the hashes of the documents' fingerprints.
    pub digest: u64,
}

impl ReadTexts {
    /// Adds the documents whose identities an encoded [`ShardBlock`] contains.
    ///
    /// # Errors
    /// Errors of [`ShardBlock::decode_into`].
    pub fn add(&mut self, block: &[u8]) -> Result<(), BlockError> {
        let mut rows = ShardBlock::default();
        rows.decode_into(block)?;
        for identity in &rows.identities {
            self.merge(Self { documents: 1, digest: text_digest(identity.check) });
        }
        Ok(())
    }

    /// Adds the counts of other documents.
    pub fn merge(&mut self, other: Self) {
        self.documents += other.documents;
        self.digest = self.digest.wrapping_add(other.digest);
    }
}

/// Returns the largest id hash of the documents to draw. `population` is the number of documents
/// with at least one token. Somewhat more than `sample` of them have a smaller hash. The
/// probability of fewer than `sample` is below 10⁻⁸. `attempt` is the number of earlier attempts
/// that drew too few; each makes the limit four times as large. `u64::MAX` draws all documents.
pub fn lot_limit(population: u64, sample: NonZeroUsize, attempt: u32) -> u64 {
    let sample = sample.get() as f64;
    // Six standard deviations above the sample.
    let expected = sample + 6.0 * sample.sqrt() + 20.0;
    // Powers of four, which are exact as floating-point numbers.
    let attempts = (0..attempt.min(64)).fold(1.0_f64, |factor, _| factor * 4.0);
    let share = expected / population as f64 * attempts;
    if share < 1.0 { (share * 4_294_967_296.0 * 4_294_967_296.0) as u64 } else { u64::MAX }
}

/// Draws the documents of a share whose hashes are at most `limit`, except those without a token.
/// Only their texts are shingled.
///
/// # Errors
/// Errors of reading.
pub fn draw_share(
    share: &Collection,
    params: &Params,
    options: &AuditOptions,
    limit: u64,
    progress: &dyn Progress,
) -> Result<Vec<DrawnDocument>, AuditError> {
    let hasher = IdHasher::new(options.seed);
    let drawers = each_document(share, options.threads, progress, || ShareDrawer {
        hasher,
        limit,
        cutter: ShingleCutter::of_rule(params.shingle(), options.kernel),
        reference: false,
        drawn: Vec::new(),
    })?;
    Ok(drawers.into_iter().flat_map(|drawer| drawer.drawn).collect())
}

/// The work of one thread of [`draw_share`].
struct ShareDrawer {
    hasher: IdHasher,
    limit: u64,
    cutter: ShingleCutter,
    reference: bool,
    drawn: Vec<DrawnDocument>,
}

impl DocumentSink for ShareDrawer {
    type Error = FindError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        if self.hasher.document(document.id) > self.limit {
            return Ok(());
        }
        let mut shingles = Vec::new();
        let fingerprint = self.cutter.set(document, &mut shingles);
        if !shingles.is_empty() {
            let id = document.id.to_owned();
            let reference = self.reference;
            self.drawn.push(DrawnDocument { id, reference, fingerprint, shingles });
        }
        Ok(())
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), FindError> {
        Ok(())
    }
}

impl DocumentVisitor for ShareDrawer {
    fn block(&mut self, _: &Block, reference: bool) {
        self.reference = reference;
    }
}

/// The sample drawn from all documents, ready to be compared with each share.
pub struct AuditSample {
    searched: SearchedSample,
    options: AuditOptions,
    documents: u64,
}

impl AuditSample {
    /// Creates the sample from the drawn documents, and drops the surplus ones. `documents` is the
    /// number of all documents, including those without a token.
    ///
    /// # Errors
    /// [`AuditError`] for a confidence out of range, for rows without ascending shingles, and for
    /// an interruption.
    pub fn new(
        params: &Params,
        options: &AuditOptions,
        documents: u64,
        drawn: impl IntoIterator<Item = DrawnDocument>,
        progress: &dyn Progress,
    ) -> Result<Self, AuditError> {
        check_confidence(options.confidence)?;
        let hasher = IdHasher::new(options.seed);
        let mut sample = DocumentSample::new(options.sample.get());
        for DrawnDocument { id, reference, fingerprint, shingles } in drawn {
            if shingles.is_empty() || !shingles.is_sorted() {
                let problem = format!("the drawn document {id:?} has no ascending shingles");
                return Err(AuditError::Share { problem });
            }
            // A document precedes a document of the reference collection with the same id.
            let block = BlockNumber { source: u32::from(reference), index: 0 };
            let document =
                SampledDocument { position: (block, 0), fingerprint, reference, set: shingles };
            sample.insert(hasher.document(&id), id, document);
        }
        let searched = SearchedSample::new(params, hasher, sample, documents, progress)?;
        Ok(Self { searched, options: options.clone(), documents })
    }

    /// Finds the neighbours of the sample in a share of the documents.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn search_share(
        &self,
        share: &Collection,
        progress: &dyn Progress,
    ) -> Result<ShareNeighbours, AuditError> {
        search(share, &self.searched, &self.options, progress).map(ShareNeighbours)
    }

    /// Returns a value without neighbours, to merge others into.
    pub fn nothing(&self) -> ShareNeighbours {
        ShareNeighbours(FoundNeighbours::of(&self.searched))
    }

    /// Reads the output of [`ShareNeighbours::to_json`] for the same sample.
    ///
    /// # Errors
    /// [`AuditError::Share`] for other content.
    pub fn share_of_json(&self, json: &str) -> Result<ShareNeighbours, AuditError> {
        let damaged = |problem: String| AuditError::Share { problem };
        let row: ShareRow = serde_json::from_str(json).map_err(|e| damaged(e.to_string()))?;
        let mut found = FoundNeighbours::of(&self.searched);
        found.inputs = row.inputs;
        found.texts = row.texts;
        found.population = row.population;
        for document in row.met {
            let met = found.met.get_mut(document as usize);
            *met.ok_or_else(|| damaged(format!("no document {document} was drawn")))? = true;
        }
        for RangeRow { document, range, count, kept } in row.neighbours {
            let tallies = found.sample.get_mut(document as usize);
            let tally = tallies.and_then(|each| each.bins.get_mut(range as usize));
            let tally = tally
                .ok_or_else(|| damaged(format!("no range {range} of {document} was drawn")))?;
            tally.count = count;
            for (id_hash, id) in &kept {
                tally.keep(*id_hash, id);
            }
        }
        Ok(ShareNeighbours(found))
    }

    /// Returns all neighbours of the sample. `found` must contain the neighbours of all shares.
    ///
    /// # Errors
    /// [`AuditError::Changed`] if the shares differ from the documents of the sample.
    pub fn neighbours(&self, found: &ShareNeighbours) -> Result<Neighbours, AuditError> {
        let AuditOptions { seed, confidence, .. } = self.options;
        self.searched.neighbours(&found.0, self.documents, (seed, confidence))
    }
}

/// The neighbours of a sample in some of the documents.
pub struct ShareNeighbours(FoundNeighbours);

impl ShareNeighbours {
    /// Adds the neighbours found in other documents.
    pub fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// The number of compared documents, and the number of these with at least one token.
    pub fn counts(&self) -> (u64, u64) {
        (self.0.inputs.documents, self.0.population)
    }

    /// The counts of the compared documents, to check against the counts of a run.
    pub fn texts(&self) -> ReadTexts {
        ReadTexts { documents: self.0.inputs.documents, digest: self.0.texts }
    }

    /// Encodes the found neighbours as JSON, specified in `docs/reference/stages.md`.
    pub fn to_json(&self) -> String {
        let found = &self.0;
        let numbered = (0u32..).zip(&found.sample);
        let neighbours = numbered.flat_map(|(document, each)| {
            let ranges = (0u32..).zip(&each.bins).filter(|(_, tally)| tally.count > 0);
            ranges.map(move |(range, tally)| {
                let kept = tally.kept.keys().map(|(id_hash, id)| (id_hash, id.clone())).collect();
                RangeRow { document, range, count: tally.count, kept }
            })
        });
        let met = (0u32..).zip(&found.met).filter(|(_, met)| **met);
        let row = ShareRow {
            inputs: found.inputs,
            texts: found.texts,
            population: found.population,
            met: met.map(|(document, _)| document).collect(),
            neighbours: neighbours.collect(),
        };
        serde_json::json!(row).to_string()
    }
}

/// The encoded form of [`ShareNeighbours`]. Documents have their numbers in the sample. Ranges of
/// similarity are numbered upwards from the threshold.
#[derive(Serialize, Deserialize)]
struct ShareRow {
    inputs: InputsDigest,
    texts: u64,
    population: u64,
    met: Vec<u32>,
    neighbours: Vec<RangeRow>,
}

#[derive(Serialize, Deserialize)]
struct RangeRow {
    document: u32,
    range: u32,
    count: u64,
    kept: Vec<(u64, String)>,
}
