//! Reading of records that are files. Each record is separated and read as a file, with one or
//! several documents.
//!
//! [`FileRecords`] contains the differences between formats of such records; `mbox.rs`, `warc.rs`
//! and `tar.rs` implement it. [`FileRecordFormat`] converts an implementation to a format. `tar.rs`
//! has a format of its own.

use crate::document::{
    DocumentContents, DocumentPosition, Raw, ReadBuffers, SourceSink, StatedFields,
};
use crate::error::{ReadError, SkipReason, SkippedItem};
use crate::file::{OnePart, PartOutput, no_text, push_within};
use crate::format::record::{RecordBoundary, without_line_feed};
use crate::format::{Continuation, RecordAgain, RecordFormat, TakeText, WholeRecords};
use crate::options::{Format, SourceInfo};
use lookalike_extract::{
    ExtractError, ExtractedPart, Extractor, FailedPart, Fields, FileKind, LimitUsage, PartSink,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A format whose records are files.
pub(crate) trait FileRecords {
    /// A record that is a file.
    type Record<'a>;

    /// Whether single records can be removed from the stream while the others are written verbatim.
    const ARE_SEPARABLE: bool = false;
    /// The field that is the id of a record if the options name none.
    const ID_FIELD: Option<&'static str> = None;
    /// Whether extraction of a record counts the file in it as a member.
    const IS_CONTAINER: bool = false;

    /// Returns true if a record counts against the limit on files in a file.
    fn is_member(&self, _: &Self::Record<'_>) -> bool {
        true
    }

    /// Returns the length and the content of the first record. `None` if the record may continue
    /// after `bytes`, or if there is none.
    fn first<'a>(
        &self,
        bytes: &'a [u8],
        at_end: bool,
    ) -> Option<(usize, RecordContent<Self::Record<'a>>)>;

    /// The number of bytes that are missing in `held` to complete its record, if the record states
    /// its length.
    fn missing_bytes(&self, _partial: &[u8]) -> Option<u64> {
        None
    }

    /// Passes the parts of a record's file to the sink. `read` reads a file with a name and bytes.
    fn extract<S: PartSink>(
        &self,
        record: Self::Record<'_>,
        read: impl FnOnce(&str, &[u8], &mut S) -> Result<(), S::Error>,
        sink: &mut S,
    ) -> Result<(), S::Error>;

    /// The bytes of a record as the contents of its documents; `raw` is the record in the stream.
    fn contents<'a>(&self, record: &Self::Record<'a>, raw: &'a [u8]) -> DocumentContents<'a>;

    /// The prefix of the ids of a record's documents.
    fn id(&self, _: &Self::Record<'_>, place: RecordPlace<'_>) -> String {
        place.id_by_line()
    }

    /// The modification time of a record.
    fn modified(&self, _: &Self::Record<'_>, source: &SourceInfo) -> Option<u64> {
        source.modified()
    }

    /// Converts the name that extraction returns for a part to its name in the record.
    fn name_within<'w>(&self, within: &'w str) -> &'w str {
        within
    }
}

/// A format of records that are files, for streams that contain nothing else.
pub(crate) struct FileRecordFormat<F> {
    records: F,
    files: EmbeddedFiles,
}

impl<F> FileRecordFormat<F> {
    pub(crate) fn new(records: F) -> Self {
        Self { records, files: EmbeddedFiles::default() }
    }
}

impl<F: FileRecords + Send + Sync> RecordFormat for FileRecordFormat<F> {
    fn cut(&self, bytes: &[u8]) -> RecordBoundary {
        let WholeRecordCount { whole, records, .. } = whole_records(&self.records, bytes);
        RecordBoundary { whole, unclosed: false, records }
    }

    fn read(
        &self,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        self.files.read(&self.records, records, scratch, sink).map(drop)
    }

    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        EmbeddedFiles::read_again(&self.records, record, scratch, take)
    }

    fn is_encoded(&self) -> bool {
        true
    }

    fn continuation(&self, partial: &[u8], _: bool) -> Continuation {
        continuation(&self.records, partial)
    }

    fn copies(&self, _: bool) -> u64 {
        FILE_COPIES
    }
}

/// Number of copies of a record while its text is extracted: the decoded file and the text.
pub(crate) const FILE_COPIES: u64 = 2;
/// Number of bytes at the end of an incomplete record that suffice to find its end in the following
/// bytes.
const TAIL_BYTES: usize = 4096;

/// See [`RecordFormat::continuation`].
pub(crate) fn continuation(format: &impl FileRecords, partial: &[u8]) -> Continuation {
    match format.missing_bytes(partial) {
        Some(missing) => Continuation::Bytes(missing),
        None => Continuation::Cut(partial[partial.len().saturating_sub(TAIL_BYTES)..].to_vec()),
    }
}

/// The content of a record.
pub(crate) enum RecordContent<R> {
    File(R),
    /// The end mark of an archive: no file follows.
    End,
    Damaged(ExtractError),
}

impl<R> RecordContent<R> {
    /// All bytes as a single record in a format that this build does not support.
    pub(crate) fn unsupported(format: Format, bytes: &[u8]) -> Option<(usize, Self)> {
        let kind = format!("a file of the format {format}");
        let content = Self::Damaged(ExtractError::Unsupported { kind });
        (!bytes.is_empty()).then_some((bytes.len(), content))
    }
}

/// The place of a record.
#[derive(Clone, Copy)]
pub(crate) struct RecordPlace<'a> {
    pub(crate) source: &'a SourceInfo,
    /// Number of its block in the source.
    pub(crate) block: u32,
    /// Its first byte in the block.
    pub(crate) start: u32,
    /// Number of its first line in the source, from 1.
    line: u64,
}

impl RecordPlace<'_> {
    /// The id from the line number.
    fn id_by_line(&self) -> String {
        format!("{}:{}", self.source.name, self.line)
    }

    /// The record as a skipped item, because it is damaged.
    fn damaged(&self, failure: ExtractError) -> SkippedItem {
        let skipped = self.source.skipped(SkipReason::NoText { failure, content: None });
        SkippedItem { line: Some(self.line), ..skipped.with_id(self.id_by_line()) }
    }
}

/// The whole records at the start of some bytes.
pub(crate) struct WholeRecordCount {
    /// Their length.
    pub(crate) whole: usize,
    /// Number of records that count against the limit on files in a file.
    pub(crate) records: u32,
    /// Whether the last one is damaged or is the end mark, so that no record need follow.
    pub(crate) has_end: bool,
}

/// Counts the whole records at the start of `bytes`.
pub(crate) fn whole_records(format: &impl FileRecords, bytes: &[u8]) -> WholeRecordCount {
    let mut found = WholeRecordCount { whole: 0, records: 0, has_end: false };
    while let Some((length, content)) =
        format.first(&bytes[found.whole..], false).filter(|(length, _)| *length > 0)
    {
        found.whole += length;
        found.has_end = !matches!(content, RecordContent::File(_));
        if let RecordContent::File(record) = content {
            found.records += u32::from(format.is_member(&record));
        }
    }
    found
}

/// Reads the files of one source within its limits.
#[derive(Default)]
pub(crate) struct EmbeddedFiles {
    /// Nanoseconds that the extraction of the files has taken.
    extraction_time: AtomicU64,
}

impl EmbeddedFiles {
    /// Passes the documents of whole records to the sink, in order. Returns true if a record is
    /// damaged.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(crate) fn read<F: FileRecords>(
        &self,
        format: &F,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<bool, ReadError> {
        let WholeRecords { source, bytes, .. } = *records;
        let settings = &*source.settings;
        let ReadBuffers { extra, extractor, part_texts, .. } = scratch;
        part_texts.clear();
        let extractor = settings.extractor(extractor);
        let mut used = LimitUsage { members: records.members, ..LimitUsage::default() };
        let mut start = 0;
        let mut line = 0;
        let mut is_damaged = false;
        while let Some((length, content)) = format.first(&bytes[start..], true) {
            let raw = &bytes[start..start + length];
            let place = RecordPlace {
                source,
                block: records.index,
                start: start as u32,
                line: records.first_line + u64::from(line),
            };
            match content {
                RecordContent::File(record) => {
                    let position = DocumentPosition::of_record(start, length, line);
                    let raw = without_line_feed(raw);
                    if !F::IS_CONTAINER && format.is_member(&record) {
                        used.members = used.members.saturating_add(1);
                    }
                    let mut parts = RecordParts {
                        format,
                        place,
                        base: format.id(&record, place),
                        raw,
                        contents: format.contents(&record, raw),
                        id: String::new(),
                        documents: PartOutput {
                            fields: &settings.options.fields,
                            place: position,
                            modified: format.modified(&record, source),
                            extra: &mut *extra,
                            part_texts: &mut *part_texts,
                            sink: &mut *sink,
                        },
                    };
                    let read = |name: &str, bytes: &[u8], parts: &mut RecordParts<'_, F>| {
                        self.extract(records, name, bytes, (start, &mut used), extractor, parts)
                    };
                    format.extract(record, read, &mut parts)?;
                }
                RecordContent::Damaged(failure) => {
                    is_damaged = true;
                    sink.skipped(place.damaged(failure))?;
                }
                RecordContent::End => {}
            }
            start += length.max(1);
            line += memchr::memchr_iter(b'\n', raw).count() as u32;
        }
        Ok(is_damaged)
    }

    /// Reads a document of one record again and passes its text to `take`.
    ///
    /// # Errors
    /// The difference from the first reading.
    pub(crate) fn read_again<F: FileRecords>(
        format: &F,
        record: &RecordAgain<'_>,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        let extractor = record.source.settings.extractor(&mut scratch.extractor);
        OnePart::read(
            |part: &ExtractedPart<'_>| take(part.text, StatedFields::Fields(part.fields)),
            |part| match format.first(record.bytes, true) {
                Some((_, RecordContent::File(file))) => format.extract(
                    file,
                    |name, bytes, part| {
                        extractor.extract_part(name, bytes, record.place.part, part)
                    },
                    part,
                ),
                Some((_, RecordContent::Damaged(failure))) => Err(failure.to_string()),
                Some((_, RecordContent::End)) | None => Ok(()),
            },
        )
    }

    /// Reads the file of the record at `start`, within the remaining limits of its source.
    fn extract<F: FileRecords>(
        &self,
        records: &WholeRecords<'_>,
        name: &str,
        bytes: &[u8],
        (start, used): (usize, &mut LimitUsage),
        extractor: &mut Extractor,
        parts: &mut RecordParts<'_, F>,
    ) -> Result<(), ReadError> {
        let limits = &records.source.settings.options.extract.limits;
        // The time of a record that is read again was already counted.
        let elapsed = records.offset.map_or(0, |_| self.extraction_time.load(Ordering::Relaxed));
        used.time = Duration::from_nanos(elapsed);
        let mut current = used.remaining_at(start as u64, limits);
        if let Some(offset) = records.offset {
            let size = records.source.stamp.map(|stamp| stamp.bytes);
            let granted = size.map_or(offset, |size| offset.min(size));
            current.time = used.remaining_at(granted, limits).time;
        }
        let before = current;
        match before.exhausted(limits) {
            Some(failure) => failed(&failure, bytes, parts)?,
            None => extractor.extract_within(&mut current, name, bytes, parts)?,
        }
        used.add(before, current);
        if records.offset.is_some() {
            let more = u64::try_from(current.time.saturating_sub(before.time).as_nanos());
            self.extraction_time.fetch_add(more.unwrap_or(u64::MAX), Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Tells the sink why the file of a record is not read.
pub(crate) fn failed<S: PartSink>(
    failure: &ExtractError,
    bytes: &[u8],
    sink: &mut S,
) -> Result<(), S::Error> {
    let kind = FileKind::Binary;
    sink.failed(&FailedPart { within: "", kind, failure, bytes })
}

/// Passes the parts of a record to the sink as documents.
struct RecordParts<'a, F> {
    format: &'a F,
    place: RecordPlace<'a>,
    /// The prefix of the ids.
    base: String,
    /// The bytes of the record in the stream.
    raw: &'a [u8],
    contents: DocumentContents<'a>,
    /// A buffer for ids.
    id: String,
    documents: PartOutput<'a>,
}

impl<F: FileRecords> RecordParts<'_, F> {
    fn set_id(&mut self, within: &str, own_id: Option<&str>) {
        self.id.clear();
        match own_id {
            Some(own_id) if self.place.source.has_ids_by_file() => {
                self.id.extend([self.place.source.name.as_str(), "/", own_id]);
            }
            own_id => self.id.push_str(own_id.unwrap_or(&self.base)),
        }
        let within = self.format.name_within(within);
        push_within(&mut self.id, within);
    }

    /// The field of a record that is its id.
    fn own_id<'f>(&self, fields: &'f Fields) -> Option<&'f str> {
        let options = &self.place.source.settings.options;
        match options.id_field.as_str() {
            _ if options.line_ids => None,
            "id" => fields.get(F::ID_FIELD?),
            name => fields.get(name),
        }
    }
}

impl<F: FileRecords> PartSink for RecordParts<'_, F> {
    type Error = ReadError;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), ReadError> {
        let record_id = self.own_id(part.fields);
        self.set_id(part.within, record_id);
        let is_record = F::ARE_SEPARABLE && part.within.is_empty();
        let raw =
            if is_record { Raw::Record(self.raw) } else { Raw::Part(&self.place.source.path) };
        self.documents.give(part, &self.id, (raw, self.contents))
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), ReadError> {
        self.set_id(failed.within, None);
        let skipped = self.place.source.skipped(no_text(failed)).with_id(&self.id);
        let line = Some(self.place.line);
        self.documents.sink.skipped(SkippedItem { line, ..skipped })
    }
}
