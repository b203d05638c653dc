//! What is left of a block that was read: how single documents, or all of them, are read again.

use crate::description::{self, Description, Stated};
use crate::error::ReadError;
use crate::format::csv;
use crate::format::embedded_files;
use crate::normalize::Worded;
use crate::options::Format;
use crate::parse::Piece;
use crate::part_texts::KeptParts;
use crate::skipped::{SkipReason, Skipped};
use crate::source::files::{self, DocumentFile, OnePart};
use crate::source::from_index;
use crate::source::in_memory;
use crate::source::{Kind, Source};
use crate::spool::Spool;
use crate::{BlockNumber, Place, RawSink, Scratch};
use lookalike_core::shingle::Shingler;
use lookalike_extract::{ExtractedPart, FileKind, encoding};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// What is left of a [`Block`](crate::Block) that was read: enough to read it again, one document
/// or all of them. Some 80 bytes, and the block's own where [`Block::retain`](crate::Block::retain)
/// had to keep them in memory.
pub struct Retained {
    number: BlockNumber,
    source: Arc<Source>,
    content: Kept,
    parts: Option<Box<KeptParts>>,
}

pub(crate) enum Kept {
    Disk(Stretch),
    Spooled(Arc<Spool>, Stretch),
    Memory(Box<[u8]>, Stretch),
    Files(Range<usize>),
    Stored(from_index::Stretch),
    Held(Range<usize>),
    /// The block has no documents.
    Nothing,
}

/// Where the bytes of a block stand, and what else is to be known to read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stretch {
    /// In the file, the decoded stream, or the spool.
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// The number of the first line.
    pub(crate) first_line: u64,
    /// The source ends inside of quotes, in the last record.
    pub(crate) unclosed: bool,
}

/// A [`Retained`] as a few numbers, for a run that goes on after it was stopped. It is good for a
/// [`Collection`](crate::Collection) of the same unchanged inputs and options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetainedState {
    pub(crate) number: BlockNumber,
    kept: KeptState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum KeptState {
    Disk(Stretch),
    Spooled(Stretch),
    Files { start: usize, end: usize },
    Stored(from_index::Stretch),
    Nothing,
}

impl RetainedState {
    /// Whether the block has no documents.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self.kept, KeptState::Nothing)
    }

    /// Where its bytes in the spool end; 0 when it has none there.
    pub fn spooled(&self) -> u64 {
        if let KeptState::Spooled(stretch) = &self.kept { stretch.end() } else { 0 }
    }
}

impl Retained {
    pub(crate) fn new(number: BlockNumber, source: Arc<Source>, content: Kept) -> Self {
        Self { number, source, content, parts: None }
    }

    /// With texts that were kept when the block was read.
    pub(crate) fn with_parts(self, parts: Option<Box<KeptParts>>) -> Self {
        Self { parts, ..self }
    }

    /// The value as numbers; `None` when bytes of it are in memory, here or with the caller.
    pub fn state(&self) -> Option<RetainedState> {
        let kept = match &self.content {
            Kept::Disk(stretch) => KeptState::Disk(*stretch),
            Kept::Spooled(_, stretch) => KeptState::Spooled(*stretch),
            Kept::Files(range) => KeptState::Files { start: range.start, end: range.end },
            Kept::Stored(stretch) => KeptState::Stored(*stretch),
            Kept::Nothing => KeptState::Nothing,
            Kept::Memory(..) | Kept::Held(_) => return None,
        };
        Some(RetainedState { number: self.number, kept })
    }

    pub(crate) fn of_state(
        source: Arc<Source>,
        state: RetainedState,
        spool: Option<&Arc<Spool>>,
    ) -> Result<Self, ReadError> {
        let is_records = matches!(source.kind, Kind::Records { .. });
        let content = match (state.kept, &source.kind, spool) {
            (KeptState::Files { start, end }, Kind::Files(files), _)
                if files.get(start..end).is_some() =>
            {
                Kept::Files(start..end)
            }
            (KeptState::Stored(stretch), Kind::Stored(_), _) => Kept::Stored(stretch),
            (KeptState::Nothing, ..) => Kept::Nothing,
            (KeptState::Disk(stretch), ..) if is_records => Kept::Disk(stretch),
            (KeptState::Spooled(stretch), _, Some(spool))
                if is_records && stretch.end() <= spool.len() =>
            {
                Kept::Spooled(Arc::clone(spool), stretch)
            }
            _ => {
                return Err(ReadError::Changed {
                    source_name: source.shown.clone(),
                    line: None,
                    what: "the stored block is not one of it".to_owned(),
                });
            }
        };
        Ok(Self::new(state.number, source, content))
    }

    /// Where the block stands in the reading order.
    pub fn number(&self) -> BlockNumber {
        self.number
    }

    /// Bytes of memory held beside the value itself.
    pub fn memory_bytes(&self) -> usize {
        let bytes = if let Kept::Memory(bytes, _) = &self.content { bytes.len() } else { 0 };
        bytes + self.parts.as_ref().map_or(0, |parts| parts.memory_bytes())
    }

    /// The file a document of this block was read from, `stdin` for standard input, and the line
    /// its record begins on, from 1; no line where the file is the document. Of documents that the
    /// caller holds their name, and the row, from 0.
    pub fn location(&self, place: Place) -> (String, Option<u64>) {
        let line = match &self.content {
            Kept::Held(_) => Some(u64::from(place.start)),
            _ => self.stretch().map(|stretch| stretch.first_line + u64::from(place.line)),
        };
        match self.file(place) {
            Some(file) => (file.shown(), line),
            None => (self.source.shown.clone(), line),
        }
    }

    /// Whether the caller holds the documents.
    pub fn is_held(&self) -> bool {
        matches!(self.content, Kept::Held(_))
    }

    fn stretch(&self) -> Option<&Stretch> {
        match &self.content {
            Kept::Files(_) | Kept::Stored(_) | Kept::Held(_) | Kept::Nothing => None,
            Kept::Disk(stretch) | Kept::Spooled(_, stretch) | Kept::Memory(_, stretch) => {
                Some(stretch)
            }
        }
    }

    fn files(&self) -> Option<&[DocumentFile]> {
        match (&self.content, &self.source.kind) {
            (Kept::Files(range), Kind::Files(files)) => files.get(range.clone()),
            _ => None,
        }
    }

    fn file(&self, place: Place) -> Option<&DocumentFile> {
        self.files()?.get(place.start as usize)
    }

    /// Reads the document `id` at `place` of this block again and gives its text to `f`. From any
    /// thread; one positioned read of the record, or one of the whole text file.
    ///
    /// # Errors
    /// [`ReadError::Changed`] when it is no longer there: the file is gone or shorter, or there is
    /// no such record, or one with another id. [`ReadError::Spool`] when the spool cannot be read.
    pub fn fetch<R>(
        &self,
        place: Place,
        id: &str,
        scratch: &mut Scratch,
        f: impl FnOnce(&str) -> R,
    ) -> Result<R, ReadError> {
        let wording = self.source.settings.wording;
        let mut words = std::mem::take(&mut scratch.words);
        let fetched = match &self.parts {
            Some(parts) if parts.has(place) => {
                parts.fetch(place, &mut scratch.bytes, |text| f(words.of(text, wording)))
            }
            _ => self.fetch_as_read(place, id, scratch, |text, _| f(words.of(text, wording))),
        };
        scratch.words = words;
        fetched
    }

    /// Reads the document `id` at `place` of this block again, for what people recognise it by.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch).
    pub fn describe(
        &self,
        place: Place,
        id: &str,
        scratch: &mut Scratch,
    ) -> Result<Description, ReadError> {
        let mut described = self.fetch_as_read(place, id, scratch, Description::of)?;
        (described.source, described.line) = self.location(place);
        if described.date.is_none() {
            let modified = self.file(place).and_then(|file| file.stamp.modified);
            described.date = modified.and_then(description::day);
        }
        Ok(described)
    }

    /// Makes the shingle set of a document, ascending, without repeats, into `set` (which is
    /// cleared), and gives its fingerprint: cut from its text, or as an index has it.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch); [`ReadError::Index`] when an index cannot be read.
    pub fn fetch_set(
        &self,
        place: Place,
        id: &str,
        scratch: &mut Scratch,
        shingler: &mut Shingler,
        set: &mut Vec<u64>,
    ) -> Result<u128, ReadError> {
        match self.source.stored() {
            Some(stored) => stored.fetch_set(place, id, &mut scratch.bytes, set),
            None => self.fetch(place, id, scratch, |text| shingler.set(text, set)),
        }
    }

    /// Whether [`fetch`](Self::fetch) has a text to give.
    pub fn has_texts(&self) -> bool {
        self.source.stored().is_none_or(|stored| stored.texts)
    }

    fn fetch_as_read<R>(
        &self,
        place: Place,
        id: &str,
        scratch: &mut Scratch,
        f: impl FnOnce(&str, Stated<'_>) -> R,
    ) -> Result<R, ReadError> {
        if let Some(stored) = self.source.stored() {
            let text = stored.fetch_text(place, id)?;
            let missing = || self.changed(place, "the index keeps no text of it".to_owned());
            return Ok(f(&text.ok_or_else(missing)?, Stated::Nothing));
        }
        if let Some(documents) = self.source.held() {
            let text = in_memory::text(&*documents.rows, place, id);
            let changed = || self.changed(place, "it is no longer what it was".to_owned());
            return Ok(f(text.ok_or_else(changed)?, Stated::Nothing));
        }
        if let Some(file) = self.file(place) {
            return self.fetch_part(file, place, scratch, f);
        }
        let Scratch { bytes: buffer, id: id_buffer, text, values, extractor, .. } = scratch;
        let record = self.bytes_at(place.start, place.length, buffer, place)?;
        let Kind::Records { format, .. } = &self.source.kind else {
            return Err(self.changed(place, "no such document".to_owned()));
        };
        let parsed = match (format, self.source.columns()) {
            (Format::Text, _) => {
                let text = encoding::decode(record, self.source.settings.encoding)
                    .ok_or_else(|| self.changed(place, SkipReason::Binary.to_string()))?;
                return Ok(f(&text, Stated::Nothing));
            }
            (Format::Mbox | Format::Warc | Format::Tar, _) => {
                let extractor = self.source.settings.extractor(extractor);
                let mut part = OnePart::new(|part: &ExtractedPart<'_>| {
                    f(part.text, Stated::Fields(part.fields))
                });
                embedded_files::again(*format, record, place.part, extractor, &mut part);
                return self.taken(part, place);
            }
            (Format::Csv | Format::Tsv, Some(columns)) => {
                let delimiter = if *format == Format::Csv { b',' } else { b'\t' };
                let _ = csv::reader(delimiter, record).read_byte_record(values);
                columns.document(values)
            }
            _ => self.source.parse(*format, record, id_buffer, text),
        };
        let stated =
            if *format == Format::Jsonl { Stated::Record(record) } else { Stated::Nothing };
        match parsed {
            Ok(record) if record.id.is_none_or(|found| self.source.is_id(found, id)) => {
                Ok(f(record.text, stated))
            }
            Ok(record) => {
                let found = record.id.unwrap_or_default();
                Err(self.changed(place, format!("the id is {found:?}, was {id:?}")))
            }
            Err(bad) => Err(self.changed(place, bad.reason.to_string())),
        }
    }

    fn fetch_part<R>(
        &self,
        file: &DocumentFile,
        place: Place,
        scratch: &mut Scratch,
        f: impl FnOnce(&str, Stated<'_>) -> R,
    ) -> Result<R, ReadError> {
        let settings = &self.source.settings;
        let contents = files::read(file, settings, &mut scratch.bytes)
            .map_err(|reason| self.changed(place, reason.to_string()))?;
        if u32::try_from(contents.length).unwrap_or(u32::MAX) != place.length {
            let what = format!("{} bytes, were {}", contents.length, place.length);
            return Err(self.changed(place, what));
        }
        if contents.kind == FileKind::Text {
            let text = contents.text(settings);
            let text = text.map_err(|reason| self.changed(place, reason.to_string()))?;
            return Ok(f(&text, Stated::Nothing));
        }
        let mut part =
            OnePart::new(|part: &ExtractedPart<'_>| f(part.text, Stated::Fields(part.fields)));
        contents.extract_part(place.part, settings.extractor(&mut scratch.extractor), &mut part);
        self.taken(part, place)
    }

    /// What was got out of a part that was there before.
    fn taken<R, F>(&self, part: OnePart<F, R>, place: Place) -> Result<R, ReadError> {
        part.taken.ok_or_else(|| {
            let what = part.failure.map_or("no such part".to_owned(), |why| why.to_string());
            self.changed(place, what)
        })
    }

    /// Reads the whole block again: every document in order, with its record as it stands; bad
    /// records again to [`RawSink::skipped`]. The caller compares ids and their number with those
    /// of the first time.
    ///
    /// # Errors
    /// [`ReadError::Changed`] when the block cannot be read any more, or has a bad record where
    /// those are not skipped. [`ReadError::Spool`] when the spool cannot be read.
    pub fn replay(&self, scratch: &mut Scratch, sink: &mut impl RawSink) -> Result<(), ReadError> {
        let wording = self.source.settings.wording;
        let mut words = std::mem::take(&mut scratch.words);
        let sink = &mut Worded { sink, words: &mut words, wording };
        let read = match (self.files(), self.stretch(), &self.source.kind) {
            (.., Kind::Stored(documents)) => match self.content {
                Kept::Stored(stretch) => {
                    documents.replay(stretch, &self.source.settings.fields.further, sink)
                }
                _ => Ok(()),
            },
            (.., Kind::Held(documents)) => match &self.content {
                Kept::Held(range) => {
                    in_memory::read(&self.source, &*documents.rows, range.clone(), sink)
                }
                _ => Ok(()),
            },
            (Some(files), ..) => files::read_all(&self.source, files, scratch, sink),
            (_, Some(stretch), Kind::Records { format, .. }) => {
                let mut buffer = std::mem::take(&mut scratch.bytes);
                let start = Place { start: 0, length: stretch.length, line: 0, part: 0 };
                #[cfg(feature = "archive")]
                self.source.know_repeated()?;
                let bytes = self.bytes_at(0, stretch.length, &mut buffer, start);
                let read = bytes.and_then(|bytes| {
                    let piece = Piece {
                        source: &self.source,
                        index: self.number.index,
                        bytes,
                        first_line: stretch.first_line,
                        unclosed: stretch.unclosed,
                        offset: None,
                    };
                    piece.read(*format, scratch, sink)
                });
                scratch.bytes = buffer;
                read
            }
            _ => Ok(()),
        };
        scratch.words = words;
        read.map_err(|error| match error {
            ReadError::BadRecord(Skipped { source, line, reason, .. }) => {
                ReadError::Changed { source_name: source, line, what: reason.to_string() }
            }
            error => error,
        })
    }

    /// Bytes of the block; `place` is for the message.
    fn bytes_at<'a>(
        &'a self,
        start: u32,
        length: u32,
        buffer: &'a mut Vec<u8>,
        place: Place,
    ) -> Result<&'a [u8], ReadError> {
        let inside =
            |stretch: &Stretch| start.checked_add(length).is_some_and(|end| end <= stretch.length);
        if !self.stretch().is_some_and(inside) {
            return Err(self.changed(place, "no such document".to_owned()));
        }
        let end = start as usize + length as usize;
        let (stretch, spool) = match &self.content {
            Kept::Memory(bytes, _) => {
                return bytes
                    .get(start as usize..end)
                    .ok_or_else(|| self.changed(place, "no such document".to_owned()));
            }
            Kept::Disk(stretch) => (stretch, None),
            Kept::Spooled(spool, stretch) => (stretch, Some(spool)),
            Kept::Files(_) | Kept::Stored(_) | Kept::Held(_) | Kept::Nothing => {
                return Err(self.changed(place, "no such document".to_owned()));
            }
        };
        let length = length as usize;
        buffer.resize(buffer.len().max(length), 0);
        let buffer = &mut buffer[..length];
        let offset = stretch.offset + u64::from(start);
        match spool {
            Some(spool) => spool.read_at(buffer, offset).map_err(|error| spool.failed(error))?,
            None => self
                .source
                .read_at(buffer, offset)
                .map_err(|error: io::Error| self.changed(place, error.to_string()))?,
        }
        Ok(buffer)
    }

    fn changed(&self, place: Place, what: String) -> ReadError {
        let (source_name, line) = self.location(place);
        ReadError::Changed { source_name, line, what }
    }
}

impl Stretch {
    fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.length))
    }
}
