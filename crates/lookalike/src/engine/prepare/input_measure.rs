//! Counts the memory that a run needs, without allocating it. Runs after a refusal, so that the
//! error can state a limit that suffices for the whole input.

use crate::engine::error::FindError;
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::prepare::keep_keys::KeepKeyMaker;
use crate::engine::prepare::long_records::{LongRecords, USUAL_RECORD_BYTES};
use crate::engine::prepare::sources::{MAX_SOURCES, source_bytes};
use crate::progress::Progress;
use crate::read::{
    Block, BlockNumber, Collection, Document, DocumentSink, ReadBuffers, ReadError, RecordSize,
    SkippedItem, TextUnit,
};
use lookalike_core::hash;
use std::collections::HashSet;

/// The longest record that is held while it is measured, in bytes.
const HELD_BYTES: u64 = 4 << 20;

/// Reads all inputs, a stream only from its current position. Returns the budget that documents and
/// sources leave, with the memory for long records. Adds the long records to `records`.
///
/// # Errors
/// Errors of reading, and [`FindError::TooManySources`].
pub(crate) fn measured(
    collection: &Collection,
    options: &FindOptions,
    budget: &Budget,
    records: &LongRecords,
    progress: &dyn Progress,
) -> Result<Budget, FindError> {
    let rules = KeepKeyMaker::new(options)?;
    let mut measure = InputMeasure {
        collection,
        options,
        rules: &rules,
        records,
        block: BlockNumber { source: 0, index: 0 },
        copies: [0; 2],
        documents: 0,
        names: HashSet::new(),
        name_bytes: 0,
        text_bytes: 0,
        unread: 0,
    };
    let blocks = read_within_limit(collection, progress, &mut measure, |measure, block| {
        measure.block = block.number();
        records.add(block.number(), block_size(block));
        measure.copies = [false, true].map(|is_escaped| block.copies(is_escaped));
    })?;
    measure.add_sources_of_unread();
    let InputMeasure { documents, name_bytes, text_bytes, .. } = measure;
    let held_bytes = name_bytes + records.held_bytes(documents as u64, text_bytes);
    Ok(budget.next_to(documents, blocks, held_bytes).with_records(records.memory()))
}

/// Reads all inputs, a stream only from its current position. Long records are not held: the sink
/// receives their sizes. Calls `begin` before each block, and returns the number of blocks.
///
/// # Errors
/// Errors of reading and of the sink.
pub(crate) fn read_within_limit<S: DocumentSink<Error = FindError>>(
    collection: &Collection,
    progress: &dyn Progress,
    sink: &mut S,
    mut begin: impl FnMut(&mut S, &Block),
) -> Result<usize, FindError> {
    if collection.stream().is_none() {
        collection.rewind();
    }
    collection.limit_records(HELD_BYTES);
    let mut scratch = ReadBuffers::default();
    let mut blocks = 0;
    loop {
        progress.advance(0)?;
        let read = match collection.next_block() {
            Ok(None) => return Ok(blocks),
            Ok(Some(block)) => {
                begin(sink, &block);
                block.read(&mut scratch, sink)
            }
            Err(error) => Err(error.into()),
        };
        blocks += 1;
        match read {
            Ok(()) => {}
            Err(FindError::Read(ReadError::OverMemory { size, .. })) => {
                sink.over_memory(&size);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Counts the documents and sources.
struct InputMeasure<'a> {
    collection: &'a Collection,
    options: &'a FindOptions,
    rules: &'a KeepKeyMaker,
    records: &'a LongRecords,
    block: BlockNumber,
    /// [`RecordSize::copies`] of records without backslashes, and of records with backslashes.
    copies: [u64; 2],
    documents: usize,
    names: HashSet<u64>,
    /// Bytes of the names of sources.
    name_bytes: u64,
    text_bytes: u64,
    /// The number of records that were not held.
    unread: u32,
}

impl InputMeasure<'_> {
    /// Adds the name of a source, under which documents are counted.
    fn add_source(&mut self, name: &str, source: u32) {
        let reference = u64::from(self.collection.is_reference(source));
        if self.names.insert(hash::token_hash(name.as_bytes()) ^ reference) {
            self.name_bytes += source_bytes(name);
        }
    }

    /// Adds the names of all inputs if a record was not held, because its source is one of them.
    fn add_sources_of_unread(&mut self) {
        if self.unread == 0 || self.options.source_field.is_some() {
            return;
        }
        for source in 0..self.collection.sources() {
            self.add_source(self.collection.source_name(source).unwrap_or_default(), source);
        }
    }
}

impl DocumentSink for InputMeasure<'_> {
    type Error = FindError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        self.documents += 1;
        self.text_bytes += document.text.len() as u64;
        let name = self.rules.source(self.collection, self.block.source, document);
        self.add_source(&name, self.block.source);
        if let Some(field) = &self.options.source_field
            && self.names.len() > MAX_SOURCES
        {
            let field = field.clone();
            let got = self.names.len();
            return Err(FindError::TooManySources { field, got, most: MAX_SOURCES });
        }
        if let Some(size) = long_record(document, self.copies) {
            self.records.add(self.block, size);
        }
        Ok(())
    }

    fn over_memory(&mut self, size: &RecordSize) -> bool {
        let units = match self.collection.unit() {
            TextUnit::Document => 0,
            TextUnit::Line | TextUnit::Paragraph => size.lines,
            TextUnit::Sentence => size.lines + size.stops,
        };
        self.documents += 1 + units as usize;
        self.text_bytes += size.bytes;
        // The block contains only this record, so any number that no other block has can stand for
        // it.
        self.records.add(BlockNumber { source: u32::MAX, index: self.unread }, *size);
        self.unread += 1;
        true
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), FindError> {
        Ok(())
    }
}

/// Returns the size of a record that needs no more memory than this block. A block of many rows is
/// longer than each of its records, and a block of one long record is measured by this record.
pub(crate) fn block_size(block: &Block) -> RecordSize {
    let mut size = RecordSize::default();
    size.bytes = block.bytes() / 3 * 2;
    size
}

/// Returns the size of a document's record if the record is long. `copies` is
/// [`RecordSize::copies`] of records without backslashes, and of records with backslashes.
pub(crate) fn long_record(document: &Document<'_>, copies: [u64; 2]) -> Option<RecordSize> {
    let mut size = document.long_record(USUAL_RECORD_BYTES)?;
    size.copies = copies[usize::from(size.is_escaped)];
    Some(size)
}
