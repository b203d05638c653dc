//! How far a run is, and whether it is still wanted: a callback, never a print.

use lookalike_core::curve::Choice;
use lookalike_core::params::Params;
use std::fmt;
use std::time::{Duration, Instant};

/// The stages of a run, in order, then those of an index, of an audit and of `tune`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Read, shingle, sign and band; counted in bytes of input.
    Prepare,
    /// Number the documents, collapse equal ones, find buckets; counted in bands.
    Bucket,
    /// Verify candidate pairs and form groups; counted in documents that are candidates.
    Decide,
    /// Read the documents of which a passage may be repeated again; counted in documents.
    Select,
    /// Compare the words of repeated passages; counted in documents.
    Compare,
    /// Read documents and put them into an index; counted in bytes of input.
    Add,
    /// Read the texts of an index and find the category of each; counted in documents.
    Categorise,
    /// Draw a sample for an audit or for `tune`; counted in bytes of input.
    Draw,
    /// Find the sample's true neighbours; counted in bytes of input.
    Search,
    /// Hold the sample of an audit against what a run found; not counted.
    Judge,
    /// Read the items of a benchmark; not counted.
    ReadBenchmark,
    /// Look for the items of a benchmark in a corpus; counted in bytes of input.
    Scan,
    /// Measure a sample; counted in its documents, once for each shingle rule and once more.
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

/// The work is not wanted any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interruption;

/// Documents that share buckets without being similar.
#[derive(Debug, Clone, PartialEq)]
pub struct ExcessCandidates {
    /// How many they are.
    pub documents: usize,
    /// Pairs of them that are still to be looked at, at most.
    pub pairs: u64,
    /// Their mean Jaccard similarity, estimated on a sample of them.
    pub mean: f64,
    /// Values, bands and rows for documents this alike, at the same threshold and recall, that take
    /// less than half of the time; `None` where there are none.
    pub better: Option<Choice>,
}

/// What a run reports as soon as it knows.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// Unrelated documents look alike, so that most comparisons end below the threshold. The
    /// result is the same, the run takes long.
    ExcessCandidates(ExcessCandidates),
}

/// Receives progress from any thread.
pub trait Progress: Sync {
    /// A stage begins, with that much to do where it is known.
    fn begin(&self, stage: Stage, total: Option<u64>);
    /// So much more is done. Asked after every block, band and component of documents.
    ///
    /// # Errors
    /// [`Interruption`] ends the work with
    /// [`FindError::Interrupted`](crate::find::FindError::Interrupted).
    fn advance(&self, done: u64) -> Result<(), Interruption>;
    /// The stage has ended.
    fn end(&self, stage: Stage, elapsed: Duration);
    /// Bands and rows were chosen for this many documents of a sample.
    fn chose_bands(&self, _: &Params, _: usize) {}
    /// An interrupted run resumes in this stage; so many of its documents were read before.
    fn resumed(&self, _: Stage, _: u64) {}
    /// Something to know while the run goes on; the same kind may come several times.
    fn warn(&self, _: &Warning) {}
}

/// Does the work of a stage between the reports of its begin and its end; gives what it took.
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

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _: Stage, _: Option<u64>) {}
    fn advance(&self, _: u64) -> Result<(), Interruption> {
        Ok(())
    }
    fn end(&self, _: Stage, _: Duration) {}
}
