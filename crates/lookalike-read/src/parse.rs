//! The bytes of a block, or the files of one → documents.

use crate::error::ReadError;
use crate::format::csv;
use crate::format::jsonl;
use crate::format::packed_rows;
use crate::format::{self, Bad, Record};
use crate::options::Format;
use crate::skipped::{SkipReason, Skipped};
use crate::source::{Source, without_mark};
use crate::{Document, Place, Raw, RawSink, Scratch};
use lookalike_extract::encoding;
use std::fmt::Write;

/// Whole records of a source, as they were read.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub(crate) source: &'a Source,
    /// The number of the block in its source.
    pub(crate) index: u32,
    pub(crate) bytes: &'a [u8],
    /// The number of the first line.
    pub(crate) first_line: u64,
    /// The source ends inside of quotes, in the last of these records.
    pub(crate) unclosed: bool,
    /// Where it begins in the decoded stream; `None` when it is read again.
    pub(crate) offset: Option<u64>,
}

impl Piece<'_> {
    /// Gives every document to the sink, in order.
    pub(crate) fn read(
        self,
        format: Format,
        scratch: &mut Scratch,
        sink: &mut impl RawSink,
    ) -> Result<(), ReadError> {
        match format {
            Format::Csv => self.read_values(b',', scratch, sink),
            Format::Tsv => self.read_values(b'\t', scratch, sink),
            Format::Text | Format::File => self.read_whole(scratch, sink),
            Format::Mbox | Format::Warc | Format::Tar => {
                self.read_inner(format, scratch, sink);
                Ok(())
            }
            Format::Lines | Format::Jsonl => self.read_lines(format, scratch, sink),
            Format::Parquet => self.read_rows(scratch, sink),
        }
    }

    fn read_lines(
        self,
        format: Format,
        scratch: &mut Scratch,
        sink: &mut impl RawSink,
    ) -> Result<(), ReadError> {
        let mut start = self.mark_bytes();
        let mut line = 0;
        while start < self.bytes.len() {
            let rest = &self.bytes[start..];
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let record = &rest[..length];
            if !format::is_blank(record) {
                let place = Place { start: start as u32, length: length as u32, line, part: 0 };
                let Scratch { id, text, line_id, further, .. } = &mut *scratch;
                let parsed = self.source.parse(format, record, id, text);
                if parsed.is_ok() && !self.source.settings.fields.further.is_empty() {
                    further.clear();
                    if format == Format::Jsonl {
                        jsonl::further(record, &self.source.settings.fields, further);
                    } else {
                        further.none(self.source.settings.fields.further.len());
                    }
                }
                let raw = Raw::Record(format::without_line_feed(record));
                self.give(parsed, &further.list(), place, raw, line_id, sink)?;
            }
            start += length + 1;
            line += 1;
        }
        Ok(())
    }

    /// A stream that is one document, which the
    /// [`RecordStream`](crate::source::records::RecordStream) never cuts.
    fn read_whole(self, scratch: &mut Scratch, sink: &mut impl RawSink) -> Result<(), ReadError> {
        let place = Place { start: 0, length: self.bytes.len() as u32, line: 0, part: 0 };
        match encoding::decode(self.bytes, self.source.settings.encoding) {
            Some(text) => {
                scratch.further.none(self.source.settings.fields.further.len());
                let document = Document {
                    id: &self.source.name,
                    text: &text,
                    place,
                    fields: &scratch.further.list(),
                    modified: self.source.modified(),
                    shingled: None,
                    about: None,
                };
                sink.record(&document, Raw::Record(self.bytes));
            }
            None => {
                sink.skipped(self.source.bad(self.first_line, None, SkipReason::Binary)?);
            }
        }
        Ok(())
    }

    fn read_values(
        self,
        delimiter: u8,
        scratch: &mut Scratch,
        sink: &mut impl RawSink,
    ) -> Result<(), ReadError> {
        let Some(columns) = self.source.columns() else { return Ok(()) };
        let mark = self.mark_bytes();
        let bytes = &self.bytes[mark..];
        let mut reader = csv::reader(delimiter, bytes);
        let mut header = self.index == 0;
        let (mut start, mut line) = (0, 0);
        let Scratch { values, line_id, further, .. } = scratch;
        further.clear();
        // Memory does not fail to be read: an error is the end.
        while reader.read_byte_record(values).unwrap_or(false) {
            let end = reader.position().byte() as usize;
            // The reader takes blank lines, and the line feed of CR LF, with the next record.
            let blank = bytes[start..end].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
            line += memchr::memchr_iter(b'\n', &bytes[start..start + blank]).count() as u32;
            start += blank;
            let raw = &bytes[start..end];
            let place =
                Place { start: (start + mark) as u32, length: raw.len() as u32, line, part: 0 };
            line += memchr::memchr_iter(b'\n', raw).count() as u32;
            start = end;
            if std::mem::take(&mut header) {
                continue;
            }
            let parsed = if self.unclosed && end == bytes.len() {
                Err(Bad::new(SkipReason::UnclosedQuote))
            } else {
                columns.document(values)
            };
            let parsed = parsed.and_then(|record| {
                columns.further(values, record.id, further)?;
                Ok(record)
            });
            let raw = Raw::Record(format::without_line_feed(raw));
            self.give(parsed, &further.list(), place, raw, line_id, sink)?;
        }
        Ok(())
    }

    fn read_rows(self, scratch: &mut Scratch, sink: &mut impl RawSink) -> Result<(), ReadError> {
        let fields = &self.source.settings.fields;
        let Scratch { line_id, further, .. } = scratch;
        further.clear();
        let (mut start, mut line) = (0, 0);
        while let Some(row) = packed_rows::first(&self.bytes[start..], fields) {
            let place = Place { start: start as u32, length: row.len() as u32, line, part: 0 };
            let parsed = packed_rows::document(row, fields).and_then(|record| {
                packed_rows::further(row, record.id, fields, further)?;
                Ok(record)
            });
            let raw = Raw::Row(self.first_line - 1 + u64::from(line));
            self.give(parsed, &further.list(), place, raw, line_id, sink)?;
            start += row.len();
            line += 1;
        }
        Ok(())
    }

    fn give(
        self,
        parsed: Result<Record<'_>, Bad>,
        fields: &[Option<&str>],
        place: Place,
        raw: Raw<'_>,
        line_id: &mut String,
        sink: &mut impl RawSink,
    ) -> Result<(), ReadError> {
        let line = self.first_line + u64::from(place.line);
        let Record { id, text } = match parsed {
            Ok(record) => record,
            Err(Bad { id, reason }) => {
                sink.skipped(self.source.bad(line, id, reason)?);
                return Ok(());
            }
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
        let document = Document {
            id,
            text,
            place,
            fields,
            modified: self.source.modified(),
            shingled: None,
            about: None,
        };
        sink.record(&document, raw);
        Ok(())
    }

    /// Bytes of the byte order mark before the first record.
    fn mark_bytes(&self) -> usize {
        if self.index > 0 { 0 } else { self.bytes.len() - without_mark(self.bytes).len() }
    }
}

impl Source {
    /// Looks at the first line of a file of JSON: whether the objects in it have the fields. What
    /// cannot be read, and what is no JSON, is left to the reader.
    pub(crate) fn check_first_line(&self) -> Result<(), ReadError> {
        let records = self.open(false).and_then(|mut stream| stream.next(&self.shown));
        let Ok(Some(records)) = records else { return Ok(()) };
        let mut line = records.first_line;
        for record in without_mark(&records.piece).split(|byte| *byte == b'\n') {
            if format::is_blank(record) {
                line += 1;
                continue;
            }
            let (mut id, mut text) = (String::new(), String::new());
            let parsed = self.parse(Format::Jsonl, record, &mut id, &mut text);
            return match parsed.map(drop) {
                Err(Bad { id, reason })
                    if matches!(
                        reason,
                        SkipReason::MissingField { .. } | SkipReason::NotAnObject { .. }
                    ) =>
                {
                    let (source, line) = (self.shown.clone(), Some(line));
                    Err(ReadError::BadRecord(Skipped { source, line, id, reason }))
                }
                _ => Ok(()),
            };
        }
        Ok(())
    }

    /// The document of one line or packed row.
    pub(crate) fn parse<'a>(
        &self,
        format: Format,
        line: &'a [u8],
        id: &'a mut String,
        text: &'a mut String,
    ) -> Result<Record<'a>, Bad> {
        match format {
            Format::Jsonl => jsonl::parse(line, &self.settings.fields, id, text),
            Format::Parquet => packed_rows::document(line, &self.settings.fields),
            _ => format::parse_line(line, &self.settings.fields),
        }
    }
}
