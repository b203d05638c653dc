//! Skipped records, stored as bytes in a log and read in reading order.
//!
//! ```text
//! a block's records → SkippedWriter → BlockSkips: pieces of a SkippedLog
//! blocks in reading order, then repeated ids → SkippedRecords
//! ```
//!
//! Every piece can be decoded on its own.

use crate::engine::error::FindError;
use crate::engine::memory::Budget;
use crate::read::{SkipReason, SkippedItem};
use crate::spill::codec::{FieldReader, put_bytes, put_u64};
use crate::spill::{SpillError, SpillLog, TempSpace, until_error};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Bytes at which the records of a block form a piece.
const PIECE_BYTES: usize = 1 << 18;
/// Bytes of records in memory, if memory is limited.
const SHARE: usize = 2 * PIECE_BYTES;

/// Flags of the values in which a record differs from the previous one.
const SOURCE: u64 = 1;
const REASON: u64 = 2;
/// The record has an id.
const ID: u64 = 4;
/// The record has a line. Documents in memory have rows from 0.
const LINE: u64 = 8;

/// The skipped records of one block.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct BlockSkips {
    count: u64,
    pieces: Vec<Range<u64>>,
}

/// The bytes of all blocks.
#[derive(Debug, Default)]
pub(crate) struct SkippedLog(Mutex<SpillLog<u8>>);

impl SkippedLog {
    /// Opens the log, with the `len` bytes that an earlier run finished.
    pub(crate) fn open(
        temp: &Arc<TempSpace>,
        budget: &Budget,
        len: u64,
    ) -> Result<Arc<Self>, FindError> {
        let share = if budget.is_limited() { SHARE } else { usize::MAX };
        Ok(Arc::new(Self(Mutex::new(SpillLog::stored(temp, "skipped", share, len)?))))
    }

    fn log(&self) -> MutexGuard<'_, SpillLog<u8>> {
        self.0.lock()
    }

    /// Writes all bytes to the disk if a later run may resume. Returns their number.
    pub(crate) fn sync(&self) -> Result<u64, FindError> {
        let mut log = self.log();
        log.sync()?;
        Ok(log.len())
    }
}

fn corrupt() -> SpillError {
    SpillError::altered("a skipped record")
}

/// Receives the records of one block after the other.
#[derive(Debug, Default)]
pub(crate) struct SkippedWriter {
    of_block: BlockSkips,
    /// The records after the last piece.
    bytes: Vec<u8>,
    source: String,
    reason: Vec<u8>,
}

impl SkippedWriter {
    /// Adds a record. Moves long lists to `log`.
    pub(crate) fn push(
        &mut self,
        skipped: &SkippedItem,
        log: &SkippedLog,
    ) -> Result<(), FindError> {
        let SkippedItem { source, line, id, reason } = skipped;
        let reason = serde_json::to_vec(reason).map_err(|_| corrupt())?;
        let first = self.bytes.is_empty();
        let mut flags = id.as_ref().map_or(0, |_| ID) | line.map_or(0, |_| LINE);
        if first || self.source != *source {
            flags |= SOURCE;
            self.source.clone_from(source);
        }
        if first || self.reason != reason {
            flags |= REASON;
            self.reason = reason;
        }
        let out = &mut self.bytes;
        put_u64(out, flags);
        put_u64(out, line.unwrap_or(0));
        if flags & SOURCE != 0 {
            put_bytes(out, self.source.as_bytes());
        }
        if let Some(id) = id {
            put_bytes(out, id.as_bytes());
        }
        if flags & REASON != 0 {
            put_bytes(out, &self.reason);
        }
        self.of_block.count += 1;
        if self.bytes.len() >= PIECE_BYTES { self.end_piece(log) } else { Ok(()) }
    }

    fn end_piece(&mut self, log: &SkippedLog) -> Result<(), FindError> {
        if !self.bytes.is_empty() {
            let bytes = self.bytes.as_slice().to_vec();
            self.bytes.clear();
            self.of_block.pieces.push(log.log().append(bytes)?);
        }
        Ok(())
    }

    /// Returns the records since the last call.
    pub(crate) fn take(&mut self, log: &SkippedLog) -> Result<BlockSkips, FindError> {
        self.end_piece(log)?;
        Ok(std::mem::take(&mut self.of_block))
    }
}

/// Skipped records, in memory or on the disk: files that the walk of a folder skipped, then
/// unreadable records, then repeated ids, each in reading order.
#[derive(Debug)]
pub struct SkippedRecords {
    blocks: Vec<BlockSkips>,
    log: Arc<SkippedLog>,
    len: u64,
}

impl SkippedRecords {
    pub(crate) fn new(log: Arc<SkippedLog>) -> Self {
        Self { blocks: Vec::new(), log, len: 0 }
    }

    /// Appends the records of a block.
    pub(crate) fn add(&mut self, of_block: BlockSkips) {
        if of_block.count > 0 {
            self.len += of_block.count;
            self.blocks.push(of_block);
        }
    }

    /// Appends copies of some records.
    pub(crate) fn extend<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a SkippedItem>,
    ) -> Result<(), FindError> {
        let mut writer = SkippedWriter::default();
        records.into_iter().try_for_each(|record| writer.push(record, &self.log))?;
        self.add(writer.take(&self.log)?);
        Ok(())
    }

    /// The number of records.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Iterates over the records in order, and reads them one by one.
    ///
    /// # Errors
    /// If a temporary file cannot be read, the item is an error ([`FindError::of_io`]) and the last
    /// one.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<SkippedItem>> + '_ {
        let mut pieces = self.blocks.iter().flat_map(|of_block| &of_block.pieces);
        let mut records = SkippedReader::default();
        let next = move || {
            while records.is_at_end() {
                let Some(piece) = pieces.next() else { return Ok(None) };
                let bytes = self.log.log().range(piece.clone())?.into_owned();
                records = SkippedReader { bytes, ..SkippedReader::default() };
            }
            records.next().map(Some).ok_or_else(corrupt)
        };
        until_error(next).map(|record| record.map_err(SpillError::into_io))
    }

    /// Creates the list from some records.
    ///
    /// # Errors
    /// None: the records are in memory.
    pub fn of(records: &[SkippedItem]) -> Result<Self, FindError> {
        let mut all = Self::new(Arc::default());
        all.extend(records)?;
        Ok(all)
    }
}

/// Reads the records of one piece.
#[derive(Default)]
struct SkippedReader {
    bytes: Vec<u8>,
    at: usize,
    source: String,
    reason: Option<SkipReason>,
}

impl SkippedReader {
    fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn next(&mut self) -> Option<SkippedItem> {
        let mut reader = FieldReader::new(self.bytes.get(self.at..)?);
        let flags = reader.u64()?;
        let line = reader.u64()?;
        let line = (flags & LINE != 0).then_some(line);
        if flags & SOURCE != 0 {
            reader.str()?.clone_into(&mut self.source);
        }
        let id = if flags & ID != 0 { Some(reader.str()?.to_owned()) } else { None };
        if flags & REASON != 0 {
            self.reason = serde_json::from_slice(reader.bytes()?).ok();
        }
        let reason = self.reason.clone()?;
        self.at = self.bytes.len() - reader.rest().len();
        Some(SkippedItem { source: self.source.clone(), line, id, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::memory::{Budget, Memory};

    /// More records than fit in a piece, with all combinations of shared values.
    fn records() -> Vec<SkippedItem> {
        let record = |i: u64| SkippedItem {
            source: format!("in-{}.jsonl", i / 1000),
            line: (i % 7 != 3).then_some(i),
            id: i.is_multiple_of(3).then(|| format!("ü{i}")),
            reason: match i % 5 {
                0 => SkipReason::EmptyId,
                1 => SkipReason::NotUtf8 { column: i },
                _ => SkipReason::BrokenJson {
                    expected: "a value".into(),
                    got: "the end".into(),
                    column: i / 10,
                },
            },
        };
        (0..20_000).map(record).collect()
    }

    fn all(records: &SkippedRecords) -> Vec<SkippedItem> {
        records.iter().map(Result::unwrap).collect()
    }

    #[test]
    fn skipped_records_are_read_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let temp = Arc::new(TempSpace::new(folder.path().to_owned()));
        let expected = records();
        for limit in [None, Some(1 << 30)] {
            let memory = Memory { limit, ..Memory::default() };
            let budget = Budget::new(&memory, 1).unwrap();
            let log = SkippedLog::open(&temp, &budget, 0).unwrap();
            let mut found = SkippedRecords::new(Arc::clone(&log));
            for some in expected.chunks(15_000) {
                let mut writer = SkippedWriter::default();
                for record in some {
                    writer.push(record, &log).unwrap();
                }
                found.add(writer.take(&log).unwrap());
                found.add(writer.take(&log).unwrap());
            }
            assert_eq!(found.len(), 20_000);
            assert_eq!((all(&found), all(&found)), (expected.clone(), expected.clone()));
            let held_bytes = log.log().held_bytes();
            assert_eq!(held_bytes > 2 * PIECE_BYTES, limit.is_none(), "{held_bytes}");
            log.log().spill().unwrap();
            assert_eq!(log.log().held_bytes(), 0);
            assert_eq!(all(&found), expected);
        }
    }

    #[test]
    fn damaged_skipped_records_end_reading() {
        let mut found = SkippedRecords::of(&records()[..10]).unwrap();
        found.blocks[0].pieces[0].end -= 1;
        let read: Vec<_> = found.iter().collect();
        assert_eq!(read.len(), 10);
        assert!(read[..9].iter().all(Result::is_ok));
        assert!(read[9].as_ref().unwrap_err().to_string().contains("a skipped record"));
        found.blocks[0].pieces[0] = 0..1 << 20;
        assert_eq!(found.iter().count(), 1, "there is no such piece");
    }
}
