//! The stages of a run, one after the other.

use crate::engine::checkpoint::Checkpoint;
use crate::engine::collect::findings::{self, Findings};
use crate::engine::collect::results::ResultCollector;
use crate::engine::decide::batch::{ComponentBatch, ComponentLinks, Links};
use crate::engine::decide::decide_batch::decide_batch;
use crate::engine::decide::estimates;
use crate::engine::error::FindError;
use crate::engine::link::bucket_lists::BucketLists;
use crate::engine::link::document_values::DocumentParts;
use crate::engine::link::exact_candidates::ExactCandidates;
use crate::engine::link::excluded_documents::{ExcludedDocuments, exclude};
use crate::engine::link::judged_documents::{DecisionCounts, JudgedDocuments};
use crate::engine::link::{bucket, identity};
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::prepare::block_preparation::BlockPreparation;
use crate::engine::prepare::documents::RunDocuments;
use crate::engine::prepare::keep_keys::{IdleRules, KeepKeyMaker};
use crate::engine::prepare::limited_reading::LimitedReading;
use crate::engine::prepare::long_records::{LongRecords, RecordCost};
use crate::engine::prepare::shingle_log::{DocumentShingles, ShingleLog};
use crate::progress::{Progress, Stage, timed};
use crate::read::{Collection, ReadError, Spool};
use crate::spill::{SpillError, TempSpace};
use lookalike_core::params::Measure;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a word and its separator, on average. The number of shingles of an input is unknown
/// before it is read.
const AVERAGE_WORD_BYTES: u64 = 6;
/// The expected bytes of an input of unknown length.
const UNKNOWN_BYTES: u64 = 1 << 30;
/// Bytes added to a record before its least memory is computed, because the limit on one record is
/// rounded.
const BLOCK_ROUNDING: u64 = 16;

/// Finds the near-duplicates of an open collection; cost and errors are documented at
/// [`find::in_collection`](crate::find::in_collection).
pub(crate) fn run(
    collection: &Collection,
    options: &FindOptions,
    progress: &dyn Progress,
) -> Result<Findings, FindError> {
    estimates::check(options)?;
    options.check_decisions()?;
    let cost = RecordCost::of_shingles(collection, &options.params);
    let budget = Budget::open(&options.memory, options.threads.get())?;
    let held_bytes = collection.held_bytes() + options.held_bytes();
    let budget = budget.with_params(&options.params).with_unit(collection.unit());
    let budget = budget.next_to(0, 0, held_bytes);
    let mut limited = LimitedReading { collection, options, cost, budget, progress };
    limited.check()?;
    let (checkpoint, temp) = Checkpoint::open(collection, options, None, progress)?;
    limited.begin(checkpoint.is_active());
    let mut run = FindRun::new(collection, options, progress, &checkpoint, temp);
    let linked = loop {
        let ((documents, shingles), budget) = limited.read(|budget, records| {
            run.times.clear();
            run.prepare(budget, records)
        })?;
        if let Some(linked) = run.link(documents, shingles, budget)? {
            break linked;
        }
        // Records of two files have the same id. They are read again with ids that begin with the
        // file.
        collection.name_ids_by_file();
        collection.rewind();
    };
    let idle = std::mem::take(&mut run.idle);
    let mut findings = run.decide(linked)?;
    findings.note_inputs(collection, idle);
    findings.set_unit(collection.unit());
    Ok(findings)
}

/// Verifies and groups documents that were read before. Each text must still exist at its original
/// place.
pub(crate) fn decide_documents(
    collection: &Collection,
    options: &FindOptions,
    documents: RunDocuments,
    temp: Arc<TempSpace>,
    progress: &dyn Progress,
) -> Result<Findings, FindError> {
    let budget = Budget::new(&options.memory, options.threads.get())?.with_params(&options.params);
    let checkpoint = Checkpoint::default();
    let mut run = FindRun::new(collection, options, progress, &checkpoint, temp);
    let log = options.params.exact().then(|| {
        let bytes: u64 = documents.sources.iter().map(|source| source.bytes).sum();
        ShingleLog::new(&run.temp, &budget, bytes / AVERAGE_WORD_BYTES)
    });
    if let Some(log) = &log {
        documents.log_again(options, log)?;
    }
    let shingles = log.map(|log| log.finish(&documents)).transpose()?;
    let linked = run.link(documents, shingles, budget)?;
    // Repeated ids cannot occur here, because they were refused before the run was divided.
    run.decide(linked.ok_or_else(|| SpillError::altered("the ids of records"))?)
}

/// The state of a run.
struct FindRun<'a> {
    collection: &'a Collection,
    options: &'a FindOptions,
    progress: &'a dyn Progress,
    checkpoint: &'a Checkpoint,
    temp: Arc<TempSpace>,
    times: Vec<(Stage, Duration)>,
    /// Rules of the keep policy that did not order any documents.
    idle: IdleRules,
}

/// The documents of a run, and the buckets that connect them.
struct LinkedDocuments {
    documents: RunDocuments,
    links: Links,
    excluded: ExcludedDocuments,
    budget: Budget,
    decisions: Option<DecisionCounts>,
}

impl<'a> FindRun<'a> {
    fn new(
        collection: &'a Collection,
        options: &'a FindOptions,
        progress: &'a dyn Progress,
        checkpoint: &'a Checkpoint,
        temp: Arc<TempSpace>,
    ) -> Self {
        let times = Vec::new();
        let idle = IdleRules::default();
        Self { collection, options, progress, checkpoint, temp, times, idle }
    }

    /// Reads all documents, and logs their shingles for an exact run.
    fn prepare(
        &mut self,
        budget: &Budget,
        records: Option<&LongRecords>,
    ) -> Result<(RunDocuments, Option<DocumentShingles>), FindError> {
        let Self { collection, options, progress, checkpoint, .. } = *self;
        let temp = Arc::clone(&self.temp);
        let log = options.params.exact().then(|| {
            let bytes = collection.bytes().unwrap_or(UNKNOWN_BYTES);
            ShingleLog::new(&temp, budget, bytes / AVERAGE_WORD_BYTES)
        });
        let rules = KeepKeyMaker::new(options)?;
        let documents = self.timed(Stage::Prepare, collection.bytes(), || {
            let spool = spool(budget, &temp, checkpoint)?;
            let preparation = BlockPreparation {
                collection,
                options,
                budget,
                temp: &temp,
                spool: spool.as_ref(),
                shingles: log.as_ref(),
                anchors: None,
                rules: &rules,
                records,
                checkpoint,
            };
            RunDocuments::new(preparation.run(progress)?, collection.listed())
        });
        let documents = documents.map_err(|error| changed_instead(collection, error))?;
        // If an earlier run has read documents, the idle rules are unknown.
        if checkpoint.completed.chunks.is_empty() && documents.len() > 0 {
            self.idle = rules.idle_rules();
        }
        // A resumed run whose buckets are complete has not read the documents again.
        let log = log.filter(|_| !checkpoint.completed.prepared);
        let shingles = log.map(|log| log.finish(&documents)).transpose()?;
        Ok((documents, shingles))
    }

    /// Finds repeated ids, equal documents and shared buckets. Returns `None` if records of two
    /// files of a folder have the same id and can be read again with different ids.
    fn link(
        &mut self,
        mut documents: RunDocuments,
        shingles: Option<DocumentShingles>,
        budget: Budget,
    ) -> Result<Option<LinkedDocuments>, FindError> {
        let Self { collection, options, progress, checkpoint, .. } = *self;
        let temp = Arc::clone(&self.temp);
        let len = documents.len();
        let blocks = documents.store.blocks.len();
        let budget = budget.next_to(0, 0, documents.sources_held);
        let budget = budget.with_documents(len, blocks, documents.store.held_bytes())?;
        let directed = options.params.exact();
        let passes = if options.params.measure() == Measure::Containment { 2 } else { 1 };
        let total = if options.params.exact() { len * passes } else { options.params.bands() };
        self.timed(Stage::Bucket, Some(total as u64), || {
            let can_reread = !checkpoint.is_active();
            let excluded = exclude(collection, options, &mut documents, &budget, can_reread)?;
            let Some(excluded) = excluded else { return Ok(None) };
            let (judged, decisions) = match &options.decisions {
                Some(decisions) => {
                    let (judged, counts) = JudgedDocuments::new(decisions, &documents)?;
                    (judged, Some(counts))
                }
                None => (JudgedDocuments::default(), None),
            };
            let mut equal = BucketLists::of_equal(&temp, &budget);
            // If the keepers are given, copies have keepers of their own.
            if !options.keepers.is_given() {
                identity::equal_documents(&mut documents, &judged, &budget, &mut equal)?;
            }
            let mut shared = BucketLists::of_buckets(&temp, &budget, checkpoint)?;
            if let Some(shingles) = shingles {
                let exact = ExactCandidates {
                    documents: &documents,
                    groups: DocumentParts::new(documents.len()),
                    shingles: &shingles,
                    options,
                    budget: &budget,
                    temp: &temp,
                };
                exact.buckets(&mut shared, progress)?;
                shared.end_band(0, checkpoint)?;
            } else if !options.params.exact() {
                let shared = &mut shared;
                bucket::band_buckets(&documents, options, &budget, shared, checkpoint, progress)?;
            }
            judged.add_buckets(&mut shared, directed)?;
            let links = Links { equal, shared, directed, judged };
            Ok(Some(LinkedDocuments { documents, links, excluded, budget, decisions }))
        })
    }

    /// Verifies and groups all components.
    fn decide(mut self, linked: LinkedDocuments) -> Result<Findings, FindError> {
        let Self { collection, options, progress, checkpoint, .. } = self;
        let temp = Arc::clone(&self.temp);
        let LinkedDocuments { mut documents, links, excluded, budget, decisions } = linked;
        documents.store.drop_columns();
        let mut connected = ComponentLinks::new(documents.len(), &links)?;
        let found = self.timed(Stage::Decide, Some(connected.documents()), || {
            let sources = documents.sources.len();
            let reference = collection.has_reference();
            let mut results =
                ResultCollector::new(options, reference, &budget, &temp, checkpoint, sources)?;
            for roots in results.remaining(connected.plan(&links, &budget)?) {
                let batch = ComponentBatch::load(&documents, &links, &mut connected, &roots)?;
                let decided = decide_batch(&documents, &batch, options, &budget, progress)?;
                results.add(roots, &documents, &batch, &decided)?;
            }
            results.finish(connected.sharing)
        })?;
        collection.check_unchanged()?;
        let found = findings::findings(documents, found, excluded, &budget, self.times, temp)?;
        Ok(Findings { decisions, ..found })
    }

    /// Runs a stage and reports its beginning and its end.
    fn timed<T>(
        &mut self,
        stage: Stage,
        total: Option<u64>,
        work: impl FnOnce() -> Result<T, FindError>,
    ) -> Result<T, FindError> {
        let (result, elapsed) = timed(self.progress, stage, total, work);
        self.times.push((stage, elapsed));
        result
    }
}

/// Returns the cause of an error of reading, or the error itself. If a record is too long for the
/// memory, the cause is the limit on memory; for other errors see [`changed_instead`].
pub(crate) fn explained(collection: &Collection, budget: &Budget, error: FindError) -> FindError {
    match &error {
        FindError::Read(ReadError::OverMemory { size, .. }) => {
            let refused = budget.block(size.bytes.saturating_add(BLOCK_ROUNDING)).err();
            refused.unwrap_or(error)
        }
        _ => changed_instead(collection, error),
    }
}

/// Returns the error, or an error about a changed input, because an input that changes while it is
/// read can appear to have bad records.
pub(crate) fn changed_instead(collection: &Collection, error: FindError) -> FindError {
    match &error {
        FindError::Read(ReadError::BadRecord(_) | ReadError::Io { .. }) => {
            collection.check_unchanged().err().map_or(error, FindError::from)
        }
        _ => error,
    }
}

/// Creates a file for the texts that cannot be read again, if memory is limited or the run can be
/// resumed.
pub(crate) fn spool(
    budget: &Budget,
    temp: &TempSpace,
    checkpoint: &Checkpoint,
) -> Result<Option<Arc<Spool>>, FindError> {
    if !budget.is_limited() && !checkpoint.is_active() {
        return Ok(None);
    }
    let length = checkpoint.completed.chunks.iter().map(|step| step.texts).max().unwrap_or(0);
    Ok(Some(Arc::new(temp.spool("texts", length)?)))
}
