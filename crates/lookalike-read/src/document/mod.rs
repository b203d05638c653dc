//! The output of reading: documents, their positions, and the sinks that take them.

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
    /// Its id, unique among the documents of a side once ids are checked.
    pub id: &'a str,
    /// Its text; empty where [`shingled`](Self::shingled) is given.
    pub text: &'a str,
    /// Its position in the block, by which [`RetainedBlock::fetch`](crate::RetainedBlock::fetch)
    /// reads it again.
    pub place: DocumentPosition,
    /// The values of [`ReadOptions::fields`](crate::ReadOptions::fields), in that order.
    pub fields: &'a [Option<&'a str>],
    /// The modification time of its file, in ns since 1970; `None` for streams.
    pub modified: Option<u64>,
    /// The shingle set that an index keeps of it.
    pub shingled: Option<StoredShingles<'a>>,
    /// Title, author, dates and the like that a file other than plain text states.
    pub about: Option<&'a lookalike_extract::Fields>,
    /// The part of the input that it was made of.
    pub raw: Raw<'a>,
    /// The bytes that it was read from; `None` for documents of tables, of an index and in memory.
    pub contents: Option<DocumentContents<'a>>,
    /// The document that it is a part of, where units are compared.
    pub parent: Option<UnitParent<'a>>,
}

/// The bytes that a document was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentContents<'a> {
    /// A file without compression, or a record of its input, verbatim. A document that is a part of
    /// a file (an attachment) has the bytes of the file; several documents may share them.
    pub bytes: &'a [u8],
    /// Their media type, such as `text/html`.
    pub media_type: &'static str,
    /// The name of the file without folders; empty for a record.
    pub name: &'a str,
}

/// The document that a unit is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitParent<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its text before normalization.
    pub text: &'a str,
    /// Which of its units it is, from 1.
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

    /// The parts, in the order of the fields.
    pub fn to_numbers(self) -> [u32; 4] {
        [self.start, self.end, self.start_char, self.end_char]
    }

    /// The range of the numbers that [`to_numbers`](Self::to_numbers) gave.
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
    /// A document of which no more is known.
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

    /// Returns the size of its record if the record or the record's text has more than `usual`
    /// bytes. A unit after the first of its record has none.
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

/// Takes the documents of a block. The first error ends the reading.
pub trait DocumentSink {
    /// The error of the sink and of reading; [`ReadError`] if the sink has none of its own.
    type Error: SinkError;

    /// A document.
    ///
    /// # Errors
    /// The reason why no more documents are wanted.
    fn document(&mut self, document: &Document<'_>) -> Result<(), Self::Error>;

    /// A file or record without a document, and why.
    ///
    /// # Errors
    /// As [`document`](Self::document).
    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), Self::Error>;

    /// A file that memory has no room for. Returns whether the next one is read, instead of
    /// [`ReadError::OverMemory`].
    fn over_memory(&mut self, _size: &RecordSize) -> bool {
        false
    }
}

/// The part of the input that a document was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raw<'a> {
    /// A record without the line feed, byte for byte as in the decompressed input (in UTF-8 where
    /// the input has another encoding); the whole of a text that is a stream.
    Record(&'a [u8]),
    /// A whole file.
    File(&'a Path),
    /// A part of a file: an attachment, a member of an archive.
    Part(&'a Path),
    /// A row, from 0: of a Parquet file over all row groups, of documents in memory, of an index.
    Row(u64),
}

/// The position of a block in reading order: by source in the order of the inputs (in a folder the
/// text files first, then its files of records), then from start to end. It depends on the inputs
/// only, never on threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockNumber {
    /// The source, from 0.
    pub source: u32,
    /// The block of that source, from 0. Parquet leaves numbers out between its row groups.
    pub index: u32,
}

/// The position of a document in its block, for the [`RetainedBlock`](crate::RetainedBlock) of that
/// block. Places of one block are in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DocumentPosition {
    /// First byte of the record in the block, or number of the file or row.
    pub(crate) start: u32,
    /// Bytes of the record or file.
    pub(crate) length: u32,
    /// Lines before the record in the block.
    pub(crate) line: u32,
    /// Number of the document in its record or file.
    pub(crate) part: u32,
    /// The part of that document that is compared; `None` where it is all of it.
    pub(crate) unit: Option<UnitRange>,
}

impl DocumentPosition {
    /// A record of `length` bytes at `start` of its block, after `line` lines. Blocks are shorter
    /// than 4 GiB.
    pub(crate) fn of_record(start: usize, length: usize, line: u32) -> Self {
        Self { start: start as u32, length: length as u32, line, part: 0, unit: None }
    }

    /// The row of a document that is in memory, from 0; has no meaning for another one.
    pub fn row(self) -> u32 {
        self.start
    }

    /// Bytes of the record or file when it was read, at most `u32::MAX`.
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

    /// The place as numbers, for storage; without its unit.
    pub fn to_numbers(self) -> [u32; 4] {
        [self.start, self.length, self.line, self.part]
    }

    /// The place of the numbers that [`to_numbers`](Self::to_numbers) gave. Any numbers are safe:
    /// fetching from a place without a document is an error.
    pub fn from_numbers([start, length, line, part]: [u32; 4]) -> Self {
        Self { start, length, line, part, unit: None }
    }
}
