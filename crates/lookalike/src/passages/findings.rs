//! What a search for passages found.

use super::rows::PassageRows;
use crate::engine::{DocumentNumber, FindError, Findings};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// How much of a source is repeated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SourceRepeats {
    /// Its name.
    pub name: String,
    /// Its documents, empty ones included.
    pub documents: u64,
    /// Documents with a repeated run.
    pub documents_with_repeats: u64,
    /// Words of its documents.
    pub words: u64,
    /// Words that are in a repeated run.
    pub repeated_words: u64,
    /// Words that are in a copy: a run with an equal one at an earlier place.
    pub copied_words: u64,
}

/// Counts of a search for passages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PassageCounts {
    /// Documents read, empty ones included, skipped ones not.
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
    /// Documents with one.
    pub documents_with_repeats: u64,
    /// Words in one.
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
    /// How much of each source is repeated, in reading order.
    pub sources: Vec<SourceRepeats>,
    /// The documents, which can be read again; without groups.
    pub run: Findings,
}

impl PassageFindings {
    /// The id of a document.
    ///
    /// # Errors
    /// [`FindError::Spill`] when the temporary file it is in cannot be read.
    pub fn id(&self, document: DocumentNumber) -> Result<String, FindError> {
        self.run.id(document)
    }

    /// The `count` documents with most bytes in passages, most first, then by id: number and id.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn most_repeated(&self, count: usize) -> Result<Vec<(DocumentNumber, String)>, FindError> {
        // Ids decide among equal ones, so that the order of the inputs does not.
        let mut most = BTreeSet::new();
        for (bytes, document) in self.rows.most_repeated(count) {
            most.insert((Reverse(*bytes), self.id(*document)?, *document));
            if most.len() > count {
                most.pop_last();
            }
        }
        Ok(most.into_iter().map(|(_, id, document)| (document, id)).collect())
    }

    /// Releases everything, and removes what a run that may be resumed has stored: call it when the
    /// results are written.
    ///
    /// # Errors
    /// [`FindError::Spill`] when the folder of a run that may be resumed cannot be removed.
    pub fn finish(self) -> Result<(), FindError> {
        drop(self.rows);
        self.run.finish()
    }

    /// Reads a document again and gives its text as it is written.
    ///
    /// # Errors
    /// [`FindError::Read`] when it is no longer what it was.
    pub fn written_text(&self, document: DocumentNumber) -> Result<String, FindError> {
        self.run.written_text(document)
    }
}
