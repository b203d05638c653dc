//! The shingles of all documents, from one reading by all threads.
//!
//! The top bits of the hashes distribute the shingles over parts. The counters of a part fit in the
//! cache, so counting and looking up a shingle do not wait for memory. The texts need not be read
//! again.
//!
//! A shingle takes four bytes: the other bits of its hash, and the difference between the number of
//! its document and the previous number in the part. Larger differences take four more bytes.
//! Documents have temporary numbers, because threads read blocks in any order.

use crate::engine::error::FindError;
use crate::engine::ids::{DocumentNumber, Id, IdVec};
use crate::engine::memory::Budget;
use crate::engine::prepare::documents::RunDocuments;
use crate::read::BlockNumber;
use crate::spill::{CompleteParts, PartLog, PartLogWriter, SpillError, TempSpace};
use lookalike_core::prefix::Counters;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of parts as an exponent of 2.
const LOG2_PARTS: u32 = 9;
/// The number of parts.
const PARTS: u64 = 1 << LOG2_PARTS;
/// Bits of the place of a hash in its part: all but the number of the part.
pub(crate) const PLACE_BITS: u32 = u32::BITS - LOG2_PARTS;
/// Replaces a difference if the next value is the number of the document.
const ESCAPE: u32 = (1 << LOG2_PARTS) - 1;
/// The first number of a document. This and all greater numbers differ from [`NONE`] by more than a
/// difference without an escape.
pub(crate) const FIRST: u32 = 1 << LOG2_PARTS;
/// Replaces the previous number at the start of a slice.
const NONE: u32 = u32::MAX;
/// Numbers that a thread takes at a time, so that its documents have consecutive numbers.
const TAKEN: u32 = 1 << 12;

/// The log while documents are read.
pub(crate) struct ShingleLog {
    parts: PartLog<u32>,
    log2_slots: u32,
    next: AtomicU32,
    blocks: Mutex<Vec<LoggedBlock>>,
}

struct LoggedBlock {
    number: BlockNumber,
    documents: Vec<LoggedDocument>,
}

#[derive(Clone, Copy)]
struct LoggedDocument {
    number: u32,
    shingles: u32,
}

impl ShingleLog {
    /// Creates an empty log for `expected` shingles, in memory as far as the budget allows, and
    /// otherwise in a file in `temp`.
    pub(crate) fn new(temp: &Arc<TempSpace>, budget: &Budget, expected: u64) -> Self {
        Self::with_share(
            temp,
            budget.shingle_log(),
            budget.threads(),
            budget.counters(expected, PARTS),
        )
    }

    /// Creates a log with `share` bytes in memory, for this many writers. The counters of its
    /// shingles have `counters` bytes in total.
    fn with_share(temp: &Arc<TempSpace>, share: usize, writers: usize, counters: u64) -> Self {
        Self {
            parts: PartLog::new(temp, "shingles", share, PARTS as usize, writers),
            log2_slots: counters.max(2).ilog2().saturating_sub(LOG2_PARTS).max(8),
            next: AtomicU32::new(FIRST),
            blocks: Mutex::default(),
        }
    }

    /// Returns the interface of one thread for adding documents.
    pub(crate) fn writer(&self) -> ShingleWriter<'_> {
        ShingleWriter {
            log: self,
            parts: self.parts.writer(),
            last: vec![NONE; PARTS as usize],
            numbers: 0..0,
            documents: Vec::new(),
        }
    }

    /// Maps temporary numbers to documents, which were added block by block.
    ///
    /// # Errors
    /// [`SpillError::Altered`] if other documents were added.
    pub(crate) fn finish(self, documents: &RunDocuments) -> Result<DocumentShingles, FindError> {
        let mut blocks = self.blocks.into_inner();
        blocks.sort_by_key(|block| block.number);
        let end = self.next.into_inner();
        let mut numbers = vec![DocumentNumber::default(); (end - FIRST) as usize];
        let mut counts = IdVec::default();
        for document in blocks.iter().flat_map(|block| &block.documents) {
            numbers[(document.number - FIRST) as usize] = DocumentNumber::new(counts.len());
            counts.push(document.shingles);
        }
        if counts.len() != documents.len() {
            return Err(SpillError::altered("the documents of shingles").into());
        }
        Ok(DocumentShingles {
            parts: self.parts.finish(),
            log2_slots: self.log2_slots,
            numbers,
            counts,
        })
    }
}

/// The interface of one thread for adding documents.
pub(crate) struct ShingleWriter<'a> {
    log: &'a ShingleLog,
    parts: PartLogWriter<'a, u32>,
    /// The last document of each part.
    last: Vec<u32>,
    numbers: Range<u32>,
    documents: Vec<LoggedDocument>,
}

impl ShingleWriter<'_> {
    /// Adds the next document of a block, with the upper halves of the hashes of its shingles.
    ///
    /// # Errors
    /// [`SpillError::TempDir`] and [`SpillError::Io`] if shingles cannot be written.
    pub(crate) fn add(&mut self, hashes: &[u32]) -> Result<(), SpillError> {
        if self.numbers.is_empty() {
            let start = self.log.next.fetch_add(TAKEN, Ordering::Relaxed);
            self.numbers = start..start.wrapping_add(TAKEN);
        }
        let number = self.numbers.start;
        self.numbers.start = number.wrapping_add(1);
        self.documents.push(LoggedDocument { number, shingles: hashes.len() as u32 });
        for hash in hashes {
            let part = (hash >> PLACE_BITS) as usize;
            let difference = number.wrapping_sub(self.last[part]);
            let rest = hash << LOG2_PARTS;
            let ends = if difference < ESCAPE {
                self.parts.push(part, [rest | difference])
            } else {
                self.parts.push(part, [rest | ESCAPE, number])
            };
            self.last[part] = if ends? { NONE } else { number };
        }
        Ok(())
    }

    /// Ends a block.
    pub(crate) fn end_block(&mut self, number: BlockNumber) {
        let documents = std::mem::take(&mut self.documents);
        self.log.blocks.lock().push(LoggedBlock { number, documents });
    }

    /// Adds the remaining shingles.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub(crate) fn finish(self) -> Result<(), SpillError> {
        self.parts.finish()
    }
}

/// Some shingles of a part.
#[derive(Clone, Copy)]
pub(crate) struct EncodedShingles<'a> {
    part: u32,
    values: &'a [u32],
}

impl EncodedShingles<'_> {
    /// Shingles of the first part, one for each document.
    #[cfg(test)]
    pub(crate) fn one_for_each(values: &mut [u32]) -> EncodedShingles<'_> {
        for place in values.iter_mut() {
            *place = *place << LOG2_PARTS | 1;
        }
        EncodedShingles { part: 0, values }
    }

    /// An upper bound of the number of shingles.
    pub(crate) fn len(self) -> usize {
        self.values.len()
    }

    /// Passes each shingle to `take`: the upper half of its hash, and the temporary number of its
    /// document.
    #[inline]
    pub(crate) fn for_each(self, mut take: impl FnMut(u32, u32)) {
        let top = self.part << PLACE_BITS;
        self.for_each_place(|place, number| take(top | place, number));
    }

    /// Replaces the content of `selected` with the shingles of documents whose temporary number
    /// `is_selected` accepts. Does not branch, because the acceptance is unpredictable.
    #[inline]
    pub(crate) fn select(self, is_selected: impl Fn(u32) -> bool, selected: &mut Vec<(u32, u32)>) {
        selected.resize(self.len(), (0, 0));
        let mut count = 0;
        self.for_each(|upper, number| {
            selected[count] = (upper, number);
            count += usize::from(is_selected(number));
        });
        selected.truncate(count);
    }

    /// Like [`for_each`](Self::for_each), with the place of the hash in the part.
    #[inline]
    pub(crate) fn for_each_place(self, mut take: impl FnMut(u32, u32)) {
        let mut values = self.values.iter();
        let mut number = NONE;
        while let Some(value) = values.next() {
            number = match value & ESCAPE {
                ESCAPE => values.next().copied().unwrap_or(NONE),
                difference => number.wrapping_add(difference),
            };
            take(value >> LOG2_PARTS, number);
        }
    }
}

/// The shingles of all documents, and the number of shingles of each.
pub(crate) struct DocumentShingles {
    parts: CompleteParts<u32>,
    log2_slots: u32,
    /// The number of each document, by its temporary number.
    numbers: Vec<DocumentNumber>,
    counts: IdVec<DocumentNumber, u32>,
}

impl DocumentShingles {
    /// The number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Bytes of the share that no shingle uses.
    pub(crate) fn room(&self) -> usize {
        self.parts.room()
    }

    /// An upper bound of the number of shingles of a part.
    pub(crate) fn values(&self, part: usize) -> usize {
        self.parts.values(part)
    }

    /// The number of shingles of a document, with repeats.
    pub(crate) fn count(&self, document: DocumentNumber) -> usize {
        self.counts[document] as usize
    }

    /// The documents in the order of their temporary numbers.
    pub(crate) fn documents(&self) -> impl Iterator<Item = DocumentNumber> {
        self.numbers.iter().copied()
    }

    /// The index of a temporary number in [`documents`](Self::documents).
    #[inline]
    pub(crate) fn index(number: u32) -> usize {
        number.wrapping_sub(FIRST) as usize
    }

    /// The document with a temporary number.
    pub(crate) fn document(&self, number: u32) -> DocumentNumber {
        // If another process has altered a temporary file, no document may have this number.
        let document = self.numbers.get(Self::index(number));
        document.copied().unwrap_or_default()
    }

    /// Passes the shingles of a part to `take`, some at a time.
    ///
    /// # Errors
    /// [`SpillError::Io`] if shingles cannot be read.
    pub(crate) fn each(
        &self,
        part: usize,
        mut take: impl FnMut(EncodedShingles<'_>),
    ) -> Result<(), SpillError> {
        self.parts.each(part, |values| take(EncodedShingles { part: part as u32, values }))
    }

    /// Like [`each`](Self::each), for the shingles that are in a file.
    ///
    /// # Errors
    /// As for [`each`](Self::each).
    pub(crate) fn each_stored(
        &self,
        part: usize,
        mut take: impl FnMut(EncodedShingles<'_>),
    ) -> Result<(), SpillError> {
        self.parts.each_stored(part, |values| take(EncodedShingles { part: part as u32, values }))
    }

    /// Removes the shingles of a part, and releases their memory.
    pub(crate) fn clear(&self, part: usize) {
        self.parts.clear(part);
    }

    /// Removes the shingles of a part that are in memory and for which `keep` returns false. `keep`
    /// gets the upper half of a hash, and the temporary number of a document.
    pub(crate) fn retain_held(&self, part: usize, mut keep: impl FnMut(u32, u32) -> bool) {
        let top = (part as u32) << PLACE_BITS;
        self.parts.each_held(part, |values| {
            // The values are read at `next` and written at `end`. A kept shingle needs an
            // additional value only if a shingle before it was removed, so `end` never overtakes
            // `next`.
            let mut next = 0;
            let mut end = 0;
            let mut number = NONE;
            let mut last = NONE;
            while let Some(&value) = values.get(next) {
                next += 1;
                number = match value & ESCAPE {
                    ESCAPE => {
                        next += 1;
                        values.get(next - 1).copied().unwrap_or(NONE)
                    }
                    difference => number.wrapping_add(difference),
                };
                let is_kept = keep(top | value >> LOG2_PARTS, number);
                let difference = number.wrapping_sub(last);
                if difference < ESCAPE {
                    // Which shingles are kept is unpredictable, so this does not branch.
                    values[end] = value & !ESCAPE | difference;
                    end += usize::from(is_kept);
                } else if is_kept {
                    values[end] = value | ESCAPE;
                    values[end + 1] = number;
                    end += 2;
                }
                last = if is_kept { number } else { last };
            }
            values.truncate(end);
        });
    }

    /// Creates the counters for [`count_part`](Self::count_part), which each thread uses for one
    /// part after the other.
    pub(crate) fn counters(&self) -> Counters {
        Counters::new(self.log2_slots)
    }

    /// Counts the shingles of a part. A count is at least the number of occurrences, up to 255.
    ///
    /// # Errors
    /// As for [`each`](Self::each).
    pub(crate) fn count_part(
        &self,
        part: usize,
        counters: &mut Counters,
    ) -> Result<(), SpillError> {
        counters.clear();
        self.each(part, |shingles| shingles.for_each(|upper, _| counters.add(key(upper))))
    }

    /// Like [`count_part`](Self::count_part), for the documents whose temporary number `is_counted`
    /// accepts.
    ///
    /// # Errors
    /// As for [`each`](Self::each).
    pub(crate) fn count_some(
        &self,
        part: usize,
        counters: &mut Counters,
        is_counted: impl Fn(u32) -> bool,
    ) -> Result<(), SpillError> {
        counters.clear();
        let mut counted = Vec::new();
        self.each(part, |shingles| {
            shingles.select(&is_counted, &mut counted);
            for &(upper, _) in &counted {
                counters.add(key(upper));
            }
        })
    }
}

/// The key of a shingle: the part of its hash that signatures use. Different shingles with the same
/// key only cause more candidates.
pub(crate) fn key(upper: u32) -> u64 {
    u64::from(upper) << 32
}

/// The part of a shingle, and its place in the part.
pub(crate) fn part_and_place(upper: u32) -> (usize, u32) {
    ((upper >> PLACE_BITS) as usize, upper & ((1 << PLACE_BITS) - 1))
}

/// Spreads the places of a part over all 64-bit values, in their order.
pub(crate) fn spread(place: u32) -> u64 {
    u64::from(place) << (u64::BITS - PLACE_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::hash::SplitMix64;
    use std::collections::BTreeMap;

    /// Shingles that two writers logged, with the temporary numbers of their documents. Most
    /// documents have few shingles, so numbers in a part differ by much.
    fn logged(share: usize) -> (DocumentShingles, Vec<(u32, u32)>) {
        let temp = Arc::new(TempSpace::new(std::env::temp_dir()));
        let log = ShingleLog::with_share(&temp, share, 2, 1 << 18);
        let mut writers = [log.writer(), log.writer()];
        let mut random = SplitMix64::new(4);
        let mut expected = Vec::new();
        for _ in 0..9_000 {
            let writer = &mut writers[random.below(2) as usize];
            let size = if random.below(50) == 0 { 2_000 } else { random.below(3) };
            let hash = |_| random.below(30_000) as u32 * 143_000;
            let hashes: Vec<u32> = (0..size).map(hash).collect();
            writer.add(&hashes).unwrap();
            let number = writer.numbers.start - 1;
            expected.extend(hashes.into_iter().map(|hash| (hash, number)));
        }
        for writer in writers {
            writer.finish().unwrap();
        }
        expected.sort_unstable();
        let shingles = DocumentShingles {
            parts: log.parts.finish(),
            log2_slots: log.log2_slots,
            numbers: Vec::new(),
            counts: IdVec::default(),
        };
        (shingles, expected)
    }

    fn all(shingles: &DocumentShingles) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for part in 0..shingles.parts() {
            let take = |some: EncodedShingles<'_>| {
                some.for_each(|upper, number| found.push((upper, number)));
            };
            shingles.each(part, take).unwrap();
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn shingles_are_read_with_their_documents() {
        for share in [0, 40_000, usize::MAX] {
            let (shingles, expected) = logged(share);
            assert!(all(&shingles) == expected, "{share}");
        }
    }

    #[test]
    fn other_shingles_are_removed_from_memory() {
        for one_in in [2, 50, 5_000] {
            let keep = |upper: u32, number: u32| (upper / 143_000 + number).is_multiple_of(one_in);
            for share in [0, 40_000, usize::MAX] {
                let (shingles, expected) = logged(share);
                for part in 0..shingles.parts() {
                    shingles.retain_held(part, keep);
                }
                let found = all(&shingles);
                let kept: Vec<_> = expected.iter().copied().filter(|(u, n)| keep(*u, *n)).collect();
                match share {
                    // Files do not change.
                    0 => assert!(found == expected),
                    usize::MAX => assert!(found == kept, "one in {one_in}"),
                    _ => {
                        assert!(found.iter().filter(|(u, n)| keep(*u, *n)).eq(&kept));
                        assert!((kept.len() + 1..expected.len()).contains(&found.len()));
                    }
                }
            }
        }
    }

    #[test]
    fn counts_are_never_too_low() {
        let (shingles, logged) = logged(usize::MAX);
        let mut exact: BTreeMap<u32, usize> = BTreeMap::new();
        for (hash, _) in &logged {
            *exact.entry(*hash).or_default() += 1;
        }
        let mut equal = 0;
        let mut counters = shingles.counters();
        for part in 0..shingles.parts() {
            shingles.count_part(part, &mut counters).unwrap();
            for (hash, count) in exact.iter().filter(|(hash, _)| *hash >> PLACE_BITS == part as u32)
            {
                let counted = usize::from(counters.get(key(*hash)));
                assert!(counted >= (*count).min(255));
                equal += usize::from(counted == *count);
            }
        }
        assert!(equal * 10 > exact.len() * 8, "{equal} of {}", exact.len());
    }
}
