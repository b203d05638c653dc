//! What a search for passages found.

use crate::error::Error;
use crate::find::Findings;
use crate::words::TextSpan;
use serde::Serialize;
use std::ops::Range;

/// A sequence of words that is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPassage {
    /// How many words it has.
    pub words: u32,
    /// At how many places these words are, alone or within longer repeated runs; 2 or more.
    pub places: u32,
    /// How many documents these places are in.
    pub documents: u32,
    /// Its places in [`PassageFindings::places`], the first one first.
    pub rows: Range<usize>,
    /// The beginning of its first place.
    pub excerpt: String,
}

/// A place of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassagePlace {
    /// The number of the passage, as a place in [`PassageFindings::passages`].
    pub passage: u32,
    /// The number of the document, in reading order.
    pub document: u32,
    /// The position of its first word.
    pub position: u32,
    /// Where it is in the text of the document, as it is written.
    pub span: TextSpan,
    /// Whether it is the first place of the passage, by the keep order and the position.
    pub is_first: bool,
    /// Whether the run is maximal: where it is not, the first place is within a longer repeated
    /// run.
    pub is_maximal: bool,
}

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

/// How many of everything there were.
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
    /// Those in most documents first, then those at most places, the longest, and by the order of
    /// their first places.
    pub passages: Vec<FoundPassage>,
    /// By passage: its first place, then its maximal runs by the order of documents and the
    /// position.
    pub places: Vec<PassagePlace>,
    /// Numbers of everything.
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
    /// [`Error::Spill`] when the temporary file it is in cannot be read.
    pub fn id(&self, document: u32) -> Result<String, Error> {
        self.run.id(document)
    }

    /// Reads a document again and gives its text as it is written.
    ///
    /// # Errors
    /// [`Error::Read`] when it is no longer what it was.
    pub fn written_text(&self, document: u32) -> Result<String, Error> {
        self.run.written_text(document)
    }
}
