//! The notes about a block and the places of its columns, rows and anchors, in the form of the
//! journal.

use crate::digest::InputsDigest;
use crate::engine::ids::RowIndex;
use crate::engine::prepare::mail_removals::MailRemovals;
use crate::engine::prepare::skipped::BlockSkips;
use crate::folding::SampledText;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Counts and properties of a block.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct BlockNotes {
    /// Whether its documents belong to a reference collection.
    pub(crate) reference: bool,
    pub(crate) documents: u32,
    /// Documents without tokens.
    pub(crate) empty: Vec<RowIndex>,
    pub(crate) skipped: BlockSkips,
    /// A digest of the documents.
    pub(crate) inputs: InputsDigest,
    pub(crate) cut_from_mail: MailRemovals,
    /// Documents of the sample that measures the effect of folding.
    pub(crate) drawn: Vec<SampledText>,
}

/// The ranges of the columns, rows and anchors of a block.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BlockRanges {
    pub(crate) chunk: u32,
    /// The number of documents in the chunk before the first of the block.
    pub(crate) within: u32,
    /// Ends of the rows, then their bytes.
    pub(crate) rows: Range<u64>,
    /// Empty unless the run searches for passages.
    pub(crate) anchors: Range<u64>,
}

/// Columns of one or several blocks: the position of the first value, and the number of documents.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ColumnChunk {
    pub(crate) at: u64,
    pub(crate) documents: u32,
}
