//! First reading: the anchors of every document, kept in a log, and which of them repeat.
//!
//! ```text
//! text ─ tokens ─ anchors ─┬─ RepeatFilter
//!                          └─ log: of each document its number of tokens and of anchors, and these
//! ```

use crate::error::Error;
use crate::read::BlockNumber;
use crate::spill::{SpillLog, TempSpace};
use lookalike_core::kernel::Kernel;
use lookalike_core::params::ShingleRule;
use lookalike_core::passage::anchors::AnchorFinder;
use lookalike_core::passage::repeat_filter::RepeatFilter;
use lookalike_core::shingle::Shingler;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tokens and anchors of a document, or the hash of an anchor and how many runs have it.
type AnchorEntry = (u64, u32);

/// The entries of a block, or why they are missing.
type BlockEntries = Result<Vec<AnchorEntry>, Error>;

/// The anchors of all documents.
pub(crate) struct AnchorLog {
    rule: ShingleRule,
    kernel: Kernel,
    /// Tokens of a run.
    length: usize,
    filter: RepeatFilter,
    blocks: Mutex<AnchorBlocks>,
}

struct AnchorBlocks {
    /// Of each document its entry, then those of its anchors.
    log: SpillLog<AnchorEntry>,
    /// Where those of each block are, or of each of its parts.
    ranges: Vec<(BlockNumber, Range<u64>)>,
}

/// What is selected by anchors: how documents are cut and how long runs are.
pub(crate) struct AnchorRule<'a> {
    pub(crate) rule: &'a ShingleRule,
    pub(crate) kernel: Kernel,
    pub(crate) length: usize,
}

impl AnchorLog {
    /// For about `tokens` tokens: at most `filter` bytes of filter, and `share` bytes of anchors in
    /// memory.
    pub(crate) fn new(
        rule: &AnchorRule<'_>,
        tokens: u64,
        (filter, share): (usize, usize),
        temp: &Arc<TempSpace>,
    ) -> Self {
        // One window in half a run of them is an anchor.
        let anchors = tokens.saturating_mul(4) / (rule.length as u64 + 4) + 1;
        let anchors = usize::try_from(anchors).unwrap_or(usize::MAX);
        let log = SpillLog::scratch(temp, "anchors", share);
        Self {
            rule: rule.rule.clone(),
            kernel: rule.kernel,
            length: rule.length,
            filter: RepeatFilter::new(anchors, filter),
            blocks: Mutex::new(AnchorBlocks { log, ranges: Vec::new() }),
        }
    }

    /// One thread's way to add documents.
    pub(crate) fn writer(&self) -> AnchorWriter<'_> {
        let shingler = Shingler::with_kernel(&self.rule, self.kernel);
        let finder = AnchorFinder::new(self.length);
        AnchorWriter { log: self, shingler, finder, block: Vec::new() }
    }

    fn blocks(&self) -> MutexGuard<'_, AnchorBlocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The anchors, when all documents are added.
    pub(crate) fn finish(self) -> CompleteAnchors {
        let AnchorBlocks { log, mut ranges } =
            self.blocks.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Parts of a block stay in their order.
        ranges.sort_by_key(|(number, _)| *number);
        let ranges = ranges.into_iter().map(|(_, range)| range).collect();
        CompleteAnchors { filter: self.filter, log, ranges }
    }
}

/// Adds the documents of one block after the other.
pub(crate) struct AnchorWriter<'a> {
    log: &'a AnchorLog,
    shingler: Shingler,
    finder: AnchorFinder,
    block: Vec<AnchorEntry>,
}

impl AnchorWriter<'_> {
    /// Adds a document of the block at hand; gives what its tokens are recognised by, and whether
    /// it has none.
    pub(crate) fn add(&mut self, text: &str) -> (u128, bool) {
        let tokens = self.shingler.tokens(text);
        write_anchors(tokens, &mut self.finder, &self.log.filter, &mut self.block);
        (fingerprint(tokens), tokens.is_empty())
    }

    /// Ends the block, or a part of it.
    ///
    /// # Errors
    /// [`Error::TempDir`] and [`Error::Spill`].
    pub(crate) fn end_block(&mut self, number: BlockNumber) -> Result<(), Error> {
        let block = std::mem::take(&mut self.block);
        let mut blocks = self.log.blocks();
        let range = blocks.log.append(block)?;
        blocks.ranges.push((number, range));
        Ok(())
    }
}

/// Appends what the log has of a document, and counts its anchors.
pub(super) fn write_anchors(
    tokens: &[u64],
    finder: &mut AnchorFinder,
    filter: &RepeatFilter,
    out: &mut Vec<AnchorEntry>,
) {
    let head = out.len();
    out.push((tokens.len() as u64, 0));
    finder.find(tokens, |anchor| {
        filter.insert(anchor.hash);
        out.push((anchor.hash, anchor.runs as u32));
    });
    out[head].1 = (out.len() - head - 1) as u32;
}

/// What the tokens of a document are recognised by when it is read again.
pub(super) fn fingerprint(tokens: &[u64]) -> u128 {
    let mix =
        |hash: u64, token: &u64| (hash.rotate_left(23) ^ token).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    u128::from(tokens.iter().fold(0, mix)) << 64 | tokens.len() as u128
}

/// The anchors of all documents, in reading order.
pub(crate) struct CompleteAnchors {
    pub(super) filter: RepeatFilter,
    pub(super) log: SpillLog<AnchorEntry>,
    /// Those of each block.
    pub(super) ranges: Vec<Range<u64>>,
}

/// The anchors of a document.
pub(super) struct DocumentAnchors<'a> {
    pub(super) tokens: u64,
    /// Each with the number of its runs.
    pub(super) anchors: &'a [AnchorEntry],
}

impl DocumentAnchors<'_> {
    /// The ranges of runs that may repeat, into `ranges`, which is cleared.
    pub(super) fn repeated(&self, filter: &RepeatFilter, ranges: &mut Vec<Range<u32>>) {
        ranges.clear();
        let mut start = 0;
        for &(hash, runs) in self.anchors {
            let end = start + runs;
            if filter.repeats(hash) {
                match ranges.last_mut().filter(|last| last.end == start) {
                    Some(last) => last.end = end,
                    None => ranges.push(start..end),
                }
            }
            start = end;
        }
    }
}

impl CompleteAnchors {
    /// The entries of the i-th block.
    pub(super) fn block(&self, i: usize) -> Result<Cow<'_, [AnchorEntry]>, Error> {
        self.log.range(self.ranges[i].clone())
    }
}

impl CompleteAnchors {
    /// Of no document.
    pub(super) fn empty(temp: &Arc<TempSpace>) -> Self {
        let log = SpillLog::scratch(temp, "anchors", 0);
        Self { filter: RepeatFilter::new(0, 0), log, ranges: Vec::new() }
    }

    /// The anchors again, of documents of which some are changed: those of block `i` are what
    /// `block` makes of the former ones.
    pub(super) fn changed(
        self,
        temp: &Arc<TempSpace>,
        (filter, share): (usize, usize),
        mut block: impl FnMut(usize, &[AnchorEntry], &RepeatFilter) -> BlockEntries,
    ) -> Result<Self, Error> {
        let Self { filter: former, log: old, ranges: old_ranges } = self;
        let anchors = former.bytes() / 4;
        drop(former);
        let filter = RepeatFilter::new(anchors, filter);
        let mut log = SpillLog::scratch(temp, "anchors", share);
        let mut ranges = Vec::with_capacity(old_ranges.len());
        for (i, range) in old_ranges.into_iter().enumerate() {
            let entries = old.range(range)?;
            ranges.push(log.append(block(i, &entries, &filter)?)?);
        }
        Ok(Self { filter, log, ranges })
    }
}

/// Appends what the log has of a document that is as it was, and counts its anchors.
pub(super) fn copy_anchors(
    document: &DocumentAnchors<'_>,
    filter: &RepeatFilter,
    out: &mut Vec<AnchorEntry>,
) {
    out.push((document.tokens, document.anchors.len() as u32));
    document.anchors.iter().for_each(|(hash, _)| filter.insert(*hash));
    out.extend_from_slice(document.anchors);
}

/// The documents of a block, one after the other.
pub(super) fn documents(entries: &[AnchorEntry]) -> impl Iterator<Item = DocumentAnchors<'_>> {
    let mut rest = entries;
    std::iter::from_fn(move || {
        let ((tokens, count), behind) = rest.split_first()?;
        let (anchors, after) = behind.split_at_checked(*count as usize)?;
        rest = after;
        Some(DocumentAnchors { tokens: *tokens, anchors })
    })
}
