//! The finished steps of a run, from which an interrupted run resumes.
//!
//! ```text
//! prepare: Chunk … Prepared      bucket: Band …      decide: Batch …
//! ```
//!
//! A step is written to the journal when its data are on the disk. Cheap steps (numbering, equal
//! documents, connecting, planning) are repeated and have the same result. A run may resume with
//! another number of threads or another limit on memory.

use crate::decisions::Decisions;
use crate::engine::error::FindError;
use crate::engine::ids::{DocumentNumber, Id, SourceIndex};
use crate::engine::link::drop_list::DropList;
use crate::engine::options::{FindOptions, PairList};
use crate::engine::prepare::block_notes::{BlockNotes, BlockRanges, ColumnChunk};
use crate::engine::prepare::columns;
use crate::engine::prepare::shingles::BandKeys;
use crate::engine::prepare::sources::{SourceName, SourceTally, Tallies};
use crate::progress::{Progress, Stage};
use crate::read::{Collection, InputStamp, ReadError, RetainedState, Stamp};
use crate::spill::{Journal, SpillError, TempSpace};
use lookalike_core::hash;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The version of the files in a run's folder.
const FORMAT_VERSION: u32 = 1;
/// Maximum number of files that are described one by one; more share one description.
const DESCRIBED_FILES: usize = 1000;

/// A chunk of columns, its blocks, and the lengths of the logs when the chunk was complete.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ChunkStep {
    pub(crate) chunk: ColumnChunk,
    pub(crate) blocks: Vec<(RetainedState, BlockNotes, BlockRanges)>,
    /// Number of 8-byte values in the log of columns.
    pub(crate) columns: u64,
    /// Bytes in the log of rows.
    pub(crate) rows: u64,
    /// Number of anchors in their log.
    pub(crate) anchors: u64,
    /// Bytes in the log of skipped records.
    pub(crate) skipped: u64,
    /// Bytes of texts that cannot be read again.
    pub(crate) texts: u64,
    /// The new sources since the last step, in the order of their numbers.
    pub(crate) sources: Vec<SourceName>,
    /// The documents of each source in the blocks.
    pub(crate) tallies: Vec<SourceTally>,
}

/// A band, and the length of all lists up to and including this band. A run that does not use bands
/// has only one such step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BandStep {
    pub(crate) band: u32,
    pub(crate) lists: u64,
    pub(crate) memberships: u64,
}

/// The results of one batch: the components whose first documents are in `roots`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BatchStep {
    pub(crate) roots: Range<DocumentNumber>,
    /// The length of the results of this batch and the batches before it.
    pub(crate) results: u64,
    pub(crate) verified: u64,
    /// Duplicates and their bytes, for each source that has any.
    pub(crate) duplicates: Vec<(SourceIndex, u64, u64)>,
    pub(crate) pairs: u64,
}

/// A step that is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Step {
    Chunk(ChunkStep),
    Prepared,
    Band(BandStep),
    Batch(BatchStep),
    /// Steps that count as done only together.
    Together(Vec<Step>),
}

/// The steps that an earlier run finished.
#[derive(Debug, Default)]
pub(crate) struct CompletedSteps {
    pub(crate) chunks: Vec<ChunkStep>,
    /// The sources of all chunks.
    pub(crate) sources: Vec<SourceName>,
    pub(crate) tallies: Tallies,
    pub(crate) prepared: bool,
    pub(crate) bands: Vec<BandStep>,
    pub(crate) batches: Vec<BatchStep>,
}

impl CompletedSteps {
    /// The stage in which the run resumes, and the number of documents that were read before.
    /// `None` for a run without completed steps.
    fn position(&self) -> Option<(Stage, u64)> {
        let documents = self.chunks.iter().map(|step| u64::from(step.chunk.documents)).sum();
        let stage = match self {
            Self { chunks, .. } if chunks.is_empty() => return None,
            Self { batches, .. } if !batches.is_empty() => Stage::Decide,
            Self { prepared: true, .. } => Stage::Bucket,
            _ => Stage::Prepare,
        };
        Some((stage, documents))
    }

    /// # Errors
    /// [`SpillError::Altered`] for numbers that no run writes.
    fn add(&mut self, step: Step) -> Result<(), FindError> {
        match step {
            Step::Chunk(mut step) => {
                self.sources.append(&mut step.sources);
                let is_known = |tally: &SourceTally| tally.source.index() < self.sources.len();
                if !step.tallies.iter().all(is_known) || !self.is_next_chunk(&step) {
                    return Err(damaged().into());
                }
                self.tallies.add(&std::mem::take(&mut step.tallies));
                self.chunks.push(step);
            }
            Step::Prepared => self.prepared = true,
            Step::Band(step) => self.bands.push(step),
            Step::Batch(step) if step.roots.start > step.roots.end => return Err(damaged().into()),
            Step::Batch(step) => self.batches.push(step),
            Step::Together(steps) => return steps.into_iter().try_for_each(|step| self.add(step)),
        }
        Ok(())
    }

    /// Returns true if each block of a chunk lies in this chunk, or is a part: a whole earlier
    /// chunk without blocks.
    fn is_next_chunk(&self, step: &ChunkStep) -> bool {
        step.blocks.iter().all(|(_, notes, ranges)| {
            if let Some(part) = self.chunks.get(ranges.chunk as usize) {
                let documents = part.chunk.documents;
                return part.blocks.is_empty()
                    && (ranges.within, notes.documents) == (0, documents);
            }
            let end = ranges.within.checked_add(notes.documents);
            let is_within = end.is_some_and(|end| end <= step.chunk.documents);
            is_within && ranges.chunk as usize == self.chunks.len()
        })
    }
}

/// The journal of a run, and the steps in it when the run began. Empty if the run cannot be
/// resumed.
#[derive(Default)]
pub(crate) struct Checkpoint {
    journal: Journal<Step>,
    pub(crate) completed: CompletedSteps,
    /// Steps that wait for a later step, without which they are useless.
    deferred: Option<Mutex<Vec<Step>>>,
}

impl Checkpoint {
    /// Opens the space for temporary files. A resumable run uses its folder, which is created here
    /// or was created by an earlier run with the same inputs and options. `passages` describes a
    /// search for passages.
    pub(crate) fn open(
        collection: &Collection,
        options: &FindOptions,
        passages: Option<&Value>,
        progress: &dyn Progress,
    ) -> Result<(Self, Arc<TempSpace>), FindError> {
        let parent = options.memory.temp_dir();
        if !options.memory.resume {
            return Ok((Self::default(), Arc::new(TempSpace::new(parent))));
        }
        let mut description = describe_run(collection, options)?;
        // Shingles are counted while documents are read, and the counts are not stored. So a
        // resumed run can use the documents only together with the buckets made from the counts.
        let is_deferred = options.params.exact() && passages.is_none();
        if let Some(passages) = passages {
            description["passages"] = passages.clone();
        }
        let (opened, temp) = Self::resumable(collection, &parent, &description)?;
        if let Some((stage, documents)) = opened.completed.position() {
            progress.resumed(stage, documents);
        }
        Ok((Self { deferred: is_deferred.then(Mutex::default), ..opened }, temp))
    }

    fn resumable(
        collection: &Collection,
        parent: &Path,
        description: &Value,
    ) -> Result<(Self, Arc<TempSpace>), FindError> {
        let sources = (0..collection.sources()).filter_map(|source| collection.source_name(source));
        let sources = sources.collect::<Vec<_>>().join("\n");
        let name = format!("{:016x}", hash::token_hash(sources.as_bytes()));
        let temp = TempSpace::resumable(parent, &name, description)?;
        let (journal, steps) = Journal::open(&temp, "steps")?;
        let mut completed = CompletedSteps::default();
        for step in steps {
            completed.add(step)?;
        }
        Ok((Self { journal, completed, deferred: None }, Arc::new(temp)))
    }

    /// Whether steps are stored.
    pub(crate) fn is_active(&self) -> bool {
        self.journal.is_active()
    }

    /// Stores a step, whose data are on the disk.
    pub(crate) fn append(&self, step: Step) -> Result<(), SpillError> {
        let Some(deferred) = &self.deferred else { return self.journal.append(&step) };
        let mut deferred = deferred.lock();
        deferred.push(step);
        if matches!(deferred.last(), Some(Step::Chunk(_) | Step::Prepared)) {
            return Ok(());
        }
        match <[Step; 1]>::try_from(std::mem::take(&mut *deferred)) {
            Ok([step]) => self.journal.append(&step),
            Err(steps) => self.journal.append(&Step::Together(steps)),
        }
    }
}

/// The description that identifies a run: its options, and its inputs with their sizes and times.
///
/// # Errors
/// [`ReadError::NotAgain`] for inputs that cannot be read twice.
pub(crate) fn describe_run(
    collection: &Collection,
    options: &FindOptions,
) -> Result<Value, FindError> {
    if let Some(stream) = collection.stream() {
        return Err(ReadError::NotAgain { source_name: stream.to_owned() }.into());
    }
    let reference = (0..collection.sources()).filter(|source| collection.is_reference(*source));
    Ok(json!({
        "format": FORMAT_VERSION,
        "lookalike": env!("CARGO_PKG_VERSION"),
        "parameters": options.params.to_string(),
        "columns": columns::width(BandKeys::count_of(options)),
        "keep": options.keep.to_string(),
        "group": format!("{:?}", options.grouping),
        "keepers": format!("{:?}", options.keepers),
        "pairs": match options.pairs {
            PairList::WithEstimates => json!("estimates"),
            pairs => json!(pairs.is_listed()),
        },
        "reference_pairs": options.reference_pairs,
        "related": options.related,
        "decisions": options.decisions.as_deref().map(Decisions::digest),
        "drop": options.drop.as_deref().map(DropList::digest),
        "skip_duplicate_ids": options.skip_repeated_ids,
        "source_field": options.source_field,
        "path_field": options.path_field,
        "reading": collection.reading(),
        "reference_sources": reference.count(),
        "inputs": files(&collection.inputs()),
    }))
}

fn damaged() -> SpillError {
    SpillError::altered("the steps of an earlier run")
}

/// Describes each file in words. For many files, returns only their number, their bytes and a hash
/// of these words.
fn files(inputs: &[InputStamp]) -> Value {
    let words = |input: &InputStamp| {
        let bytes = input.bytes;
        let modified = input.modified;
        Stamp { bytes, modified }.to_string()
    };
    if inputs.len() <= DESCRIBED_FILES {
        let named = inputs.iter().map(|input| (input.name.clone(), Value::String(words(input))));
        return Value::Object(named.collect());
    }
    let mut all = String::new();
    for input in inputs {
        // Writing to a string does not fail.
        let _ = writeln!(all, "{:?} {}", input.name, words(input));
    }
    json!({
        "files": inputs.len(),
        "bytes": inputs.iter().map(|input| input.bytes).sum::<u64>(),
        "names_and_times": format!("{:016x}", hash::token_hash(all.as_bytes())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk of 10 documents with one block and one source.
    fn chunk_step(ranges: &BlockRanges, documents: u32, source: u32) -> Step {
        let notes = BlockNotes { documents, ..BlockNotes::default() };
        let number = json!({ "source": 0, "index": 0 });
        let state = json!({ "number": number, "kept": { "Files": { "start": 0, "end": 1 } } });
        let tally = json!({ "source": source, "first": [number, 0], "documents": 1, "bytes": 1 });
        serde_json::from_value(json!({ "Chunk": {
            "chunk": ColumnChunk { at: 0, documents: 10 },
            "blocks": [[state, notes, ranges]],
            "columns": 0,
            "rows": 0,
            "anchors": 0,
            "skipped": 0,
            "texts": 0,
            "sources": [["name", false]],
            "tallies": [tally],
        }}))
        .unwrap()
    }

    fn batch_step(start: u32, end: u32) -> Step {
        let roots = DocumentNumber(start)..DocumentNumber(end);
        Step::Batch(BatchStep { roots, results: 0, verified: 0, duplicates: Vec::new(), pairs: 0 })
    }

    #[test]
    fn impossible_step_numbers_are_errors() {
        let ranges = |chunk, within| BlockRanges { chunk, within, rows: 0..0, anchors: 0..0 };
        let mut completed = CompletedSteps::default();
        completed.add(chunk_step(&ranges(0, 0), 10, 0)).unwrap();
        completed
            .add(Step::Together(vec![chunk_step(&ranges(1, 7), 3, 1), batch_step(3, 4)]))
            .unwrap();
        assert_eq!(
            (completed.chunks.len(), completed.batches.len(), completed.sources.len()),
            (2, 1, 2)
        );
        let wrong = [
            chunk_step(&ranges(1, 0), 1, 0),
            chunk_step(&ranges(u32::MAX, 0), 1, 0),
            chunk_step(&ranges(2, 8), 3, 0),
            chunk_step(&ranges(2, u32::MAX), 1, 0),
            chunk_step(&ranges(2, 0), 1, u32::MAX),
            batch_step(4, 3),
        ];
        for step in wrong {
            let added = completed.add(Step::Together(vec![step.clone()]));
            assert!(matches!(added, Err(FindError::Spill(SpillError::Altered { .. }))), "{step:?}");
        }
    }
}
