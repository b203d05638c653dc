//! The audit of documents that are divided over tasks, whatever starts these.
//!
//! ```text
//! a share of the documents  draw_share → DrawnDocument       a task for each share
//! all drawn documents       AuditSample::new                 once, its rows to all tasks
//! a share of the documents  AuditSample::search_share → ShareNeighbours
//! all of them               merge, AuditSample::neighbours → Neighbours, to be judged as usual
//! ```
//!
//! Sample, neighbours and figures are those of [`true_neighbours`](super::true_neighbours) on all
//! documents at once: hashes of ids draw the sample, and what is found of it adds up. Ids must be
//! unique in the documents, and in the reference collection.

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

/// Documents that a divided run has read, by the rows that it keeps of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadTexts {
    /// How many.
    pub documents: u64,
    /// The sum of hashes of their fingerprints.
    pub digest: u64,
}

impl ReadTexts {
    /// Adds the identities of an encoded [`ShardBlock`].
    ///
    /// # Errors
    /// As [`ShardBlock::decode_into`].
    pub fn add(&mut self, block: &[u8]) -> Result<(), BlockError> {
        let mut rows = ShardBlock::default();
        rows.decode_into(block)?;
        for identity in &rows.identities {
            self.merge(Self { documents: 1, digest: text_digest(identity.check) });
        }
        Ok(())
    }

    /// Adds other documents.
    pub fn merge(&mut self, other: Self) {
        self.documents += other.documents;
        self.digest = self.digest.wrapping_add(other.digest);
    }
}

/// How small the hash of an id must be for its document to be drawn: so that of `population`
/// documents with a token about `sample` are, and fewer with a probability below 10⁻⁸. An
/// `attempt` after too few, from 1, draws more; the greatest limit draws all.
pub fn lot_limit(population: u64, sample: NonZeroUsize, attempt: u32) -> u64 {
    let sample = sample.get() as f64;
    // Six standard deviations above the sample.
    let wanted = sample + 6.0 * sample.sqrt() + 20.0;
    let share = wanted / population as f64 * 4f64.powf(f64::from(attempt));
    if share < 1.0 { (share * 2f64.powi(64)) as u64 } else { u64::MAX }
}

/// The documents of a share whose hashes are at most `limit`, those without a token left out. Only
/// their texts are made into shingles.
///
/// # Errors
/// What reading can fail with.
pub fn draw_share(
    share: &Collection,
    params: &Params,
    options: &AuditOptions,
    limit: u64,
    progress: &dyn Progress,
) -> Result<Vec<DrawnDocument>, AuditError> {
    let lots = IdHasher::new(options.seed);
    let drawers = each_document(share, options.threads, progress, || ShareDrawer {
        lots,
        limit,
        cutter: ShingleCutter::of_rule(params.shingle(), options.kernel),
        reference: false,
        drawn: Vec::new(),
    })?;
    Ok(drawers.into_iter().flat_map(|drawer| drawer.drawn).collect())
}

/// One thread of [`draw_share`].
struct ShareDrawer {
    lots: IdHasher,
    limit: u64,
    cutter: ShingleCutter,
    reference: bool,
    drawn: Vec<DrawnDocument>,
}

impl DocumentSink for ShareDrawer {
    type Error = FindError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        if self.lots.document(document.id) > self.limit {
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

/// The sample of all documents, ready to be searched for in shares of them.
pub struct AuditSample {
    searched: SearchedSample,
    options: AuditOptions,
    documents: u64,
}

impl AuditSample {
    /// The sample of what was drawn of all `documents`, those without a token included. Of what was
    /// drawn only the sample is kept.
    ///
    /// # Errors
    /// [`AuditError`] for a confidence out of range, and for rows that are no shingles; an
    /// interruption.
    pub fn new(
        params: &Params,
        options: &AuditOptions,
        documents: u64,
        drawn: impl IntoIterator<Item = DrawnDocument>,
        progress: &dyn Progress,
    ) -> Result<Self, AuditError> {
        check_confidence(options.confidence)?;
        let lots = IdHasher::new(options.seed);
        let mut sample = DocumentSample::new(options.sample.get());
        for DrawnDocument { id, reference, fingerprint, shingles } in drawn {
            if shingles.is_empty() || !shingles.is_sorted() {
                let problem = format!("the drawn document {id:?} has no ascending shingles");
                return Err(AuditError::Share { problem });
            }
            // A document precedes one of the reference collection with the same id.
            let block = BlockNumber { source: u32::from(reference), index: 0 };
            let document =
                SampledDocument { position: (block, 0), fingerprint, reference, set: shingles };
            sample.insert(lots.document(&id), id, document);
        }
        let searched = SearchedSample::new(params, lots, sample, documents, progress)?;
        Ok(Self { searched, options: options.clone(), documents })
    }

    /// The neighbours of the sample in a share of the documents.
    ///
    /// # Errors
    /// What reading can fail with.
    pub fn search_share(
        &self,
        share: &Collection,
        progress: &dyn Progress,
    ) -> Result<ShareNeighbours, AuditError> {
        search(share, &self.searched, &self.options, progress).map(ShareNeighbours)
    }

    /// No neighbours yet.
    pub fn nothing(&self) -> ShareNeighbours {
        ShareNeighbours(FoundNeighbours::of(&self.searched))
    }

    /// What [`ShareNeighbours::to_json`] gave for the same sample.
    ///
    /// # Errors
    /// [`AuditError::Share`] for what is not that.
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
            for (lot, id) in &kept {
                tally.keep(*lot, id);
            }
        }
        Ok(ShareNeighbours(found))
    }

    /// All neighbours of the sample, when `found` is those of all shares.
    ///
    /// # Errors
    /// [`AuditError::Changed`] when the shares are not the documents that were drawn from.
    pub fn neighbours(&self, found: &ShareNeighbours) -> Result<Neighbours, AuditError> {
        let AuditOptions { seed, confidence, .. } = self.options;
        self.searched.neighbours(&found.0, self.documents, (seed, confidence))
    }
}

/// The neighbours of a sample in some of the documents.
pub struct ShareNeighbours(FoundNeighbours);

impl ShareNeighbours {
    /// Adds those in other documents.
    pub fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// How many documents were compared, and how many of them have a token.
    pub fn counts(&self) -> (u64, u64) {
        (self.0.inputs.documents, self.0.population)
    }

    /// The documents that were compared, to be held against those of a run.
    pub fn texts(&self) -> ReadTexts {
        ReadTexts { documents: self.0.inputs.documents, digest: self.0.texts }
    }

    /// As JSON, which `docs/reference/stages.md` specifies; only what was found is in it.
    pub fn to_json(&self) -> String {
        let found = &self.0;
        let numbered = (0u32..).zip(&found.sample);
        let neighbours = numbered.flat_map(|(document, each)| {
            let ranges = (0u32..).zip(&each.bins).filter(|(_, tally)| tally.count > 0);
            ranges.map(move |(range, tally)| {
                let kept = tally.kept.keys().map(|(lot, id)| (lot, id.clone())).collect();
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

/// [`ShareNeighbours`] as it is written. Documents have their numbers in the sample, ranges of
/// similarity those from the threshold up.
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
