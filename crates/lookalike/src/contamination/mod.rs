//! Which items of a benchmark occur in a corpus, and how much of each.
//!
//! A run of `ngram` consecutive words of an item that is also in a document of the corpus is found
//! by its hash and compared word by word. The share of an item is that of its words that are in
//! such runs; an item with fewer words than a run is compared whole. Words are those of a
//! [`ShingleRule`]: line breaks, punctuation and, by default, case do not matter.
//!
//! ```text
//! benchmark ─ items (all in memory) ─ item_index: hashes of their runs
//! corpus ──── scan (threads over blocks) ─ matched runs ─ sorter ─ verdicts ─ Contamination
//! ```
//!
//! Memory: the items with 12 bytes for each of their words, and the matches, which go to a
//! temporary file where there is a limit. The corpus is read once, at the speed of its words.

mod benchmark;
mod item_index;
mod matches;
mod scan;
mod verdict;
mod words;

pub use benchmark::{BenchmarkField, BenchmarkItem};
pub use matches::{MatchRange, RunMatch};
pub use verdict::{BenchmarkSummary, Contamination, ItemMatches, ItemVerdict};

use crate::error::{ContaminationError, Error};
use crate::find::Memory;
use crate::progress::{Progress, Stage};
use crate::read::Collection;
use lookalike_core::error::ParamsError;
use lookalike_core::kernel::Kernel;
use lookalike_core::params::{ShingleRule, Unit};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::time::Instant;

/// The words of a run where nothing else is chosen, as in the GPT-3 report (Brown et al. 2020,
/// appendix C).
pub const NGRAM: usize = 13;
/// The share of contaminated words from which an item counts as contaminated where nothing else is
/// chosen, as in the Llama 2 report (Touvron et al. 2023, appendix A.6).
pub const THRESHOLD: f64 = 0.8;

/// What is compared, and how the work is done.
#[derive(Debug, Clone)]
pub struct ContaminationOptions {
    /// Which words are equal: its rule for tokens and its case. Its size and stop words do not
    /// matter.
    pub rule: ShingleRule,
    /// How many words a run has, from 2.
    pub ngram: usize,
    /// The share of words from which an item is contaminated: above 0, at most 1.
    pub threshold: f64,
    /// How many threads work, the caller's among them.
    pub threads: NonZeroUsize,
    /// How much memory the run may use, and where temporary files go. It cannot be resumed.
    pub memory: Memory,
    /// The inner loops. All give the same.
    pub kernel: Kernel,
}

impl ContaminationOptions {
    /// The defaults: words of [`ShingleRule`]'s default, [`NGRAM`], [`THRESHOLD`], a thread for
    /// each processor, no limit.
    ///
    /// # Errors
    /// None in practice: the rule is valid.
    pub fn new() -> Result<Self, ParamsError> {
        Ok(Self {
            rule: ShingleRule::new(Unit::Words, 1)?,
            ngram: NGRAM,
            threshold: THRESHOLD,
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            memory: Memory::default(),
            kernel: Kernel::best(),
        })
    }

    fn check(&self) -> Result<(), Error> {
        if self.ngram < 2 {
            return Err(ContaminationError::Ngram { got: self.ngram }.into());
        }
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(ParamsError::Threshold { got: self.threshold }.into());
        }
        Ok(())
    }
}

/// Finds the items of a benchmark in a corpus. A benchmark is one collection for each field of its
/// items that is looked for.
///
/// ```
/// use lookalike::contamination::{BenchmarkField, ContaminationOptions, contamination};
/// use lookalike::progress::NoProgress;
/// use lookalike::read::{Collection, ReadOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let question = "Which of the two trains arrives first, if both leave at noon and one is late?";
/// std::fs::write(folder.join("question.txt"), question)?;
/// std::fs::write(folder.join("page.txt"), format!("Exercise 7: {}", question.to_uppercase()))?;
///
/// let read = ReadOptions::default();
/// let corpus = Collection::open(&[folder.join("page.txt")], &read)?;
/// let items = Collection::open(&[folder.join("question.txt")], &read)?;
/// let fields = [BenchmarkField { name: None, collection: &items }];
/// let options = ContaminationOptions::new()?;
/// let found = contamination(&corpus, &fields, &options, &NoProgress)?;
/// assert_eq!(found.items[0].covered, found.items[0].item.words);
/// assert!(found.items[0].contaminated);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Values that are out of range, a benchmark without words or that is part of the corpus, what
/// cannot be read, and memory that is too small.
pub fn contamination(
    corpus: &Collection,
    benchmark: &[BenchmarkField<'_>],
    options: &ContaminationOptions,
    progress: &dyn Progress,
) -> Result<Contamination, Error> {
    options.check()?;
    refuse_overlap(corpus, benchmark)?;
    let read = timed(progress, Stage::ReadBenchmark, None, || {
        benchmark::read(benchmark, options, progress)
    })?;
    let index = item_index::ItemIndex::new(&read.items, options)?;
    let scanned = timed(progress, Stage::Scan, corpus.bytes(), || {
        scan::scan(corpus, &read.items, &index, options, progress)
    })?;
    corpus.check_unchanged()?;
    Contamination::new(read, scanned, options.threshold)
}

/// A file that is in both would be found in itself.
fn refuse_overlap(corpus: &Collection, benchmark: &[BenchmarkField<'_>]) -> Result<(), Error> {
    let files: HashSet<String> = corpus.inputs().into_iter().map(|input| input.name).collect();
    for field in benchmark {
        for input in field.collection.inputs() {
            if files.contains(&input.name) {
                return Err(ContaminationError::InBoth { name: input.name }.into());
            }
        }
    }
    Ok(())
}

fn timed<T>(
    progress: &dyn Progress,
    stage: Stage,
    total: Option<u64>,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let start = Instant::now();
    progress.begin(stage, total);
    let result = work();
    progress.end(stage, start.elapsed());
    result
}
