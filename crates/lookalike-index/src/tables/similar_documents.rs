//! The documents that share the most bucket keys with the documents of a batch. Their originals are
//! candidate bases for the originals of the batch.

use super::{SimilarDocument, Tables};
use crate::error::IndexError;
use std::collections::HashMap;

/// The most similar stored documents of a batch, and the last document of the batch with each key.
pub(super) struct BatchNeighbours {
    /// By change.
    stored: HashMap<usize, SimilarDocument>,
    added: HashMap<u64, i64>,
}

impl BatchNeighbours {
    /// Looks up the distinct bucket keys of documents, each with its change.
    ///
    /// # Errors
    /// Read errors.
    pub(super) fn read(
        tables: Tables<'_>,
        documents: Vec<(usize, Vec<u64>)>,
    ) -> Result<Self, IndexError> {
        let (changes, keys): (Vec<usize>, Vec<Vec<u64>>) = documents.into_iter().unzip();
        let similar = changes.into_iter().zip(tables.most_similar(&keys)?);
        let stored = similar.filter_map(|(change, similar)| Some((change, similar?))).collect();
        Ok(Self { stored, added: HashMap::new() })
    }

    /// Returns the document that shares the most of `keys`, the distinct keys of the document of a
    /// change. Then adds the document of the change with its number.
    pub(super) fn find_and_add(&mut self, change: usize, keys: &[u64], number: i64) -> Option<i64> {
        let added = keys.iter().filter_map(|key| self.added.insert(*key, number));
        let best = SimilarDocument::best(added).max(self.stored.get(&change).copied());
        best.map(|best| best.document)
    }
}
