//! Formats of records: finding the end of a record, and its document.
//!
//! [`RecordFormat`] has an implementation for each format, in its own file; `source/records.rs`
//! chooses one by [`Format`](crate::Format). `embedded_files.rs` contains the common parts of
//! mailboxes, crawls and tar archives.

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
pub(crate) mod separated_record;
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

/// The operations on the records of a source. An implementation may store information about the
/// source, such as the header of a table.
pub(crate) trait RecordFormat: Send + Sync {
    /// Finds the end of the last whole record. `bytes` begin with a record, and may end within one.
    fn cut(&self, bytes: &[u8]) -> RecordBoundary;

    /// Passes the documents of whole records to the sink, in order.
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
    /// The difference from the first reading.
    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String>;

    /// Observes the records of the next block of the source, `None` at its end.
    ///
    /// # Errors
    /// [`ReadError::Table`] for a header that lacks a column.
    fn observe(&self, _: &SourceInfo, _: Option<&BlockRecords>) -> Result<(), ReadError> {
        Ok(())
    }

    /// Reads the information that is needed to read records again, unless it is known. `next` reads
    /// the source from its start.
    ///
    /// # Errors
    /// The error of `next`; as [`observe`](Self::observe).
    fn learn_header(&self, source: &SourceInfo, next: NextRecords<'_>) -> Result<(), ReadError> {
        match self.ids() {
            Some(ids) if !ids.is_known() => self.observe(source, next()?.as_ref()),
            _ => Ok(()),
        }
    }

    /// Returns true if reading records again needs information that [`observe`](Self::observe)
    /// finds in the first block: the columns, or the rule for ids.
    fn has_header(&self) -> bool {
        self.ids().is_some()
    }

    /// The rule for the ids of records, if the first block decides it.
    fn ids(&self) -> Option<&IdRule> {
        None
    }

    /// The reason why the first record of a source has no document, with the record's line; `None`
    /// if it has a document. Only JSON records are checked.
    fn first_fault(&self, _: &SourceInfo, _: &BlockRecords) -> Option<(u64, SkipReason)> {
        None
    }

    /// Returns true if records are numbered instead of lines.
    fn counts_records(&self) -> bool {
        false
    }

    /// The header of a table, after its first block was observed.
    fn header(&self) -> Option<&CsvHeader> {
        None
    }

    /// Copies a record without the removed ranges of its text. Returns `false` if the record does
    /// not contain the text as a literal.
    fn copy_text(&self, _: &[u8], _: &ReadOptions, _: &mut KeptCopier<'_>) -> bool {
        false
    }

    /// Returns true if each line is a record, so that reading continues after one that is too long.
    fn is_lines(&self) -> bool {
        false
    }

    /// Returns true if records are bytes in their own encoding. Others are decoded to UTF-8 first.
    fn is_encoded(&self) -> bool {
        false
    }

    /// Determines how to find the end of the record that begins with `partial`, without holding the
    /// record. `unclosed` is the value that [`cut`](Self::cut) returned for `partial`.
    fn continuation(&self, _partial: &[u8], _unclosed: bool) -> Continuation {
        Continuation::Cut(Vec::new())
    }

    /// The number of copies of a record that are made to extract its text. `is_escaped` states
    /// whether it contains backslashes.
    fn copies(&self, _is_escaped: bool) -> u64 {
        0
    }

    /// Returns true if an empty input forms a block. `unclosed` is taken from the last
    /// [`RecordBoundary`].
    fn reads_empty(&self, _is_first: bool, _unclosed: bool) -> bool {
        false
    }
}

/// The continuation of a record whose first bytes were read.
pub(crate) enum Continuation {
    /// The record states that this number of bytes follows.
    Bytes(u64),
    /// [`RecordFormat::cut`] finds its end in these bytes followed by the next ones.
    Cut(Vec<u8>),
}

/// Reads the next block of a source, from its start; `None` at its end.
pub(crate) type NextRecords<'a> = &'a mut dyn FnMut() -> Result<Option<BlockRecords>, ReadError>;

/// Receives the text of a document, and the information that its file or record states.
pub(crate) type TakeText<'a> = &'a mut dyn FnMut(&str, StatedFields<'_>);

/// The whole records of a block.
pub(crate) struct BlockRecords {
    pub(crate) buffer: PooledBuffer,
    /// Number of the block in its source.
    pub(crate) index: u32,
    /// Number of preceding bytes of the decoded stream.
    pub(crate) offset: u64,
    /// Number of the first line, from 1.
    pub(crate) first_line: u64,
    /// Whether the stream ends after these records and [`RecordBoundary::unclosed`] was true at its
    /// end.
    pub(crate) unclosed: bool,
    /// Sum of [`RecordBoundary::records`] over the preceding blocks.
    pub(crate) records_before: u64,
}

/// The whole records of a block, when it is first read or read again.
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
    /// Number of preceding bytes of the decoded stream; `None` when the records are read again.
    pub(crate) offset: Option<u64>,
    /// Number of preceding files in the source that count against its limit.
    pub(crate) members: u32,
}

/// A record that is read again.
#[derive(Clone, Copy)]
pub(crate) struct RecordAgain<'a> {
    pub(crate) source: &'a SourceInfo,
    pub(crate) bytes: &'a [u8],
    pub(crate) place: DocumentPosition,
    /// The former id of its document.
    pub(crate) id: &'a str,
}

impl WholeRecords<'_> {
    /// Passes the document of a record to the sink, or lists the record as skipped. `raw` is passed
    /// with its media type; `line_id` is a buffer.
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
    /// Passes the text of a parsed record to `take` if its id is unchanged.
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
