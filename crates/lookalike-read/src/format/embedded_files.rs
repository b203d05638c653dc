//! Streams of files: the messages of a mailbox, the records of a crawl, the entries of a tar
//! archive. Each is cut off as a record, and is a file again, with a document or several.

use crate::content_hash::Content;
use crate::extra_fields::Further;
use crate::format::Cut;
use crate::options::Format;
use crate::parse::Piece;
use crate::part_texts::PartTexts;
use crate::settings::Settings;
use crate::skipped::{SkipReason, Skipped};
use crate::source::Source;
use crate::{Document, Place, Raw, RawSink, Scratch};
use lookalike_extract::{
    ExtractError, ExtractedPart, Extractor, FailedPart, LimitUsage, Limits, PartSink,
};
#[cfg(feature = "mail")]
use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[cfg(feature = "archive")]
use lookalike_extract::archive::{TarEntry, TarNext, next_entry};

/// What a record is.
enum Inner<'a> {
    /// A message without what the mailbox put round it.
    #[cfg(feature = "mail")]
    Message(Cow<'a, [u8]>),
    /// A record of a crawl with its header; some hold no file.
    Crawled(&'a [u8]),
    #[cfg(feature = "archive")]
    Entry(TarEntry<'a>),
    /// No file, and none behind it.
    #[cfg(feature = "archive")]
    End,
    Damaged(ExtractError),
}

impl Inner<'_> {
    /// Whether nothing can follow, or be found.
    fn is_end(&self) -> bool {
        match self {
            #[cfg(feature = "archive")]
            Self::End => true,
            other => matches!(other, Self::Damaged(_)),
        }
    }
}

/// Cuts the first record off: its length, and what it is. `None` where it may go on, or there is
/// none.
fn first(format: Format, bytes: &[u8], at_end: bool) -> Option<(usize, Inner<'_>)> {
    if bytes.is_empty() {
        return None;
    }
    match format {
        #[cfg(feature = "mail")]
        Format::Mbox => {
            let (done, message) = lookalike_extract::mail::next_message(bytes, at_end)?;
            Some((done, Inner::Message(message)))
        }
        Format::Warc => {
            let (done, record) = lookalike_extract::warc::next_record(bytes, at_end)?;
            let inner = record.map_or_else(Inner::Damaged, |_| Inner::Crawled(&bytes[..done]));
            Some((done, inner))
        }
        #[cfg(feature = "archive")]
        Format::Tar => match next_entry(bytes) {
            Ok(TarNext::Entry { entry, bytes }) => Some((bytes, Inner::Entry(entry))),
            Ok(TarNext::More { .. }) if !at_end => None,
            Ok(TarNext::More { .. }) if bytes.iter().all(|byte| *byte == 0) => {
                Some((bytes.len(), Inner::End))
            }
            Ok(TarNext::More { .. }) => {
                let what = "the archive ends within a file".to_owned();
                Some((bytes.len(), Inner::Damaged(ExtractError::Damaged { what })))
            }
            // Nothing but zeros should follow.
            Ok(TarNext::End) => Some((bytes.len(), Inner::End)),
            Err(failure) => Some((bytes.len(), Inner::Damaged(failure))),
        },
        _ => {
            let kind = format!("a file of the format {format}");
            Some((bytes.len(), Inner::Damaged(ExtractError::Unsupported { kind })))
        }
    }
}

/// Where the last whole record ends. A tar archive is unclosed as long as its end mark is missing.
pub(crate) fn cut(format: Format, bytes: &[u8]) -> Cut {
    let mut whole = 0;
    let mut unclosed = format == Format::Tar;
    while let Some((done, inner)) =
        first(format, &bytes[whole..], false).filter(|(done, _)| *done > 0)
    {
        whole += done;
        unclosed &= !inner.is_end();
    }
    let rest = &bytes[whole..];
    let zeros = !rest.is_empty() && rest.iter().all(|byte| *byte == 0);
    Cut { whole, unclosed: unclosed && !zeros }
}

impl Piece<'_> {
    /// Gives the documents of every record to the sink, in order.
    pub(crate) fn read_inner(self, format: Format, scratch: &mut Scratch, sink: &mut impl RawSink) {
        let settings = &*self.source.settings;
        let Scratch { further, extractor, part_texts, .. } = scratch;
        part_texts.clear();
        let extractor = settings.extractor(extractor);
        let limits = settings.extract.limits;
        let mut used = LimitUsage::default();
        let (mut start, mut line, mut unclosed) = (0, 0, self.unclosed);
        while let Some((done, inner)) = first(format, &self.bytes[start..], true) {
            // One reason is enough.
            unclosed &= !matches!(inner, Inner::Damaged(_));
            let raw = &self.bytes[start..start + done];
            let place = Place { start: start as u32, length: done as u32, line, part: 0 };
            let number = self.first_line + u64::from(line);
            let repeat = self.source.repeat(self.index, start as u32);
            let id = base(self.source, &inner, number, repeat);
            let modified = modified(self.source, &inner);
            let raw_record = raw.strip_suffix(b"\n").unwrap_or(raw);
            let mut parts = Parts {
                source: self.source,
                place,
                line: number,
                base: id,
                is_crawl: format == Format::Warc,
                raw: raw_record,
                modified,
                id: String::new(),
                further: &mut *further,
                part_texts: &mut *part_texts,
                sink: &mut *sink,
            };
            let mut read = |name: &str, bytes: &[u8], sink: &mut dyn PartSink| {
                self.extract(name, bytes, (start, &mut used), &limits, extractor, sink);
            };
            extract(inner, &mut read, &mut parts);
            start += done.max(1);
            line += memchr::memchr_iter(b'\n', raw).count() as u32;
        }
        if format == Format::Tar && self.index == 0 && self.bytes.iter().all(|byte| *byte == 0) {
            unclosed = false;
            let (source, id) = (self.source.shown.clone(), Some(self.source.name.clone()));
            sink.skipped(Skipped { source, line: None, id, reason: SkipReason::NoContent });
        }
        if unclosed {
            let what = "the archive is cut off: it has no end mark".to_owned();
            let reason =
                SkipReason::NoText { failure: ExtractError::Damaged { what }, content: None };
            let (source, id) = (self.source.shown.clone(), Some(self.source.name.clone()));
            sink.skipped(Skipped { source, line: None, id, reason });
        }
    }
}

impl Piece<'_> {
    /// Reads the file of the record at `start`, within what its source has left of the limits.
    fn extract(
        &self,
        name: &str,
        bytes: &[u8],
        (start, used): (usize, &mut LimitUsage),
        limits: &Limits,
        extractor: &mut Extractor,
        sink: &mut dyn PartSink,
    ) {
        let Some(offset) = self.offset else {
            // What was read once is within the limits.
            *used = LimitUsage { time: Duration::ZERO, ..*used };
            let mut again = used.remaining_at(start as u64, limits);
            let before = again;
            extractor.extract_within(&mut again, name, bytes, sink);
            used.add(before, again);
            return;
        };
        let taken = &self.source.extraction_time;
        used.time = Duration::from_nanos(taken.load(Ordering::Relaxed));
        let granted = self.source.size().map_or(offset, |size| offset.min(size));
        let mut now = used.remaining_at(start as u64, limits);
        now.time = used.remaining_at(granted, limits).time;
        let before = now;
        match before.exhausted(limits) {
            Some(failure) => failed(&failure, bytes, sink),
            None => extractor.extract_within(&mut now, name, bytes, sink),
        }
        used.add(before, now);
        let more = now.time.saturating_sub(before.time).as_nanos();
        taken.fetch_add(u64::try_from(more).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// The names of the members that a piece of a tar archive holds, and where each begins.
#[cfg(feature = "archive")]
pub(crate) fn member_names(bytes: &[u8]) -> impl Iterator<Item = (u32, String)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        while let Some((done, inner)) = first(Format::Tar, &bytes[start..], true) {
            let at = start as u32;
            start += done.max(1);
            if let Inner::Entry(entry) = inner
                && entry.kind != lookalike_extract::archive::EntryKind::Folder
            {
                return Some((at, entry.name));
            }
        }
        None
    })
}

/// Gives the text of one part of a record to `sink`.
pub(crate) fn again(
    format: Format,
    record: &[u8],
    part: u32,
    extractor: &mut Extractor,
    sink: &mut dyn PartSink,
) {
    if let Some((_, inner)) = first(format, record, true) {
        let mut read = |name: &str, bytes: &[u8], sink: &mut dyn PartSink| {
            extractor.extract_part(name, bytes, part, sink);
        };
        extract(inner, &mut read, sink);
    }
}

/// Reads a file: its name, its bytes, and what takes its parts.
type ReadFile<'a> = &'a mut dyn FnMut(&str, &[u8], &mut dyn PartSink);

fn extract(inner: Inner<'_>, read: ReadFile<'_>, sink: &mut dyn PartSink) {
    match inner {
        #[cfg(feature = "mail")]
        Inner::Message(message) => read("message.eml", &message, sink),
        Inner::Crawled(record) => read("record.warc", record, sink),
        #[cfg(feature = "archive")]
        Inner::Entry(entry) if entry.kind == lookalike_extract::archive::EntryKind::File => {
            match records(&entry.name) {
                None => read(&entry.name, entry.content, sink),
                Some(failure) => failed(&failure, entry.content, sink),
            }
        }
        #[cfg(feature = "archive")]
        Inner::Entry(entry) => {
            if let Some(failure) = entry.kind.failure() {
                failed(&failure, &[], sink);
            }
        }
        #[cfg(feature = "archive")]
        Inner::End => {}
        Inner::Damaged(failure) => failed(&failure, &[], sink),
    }
}

fn failed(failure: &ExtractError, bytes: &[u8], sink: &mut dyn PartSink) {
    let kind = lookalike_extract::FileKind::Binary;
    sink.failed(&FailedPart { within: "", kind, failure, bytes });
}

/// Why a file of an archive is no document: it is many.
#[cfg(feature = "archive")]
pub(crate) fn records(name: &str) -> Option<ExtractError> {
    let (_, stem) = crate::decompress::Compression::of_name(name);
    let format = Format::of_name(stem).filter(|format| {
        matches!(format, Format::Jsonl | Format::Parquet | Format::Mbox | Format::Warc)
    })?;
    let kind = format!("a {format} file in an archive (unpacked, its records are read)");
    Some(ExtractError::Unsupported { kind })
}

/// What the ids of a record's documents begin with.
fn base(source: &Source, inner: &Inner<'_>, line: u64, repeat: Option<u32>) -> String {
    let _ = repeat;
    match inner {
        #[cfg(feature = "archive")]
        Inner::Entry(entry) => {
            let number = repeat.map_or_else(String::new, |number| format!("#{number}"));
            format!("{}/{}{number}", source.name, entry.name)
        }
        _ => format!("{}:{line}", source.name),
    }
}

fn modified(source: &Source, inner: &Inner<'_>) -> Option<u64> {
    #[cfg(feature = "archive")]
    if let Inner::Entry(entry) = inner {
        return entry.modified.and_then(|time| u64::try_from(time).ok());
    }
    let _ = inner;
    source.modified()
}

/// Hands the parts of one record on as documents.
struct Parts<'a, S> {
    source: &'a Source,
    /// But for the part.
    place: Place,
    line: u64,
    base: String,
    /// Its one record is a file in a file, of which the name says nothing.
    is_crawl: bool,
    raw: &'a [u8],
    modified: Option<u64>,
    id: String,
    further: &'a mut Further,
    part_texts: &'a mut PartTexts,
    sink: &'a mut S,
}

impl<S> Parts<'_, S> {
    /// The name of a part in its record.
    fn within<'w>(&self, within: &'w str) -> &'w str {
        if !self.is_crawl {
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

/// Adds the name of a part in its file to the id of that: behind a slash, or as the line of a
/// mailbox, `:23`.
pub(crate) fn push_within(id: &mut String, within: &str) {
    if !within.is_empty() && !within.starts_with(':') {
        id.push('/');
    }
    id.push_str(within);
}

impl Settings {
    /// The field of a message or of a record of a crawl that is its id.
    fn own_id<'f>(&self, format: Format, fields: &'f lookalike_extract::Fields) -> Option<&'f str> {
        match self.fields.id.as_str() {
            _ if self.fields.line_ids => None,
            "id" if format == Format::Warc => fields.get("record-id"),
            "id" => None,
            name => fields.get(name),
        }
    }
}

impl<S: RawSink> PartSink for Parts<'_, S> {
    fn part(&mut self, part: &ExtractedPart<'_>) {
        let settings = &*self.source.settings;
        let own = settings.own_id(self.source.format(), part.fields);
        self.set_id(part.within, own);
        self.further.clear();
        for name in &settings.fields.further {
            self.further.push(part.fields.get(name));
        }
        let document = Document {
            id: &self.id,
            text: part.text,
            place: Place { part: part.number, ..self.place },
            fields: &self.further.list(),
            modified: self.modified,
            shingled: None,
            about: Some(part.fields),
        };
        self.part_texts.add(document.place, part.text);
        // Of a mailbox single messages can be taken out.
        let message = self.source.format() == Format::Mbox && part.within.is_empty();
        let raw = if message { Raw::Record(self.raw) } else { Raw::Part(&self.source.path) };
        self.sink.record(&document, raw);
    }

    fn failed(&mut self, failed: &FailedPart<'_>) {
        self.set_id(failed.within, None);
        let content = (!failed.bytes.is_empty()).then(|| Box::new(Content::of(failed.bytes)));
        let reason = SkipReason::NoText { failure: failed.failure.clone(), content };
        let (source, line) = (self.source.shown.clone(), Some(self.line));
        self.sink.skipped(Skipped { source, line, id: Some(self.id.clone()), reason });
    }
}
