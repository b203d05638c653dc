//! Files and streams of records: JSONL, CSV, mailboxes, tar archives and others.

use crate::bytes::decompress::{ByteStream, Compression, peek};
use crate::bytes::encoding;
use crate::bytes::positioned_io::read_exact_at;
use crate::bytes::spool::Spool;
use crate::document::DocumentPosition;
use crate::document::normalizing_sink::SourceSink;
use crate::document::read_buffers::ReadBuffers;
use crate::error::ReadError;
use crate::error::location::Location;
use crate::error::skipped::{SkipReason, SkippedItem};
use crate::format::csv::SeparatedValues;
use crate::format::csv_header::CsvHeader;
use crate::format::embedded_files::FileRecordFormat;
use crate::format::id_rule::IdRule;
use crate::format::json_array::JsonArray;
use crate::format::lines::LineRecords;
use crate::format::mbox::MboxFormat;
use crate::format::packed_rows::PackedRowsFormat;
use crate::format::tar::TarFormat;
use crate::format::text_cut::KeptCopier;
use crate::format::warc::WarcFormat;
use crate::format::whole_text::WholeTextFormat;
use crate::format::{BlockRecords, RecordAgain, RecordFormat, TakeText, WholeRecords};
use crate::measure::stamp::Stamp;
use crate::options::ReadOptions;
use crate::options::format::Format;
use crate::options::settings::SourceSettings;
use crate::options::source_info::SourceInfo;
use crate::source::record_stream::RecordStream;
use crate::source::retained_state::{KeptState, RecordRange, RetainedState};
use crate::source::{AfterError, BlockContent, LaneReader, RetainedContent, Source};
use lookalike_extract::LimitUsage;
use parking_lot::Mutex;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

/// Maximum number of files kept open for reading records again; others are opened for each record.
const KEPT_OPEN: usize = 128;
/// Bytes by which the encoding of records is found.
const HEAD_BYTES: u64 = 1024;

/// The input that records are read from.
pub(crate) enum RecordInput {
    /// A file that can be opened again.
    File(Compression),
    /// Standard input or a pipe, read from its start; taken when the first block is read.
    Stream(Compression, Mutex<Option<ByteStream>>),
}

/// A file or stream of records.
pub(crate) struct RecordSource {
    info: Arc<SourceInfo>,
    kind: Format,
    format: Arc<dyn RecordFormat>,
    origin: RecordInput,
    /// Whether the bytes of records are those on the disk, so that a record can be read again.
    plain: OnceLock<bool>,
    kept: OnceLock<Option<File>>,
}

impl RecordSource {
    pub(crate) fn new(info: Arc<SourceInfo>, kind: Format, origin: RecordInput) -> Self {
        let format: Arc<dyn RecordFormat> = match kind {
            Format::Text | Format::File => Arc::new(WholeTextFormat),
            Format::Lines => Arc::new(LineRecords::plain()),
            Format::Jsonl => Arc::new(LineRecords::json()),
            Format::Json => Arc::<JsonArray>::default(),
            Format::Csv => Arc::new(SeparatedValues::csv(&info.settings.options)),
            Format::Tsv => Arc::new(SeparatedValues::tsv(&info.settings.options)),
            Format::Parquet => Arc::new(PackedRowsFormat),
            Format::Mbox => Arc::new(FileRecordFormat::new(MboxFormat)),
            Format::Warc => Arc::new(FileRecordFormat::new(WarcFormat)),
            Format::Tar => Arc::<TarFormat>::default(),
        };
        let (plain, kept) = (OnceLock::new(), OnceLock::new());
        Self { info, kind, format, origin, plain, kept }
    }

    /// The stream from its start. `is_counted` adds what is read of a file to the progress.
    fn open(&self, is_counted: bool) -> Result<RecordStream, ReadError> {
        let io = |error| self.info.io(error);
        let settings = &self.info.settings;
        let (stream, compression): (ByteStream, _) = match &self.origin {
            RecordInput::File(compression) => {
                let file = File::open(&self.info.path).map_err(io)?;
                let settings = is_counted.then(|| Arc::clone(settings));
                (Box::new(CountedFile { file, settings }), *compression)
            }
            RecordInput::Stream(compression, stream) => {
                let stream = stream.lock().take();
                (stream.unwrap_or_else(|| Box::new(io::empty())), *compression)
            }
        };
        let compressed = compression != Compression::None;
        // A pipe waits for its writer, which takes no time of this file.
        let is_timed = matches!(self.origin, RecordInput::File(_));
        let stream = settings.decode_timed(compression, stream, is_timed).map_err(io)?;
        let (head, stream) = peek(stream, HEAD_BYTES).map_err(io)?;
        let decoded = if self.format.is_encoded() {
            Err(stream)
        } else {
            encoding::transcode(&head, settings.encoding, stream)
        };
        let is_file = matches!(self.origin, RecordInput::File(_));
        let (stream, plain) = match decoded {
            Ok(decoded) => (decoded, false),
            Err(stream) => (stream, is_file && !compressed),
        };
        let _ = self.plain.set(plain);
        let longest = settings.longest_record(compressed);
        let (format, pool) = (Arc::clone(&self.format), Arc::clone(&settings.pool));
        Ok(RecordStream::new(stream, format, settings.block_bytes, longest, pool))
    }

    /// Learns from a file what reading records again needs.
    fn learn_header(&self) -> Result<(), ReadError> {
        let mut stream = None;
        self.format.learn_header(&self.info, &mut || {
            let stream = match &mut stream {
                Some(stream) => stream,
                none => none.insert(self.open(false)?),
            };
            stream.next(&self.info.shown)
        })
    }

    /// Checks that the objects in a file of JSON have the fields, by the first record. The reader
    /// reports bytes that cannot be read and, unless `is_strict`, bytes that are not JSON.
    ///
    /// # Errors
    /// [`ReadError::BadRecord`] for the first record.
    pub(crate) fn check_first_record(&self, is_strict: bool) -> Result<(), ReadError> {
        let records = self.open(false).and_then(|mut stream| stream.next(&self.info.shown));
        let Ok(Some(records)) = records else { return Ok(()) };
        self.format.observe(&self.info, Some(&records))?;
        let Some((line, reason)) = self.format.first_fault(&self.info, &records) else {
            return Ok(());
        };
        let lacks_fields =
            matches!(reason, SkipReason::MissingField { .. } | SkipReason::NotAnObject { .. });
        if !is_strict && !lacks_fields {
            return Ok(());
        }
        let source = self.info.shown.clone();
        Err(ReadError::BadRecord(SkippedItem { source, line: Some(line), id: None, reason }))
    }

    /// Reads `buffer.len()` bytes at `offset` of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let kept = self.kept.get_or_init(|| {
            if self.info.settings.open.fetch_add(1, Ordering::Relaxed) < KEPT_OPEN {
                File::open(&self.info.path).ok()
            } else {
                None
            }
        });
        match kept {
            Some(file) => read_exact_at(file, buffer, offset),
            None => read_exact_at(&File::open(&self.info.path)?, buffer, offset),
        }
    }
}

impl Source for RecordSource {
    fn info(&self) -> &Arc<SourceInfo> {
        &self.info
    }

    fn open_lane(self: Arc<Self>, _: u32) -> Result<Box<dyn LaneReader>, ReadError> {
        let stream = self.open(true)?;
        Ok(Box::new(RecordLane { source: self, stream }))
    }

    fn restore(
        self: Arc<Self>,
        state: &RetainedState,
        spool: Option<&Arc<Spool>>,
    ) -> Option<Box<dyn RetainedContent>> {
        let (range, storage) = match (state.kept, spool) {
            (KeptState::Disk(range), _) => (range, RecordStorage::Disk),
            (KeptState::Spooled(range), Some(spool)) if range.end() <= spool.len() => {
                (range, RecordStorage::Spool(Arc::clone(spool)))
            }
            _ => return None,
        };
        if let Some(ids) = self.format.ids() {
            ids.restore(&self.info, range.has_line_ids);
        }
        let index = state.number.index;
        Some(Box::new(RetainedRecords { source: self, index, range, storage }))
    }

    fn format(&self) -> Option<Format> {
        Some(self.kind)
    }

    fn is_stream(&self) -> bool {
        matches!(self.origin, RecordInput::Stream(..))
    }

    fn stamps(&self) -> Box<dyn Iterator<Item = (&Path, Stamp)> + '_> {
        Box::new(self.info.stamp.iter().map(|stamp| (self.info.path.as_path(), *stamp)))
    }

    fn read_header(&self) -> Result<(), ReadError> {
        if self.format.has_header() && !self.is_stream() { self.learn_header() } else { Ok(()) }
    }

    fn header(&self) -> Option<&CsvHeader> {
        self.format.header()
    }

    fn has_line_ids(&self) -> bool {
        self.format.ids().is_some_and(IdRule::is_by_line)
    }

    fn copy_text(&self, record: &[u8], options: &ReadOptions, copier: &mut KeptCopier<'_>) -> bool {
        self.format.copy_text(record, options, copier)
    }
}

/// The one lane of a file or stream of records.
struct RecordLane {
    source: Arc<RecordSource>,
    stream: RecordStream,
}

impl LaneReader for RecordLane {
    fn next(&mut self) -> Result<Option<Box<dyn BlockContent>>, ReadError> {
        let info = &self.source.info;
        let records = self.stream.next(&info.shown)?;
        if let Err(error) = self.source.format.observe(info, records.as_ref()) {
            self.stream.end();
            return Err(error);
        }
        Ok(records.map(|records| RecordBlock::of(&self.source, records)))
    }

    fn after_error(&mut self) -> AfterError {
        AfterError { line: self.stream.pass_error(), goes_on: !self.stream.is_ended() }
    }

    fn is_empty(&self) -> bool {
        self.stream.is_empty()
    }
}

/// Whole records.
pub(crate) struct RecordBlock {
    source: Arc<RecordSource>,
    records: BlockRecords,
}

impl RecordBlock {
    pub(crate) fn of(source: &Arc<RecordSource>, records: BlockRecords) -> Box<dyn BlockContent> {
        Box::new(Self { source: Arc::clone(source), records })
    }

    /// The files in the source before the block, less those that its bytes so far have granted.
    fn members(&self) -> u32 {
        let members = u32::try_from(self.records.records_before).unwrap_or(u32::MAX);
        let used = LimitUsage { members, ..LimitUsage::default() };
        let limits = &self.source.info.settings.options.extract.limits;
        used.remaining_at(self.records.offset, limits).members
    }
}

impl BlockContent for RecordBlock {
    fn bytes(&self) -> u64 {
        self.records.buffer.len() as u64
    }

    fn read(&self, scratch: &mut ReadBuffers, sink: &mut SourceSink<'_>) -> Result<(), ReadError> {
        let BlockRecords { buffer, index, offset, first_line, unclosed, .. } = &self.records;
        let records = WholeRecords {
            source: &self.source.info,
            index: *index,
            bytes: buffer,
            first_line: *first_line,
            unclosed: *unclosed,
            offset: Some(*offset),
            members: self.members(),
        };
        self.source.format.read(&records, scratch, sink)
    }

    fn copies(&self, is_escaped: bool) -> u64 {
        self.source.format.copies(is_escaped)
    }

    fn line(&self, place: DocumentPosition) -> Option<u64> {
        Some(self.records.first_line + u64::from(place.line))
    }

    fn retain(
        self: Box<Self>,
        spool: Option<&Arc<Spool>>,
    ) -> Result<Box<dyn RetainedContent>, ReadError> {
        let members = self.members();
        let Self { source, records } = *self;
        let BlockRecords { buffer, index, offset, first_line, unclosed, .. } = records;
        let length = buffer.len() as u32;
        let has_line_ids = source.has_line_ids();
        let mut range = RecordRange { offset, length, first_line, unclosed, members, has_line_ids };
        let is_plain = source.plain.get().copied().unwrap_or(false);
        let storage = match spool {
            _ if is_plain => RecordStorage::Disk,
            Some(spool) => {
                range.offset = spool.append(&buffer)?;
                RecordStorage::Spool(Arc::clone(spool))
            }
            None => RecordStorage::Memory((*buffer).into()),
        };
        Ok(Box::new(RetainedRecords { source, index, range, storage }))
    }
}

/// Records that can be read again.
struct RetainedRecords {
    source: Arc<RecordSource>,
    /// Number of the block in its source.
    index: u32,
    range: RecordRange,
    storage: RecordStorage,
}

/// Where the bytes of retained records are.
enum RecordStorage {
    /// In the file of the source.
    Disk,
    Spool(Arc<Spool>),
    Memory(Box<[u8]>),
}

impl RetainedRecords {
    /// Bytes of the block; `place` is for the message.
    fn bytes_at<'a>(
        &'a self,
        start: u32,
        length: u32,
        buffer: &'a mut Vec<u8>,
        place: DocumentPosition,
    ) -> Result<&'a [u8], ReadError> {
        let missing = || self.location(place).changed("no such document".to_owned());
        let end = start.checked_add(length).filter(|end| *end <= self.range.length);
        let end = end.ok_or_else(missing)? as usize;
        if let RecordStorage::Memory(bytes) = &self.storage {
            return bytes.get(start as usize..end).ok_or_else(missing);
        }
        let length = length as usize;
        buffer.resize(buffer.len().max(length), 0);
        let buffer = &mut buffer[..length];
        let offset = self.range.offset + u64::from(start);
        if let RecordStorage::Spool(spool) = &self.storage {
            spool.read_at(buffer, offset)?;
        } else {
            let read = self.source.read_at(buffer, offset);
            read.map_err(|error| self.location(place).changed(error.to_string()))?;
        }
        Ok(buffer)
    }
}

impl RetainedContent for RetainedRecords {
    fn state(&self) -> Option<KeptState> {
        match &self.storage {
            RecordStorage::Disk => Some(KeptState::Disk(self.range)),
            RecordStorage::Spool(_) => Some(KeptState::Spooled(self.range)),
            RecordStorage::Memory(_) => None,
        }
    }

    fn location(&self, place: DocumentPosition) -> Location {
        let line = self.range.first_line + u64::from(place.line);
        Location::Line { source: self.source.info.shown.clone(), line }
    }

    fn read_again(
        &self,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), ReadError> {
        let mut buffer = std::mem::take(&mut scratch.bytes);
        let bytes = self.bytes_at(place.start, place.length, &mut buffer, place);
        let read = bytes.and_then(|bytes| {
            let record = RecordAgain { source: &self.source.info, bytes, place, id };
            let read = self.source.format.read_again(&record, scratch, take);
            read.map_err(|what| self.location(place).changed(what))
        });
        scratch.bytes = buffer;
        read
    }

    fn replay(
        &self,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        if !self.source.is_stream() {
            self.source.learn_header()?;
        }
        let mut buffer = std::mem::take(&mut scratch.bytes);
        let RecordRange { length, first_line, unclosed, members, .. } = self.range;
        let start = DocumentPosition { start: 0, length, line: 0, part: 0, unit: None };
        let bytes = self.bytes_at(0, length, &mut buffer, start);
        let read = bytes.and_then(|bytes| {
            let records = WholeRecords {
                source: &self.source.info,
                index: self.index,
                bytes,
                first_line,
                unclosed,
                offset: None,
                members,
            };
            self.source.format.read(&records, scratch, sink)
        });
        scratch.bytes = buffer;
        read
    }
}

/// A file that counts the bytes read from it, if it is part of the progress.
struct CountedFile {
    file: File,
    settings: Option<Arc<SourceSettings>>,
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        if let Some(settings) = &self.settings {
            settings.consumed.fetch_add(read as u64, Ordering::Relaxed);
        }
        Ok(read)
    }
}
