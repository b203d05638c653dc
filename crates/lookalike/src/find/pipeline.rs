//! The stages of a run, one after the other.

use crate::error::Error;
use crate::find::batch::{ComponentBatch, ComponentLinks, Links};
use crate::find::bucket_lists::BucketLists;
use crate::find::checkpoint::Checkpoint;
use crate::find::documents::RunDocuments;
use crate::find::exact_candidates::ExactCandidates;
use crate::find::few_results::better_setting_of;
use crate::find::findings::{self, Findings};
use crate::find::keep_keys::KeepRules;
use crate::find::memory::Budget;
use crate::find::options::FindOptions;
use crate::find::prepare::BlockPreparation;
use crate::find::results::{ResultCollector, RunResults};
use crate::find::shingle_counts::ShingleCounts;
use crate::find::{bucket, decide, estimates, identity};
use crate::progress::{NoProgress, Progress, Stage};
use crate::read::{Collection, ReadError, ReadOptions, Spool};
use crate::spill::TempSpace;
use lookalike_core::params::Measure;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rounding of the limit on one record when the least memory for it is computed.
const BLOCK_ROUNDING: u64 = 16;

/// Finds the near-duplicates among files and folders, read with the defaults of [`ReadOptions`].
///
/// ```
/// use lookalike::core::params::{Params, ParamsBuilder};
/// use lookalike::find::FindOptions;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().to_owned();
/// std::fs::write(folder.join("draft.txt"), "the report of the first quarter in six words")?;
/// std::fs::write(folder.join("copy.txt"), "The report of the first quarter, in six words.")?;
///
/// let options = FindOptions::new(Params::new(&ParamsBuilder::default())?);
/// let findings = lookalike::find(&[folder], &options)?;
/// for group in findings.groups.iter() {
///     let group = group?;
///     assert_eq!(group.keeper.id, "copy.txt");
///     assert_eq!(group.duplicates[0].id, "draft.txt");
/// }
/// assert_eq!(findings.counts.duplicates, 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`in_collection`], and those of [`Collection::open`].
pub fn find(inputs: &[PathBuf], options: &FindOptions) -> Result<Findings, Error> {
    let read = ReadOptions { fields: options.fields(), ..ReadOptions::default() };
    in_collection(&Collection::open(inputs, &read)?, options, &NoProgress)
}

/// Finds the near-duplicates of an open collection.
///
/// Cost: one pass over the input at some 600 MB per second and core, then a second reading of the
/// documents that share a bucket. Memory: about `8 · bands + 130` bytes per document, and
/// the text of inputs that cannot be read twice (compressed ones and standard input).
///
/// # Errors
/// What [`Error`] lists: unreadable input, ids that repeat, input that changes meanwhile.
pub fn in_collection(
    collection: &Collection,
    options: &FindOptions,
    progress: &dyn Progress,
) -> Result<Findings, Error> {
    let mut run =
        FindRun { collection, options, progress, times: Vec::new(), missing_fields: Vec::new() };
    run.find()
}

/// The documents of a run, and the buckets that connect them.
struct LinkedDocuments<'t> {
    documents: RunDocuments,
    links: Links<'t>,
    left_out: usize,
    budget: Budget,
}

/// The state of a run.
struct FindRun<'a> {
    collection: &'a Collection,
    options: &'a FindOptions,
    progress: &'a dyn Progress,
    times: Vec<(Stage, Duration)>,
    /// Fields of the keep policy that no document has.
    missing_fields: Vec<String>,
}

impl FindRun<'_> {
    fn find(&mut self) -> Result<Findings, Error> {
        let (collection, options) = (self.collection, self.options);
        estimates::check(options)?;
        let budget = Budget::new(&options.memory, options.threads.get())?;
        if let Some(bytes) = budget.longest_record() {
            collection.limit_records(bytes);
        }
        let (checkpoint, temp) = if options.memory.resume {
            let (checkpoint, temp) = Checkpoint::open(collection, options)?;
            (Some(checkpoint), temp)
        } else {
            (None, Arc::new(TempSpace::new(options.memory.temp_dir())))
        };
        let checkpoint = checkpoint.as_ref();
        let mut linked = self.prepare_and_link(budget, &temp, checkpoint)?;
        if linked.is_none() {
            // Two files have the same id: they are read again with ids that begin with the file.
            collection.name_ids_by_file();
            collection.rewind();
            self.times.clear();
            linked = self.prepare_and_link(budget, &temp, checkpoint)?;
        }
        let mut findings = self.decide_linked(linked, &temp, checkpoint)?;
        findings.read_as_text = collection.read_as_text().to_vec();
        findings.wording = collection.wording();
        findings.missing_fields = std::mem::take(&mut self.missing_fields);
        findings.ids_by_file = collection.has_ids_by_file();
        if options.advice {
            findings.better_setting = better_setting_of(&findings, options, self.progress)?;
        }
        Ok(findings)
    }

    /// Verifies and groups documents whose buckets are known.
    fn decide_linked(
        &mut self,
        linked: Option<LinkedDocuments<'_>>,
        temp: &Arc<TempSpace>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Findings, Error> {
        let Some(LinkedDocuments { mut documents, links, left_out, budget }) = linked else {
            return Err(Error::TemporaryFile { what: "the ids of records".to_owned() });
        };
        documents.drop_columns();
        let found = self.decide(&documents, &links, &budget, temp, checkpoint)?;
        self.collection.check_unchanged()?;
        let times = std::mem::take(&mut self.times);
        findings::findings(documents, found, left_out, &budget, times, Arc::clone(temp))
    }

    /// Reads all documents and finds equal documents and shared buckets; `None` where records of
    /// two files of a folder have the same id.
    fn prepare_and_link<'t>(
        &mut self,
        budget: Budget,
        temp: &'t Arc<TempSpace>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Option<LinkedDocuments<'t>>, Error> {
        let (collection, options) = (self.collection, self.options);
        let counts =
            options.params.exact().then(|| ShingleCounts::new(counter_bytes(collection, &budget)));
        let rules = KeepRules::new(options)?;
        let prepared = self.prepare(&budget, temp, counts.as_ref(), &rules, checkpoint);
        let documents = prepared.or_else(|error| explain_read_error(collection, &budget, error))?;
        // It is unknown for documents that an earlier run has read.
        if checkpoint.is_none_or(|c| c.done.chunks.is_empty()) && documents.len() > 0 {
            self.missing_fields = rules.missing_fields();
        }
        self.link_documents(documents, budget, temp, counts, checkpoint)
    }

    /// Finds equal documents and shared buckets.
    fn link_documents<'t>(
        &mut self,
        mut documents: RunDocuments,
        budget: Budget,
        temp: &'t Arc<TempSpace>,
        counts: Option<ShingleCounts>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Option<LinkedDocuments<'t>>, Error> {
        let (len, parts, held) = (documents.len(), documents.part_count(), documents.held());
        let budget = budget.with_documents(len, parts, held)?;
        let budget = budget.with_held(documents.sources_held)?;
        let linked = self.link(&mut documents, &budget, temp, counts, checkpoint)?;
        Ok(linked.map(|(links, left_out)| LinkedDocuments { documents, links, left_out, budget }))
    }

    /// Reads all documents.
    fn prepare(
        &mut self,
        budget: &Budget,
        temp: &Arc<TempSpace>,
        counts: Option<&ShingleCounts>,
        rules: &KeepRules,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<RunDocuments, Error> {
        let (collection, options, progress) = (self.collection, self.options, self.progress);
        self.timed(Stage::Prepare, collection.bytes(), || {
            let spool = spool(budget, temp, checkpoint)?;
            let spool = spool.as_ref();
            let prepare = BlockPreparation {
                collection,
                options,
                budget,
                temp,
                spool,
                counts,
                rules,
                checkpoint,
            };
            RunDocuments::new(prepare.run(progress)?, collection.listed())
        })
    }

    /// Finds what is equal and what shares a bucket; also how many documents were left out.
    fn link<'t>(
        &mut self,
        documents: &mut RunDocuments,
        budget: &Budget,
        temp: &'t Arc<TempSpace>,
        counts: Option<ShingleCounts>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Option<(Links<'t>, usize)>, Error> {
        let (collection, options, progress) = (self.collection, self.options, self.progress);
        let directed = options.params.exact();
        let passes = if options.params.measure() == Measure::Containment { 2 } else { 1 };
        let total = match counts {
            Some(_) => documents.len() * passes,
            None => options.params.bands(),
        };
        self.timed(Stage::Bucket, Some(total as u64), || {
            let mut equal = BucketLists::new(temp, "equal", budget);
            let mut shared = BucketLists::new(temp, "buckets", budget);
            let can_reread = checkpoint.is_none() && collection.stream().is_none();
            let retries_with_file_ids = can_reread && !collection.has_ids_by_file();
            let is_clash_across_files = |a, b| {
                let is_found = |source| collection.is_found_record_file(source);
                retries_with_file_ids && a != b && is_found(a) && is_found(b)
            };
            let leave_out = options.skip_duplicate_ids;
            let Some(left_out) =
                identity::unique_ids(documents, budget, leave_out, is_clash_across_files)?
            else {
                return Ok(None);
            };
            // Copies have keepers of their own where others than their first may be kept.
            if !options.keepers.is_given() {
                identity::equal_documents(documents, budget, &mut equal)?;
            }
            if let Some(checkpoint) = checkpoint {
                shared.resume(checkpoint)?;
            }
            match counts {
                None => {
                    let shared = &mut shared;
                    bucket::band_buckets(documents, options, budget, shared, checkpoint, progress)?;
                }
                Some(_) if checkpoint.is_some_and(|c| !c.done.bands.is_empty()) => {}
                Some(counts) => {
                    let counted = counts.finish();
                    let exact = ExactCandidates { documents, options, budget, temp };
                    exact.buckets(counted, &mut shared, progress)?;
                    if let Some(checkpoint) = checkpoint {
                        shared.all_done(checkpoint)?;
                    }
                }
            }
            Ok(Some((Links { equal, shared, directed }, left_out)))
        })
    }

    /// Verifies and groups all components.
    fn decide(
        &mut self,
        documents: &RunDocuments,
        links: &Links<'_>,
        budget: &Budget,
        temp: &Arc<TempSpace>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<RunResults, Error> {
        let (options, progress) = (self.options, self.progress);
        let mut connected = ComponentLinks::new(documents.len(), links)?;
        let total = connected.documents();
        self.timed(Stage::Decide, Some(total), || {
            let mut results = ResultCollector::new(options, budget, temp, checkpoint)?;
            for roots in results.remaining(connected.plan(links, budget)?) {
                let batch = ComponentBatch::load(documents, links, &mut connected, &roots)?;
                let decided = decide::decide(documents, &batch, options, budget, progress)?;
                results.add(&roots, documents, &batch, &decided, options)?;
            }
            let mut found = results.finish()?;
            found.candidates = connected.sharing();
            Ok(found)
        })
    }

    /// Runs a stage and reports its begin and end.
    fn timed<T>(
        &mut self,
        stage: Stage,
        total: Option<u64>,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let start = Instant::now();
        self.progress.begin(stage, total);
        let result = work();
        let elapsed = start.elapsed();
        self.progress.end(stage, elapsed);
        self.times.push((stage, elapsed));
        result
    }
}

/// Verifies and groups documents that were read before. Where a reading found a document has to
/// have the text it had.
pub(super) fn decide_documents(
    collection: &Collection,
    options: &FindOptions,
    documents: RunDocuments,
    temp: &Arc<TempSpace>,
    progress: &dyn Progress,
) -> Result<Findings, Error> {
    let budget = Budget::new(&options.memory, options.threads.get())?;
    let mut run =
        FindRun { collection, options, progress, times: Vec::new(), missing_fields: Vec::new() };
    let counts = options.params.exact().then(|| {
        let bytes: u64 = documents.sources.iter().map(|source| source.bytes).sum();
        // As in `counter_bytes`.
        ShingleCounts::new(budget.counters(bytes / 6))
    });
    if let Some(counts) = &counts {
        documents.count_again(options, counts)?;
    }
    let linked = run.link_documents(documents, budget, temp, counts, None)?;
    run.decide_linked(linked, temp, None)
}

/// The cause of an error of reading: an input that changes meanwhile has bad records, and a record
/// that is too long for the memory asks for more of it.
pub(super) fn explain_read_error<T>(
    collection: &Collection,
    budget: &Budget,
    error: Error,
) -> Result<T, Error> {
    match error {
        Error::Read(ReadError::BadRecord(_) | ReadError::Io { .. }) => {
            collection.check_unchanged()?;
        }
        Error::Read(ReadError::OverMemory { bytes, .. }) => {
            budget.block(bytes.saturating_add(BLOCK_ROUNDING))?;
        }
        _ => {}
    }
    Err(error)
}

/// A file for the texts that cannot be read again, where memory is limited or the run may be
/// interrupted.
fn spool(
    budget: &Budget,
    temp: &TempSpace,
    checkpoint: Option<&Checkpoint>,
) -> Result<Option<Arc<Spool>>, Error> {
    if !budget.is_limited() && checkpoint.is_none() {
        return Ok(None);
    }
    let lengths = checkpoint.map(|c| c.done.chunks.iter().map(|step| step.texts_len));
    let length = lengths.and_then(Iterator::max).unwrap_or(0);
    let (file, path) = temp.workspace()?.open_raw("texts", length)?;
    Ok(Some(Arc::new(Spool::new(file, path)?)))
}

/// Bytes of counters for the number of shingles that the input may have.
fn counter_bytes(collection: &Collection, budget: &Budget) -> u64 {
    // A word and its separator average six bytes.
    budget.counters(collection.bytes().unwrap_or(1 << 30) / 6)
}
