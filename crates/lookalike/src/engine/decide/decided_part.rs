//! Decides whole components of a divided run as a single run would. The records are sorted with the
//! records of other parts.

use crate::engine::checkpoint::Checkpoint;
use crate::engine::collect::findings::Findings;
use crate::engine::error::FindError;
use crate::engine::ids::SourceNumber;
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::pipeline;
use crate::engine::prepare::block_notes::BlockNotes;
use crate::engine::prepare::block_store::{BlockContents, BlockStoreWriter, ColumnBlock};
use crate::engine::prepare::documents::RunDocuments;
use crate::engine::prepare::share::BlockDocuments;
use crate::engine::prepare::skipped::SkippedLog;
use crate::engine::prepare::sources::{SourceTally, Sources};
use crate::progress::Progress;
use crate::read::{Collection, Spool};
use crate::spill::TempSpace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Collects documents of whole components for [`decide`].
pub(crate) struct PartDocuments<'a> {
    collection: &'a Collection,
    budget: Budget,
    sources: Arc<Sources>,
    blocks: Vec<ColumnBlock>,
}

/// The contribution of a part to the counts of a run.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct PartCounts {
    pub(crate) documents: u64,
    pub(crate) copies: u64,
    pub(crate) candidates: u64,
    pub(crate) verified: u64,
    pub(crate) pairs: u64,
}

/// The duplicates of one source.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SourceDuplicates {
    pub(crate) name: String,
    pub(crate) reference: bool,
    pub(crate) duplicates: u64,
    pub(crate) bytes: u64,
}

impl<'a> PartDocuments<'a> {
    /// Creates an empty collection. `sources` has, by the source numbers in rows, the name of each
    /// source and whether it belongs to a reference collection.
    pub(crate) fn new<'s>(
        collection: &'a Collection,
        options: &FindOptions,
        sources: impl IntoIterator<Item = (&'s str, bool)>,
    ) -> Result<Self, FindError> {
        let budget = Budget::new(&options.memory, options.threads.get())?;
        let numbered = Sources::new(options.source_field.as_ref(), &budget);
        for (name, reference) in sources {
            numbered.number(name, reference)?;
        }
        Ok(Self { collection, budget, sources: Arc::new(numbered), blocks: Vec::new() })
    }

    /// Adds documents of a block. `spool` is the spool of its share.
    pub(crate) fn add(
        &mut self,
        block: BlockDocuments,
        spool: Option<&Arc<Spool>>,
    ) -> Result<(), FindError> {
        let BlockDocuments { state, reference, columns, rows } = block;
        let retained = self.collection.retained(state, spool)?;
        let notes = BlockNotes { reference, documents: rows.len() as u32, ..BlockNotes::default() };
        let documents = BlockContents { notes, columns, rows, anchors: Vec::new() };
        self.blocks.push(ColumnBlock { retained, parts: Vec::new(), documents });
        Ok(())
    }

    /// Verifies and groups the documents.
    ///
    /// # Errors
    /// Errors of [`in_collection`](crate::find::in_collection).
    pub(crate) fn decide(
        self,
        options: &FindOptions,
        progress: &dyn Progress,
    ) -> Result<Findings, FindError> {
        let Self { collection, budget, sources, blocks } = self;
        let temp = Arc::new(TempSpace::new(options.memory.temp_dir()));
        let checkpoint = Checkpoint::default();
        let skipped = SkippedLog::open(&temp, &budget, 0)?;
        let store =
            BlockStoreWriter::new(collection, &temp, None, skipped, sources, &budget, &checkpoint)?;
        for block in blocks {
            let tallies = tallies(&block)?;
            store.push(block, &tallies)?;
        }
        let mut documents = RunDocuments::new(store.finish()?, &[])?;
        documents.is_selection = true;
        pipeline::decide_documents(collection, options, documents, temp, progress)
    }
}

/// Returns the counts of a block by source.
fn tallies(block: &ColumnBlock) -> Result<Vec<SourceTally>, FindError> {
    let number = block.retained.number();
    let mut tallies: BTreeMap<SourceNumber, SourceTally> = BTreeMap::new();
    let rows = &block.documents.rows;
    for row in rows.indices() {
        let row = rows.get(row)?;
        let empty = SourceTally { source: row.source, first: (number, 0), documents: 0, bytes: 0 };
        let tally = tallies.entry(row.source).or_insert(empty);
        tally.documents += 1;
        tally.bytes += row.bytes;
    }
    Ok(tallies.into_values().collect())
}

impl Findings {
    /// Returns the contribution of the part to the counts of a run.
    pub(crate) fn part_counts(&self) -> PartCounts {
        PartCounts {
            documents: self.counts.documents,
            copies: self.counts.copies,
            candidates: self.counts.candidates,
            verified: self.counts.verified,
            pairs: self.pairs.as_ref().map_or(0, crate::engine::collect::pairs::Pairs::len),
        }
    }

    /// Returns the duplicates of each source that has any.
    pub(crate) fn source_duplicates(&self) -> Vec<SourceDuplicates> {
        let with_duplicates = self.sources.iter().filter(|source| source.duplicates > 0);
        let duplicates = with_duplicates.map(|source| SourceDuplicates {
            name: source.name.clone(),
            reference: source.reference,
            duplicates: source.duplicates,
            bytes: source.duplicate_bytes,
        });
        duplicates.collect()
    }
}
