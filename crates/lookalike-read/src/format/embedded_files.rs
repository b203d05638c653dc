//! Streams of files: the messages of a mailbox, the records of a crawl, the entries of a tar
//! archive. Each is cut off as a record, and is a file again, with a document or several.

use crate::description::StatedFields;
use crate::document::{DocumentContents, DocumentPosition, Raw};
use crate::error::ReadError;
use crate::file::part_sink::{OnePart, PartOutput, no_text, push_within};
use crate::format::kind::Format;
use crate::format::record::{RecordBoundary, without_line_feed};
use crate::format::{BlockRecords, NextRecords, RecordAgain, RecordFormat, TakeText, WholeRecords};
use crate::normalizing_sink::SourceSink;
use crate::scratch::ReadBuffers;
use crate::settings::SourceSettings;
use crate::skipped::{SkipReason, SkippedItem};
use crate::source_info::SourceInfo;
use lookalike_extract::archive::{EntryKind, TarEntry, TarNext, next_entry};
use lookalike_extract::{
    ExtractError, ExtractedPart, Extractor, FailedPart, FileKind, LimitUsage, PartSink, UniqueNames,
};
use parking_lot::{Mutex, MutexGuard};
#[cfg(feature = "mail")]
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The format of a mailbox, a crawl or a tar archive.
pub(crate) struct EmbeddedFiles {
    kind: Format,
    /// Nanoseconds that extraction of the files has taken.
    extraction_time: AtomicU64,
    repeated: Mutex<RepeatedNames>,
}

/// Members of a tar archive that repeat the name of an earlier one.
#[derive(Default)]
struct RepeatedNames {
    names: UniqueNames,
    /// By block and place in it.
    numbers: HashMap<(u32, u32), u32>,
    /// All members were observed.
    complete: bool,
}

impl RepeatedNames {
    /// Adds the members of the next block; `None` at the end of the archive.
    fn add(&mut self, records: Option<&BlockRecords>) {
        let Some(records) = records else {
            self.complete = true;
            return;
        };
        for (start, name) in member_names(&records.buffer) {
            if let Some(number) = self.names.number(&name) {
                self.numbers.insert((records.index, start), number);
            }
        }
    }
}

impl EmbeddedFiles {
    /// `kind` is one of [`Format::Mbox`], [`Format::Warc`] and [`Format::Tar`].
    pub(crate) fn new(kind: Format) -> Self {
        Self { kind, extraction_time: AtomicU64::new(0), repeated: Mutex::default() }
    }

    fn repeated(&self) -> MutexGuard<'_, RepeatedNames> {
        self.repeated.lock()
    }

    /// The number of the member at `start` of block `index`, where it repeats a name.
    fn repeat_number(&self, index: u32, start: u32) -> Option<u32> {
        match self.kind {
            Format::Tar => self.repeated().numbers.get(&(index, start)).copied(),
            _ => None,
        }
    }
}

impl RecordFormat for EmbeddedFiles {
    /// A tar archive is unclosed as long as its end mark is missing.
    fn cut(&self, bytes: &[u8]) -> RecordBoundary {
        let mut whole = 0;
        let mut unclosed = self.kind == Format::Tar;
        while let Some((done, inner)) =
            first(self.kind, &bytes[whole..], false).filter(|(done, _)| *done > 0)
        {
            whole += done;
            unclosed &= !inner.is_end();
        }
        let rest = &bytes[whole..];
        let zeros = !rest.is_empty() && rest.iter().all(|byte| *byte == 0);
        RecordBoundary { whole, unclosed: unclosed && !zeros }
    }

    fn read(
        &self,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        let WholeRecords { source, bytes, .. } = *records;
        let settings = &*source.settings;
        let ReadBuffers { extra, extractor, part_texts, .. } = scratch;
        part_texts.clear();
        let extractor = settings.extractor(extractor);
        let mut used = LimitUsage::default();
        let (mut start, mut line, mut unclosed) = (0, 0, records.unclosed);
        while let Some((done, inner)) = first(self.kind, &bytes[start..], true) {
            // One reason is enough.
            unclosed &= !matches!(inner, RecordContent::Damaged(_));
            let raw = &bytes[start..start + done];
            let place = DocumentPosition {
                start: start as u32,
                length: done as u32,
                line,
                part: 0,
                unit: None,
            };
            let number = records.first_line + u64::from(line);
            let repeat = self.repeat_number(records.index, start as u32);
            let mut parts = RecordParts {
                source,
                kind: self.kind,
                line: number,
                base: base(source, &inner, number, repeat),
                raw: without_line_feed(raw),
                contents: contents(&inner, without_line_feed(raw)),
                id: String::new(),
                documents: PartOutput {
                    fields: &settings.options.fields,
                    place,
                    modified: modified(source, &inner),
                    extra: &mut *extra,
                    part_texts: &mut *part_texts,
                    sink: &mut *sink,
                },
            };
            let read = |name: &str, bytes: &[u8], parts: &mut RecordParts<'_>| {
                self.extract(records, name, bytes, (start, &mut used), extractor, parts)
            };
            extract(inner, read, &mut parts)?;
            start += done.max(1);
            line += memchr::memchr_iter(b'\n', raw).count() as u32;
        }
        if self.kind == Format::Tar && records.index == 0 && bytes.iter().all(|byte| *byte == 0) {
            return sink.skipped(source.skipped(SkipReason::NoContent));
        }
        if unclosed {
            let what = "the archive is cut off: it has no end mark".to_owned();
            let failure = ExtractError::Damaged { what };
            sink.skipped(source.skipped(SkipReason::NoText { failure, content: None }))?;
        }
        Ok(())
    }

    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        let extractor = record.source.settings.extractor(&mut scratch.extractor);
        OnePart::read(
            |part: &ExtractedPart<'_>| take(part.text, StatedFields::Fields(part.fields)),
            |part| match first(self.kind, record.bytes, true) {
                Some((_, inner)) => extract(
                    inner,
                    |name, bytes, part| {
                        extractor.extract_part(name, bytes, record.place.part, part)
                    },
                    part,
                ),
                None => Ok(()),
            },
        )
    }

    fn observe(&self, _: &SourceInfo, records: Option<&BlockRecords>) -> Result<(), ReadError> {
        if self.kind == Format::Tar {
            let mut repeated = self.repeated();
            if records.is_some_and(|records| records.index == 0) {
                // The archive is read from its start again.
                *repeated = RepeatedNames::default();
            }
            repeated.add(records);
        }
        Ok(())
    }

    fn learn_header(&self, _: &SourceInfo, next: NextRecords<'_>) -> Result<(), ReadError> {
        if self.kind != Format::Tar || self.repeated().complete {
            return Ok(());
        }
        let mut repeated = RepeatedNames::default();
        while !repeated.complete {
            repeated.add(next()?.as_ref());
        }
        *self.repeated() = repeated;
        Ok(())
    }

    fn is_encoded(&self) -> bool {
        true
    }

    fn reads_empty(&self, _: bool, unclosed: bool) -> bool {
        // An archive without its end mark says so.
        self.kind == Format::Tar && unclosed
    }
}

/// What a record is.
enum RecordContent<'a> {
    /// A message without what the mailbox put round it.
    #[cfg(feature = "mail")]
    Message(Cow<'a, [u8]>),
    /// A record of a crawl with its header; some hold no file.
    Crawled(&'a [u8]),
    Entry(TarEntry<'a>),
    /// No file, and none behind it.
    End,
    Damaged(ExtractError),
}

impl RecordContent<'_> {
    /// Whether nothing can follow, or be found.
    fn is_end(&self) -> bool {
        matches!(self, Self::End | Self::Damaged(_))
    }
}

/// Cuts the first record off: its length, and what it is. `None` where it may go on, or there is
/// none.
fn first(format: Format, bytes: &[u8], at_end: bool) -> Option<(usize, RecordContent<'_>)> {
    if bytes.is_empty() {
        return None;
    }
    match format {
        #[cfg(feature = "mail")]
        Format::Mbox => {
            let (done, message) = lookalike_extract::mail::next_message(bytes, at_end)?;
            Some((done, RecordContent::Message(message)))
        }
        Format::Warc => {
            let (done, record) = lookalike_extract::warc::next_record(bytes, at_end)?;
            let inner = record
                .map_or_else(RecordContent::Damaged, |_| RecordContent::Crawled(&bytes[..done]));
            Some((done, inner))
        }
        Format::Tar if cfg!(feature = "archive") => match next_entry(bytes) {
            Ok(TarNext::Entry { entry, bytes }) => Some((bytes, RecordContent::Entry(entry))),
            Ok(TarNext::More { .. }) if !at_end => None,
            Ok(TarNext::More { .. }) if bytes.iter().all(|byte| *byte == 0) => {
                Some((bytes.len(), RecordContent::End))
            }
            Ok(TarNext::More { .. }) => {
                let what = "the archive ends within a file".to_owned();
                Some((bytes.len(), RecordContent::Damaged(ExtractError::Damaged { what })))
            }
            // Nothing but zeros should follow.
            Ok(TarNext::End) => Some((bytes.len(), RecordContent::End)),
            Err(failure) => Some((bytes.len(), RecordContent::Damaged(failure))),
        },
        _ => {
            let kind = format!("a file of the format {format}");
            Some((bytes.len(), RecordContent::Damaged(ExtractError::Unsupported { kind })))
        }
    }
}

impl EmbeddedFiles {
    /// Reads the file of the record at `start`, within what its source has left of the limits.
    fn extract(
        &self,
        records: &WholeRecords<'_>,
        name: &str,
        bytes: &[u8],
        (start, used): (usize, &mut LimitUsage),
        extractor: &mut Extractor,
        parts: &mut RecordParts<'_>,
    ) -> Result<(), ReadError> {
        let limits = &records.source.settings.options.extract.limits;
        let Some(offset) = records.offset else {
            // What was read once is within the limits.
            *used = LimitUsage { time: Duration::ZERO, ..*used };
            let mut again = used.remaining_at(start as u64, limits);
            let before = again;
            extractor.extract_within(&mut again, name, bytes, parts)?;
            used.add(before, again);
            return Ok(());
        };
        used.time = Duration::from_nanos(self.extraction_time.load(Ordering::Relaxed));
        let size = records.source.stamp.map(|stamp| stamp.bytes);
        let granted = size.map_or(offset, |size| offset.min(size));
        let mut now = used.remaining_at(start as u64, limits);
        now.time = used.remaining_at(granted, limits).time;
        let before = now;
        match before.exhausted(limits) {
            Some(failure) => failed(&failure, bytes, parts)?,
            None => extractor.extract_within(&mut now, name, bytes, parts)?,
        }
        used.add(before, now);
        let more = now.time.saturating_sub(before.time).as_nanos();
        self.extraction_time.fetch_add(u64::try_from(more).unwrap_or(u64::MAX), Ordering::Relaxed);
        Ok(())
    }
}

/// The names of the members that a piece of a tar archive holds, and where each begins.
fn member_names(bytes: &[u8]) -> impl Iterator<Item = (u32, String)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        while let Some((done, inner)) = first(Format::Tar, &bytes[start..], true) {
            let at = start as u32;
            start += done.max(1);
            if let RecordContent::Entry(entry) = inner
                && entry.kind != EntryKind::Folder
            {
                return Some((at, entry.name));
            }
        }
        None
    })
}

/// Gives the parts of the file that a record is to the sink. `read` reads a file with a name and
/// bytes.
fn extract<S: PartSink>(
    inner: RecordContent<'_>,
    read: impl FnOnce(&str, &[u8], &mut S) -> Result<(), S::Error>,
    sink: &mut S,
) -> Result<(), S::Error> {
    match inner {
        #[cfg(feature = "mail")]
        RecordContent::Message(message) => read("message.eml", &message, sink),
        RecordContent::Crawled(record) => read("record.warc", record, sink),
        RecordContent::Entry(entry) if entry.kind == EntryKind::File => {
            match Format::refused_in_archive(&entry.name) {
                None => read(&entry.name, entry.content, sink),
                Some(failure) => failed(&failure, entry.content, sink),
            }
        }
        RecordContent::Entry(entry) => match entry.kind.failure() {
            Some(failure) => failed(&failure, &[], sink),
            None => Ok(()),
        },
        RecordContent::End => Ok(()),
        RecordContent::Damaged(failure) => failed(&failure, &[], sink),
    }
}

fn failed<S: PartSink>(failure: &ExtractError, bytes: &[u8], sink: &mut S) -> Result<(), S::Error> {
    let kind = FileKind::Binary;
    sink.failed(&FailedPart { within: "", kind, failure, bytes })
}

/// What the ids of a record's documents begin with.
fn base(source: &SourceInfo, inner: &RecordContent<'_>, line: u64, repeat: Option<u32>) -> String {
    match inner {
        RecordContent::Entry(entry) => {
            let number = repeat.map_or_else(String::new, |number| format!("#{number}"));
            format!("{}/{}{number}", source.name, entry.name)
        }
        _ => format!("{}:{line}", source.name),
    }
}

fn modified(source: &SourceInfo, inner: &RecordContent<'_>) -> Option<u64> {
    if let RecordContent::Entry(entry) = inner {
        return entry.modified.and_then(|time| u64::try_from(time).ok());
    }
    source.modified()
}

/// The bytes of a record as those of its documents: the file in an archive, the record of a crawl
/// or of a mailbox with its header.
fn contents<'a>(inner: &RecordContent<'a>, raw: &'a [u8]) -> DocumentContents<'a> {
    match inner {
        RecordContent::Entry(entry) => {
            let media_type = FileKind::of(&entry.name, entry.content).media_type_of(&entry.name);
            DocumentContents { bytes: entry.content, media_type, name: "" }
        }
        RecordContent::Crawled(record) => {
            let media_type = FileKind::Warc.media_type();
            DocumentContents { bytes: record, media_type, name: "" }
        }
        _ => DocumentContents { bytes: raw, media_type: FileKind::Mbox.media_type(), name: "" },
    }
}

/// Gives the parts of one record to the sink as documents.
struct RecordParts<'a> {
    source: &'a SourceInfo,
    kind: Format,
    line: u64,
    base: String,
    raw: &'a [u8],
    contents: DocumentContents<'a>,
    /// A buffer.
    id: String,
    documents: PartOutput<'a>,
}

impl RecordParts<'_> {
    /// The name of a part in its record. The one record of a crawl is a file in a file, whose name
    /// says nothing.
    fn within<'w>(&self, within: &'w str) -> &'w str {
        if self.kind != Format::Warc {
            return within;
        }
        within.split_once('/').map_or("", |(_, within)| within)
    }

    fn set_id(&mut self, within: &str, own: Option<&str>) {
        self.id.clear();
        match own {
            Some(own) if self.source.has_ids_by_file() => {
                self.id.extend([self.source.name.as_str(), "/", own]);
            }
            own => self.id.push_str(own.unwrap_or(&self.base)),
        }
        let within = self.within(within);
        push_within(&mut self.id, within);
    }
}

impl SourceSettings {
    /// The field of a message or of a record of a crawl that is its id.
    fn own_id<'f>(&self, format: Format, fields: &'f lookalike_extract::Fields) -> Option<&'f str> {
        match self.options.id_field.as_str() {
            _ if self.options.line_ids => None,
            "id" if format == Format::Warc => fields.get("record-id"),
            "id" => None,
            name => fields.get(name),
        }
    }
}

impl PartSink for RecordParts<'_> {
    type Error = ReadError;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), ReadError> {
        let own = self.source.settings.own_id(self.kind, part.fields);
        self.set_id(part.within, own);
        // Of a mailbox single messages can be taken out.
        let is_message = self.kind == Format::Mbox && part.within.is_empty();
        let raw = if is_message { Raw::Record(self.raw) } else { Raw::Part(&self.source.path) };
        self.documents.give(part, &self.id, (raw, self.contents))
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), ReadError> {
        self.set_id(failed.within, None);
        let (source, line) = (self.source.shown.clone(), Some(self.line));
        let (id, reason) = (Some(self.id.clone()), no_text(failed));
        self.documents.sink.skipped(SkippedItem { source, line, id, reason })
    }
}
