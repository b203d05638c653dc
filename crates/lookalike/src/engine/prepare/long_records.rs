//! The long records of a run, and the memory for reading and comparing them.
//!
//! ```text
//! reading   = 1¼ bytes · length + length for each copy of the text + token bytes · tokens
//! comparing = shingles or words of two records, and the buffers in which one of them is read
//! ```

use crate::read::{BlockNumber, Collection, RecordSize, TextUnit};
use lookalike_core::params::{Case, Params, ShingleRule, Unit};
use parking_lot::Mutex;

/// Records up to this length fit in the buffers of a thread.
pub(crate) const USUAL_RECORD_BYTES: usize = 1 << 20;
/// Bytes for each token while a document is read: the upper halves of shingle hashes.
const SHINGLE_BYTES: u64 = 5;
/// Bytes for each token while a document is read, if whole hashes are also sorted.
const SORTED_SHINGLE_BYTES: u64 = 16;
/// Bytes for each token of a document whose words are compared: its hash.
const TOKEN_BYTES: u64 = 9;
/// Bytes for each shingle of a set that is held.
const SET_BYTES: u64 = 8;
/// Bytes for each word whose range in a text is held.
const WORD_BYTES: u64 = 8;
/// Bytes of text for one byte of anchors, for each word of a run. A word and its separator have at
/// least two bytes. At most one anchor occurs every `length / 4` words, and takes one bit.
const ANCHORED_BYTES: u64 = 4;
/// Bytes for each document with anchors: its number of words.
const COUNT_BYTES: u64 = 4;

/// The memory of a record, by its length.
#[derive(Debug, Clone)]
pub(crate) struct RecordCost {
    unit: Unit,
    folds: bool,
    normalizes: bool,
    token_bytes: u64,
    compared: ComparedItem,
    /// Bytes of text for one byte that is held for its anchors; `None` without anchors.
    anchored: Option<u64>,
}

/// The items by which two records are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ComparedItem {
    Shingles,
    Words,
    /// Units of a record, which each thread reads again.
    Units,
}

impl RecordCost {
    /// Creates the costs of documents that are compared by their shingles.
    pub(crate) fn of_shingles(collection: &Collection, params: &Params) -> Self {
        let rule = params.shingle();
        let is_whole = collection.unit() == TextUnit::Document;
        let compared = if is_whole { ComparedItem::Shingles } else { ComparedItem::Units };
        let is_sorted = rule.frequencies() || params.exact();
        let token_bytes = match compared {
            ComparedItem::Units => 0,
            _ if is_sorted => SORTED_SHINGLE_BYTES,
            _ => SHINGLE_BYTES,
        };
        Self { token_bytes, compared, ..Self::of_rule(collection, rule) }
    }

    /// Creates the costs of documents that are compared by their words and have anchors of runs of
    /// `length` words.
    pub(crate) fn of_words(collection: &Collection, rule: &ShingleRule, length: usize) -> Self {
        let anchored = Some(ANCHORED_BYTES * length as u64);
        Self { anchored, ..Self::of_rule(collection, rule) }
    }

    /// Bytes held permanently for documents with this many bytes of text.
    pub(crate) fn held_bytes(&self, documents: u64, text_bytes: u64) -> u64 {
        // In whole KiB, because a record that was not held is longer than its text.
        let anchors = |bytes: u64| (text_bytes / bytes).next_multiple_of(1 << 10);
        self.anchored.map_or(0, |bytes| COUNT_BYTES * documents + anchors(bytes))
    }

    fn of_rule(collection: &Collection, rule: &ShingleRule) -> Self {
        Self {
            unit: rule.unit(),
            folds: rule.case() == Case::Fold,
            normalizes: collection.normalizes(),
            token_bytes: TOKEN_BYTES,
            compared: ComparedItem::Words,
            anchored: None,
        }
    }

    fn tokens(&self, size: &RecordSize) -> u64 {
        match self.unit {
            Unit::Words => size.words,
            Unit::Chars => size.characters,
            Unit::Bytes => size.bytes,
        }
    }

    /// The number of copies of a record's text before the text is cut into tokens.
    fn copies(&self, size: &RecordSize) -> u64 {
        let folded = match self.unit {
            Unit::Words => u64::from(self.folds && size.has_case),
            Unit::Chars => 1 + u64::from(self.folds && size.has_case),
            Unit::Bytes => u64::from(self.folds),
        };
        size.copies + folded + u64::from(self.normalizes)
    }

    /// Bytes of memory while the record is read.
    fn reading(&self, size: &RecordSize) -> u64 {
        let buffers = size.bytes + size.bytes / 4 + self.copies(size) * size.bytes;
        buffers.saturating_add(self.token_bytes * self.tokens(size))
    }

    /// Bytes of memory while a record is read and compared with another one in memory.
    fn comparing(&self, size: &RecordSize, other: &RecordSize) -> u64 {
        let copied = size.bytes * (1 + self.copies(size));
        match self.compared {
            ComparedItem::Shingles => {
                let sorted = SORTED_SHINGLE_BYTES * self.tokens(size);
                copied + sorted + SET_BYTES * self.tokens(other)
            }
            ComparedItem::Words => {
                let words = |size: &RecordSize| size.bytes + WORD_BYTES * size.words;
                copied + words(size) + words(other)
            }
            // The record, its text, and the text that is held for the next unit.
            ComparedItem::Units => copied + size.bytes,
        }
    }
}

/// The longest records so far, for all threads.
pub(crate) struct LongRecords {
    cost: RecordCost,
    threads: usize,
    thread_bytes: u64,
    longest: Mutex<Vec<(BlockNumber, RecordSize)>>,
}

/// The memory of long records besides the buffers of threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RecordMemory {
    /// Bytes while long records are read or compared.
    pub(crate) bytes: u64,
    /// Bytes while one thread compares two of them; 0 if none are compared.
    pub(crate) compared: u64,
    /// The length of the longest record.
    pub(crate) longest: u64,
}

impl LongRecords {
    /// Creates the counter for threads with buffers of `thread_bytes` each.
    pub(crate) fn new(cost: RecordCost, threads: usize, thread_bytes: u64) -> Self {
        Self { cost, threads, thread_bytes, longest: Mutex::default() }
    }

    /// See [`RecordCost::held_bytes`].
    pub(crate) fn held_bytes(&self, documents: u64, text_bytes: u64) -> u64 {
        self.cost.held_bytes(documents, text_bytes)
    }

    /// Adds a record of a block. Only the longest record of a block counts.
    pub(crate) fn add(&self, block: BlockNumber, size: RecordSize) {
        if size.bytes <= USUAL_RECORD_BYTES as u64 {
            return;
        }
        let mut longest = self.longest.lock();
        match longest.iter_mut().find(|(number, _)| *number == block) {
            Some((_, known)) if self.cost.reading(known) < self.cost.reading(&size) => {
                *known = size;
            }
            Some(_) => {}
            None => longest.push((block, size)),
        }
        longest.sort_by_key(|(_, size)| std::cmp::Reverse(self.cost.reading(size)));
        longest.truncate(self.threads.max(2));
    }

    /// Returns the memory that the added records need.
    pub(crate) fn memory(&self) -> RecordMemory {
        let longest = self.longest.lock();
        let excess = |bytes: u64| bytes.saturating_sub(self.thread_bytes);
        let read = longest.iter().take(self.threads).map(|(_, size)| self.cost.reading(size));
        let reading: u64 = read.map(excess).sum();
        let cost = |size: &RecordSize, other: &RecordSize| self.cost.comparing(size, other);
        let (compared, comparing) = match (self.cost.compared, longest.as_slice()) {
            (ComparedItem::Units, [(_, size), ..]) => {
                (0, self.threads as u64 * excess(cost(size, size)))
            }
            (_, [(_, a), (_, b), ..]) => {
                let compared = cost(a, b).max(cost(b, a));
                (compared, excess(compared))
            }
            _ => (0, 0),
        };
        let longest = longest.iter().map(|(_, size)| size.bytes).max().unwrap_or(0);
        RecordMemory { bytes: reading.max(comparing), compared, longest }
    }
}
