//! Finds the items of a benchmark that occur in a corpus, and the share of each that occurs.
//!
//! A run consists of `ngram` consecutive words. Runs of items are found in the documents of the
//! corpus by their hashes, and then compared word by word. The share of an item is the share of its
//! words in such runs. An item with fewer words than a run is compared as a whole. Words are
//! defined by a [`ShingleRule`](lookalike_core::params::ShingleRule): line breaks, punctuation and,
//! by default, case do not matter.
//!
//! ```text
//! benchmark ─ items (all in memory) ─ item_index: hashes of their runs
//! corpus ──── scan (threads over blocks) ─ documents with runs ─ sorter ─ verdicts ─ Contamination
//!                                        └ matched runs, if listed ─ sorter ┘
//! ```
//!
//! Memory holds the items, with some 100 bytes for each of their words, the documents with runs of
//! items, and the matches if they are listed. The items must fit within the memory limit. Under a
//! limit, documents and matches go to temporary files. Documents are counted by the sets of texts
//! whose runs they have, so many equal texts on both sides do not cause quadratic cost. The corpus
//! is read once.

mod benchmark;
mod error;
mod item_index;
mod least_memory;
mod matches;
mod options;
mod scan;
mod verdict;

pub use benchmark::{BenchmarkField, BenchmarkItem};
pub use error::ContaminationError;
pub use matches::{ContaminatedDocument, MatchRange, RunMatch, TextExcerpt};
pub use options::{ContaminationOptions, MatchList, NGRAM, THRESHOLD};
pub use verdict::{BenchmarkSummary, Contamination, ItemMatches, ItemVerdict};

use crate::progress::{Progress, Stage, timed};
use crate::read::{Collection, name_of};
use std::collections::HashMap;
use std::path::PathBuf;

/// Finds the items of a benchmark in a corpus. A benchmark has one collection for each searched
/// field of its items.
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
/// Values that are out of range, a benchmark without words, a benchmark that is part of the corpus,
/// errors of reading, and memory that is too small.
pub fn contamination(
    corpus: &Collection,
    benchmark: &[BenchmarkField<'_>],
    options: &ContaminationOptions,
    progress: &dyn Progress,
) -> Result<Contamination, ContaminationError> {
    options.check()?;
    refuse_overlap(corpus, benchmark)?;
    search(corpus, benchmark, options, progress)
        .map_err(|error| least_memory::explained(error, corpus, benchmark, options, progress))
}

fn search(
    corpus: &Collection,
    benchmark: &[BenchmarkField<'_>],
    options: &ContaminationOptions,
    progress: &dyn Progress,
) -> Result<Contamination, ContaminationError> {
    let (read, _) = timed(progress, Stage::ReadBenchmark, None, || {
        benchmark::read(benchmark, options, progress)
    });
    let read = read?;
    let index = item_index::ItemIndex::new(&read.items, options);
    let (scanned, _) = timed(progress, Stage::Scan, corpus.bytes(), || {
        scan::scan(corpus, &read, &index, options, progress)
    });
    let scanned = scanned?;
    corpus.check_unchanged()?;
    Ok(Contamination::new(read, scanned, &index, (options.ngram, options.threshold))?)
}

/// Refuses files that are in both the corpus and the benchmark, even under different names, because
/// their items would match themselves.
fn refuse_overlap(
    corpus: &Collection,
    benchmark: &[BenchmarkField<'_>],
) -> Result<(), ContaminationError> {
    // Only files with the same size and time can be the same file.
    let mut files = HashMap::<_, Vec<PathBuf>>::new();
    for (path, stamp) in benchmark.iter().flat_map(|field| field.collection.files()) {
        files.entry(stamp).or_default().extend(path.canonicalize());
    }
    for (path, stamp) in corpus.files() {
        let Some(alike) = files.get(&stamp) else { continue };
        if path.canonicalize().is_ok_and(|path| alike.contains(&path)) {
            let name = name_of(path);
            return Err(ContaminationError::InBoth { name });
        }
    }
    Ok(())
}
