//! A retained block as numbers, for a checkpoint.

use crate::document::BlockNumber;
use serde::{Deserialize, Serialize};

/// A [`RetainedBlock`](crate::RetainedBlock) as a few numbers, for resuming a run. Valid for a
/// [`Collection`](crate::Collection) of the same unchanged inputs and options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetainedState {
    pub(crate) number: BlockNumber,
    pub(crate) kept: KeptState,
}

/// The stored form of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KeptState {
    /// Records of a file that is not compressed.
    Disk(RecordRange),
    /// Records in the spool.
    Spooled(RecordRange),
    /// Files of a source, by number.
    Files { start: usize, end: usize },
    /// Documents of an index.
    Stored(NumberRange),
    /// The block has no documents.
    Nothing,
}

/// The bytes of a block of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordRange {
    /// The offset in the file, the decoded stream, or the spool.
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// Number of the first line, from 1.
    pub(crate) first_line: u64,
    /// Whether the source ends inside of quotes, in the last record.
    pub(crate) unclosed: bool,
    /// Number of preceding files in the source that count against its limit.
    pub(crate) members: u32,
    /// Whether ids are line numbers because the records at the start of the source have none.
    pub(crate) has_line_ids: bool,
}

impl RecordRange {
    /// The offset of the first byte after the range.
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.length))
    }
}

/// Consecutive documents of an index, including expired ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NumberRange {
    /// Number of the first document.
    pub(crate) from: u64,
    pub(crate) count: usize,
}

impl RetainedState {
    /// Returns true if the block has no documents.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self.kept, KeptState::Nothing)
    }

    /// The end of the block's bytes in the spool; 0 if the spool has none.
    pub fn spooled(&self) -> u64 {
        if let KeptState::Spooled(range) = &self.kept { range.end() } else { 0 }
    }
}
