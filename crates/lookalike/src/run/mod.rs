//! The main job: documents in, groups of near-duplicates out.
//!
//! ```text
//! blocks ─ prepare (threads) → parts ─ Collected (numbering, unique ids) → documents
//!        ─ bucket (threads over bands) → components ─ decide (threads over components) → groups
//! ```
//!
//! The first pass keeps of each document its id, length, bucket keys, fingerprint and place; the
//! texts are dropped. Verification reads the documents that share a bucket with another one again.
//! What the stages hand on are columns that could as well be files.
//!
//! Results do not depend on the number of threads or the order in which they work: parts are put in
//! reading order, documents are compared in the keep order, components are independent.

mod bucket;
mod collected;
mod component;
mod decide;
mod findings;
mod pairs;
mod prepare;
mod workers;

pub use pairs::{MAX_PAIRS, Pair, Pairs};

use crate::error::Error;
use crate::progress::{Progress, Stage};
use crate::read::{Collection, Skipped};
use lookalike_core::keep::KeepPolicy;
use lookalike_core::kernel::Kernel;
use lookalike_core::params::Params;
use lookalike_core::verify::Overlap;
use std::num::NonZeroUsize;
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
    /// Threads to use.
    pub threads: NonZeroUsize,
    /// The inner loops to use; all give the same result.
    pub kernel: Kernel,
}

impl FindOptions {
    /// Stars, longest document kept, no pairs, all processors, the fastest kernel.
    pub fn new(params: Params) -> Self {
        Self {
            params,
            keep: KeepPolicy::default(),
            grouping: Grouping::default(),
            pairs: false,
            skip_duplicate_ids: false,
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            kernel: Kernel::best(),
        }
    }
}

/// A document of a group that is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// Its id.
    pub id: String,
    /// Exact overlap with the keeper: `left` is the keeper's set. Where both documents have equal
    /// shingles the sizes are not counted: 1, 1 and 1 stand for them.
    pub overlap: Overlap,
}

/// Near-duplicates, and which of them is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The id of the document that is kept.
    pub keeper: String,
    /// The others: most similar first, then by id.
    pub duplicates: Vec<Duplicate>,
}

/// How many documents, candidates and groups there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Documents read, empty ones included, skipped ones not.
    pub documents: u64,
    /// Documents without a token; they match nothing.
    pub empty: u64,
    /// Records and files that could not be read as documents.
    pub skipped: u64,
    /// Documents whose shingles equal those of an earlier one, found without comparing.
    pub copies: u64,
    /// Other documents that share a bucket with another one.
    pub candidates: u64,
    /// Pairs of documents whose shingle sets were compared.
    pub verified: u64,
    /// Groups of two documents or more.
    pub groups: u64,
    /// Documents that are in a group and not kept.
    pub duplicates: u64,
}

/// What a run found.
#[derive(Debug, Clone)]
pub struct Findings {
    /// Largest group first, then by the keeper's id.
    pub groups: Vec<Group>,
    /// All verified pairs, sorted by both ids, where they were asked for.
    pub pairs: Option<Pairs>,
    /// What is no document: files that a folder's walk left out, then what could not be read, then
    /// repeated ids, each in reading order.
    pub skipped: Vec<Skipped>,
    /// Ids of the empty documents, ascending.
    pub empty: Vec<String>,
    /// Numbers of everything.
    pub counts: Counts,
    /// Wall-clock time of each stage, in order.
    pub times: Vec<(Stage, Duration)>,
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
    let mut times = Vec::new();
    let parts = timed(Stage::Prepare, collection.bytes(), progress, &mut times, || {
        prepare::prepare(collection, options, progress)
    })?;
    let bands = options.params.bands() as u64;
    let (documents, candidates) = timed(Stage::Bucket, Some(bands), progress, &mut times, || {
        let documents = collected::Collected::new(collection, parts, options)?;
        let candidates = bucket::candidates(&documents, options, progress);
        Ok((documents, candidates))
    })?;
    let involved = candidates.documents() as u64;
    let decided = timed(Stage::Decide, Some(involved), progress, &mut times, || {
        decide::decide(&documents, &candidates, options, progress)
    })?;
    let mut findings = findings::findings(documents, decided, options)?;
    findings.counts.candidates = involved;
    findings.times = times;
    Ok(findings)
}

/// Runs a stage, telling when it begins and ends.
fn timed<T>(
    stage: Stage,
    total: Option<u64>,
    progress: &dyn Progress,
    times: &mut Vec<(Stage, Duration)>,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let start = Instant::now();
    progress.begin(stage, total);
    let result = work();
    let elapsed = start.elapsed();
    progress.end(stage, elapsed);
    times.push((stage, elapsed));
    result
}
