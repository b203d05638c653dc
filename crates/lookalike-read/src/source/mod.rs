//! Kinds of sources: files and streams of records, tables of row groups, files that are documents,
//! documents of an index, documents in memory.
//!
//! ```text
//! Source ── open_lane ──► LaneReader ── next ──► BlockContent ── read ──► DocumentSink
//!   └───────────────────── restore ────────────────► │ retain, read_again
//! ```
//!
//! Each kind implements these three traits in its own file. No other file depends on the kind.

pub(crate) mod files;
pub(crate) mod from_index;
pub(crate) mod in_memory;
pub(crate) mod lane_range;
mod record_stream;
pub(crate) mod records;
pub(crate) mod retained_state;
#[cfg(feature = "parquet")]
pub(crate) mod row_groups;
mod selected_rows;
pub(crate) mod spooled_texts;
pub(crate) mod without_documents;

pub(crate) use files::FileSource;
pub(crate) use from_index::{IndexContent, IndexSource};
pub(crate) use in_memory::InMemorySource;
pub use in_memory::{DocumentRowError, DocumentRows, InMemoryDocuments};
pub use lane_range::LaneRange;
pub(crate) use records::{RecordInput, RecordSource};
pub use retained_state::RetainedState;
pub use spooled_texts::SpooledTexts;
pub(crate) use without_documents::NoDocuments;

use crate::bytes::Spool;
use crate::document::{DocumentPosition, ReadBuffers, SourceSink};
use crate::error::{Location, ReadError};
use crate::format::{CsvHeader, KeptCopier, TakeText};
use crate::measure::Stamp;
use crate::options::{Format, ReadOptions, SourceInfo};
use crate::source::retained_state::KeptState;
use std::path::Path;
use std::sync::Arc;

/// An opened input.
pub(crate) trait Source: Send + Sync {
    fn info(&self) -> &Arc<SourceInfo>;

    /// Number of parts that threads read in parallel.
    fn lanes(&self) -> u32 {
        1
    }

    /// Number of the first block of a lane.
    fn first_block(&self, _lane: u32) -> u32 {
        0
    }

    /// The ranges of blocks that separate processes can read, in reading order, each with its size
    /// in bytes. A range is a lane, or a part of one if blocks can be skipped without reading them.
    fn lane_ranges(&self) -> Vec<(LaneRange, u64)> {
        let info = self.info();
        let lanes = self.lanes();
        let bytes = info.stamp.map_or(0, |stamp| stamp.bytes) / u64::from(lanes.max(1));
        (0..lanes).map(|lane| (LaneRange::whole(info.number, lane), bytes)).collect()
    }

    /// Returns true if the documents are in an index.
    fn is_index(&self) -> bool {
        false
    }

    /// Returns true if the documents are in memory.
    fn is_in_memory(&self) -> bool {
        false
    }

    /// Bytes of memory that the source takes during the whole run and that count against a memory
    /// limit.
    fn held_bytes(&self) -> u64 {
        0
    }

    /// Opens a lane at its start.
    fn open_lane(self: Arc<Self>, lane: u32) -> Result<Box<dyn LaneReader>, ReadError>;

    /// Releases the resources of a finished lane.
    fn finish_lane(&self, _lane: u32) {}

    /// Prepares for reading all lanes again.
    fn rewind(&self) {}

    /// The block of a stored state; `None` if the source has no such block.
    fn restore(
        self: Arc<Self>,
        _state: &RetainedState,
        _spool: Option<&Arc<Spool>>,
    ) -> Option<Box<dyn BlockContent>> {
        None
    }

    /// The format; [`Format::Text`] for files that are documents, `None` if no files are read.
    fn format(&self) -> Option<Format> {
        None
    }

    /// Returns true if another run could not read the source again: a stream, an index, documents
    /// in memory.
    fn is_stream(&self) -> bool {
        self.format().is_none()
    }

    /// Returns true if its documents are files, or parts of them.
    fn has_files(&self) -> bool {
        false
    }

    /// Every file, with its state when the source was opened.
    fn stamps(&self) -> Box<dyn Iterator<Item = (&Path, Stamp)> + '_> {
        Box::new(std::iter::empty())
    }

    /// Reads the header of a table in a file, unless it is already known.
    fn read_header(&self) -> Result<(), ReadError> {
        Ok(())
    }

    /// The header of a table, once it was read.
    fn header(&self) -> Option<&CsvHeader> {
        None
    }

    /// Returns true if ids are line numbers because the records have none. Known after the first
    /// block.
    fn has_line_ids(&self) -> bool {
        false
    }

    /// Copies a record without the removed ranges of its text. Returns `false` if the record does
    /// not contain the text as a literal.
    fn copy_text(&self, _: &[u8], _: &ReadOptions, _: &mut KeptCopier<'_>) -> bool {
        false
    }

    /// The file that contains the document with this id, if the user named that file.
    fn named_file(&self, _id: &str) -> Option<&str> {
        None
    }
}

/// Reads a lane, block by block.
pub(crate) trait LaneReader: Send {
    /// The next block; `None` at the end.
    fn next(&mut self) -> Result<Option<Box<dyn BlockContent>>, ReadError>;

    /// Determines how reading continues after an error, which is listed in a block of its own.
    fn after_error(&mut self) -> AfterError {
        AfterError { line: None, has_more: false }
    }

    /// Returns true if the lane ended without a block.
    fn is_empty(&self) -> bool {
        false
    }
}

/// The continuation of a lane after an error.
pub(crate) struct AfterError {
    /// The line of the error; `None` if no block precedes it.
    pub(crate) line: Option<u64>,
    /// Whether there are more blocks.
    pub(crate) has_more: bool,
}

/// The documents of a block.
pub(crate) trait BlockContent: Send + Sync {
    /// The size of its records or stored sets in bytes, or the size of its longest file.
    fn bytes(&self) -> u64;

    /// Number of bytes that the first reading adds to the progress; 0 if the lane counts them.
    fn progress_bytes(&self) -> u64 {
        0
    }

    /// Passes every document to the sink, in order, at the first and at later readings.
    fn read(&self, scratch: &mut ReadBuffers, sink: &mut SourceSink<'_>) -> Result<(), ReadError>;

    /// The number of copies of a record that are made to extract its text.
    fn copies(&self, _is_escaped: bool) -> u64 {
        0
    }

    /// The line on which the record of a document begins, from 1.
    fn line(&self, _place: DocumentPosition) -> Option<u64> {
        None
    }

    /// Drops bytes that can be read again, after the block was read.
    fn retain(&mut self, _spool: Option<&Arc<Spool>>) -> Result<(), ReadError> {
        Ok(())
    }

    /// The retained block in a form for storage; `None` if bytes of the documents are in memory.
    fn state(&self) -> Option<KeptState>;

    /// The place from which a document was read.
    fn location(&self, place: DocumentPosition) -> Location;

    /// The modification time of the file of a document, in ns since 1970.
    fn modified(&self, _place: DocumentPosition) -> Option<u64> {
        None
    }

    /// Returns true if the documents have texts.
    fn has_texts(&self) -> bool {
        true
    }

    /// Reads a document again and passes its text to `take`.
    fn read_again(
        &self,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), ReadError>;

    /// Replaces the content of `set` by the stored shingle set of a document, and returns its
    /// fingerprint; `None` if none is stored.
    fn stored_set(
        &self,
        _place: DocumentPosition,
        _id: &str,
        _scratch: &mut ReadBuffers,
        _set: &mut Vec<u64>,
    ) -> Result<Option<u128>, ReadError> {
        Ok(None)
    }
}
