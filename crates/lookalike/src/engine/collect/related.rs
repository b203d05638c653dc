//! Kept documents without a group that are similar to duplicates of other keepers.

use crate::engine::decide::batch::ComponentBatch;
use crate::engine::decide::batch_result::BatchResult;
use crate::engine::error::FindError;
use crate::engine::ids::DocumentNumber;
use crate::spill::SortedRecords;
use crate::spill::TakeRecord;
use crate::spill::codec::{FieldReader, put_bytes, put_overlap};
use lookalike_core::verify::Overlap;
use std::io;

/// A kept document without a group, and the duplicate most similar to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedDocument {
    /// The number of the kept document in reading order.
    pub document: DocumentNumber,
    /// The id of the duplicate.
    pub neighbour: String,
    /// Their exact overlap: `left` is the kept document's set.
    pub overlap: Overlap,
}

/// All related documents of a run, in reading order.
#[derive(Debug, Default)]
pub struct RelatedDocuments {
    sorted: SortedRecords,
}

impl RelatedDocuments {
    /// Creates the list from the records of [`records`].
    pub(crate) fn new(sorted: SortedRecords) -> Self {
        Self { sorted }
    }

    /// Iterates over the documents in order.
    ///
    /// # Errors
    /// If a temporary file cannot be read, the item is an error ([`FindError::of_io`]) and the last
    /// one.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<RelatedDocument>> + '_ {
        self.sorted.decoded("a related document", decode)
    }
}

/// Calls `take` with the related documents of a batch as records.
pub(crate) fn records(
    batch: &ComponentBatch,
    decided: &BatchResult,
    take: &mut TakeRecord<'_>,
) -> Result<(), FindError> {
    let mut payload = Vec::new();
    for related in &decided.related {
        payload.clear();
        put_bytes(&mut payload, batch.rows.row(related.neighbour).id.as_bytes());
        put_overlap(&mut payload, related.overlap);
        take(&batch.documents[related.document].0.to_be_bytes(), &payload)?;
    }
    Ok(())
}

fn decode(key: &[u8], payload: &[u8]) -> Option<RelatedDocument> {
    let mut reader = FieldReader::new(payload);
    Some(RelatedDocument {
        document: DocumentNumber(u32::from_be_bytes(key.try_into().ok()?)),
        neighbour: reader.str()?.to_owned(),
        overlap: reader.overlap()?,
    })
}
