//! The output of reading: documents, their positions, and the sinks that receive them.

pub(crate) mod description;
pub(crate) mod extra_fields;
pub(crate) mod normalizing_sink;
pub(crate) mod parent_texts;
pub(crate) mod part_texts;
pub(crate) mod read_buffers;

pub use description::Description;
pub(crate) use description::StatedFields;
pub(crate) use extra_fields::ExtraFields;
pub(crate) use normalizing_sink::{SourceSink, normalized};
pub(crate) use parent_texts::KEPT_BYTES;
pub(crate) use part_texts::{KeptParts, PartTexts};
pub use read_buffers::ReadBuffers;

use crate::error::{ReadError, SkippedItem};
use crate::measure::RecordSize;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::ops::Range;
use std::path::Path;

/// A document that was read.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// Its id. After the check of ids, no other document of the side has it.
    pub id: &'a str,
    /// Its text. Empty if [`shingled`](Self::shingled) is set.
    pub text: &'a str,
    /// Its position in the block, by which [`RetainedBlock::fetch`](crate::RetainedBlock::fetch)
    /// reads it again.
    pub place: DocumentPosition,
    /// The values of [`ReadOptions::fields`](crate::ReadOptions::fields), in that order.
    pub fields: &'a [Option<&'a str>],
    /// The modification time of its file, in ns since 1970; `None` for streams.
    pub modified: Option<u64>,
    /// The shingle set that an index stores for it.
    pub shingled: Option<StoredShingles<'a>>,
    /// Title, author, dates and similar statements of a file other than plain text.
    pub about: Option<&'a lookalike_extract::Fields>,
    /// The part of the input from which it was created.
    pub raw: Raw<'a>,
    /// The bytes from which it was read; `None` for documents of Parquet files,
    /// of an index and in memory.
    pub contents: Option<DocumentContents<'a>>,
    /// The document that contains this one, if units are compared.
    pub parent: Option<UnitParent<'a>>,
}

/// The bytes from which a document was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentContents<'a> {
    /// A decompressed file, or a record of its input, verbatim. For a document that is a part of a
    /// file (an attachment), the bytes of the whole file, which several documents may share.
    pub bytes: &'a [u8],
    /// Their media type, such as `text/html`.
    pub media_type: &'static str,
    /// The name of the file without folders; empty for a record.
    pub name: &'a str,
}

/// The document that contains a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitParent<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its text before normalization.
    pub text: &'a str,
    /// The number of the unit, from 1.
    pub number: u32,
}

/// The range of a unit in the text of its document before normalization, including the white space
/// and the line ends after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnitRange {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
    /// Characters before the first byte.
    pub start_char: u32,
    /// Characters before the end.
    pub end_char: u32,
}

impl UnitRange {
    /// The range in bytes.
    pub fn bytes(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The range as numbers, in the order of the fields.
    pub fn to_numbers(self) -> [u32; 4] {
        [self.start, self.end, self.start_char, self.end_char]
    }

    /// The range with the numbers of [`to_numbers`](Self::to_numbers).
    pub fn from_numbers([start, end, start_char, end_char]: [u32; 4]) -> Self {
        Self { start, end, start_char, end_char }
    }
}

/// The stored shingle set of a document.
#[derive(Debug, Clone, Copy)]
pub struct StoredShingles<'a> {
    /// Shingles, ascending, without repeats.
    pub set: &'a [u64],
    /// Fingerprint of the shingles.
    pub fingerprint: u128,
    /// Length of the text in bytes.
    pub bytes: u64,
}

impl<'a> Document<'a> {
    /// A document without further information.
    pub(crate) fn new(id: &'a str, text: &'a str, place: DocumentPosition, raw: Raw<'a>) -> Self {
        Self {
            id,
            text,
            place,
            fields: &[],
            modified: None,
            shingled: None,
            about: None,
            raw,
            contents: None,
            parent: None,
        }
    }

    /// Length of its text in bytes.
    pub fn bytes(&self) -> u64 {
        self.shingled.map_or(self.text.len() as u64, |shingled| shingled.bytes)
    }

    /// The size of its record, if the record or the record's text has more than `usual` bytes.
    /// `None` for all units of a record except the first.
    pub fn long_record(&self, usual: usize) -> Option<RecordSize> {
        if self.parent.is_some_and(|parent| parent.number > 1) {
            return None;
        }
        let text = self.parent.map_or(self.text, |parent| parent.text);
        let length = self.place.length.max(text.len() as u32);
        if length as usize <= usual {
            return None;
        }
        if let Raw::Record(bytes) = self.raw {
            return Some(RecordSize::of(bytes));
        }
        let mut size = RecordSize::of(text.as_bytes());
        size.bytes = length.into();
        Some(size)
    }
}

/// An error of a [`DocumentSink`].
pub trait SinkError: From<ReadError> + Error + Send + Sync + 'static {}

impl<E: From<ReadError> + Error + Send + Sync + 'static> SinkError for E {}

/// Receives the documents of a block. The first error ends the reading.
pub trait DocumentSink {
    /// The error of the sink and of reading; [`ReadError`] if the sink has none of its own.
    type Error: SinkError;

    /// Receives a document.
    ///
    /// # Errors
    /// Any error ends the reading.
    fn document(&mut self, document: &Document<'_>) -> Result<(), Self::Error>;

    /// Receives a file or record without a document, and the reason.
    ///
    /// # Errors
    /// As [`document`](Self::document).
    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), Self::Error>;

    /// Called for a file that does not fit in memory. If it returns true, reading continues with
    /// the next file. Otherwise, reading fails with [`ReadError::OverMemory`]. `read_within_limit`
    /// also calls it for records, and ignores the result.
    fn over_memory(&mut self, _size: &RecordSize) -> bool {
        false
    }
}

/// The part of the input from which a document was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raw<'a> {
    /// A record without the line feed, byte for byte as in the decompressed input (in UTF-8 if the
    /// input has another encoding). For a stream that is read as one text, the whole
    /// stream.
    Record(&'a [u8]),
    /// A whole file.
    File(&'a Path),
    /// A part of a file: an attachment, a member of an archive.
    Part(&'a Path),
    /// A row, from 0, of a Parquet file (across all row groups), of documents in memory, or of an
    /// index.
    Row(u64),
}

/// The position of a block in reading order: by source in the order of the inputs (in a folder,
/// text files precede files of records), then from start to end. Depends only on the inputs, never
/// on threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockNumber {
    /// The source, from 0.
    pub source: u32,
    /// The block of that source, from 0. Parquet skips numbers between its row groups.
    pub index: u32,
}

/// The position of a document in its block, for the [`RetainedBlock`](crate::RetainedBlock) of that
/// block. Positions in the same block sort in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DocumentPosition {
    /// The first byte of the record in the block, or the number of the file or row.
    pub(crate) start: u32,
    /// Bytes of the record or file.
    pub(crate) length: u32,
    /// Lines before the record in the block.
    pub(crate) line: u32,
    /// Number of the document in its record or file.
    pub(crate) part: u32,
    /// The compared unit of that document; `None` for the whole document.
    pub(crate) unit: Option<UnitRange>,
}

impl DocumentPosition {
    /// A record of `length` bytes at `start` of its block, after `line` lines. Blocks are shorter
    /// than 4 GiB.
    pub(crate) fn of_record(start: usize, length: usize, line: u32) -> Self {
        Self { start: start as u32, length: length as u32, line, part: 0, unit: None }
    }

    /// The row of a document in memory, from 0. Meaningless for other documents.
    pub fn row(self) -> u32 {
        self.start
    }

    /// The size of the record or file in bytes when it was read, at most `u32::MAX`.
    pub fn bytes(self) -> u32 {
        self.length
    }

    /// The range of the unit; `None` for a whole document.
    pub fn unit(self) -> Option<UnitRange> {
        self.unit
    }

    /// The position of a unit of the document.
    #[must_use]
    pub fn with_unit(self, unit: Option<UnitRange>) -> Self {
        Self { unit, ..self }
    }

    /// The position as numbers for storage, without its unit.
    pub fn to_numbers(self) -> [u32; 4] {
        [self.start, self.length, self.line, self.part]
    }

    /// The position with the numbers of [`to_numbers`](Self::to_numbers). Any numbers are safe:
    /// fetching from a position without a document is an error.
    pub fn from_numbers([start, length, line, part]: [u32; 4]) -> Self {
        Self { start, length, line, part, unit: None }
    }
}
