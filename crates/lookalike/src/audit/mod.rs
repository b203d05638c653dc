//! Measured recall: the share of the true neighbours of a random sample that a run found.
//! `docs/explanation/audit.md` explains the figures and why the interval is valid.
//!
//! ```text
//! collection  draw → sample  index, search (the collection again) → Neighbours
//!    Neighbours + report  judge → trials  interval, resample → Audit
//! ```
//!
//! The true neighbours come from an exact comparison of the sample with the whole collection,
//! without signatures, bands and buckets. Only the sample is in memory, regardless of the
//! collection's size.

pub mod divided;
mod draw;
mod error;
mod findings;
mod index;
mod interval;
mod judge;
mod neighbours;
mod outcome;
mod report;
mod resample;
mod search;
#[cfg(test)]
mod simulation;

pub use error::AuditError;
pub use findings::audit_findings;
pub use interval::{Interval, clopper_pearson, trials_for_width};
pub use judge::Judge;
pub use neighbours::Neighbours;
pub use outcome::{Audit, Figures, JudgedBy, SimilarityRange};
pub use report::{Report, pairs_file};

use crate::decisions::{Decisions, SeparatedPairs};
use crate::document_pass::{DocumentVisitor, each_document};
use crate::engine::FindError;
use crate::engine::prepare::shingles::ShingleCutter;
use crate::engine::workers::default_threads;
use crate::progress::{Progress, Stage, timed};
use crate::read::{Block, BlockNumber, Collection, Document, DocumentSink, SkippedItem};
use draw::{DocumentSample, IdHasher, Position, SampledDocument};

use lookalike_core::kernel::Kernel;
use lookalike_core::params::Params;
use search::{FoundNeighbours, SearchedSample, Searcher};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The default number of documents to draw.
pub const SAMPLE_DOCUMENTS: usize = 2_000;
/// The default confidence of intervals.
pub const CONFIDENCE: f64 = 0.95;

/// Options of an audit.
#[derive(Debug, Clone)]
pub struct AuditOptions {
    /// Documents to draw. Smaller collections are drawn completely.
    pub sample: NonZeroUsize,
    /// Random seed of the sample. Equal seeds draw the same documents.
    pub seed: u64,
    /// Confidence level of the intervals: above 0, below 1.
    pub confidence: f64,
    /// Threads to use. Their number does not change the figures.
    pub threads: NonZeroUsize,
    /// The inner loops to use. They do not change the figures.
    pub kernel: Kernel,
    /// Whether ids of records found in folders begin with the name of their file, as in the run.
    pub ids_by_file: bool,
    /// The user decisions that applied to the run. Pairs that a decision declares different do not
    /// count as neighbours. Pairs also do not count if each of the two documents is kept by a
    /// decision or part of the reference collection.
    pub decisions: Option<Arc<Decisions>>,
}

impl Default for AuditOptions {
    /// The defaults: 2,000 documents, seed 1, 95 %, all processors, the fastest kernel, unchanged
    /// ids.
    fn default() -> Self {
        Self {
            sample: NonZeroUsize::new(SAMPLE_DOCUMENTS).unwrap_or(NonZeroUsize::MIN),
            seed: 1,
            confidence: CONFIDENCE,
            threads: default_threads(),
            kernel: Kernel::best(),
            ids_by_file: false,
            decisions: None,
        }
    }
}

/// Draws documents and finds all their true neighbours: the other documents whose exact similarity
/// reaches the threshold. Equal documents are neighbours, but a document is not its own neighbour.
/// Empty documents have no neighbours and are not drawn. Two documents of a reference collection
/// are never neighbours, since a run does not compare them. Only the rule, the measure and the
/// threshold of `params` apply.
///
/// `open` opens the collection. It is called twice and must return the same documents, which
/// excludes standard input. Takes two passes, of which the first skips most texts. The time for
/// 2,000 of a million documents is about the time of a run. Memory holds the shingle sets of the
/// sample, about 16 bytes per shingle, and [some neighbours](Neighbours).
///
/// # Errors
/// Errors of reading, and [`AuditError`]: a confidence out of range, or input that changes between
/// the passes.
pub fn true_neighbours<E: Into<AuditError>>(
    open: impl Fn() -> Result<Collection, E>,
    params: &Params,
    options: &AuditOptions,
    progress: &dyn Progress,
) -> Result<Neighbours, AuditError> {
    check_confidence(options.confidence)?;
    let open = || -> Result<Collection, AuditError> {
        let collection = open().map_err(Into::into)?;
        if options.ids_by_file {
            collection.name_ids_by_file();
        }
        Ok(collection)
    };
    let hasher = IdHasher::new(options.seed);
    let collection = open()?;
    let (drawn, draw_time) = timed(progress, Stage::Draw, collection.bytes(), || {
        draw(&collection, params, hasher, options, progress)
    });
    let (sample, documents) = drawn?;
    let collection = open()?;
    let (result, search_time) = timed(progress, Stage::Search, collection.bytes(), || {
        let mut searched = SearchedSample::new(params, hasher, sample, documents, progress)?;
        if let Some(decisions) = &options.decisions {
            searched.separated = SeparatedPairs::new(decisions);
        }
        let found = search(&collection, &searched, options, progress)?;
        Ok::<_, AuditError>((searched, found))
    });
    let (searched, found) = result?;
    let times = vec![(Stage::Draw, draw_time), (Stage::Search, search_time)];
    let neighbours = searched.neighbours(&found, documents, (options.seed, options.confidence))?;
    Ok(Neighbours { times, ..neighbours })
}

/// Refuses a confidence out of range.
fn check_confidence(confidence: f64) -> Result<(), AuditError> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(());
    }
    Err(AuditError::Confidence { got: confidence })
}

/// Runs the first pass. Returns the sample, and the number of documents.
fn draw(
    collection: &Collection,
    params: &Params,
    hasher: IdHasher,
    options: &AuditOptions,
    progress: &dyn Progress,
) -> Result<(DocumentSample, u64), AuditError> {
    let most = options.sample.get();
    let drawers = each_document(collection, options.threads, progress, || Drawer {
        hasher,
        cutter: ShingleCutter::of_rule(params.shingle(), options.kernel),
        sample: DocumentSample::new(most),
        documents: 0,
        reference: false,
        position: (BlockNumber { source: 0, index: 0 }, 0),
    })?;
    let mut sample = DocumentSample::new(most);
    let mut documents = 0;
    for drawer in drawers {
        sample.merge(drawer.sample);
        documents += drawer.documents;
    }
    Ok((sample, documents))
}

/// The work of one thread of the first pass. A document is shingled only if its hash is among the
/// smallest so far. For a sample of n, this holds for about n·ln(N/n) of N documents.
struct Drawer {
    hasher: IdHasher,
    cutter: ShingleCutter,
    sample: DocumentSample,
    documents: u64,
    reference: bool,
    position: Position,
}

impl DocumentSink for Drawer {
    type Error = FindError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        let id = document.id;
        self.documents += 1;
        self.position.1 += 1;
        let id_hash = self.hasher.document(id);
        if !self.sample.wants(id_hash) {
            return Ok(());
        }
        let mut set = Vec::new();
        let fingerprint = self.cutter.set(document, &mut set);
        if !set.is_empty() {
            set.shrink_to_fit();
            let position = self.position;
            let reference = self.reference;
            let drawn = SampledDocument { position, fingerprint, reference, set };
            self.sample.insert(id_hash, id.to_owned(), drawn);
        }
        Ok(())
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), FindError> {
        Ok(())
    }
}

impl DocumentVisitor for Drawer {
    fn block(&mut self, block: &Block, reference: bool) {
        self.position = (block.number(), 0);
        self.reference = reference;
    }
}

/// Runs the second pass.
fn search(
    collection: &Collection,
    searched: &SearchedSample,
    options: &AuditOptions,
    progress: &dyn Progress,
) -> Result<FoundNeighbours, AuditError> {
    let mut all = each_document(collection, options.threads, progress, || {
        Searcher::new(searched, options.kernel, progress)
    })?
    .into_iter()
    .map(|searcher| searcher.found);
    let mut found = all.next().unwrap_or_else(|| FoundNeighbours::of(searched));
    for more in all {
        found.merge(more);
    }
    Ok(found)
}
