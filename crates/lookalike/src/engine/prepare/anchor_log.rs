//! Stores the anchors of every document at its first reading, and finds the repeated anchors.
//!
//! ```text
//! text ─ tokens ─ anchors ─ log: of each document the numbers of tokens and anchors, the anchors
//! log ─ ranges of hashes (threads) ─ sorted ─ positions in the log with repeated hashes
//! ```

use crate::engine::error::FindError;
use crate::engine::workers::{Counter, on_threads};
use crate::spill::{SpillLog, TempSpace, sort_values};
use lookalike_core::hash::mix64;
use lookalike_core::kernel::Kernel;
use lookalike_core::params::ShingleRule;
use lookalike_core::passage::anchors::AnchorFinder;
use lookalike_core::passage::position_set::PositionSet;
use lookalike_core::shingle::Shingler;
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

/// The numbers of tokens and anchors of a document, or the hash and the number of runs of an
/// anchor.
pub(crate) type AnchorEntry = (u64, u32);

/// The entries of a block, or an error.
type BlockEntries = Result<Vec<AnchorEntry>, FindError>;

/// The most bytes for sorting ranges of hashes in all threads together. Each range takes a pass
/// over the log.
const SORTED_BYTES: usize = 256 << 20;
/// Bytes of an anchor while it is sorted.
const SORTED_ANCHOR: usize = 2 * size_of::<u128>();

/// The anchors of all read documents.
pub(crate) struct AnchorLog {
    /// The entry of each document, followed by the entries of its anchors.
    log: SpillLog<AnchorEntry>,
    /// The range of each block.
    ranges: Vec<Range<u64>>,
}

/// The rule of anchors: how documents are cut, and the length of runs.
pub(crate) struct AnchorRule<'a> {
    pub(crate) rule: &'a ShingleRule,
    pub(crate) kernel: Kernel,
    pub(crate) length: usize,
    /// Bytes of anchors that are kept in memory.
    pub(crate) share: usize,
}

impl AnchorLog {
    /// Creates the log. `ranges` are the ranges of the blocks in `log`, in reading order.
    pub(crate) fn new(log: SpillLog<AnchorEntry>, ranges: Vec<Range<u64>>) -> Self {
        Self { log, ranges }
    }

    /// Finds the repeated anchors of all documents, with `threads` threads in `share` bytes.
    ///
    /// # Errors
    /// [`FindError::Spill`].
    pub(crate) fn finish(
        self,
        threads: NonZeroUsize,
        share: usize,
    ) -> Result<CompleteAnchors, FindError> {
        CompleteAnchors::new(self.log, self.ranges, threads, share)
    }
}

/// Finds the anchors of documents, one after the other.
pub(crate) struct AnchorWriter {
    shingler: Shingler,
    finder: AnchorFinder,
    entries: Vec<AnchorEntry>,
}

impl AnchorWriter {
    /// Creates a writer. Each thread uses its own.
    pub(crate) fn new(rule: &AnchorRule<'_>) -> Self {
        let shingler = Shingler::with_kernel(rule.rule, rule.kernel);
        Self { shingler, finder: AnchorFinder::new(rule.length), entries: Vec::new() }
    }

    /// Adds a document. Returns the fingerprint of its tokens, and whether it has no tokens.
    pub(crate) fn add(&mut self, text: &str) -> (u128, bool) {
        let tokens = self.shingler.tokens(text);
        write_anchors(tokens, &mut self.finder, &mut self.entries);
        (fingerprint(tokens), tokens.is_empty())
    }

    /// Returns the entries of the documents added since the last call.
    pub(crate) fn take(&mut self) -> Vec<AnchorEntry> {
        std::mem::take(&mut self.entries)
    }
}

/// Appends the entries of a document.
pub(crate) fn write_anchors(tokens: &[u64], finder: &mut AnchorFinder, out: &mut Vec<AnchorEntry>) {
    let head = out.len();
    out.push((tokens.len() as u64, 0));
    finder.find(tokens, |anchor| out.push((anchor.hash, anchor.runs as u32)));
    out[head].1 = (out.len() - head - 1) as u32;
}

/// Returns the fingerprint of a document's tokens, which detects changes when it is read again.
pub(crate) fn fingerprint(tokens: &[u64]) -> u128 {
    let mix =
        |hash: u64, token: &u64| (hash.rotate_left(23) ^ token).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    u128::from(tokens.iter().fold(0, mix)) << 64 | tokens.len() as u128
}

/// The anchors of all documents, in reading order.
pub(crate) struct CompleteAnchors {
    log: SpillLog<AnchorEntry>,
    /// The range of each block.
    ranges: Vec<Range<u64>>,
    /// The positions in the log of anchors whose hash is repeated.
    repeated: PositionSet,
}

/// The anchors of a document.
pub(crate) struct DocumentAnchors<'a> {
    pub(crate) tokens: u64,
    /// The position of the first anchor in the log.
    first: u64,
    /// Each with the number of its runs.
    anchors: &'a [AnchorEntry],
}

impl CompleteAnchors {
    fn new(
        log: SpillLog<AnchorEntry>,
        ranges: Vec<Range<u64>>,
        threads: NonZeroUsize,
        share: usize,
    ) -> Result<Self, FindError> {
        let mut anchors = Self { log, ranges, repeated: PositionSet::default() };
        let most = share.min(SORTED_BYTES) / threads.get() / SORTED_ANCHOR;
        let parts = anchors.log.len().div_ceil(most.max(1) as u64).max(threads.get() as u64);
        let next = Counter::default();
        let found = on_threads(threads, |stop| {
            let mut found = PositionSet::new(anchors.log.len());
            while !stop.is_requested()
                && let Some(part) = next.next(parts as usize)
            {
                anchors.mark_part(part as u64, parts, &mut found)?;
            }
            Ok::<_, FindError>(found)
        })?;
        let mut found = found.into_iter();
        let mut repeated = found.next().unwrap_or_default();
        found.for_each(|more| repeated.unite(&more));
        anchors.repeated = repeated;
        Ok(anchors)
    }

    /// Marks the repeated anchors in one of `parts` ranges of hashes.
    fn mark_part(
        &self,
        part: u64,
        parts: u64,
        repeated: &mut PositionSet,
    ) -> Result<(), FindError> {
        let mut mark = |values: &mut Vec<u128>| {
            sort_values(values);
            let equal = values.chunk_by(|a, b| a >> 64 == b >> 64).filter(|some| some.len() > 1);
            equal.flatten().for_each(|value| repeated.insert(*value as u64));
        };
        let expected = (self.log.len() / parts + self.log.len() / parts / 8) as usize;
        let mut values = Vec::with_capacity(expected);
        let mut most = expected.max(1 << 12);
        for i in 0..self.ranges.len() {
            for document in documents(&self.block(i)?) {
                for (position, (hash, _)) in (document.first..).zip(document.anchors) {
                    // An anchor has the least hash of its runs, so hashes of anchors are small.
                    // Mixing makes them uniform.
                    let hash = mix64(*hash);
                    if (u128::from(hash) * u128::from(parts)) >> 64 == u128::from(part) {
                        values.push(u128::from(hash) << 64 | u128::from(position));
                    }
                }
            }
            if values.len() > most {
                // If one hash fills the buffer, a single copy suffices to recognise the next copy.
                mark(&mut values);
                values.dedup_by_key(|value| *value >> 64);
                most = most.max(2 * values.len());
            }
        }
        mark(&mut values);
        Ok(())
    }

    /// Bytes of memory held besides the log.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.log.len() / 8
    }

    /// The entries of the i-th block.
    pub(crate) fn block(&self, i: usize) -> Result<BlockAnchors<'_>, FindError> {
        let range = self.ranges[i].clone();
        Ok(BlockAnchors { first: range.start, entries: self.log.range(range)? })
    }

    /// Passes each sequence of consecutive runs with repeated anchors to `take`: the first run, and
    /// the number of runs.
    pub(crate) fn candidate_runs(
        &self,
        document: &DocumentAnchors<'_>,
        mut take: impl FnMut(u32, u32),
    ) {
        let mut start = 0;
        let mut end = 0;
        for (position, (_, runs)) in (document.first..).zip(document.anchors) {
            if self.repeated.contains(position) {
                end += runs;
                continue;
            }
            if start < end {
                take(start, end - start);
            }
            end += runs;
            start = end;
        }
        if start < end {
            take(start, end - start);
        }
    }

    /// Creates anchors without documents.
    pub(crate) fn empty(temp: &Arc<TempSpace>) -> Self {
        let log = SpillLog::scratch(temp, "anchors", 0);
        Self { log, ranges: Vec::new(), repeated: PositionSet::default() }
    }

    /// Replaces the anchors after some documents changed. `block` returns the anchors of a block
    /// from the former ones. Holds `share` bytes of anchors in memory, and sorts the same amount on
    /// `threads` threads.
    pub(crate) fn changed(
        self,
        temp: &Arc<TempSpace>,
        threads: NonZeroUsize,
        share: usize,
        mut block: impl FnMut(usize, &BlockAnchors<'_>) -> BlockEntries,
    ) -> Result<Self, FindError> {
        let mut log = SpillLog::scratch(temp, "anchors", share);
        let mut ranges = Vec::with_capacity(self.ranges.len());
        for i in 0..self.ranges.len() {
            ranges.push(log.append(block(i, &self.block(i)?)?)?);
        }
        drop(self);
        Self::new(log, ranges, threads, share)
    }
}

/// The entries of a block.
pub(crate) struct BlockAnchors<'a> {
    /// The position of the first entry in the log.
    first: u64,
    entries: Cow<'a, [AnchorEntry]>,
}

impl DocumentAnchors<'_> {
    /// Appends the entries of an unchanged document.
    pub(crate) fn copy(&self, out: &mut Vec<AnchorEntry>) {
        out.push((self.tokens, self.anchors.len() as u32));
        out.extend_from_slice(self.anchors);
    }
}

/// Iterates over the documents of a block.
pub(crate) fn documents<'a>(
    block: &'a BlockAnchors<'_>,
) -> impl Iterator<Item = DocumentAnchors<'a>> + use<'a> {
    let mut rest = &*block.entries;
    let mut first = block.first;
    std::iter::from_fn(move || {
        let ((tokens, count), tail) = rest.split_first()?;
        let (anchors, after) = tail.split_at_checked(*count as usize)?;
        let document = DocumentAnchors { tokens: *tokens, first: first + 1, anchors };
        rest = after;
        first += 1 + u64::from(*count);
        Some(document)
    })
}
