//! Finished steps of a run, so that it goes on from them after it was broken off.
//!
//! ```text
//! prepare: Chunk … Prepared      bucket: Band …      decide: Plan, Batch …
//! ```
//!
//! A step is written to the journal when the data it speaks of are on the disk. What is cheap and
//! the same every time (numbering, equal documents, connecting) is done again.

use super::FindOptions;
use super::parts::{Chunk, Label};
use crate::digest::Inputs;
use crate::error::Error;
use crate::read::{BlockNumber, Collection, ReadError, RetainedState, Skipped};
use crate::spill::{Journal, TempSpace, Workspace};
use lookalike_core::hash;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The version of the files in a run's folder.
const FORMAT_VERSION: u32 = 1;

/// A stretch of a file: where it begins, and its length.
pub(super) type Piece = (u64, u64);

/// What is stored of a part beside its columns and rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PartState {
    pub(super) number: BlockNumber,
    pub(super) retained: RetainedState,
    pub(super) reference: bool,
    pub(super) documents: u32,
    pub(super) empty: Vec<u32>,
    pub(super) labels: Vec<Label>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) inputs: Inputs,
    pub(super) within: u32,
    pub(super) rows: Piece,
}

/// A chunk of columns, its parts, and how long the files were when it was complete.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChunkStep {
    pub(super) chunk: Chunk,
    pub(super) parts: Vec<PartState>,
    pub(super) columns_len: u64,
    pub(super) rows_len: u64,
    pub(super) texts_len: u64,
}

/// The lists of one band, or of all where candidates are not found by bands.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BandStep {
    pub(super) band: u32,
    pub(super) pieces: Vec<Piece>,
    pub(super) memberships: u64,
}

/// What one batch gave.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BatchStep {
    pub(super) number: u32,
    pub(super) pieces: Vec<Piece>,
    pub(super) verified: u64,
    /// Duplicates and their bytes, by source.
    pub(super) duplicates: Vec<(u64, u64)>,
    pub(super) pairs: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Step {
    Chunk(Box<ChunkStep>),
    Prepared,
    Band(BandStep),
    Plan(Vec<Range<u32>>),
    Batch(BatchStep),
}

/// What an earlier run finished.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) chunks: Vec<ChunkStep>,
    pub(super) prepared: bool,
    pub(super) bands: BTreeMap<u32, BandStep>,
    pub(super) plan: Option<Vec<Range<u32>>>,
    pub(super) batches: BTreeMap<u32, BatchStep>,
}

/// The journal of a run.
pub(super) struct Checkpoint {
    journal: Journal<Step>,
    pub(super) done: Done,
    /// Steps that are of no use without a later one, until that is done.
    deferred: Option<Mutex<Vec<Step>>>,
}

impl Checkpoint {
    /// Opens the folder of the run, made now or by an earlier run with the same inputs and options.
    pub(super) fn open(
        collection: &Collection,
        options: &FindOptions,
    ) -> Result<(Self, Arc<TempSpace>), Error> {
        let description = describe(collection, options)?;
        let sources = (0..collection.sources()).filter_map(|source| collection.source_name(source));
        let sources = sources.collect::<Vec<_>>().join("\n");
        let name = format!("{:016x}", hash::token_hash(sources.as_bytes()));
        let workspace = Workspace::resumable(&options.memory.temp_dir(), &name, &description)?;
        let (journal, steps) = Journal::open(&workspace, "steps")?;
        let mut done = Done::default();
        for step in steps {
            match step {
                Step::Chunk(step) => done.chunks.push(*step),
                Step::Prepared => done.prepared = true,
                Step::Band(step) => drop(done.bands.insert(step.band, step)),
                Step::Plan(ranges) => done.plan = Some(ranges),
                Step::Batch(step) => drop(done.batches.insert(step.number, step)),
            }
        }
        // Shingles are counted while documents are read, so that stage is done as a whole.
        let deferred = options.params.exact().then(Mutex::default);
        Ok((Self { journal, done, deferred }, Arc::new(TempSpace::resumable(workspace))))
    }

    fn append(&self, step: Step) -> Result<(), Error> {
        match &self.deferred {
            Some(deferred) if matches!(step, Step::Chunk(_) | Step::Prepared) => {
                deferred.lock().unwrap_or_else(PoisonError::into_inner).push(step);
                Ok(())
            }
            Some(deferred) => {
                let mut deferred = deferred.lock().unwrap_or_else(PoisonError::into_inner);
                for earlier in deferred.drain(..) {
                    self.journal.append(&earlier)?;
                }
                self.journal.append(&step)
            }
            None => self.journal.append(&step),
        }
    }

    pub(super) fn chunk(&self, step: ChunkStep) -> Result<(), Error> {
        self.append(Step::Chunk(Box::new(step)))
    }

    pub(super) fn prepared(&self) -> Result<(), Error> {
        self.append(Step::Prepared)
    }

    pub(super) fn band(&self, step: BandStep) -> Result<(), Error> {
        self.append(Step::Band(step))
    }

    pub(super) fn plan(&self, ranges: &[Range<u32>]) -> Result<(), Error> {
        self.append(Step::Plan(ranges.to_vec()))
    }

    pub(super) fn batch(&self, step: BatchStep) -> Result<(), Error> {
        self.append(Step::Batch(step))
    }
}

/// What makes a run the one it is.
fn describe(collection: &Collection, options: &FindOptions) -> Result<Value, Error> {
    if let Some(stream) = collection.stream() {
        return Err(ReadError::NotAgain { source_name: stream.to_owned() }.into());
    }
    let mut files = String::new();
    let mut bytes = 0;
    let inputs = collection.inputs();
    for stamp in &inputs {
        bytes += stamp.bytes;
        // Writing to a string does not fail.
        let _ = writeln!(files, "{:?} {} {:?}", stamp.name, stamp.bytes, stamp.modified);
    }
    Ok(json!({
        "format": FORMAT_VERSION,
        "lookalike": env!("CARGO_PKG_VERSION"),
        "parameters": options.params.to_string(),
        "keep": options.keep.to_string(),
        "group": format!("{:?}", options.grouping),
        "pairs": options.pairs,
        "skip_duplicate_ids": options.skip_duplicate_ids,
        "source_field": options.source_field,
        "reading": collection.reading(),
        "files": inputs.len(),
        "bytes": bytes,
        "files_and_times": format!("{:016x}", hash::token_hash(files.as_bytes())),
    }))
}
