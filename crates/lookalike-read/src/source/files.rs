//! Files that are documents, or hold some: a text, a web page, a message, a PDF, an archive.

use crate::MAX_DOCUMENT_BYTES;
use crate::content_hash::Content;
use crate::decompress::Compression;
use crate::error::ReadError;
use crate::format::embedded_files::push_within;
use crate::options::Format;
use crate::part_texts::PartTexts;
use crate::recover::{OverLimit, unreadable};
use crate::settings::Settings;
use crate::skipped::{SkipReason, Skipped};
use crate::source::Source;
use crate::stamp::Stamp;
use crate::walk::name_of;
use crate::{Document, Place, Raw, RawSink, Scratch};
use lookalike_core::parameter::Parameter;
use lookalike_extract::{
    ExtractError, ExtractedPart, Extractor, FailedPart, FileKind, LimitUsage, PartSink, encoding,
};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
#[cfg(feature = "archive")]
use std::time::Instant;

#[cfg(feature = "archive")]
use crate::source::zip_member::{MemberBudget, ZipMember, read_member};

/// Bytes looked at before the rest of a file is read: most files without text show here.
const FIRST_BYTES: u64 = 64 << 10;

/// A file with documents, mostly one.
#[derive(Debug)]
pub(crate) struct DocumentFile {
    pub(crate) path: PathBuf,
    /// The id of its document; that of another one in it has its name in the file behind.
    pub(crate) id: String,
    /// What it looked like when it was listed.
    pub(crate) stamp: Stamp,
    /// Named by the user, not found in a folder: it is an error if it cannot be read.
    pub(crate) named: bool,
    /// Where it is in the ZIP archive `path`.
    #[cfg(feature = "archive")]
    pub(crate) member: Option<Box<ZipMember>>,
}

impl DocumentFile {
    /// A file that is not in an archive.
    pub(crate) fn new(path: PathBuf, id: String, stamp: Stamp, named: bool) -> Self {
        Self {
            path,
            id,
            stamp,
            named,
            #[cfg(feature = "archive")]
            member: None,
        }
    }

    /// Bytes that are read of it.
    pub(crate) fn bytes(&self) -> u64 {
        #[cfg(feature = "archive")]
        if let Some(member) = &self.member {
            return member.entry.compressed_size;
        }
        self.stamp.bytes
    }

    /// When it was changed.
    fn modified(&self) -> Option<u64> {
        #[cfg(feature = "archive")]
        if let Some(time) = self.member.as_ref().and_then(|member| member.entry.modified) {
            return u64::try_from(time).ok();
        }
        self.stamp.modified
    }

    /// Its path, in an archive with its name there behind.
    pub(crate) fn shown(&self) -> String {
        #[cfg(feature = "archive")]
        if let Some(member) = &self.member {
            return format!("{}/{}", name_of(&self.path), member.entry.name);
        }
        name_of(&self.path)
    }

    /// Its name without folders.
    fn name(&self) -> Cow<'_, str> {
        #[cfg(feature = "archive")]
        if let Some(member) = &self.member {
            return Cow::Borrowed(member.entry.name.rsplit('/').next().unwrap_or_default());
        }
        self.path.file_name().unwrap_or_default().to_string_lossy()
    }

    /// What it is in its input, where a document is all of it.
    fn raw(&self) -> Raw<'_> {
        #[cfg(feature = "archive")]
        if self.member.is_some() {
            return Raw::Part(&self.path);
        }
        Raw::File(&self.path)
    }
}

/// A file that was read.
pub(crate) struct Contents<'a> {
    pub(crate) kind: FileKind,
    /// As they are without compression.
    pub(crate) bytes: &'a [u8],
    /// As it is on the disk.
    pub(crate) length: u64,
    /// The name without the ending that tells of compression.
    pub(crate) name: String,
}

impl Contents<'_> {
    /// The text of a file that is nothing else.
    pub(crate) fn text(&self, settings: &Settings) -> Result<Cow<'_, str>, SkipReason> {
        encoding::decode(self.bytes, settings.encoding).ok_or(SkipReason::Binary)
    }

    /// Gives its parts to `sink`, and adds what they use.
    fn extract(&self, used: &mut LimitUsage, extractor: &mut Extractor, sink: &mut dyn PartSink) {
        extractor.extract_within(used, &self.name, self.bytes, sink);
    }

    /// Gives the part of a number to `sink`.
    pub(crate) fn extract_part(
        &self,
        number: u32,
        extractor: &mut Extractor,
        sink: &mut dyn PartSink,
    ) {
        extractor.extract_part(&self.name, self.bytes, number, sink);
    }
}

/// Reads a file. `bytes` is a buffer for it.
pub(crate) fn read<'a>(
    file: &DocumentFile,
    settings: &Settings,
    bytes: &'a mut Vec<u8>,
) -> Result<Contents<'a>, SkipReason> {
    let name = file.name();
    let (compression, stem) = Compression::of_name(&name);
    #[cfg(feature = "archive")]
    if let Some(member) = &file.member {
        return read_member(&file.path, &member.entry, (compression, stem), settings, bytes);
    }
    let opened = File::open(&file.path).map_err(|e| unreadable(&e))?;
    let size = opened.metadata().map_err(|e| unreadable(&e))?.len();
    bytes.clear();
    if compression == Compression::None {
        bytes
            .try_reserve(size.min(MAX_DOCUMENT_BYTES as u64) as usize + 1)
            .map_err(|error| SkipReason::Unreadable { message: error.to_string() })?;
        fill(opened, stem, false, settings, bytes)?;
    } else {
        let stream = settings.decode(compression, opened).map_err(|e| unreadable(&e))?;
        fill(stream, stem, true, settings, bytes)?;
    }
    let length = if compression == Compression::None { bytes.len() as u64 } else { size };
    Ok(Contents { kind: kind(stem, bytes, settings), bytes, length, name: stem.to_owned() })
}

/// What a file is. Binary ones count as text until they are decoded: with the encoding that was
/// named, they may be.
pub(crate) fn kind(name: &str, bytes: &[u8], settings: &Settings) -> FileKind {
    match FileKind::of(name, bytes) {
        _ if settings.as_text || bytes.is_empty() => FileKind::Text,
        FileKind::Binary => FileKind::Text,
        kind => kind,
    }
}

/// Reads a stream to its end, unless its first bytes tell that there is no text.
pub(crate) fn fill(
    mut stream: impl Read,
    name: &str,
    compressed: bool,
    settings: &Settings,
    bytes: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let unreadable = |error: io::Error| unreadable(&error);
    stream.by_ref().take(FIRST_BYTES).read_to_end(bytes).map_err(unreadable)?;
    let kind = kind(name, bytes, settings);
    if kind == FileKind::Text && encoding::is_binary(bytes, settings.encoding) {
        return Err(SkipReason::Binary);
    }
    let longest =
        settings.longest_record(compressed).filter(|_| kind == FileKind::Text && compressed);
    let limit = match kind {
        FileKind::Text => longest.map_or(u64::MAX, |longest| longest.limit),
        _ if compressed => settings.extract.limits.bytes.min(settings.extract.limits.expanded),
        _ => settings.extract.limits.bytes,
    };
    let limit = limit.min(MAX_DOCUMENT_BYTES as u64) as usize;
    let rest = (limit + 1).saturating_sub(bytes.len()) as u64;
    stream.by_ref().take(rest).read_to_end(bytes).map_err(unreadable)?;
    if let Some(over) = longest.filter(|over| over.is_memory() && bytes.len() as u64 > over.limit) {
        // The rest tells how much memory is needed.
        let rest = stream.take(MAX_DOCUMENT_BYTES as u64 - bytes.len() as u64);
        let rest = io::copy(&mut { rest }, &mut io::sink()).map_err(unreadable)?;
        return Err(OverLimit { limit: bytes.len() as u64 + rest, ..over }.reason());
    }
    match kind {
        _ if bytes.len() <= limit => Ok(()),
        FileKind::Text => Err(longest.map_or(SkipReason::TooLong, OverLimit::reason)),
        _ => Err(SkipReason::NoText { failure: ExtractError::bytes(limit as u64), content: None }),
    }
}

/// Gives the documents of files to the sink, in order.
pub(crate) fn read_all(
    source: &Source,
    files: &[DocumentFile],
    scratch: &mut Scratch,
    sink: &mut impl RawSink,
) -> Result<(), ReadError> {
    scratch.part_texts.clear();
    #[cfg(feature = "archive")]
    let mut budget = MemberBudget::default();
    for (start, file) in files.iter().enumerate() {
        #[cfg(feature = "archive")]
        if let Some(member) = &file.member {
            let started = Instant::now();
            match budget.begin(member, &source.settings.extract.limits) {
                Ok(before) => {
                    let after = read_one(source, (start as u32, file), before, scratch, sink)?;
                    budget.end(started, before, after);
                }
                Err(failure) => {
                    let reason = SkipReason::NoText { failure, content: None };
                    sink.skipped(source.settings.refuse(file.named, skipped(file, "", reason))?);
                }
            }
            continue;
        }
        read_one(source, (start as u32, file), LimitUsage::default(), scratch, sink)?;
    }
    Ok(())
}

/// Gives the documents of the file at `start` to the sink. `used` is what its container has used
/// before; returned is what it has used then.
fn read_one(
    source: &Source,
    (start, file): (u32, &DocumentFile),
    mut used: LimitUsage,
    scratch: &mut Scratch,
    sink: &mut impl RawSink,
) -> Result<LimitUsage, ReadError> {
    let settings = &*source.settings;
    let Scratch { bytes, further, extractor, part_texts, .. } = scratch;
    let contents = match read(file, settings, bytes) {
        Ok(contents) => contents,
        Err(SkipReason::OverLimit { limit: bytes, parameter: Parameter::Memory }) => {
            let source_name = file.shown();
            return Err(ReadError::OverMemory { source_name, line: None, bytes });
        }
        Err(reason) => {
            sink.skipped(settings.refuse(file.named, skipped(file, "", reason))?);
            return Ok(used);
        }
    };
    let length = u32::try_from(contents.length).unwrap_or(u32::MAX);
    let place = Place { start, length, line: 0, part: 0 };
    if contents.kind != FileKind::Text {
        let id = String::new();
        let mut parts =
            Parts { settings, file, place, further, id, part_texts, sink, refused: None };
        contents.extract(&mut used, settings.extractor(extractor), &mut parts);
        return parts.refused.map_or(Ok(used), Err);
    }
    further.none(settings.fields.further.len());
    match contents.text(settings) {
        Ok(text) => {
            let document = Document {
                id: &file.id,
                text: &text,
                place,
                fields: &further.list(),
                modified: file.modified(),
                shingled: None,
                about: None,
            };
            sink.record(&document, file.raw());
        }
        Err(reason) => {
            sink.skipped(settings.refuse(file.named, skipped(file, "", reason))?);
        }
    }
    Ok(used)
}

fn skipped(file: &DocumentFile, within: &str, reason: SkipReason) -> Skipped {
    let behind = |mut name: String| {
        push_within(&mut name, within);
        name
    };
    let (source, id) = (behind(file.shown()), Some(behind(file.id.clone())));
    Skipped { source, line: None, id, reason }
}

/// Hands the parts of one file on as documents.
struct Parts<'a, S> {
    settings: &'a Settings,
    file: &'a DocumentFile,
    /// But for the part.
    place: Place,
    further: &'a mut crate::extra_fields::Further,
    id: String,
    part_texts: &'a mut PartTexts,
    sink: &'a mut S,
    refused: Option<ReadError>,
}

impl<S: RawSink> PartSink for Parts<'_, S> {
    fn part(&mut self, part: &ExtractedPart<'_>) {
        if self.refused.is_some() {
            return;
        }
        self.id.clear();
        self.id.push_str(&self.file.id);
        push_within(&mut self.id, part.within);
        self.further.clear();
        for name in &self.settings.fields.further {
            self.further.push(part.fields.get(name));
        }
        let document = Document {
            id: &self.id,
            text: part.text,
            place: Place { part: part.number, ..self.place },
            fields: &self.further.list(),
            modified: self.file.modified(),
            shingled: None,
            about: Some(part.fields),
        };
        self.part_texts.add(document.place, part.text);
        let whole = part.within.is_empty();
        let raw = if whole { self.file.raw() } else { Raw::Part(&self.file.path) };
        self.sink.record(&document, raw);
    }

    fn failed(&mut self, failed: &FailedPart<'_>) {
        let content = (!failed.bytes.is_empty()).then(|| Box::new(Content::of(failed.bytes)));
        let reason = SkipReason::NoText { failure: failed.failure.clone(), content };
        let named = self.file.named && failed.within.is_empty();
        match self.settings.refuse(named, skipped(self.file, failed.within, reason)) {
            Ok(skipped) => self.sink.skipped(skipped),
            Err(error) => self.refused = self.refused.take().or(Some(error)),
        }
    }
}

/// Takes one part.
pub(crate) struct OnePart<F, R> {
    take: Option<F>,
    pub(crate) taken: Option<R>,
    pub(crate) failure: Option<ExtractError>,
}

impl<R, F: FnOnce(&ExtractedPart<'_>) -> R> OnePart<F, R> {
    pub(crate) fn new(take: F) -> Self {
        Self { take: Some(take), taken: None, failure: None }
    }
}

impl<R, F: FnOnce(&ExtractedPart<'_>) -> R> PartSink for OnePart<F, R> {
    fn part(&mut self, part: &ExtractedPart<'_>) {
        if let Some(take) = self.take.take() {
            self.taken = Some(take(part));
        }
    }

    fn failed(&mut self, failed: &FailedPart<'_>) {
        self.failure = Some(failed.failure.clone());
    }
}

impl Settings {
    /// What a file that cannot be read is: an error, or a skipped one to list.
    pub(crate) fn refuse(&self, named: bool, skipped: Skipped) -> Result<Skipped, ReadError> {
        if named && !self.skip_bad { Err(ReadError::BadRecord(skipped)) } else { Ok(skipped) }
    }

    /// One thread's extractor, made when it is needed first.
    pub(crate) fn extractor<'a>(&self, made: &'a mut Option<Extractor>) -> &'a mut Extractor {
        made.get_or_insert_with(|| Extractor::new(&self.extract))
    }
}

/// Whether files are taken as they are, whatever they hold.
pub(crate) fn as_text(format: Option<Format>) -> bool {
    format == Some(Format::Text)
}
