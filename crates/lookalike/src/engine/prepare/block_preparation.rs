//! Reads blocks and computes their columns: shingles, signs and bands every document, and drops its
//! text.

use crate::digest::InputsDigest;
use crate::engine::checkpoint::{Checkpoint, Step};
use crate::engine::error::FindError;
use crate::engine::ids::{Id, RowIndex, SourceNumber};
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::prepare::anchor_log::{AnchorRule, AnchorWriter};
use crate::engine::prepare::block_notes::BlockNotes;
use crate::engine::prepare::block_store::{
    BlockContents, BlockPart, BlockStore, BlockStoreWriter, ColumnBlock,
};
use crate::engine::prepare::columns::{
    self, DocumentRow, FIRST_BAND_COLUMN, FixedColumns, RowBuffer,
};
use crate::engine::prepare::input_measure::{block_size, long_record};
use crate::engine::prepare::keep_keys::KeepKeyMaker;
use crate::engine::prepare::long_records::LongRecords;
use crate::engine::prepare::mail_removals::MailRemovals;
use crate::engine::prepare::shingle_log::{ShingleLog, ShingleWriter};
use crate::engine::prepare::shingles::{BandKeys, ShingleCutter};
use crate::engine::prepare::skipped::{SkippedLog, SkippedWriter};
use crate::engine::prepare::sources::{SourceTally, Sources};
use crate::engine::workers::{Earliest, on_threads};
use crate::folding::{SampledIds, Sampler};
use crate::progress::Progress;
use crate::read::{
    Block, BlockNumber, Collection, Document, DocumentSink, ReadBuffers, SkippedItem, Spool,
};
use crate::read_progress::ReadProgress;
use crate::spill::TempSpace;
use lookalike_core::hash;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of columns and rows of units at which these units become a part of their block. A block
/// can have as many units as bytes, so their columns can be long.
const PART_BYTES: usize = 4 << 20;
/// The most values of columns whose memory a thread keeps for the next block.
const KEPT_VALUES: usize = 1 << 20;

/// The values that all threads share.
pub(crate) struct BlockPreparation<'a> {
    pub(crate) collection: &'a Collection,
    pub(crate) options: &'a FindOptions,
    pub(crate) budget: &'a Budget,
    pub(crate) temp: &'a Arc<TempSpace>,
    /// Receives texts that cannot be read again. `None` keeps them in memory.
    pub(crate) spool: Option<&'a Arc<Spool>>,
    /// Receives the shingles, in exact mode.
    pub(crate) shingles: Option<&'a ShingleLog>,
    /// The rule of anchors, if anchors are stored instead of bucket keys and shingles.
    pub(crate) anchors: Option<&'a AnchorRule<'a>>,
    pub(crate) rules: &'a KeepKeyMaker,
    /// Counts long records, if memory is limited.
    pub(crate) records: Option<&'a LongRecords>,
    /// The steps of an earlier run, and the journal for further ones.
    pub(crate) checkpoint: &'a Checkpoint,
}

impl BlockPreparation<'_> {
    /// Reads the whole collection. The blocks of the result are in reading order.
    pub(crate) fn run(&self, progress: &dyn Progress) -> Result<BlockStore, FindError> {
        let Self { collection, options, budget, temp, spool, checkpoint, .. } = *self;
        let read_progress = ReadProgress::new(collection, progress);
        let last_step = checkpoint.completed.chunks.last();
        let skipped = SkippedLog::open(temp, budget, last_step.map_or(0, |step| step.skipped))?;
        let sources = Arc::new(Sources::new(options.source_field.as_ref(), budget));
        let log = Arc::clone(&skipped);
        let names = Arc::clone(&sources);
        let mut store =
            BlockStoreWriter::new(collection, temp, spool, log, names, budget, checkpoint)?;
        if let Some(rule) = self.anchors {
            store = store.with_anchors(temp, rule.share)?;
        }
        if checkpoint.completed.prepared {
            return store.finish();
        }
        let stored = store.blocks();
        let sampled = SampledIds::default();
        // Blocks of one source are assigned in order, and every block that was begun is finished.
        // So the first failure of a source is reported, regardless of the thread. If several
        // sources fail, it depends on the threads which failure is reported.
        let failed = Earliest::<BlockNumber, FindError>::default();
        let result = on_threads(options.threads, |stop| {
            let mut preparer = BlockPreparer::new(self, &skipped, &sources, &store, &sampled);
            let mut scratch = ReadBuffers::retaining();
            while !stop.is_requested() {
                let Some(block) = collection.next_block()? else { break };
                let number = block.number();
                if stored.contains(&number) {
                    continue;
                }
                match preparer.prepare(block, &mut scratch) {
                    Ok(mut prepared) => {
                        prepared.documents.notes.skipped = preparer.skipped.take(&skipped)?;
                        store.push(prepared, &preparer.take_tallies())?;
                    }
                    Err(error) => {
                        failed.keep(number, error);
                        stop.request();
                    }
                }
                read_progress.report()?;
            }
            preparer.finish()
        });
        failed.or::<_, FindError>(result)?;
        let blocks = store.finish()?;
        checkpoint.append(Step::Prepared)?;
        Ok(blocks)
    }
}

/// The buffers of one thread, and the columns of the current block.
struct BlockPreparer<'a> {
    shared: &'a BlockPreparation<'a>,
    cutter: ShingleCutter,
    bands: BandKeys,
    shingles: Option<ShingleWriter<'a>>,
    anchors: Option<AnchorWriter>,
    source: u32,
    block: u32,
    /// [`RecordSize::copies`] of a record without backslashes, and of a record with backslashes.
    copies: [u64; 2],
    reference: bool,
    store: &'a BlockStoreWriter<'a>,
    /// The stored parts of the block, which have `before` documents.
    parts: Vec<BlockPart>,
    before: u32,
    rows: RowBuffer,
    key: Vec<u8>,
    empty: Vec<RowIndex>,
    /// Values of the columns, document after document.
    values: Vec<u64>,
    sources: &'a Sources,
    /// The index in `tallies` of each source of the block, by its name.
    tally_of: HashMap<Box<str>, usize>,
    tallies: Vec<SourceTally>,
    skipped: SkippedWriter,
    skipped_file: &'a SkippedLog,
    inputs: InputsDigest,
    cut_from_mail: MailRemovals,
    sampler: Sampler<'a>,
}

impl<'a> BlockPreparer<'a> {
    fn new(
        shared: &'a BlockPreparation<'a>,
        skipped_file: &'a SkippedLog,
        sources: &'a Sources,
        store: &'a BlockStoreWriter<'a>,
        sampled: &'a SampledIds,
    ) -> Self {
        Self {
            shared,
            cutter: ShingleCutter::new(shared.options),
            bands: BandKeys::new(shared.options),
            shingles: shared.shingles.map(ShingleLog::writer),
            anchors: shared.anchors.map(AnchorWriter::new),
            source: 0,
            block: 0,
            copies: [0; 2],
            reference: false,
            store,
            parts: Vec::new(),
            before: 0,
            rows: RowBuffer::default(),
            key: Vec::new(),
            empty: Vec::new(),
            values: Vec::new(),
            sources,
            tally_of: HashMap::new(),
            tallies: Vec::new(),
            skipped: SkippedWriter::default(),
            skipped_file,
            inputs: InputsDigest::default(),
            cut_from_mail: MailRemovals::default(),
            sampler: Sampler::new(
                shared.options.params.shingle(),
                shared.collection.normalization(),
                sampled,
            ),
        }
    }

    fn prepare(
        &mut self,
        block: Block,
        scratch: &mut ReadBuffers,
    ) -> Result<ColumnBlock, FindError> {
        let number = block.number();
        self.source = number.source;
        self.block = number.index;
        self.reference = self.shared.collection.is_reference(number.source);
        self.copies = [false, true].map(|is_escaped| block.copies(is_escaped));
        if let Some(records) = self.shared.records {
            records.add(number, block_size(&block));
            self.shared.budget.check_records(records.memory())?;
        }
        self.parts = Vec::new();
        self.before = 0;
        block.read(scratch, self)?;
        if let Some(log) = &mut self.shingles {
            log.end_block(number);
        }
        let mut documents = self.take_documents();
        documents.notes.inputs = std::mem::take(&mut self.inputs);
        documents.notes.cut_from_mail = std::mem::take(&mut self.cut_from_mail);
        documents.notes.drawn = self.sampler.take();
        let retained = block.retain(self.shared.spool, scratch)?;
        Ok(ColumnBlock { retained, parts: std::mem::take(&mut self.parts), documents })
    }

    /// Returns the documents since the last part of the block.
    fn take_documents(&mut self) -> BlockContents {
        let columns = FixedColumns::transposed(&self.values, columns::width(self.bands.count()));
        self.values.clear();
        self.values.shrink_to(KEPT_VALUES);
        let rows = std::mem::take(&mut self.rows);
        let notes = BlockNotes {
            reference: self.reference,
            documents: rows.len() as u32,
            empty: std::mem::take(&mut self.empty),
            ..BlockNotes::default()
        };
        let anchors = self.anchors.as_mut().map(AnchorWriter::take).unwrap_or_default();
        BlockContents { notes, columns, rows, anchors }
    }

    /// Stores the units read so far if they use much memory. Columns and rows need twice their
    /// memory while they are stored.
    fn end_part(&mut self) -> Result<(), FindError> {
        if 16 * self.values.len() + 2 * self.rows.bytes.len() < PART_BYTES {
            return Ok(());
        }
        let documents = self.take_documents();
        self.before += documents.notes.documents;
        self.parts.push(self.store.push_part(documents)?);
        Ok(())
    }

    /// Adds the bucket keys and bits of a document to the values from `start` on, or logs its
    /// shingles, or adds its anchors. Returns its fingerprint.
    fn represent(&mut self, document: &Document<'_>, start: usize) -> Result<u128, FindError> {
        if let Some(anchors) = &mut self.anchors {
            if document.shingled.is_some() {
                let source = self.shared.collection.source_name(self.source).unwrap_or_default();
                return Err(FindError::WithoutTexts { source_name: source.to_owned() });
            }
            let (fingerprint, is_empty) = anchors.add(document.text);
            self.empty.extend(is_empty.then_some(RowIndex::new(self.rows.len())));
            return Ok(fingerprint);
        }
        let shingles = self.cutter.shingles(document);
        if let Some(log) = &mut self.shingles {
            log.add(shingles.hashes)?;
        }
        if shingles.hashes.is_empty() {
            self.empty.push(RowIndex::new(self.rows.len()));
        } else if self.bands.count() > 0 {
            self.bands.write_columns(shingles.hashes, &mut self.values[start..]);
        }
        Ok(shingles.fingerprint)
    }

    /// Adds the remaining shingles to the log.
    fn finish(self) -> Result<(), FindError> {
        Ok(self.shingles.map_or(Ok(()), ShingleWriter::finish)?)
    }

    /// Returns the counts of the block by source.
    fn take_tallies(&mut self) -> Vec<SourceTally> {
        self.tally_of.clear();
        std::mem::take(&mut self.tallies)
    }

    /// Counts a document for its source, and returns the source.
    fn count_source(&mut self, document: &Document<'_>) -> Result<SourceNumber, FindError> {
        let name = self.shared.rules.source(self.shared.collection, self.source, document);
        let at = if let Some(at) = self.tally_of.get(&*name) {
            *at
        } else {
            let source = self.sources.number(&name, self.reference)?;
            let at = self.tallies.len();
            let block = BlockNumber { source: self.source, index: self.block };
            let first = (block, at as u32);
            self.tallies.push(SourceTally { source, first, documents: 0, bytes: 0 });
            self.tally_of.insert(name.into(), at);
            at
        };
        let tally = &mut self.tallies[at];
        tally.documents += 1;
        tally.bytes += document.bytes();
        Ok(tally.source)
    }
}

impl DocumentSink for BlockPreparer<'_> {
    type Error = FindError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        if let Some(records) = self.shared.records
            && let Some(size) = long_record(document, self.copies)
        {
            records.add(BlockNumber { source: self.source, index: self.block }, size);
            self.shared.budget.check_records(records.memory())?;
        }
        if document.parent.is_some() {
            self.end_part()?;
        }
        let id_hash = hash::token_hash(document.id.as_bytes());
        let start = self.values.len();
        self.values.extend([id_hash, 0, 0]);
        self.values.resize(start + columns::width(self.bands.count()), 0);
        let fingerprint = self.represent(document, start + FIRST_BAND_COLUMN)?;
        self.values[start + 1..start + FIRST_BAND_COLUMN]
            .copy_from_slice(&[(fingerprint >> 64) as u64, fingerprint as u64]);
        self.inputs.add(document.id, fingerprint);
        if let Some(fields) = document.about {
            self.cut_from_mail.add(fields);
        }
        if document.shingled.is_none() {
            let of_shingles = self.anchors.is_none().then_some(fingerprint);
            self.sampler.add(id_hash, document.text, of_shingles);
        }
        let source = self.count_source(document)?;
        let position = [self.source, self.block, self.before + self.rows.len() as u32];
        self.key.clear();
        let collection = self.shared.collection;
        self.shared.rules.key(collection, document, position, self.reference, &mut self.key);
        self.rows.push(&DocumentRow {
            place: document.place,
            fingerprint,
            bytes: document.bytes(),
            source,
            key: &self.key,
            id: document.id,
        });
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), FindError> {
        self.skipped.push(&skipped, self.skipped_file)
    }
}
