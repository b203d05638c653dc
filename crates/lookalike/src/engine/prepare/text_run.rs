//! The documents of a run that reads texts repeatedly, to find passages.
//!
//! ```text
//! blocks ─ prepare (threads) → anchors, documents (numbering) ─ identity (unique ids) ─ keep order
//! ```

use crate::engine::checkpoint::Checkpoint;
use crate::engine::collect::findings::{self, Findings};
use crate::engine::collect::results::{ResultSorters, RunResults};
use crate::engine::error::FindError;
use crate::engine::ids::{self, DocumentNumber, RowIndex, SourceIndex};
use crate::engine::link::excluded_documents::{ExcludedDocuments, exclude};
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::pipeline::{changed_instead, spool};
use crate::engine::prepare::anchor_log::{AnchorLog, AnchorRule};
use crate::engine::prepare::block_preparation::BlockPreparation;
use crate::engine::prepare::columns::{DocumentRow, Rows};
use crate::engine::prepare::documents::{DocumentState, RunDocuments};
use crate::engine::prepare::keep_keys::{IdleRules, KeepKeyMaker};
use crate::engine::prepare::limited_reading::LimitedReading;
use crate::engine::prepare::long_records::{LongRecords, RecordCost};
use crate::progress::{Progress, Stage};
use crate::read::{Collection, Location, ReadBuffers, RetainedBlock};
use crate::spill::{Sorter, TempSpace};
use lookalike_core::keep;
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Documents that were read, with [`Findings`] that have no groups.
pub(crate) struct TextRun {
    pub(crate) findings: Findings,
    pub(crate) budget: Budget,
    /// The rank of each document in the keep order of the run, by its number, in the form for the
    /// core.
    pub(crate) order: Vec<u32>,
    /// Bytes of the budget for anchors and counts of words.
    anchor_bytes: u64,
}

impl TextRun {
    /// Reads all documents. Returns the run and the anchors of runs of `length` tokens. A resumable
    /// run continues from the documents that an earlier run with the same `work` has read.
    ///
    /// # Errors
    /// As [`in_collection`](crate::find::in_collection).
    pub(crate) fn read(
        collection: &Collection,
        options: &FindOptions,
        length: usize,
        work: &Value,
        progress: &dyn Progress,
    ) -> Result<(Self, AnchorLog), FindError> {
        let held_bytes = collection.held_bytes() + options.held_bytes();
        let cost = RecordCost::of_words(collection, options.params.shingle(), length);
        let budget = Budget::open(&options.memory, options.threads.get())?;
        let budget = budget.with_texts().next_to(0, 0, held_bytes);
        let mut limited = LimitedReading { collection, options, cost, budget, progress };
        limited.check()?;
        let (checkpoint, temp) = Checkpoint::open(collection, options, Some(work), progress)?;
        limited.begin(checkpoint.is_active());
        let start = Instant::now();
        let (reading, budget) = loop {
            let (read, budget) = limited.read(|budget, records| {
                progress.begin(Stage::Prepare, collection.bytes());
                let reading = TextReading {
                    collection,
                    options,
                    length,
                    budget,
                    temp: &temp,
                    records,
                    checkpoint: &checkpoint,
                };
                reading.read(progress)
            })?;
            progress.end(Stage::Prepare, start.elapsed());
            if let Some(reading) = read {
                break (reading, budget);
            }
            // Records of two files have the same id. They are read again with ids that begin with
            // the file.
            collection.name_ids_by_file();
            collection.rewind();
        };
        let (documents, anchors, idle, excluded) = reading;
        let order = keep_order(&documents, &budget, &temp)?;
        let times = vec![(Stage::Prepare, start.elapsed())];
        let held_bytes = documents.store.held_bytes() as u64;
        let blocks = documents.store.blocks.len();
        let text_bytes = documents.sources.iter().map(|source| source.bytes).sum();
        let anchor_bytes = limited.cost.held_bytes(documents.len() as u64, text_bytes);
        let budget = budget.next_to(0, 0, documents.sources_held + anchor_bytes);
        let budget = budget.with_documents(documents.len(), blocks, 0)?;
        let budget = budget.with_rows(held_bytes);
        let sorted = ResultSorters::new(options, &budget, &temp).finish(0)?;
        let found = RunResults { sorted, compared: 0, candidates: 0, duplicates: Vec::new() };
        let mut findings = findings::findings(documents, found, excluded, &budget, times, temp)?;
        findings.note_inputs(collection, idle);
        Ok((Self { findings, budget, order, anchor_bytes }, anchors))
    }

    /// Reserves memory if the `bytes` of anchors and counts of words exceed the expected size.
    ///
    /// # Errors
    /// [`FindError::MemoryTooSmall`].
    pub(crate) fn hold_anchors(&mut self, bytes: u64) -> Result<(), FindError> {
        self.budget = self.budget.with_held(bytes.saturating_sub(self.anchor_bytes))?;
        Ok(())
    }

    /// The place for temporary files of the run.
    pub(crate) fn temp(&self) -> &Arc<TempSpace> {
        &self.findings.temp
    }

    /// The number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.findings.documents.store.blocks.len()
    }

    /// The documents of the i-th block.
    pub(crate) fn range(&self, i: usize) -> Range<DocumentNumber> {
        self.findings.documents.range(i)
    }

    /// The number of documents in the i-th block.
    pub(crate) fn block_len(&self, i: usize) -> u32 {
        self.range(i).end.row_after(self.range(i).start).0
    }

    /// The documents of the i-th block, each with its index in the block.
    pub(crate) fn in_block(&self, i: usize) -> impl Iterator<Item = (RowIndex, DocumentNumber)> {
        ids::from(RowIndex(0)).zip(ids::each(self.range(i)))
    }

    /// The i-th block, whose documents can be read again.
    pub(crate) fn block(&self, i: usize) -> Result<DocumentBlock<'_>, FindError> {
        let store = &self.findings.documents.store;
        Ok(DocumentBlock { retained: &store.blocks[i].retained, rows: store.rows(i)? })
    }

    /// Whether the document has tokens and is not excluded.
    pub(crate) fn is_active(&self, document: DocumentNumber) -> bool {
        self.findings.documents.state(document) == DocumentState::PLAIN
    }

    /// Whether the document belongs to the run, with tokens or without.
    pub(crate) fn takes_part(&self, document: DocumentNumber) -> bool {
        self.findings.documents.state(document).takes_part()
    }

    /// The index of a document's source in [`Findings::sources`].
    pub(crate) fn source(&self, row: &DocumentRow<'_>) -> SourceIndex {
        self.findings.documents.source(row.source)
    }

    /// Passes a document's row and block to `f`. For many documents, use [`block`](Self::block).
    pub(crate) fn with_document<R>(
        &self,
        document: DocumentNumber,
        f: impl FnOnce(&RetainedBlock, &DocumentRow<'_>) -> R,
    ) -> Result<R, FindError> {
        self.findings.documents.with_row(document, |block, row| f(&block.retained, &row))
    }

    /// The error of a document that has changed.
    pub(crate) fn changed(&self, document: DocumentNumber) -> FindError {
        self.named(document)
            .map_or_else(|error| error, |(id, place)| FindError::Changed { id, place })
    }

    /// The error of a document whose words cannot be found in its text.
    pub(crate) fn not_aligned(&self, document: DocumentNumber) -> FindError {
        let named = self.named(document);
        named.map_or_else(
            |error| error,
            |(id, place)| FindError::NotAligned { id, place: Some(place) },
        )
    }

    /// Returns the id of a document, and its location.
    pub(crate) fn named(&self, document: DocumentNumber) -> Result<(String, Location), FindError> {
        self.with_document(document, |block, row| (row.id.to_owned(), block.location(row.place)))
    }
}

/// A block and the rows of its documents.
pub(crate) struct DocumentBlock<'a> {
    pub(crate) retained: &'a RetainedBlock,
    pub(crate) rows: Rows<'a>,
}

impl DocumentBlock<'_> {
    /// Passes the row and the text of a document to `f`.
    pub(crate) fn fetch<R>(
        &self,
        row: RowIndex,
        scratch: &mut ReadBuffers,
        f: impl FnOnce(&DocumentRow<'_>, &str) -> R,
    ) -> Result<R, FindError> {
        let row = self.rows.get(row)?;
        Ok(self.retained.fetch(row.place, row.id, scratch, |text| f(&row, text))?)
    }
}

/// The result of one reading of all documents: the documents, their anchors, keep rules that did
/// not order any of them, and the counts of excluded ones.
type Reading = (RunDocuments, AnchorLog, IdleRules, ExcludedDocuments);

/// One reading of all documents.
struct TextReading<'a> {
    collection: &'a Collection,
    options: &'a FindOptions,
    length: usize,
    budget: &'a Budget,
    temp: &'a Arc<TempSpace>,
    records: Option<&'a LongRecords>,
    checkpoint: &'a Checkpoint,
}

impl TextReading<'_> {
    /// Reads all documents. Returns `None` if records of two files have the same id and can be read
    /// again with different ids.
    fn read(&self, progress: &dyn Progress) -> Result<Option<Reading>, FindError> {
        let Self { collection, options, length, budget, temp, records, checkpoint } = *self;
        let share = budget.share(8);
        let rule = options.params.shingle();
        let anchors = AnchorRule { rule, kernel: options.kernel, length, share };
        let rules = KeepKeyMaker::new(options)?;
        let spool = spool(budget, temp, checkpoint)?;
        let preparation = BlockPreparation {
            collection,
            options,
            budget,
            temp,
            spool: spool.as_ref(),
            shingles: None,
            anchors: Some(&anchors),
            rules: &rules,
            records,
            checkpoint,
        };
        let store = preparation.run(progress);
        let store = store.map_err(|error| changed_instead(collection, error))?;
        let mut documents = RunDocuments::new(store, collection.listed())?;
        let can_reread = !checkpoint.is_active();
        let excluded = exclude(collection, options, &mut documents, budget, can_reread)?;
        let Some(excluded) = excluded else { return Ok(None) };
        documents.store.drop_columns();
        let anchors = documents.store.take_anchors();
        // If an earlier run has read documents, the idle rules are unknown.
        let is_known = checkpoint.completed.chunks.is_empty() && documents.len() > 0;
        let idle = if is_known { rules.idle_rules() } else { IdleRules::default() };
        Ok(Some((documents, anchors, idle, excluded)))
    }
}

/// Returns the rank of each document in the keep order of the run, by its number.
fn keep_order(
    documents: &RunDocuments,
    budget: &Budget,
    temp: &Arc<TempSpace>,
) -> Result<Vec<u32>, FindError> {
    let mut sorter = Sorter::new(Some(Arc::clone(temp)), budget.share(4));
    for i in 0..documents.store.blocks.len() {
        for (document, row) in documents.in_block(i).zip(documents.store.rows(i)?.iter()) {
            let row = row?;
            sorter.push(&keep::sort_key(row.key, row.id.as_bytes()), &document.0.to_le_bytes())?;
        }
    }
    let mut order = vec![0; documents.len()];
    let sorted = sorter.finish()?;
    let mut cursor = sorted.cursor();
    let mut number = 0;
    while let Some((_, document)) = cursor.next_record()? {
        let document = document.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        if let Some(order) = document.and_then(|document| order.get_mut(document as usize)) {
            *order = number;
        }
        number += 1;
    }
    Ok(order)
}
