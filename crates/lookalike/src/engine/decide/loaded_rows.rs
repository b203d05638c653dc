//! The rows of some documents, next to each other in memory.

use crate::engine::prepare::columns::{DocumentRow, Rows};
use crate::engine::prepare::documents::RunDocuments;
use crate::error::Error;
use crate::read::DocumentPosition;
use lookalike_core::keep;
use std::cmp::Ordering;

/// Rows of documents, by their place in the list they were loaded by.
#[derive(Debug, Default)]
pub(crate) struct LoadedRows {
    heads: Vec<LoadedRow>,
    keys: Vec<u8>,
    ids: String,
    has_reference: bool,
}

/// A row without its key and id, and where these end.
#[derive(Debug)]
struct LoadedRow {
    place: DocumentPosition,
    fingerprint: u128,
    bytes: u64,
    label: u32,
    block: u32,
    reference: bool,
    key_end: usize,
    id_end: usize,
}

impl LoadedRows {
    /// Loads the rows of `documents`, which are ascending.
    pub(crate) fn load(all: &RunDocuments, documents: &[u32]) -> Result<Self, Error> {
        let mut loaded = Self::default();
        let mut rest = documents;
        while let Some(first) = rest.first() {
            let block = all.block_of(*first);
            let range = all.range(block);
            let count = rest.partition_point(|document| *document < range.end);
            let (of_block, after) = rest.split_at(count);
            rest = after;
            let (rows, reference) =
                (all.store.rows(block)?, all.store.blocks[block].notes.reference);
            loaded.has_reference |= reference;
            for document in of_block {
                loaded.push(&rows, (document - range.start) as usize, block as u32, reference)?;
            }
        }
        Ok(loaded)
    }

    fn push(
        &mut self,
        rows: &Rows<'_>,
        i: usize,
        block: u32,
        reference: bool,
    ) -> Result<(), Error> {
        let DocumentRow { place, fingerprint, bytes, label, key, id } = rows.get(i)?;
        self.keys.extend_from_slice(key);
        self.ids.push_str(id);
        let (key_end, id_end) = (self.keys.len(), self.ids.len());
        let head =
            LoadedRow { place, fingerprint, bytes, label, block, reference, key_end, id_end };
        self.heads.push(head);
        Ok(())
    }

    fn head(&self, place: u32) -> &LoadedRow {
        &self.heads[place as usize]
    }

    /// The row of a document.
    pub(crate) fn row(&self, place: u32) -> DocumentRow<'_> {
        let (key, id) = self.key_and_id(place);
        let LoadedRow { place, fingerprint, bytes, label, .. } = *self.head(place);
        DocumentRow { place, fingerprint, bytes, label, key, id }
    }

    /// The block a document is in.
    pub(crate) fn block(&self, place: u32) -> usize {
        self.head(place).block as usize
    }

    /// Whether it is of a reference collection.
    pub(crate) fn is_reference(&self, place: u32) -> bool {
        self.head(place).reference
    }

    /// Whether some of them are of a reference collection.
    pub(crate) fn has_reference(&self) -> bool {
        self.has_reference
    }

    /// The keep order: `Less` means that `a` is kept rather than `b`.
    pub(crate) fn compare(&self, a: u32, b: u32) -> Ordering {
        let ((a_key, a_id), (b_key, b_id)) = (self.key_and_id(a), self.key_and_id(b));
        keep::compare(a_key, a_id.as_bytes(), b_key, b_id.as_bytes())
    }

    /// The same, regardless of which documents are of a reference collection.
    pub(crate) fn compare_by_rules(&self, a: u32, b: u32) -> Ordering {
        let ((a_key, a_id), (b_key, b_id)) = (self.key_and_id(a), self.key_and_id(b));
        keep::compare_by_rules(a_key, a_id.as_bytes(), b_key, b_id.as_bytes())
    }

    fn key_and_id(&self, place: u32) -> (&[u8], &str) {
        let (key, id) = match place {
            0 => (0, 0),
            place => (self.head(place - 1).key_end, self.head(place - 1).id_end),
        };
        let head = self.head(place);
        (&self.keys[key..head.key_end], &self.ids[id..head.id_end])
    }
}
