//! The rows of the documents of a batch, contiguous in memory.

use crate::engine::error::FindError;
use crate::engine::ids::{BatchIndex, DocumentNumber, IdVec, SourceNumber};
use crate::engine::prepare::columns::DocumentRow;
use crate::engine::prepare::documents::RunDocuments;
use crate::read::DocumentPosition;
use lookalike_core::keep;
use std::cmp::Ordering;

/// Rows of the documents of a batch.
#[derive(Debug, Default)]
pub(crate) struct LoadedRows {
    heads: IdVec<BatchIndex, LoadedRow>,
    keys: Vec<u8>,
    ids: String,
    has_reference: bool,
}

/// A row, with the ends of its key and its id in their buffers.
#[derive(Debug)]
struct LoadedRow {
    place: DocumentPosition,
    fingerprint: u128,
    bytes: u64,
    source: SourceNumber,
    block: u32,
    reference: bool,
    key_end: usize,
    id_end: usize,
}

impl LoadedRows {
    /// Loads the rows of `documents`, which are ascending.
    pub(crate) fn load(
        all: &RunDocuments,
        documents: &[DocumentNumber],
    ) -> Result<Self, FindError> {
        let mut loaded = Self::default();
        let mut rest = documents;
        while let Some(first) = rest.first() {
            let block = all.block_of(*first);
            let range = all.range(block);
            let count = rest.partition_point(|document| *document < range.end);
            let (of_block, after) = rest.split_at(count);
            rest = after;
            let rows = all.store.rows(block)?;
            let reference = all.store.blocks[block].notes.reference;
            loaded.has_reference |= reference;
            for document in of_block {
                let row = rows.get(document.row_after(range.start))?;
                loaded.push(&row, block as u32, reference);
            }
        }
        Ok(loaded)
    }

    fn push(&mut self, row: &DocumentRow<'_>, block: u32, reference: bool) {
        self.keys.extend_from_slice(row.key);
        self.ids.push_str(row.id);
        self.heads.push(LoadedRow {
            place: row.place,
            fingerprint: row.fingerprint,
            bytes: row.bytes,
            source: row.source,
            block,
            reference,
            key_end: self.keys.len(),
            id_end: self.ids.len(),
        });
    }

    /// The row of a document.
    pub(crate) fn row(&self, document: BatchIndex) -> DocumentRow<'_> {
        let (key, id) = self.key_and_id(document);
        let LoadedRow { place, fingerprint, bytes, source, .. } = self.heads[document];
        DocumentRow { place, fingerprint, bytes, source, key, id }
    }

    /// The block of a document.
    pub(crate) fn block(&self, document: BatchIndex) -> usize {
        self.heads[document].block as usize
    }

    /// Whether a document belongs to a reference collection.
    pub(crate) fn is_reference(&self, document: BatchIndex) -> bool {
        self.heads[document].reference
    }

    /// Whether any document belongs to a reference collection.
    pub(crate) fn has_reference(&self) -> bool {
        self.has_reference
    }

    /// Compares two documents in the keep order: `Less` means that `a` is kept rather than `b`.
    pub(crate) fn compare(&self, a: BatchIndex, b: BatchIndex) -> Ordering {
        let (a_key, a_id) = self.key_and_id(a);
        let (b_key, b_id) = self.key_and_id(b);
        keep::compare(a_key, a_id.as_bytes(), b_key, b_id.as_bytes())
    }

    /// Compares two documents in keep order, as if neither belonged to a reference collection.
    pub(crate) fn compare_by_rules(&self, a: BatchIndex, b: BatchIndex) -> Ordering {
        let (a_key, a_id) = self.key_and_id(a);
        let (b_key, b_id) = self.key_and_id(b);
        keep::compare_by_rules(a_key, a_id.as_bytes(), b_key, b_id.as_bytes())
    }

    fn key_and_id(&self, document: BatchIndex) -> (&[u8], &str) {
        let (key, id) = match document.0 {
            0 => (0, 0),
            number => {
                let before = &self.heads[BatchIndex(number - 1)];
                (before.key_end, before.id_end)
            }
        };
        let head = &self.heads[document];
        (&self.keys[key..head.key_end], &self.ids[id..head.id_end])
    }
}
