//! What is known of a block and where its columns, rows and anchors are, as the journal stores it.

use super::mail_removals::MailRemovals;
use super::skipped::BlockSkips;
use crate::digest::InputsDigest;
use crate::folding::SampledText;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is known of a block.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct BlockNotes {
    /// Whether its documents are of a reference collection.
    pub(super) reference: bool,
    pub(super) documents: u32,
    /// Documents without tokens, by their place in the block.
    pub(super) empty: Vec<u32>,
    pub(super) skipped: BlockSkips,
    /// A digest of what was read.
    pub(super) inputs: InputsDigest,
    pub(super) cut_from_mail: MailRemovals,
    /// Documents of the sample of which the effect of folding is measured.
    pub(super) drawn: Vec<SampledText>,
}

/// Where the columns, rows and anchors of a block are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BlockPlace {
    pub(super) chunk: u32,
    /// The place of its first document in the chunk.
    pub(super) within: u32,
    /// Ends of the rows, then their bytes.
    pub(super) rows: Range<u64>,
    /// Of a search for passages.
    pub(super) anchors: Range<u64>,
}

/// Columns of one or several blocks: the position of the first value, and how many documents there
/// are.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct ColumnChunk {
    pub(super) at: u64,
    pub(super) documents: u32,
}
