//! Files and streams of records: JSONL, CSV, mailboxes, tar archives and others.

use crate::bytes::decompress::peek;
use crate::bytes::{
    ByteStream, Compression, CountingReader, PooledBuffer, Spool, encoding, read_exact_at,
};
use crate::document::{DocumentPosition, ReadBuffers, SourceSink};
use crate::error::{Location, ReadError, SkipReason, SkippedItem};
use crate::format::{
    BlockRecords, CsvHeader, FileRecordFormat, IdRule, JsonArray, KeptCopier, LineRecords,
    MboxFormat, PackedRowsFormat, RecordAgain, RecordFormat, SeparatedValues, TakeText, TarFormat,
    WarcFormat, WholeRecords, WholeTextFormat,
};
use crate::measure::Stamp;
use crate::options::{Format, ReadOptions, SourceInfo};
use crate::source::record_stream::RecordStream;
use crate::source::retained_state::{KeptState, RecordRange, RetainedState};
use crate::source::{AfterError, BlockContent, LaneReader, Source};
use lookalike_extract::LimitUsage;
use parking_lot::Mutex;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

/// Maximum number of files that are kept open for reading records again. Other files are opened for
/// each record.
const KEPT_OPEN: usize = 128;
/// Number of bytes from which the encoding of records is detected.
const HEAD_BYTES: u64 = 1024;

/// The input of records.
pub(crate) enum RecordInput {
    /// A file that can be opened again.
    File(Compression),
    /// Standard input or a pipe, read from its start. Taken when the first block is read.
    Stream(Compression, Mutex<Option<ByteStream>>),
}

/// A file or stream of records.
pub(crate) struct RecordSource {
    info: Arc<SourceInfo>,
    kind: Format,
    format: Arc<dyn RecordFormat>,
    origin: RecordInput,
    /// Whether the bytes of records equal the bytes on the disk, so that a record can be read
    /// again.
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
        Self { info, kind, format, origin, plain: OnceLock::new(), kept: OnceLock::new() }
    }

    /// Opens the stream at its start. With `is_counted`, bytes read from a file count as progress.
    fn open(&self, is_counted: bool) -> Result<RecordStream, ReadError> {
        let io = |error| self.info.io(error);
        let settings = &self.info.settings;
        let (stream, compression): (ByteStream, _) = match &self.origin {
            RecordInput::File(compression) => {
                let reader = File::open(&self.info.path).map_err(io)?;
                let read = if is_counted { Arc::clone(&settings.consumed) } else { Arc::default() };
                (Box::new(CountingReader { reader, read }), *compression)
            }
            RecordInput::Stream(compression, stream) => {
                let stream = stream.lock().take();
                (stream.unwrap_or_else(|| Box::new(io::empty())), *compression)
            }
        };
        let compressed = compression != Compression::None;
        // Waiting for the writer of a pipe does not count as time of this file.
        let is_file = matches!(self.origin, RecordInput::File(_));
        let stream = settings.decode_timed(compression, stream, is_file).map_err(io)?;
        let (head, stream) = peek(stream, HEAD_BYTES).map_err(io)?;
        let decoded = if self.format.is_encoded() {
            Err(stream)
        } else {
            encoding::transcode(&head, settings.encoding, stream)
        };
        let (stream, plain) = match decoded {
            Ok(decoded) => (decoded, false),
            Err(stream) => (stream, is_file && !compressed),
        };
        let _ = self.plain.set(plain);
        let longest = settings.longest_record(compressed);
        let format = Arc::clone(&self.format);
        let pool = Arc::clone(&settings.pool);
        Ok(RecordStream::new(stream, format, settings.block_bytes, longest, pool))
    }

    /// Reads the information in a file that is needed to read its records again.
    fn learn_header(&self) -> Result<(), ReadError> {
        let mut stream = None;
        self.format.learn_header(&self.info, &mut || {
            let stream = match &mut stream {
                Some(stream) => stream,
                empty => empty.insert(self.open(false)?),
            };
            stream.next(&self.info.display_name)
        })
    }

    /// Checks that the first record of a JSON file has the fields. Ignores bytes that cannot be
    /// read and, unless `is_strict`, other faults of the record. The reader reports these.
    ///
    /// # Errors
    /// [`ReadError::BadRecord`] for the first record.
    pub(crate) fn check_first_record(&self, is_strict: bool) -> Result<(), ReadError> {
        let records = self.open(false).and_then(|mut stream| stream.next(&self.info.display_name));
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
        let skipped = SkippedItem::whole(&self.info.display_name, reason);
        Err(ReadError::BadRecord(SkippedItem { line: Some(line), ..skipped }.into()))
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
    ) -> Option<Box<dyn BlockContent>> {
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
        Some(Box::new(RecordBlock { source: self, index, range, storage }))
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

/// The single lane of a file or stream of records.
struct RecordLane {
    source: Arc<RecordSource>,
    stream: RecordStream,
}

impl LaneReader for RecordLane {
    fn next(&mut self) -> Result<Option<Box<dyn BlockContent>>, ReadError> {
        let info = &self.source.info;
        let records = self.stream.next(&info.display_name)?;
        if let Err(error) = self.source.format.observe(info, records.as_ref()) {
            self.stream.end();
            return Err(error);
        }
        Ok(records.map(|records| RecordBlock::of(&self.source, records)))
    }

    fn after_error(&mut self) -> AfterError {
        AfterError { line: self.stream.pass_error(), has_more: !self.stream.is_ended() }
    }

    fn is_empty(&self) -> bool {
        self.stream.is_empty()
    }
}

/// Whole records.
pub(crate) struct RecordBlock {
    source: Arc<RecordSource>,
    /// Number of the block in its source.
    index: u32,
    range: RecordRange,
    storage: RecordStorage,
}

/// The storage of the bytes of records.
enum RecordStorage {
    /// In the buffer that they were read into.
    Fresh(PooledBuffer),
    /// In the file of the source.
    Disk,
    Spool(Arc<Spool>),
    Memory(Box<[u8]>),
}

impl RecordBlock {
    pub(crate) fn of(source: &Arc<RecordSource>, records: BlockRecords) -> Box<dyn BlockContent> {
        let BlockRecords { buffer, index, offset, first_line, unclosed, records_before } = records;
        // The number of files in the source before the block, minus the number that the preceding
        // bytes allow.
        let members = u32::try_from(records_before).unwrap_or(u32::MAX);
        let used = LimitUsage { members, ..LimitUsage::default() };
        let limits = &source.info.settings.options.extract.limits;
        let range = RecordRange {
            offset,
            length: buffer.len() as u32,
            first_line,
            unclosed,
            members: used.remaining_at(offset, limits).members,
            has_line_ids: source.has_line_ids(),
        };
        let storage = RecordStorage::Fresh(buffer);
        Box::new(Self { source: Arc::clone(source), index, range, storage })
    }

    fn is_fresh(&self) -> bool {
        matches!(self.storage, RecordStorage::Fresh(_))
    }

    /// The bytes of the block at a range. `place` is used only in the error message.
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
        let stored: &[u8] = match &self.storage {
            RecordStorage::Fresh(bytes) => bytes,
            RecordStorage::Memory(bytes) => bytes,
            RecordStorage::Disk | RecordStorage::Spool(_) => {
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
                return Ok(buffer);
            }
        };
        stored.get(start as usize..end).ok_or_else(missing)
    }
}

impl BlockContent for RecordBlock {
    fn bytes(&self) -> u64 {
        self.range.length.into()
    }

    fn read(&self, scratch: &mut ReadBuffers, sink: &mut SourceSink<'_>) -> Result<(), ReadError> {
        if !self.is_fresh() && !self.source.is_stream() {
            self.source.learn_header()?;
        }
        let mut buffer = std::mem::take(&mut scratch.bytes);
        let RecordRange { offset, length, first_line, unclosed, members, .. } = self.range;
        let whole = DocumentPosition::of_record(0, length as usize, 0);
        let bytes = self.bytes_at(0, length, &mut buffer, whole);
        let read = bytes.and_then(|bytes| {
            let records = WholeRecords {
                source: &self.source.info,
                index: self.index,
                bytes,
                first_line,
                unclosed,
                offset: self.is_fresh().then_some(offset),
                members,
            };
            self.source.format.read(&records, scratch, sink)
        });
        scratch.bytes = buffer;
        read
    }

    fn copies(&self, is_escaped: bool) -> u64 {
        self.source.format.copies(is_escaped)
    }

    fn line(&self, place: DocumentPosition) -> Option<u64> {
        Some(self.range.first_line + u64::from(place.line))
    }

    fn retain(&mut self, spool: Option<&Arc<Spool>>) -> Result<(), ReadError> {
        let RecordStorage::Fresh(bytes) = &self.storage else { return Ok(()) };
        let is_plain = self.source.plain.get().copied().unwrap_or(false);
        self.storage = match spool {
            _ if is_plain => RecordStorage::Disk,
            Some(spool) => {
                self.range.offset = spool.append(bytes)?;
                RecordStorage::Spool(Arc::clone(spool))
            }
            None => RecordStorage::Memory((**bytes).into()),
        };
        Ok(())
    }

    fn state(&self) -> Option<KeptState> {
        match &self.storage {
            RecordStorage::Disk => Some(KeptState::Disk(self.range)),
            RecordStorage::Spool(_) => Some(KeptState::Spooled(self.range)),
            RecordStorage::Fresh(_) | RecordStorage::Memory(_) => None,
        }
    }

    fn location(&self, place: DocumentPosition) -> Location {
        let line = self.range.first_line + u64::from(place.line);
        Location::Line { source: self.source.info.display_name.clone(), line }
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
}
