//! Documents by row, in memory or in a file of the caller, as a source. Nothing is copied, and
//! verification reads the rows in place.

use crate::document::{
    Document, DocumentPosition, ExtraFields, Raw, ReadBuffers, SourceSink, StatedFields,
};
use crate::error::{Location, ReadError, SkipReason, SkippedItem};
use crate::format::TakeText;
use crate::options::SourceInfo;
use crate::source::retained_state::KeptState;
use crate::source::{BlockContent, LaneReader, Source};
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of documents in a block.
const BLOCK_DOCUMENTS: usize = 4096;

/// The reason why a row has no text.
#[derive(Debug)]
pub enum DocumentRowError {
    /// The document cannot be read. This is an error, unless bad records are skipped.
    Skipped(SkipReason),
    /// An error that ends the run.
    Failed(ReadError),
}

impl From<SkipReason> for DocumentRowError {
    fn from(reason: SkipReason) -> Self {
        Self::Skipped(reason)
    }
}

impl From<ReadError> for DocumentRowError {
    fn from(error: ReadError) -> Self {
        Self::Failed(error)
    }
}

/// Documents by row. A row must not change during a run; many threads read at once.
pub trait DocumentRows: Send + Sync {
    /// Number of rows.
    fn len(&self) -> usize;

    /// Returns true if the number of rows is 0.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of a row below [`len`](Self::len). `buffer` is for an id that is composed of other
    /// values.
    ///
    /// # Errors
    /// The reason why the row has no id, such as [`SkipReason::Null`].
    fn id<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a str, SkipReason>;

    /// The text of a row. `buffer` is for a text that is not in memory.
    ///
    /// # Errors
    /// The reason why the row has no text.
    fn text<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a str, DocumentRowError>;

    /// The approximate size of the text of a row in bytes.
    fn bytes(&self, row: usize) -> usize {
        self.text(row, &mut String::new()).map_or(0, str::len)
    }

    /// Number of bytes that [`text`](Self::text) writes to the buffer; 0 for a text in memory.
    fn buffered_bytes(&self, _row: usize) -> usize {
        0
    }

    /// Bytes of memory that count against a memory limit, for rows whose texts are not in memory.
    /// Excludes memory that the caller needs anyway.
    fn held_bytes(&self) -> u64 {
        0
    }

    /// Writes the value of a row for one of [`ReadOptions::fields`](crate::ReadOptions::fields), by
    /// its number, to `buffer` as text. Returns false if there is none.
    fn field(&self, row: usize, field: usize, buffer: &mut String) -> bool;
}

/// Documents in memory with a name.
#[derive(Clone)]
pub struct InMemoryDocuments {
    /// The name in messages, such as `documents`.
    pub name: String,
    /// The documents.
    pub rows: Arc<dyn DocumentRows>,
}

impl InMemoryDocuments {
    /// Bytes of all texts.
    pub(crate) fn bytes(&self) -> u64 {
        text_bytes(&*self.rows, 0..self.rows.len())
    }
}

/// Documents in memory as a source.
pub(crate) struct InMemorySource {
    info: Arc<SourceInfo>,
    rows: Arc<dyn DocumentRows>,
}

impl InMemorySource {
    pub(crate) fn new(info: Arc<SourceInfo>, rows: Arc<dyn DocumentRows>) -> Self {
        Self { info, rows }
    }

    /// Handles a row without a document: returns an error, or an entry for the list of skipped
    /// rows.
    fn reject_row(
        &self,
        row: u64,
        id: Option<String>,
        reason: SkipReason,
    ) -> Result<SkippedItem, ReadError> {
        let skipped =
            SkippedItem { source: self.info.display_name.clone(), line: Some(row), id, reason };
        let is_skipped = self.info.settings.options.skip_bad;
        if is_skipped { Ok(skipped) } else { Err(ReadError::BadRow(Box::new(skipped))) }
    }

    /// Passes rows to the sink, in order.
    fn read(&self, range: Range<usize>, sink: &mut SourceSink<'_>) -> Result<(), ReadError> {
        let rows = &*self.rows;
        let fields = self.info.settings.options.fields.len();
        let mut id = String::new();
        let mut text = String::new();
        let mut value = String::new();
        let mut extra = ExtraFields::default();
        for row in range {
            let number = row as u64;
            let id = match rows.id(row, &mut id) {
                Ok(id) => id,
                Err(reason) => {
                    sink.skipped(self.reject_row(number, None, reason)?)?;
                    continue;
                }
            };
            let text = match rows.text(row, &mut text) {
                Ok(text) => text,
                Err(DocumentRowError::Failed(error)) => return Err(error),
                Err(DocumentRowError::Skipped(reason)) => {
                    sink.skipped(self.reject_row(number, Some(id.to_owned()), reason)?)?;
                    continue;
                }
            };
            extra.clear();
            for field in 0..fields {
                value.clear();
                extra.push(rows.field(row, field, &mut value).then_some(value.as_str()));
            }
            let document = Document::new(id, text, place(row, text), Raw::Row(number));
            sink.document(&Document { fields: &extra.list(), ..document })?;
        }
        Ok(())
    }

    /// The text at a place, unless it has changed.
    fn text<'a>(
        &'a self,
        at: DocumentPosition,
        id: &str,
        buffer: &'a mut String,
    ) -> Result<Option<&'a str>, ReadError> {
        let rows = &*self.rows;
        let row = at.start as usize;
        if row >= rows.len() || rows.id(row, &mut String::new()).ok() != Some(id) {
            return Ok(None);
        }
        match rows.text(row, buffer) {
            Ok(text) => Ok((place(row, text) == at).then_some(text)),
            Err(DocumentRowError::Skipped(_)) => Ok(None),
            Err(DocumentRowError::Failed(error)) => Err(error),
        }
    }
}

impl Source for InMemorySource {
    fn info(&self) -> &Arc<SourceInfo> {
        &self.info
    }

    fn is_in_memory(&self) -> bool {
        true
    }

    fn held_bytes(&self) -> u64 {
        self.rows.held_bytes()
    }

    fn open_lane(self: Arc<Self>, _: u32) -> Result<Box<dyn LaneReader>, ReadError> {
        Ok(Box::new(RowLane { source: self, next: 0 }))
    }
}

/// Divides the rows into blocks.
struct RowLane {
    source: Arc<InMemorySource>,
    next: usize,
}

impl LaneReader for RowLane {
    /// The block contains at least one row, and more rows up to about the block size of text.
    fn next(&mut self) -> Result<Option<Box<dyn BlockContent>>, ReadError> {
        let rows = &*self.source.rows;
        let block_bytes = self.source.info.settings.block_bytes;
        let start = self.next;
        let last = rows.len().min(start.saturating_add(BLOCK_DOCUMENTS));
        let mut bytes = 0;
        while self.next < last && (bytes < block_bytes || self.next == start) {
            bytes += rows.bytes(self.next);
            self.next += 1;
        }
        if self.next == start {
            return Ok(None);
        }
        let range = start..self.next;
        Ok(Some(Box::new(RowBlock { source: Arc::clone(&self.source), range })))
    }
}

/// Consecutive rows.
struct RowBlock {
    source: Arc<InMemorySource>,
    range: Range<usize>,
}

impl BlockContent for RowBlock {
    /// The size of the longest text that is not already in memory, in bytes.
    fn bytes(&self) -> u64 {
        let rows = &*self.source.rows;
        self.range.clone().map(|row| rows.buffered_bytes(row) as u64).max().unwrap_or(0)
    }

    fn progress_bytes(&self) -> u64 {
        text_bytes(&*self.source.rows, self.range.clone())
    }

    fn read(&self, _: &mut ReadBuffers, sink: &mut SourceSink<'_>) -> Result<(), ReadError> {
        self.source.read(self.range.clone(), sink)
    }

    fn state(&self) -> Option<KeptState> {
        None
    }

    fn location(&self, place: DocumentPosition) -> Location {
        Location::Row { source: self.source.info.display_name.clone(), row: u64::from(place.start) }
    }

    fn read_again(
        &self,
        place: DocumentPosition,
        id: &str,
        _: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), ReadError> {
        let changed = || self.location(place).changed("it is no longer what it was".to_owned());
        let mut buffer = String::new();
        let text = self.source.text(place, id, &mut buffer)?.ok_or_else(changed)?;
        take(text, StatedFields::Nothing);
        Ok(())
    }
}

/// The size of the texts of some rows in bytes.
fn text_bytes(rows: &dyn DocumentRows, range: Range<usize>) -> u64 {
    range.map(|row| rows.bytes(row) as u64).sum()
}

/// A run numbers fewer documents than `u32` can represent.
fn place(row: usize, text: &str) -> DocumentPosition {
    DocumentPosition::of_record(row, text.len(), 0)
}
