//! Adds the documents of a collection to an index. Several threads read the documents, which are
//! written in reading order.

use super::add_options::AddOptions;
use super::batch_writer::{AddCounts, BatchWriter, InterruptedAdd};
use super::pipeline::write_in_order;
use super::prepare::TextPreparer;
use super::prepared_block::{CollectionPreparer, PreparedBlock};
use crate::index::error::AddError;
use crate::progress::{Progress, Stage};
use crate::read::{Block, Collection, ReadError};
use crate::read_progress::ReadProgress;
use lookalike_index::{Index, IndexError};
use parking_lot::Mutex;
use std::time::Instant;

/// The number of documents in a full batch.
const BATCH_DOCUMENTS: usize = 4096;
/// Bytes of documents in a full batch, even if it has fewer documents.
const BATCH_BYTES: usize = 64 << 20;

/// Threads may prepare at least this number of blocks ahead of the writer. They prepare its next
/// batch while it waits for the disk.
const WINDOW: u64 = 16;

/// Reads a collection and adds its documents to an index, in reading order, in batches of a few
/// thousand. Stored batches remain stored if a later one fails. The collection must not normalize
/// texts, because the index applies its own normalization.
///
/// The metadata of every document contain `source` (its file) and the chosen fields. A document in
/// a file that is not plain text also has the properties in the file (`title`, `subject`, `from`,
/// `date`, …). Fields of JSONL keep their types, fields of other formats are texts. If an id is
/// repeated in the collection, the later document is handled like one whose id exists in the index.
///
/// # Errors
/// The error of the first record, in reading order, that cannot be read or stored, with the place
/// of the record. Otherwise an error of writing to the index. All documents before the error are
/// stored.
pub fn add(
    index: &Index,
    collection: &Collection,
    options: &AddOptions,
    progress: &dyn Progress,
) -> Result<AddCounts, Box<InterruptedAdd>> {
    let start = Instant::now();
    progress.begin(Stage::Add, collection.bytes());
    let reader = CollectionReader {
        collection,
        options,
        progress: ReadProgress::new(collection, progress),
        next_number: Mutex::new(0),
    };
    let mut writer = BatchWriter::new(index, options, (BATCH_DOCUMENTS, BATCH_BYTES));
    writer.counts.skipped.extend_from_slice(collection.listed());
    let written = reader.write(index, &mut writer);
    progress.end(Stage::Add, start.elapsed());
    writer.finish(written)
}

/// Reads a collection in several threads.
struct CollectionReader<'a> {
    collection: &'a Collection,
    options: &'a AddOptions,
    progress: ReadProgress<'a>,
    /// Number of the next block.
    next_number: Mutex<u64>,
}

impl CollectionReader<'_> {
    fn write(&self, index: &Index, writer: &mut BatchWriter<'_>) -> Result<(), AddError> {
        let threads = self.options.threads.get();
        let stream = || Ok(self.blocks(TextPreparer::new(index.settings())?));
        let other_streams =
            (1..threads).map(|_| stream()).collect::<Result<Vec<_>, IndexError>>()?;
        write_in_order(writer, WINDOW.max(4 * threads as u64), stream()?, other_streams)
    }

    /// Iterates over the blocks that one thread reads, each with its number. Ends after the first
    /// block that fails.
    fn blocks(&self, preparer: TextPreparer) -> impl Iterator<Item = (u64, PreparedBlock)> {
        let mut preparer = CollectionPreparer::new(self.collection, preparer, self.options);
        let mut failed = false;
        std::iter::from_fn(move || {
            if failed {
                return None;
            }
            let (number, block) = self.next()?;
            let mut block = match block {
                Ok(block) => preparer.prepare(&block),
                Err(error) => PreparedBlock::failed(error),
            };
            if let Err(interruption) = self.progress.report() {
                block.failure.get_or_insert(interruption.into());
            }
            failed = block.failure.is_some();
            Some((number, block))
        })
    }

    /// Returns the next block in reading order, and its number.
    fn next(&self) -> Option<(u64, Result<Block, ReadError>)> {
        let mut number = self.next_number.lock();
        let block = self.collection.next_block_in_order().transpose()?;
        *number += 1;
        Some((*number - 1, block))
    }
}
