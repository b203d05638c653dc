//! Blocks: what one thread reads at a time, and how single documents are read again.

use super::csv;
use super::encoding;
use super::error::{ReadError, Skipped};
use super::jsonl;
use super::options::Format;
use super::record::{self, Bad, Record};
use super::source::{Kind, Source, without_mark};
use super::stream::Records;
use super::text::{self, TextFile};
use super::{BlockNumber, Place, Scratch, Sink};
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Some records of a file, or some files of a folder: what one thread reads at a time.
pub struct Block {
    number: BlockNumber,
    source: Arc<Source>,
    content: Content,
}

enum Content {
    Records(Records),
    Files(Range<usize>),
}

impl Block {
    pub(super) fn records(source: Arc<Source>, records: Records) -> Self {
        let number = BlockNumber { source: source.number, index: records.index };
        Self { number, source, content: Content::Records(records) }
    }

    pub(super) fn files(source: Arc<Source>, index: u32, range: Range<usize>) -> Self {
        let number = BlockNumber { source: source.number, index };
        Self { number, source, content: Content::Files(range) }
    }

    /// Where the block stands in the reading order.
    pub fn number(&self) -> BlockNumber {
        self.number
    }

    /// Gives every document to the sink, in order. Blank lines are no documents.
    ///
    /// # Errors
    /// [`ReadError::BadRecord`] for the first bad record, or file named by the user that cannot
    /// be read, unless bad records are skipped.
    pub fn read(&self, scratch: &mut Scratch, sink: &mut impl Sink) -> Result<(), ReadError> {
        match (&self.content, &self.source.kind) {
            (Content::Records(records), Kind::Records { format, .. }) => match format {
                Format::Csv => self.read_values(b',', records, scratch, sink),
                Format::Tsv => self.read_values(b'\t', records, scratch, sink),
                Format::Text => self.read_whole(records, sink),
                Format::Lines | Format::Jsonl => self.read_lines(*format, records, scratch, sink),
            },
            (Content::Files(range), Kind::Files(files)) => {
                for (start, file) in files[range.clone()].iter().enumerate() {
                    self.read_file(start, file, scratch, sink)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn read_lines(
        &self,
        format: Format,
        records: &Records,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<(), ReadError> {
        let bytes: &[u8] = &records.piece;
        let mut start = mark_bytes(records);
        let mut line = 0;
        while start < bytes.len() {
            let rest = &bytes[start..];
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let record = &rest[..length];
            if !record::is_blank(record) {
                let place = Place { start: start as u32, length: length as u32, line };
                let Scratch { id, text, line_id, .. } = &mut *scratch;
                let parsed = self.source.parse(format, record, id, text);
                self.give(parsed, records.first_line, place, line_id, sink)?;
            }
            start += length + 1;
            line += 1;
        }
        Ok(())
    }

    /// A stream that is one document; [`RecordStream`](super::stream::RecordStream) never cuts it.
    fn read_whole(&self, records: &Records, sink: &mut impl Sink) -> Result<(), ReadError> {
        let place = Place { start: 0, length: records.piece.len() as u32, line: 0 };
        match encoding::decode(&records.piece, self.source.settings.encoding) {
            Ok(text) => sink.document(&self.source.name, &text, place),
            Err(reason) => sink.skipped(self.source.bad(records.first_line, None, reason)?),
        }
        Ok(())
    }

    fn read_values(
        &self,
        delimiter: u8,
        records: &Records,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<(), ReadError> {
        let Some(columns) = self.source.columns() else { return Ok(()) };
        let bytes = &records.piece[mark_bytes(records)..];
        let mut reader = csv::reader(delimiter, bytes);
        let mut header = records.index == 0;
        let (mut start, mut line) = (0, 0);
        // Memory does not fail to be read: an error is the end.
        while reader.read_byte_record(&mut scratch.values).unwrap_or(false) {
            let end = reader.position().byte() as usize;
            // The reader takes blank lines, and the line feed of CR LF, with the next record.
            let blank = bytes[start..end].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
            line += memchr::memchr_iter(b'\n', &bytes[start..start + blank]).count() as u32;
            start += blank;
            let place = Place {
                start: (start + mark_bytes(records)) as u32,
                length: (end - start) as u32,
                line,
            };
            line += memchr::memchr_iter(b'\n', &bytes[start..end]).count() as u32;
            start = end;
            if std::mem::take(&mut header) {
                continue;
            }
            let parsed = if records.unclosed && end == bytes.len() {
                Err(Bad::new(super::SkipReason::UnclosedQuote))
            } else {
                columns.document(&scratch.values)
            };
            self.give(parsed, records.first_line, place, &mut scratch.line_id, sink)?;
        }
        Ok(())
    }

    fn give(
        &self,
        parsed: Result<Record<'_>, Bad>,
        first_line: u64,
        place: Place,
        line_id: &mut String,
        sink: &mut impl Sink,
    ) -> Result<(), ReadError> {
        let line = first_line + u64::from(place.line);
        match parsed {
            Ok(Record { id: Some(id), text }) => sink.document(id, text, place),
            Ok(Record { id: None, text }) => {
                line_id.clear();
                // Writing to a string does not fail.
                let _ = write!(line_id, "{}:{line}", self.source.name);
                sink.document(line_id, text, place);
            }
            Err(Bad { id, reason }) => sink.skipped(self.source.bad(line, id, reason)?),
        }
        Ok(())
    }

    fn read_file(
        &self,
        start: usize,
        file: &TextFile,
        scratch: &mut Scratch,
        sink: &mut impl Sink,
    ) -> Result<(), ReadError> {
        let settings = &self.source.settings;
        settings.consumed.fetch_add(file.size, Ordering::Relaxed);
        match text::read(file, settings.encoding, &mut scratch.bytes) {
            Ok((text, length)) => {
                let length = u32::try_from(length).unwrap_or(u32::MAX);
                sink.document(&file.id, &text, Place { start: start as u32, length, line: 0 });
            }
            Err(reason) => {
                let source = super::walk::name_of(&file.path);
                let skipped = Skipped { source, line: None, id: Some(file.id.clone()), reason };
                if file.named && !settings.skip_bad {
                    return Err(ReadError::BadRecord(skipped));
                }
                sink.skipped(skipped);
            }
        }
        Ok(())
    }

    /// Drops what can be read again from the disk and keeps what cannot: for plain files and
    /// folders a few words, for streams and compressed records their decoded bytes.
    pub fn retain(self) -> Retained {
        let content = match self.content {
            Content::Files(range) => Kept::Files(range),
            Content::Records(records) if self.source.is_plain() => {
                Kept::Disk { offset: records.offset, first_line: records.first_line }
            }
            Content::Records(records) => {
                Kept::Memory { bytes: (*records.piece).into(), first_line: records.first_line }
            }
        };
        Retained { number: self.number, source: self.source, content }
    }
}

/// What is left of a [`Block`] that was read: enough to read single documents of it again.
pub struct Retained {
    number: BlockNumber,
    source: Arc<Source>,
    content: Kept,
}

enum Kept {
    Disk { offset: u64, first_line: u64 },
    Memory { bytes: Box<[u8]>, first_line: u64 },
    Files(Range<usize>),
}

impl Retained {
    /// Where the block stands in the reading order.
    pub fn number(&self) -> BlockNumber {
        self.number
    }

    /// Bytes of memory held beside the value itself.
    pub fn memory_bytes(&self) -> usize {
        if let Kept::Memory { bytes, .. } = &self.content { bytes.len() } else { 0 }
    }

    /// The file a document of this block was read from, `stdin` for standard input, and the line
    /// its record begins on, from 1; no line where the file is the document.
    pub fn location(&self, place: Place) -> (String, Option<u64>) {
        let line = match &self.content {
            Kept::Files(_) => None,
            Kept::Disk { first_line, .. } | Kept::Memory { first_line, .. } => {
                Some(first_line + u64::from(place.line))
            }
        };
        match self.file(place) {
            Some(file) => (super::walk::name_of(&file.path), line),
            None => (self.source.shown.clone(), line),
        }
    }

    fn file(&self, place: Place) -> Option<&TextFile> {
        match (&self.content, &self.source.kind) {
            (Kept::Files(range), Kind::Files(files)) => {
                files.get(range.clone())?.get(place.start as usize)
            }
            _ => None,
        }
    }

    /// Reads the document `id` at `place` of this block again and gives its text to `f`. From any
    /// thread; one positioned read of the record, or one of the whole text file.
    ///
    /// # Errors
    /// [`ReadError::Changed`] when it is no longer there: the file is gone or shorter, or there is
    /// no such record, or one with another id.
    pub fn fetch<R>(
        &self,
        place: Place,
        id: &str,
        scratch: &mut Scratch,
        f: impl FnOnce(&str) -> R,
    ) -> Result<R, ReadError> {
        if let Some(file) = self.file(place) {
            let (text, length) =
                text::read(file, self.source.settings.encoding, &mut scratch.bytes)
                    .map_err(|reason| self.changed(place, reason.to_string()))?;
            if u32::try_from(length).unwrap_or(u32::MAX) != place.length {
                let what = format!("{length} bytes, were {}", place.length);
                return Err(self.changed(place, what));
            }
            return Ok(f(&text));
        }
        let length = place.length as usize;
        let Scratch { bytes: buffer, id: id_buffer, text, values, .. } = scratch;
        let record = match &self.content {
            Kept::Memory { bytes, .. } => {
                bytes.get(place.start as usize..).and_then(|rest| rest.get(..length))
            }
            Kept::Disk { offset, .. } => {
                buffer.resize(buffer.len().max(length), 0);
                let buffer = &mut buffer[..length];
                self.source
                    .read_at(buffer, offset + u64::from(place.start))
                    .map_err(|error| self.changed(place, error.to_string()))?;
                Some(&*buffer)
            }
            Kept::Files(_) => None,
        };
        let parsed = match (record, &self.source.kind) {
            (Some(record), Kind::Records { format: Format::Text, .. }) => {
                let text = encoding::decode(record, self.source.settings.encoding)
                    .map_err(|reason| self.changed(place, reason.to_string()))?;
                return Ok(f(&text));
            }
            (Some(record), Kind::Records { format, .. }) => match (format, self.source.columns()) {
                (Format::Csv | Format::Tsv, Some(columns)) => {
                    let delimiter = if *format == Format::Csv { b',' } else { b'\t' };
                    let _ = csv::reader(delimiter, record).read_byte_record(values);
                    columns.document(values)
                }
                _ => self.source.parse(*format, record, id_buffer, text),
            },
            _ => return Err(self.changed(place, "no such document".to_owned())),
        };
        match parsed {
            Ok(record) if record.id.is_none_or(|found| found == id) => Ok(f(record.text)),
            Ok(record) => {
                let found = record.id.unwrap_or_default();
                Err(self.changed(place, format!("the id is {found:?}, was {id:?}")))
            }
            Err(bad) => Err(self.changed(place, bad.reason.to_string())),
        }
    }

    fn changed(&self, place: Place, what: String) -> ReadError {
        let (source_name, line) = self.location(place);
        ReadError::Changed { source_name, line, what }
    }
}

impl Source {
    /// The document of one line.
    fn parse<'a>(
        &self,
        format: Format,
        line: &'a [u8],
        id: &'a mut String,
        text: &'a mut String,
    ) -> Result<Record<'a>, Bad> {
        if format == Format::Jsonl {
            jsonl::parse(line, &self.settings.fields, id, text)
        } else {
            record::parse_line(line, &self.settings.fields)
        }
    }
}

/// Bytes of the byte order mark before the first record.
fn mark_bytes(records: &Records) -> usize {
    if records.index > 0 { 0 } else { records.piece.len() - without_mark(&records.piece).len() }
}
