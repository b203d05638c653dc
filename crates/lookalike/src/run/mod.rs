//! The main job: documents in, groups of near-duplicates out.
//!
//! ```text
//! blocks ─ prepare (threads) → parts ─ Documents (numbering) ─ identity (unique ids, equal ones)
//!   ─ bucket: band keys → lists   or   exact: rare shingles → lists
//!   ─ batch (connected components, as many as memory allows)
//!   ─ decide (threads over components: sets, screen, groups, copies) → groups, pairs → Findings
//! ```
//!
//! The first pass keeps of each document its id, bucket keys, fingerprint, place and standing; the
//! texts are dropped. Verification reads the documents that share a bucket with another one again.
//! What the stages hand on are columns and lists, which go through temporary files where `memory`
//! says so; only one byte, a place in a forest and a bit of each document are always held.
//!
//! Results do not depend on the number of threads or the order in which they work, nor on the
//! memory: parts are put in reading order, documents are compared in the keep order, components are
//! independent.

mod batch;
mod bucket;
mod buckets;
mod columns;
mod component;
mod copies;
mod counts;
mod decide;
mod documents;
mod entries;
mod exact;
mod findings;
mod forest;
mod groups;
mod identity;
mod memory;
mod pairs;
mod parts;
mod prepare;
mod ranges;
mod records;
mod screen;
mod sets;
mod traits;
mod workers;

pub use documents::SourceCounts;
pub use findings::{Counts, Findings, Ids};
pub use groups::{Duplicate, Group, Groups, Member};
pub use memory::Memory;
pub use pairs::{MAX_PAIRS, Pair, Pairs};

use crate::error::Error;
use crate::progress::{Progress, Stage};
use crate::read::{Collection, Spool};
use crate::spill::{Sorter, TempSpace};
use batch::{Batch, Connected, Links};
use buckets::BucketLists;
use documents::{Documents, State};
use lookalike_core::keep::KeepPolicy;
use lookalike_core::kernel::Kernel;
use lookalike_core::params::{Measure, Params};
use memory::Budget;
use prepare::Prepare;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How verified pairs become groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouping {
    /// Every duplicate resembles the kept document of its group.
    #[default]
    Stars,
    /// All documents connected through verified pairs; members may be unlike the kept one.
    Components,
}

/// What to do, beside the parameters that decide what is similar.
#[derive(Debug, Clone)]
pub struct FindOptions {
    /// What is similar.
    pub params: Params,
    /// Which document of a group is kept.
    pub keep: KeepPolicy,
    /// How groups are formed.
    pub grouping: Grouping,
    /// Whether all verified pairs are listed, too: quadratic in the size of a cluster, as its
    /// pairs are. More than [`MAX_PAIRS`] are an error.
    pub pairs: bool,
    /// Whether the later of two documents with one id is left out; otherwise it is an error.
    pub skip_duplicate_ids: bool,
    /// The field whose value is the source that a document is counted under; its file or folder
    /// where it is `None`.
    pub source_field: Option<String>,
    /// How much memory there is, and where temporary files go.
    pub memory: Memory,
    /// Threads to use.
    pub threads: NonZeroUsize,
    /// The inner loops to use; all give the same result.
    pub kernel: Kernel,
}

impl FindOptions {
    /// Stars, longest document kept, no pairs, no limit on memory, all processors, the fastest
    /// kernel.
    pub fn new(params: Params) -> Self {
        Self {
            params,
            keep: KeepPolicy::default(),
            grouping: Grouping::default(),
            pairs: false,
            skip_duplicate_ids: false,
            source_field: None,
            memory: Memory::default(),
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            kernel: Kernel::best(),
        }
    }

    /// The fields that must be read beside id and text: what to set
    /// [`ReadOptions::fields`](crate::read::ReadOptions::fields) to before the collection is opened.
    pub fn fields(&self) -> Vec<String> {
        let names = self.keep.field_names().into_iter();
        names.map(str::to_owned).chain(self.source_field.clone()).collect()
    }
}

/// Finds the near-duplicates of a collection.
///
/// Cost: one pass over the input at some 600 MB per second and core, then a second reading of the
/// documents that share a bucket. Memory: about `8 · bands + 130` bytes per document, and
/// the text of inputs that cannot be read twice (compressed ones and standard input).
///
/// # Errors
/// What [`Error`] lists: unreadable input, ids that repeat, input that changes meanwhile.
pub fn find(
    collection: &Collection,
    options: &FindOptions,
    progress: &dyn Progress,
) -> Result<Findings, Error> {
    let mut run = Run { collection, options, progress, times: Vec::new() };
    run.find()
}

/// A run under way.
struct Run<'a> {
    collection: &'a Collection,
    options: &'a FindOptions,
    progress: &'a dyn Progress,
    times: Vec<(Stage, Duration)>,
}

impl Run<'_> {
    fn find(&mut self) -> Result<Findings, Error> {
        let (collection, options, progress) = (self.collection, self.options, self.progress);
        let budget = Budget::new(&options.memory, options.threads.get())?;
        let temp = Arc::new(TempSpace::new(options.memory.temp_dir()));
        let counts = options.params.exact().then(|| counts::Counts::new(counters(collection, &budget)));
        let documents = self.timed(Stage::Prepare, collection.bytes(), || {
            let rules = traits::KeepRules::new(options)?;
            let spool = spool(collection, &budget, &temp)?;
            let prepare = Prepare {
                collection,
                options,
                budget: &budget,
                temp: &temp,
                spool: spool.as_ref(),
                counts: counts.as_ref(),
                rules: &rules,
            };
            Documents::new(prepare.run(progress)?, collection.listed())
        })?;
        let mut documents = documents;
        let budget = budget.with_documents(documents.len(), documents.part_count())?;
        let mut links = Links {
            equal: BucketLists::new(&temp, &budget),
            shared: BucketLists::new(&temp, &budget),
            directed: options.params.measure() == Measure::Containment,
        };
        let total = match counts {
            Some(_) => documents.len() as u64,
            None => options.params.bands() as u64,
        };
        let left_out = self.timed(Stage::Bucket, Some(total), || {
            let left_out = identity::unique_ids(&mut documents, &budget, options.skip_duplicate_ids)?;
            identity::equal_documents(&mut documents, &budget, &mut links.equal)?;
            let shared = &mut links.shared;
            match counts {
                None => bucket::band_buckets(&documents, options, &budget, shared, progress)?,
                Some(counts) => {
                    let (documents, counted) = (&documents, counts.finish());
                    let exact = exact::Exact { documents, options, budget: &budget, temp: &temp, counted };
                    exact.buckets(shared, progress)?;
                }
            }
            Ok(left_out)
        })?;
        documents.drop_columns();
        let results = self.decide(&mut documents, &links, &budget, &temp)?;
        collection.check_unchanged()?;
        results.findings(documents, left_out, &budget, &temp, std::mem::take(&mut self.times))
    }

    /// Verifies and groups all components.
    fn decide(
        &mut self,
        documents: &mut Documents,
        links: &Links<'_>,
        budget: &Budget,
        temp: &Arc<TempSpace>,
    ) -> Result<Results, Error> {
        let (options, progress) = (self.options, self.progress);
        let mut connected = Connected::new(documents.len(), links)?;
        let total = connected.documents();
        self.timed(Stage::Decide, Some(total), || {
            let mut results = Results::new(options, budget, temp);
            results.candidates = connected.sharing();
            for roots in connected.plan(links, budget)? {
                let batch = Batch::load(documents, links, &mut connected, &roots)?;
                let decided = decide::decide(documents, &batch, options, budget, progress)?;
                results.add(documents, &batch, &decided, options)?;
            }
            Ok(results)
        })
    }

    /// Runs a stage, telling when it begins and ends.
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

/// A file for the texts that cannot be read again, where memory is limited.
fn spool(
    collection: &Collection,
    budget: &Budget,
    temp: &TempSpace,
) -> Result<Option<Arc<Spool>>, Error> {
    if !budget.is_limited() || collection.reads_again() {
        return Ok(None);
    }
    let (file, path) = temp.workspace()?.create("texts")?.into_parts();
    Ok(Some(Arc::new(Spool::new(file, path))))
}

/// Bytes of counters, by the number of shingles that the input may have.
fn counters(collection: &Collection, budget: &Budget) -> u64 {
    // A word and its blank take some six bytes; compressed inputs hold three times their size.
    budget.counters(collection.bytes().unwrap_or(1 << 30) / 6)
}

/// What batches have given so far.
struct Results {
    groups: Sorter,
    pairs: Option<pairs::PairSorter>,
    /// Duplicates and their bytes, by source.
    duplicates: Vec<(u64, u64)>,
    candidates: u64,
    verified: u64,
}

impl Results {
    fn new(options: &FindOptions, budget: &Budget, temp: &Arc<TempSpace>) -> Self {
        let sorter = || Sorter::new(Some(Arc::clone(temp)), budget.results());
        Self {
            groups: sorter(),
            pairs: options.pairs.then(|| pairs::PairSorter::new(sorter())),
            duplicates: Vec::new(),
            candidates: 0,
            verified: 0,
        }
    }

    fn add(
        &mut self,
        documents: &Documents,
        batch: &Batch,
        decided: &component::Decided,
        options: &FindOptions,
    ) -> Result<(), Error> {
        groups::add(&mut self.groups, batch, decided, options)?;
        if let Some(pairs) = &mut self.pairs {
            pairs.add(batch, decided)?;
        }
        self.duplicates.resize(documents.sources.len(), (0, 0));
        for (duplicate, _, _) in &decided.duplicates {
            let row = batch.records.row(*duplicate);
            let source = documents.source(batch.records.part(*duplicate), row.label);
            if let Some((duplicates, bytes)) = self.duplicates.get_mut(source as usize) {
                *duplicates += 1;
                *bytes += row.bytes;
            }
        }
        self.verified += decided.verified;
        Ok(())
    }

    fn findings(
        self,
        mut documents: Documents,
        left_out: usize,
        budget: &Budget,
        temp: &Arc<TempSpace>,
        times: Vec<(Stage, Duration)>,
    ) -> Result<Findings, Error> {
        let groups = Groups::finish(self.groups)?;
        let pairs = self.pairs.map(pairs::PairSorter::finish).transpose()?;
        let mut empty = Sorter::new(Some(Arc::clone(temp)), budget.results());
        for document in documents.in_state(State::EMPTY) {
            documents.with_row(document, |_, row| empty.push(row.id.as_bytes(), &[]))??;
        }
        let empty = Ids { sorted: empty.finish()? };
        for (source, (duplicates, bytes)) in documents.sources.iter_mut().zip(self.duplicates) {
            (source.duplicates, source.duplicate_bytes) = (duplicates, bytes);
        }
        let (sources, skipped) =
            (std::mem::take(&mut documents.sources), std::mem::take(&mut documents.skipped));
        let reference = sources.iter().filter(|s| s.reference).map(|s| s.documents).sum();
        let counts = Counts {
            documents: (documents.len() - left_out) as u64,
            reference,
            empty: empty.len() as u64,
            skipped: skipped.len() as u64,
            copies: documents.in_state(State::COPY).count() as u64,
            candidates: self.candidates,
            verified: self.verified,
            groups: groups.len() as u64,
            duplicates: sources.iter().map(|source| source.duplicates).sum(),
        };
        let digest = documents.digest;
        Ok(Findings { groups, pairs, skipped, empty, counts, sources, digest, times, documents })
    }
}
