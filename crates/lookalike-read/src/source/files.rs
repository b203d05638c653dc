//! Files that are documents or contain some: a text, a web page, a message, a PDF, an archive.

use crate::bytes::Spool;
use crate::document::{
    Document, DocumentContents, DocumentPosition, Raw, ReadBuffers, SourceSink, StatedFields,
};
use crate::error::{Location, ReadError, SkipReason, SkippedItem};
use crate::file::{
    DocumentFile, MemberBudget, OnePart, PartOutput, document_file, name_of, no_text, push_within,
};
use crate::format::{KeptCopier, TakeText};
use crate::measure::{MAX_DOCUMENT_BYTES, Stamp};
use crate::options::{Format, ReadOptions, SourceInfo, SourceSettings};
use crate::source::lane_range::LaneRange;
use crate::source::retained_state::{KeptState, RetainedState};
use crate::source::{BlockContent, LaneReader, Source};
use lookalike_core::parameter::Parameter;
use lookalike_extract::{ExtractedPart, FailedPart, FileKind, LimitUsage, PartSink};
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Maximum number of files in a block.
const BLOCK_FILES: usize = 64;

/// Files named by the user, or the files of a folder.
pub(crate) struct FileSource {
    info: Arc<SourceInfo>,
    files: Vec<DocumentFile>,
    /// Names of the files, if the user named them.
    named: OnceLock<HashSet<String>>,
}

impl FileSource {
    pub(crate) fn new(info: Arc<SourceInfo>, files: Vec<DocumentFile>) -> Self {
        Self { info, files, named: OnceLock::new() }
    }

    /// The distinct files: one for all members of an archive.
    fn distinct(&self) -> impl Iterator<Item = &DocumentFile> {
        // Members of one archive are consecutive.
        let archives = self.files.chunk_by(|a, b| a.path == b.path);
        archives.filter_map(|files| files.first())
    }

    /// The block that begins with the file `start`, and the size of its files in bytes. Contains at
    /// least one file, and as many more as the block size and [`BLOCK_FILES`] allow. `None` at the
    /// end.
    fn block_at(&self, start: usize) -> Option<(Range<usize>, u64)> {
        let block_bytes = self.info.settings.block_bytes as u64;
        let mut end = start;
        let mut bytes = 0_u64;
        while let Some(file) = self.files.get(end) {
            let total = bytes.saturating_add(file.bytes().min(MAX_DOCUMENT_BYTES as u64));
            if end > start && (total > block_bytes || end - start == BLOCK_FILES) {
                break;
            }
            end += 1;
            bytes = total;
        }
        (end > start).then_some((start..end, bytes))
    }
}

impl Source for FileSource {
    fn info(&self) -> &Arc<SourceInfo> {
        &self.info
    }

    fn lane_ranges(&self) -> Vec<(LaneRange, u64)> {
        let mut ranges = Vec::new();
        let mut next = 0;
        while let Some((files, bytes)) = self.block_at(next) {
            let start = ranges.len() as u32;
            let range = LaneRange { source: self.info.number, lane: 0, start, end: start + 1 };
            ranges.push((range, bytes));
            next = files.end;
        }
        ranges
    }

    fn open_lane(self: Arc<Self>, _: u32) -> Result<Box<dyn LaneReader>, ReadError> {
        Ok(Box::new(FileLane { source: self, next: 0 }))
    }

    fn restore(
        self: Arc<Self>,
        state: &RetainedState,
        _: Option<&Arc<Spool>>,
    ) -> Option<Box<dyn BlockContent>> {
        let KeptState::Files { start, end } = state.kept else { return None };
        self.files.get(start..end)?;
        Some(Box::new(FileBlock { source: self, range: start..end }))
    }

    fn format(&self) -> Option<Format> {
        Some(Format::Text)
    }

    /// The bytes of a file equal its text, unless it was extracted or decoded.
    fn copy_text(&self, file: &[u8], _: &ReadOptions, copier: &mut KeptCopier<'_>) -> bool {
        copier.run(file)
    }

    fn has_files(&self) -> bool {
        true
    }

    fn stamps(&self) -> Box<dyn Iterator<Item = (&Path, Stamp)> + '_> {
        Box::new(self.distinct().map(|file| (file.path.as_path(), file.stamp)))
    }

    fn named_file(&self, id: &str) -> Option<&str> {
        if self.info.in_folder {
            return None;
        }
        let named =
            self.named.get_or_init(|| self.distinct().map(|file| name_of(&file.path)).collect());
        let ends = id.rmatch_indices(['/', ':']).map(|(at, _)| at);
        std::iter::once(id.len())
            .chain(ends)
            .find_map(|end| named.get(&id[..end]))
            .map(String::as_str)
    }
}

/// Divides the files into blocks.
struct FileLane {
    source: Arc<FileSource>,
    next: usize,
}

impl LaneReader for FileLane {
    fn next(&mut self) -> Result<Option<Box<dyn BlockContent>>, ReadError> {
        let Some((range, _)) = self.source.block_at(self.next) else { return Ok(None) };
        self.next = range.end;
        Ok(Some(Box::new(FileBlock { source: Arc::clone(&self.source), range })))
    }
}

/// Consecutive files. They take no memory until they are read, one after the other.
struct FileBlock {
    source: Arc<FileSource>,
    range: Range<usize>,
}

impl FileBlock {
    fn files(&self) -> &[DocumentFile] {
        &self.source.files[self.range.clone()]
    }

    fn file(&self, place: DocumentPosition) -> Option<&DocumentFile> {
        self.files().get(place.start as usize)
    }

    /// Passes the text of the document at a place to `take`, unless it has changed.
    fn take_text(
        &self,
        place: DocumentPosition,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        let settings = &self.source.info.settings;
        let file = self.file(place).ok_or("no such document")?;
        let contents = document_file::read(file, settings, &mut scratch.bytes)
            .map_err(|reason| reason.to_string())?;
        if u32::try_from(contents.length).unwrap_or(u32::MAX) != place.length {
            return Err(format!("{} bytes, were {}", contents.length, place.length));
        }
        if contents.kind == FileKind::Text {
            let text = contents.text(settings).map_err(|reason| reason.to_string())?;
            take(&text, StatedFields::Nothing);
            return Ok(());
        }
        let extractor = settings.extractor(&mut scratch.extractor);
        OnePart::read(
            |part: &ExtractedPart<'_>| take(part.text, StatedFields::Fields(part.fields)),
            |part| extractor.extract_part(&contents.name, contents.bytes, place.part, part),
        )
    }
}

impl BlockContent for FileBlock {
    fn bytes(&self) -> u64 {
        self.files().iter().map(DocumentFile::bytes).max().unwrap_or(0)
    }

    fn progress_bytes(&self) -> u64 {
        self.files().iter().map(DocumentFile::bytes).sum()
    }

    fn read(&self, scratch: &mut ReadBuffers, sink: &mut SourceSink<'_>) -> Result<(), ReadError> {
        read_all(&self.source.info.settings, self.files(), scratch, sink)
    }

    fn state(&self) -> Option<KeptState> {
        Some(KeptState::Files { start: self.range.start, end: self.range.end })
    }

    fn location(&self, place: DocumentPosition) -> Location {
        let source = self.file(place).map(DocumentFile::display_path);
        Location::Whole { source: source.unwrap_or_else(|| self.source.info.display_name.clone()) }
    }

    fn modified(&self, place: DocumentPosition) -> Option<u64> {
        self.file(place)?.stamp.modified
    }

    fn read_again(
        &self,
        place: DocumentPosition,
        _: &str,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), ReadError> {
        let result = self.take_text(place, scratch, take);
        result.map_err(|what| self.location(place).changed(what))
    }
}

/// Passes the documents of files to the sink, in order.
fn read_all(
    settings: &SourceSettings,
    files: &[DocumentFile],
    scratch: &mut ReadBuffers,
    sink: &mut SourceSink<'_>,
) -> Result<(), ReadError> {
    scratch.part_texts.clear();
    let limits = &settings.options.extract.limits;
    let mut budget = MemberBudget::default();
    for (file, start) in files.iter().zip(0..) {
        let started = Instant::now();
        let before = match &file.member {
            Some(member) => budget.begin(member, limits),
            None => Ok(LimitUsage::default()),
        };
        let before = match before {
            Ok(before) => before,
            Err(failure) => {
                reject(settings, file, SkipReason::NoText { failure, content: None }, sink)?;
                continue;
            }
        };
        let mut used = before;
        if let Some(reason) = read_one(settings, (start, file), &mut used, scratch, sink)? {
            reject(settings, file, reason, sink)?;
        }
        if file.member.is_some() {
            budget.end(started, before, used);
        }
    }
    Ok(())
}

/// Lists a file that is not read, or returns an error.
fn reject(
    settings: &SourceSettings,
    file: &DocumentFile,
    reason: SkipReason,
    sink: &mut SourceSink<'_>,
) -> Result<(), ReadError> {
    sink.skipped(settings.reject_file(file.named, skipped(file, "", reason))?)
}

/// Passes the documents of the file at `start` to the sink. Returns the reason if the file has
/// none. `used` is the usage of the file's container.
fn read_one(
    settings: &SourceSettings,
    (start, file): (u32, &DocumentFile),
    used: &mut LimitUsage,
    scratch: &mut ReadBuffers,
    sink: &mut SourceSink<'_>,
) -> Result<Option<SkipReason>, ReadError> {
    let ReadBuffers { bytes, extra, extractor, part_texts, .. } = scratch;
    let contents = match document_file::read(file, settings, bytes) {
        Ok(contents) => contents,
        Err(SkipReason::OverLimit { parameter: Parameter::Memory, .. }) => {
            let size = match document_file::measure(file, settings) {
                Ok(size) => size,
                Err(reason) => return Ok(Some(reason)),
            };
            if sink.over_memory(&size) {
                return Ok(None);
            }
            let size = Box::new(size);
            return Err(ReadError::OverMemory {
                source_name: file.display_path(),
                line: None,
                size,
            });
        }
        Err(reason) => return Ok(Some(reason)),
    };
    let length = u32::try_from(contents.length).unwrap_or(u32::MAX);
    let place = DocumentPosition::from_numbers([start, length, 0, 0]);
    if contents.kind != FileKind::Text {
        let fields = &settings.options.fields;
        let modified = file.modified();
        let documents = PartOutput { fields, place, modified, extra, part_texts, sink };
        let described = contents.described();
        let mut parts =
            FileParts { settings, file, contents: described, id: String::new(), documents };
        let extractor = settings.extractor(extractor);
        extractor.extract_within(used, &contents.name, contents.bytes, &mut parts)?;
        return Ok(None);
    }
    extra.fill_empty(settings.options.fields.len());
    let text = match contents.text(settings) {
        Ok(text) => text,
        Err(reason) => return Ok(Some(reason)),
    };
    sink.document(&Document {
        fields: &extra.list(),
        modified: file.modified(),
        contents: Some(contents.described()),
        ..Document::new(&file.id, &text, place, file.raw())
    })?;
    Ok(None)
}

fn skipped(file: &DocumentFile, within: &str, reason: SkipReason) -> SkippedItem {
    let with_part = |mut name: String| {
        push_within(&mut name, within);
        name
    };
    SkippedItem::whole(with_part(file.display_path()), reason).with_id(with_part(file.id.clone()))
}

/// Passes the parts of one file to the sink as documents.
struct FileParts<'a> {
    settings: &'a SourceSettings,
    file: &'a DocumentFile,
    contents: DocumentContents<'a>,
    /// A buffer for ids.
    id: String,
    documents: PartOutput<'a>,
}

impl PartSink for FileParts<'_> {
    type Error = ReadError;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), ReadError> {
        self.id.clear();
        self.id.push_str(&self.file.id);
        push_within(&mut self.id, part.within);
        let is_whole = part.within.is_empty();
        let raw = if is_whole { self.file.raw() } else { Raw::Part(&self.file.path) };
        self.documents.give(part, &self.id, (raw, self.contents))
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), ReadError> {
        let named = self.file.named && failed.within.is_empty();
        let skipped = skipped(self.file, failed.within, no_text(failed));
        self.documents.sink.skipped(self.settings.reject_file(named, skipped)?)
    }
}
