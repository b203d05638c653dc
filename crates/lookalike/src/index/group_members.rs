//! Records which documents were removed as duplicates of documents in an index.

use super::prepare::PreparedDocument;
use lookalike_index::duplicate_table::DuplicateEntry;
use lookalike_index::{Index, IndexError};

/// The number of duplicates per write.
const BATCH: usize = 4096;

/// Records the [duplicates](super::DocumentFields::duplicates) of written documents. Returns how
/// many had no recorded keeper before.
///
/// # Errors
/// Errors of [`add_duplicates`](lookalike_index::backend::SideTableChanges::add_duplicates).
/// The duplicates of earlier documents remain recorded.
pub fn record_duplicates<'a>(
    index: &Index,
    documents: impl Iterator<Item = &'a PreparedDocument>,
) -> Result<u64, IndexError> {
    let members = |document: &'a PreparedDocument| {
        (document.id.as_str(), document.fields.duplicates.as_slice())
    };
    record_members(index, documents.map(members))
}

/// Like [`record_duplicates`], for ids with the ids of their duplicates.
///
/// # Errors
/// See [`record_duplicates`].
pub(super) fn record_members<'a>(
    index: &Index,
    documents: impl Iterator<Item = (&'a str, &'a [String])>,
) -> Result<u64, IndexError> {
    let mut recorder = DuplicateRecorder::new(index);
    for (keeper, duplicates) in documents {
        for id in duplicates {
            recorder.push(id, keeper)?;
        }
    }
    recorder.finish()
}

/// Records duplicates in batches of a few thousand.
pub(crate) struct DuplicateRecorder<'a> {
    index: &'a Index,
    /// Ids of duplicates, each with the id of its keeper.
    pairs: Vec<(String, String)>,
    recorded: u64,
}

impl<'a> DuplicateRecorder<'a> {
    pub(crate) fn new(index: &'a Index) -> Self {
        Self { index, pairs: Vec::new(), recorded: 0 }
    }

    /// Adds a duplicate of the document `keeper`.
    ///
    /// # Errors
    /// Errors of the index.
    pub(crate) fn push(&mut self, id: &str, keeper: &str) -> Result<(), IndexError> {
        self.pairs.push((id.to_owned(), keeper.to_owned()));
        if self.pairs.len() >= BATCH { self.write() } else { Ok(()) }
    }

    /// Records the remaining pairs. Returns how many duplicates had no recorded keeper before.
    ///
    /// # Errors
    /// Errors of the index.
    pub(crate) fn finish(mut self) -> Result<u64, IndexError> {
        self.write()?;
        Ok(self.recorded)
    }

    fn write(&mut self) -> Result<(), IndexError> {
        if self.pairs.is_empty() {
            return Ok(());
        }
        let pairs = self.pairs.iter();
        let entries: Vec<_> = pairs.map(|(id, keeper)| DuplicateEntry { id, keeper }).collect();
        self.recorded += self.index.add_duplicates(&entries)?;
        self.pairs.clear();
        Ok(())
    }
}
