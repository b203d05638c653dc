//! Formats of records: the end of a record, and its document.
//!
//! [`RecordFormat`] has an implementation for each format, in a file of its own;
//! `source/records.rs` chooses one by [`Format`](crate::Format). What mailboxes, crawls and tar
//! archives share is in `embedded_files.rs`.

pub(crate) mod csv;
pub(crate) mod csv_header;
pub(crate) mod embedded_files;
pub(crate) mod id_rule;
pub(crate) mod json_array;
pub(crate) mod json_line;
mod json_scanner;
pub(crate) mod jsonl;
pub(crate) mod lines;
pub(crate) mod mbox;
pub(crate) mod packed_rows;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod record;
pub(crate) mod tar;
pub(crate) mod text_cut;
pub(crate) mod warc;
pub(crate) mod whole_text;

pub(crate) use csv::SeparatedValues;
pub use csv_header::CsvHeader;
pub(crate) use embedded_files::FileRecordFormat;
pub(crate) use id_rule::IdRule;
pub(crate) use json_array::JsonArray;
pub use json_line::{JsonLine, JsonLineReader};
pub use jsonl::has_member;
pub(crate) use lines::LineRecords;
pub(crate) use mbox::MboxFormat;
pub(crate) use packed_rows::PackedRowsFormat;
#[cfg(feature = "parquet")]
pub(crate) use parquet::{ParquetFile, RowGroup};
pub(crate) use record::{InvalidRecord, RecordBoundary, RecordDocument};
pub(crate) use tar::TarFormat;
pub(crate) use text_cut::KeptCopier;
pub(crate) use warc::WarcFormat;
pub(crate) use whole_text::WholeTextFormat;

use crate::bytes::{PooledBuffer, without_mark};
use crate::document::{
    Document, DocumentContents, DocumentPosition, Raw, ReadBuffers, SourceSink, StatedFields,
};
use crate::error::{ReadError, SkipReason};
use crate::options::{ReadOptions, SourceInfo};
use std::fmt::Write;

/// What is done with the records of one source. A value may keep what it learns from the source,
/// such as the header of a table.
pub(crate) trait RecordFormat: Send + Sync {
    /// Finds the end of the last whole record in bytes that begin with a record and may end within
    /// one.
    fn cut(&self, bytes: &[u8]) -> RecordBoundary;

    /// Gives the documents of whole records to the sink, in order.
    ///
    /// # Errors
    /// [`ReadError::BadRecord`] for the first bad record unless bad records are skipped.
    fn read(
        &self,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError>;

    /// Reads a document of one record again and passes its text to `take`.
    ///
    /// # Errors
    /// What differs from the first time.
    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String>;

    /// Learns from the records of the next block of the source, `None` at its end.
    ///
    /// # Errors
    /// [`ReadError::Table`] for a header that lacks a column.
    fn observe(&self, _: &SourceInfo, _: Option<&BlockRecords>) -> Result<(), ReadError> {
        Ok(())
    }

    /// Learns from the source, read from its start by `next`, what reading records again needs and
    /// is not known yet.
    ///
    /// # Errors
    /// The error of `next`; as [`observe`](Self::observe).
    fn learn_header(&self, source: &SourceInfo, next: NextRecords<'_>) -> Result<(), ReadError> {
        match self.ids() {
            Some(ids) if !ids.is_known() => self.observe(source, next()?.as_ref()),
            _ => Ok(()),
        }
    }

    /// Whether [`observe`](Self::observe) learns from the first block what reading records again
    /// needs: the columns, or how ids are made.
    fn has_header(&self) -> bool {
        self.ids().is_some()
    }

    /// How records get their ids, if the first block decides it.
    fn ids(&self) -> Option<&IdRule> {
        None
    }

    /// Why the first record of a source has no document, with its line; `None` where it has one.
    /// Records other than JSON are not looked at.
    fn first_fault(&self, _: &SourceInfo, _: &BlockRecords) -> Option<(u64, SkipReason)> {
        None
    }

    /// Whether records are numbered instead of lines.
    fn counts_records(&self) -> bool {
        false
    }

    /// The header of a table, once its first block is observed.
    fn header(&self) -> Option<&CsvHeader> {
        None
    }

    /// Copies a record without the removed ranges of its text; `false` if the record does not
    /// contain the text as a literal.
    fn copy_text(&self, _: &[u8], _: &ReadOptions, _: &mut KeptCopier<'_>) -> bool {
        false
    }

    /// Whether each line is a record, so that reading continues after one that is too long.
    fn is_lines(&self) -> bool {
        false
    }

    /// Whether records are bytes in an encoding of their own; others are decoded to UTF-8 first.
    fn is_encoded(&self) -> bool {
        false
    }

    /// How to find the end of the record that `held` begins and does not end, without holding it.
    /// `unclosed` is the value that [`cut`](Self::cut) returned for `held`.
    fn continuation(&self, _held: &[u8], _unclosed: bool) -> Continuation {
        Continuation::Cut(Vec::new())
    }

    /// How many copies of a record are made to get its text; `is_escaped` tells whether it has
    /// backslashes.
    fn copies(&self, _is_escaped: bool) -> u64 {
        0
    }

    /// Whether no bytes at all make a block. `unclosed` is taken from the last [`RecordBoundary`].
    fn reads_empty(&self, _is_first: bool, _unclosed: bool) -> bool {
        false
    }
}

/// How a record continues whose first bytes were read.
pub(crate) enum Continuation {
    /// The record states that it has this many more bytes.
    Bytes(u64),
    /// [`RecordFormat::cut`] finds its end in these bytes, followed by the next ones.
    Cut(Vec<u8>),
}

/// Reads the next block of a source, from its start; `None` at its end.
pub(crate) type NextRecords<'a> = &'a mut dyn FnMut() -> Result<Option<BlockRecords>, ReadError>;

/// Takes the text of a document, with what its file or record states about it.
pub(crate) type TakeText<'a> = &'a mut dyn FnMut(&str, StatedFields<'_>);

/// The whole records of a block.
pub(crate) struct BlockRecords {
    pub(crate) buffer: PooledBuffer,
    /// Number of the block in its source.
    pub(crate) index: u32,
    /// Bytes of the decoded stream before these.
    pub(crate) offset: u64,
    /// Number of the first line, from 1.
    pub(crate) first_line: u64,
    /// The stream ends with [`RecordBoundary::unclosed`] in the last of these records.
    pub(crate) unclosed: bool,
    /// [`RecordBoundary::records`] before these.
    pub(crate) records_before: u64,
}

/// The whole records of a block, when it is read or read again.
#[derive(Clone, Copy)]
pub(crate) struct WholeRecords<'a> {
    pub(crate) source: &'a SourceInfo,
    /// Number of the block in its source.
    pub(crate) index: u32,
    pub(crate) bytes: &'a [u8],
    /// Number of the first line, from 1.
    pub(crate) first_line: u64,
    /// See [`BlockRecords::unclosed`].
    pub(crate) unclosed: bool,
    /// Bytes of the decoded stream before these; `None` when they are read again.
    pub(crate) offset: Option<u64>,
    /// Files in the source before these, as far as they use up its limit.
    pub(crate) members: u32,
}

/// One record that is read again.
#[derive(Clone, Copy)]
pub(crate) struct RecordAgain<'a> {
    pub(crate) source: &'a SourceInfo,
    pub(crate) bytes: &'a [u8],
    pub(crate) place: DocumentPosition,
    /// The id that its document had.
    pub(crate) id: &'a str,
}

impl WholeRecords<'_> {
    /// Gives the document of a record to the sink, or lists the record as skipped. `raw`
    /// comes with its media type; `line_id` is a buffer.
    pub(crate) fn give(
        &self,
        parsed: Result<RecordDocument<'_>, InvalidRecord>,
        fields: &[Option<&str>],
        place: DocumentPosition,
        (raw, media_type): (Raw<'_>, &'static str),
        line_id: &mut String,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        let line = self.first_line + u64::from(place.line);
        let RecordDocument { id, text } = match parsed {
            Ok(record) => record,
            Err(InvalidRecord { id, reason }) => {
                return sink.skipped(self.source.reject_record(line, id, reason)?);
            }
        };
        let contents = match raw {
            Raw::Record(bytes) => Some(DocumentContents { bytes, media_type, name: "" }),
            _ => None,
        };
        let name = &self.source.name;
        line_id.clear();
        // Writing to a string does not fail.
        let id = match id {
            Some(id) if !self.source.has_ids_by_file() => id,
            Some(id) => {
                let _ = write!(line_id, "{name}/{id}");
                line_id
            }
            None => {
                let _ = write!(line_id, "{name}:{line}");
                line_id
            }
        };
        sink.document(&Document {
            fields,
            modified: self.source.modified(),
            contents,
            ..Document::new(id, text, place, raw)
        })
    }

    /// Bytes of the byte order mark before the first record.
    pub(crate) fn mark_bytes(&self) -> usize {
        if self.index > 0 { 0 } else { self.bytes.len() - without_mark(self.bytes).len() }
    }
}

impl RecordAgain<'_> {
    /// Gives the text of a parsed record to `take` if it still has its id.
    pub(crate) fn give(
        &self,
        parsed: Result<RecordDocument<'_>, InvalidRecord>,
        stated: StatedFields<'_>,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        let record = parsed.map_err(|bad| bad.reason.to_string())?;
        match record.id {
            Some(found) if !self.source.is_id(found, self.id) => {
                Err(format!("the id is {found:?}, was {:?}", self.id))
            }
            _ => {
                take(record.text, stated);
                Ok(())
            }
        }
    }
}
