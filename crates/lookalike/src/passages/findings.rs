//! The results of a search for passages.

use super::rows::PassageRows;
use crate::engine::{DocumentNumber, FindError, Findings};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Counts of repeated words in a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SourceRepeats {
    /// The name of the source.
    pub name: String,
    /// Documents of the source, including empty ones.
    pub documents: u64,
    /// Documents with a repeated run.
    pub documents_with_repeats: u64,
    /// Words of all documents of the source.
    pub words: u64,
    /// Words that are in a repeated run.
    pub repeated_words: u64,
    /// Words that are in a copy: a run that is equal to a run at an earlier place.
    pub copied_words: u64,
}

impl SourceRepeats {
    /// Adds the counts of `more`, except the number of documents.
    pub(super) fn add(&mut self, more: &Self) {
        self.documents_with_repeats += more.documents_with_repeats;
        self.words += more.words;
        self.repeated_words += more.repeated_words;
        self.copied_words += more.copied_words;
    }
}

/// Counts of a search for passages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PassageCounts {
    /// Documents read, including empty ones but not skipped ones.
    pub documents: u64,
    /// Documents without a word.
    pub empty: u64,
    /// Records and files that could not be read as documents.
    pub skipped: u64,
    /// Words of all documents.
    pub words: u64,
    /// Passages.
    pub passages: u64,
    /// Maximal repeated runs.
    pub runs: u64,
    /// Documents with a repeated run.
    pub documents_with_repeats: u64,
    /// Words in a repeated run.
    pub repeated_words: u64,
    /// Words in a copy.
    pub copied_words: u64,
}

/// All repeated passages of a collection.
pub struct PassageFindings {
    /// Words of the shortest passage.
    pub min_words: usize,
    /// The passages and their places.
    pub rows: PassageRows,
    /// Counts of the search.
    pub counts: PassageCounts,
    /// Counts of repeated words in each source, in reading order.
    pub sources: Vec<SourceRepeats>,
    /// The documents, without groups. They can be read again.
    pub run: Findings,
}

impl PassageFindings {
    /// The id of a document.
    ///
    /// # Errors
    /// [`FindError::Spill`] if the temporary file with the id cannot be read.
    pub fn id(&self, document: DocumentNumber) -> Result<String, FindError> {
        self.run.id(document)
    }

    /// Returns the numbers and ids of the `count` documents with the most bytes in passages, in
    /// descending order of bytes, then by id.
    ///
    /// # Errors
    /// See [`id`](Self::id).
    pub fn most_repeated(&self, count: usize) -> Result<Vec<(DocumentNumber, String)>, FindError> {
        // Resolve ties by id, so that the order of the inputs does not matter.
        let mut most = BTreeSet::new();
        for (bytes, document) in self.rows.most_repeated(count) {
            most.insert((Reverse(*bytes), self.id(*document)?, *document));
            if most.len() > count {
                most.pop_last();
            }
        }
        Ok(most.into_iter().map(|(_, id, document)| (document, id)).collect())
    }

    /// Releases all resources, and removes the stored state of a resumable run. Call it after the
    /// results are written.
    ///
    /// # Errors
    /// [`FindError::Spill`] if the folder of a resumable run cannot be removed.
    pub fn finish(self) -> Result<(), FindError> {
        drop(self.rows);
        self.run.finish()
    }

    /// Reads a document again and returns its original text.
    ///
    /// # Errors
    /// [`FindError::Read`] if it has changed.
    pub fn written_text(&self, document: DocumentNumber) -> Result<String, FindError> {
        self.run.written_text(document)
    }
}
