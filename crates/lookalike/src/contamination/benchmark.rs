//! Reads the items of a benchmark from its collections, in reading order.

use super::error::ContaminationError;
use super::options::ContaminationOptions;
use crate::document_pass::{DocumentVisitor, each_document};
use crate::engine::{Budget, FindError, explained};
use crate::progress::Progress;
use crate::read::{Block, BlockNumber, Collection, Document, DocumentSink, ReadError, SkippedItem};
use crate::words::{ComparedWords, WordRule};
use lookalike_core::shingle::Shingler;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the index and of the scan for each run. They cover the hash of the run, its filter bits
/// (the filter may be twice as large as necessary), its class with place, texts and set, the flag
/// of the scan, and the growth of buffers.
const RUN_BYTES: u64 = 64;

/// A field of the items of a benchmark.
#[derive(Clone, Copy)]
pub struct BenchmarkField<'a> {
    /// Its name, if several fields are searched.
    pub name: Option<&'a str>,
    /// Documents whose texts are the values of the field.
    pub collection: &'a Collection,
}

impl BenchmarkField<'_> {
    /// Whether an error is about a record or a table of this collection. If so, a field that the
    /// error names belongs to the benchmark.
    #[must_use]
    pub fn is_source_of(&self, error: &FindError) -> bool {
        let source = match error {
            FindError::Read(ReadError::BadRecord(record)) => &record.source,
            FindError::Read(ReadError::Table { source_name, .. }) => source_name,
            _ => return false,
        };
        let mut sources = 0..self.collection.sources();
        sources.any(|number| self.collection.source_name(number) == Some(source.as_str()))
    }
}

/// A text to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchmarkItem {
    /// The file, folder or stream of the item.
    pub benchmark: String,
    /// The field of the record with the text, if several fields are searched.
    pub field: Option<String>,
    /// The id of its record.
    pub id: String,
    /// The text.
    pub text: String,
    /// The number of words. An item without words is never found.
    pub words: u32,
}

/// An item with its words to compare.
#[derive(Debug)]
pub(super) struct ItemWords {
    pub(super) item: BenchmarkItem,
    pub(super) tokens: Vec<u64>,
    pub(super) compared: ComparedWords,
}

/// The items of a benchmark, and the skipped ones.
pub(super) struct BenchmarkItems {
    pub(super) items: Vec<ItemWords>,
    pub(super) skipped: Vec<SkippedItem>,
    /// Bytes of memory of the items and of the index of their runs.
    pub(super) bytes: u64,
}

/// Bytes of memory for each item besides its text and its words.
const ITEM_BYTES: u64 = 300;
/// Bytes of memory for each word of an item: its hash and its range.
const WORD_BYTES: u64 = 16;

/// Bytes of memory for an item with a text of this length and its runs. Memory holds both the
/// original text and the words to compare.
pub(super) fn item_bytes(text_bytes: u64, words: u64) -> u64 {
    2 * text_bytes + words * (WORD_BYTES + RUN_BYTES) + ITEM_BYTES
}

/// Memory of items, counted while they are read.
struct ItemMemory {
    budget: Budget,
    bytes: AtomicU64,
}

impl ItemMemory {
    /// Returns an error if this item, the previous items and the index of their runs exceed the
    /// memory.
    fn take(&self, text: &str, words: usize) -> Result<(), FindError> {
        let bytes = item_bytes(text.len() as u64, words as u64);
        self.budget.need(self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes)
    }
}

/// Reads all items.
pub(super) fn read(
    fields: &[BenchmarkField<'_>],
    options: &ContaminationOptions,
    progress: &dyn Progress,
) -> Result<BenchmarkItems, ContaminationError> {
    let budget = Budget::of_texts(&options.memory, options.threads.get(), 0)?;
    let memory = ItemMemory { budget, bytes: AtomicU64::new(0) };
    let mut read = BenchmarkItems { items: Vec::new(), skipped: Vec::new(), bytes: 0 };
    for field in fields {
        let make = || ItemReader::new(field, options, &memory);
        if let Some(bytes) = budget.longest_record() {
            field.collection.limit_records(bytes);
        }
        let readers = each_document(field.collection, options.threads, progress, make);
        let readers = readers.map_err(|error| explained(field.collection, &budget, error))?;
        let mut blocks = Vec::new();
        for reader in readers {
            blocks.extend(reader.blocks);
            read.skipped.extend(reader.skipped);
        }
        blocks.sort_by_key(|(number, _)| *number);
        read.items.extend(blocks.into_iter().flat_map(|(_, items)| items));
        field.collection.check_unchanged()?;
    }
    read.bytes = memory.bytes.into_inner();
    if read.items.iter().all(|item| item.tokens.is_empty()) {
        let items = read.items.len();
        return Err(ContaminationError::NoWords { items });
    }
    Ok(read)
}

/// Receives the items of blocks.
struct ItemReader<'a> {
    field: &'a BenchmarkField<'a>,
    rule: WordRule,
    shingler: Shingler,
    memory: &'a ItemMemory,
    source: u32,
    blocks: Vec<(BlockNumber, Vec<ItemWords>)>,
    skipped: Vec<SkippedItem>,
}

impl<'a> ItemReader<'a> {
    fn new(
        field: &'a BenchmarkField<'a>,
        options: &ContaminationOptions,
        memory: &'a ItemMemory,
    ) -> Self {
        let rule = options.rule.clone().with_stop_words(None);
        Self {
            field,
            rule: WordRule::of(&rule),
            shingler: Shingler::with_kernel(&rule, options.kernel),
            memory,
            source: 0,
            blocks: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

impl DocumentVisitor for ItemReader<'_> {
    fn block(&mut self, block: &Block, _: bool) {
        let number = block.number();
        self.source = number.source;
        self.blocks.push((number, Vec::new()));
    }
}

impl DocumentSink for ItemReader<'_> {
    type Error = FindError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        let tokens = self.shingler.tokens(document.text).to_vec();
        self.memory.take(document.text, tokens.len())?;
        let item = BenchmarkItem {
            benchmark: self.field.collection.file_of(self.source, document.id).to_owned(),
            field: self.field.name.map(str::to_owned),
            id: document.id.to_owned(),
            text: document.text.to_owned(),
            words: tokens.len() as u32,
        };
        let compared = self.rule.words(document.text);
        if let Some((_, items)) = self.blocks.last_mut() {
            items.push(ItemWords { item, tokens, compared });
        }
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), FindError> {
        self.skipped.push(skipped);
        Ok(())
    }
}
