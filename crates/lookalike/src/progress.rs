//! Reports the progress of a run to a callback, which can cancel the run. Never prints.

use lookalike_core::curve::Choice;
use lookalike_core::params::Params;
use std::fmt;
use std::time::{Duration, Instant};

/// The stages of a run and of passages, in order, then the stages of an index, an audit, a
/// benchmark and `tune`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Read, shingle, sign and band; counted in bytes of input.
    Prepare,
    /// Number the documents, collapse equal ones, find buckets; counted in bands.
    Bucket,
    /// Verify candidate pairs and form groups; counted in documents that are candidates.
    Decide,
    /// Read the documents with possibly repeated passages again; counted in documents.
    Select,
    /// Compare the words of repeated passages; counted in documents.
    Compare,
    /// Read documents and add them to an index; counted in bytes of input.
    Add,
    /// Read the texts of an index and find the category of each; counted in documents.
    Categorise,
    /// Draw a sample for an audit or for `tune`; counted in bytes of input.
    Draw,
    /// Find the sample's true neighbours; counted in bytes of input.
    Search,
    /// Compare the sample of an audit with the findings of a run; not counted.
    Judge,
    /// Read the items of a benchmark; not counted.
    ReadBenchmark,
    /// Search a corpus for the items of a benchmark; counted in bytes of input.
    Scan,
    /// Measure a sample; counts each of its documents once for each shingle rule, and once more.
    Measure,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prepare => "read and sign",
            Self::Bucket => "find candidates",
            Self::Decide => "verify and group",
            Self::Select => "find repeated passages",
            Self::Compare => "compare words",
            Self::Add => "read and add",
            Self::Categorise => "find categories",
            Self::Draw => "draw documents",
            Self::Search => "find neighbours",
            Self::Judge => "judge the sample",
            Self::ReadBenchmark => "read the benchmark",
            Self::Scan => "compare the corpus",
            Self::Measure => "measure the sample",
        })
    }
}

/// The caller cancelled the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interruption;

/// Documents that share buckets without being similar.
#[derive(Debug, Clone, PartialEq)]
pub struct ExcessCandidates {
    /// The number of these documents.
    pub documents: usize,
    /// The maximum number of their pairs that remain to be compared.
    pub pairs: u64,
    /// Their mean Jaccard similarity, estimated on a sample.
    pub mean: f64,
    /// A choice of hash values, bands and rows that takes less than half of the time for documents
    /// of this similarity, with the same threshold and recall. `None` if there is no such choice.
    pub better: Option<Choice>,
}

/// A warning that a run reports as early as possible.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// Unrelated documents are so similar that most comparisons end below the threshold. This does
    /// not change the result, but the run takes long.
    ExcessCandidates(ExcessCandidates),
}

/// Receives progress from any thread.
pub trait Progress: Sync {
    /// A stage begins. `total` is the amount of its work, if it is known.
    fn begin(&self, stage: Stage, total: Option<u64>);
    /// Reports further work as done. Called after every block, band and component of documents.
    ///
    /// # Errors
    /// [`Interruption`] ends the work with
    /// [`FindError::Interrupted`](crate::find::FindError::Interrupted).
    fn advance(&self, done: u64) -> Result<(), Interruption>;
    /// The stage has ended.
    fn end(&self, stage: Stage, elapsed: Duration);
    /// Bands and rows were chosen with a sample of this many documents.
    fn chose_bands(&self, _: &Params, _: usize) {}
    /// An interrupted run resumes in this stage. The argument is the number of documents read
    /// before.
    fn resumed(&self, _: Stage, _: u64) {}
    /// Reports a warning during the run. Warnings of one kind may be repeated.
    fn warn(&self, _: &Warning) {}
}

/// Runs a stage, reports its beginning and its end, and returns its result with the time it took.
pub(crate) fn timed<T>(
    progress: &dyn Progress,
    stage: Stage,
    total: Option<u64>,
    work: impl FnOnce() -> T,
) -> (T, Duration) {
    let start = Instant::now();
    progress.begin(stage, total);
    let result = work();
    let elapsed = start.elapsed();
    progress.end(stage, elapsed);
    (result, elapsed)
}

/// Ignores progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _: Stage, _: Option<u64>) {}
    fn advance(&self, _: u64) -> Result<(), Interruption> {
        Ok(())
    }
    fn end(&self, _: Stage, _: Duration) {}
}
