//! One input as it was found: a file or stream of records, or the text files of a folder.

pub(crate) mod files;
pub(crate) mod from_index;
pub(crate) mod in_memory;
pub(crate) mod records;
mod row_groups;
#[cfg(feature = "archive")]
pub(crate) mod zip_member;

use crate::MAX_DOCUMENT_BYTES;
use crate::decompress::{Compression, Stream};
use crate::encoding;
use crate::error::ReadError;
use crate::format::csv::Columns;
#[cfg(feature = "archive")]
use crate::format::embedded_files;
#[cfg(feature = "parquet")]
use crate::format::parquet::{RowGroup, Table};
use crate::options::Format;
use crate::positioned_io::read_exact_at;
use crate::settings::Settings;
use crate::skipped::{SkipReason, Skipped};
use crate::source::files::DocumentFile;
use crate::source::from_index::{Cursor as StoredCursor, StoredBlock, StoredDocuments};
use crate::source::records::{RecordStream, Records};
use crate::stamp::Stamp;
use crate::walk::name_of;
use in_memory::HeldDocuments;
#[cfg(feature = "archive")]
use lookalike_extract::UniqueNames;
#[cfg(feature = "archive")]
use std::collections::HashMap;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
#[cfg(feature = "archive")]
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Files of records kept open for fetching; others are opened for each document.
const KEPT_OPEN: usize = 128;
/// Bytes by which the encoding of records is found.
const HEAD_BYTES: u64 = 1024;
/// Text files in a block.
const BLOCK_FILES: usize = 64;

/// Where records come from.
pub(crate) enum Origin {
    /// A file that can be opened again, and what it looked like at first.
    File(Compression, Stamp),
    /// Standard input or a pipe, not touched but for `head`; taken when the first block is read.
    Stream(Compression, Mutex<Option<Stream>>),
}

pub(crate) enum Kind {
    Records { format: Format, origin: Origin },
    Files(Vec<DocumentFile>),
    Stored(StoredDocuments),
    Held(HeldDocuments),
}

/// A source and what is known about it for good.
pub(crate) struct Source {
    pub(crate) number: u32,
    pub(crate) path: PathBuf,
    /// The name in ids made of line numbers.
    pub(crate) name: String,
    /// The name in messages.
    pub(crate) shown: String,
    pub(crate) kind: Kind,
    /// Found in a folder, not named: it is listed where it cannot be read.
    pub(crate) in_folder: bool,
    /// The ids of its files are relative to the folder.
    pub(crate) relative: bool,
    /// The files named by the user, of a source made of these.
    named: OnceLock<HashSet<String>>,
    pub(crate) settings: Arc<Settings>,
    /// Of CSV and TSV, known when the first block is.
    columns: OnceLock<Columns>,
    /// The records are read as they stand on the disk, so that one of them can be read again.
    plain: OnceLock<bool>,
    kept: OnceLock<Option<File>>,
    /// Parts that are read side by side: row groups of Parquet, else the one whole.
    pub(crate) lanes: u32,
    /// How many of them are not finished.
    pub(crate) lanes_left: AtomicU32,
    /// Nanoseconds that reading its files has taken, where it is a stream of files.
    pub(crate) extraction_time: AtomicU64,
    #[cfg(feature = "archive")]
    repeated: Mutex<Repeated>,
    /// The open Parquet file, from the first block until the last lane is finished.
    #[cfg(feature = "parquet")]
    pub(crate) table: Mutex<Option<Arc<Table>>>,
}

/// Members of a tar archive that repeat the name of an earlier one.
#[cfg(feature = "archive")]
#[derive(Default)]
struct Repeated {
    names: UniqueNames,
    /// By block and place in it.
    numbers: HashMap<(u32, u32), u32>,
    /// All members were looked at.
    complete: bool,
}

#[cfg(feature = "archive")]
impl Repeated {
    /// Adds the members of the next piece; there are no more where that is `None`.
    fn add(&mut self, records: Option<&Records>) {
        let Some(records) = records else {
            self.complete = true;
            return;
        };
        for (start, name) in embedded_files::member_names(&records.piece) {
            if let Some(number) = self.names.number(&name) {
                self.numbers.insert((records.index, start), number);
            }
        }
    }
}

/// How far a source has been handed out.
pub(crate) enum Progress {
    Fresh,
    Records(RecordStream),
    Files {
        next: usize,
        index: u32,
    },
    #[cfg(feature = "parquet")]
    Rows(Box<RowGroup>),
    Stored(StoredCursor),
    Held(in_memory::Cursor),
    /// Nothing more comes.
    Ended,
}

/// What the next block holds.
pub(crate) enum Next {
    Records(Records),
    Files {
        index: u32,
        range: Range<usize>,
    },
    Stored(StoredBlock),
    Held {
        index: u32,
        range: Range<usize>,
    },
    /// The source, or the rest of it, cannot be read.
    Refused {
        index: u32,
        skipped: Skipped,
    },
}

impl Source {
    pub(crate) fn new(
        number: u32,
        path: PathBuf,
        name: String,
        shown: String,
        kind: Kind,
        settings: Arc<Settings>,
    ) -> Self {
        Self {
            number,
            path,
            name,
            shown,
            kind,
            in_folder: false,
            relative: false,
            named: OnceLock::new(),
            settings,
            columns: OnceLock::new(),
            plain: OnceLock::new(),
            kept: OnceLock::new(),
            lanes: 1,
            lanes_left: AtomicU32::new(1),
            extraction_time: AtomicU64::new(0),
            #[cfg(feature = "archive")]
            repeated: Mutex::default(),
            #[cfg(feature = "parquet")]
            table: Mutex::new(None),
        }
    }

    /// The content of the next block of a lane; `None` at its end. What cannot be read is an
    /// error, or an entry of the list where the source was not named or bad records are skipped.
    pub(crate) fn next(
        &self,
        lane: u32,
        progress: &mut Progress,
    ) -> Result<Option<Next>, ReadError> {
        let mut skipped = match self.advance(lane, progress) {
            Ok(None) if self.in_folder && is_empty(progress) => {
                let (source, reason) = (self.shown.clone(), SkipReason::NoContent);
                Skipped { source, line: None, id: None, reason }
            }
            Err(error) if self.is_lenient() => error.into_skipped()?,
            Err(error) => return Err(error.with_limit()),
            next => return next,
        };
        let (index, goes_on) = match progress {
            Progress::Records(stream) => {
                let (index, line) = stream.take_index();
                skipped.line = skipped.line.or(line);
                (index, !stream.is_ended())
            }
            #[cfg(feature = "parquet")]
            Progress::Rows(rows) => (self.first_block(lane) | rows.blocks, false),
            _ => (self.first_block(lane), false),
        };
        if !goes_on {
            *progress = Progress::Ended;
        }
        skipped.id = skipped.id.or_else(|| Some(self.name.clone()));
        Ok(Some(Next::Refused { index, skipped }))
    }

    /// Whether the run goes on where the source cannot be read.
    pub(crate) fn is_lenient(&self) -> bool {
        self.in_folder || self.settings.skip_bad
    }

    fn advance(
        &self,
        #[cfg_attr(not(feature = "parquet"), expect(unused_variables, reason = "one lane only"))]
        lane: u32,
        progress: &mut Progress,
    ) -> Result<Option<Next>, ReadError> {
        if matches!(progress, Progress::Fresh) {
            *progress = match &self.kind {
                #[cfg(feature = "parquet")]
                Kind::Records { format: Format::Parquet, .. } => self.open_rows(lane)?,
                Kind::Records { .. } => Progress::Records(self.open(true)?),
                Kind::Files(_) => Progress::Files { next: 0, index: 0 },
                Kind::Stored(_) => Progress::Stored(StoredCursor::default()),
                Kind::Held(_) => Progress::Held(in_memory::Cursor::default()),
            };
        }
        match (progress, &self.kind) {
            (Progress::Records(stream), Kind::Records { format, .. }) => {
                let records = stream.next(&self.shown)?;
                #[cfg(feature = "archive")]
                if *format == Format::Tar {
                    self.repeated().add(records.as_ref());
                }
                if stream.is_at_start(records.as_ref()) {
                    self.find_columns(*format, records.as_ref())?;
                }
                Ok(records.map(Next::Records))
            }
            (Progress::Files { next, index }, Kind::Files(files)) => {
                let range = batch(files, *next, self.settings.block_bytes as u64);
                if range.is_empty() {
                    return Ok(None);
                }
                *next = range.end;
                *index += 1;
                Ok(Some(Next::Files { index: *index - 1, range }))
            }
            (Progress::Stored(cursor), Kind::Stored(stored)) => {
                let block = stored.next(cursor, self.settings.block_bytes)?;
                Ok(block.map(Next::Stored))
            }
            (Progress::Held(cursor), Kind::Held(held)) => {
                let block = cursor.next(&*held.rows, self.settings.block_bytes);
                Ok(block.map(|(index, range)| Next::Held { index, range }))
            }
            #[cfg(feature = "parquet")]
            (Progress::Rows(rows), _) => Ok(self.next_rows(lane, rows)?.map(Next::Records)),
            _ => Ok(None),
        }
    }

    /// The stream from its start; `counted` where it is part of the progress.
    pub(crate) fn open(&self, counted: bool) -> Result<RecordStream, ReadError> {
        let Kind::Records { format, origin } = &self.kind else {
            return Err(self.io(io::ErrorKind::InvalidInput.into()));
        };
        let (Origin::File(compression, _) | Origin::Stream(compression, _)) = origin;
        let compressed = *compression != Compression::None;
        let (stream, plain) = match origin {
            Origin::File(compression, _) => {
                let file = File::open(&self.path).map_err(|error| self.io(error))?;
                let settings = counted.then(|| Arc::clone(&self.settings));
                let counted = Counted { file, settings };
                let stream = self.settings.decode(*compression, counted);
                (stream.map_err(|error| self.io(error))?, !compressed)
            }
            Origin::Stream(_, stream) => {
                let stream = stream.lock().unwrap_or_else(PoisonError::into_inner).take();
                let stream = stream.unwrap_or_else(|| Box::new(io::empty()));
                let stream = self.settings.decode(*compression, stream);
                (stream.map_err(|error| self.io(error))?, false)
            }
        };
        let (head, stream) = peek(stream, HEAD_BYTES).map_err(|error| self.io(error))?;
        let decoded = match format {
            // A whole text is decoded like that of a file, with its encoding found.
            Format::Text | Format::Mbox | Format::Warc | Format::Tar => Err(stream),
            _ => encoding::transcode(&head, self.settings.encoding, stream),
        };
        let (stream, plain) = match decoded {
            Ok(decoded) => (decoded, false),
            Err(stream) => (stream, plain),
        };
        let _ = self.plain.set(plain);
        let Settings { block_bytes, pool, .. } = &*self.settings;
        let longest = self.settings.longest_record(compressed);
        Ok(RecordStream::new(stream, *format, *block_bytes, longest, Arc::clone(pool)))
    }

    fn find_columns(&self, format: Format, first: Option<&Records>) -> Result<(), ReadError> {
        let delimiter = match format {
            Format::Csv => b',',
            Format::Tsv => b'\t',
            _ => return Ok(()),
        };
        let bytes = first.map_or(&[][..], |records| &*records.piece);
        let columns = Columns::find(delimiter, bytes, &self.settings.fields, &self.shown)?;
        let _ = self.columns.set(columns);
        Ok(())
    }

    /// Reads the header of a file when it is not known yet, for blocks that were read before.
    pub(crate) fn know_columns(&self) -> Result<(), ReadError> {
        match &self.kind {
            Kind::Records { format, origin: Origin::File(..) }
                if matches!(format, Format::Csv | Format::Tsv) && self.columns.get().is_none() =>
            {
                let first = self.open(false)?.next(&self.shown)?;
                self.find_columns(*format, first.as_ref())
            }
            _ => Ok(()),
        }
    }

    #[cfg(feature = "archive")]
    fn repeated(&self) -> MutexGuard<'_, Repeated> {
        self.repeated.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the names of a tar archive through when that was not done in this run.
    #[cfg(feature = "archive")]
    pub(crate) fn know_repeated(&self) -> Result<(), ReadError> {
        if self.format() != Format::Tar || self.repeated().complete {
            return Ok(());
        }
        let (mut stream, mut found) = (self.open(false)?, Repeated::default());
        while !found.complete {
            found.add(stream.next(&self.shown)?.as_ref());
        }
        *self.repeated() = found;
        Ok(())
    }

    /// The number of the member at `start` of block `index`, where it repeats a name.
    pub(crate) fn repeat(&self, index: u32, start: u32) -> Option<u32> {
        #[cfg(feature = "archive")]
        if self.format() == Format::Tar {
            return self.repeated().numbers.get(&(index, start)).copied();
        }
        let _ = (index, start);
        None
    }

    /// Bytes of the file; `None` for a stream.
    pub(crate) fn size(&self) -> Option<u64> {
        match &self.kind {
            Kind::Records { origin: Origin::File(_, stamp), .. } => Some(stamp.bytes),
            _ => None,
        }
    }

    pub(crate) fn format(&self) -> Format {
        match &self.kind {
            Kind::Records { format, .. } => *format,
            Kind::Files(_) | Kind::Stored(_) | Kind::Held(_) => Format::Text,
        }
    }

    /// When the file was last changed; `None` for a stream, and for files each of its own.
    pub(crate) fn modified(&self) -> Option<u64> {
        match &self.kind {
            Kind::Records { origin: Origin::File(_, stamp), .. } => stamp.modified,
            _ => None,
        }
    }

    /// Every file there is, with what it looked like at first.
    pub(crate) fn stamps(&self) -> impl Iterator<Item = (&Path, Stamp)> {
        let (file, files) = match &self.kind {
            Kind::Records { origin: Origin::File(_, stamp), .. } => (Some(*stamp), None),
            Kind::Records { .. } | Kind::Stored(_) | Kind::Held(_) => (None, None),
            Kind::Files(files) => (None, Some(files)),
        };
        // Files of one archive stand one after the other.
        let archives = files.into_iter().flat_map(|files| files.chunk_by(|a, b| a.path == b.path));
        let files = archives.filter_map(|files| files.first());
        let files = files.map(|file| (file.path.as_path(), file.stamp));
        file.into_iter().map(|stamp| (self.path.as_path(), stamp)).chain(files)
    }

    /// The file that a document of files named by the user is in, by the document's id.
    pub(crate) fn named_file(&self, id: &str) -> Option<&str> {
        let Kind::Files(files) = &self.kind else { return None };
        if self.in_folder {
            return None;
        }
        let named = self.named.get_or_init(|| {
            let archives = files.chunk_by(|a, b| a.path == b.path);
            archives.filter_map(|files| files.first()).map(|file| name_of(&file.path)).collect()
        });
        let ends = id.rmatch_indices(['/', ':']).map(|(at, _)| at);
        std::iter::once(id.len())
            .chain(ends)
            .find_map(|end| named.get(&id[..end]))
            .map(String::as_str)
    }

    /// Whether the ids of records begin with the name of the file.
    pub(crate) fn has_ids_by_file(&self) -> bool {
        self.in_folder && self.settings.ids_by_file.load(Ordering::Relaxed)
    }

    /// Whether a record whose own id is `found` has the id `id`.
    pub(crate) fn is_id(&self, found: &str, id: &str) -> bool {
        if !self.has_ids_by_file() {
            return found == id;
        }
        let own = id.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix('/'));
        own == Some(found)
    }

    /// The documents of an index, if it is one.
    pub(crate) fn stored(&self) -> Option<&StoredDocuments> {
        if let Kind::Stored(stored) = &self.kind { Some(stored) } else { None }
    }

    /// The documents that the caller holds, if it is such a source.
    pub(crate) fn held(&self) -> Option<&HeldDocuments> {
        if let Kind::Held(held) = &self.kind { Some(held) } else { None }
    }

    pub(crate) fn columns(&self) -> Option<&Columns> {
        self.columns.get()
    }

    /// Whether another run could not read the same: standard input, a pipe, an index, documents
    /// that the caller holds.
    pub(crate) fn is_stream(&self) -> bool {
        let stream = matches!(self.kind, Kind::Records { origin: Origin::Stream(..), .. });
        stream || matches!(self.kind, Kind::Stored(_) | Kind::Held(_))
    }

    /// Whether single records can be read from the disk again.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain.get().copied().unwrap_or(false)
    }

    pub(crate) fn io(&self, error: io::Error) -> ReadError {
        ReadError::Io { source_name: self.shown.clone(), error }
    }

    /// What a bad record is: an error, or a skipped one to list.
    pub(crate) fn bad(
        &self,
        line: u64,
        id: Option<String>,
        reason: SkipReason,
    ) -> Result<Skipped, ReadError> {
        let skipped = Skipped { source: self.shown.clone(), line: Some(line), id, reason };
        match self.kind {
            _ if self.settings.skip_bad => Ok(skipped),
            Kind::Held(_) => Err(ReadError::BadRow(Box::new(skipped))),
            _ => Err(ReadError::BadRecord(skipped)),
        }
    }

    /// Reads `buffer.len()` bytes at `offset` of the file.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let kept = self.kept.get_or_init(|| {
            if self.settings.open.fetch_add(1, Ordering::Relaxed) < KEPT_OPEN {
                File::open(&self.path).ok()
            } else {
                None
            }
        });
        match kept {
            Some(file) => read_exact_at(file, buffer, offset),
            None => read_exact_at(&File::open(&self.path)?, buffer, offset),
        }
    }
}

/// Whether a source ended without a block.
fn is_empty(progress: &Progress) -> bool {
    matches!(progress, Progress::Records(stream) if stream.is_empty())
}

/// The bytes behind a UTF-8 byte order mark.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Up to `count` first bytes of a stream, and the stream with them put back.
pub(crate) fn peek(mut stream: Stream, count: u64) -> io::Result<(Vec<u8>, Stream)> {
    let mut head = Vec::new();
    stream.by_ref().take(count).read_to_end(&mut head)?;
    let back = Cursor::new(head.clone());
    Ok((head, Box::new(back.chain(stream))))
}

/// The files of the next block: at least one, then as many as stay below both limits.
fn batch(files: &[DocumentFile], start: usize, block_bytes: u64) -> Range<usize> {
    let mut size: u64 = 0;
    let mut end = start;
    while let Some(file) = files.get(end) {
        size = size.saturating_add(file.bytes().min(MAX_DOCUMENT_BYTES as u64));
        if end > start && (size > block_bytes || end - start == BLOCK_FILES) {
            break;
        }
        end += 1;
    }
    start..end
}

/// A file that counts the bytes read from it, or does not.
struct Counted {
    file: File,
    settings: Option<Arc<Settings>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read(buffer)?;
        if let Some(settings) = &self.settings {
            settings.consumed.fetch_add(got as u64, Ordering::Relaxed);
        }
        Ok(got)
    }
}
