//! The opened inputs, and their division among threads.

pub(crate) mod block;
mod lane;
pub(crate) mod retained_block;

pub use block::Block;
pub use retained_block::RetainedBlock;

use crate::bytes::Spool;
use crate::collection::lane::Lane;
use crate::error::{ReadError, SkippedItem};
use crate::file::name_of;
use crate::format::{CsvHeader, KeptCopier, text_cut};
use crate::input::{OpenedInputs, Side, detect};
use crate::measure::{InputStamp, Stamp};
use crate::options::{Format, ReadOptions, SourceSettings};
use crate::source::{
    BlockContent, IndexContent, IndexSource, LaneRange, NoDocuments, RetainedState, Source,
    lane_range,
};
use crate::text::{Normalization, TextUnit, parent_id};
use lookalike_index::{Index, IndexError};
use std::num::NonZeroU32;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of bytes of records or text files that are read at a time: large enough to make the lock
/// cheap, and small enough to stay in a core's cache until they are parsed.
const BLOCK_BYTES: usize = 1 << 20;

/// Inputs that are open for reading.
pub struct Collection {
    inputs: OpenedInputs,
    /// One for each source, or for each row group of a source, in reading order.
    lanes: Vec<Lane>,
    reading: String,
    /// Lanes before this one are finished.
    first: AtomicUsize,
}

/// The options that determine the documents, as text.
fn reading(options: &ReadOptions) -> String {
    let mut options = ReadOptions { leave_out: Vec::new(), shingle: None, ..options.clone() };
    // The documents do not depend on the worker process.
    options.extract.worker = None;
    // If whole documents are compared, the text is the same as in versions without units.
    format!("{options:?}").replace(", unit: Document }", " }")
}

impl Collection {
    /// Opens files, folders and `-` (standard input). Folders are walked here, once. Only the first
    /// bytes of some files and the footers of Parquet files are read.
    ///
    /// # Errors
    /// A [`ReadError`] if an input is missing, cannot be opened, or is a folder without a file to
    /// read, or if its format or an option is invalid.
    pub fn open(inputs: &[PathBuf], options: &ReadOptions) -> Result<Self, ReadError> {
        Self::open_with_reference(inputs, &[], options)
    }

    /// Also opens the reference inputs: files and folders of documents to compare with. Their
    /// sources are numbered after the inputs. The ids of a side do not depend on the other side:
    /// the id of a text file is relative to its folder if the folder is the only input of its side.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with_reference(
        inputs: &[PathBuf],
        reference: &[PathBuf],
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        Self::of_sides(Side::Paths(inputs), Side::Paths(reference), options)
    }

    /// Like [`open_with_reference`](Self::open_with_reference), with documents in memory on either
    /// side. The options for texts, `fields` and `skip_bad` apply to these documents.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_sides(
        inputs: Side<'_>,
        reference: Side<'_>,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        Self::with_block_bytes(inputs, reference, options, BLOCK_BYTES)
    }

    pub(crate) fn with_block_bytes(
        inputs: Side<'_>,
        reference: Side<'_>,
        options: &ReadOptions,
        block_bytes: usize,
    ) -> Result<Self, ReadError> {
        let opened = detect::open(inputs, reference, options, block_bytes)?;
        Ok(Self::of(opened, reading(options)))
    }

    /// The current documents of an index, except documents that expired before `now` (in ns since
    /// 1970). They are read by number, with their shingle sets instead of texts. `fields` names the
    /// members of their metadata that become [`Document::fields`](crate::Document::fields).
    ///
    /// # Errors
    /// [`IndexError::NoSets`] for an index without shingle sets, and read errors.
    pub fn of_index(index: &Index, now: i64, fields: &[String]) -> Result<Self, IndexError> {
        let options = ReadOptions {
            fields: fields.to_owned(),
            normalization: index.settings().normalization.parse()?,
            ..ReadOptions::default()
        };
        let metadata = !options.fields.is_empty();
        let mut inputs = OpenedInputs::new(SourceSettings::new(options, None, BLOCK_BYTES));
        let info = inputs.unnamed(index.name());
        let source = IndexSource::open(info, index, now, metadata, IndexContent::Sets)?;
        inputs.sources.push(Arc::new(source));
        inputs.first_reference = 1;
        inputs.bytes = None;
        Ok(Self::of(inputs, format!("the index {}", index.name())))
    }

    fn of(inputs: OpenedInputs, reading: String) -> Self {
        let lanes = inputs.sources.iter().flat_map(|source| {
            (0..source.lanes()).map(|number| Lane::new(Arc::clone(source), number, 0..u32::MAX))
        });
        Self { lanes: lanes.collect(), inputs, reading, first: AtomicUsize::new(0) }
    }

    /// Divides the blocks into `count` shares of about equal size, in reading order, for processes
    /// that read one share each. A file of records, or a row group, belongs to one share, so some
    /// shares are empty if there are few files.
    pub fn divide(&self, count: NonZeroU32) -> Vec<Vec<LaneRange>> {
        let ranges = self.inputs.sources.iter().flat_map(|source| source.lane_ranges());
        lane_range::divide(&ranges.collect::<Vec<_>>(), count)
    }

    /// Restricts the collection to the blocks of a share. [`divide`](Self::divide) must have
    /// returned the share for the same inputs and options. Everything else is unchanged, including
    /// the numbers of blocks.
    ///
    /// # Errors
    /// [`ReadError::Changed`] if there is no such lane.
    pub fn restrict(mut self, share: &[LaneRange]) -> Result<Self, ReadError> {
        let lane = |range: &LaneRange| {
            let source = self.source(range.source);
            let source = source.filter(|source| range.lane < source.lanes());
            let source = source.ok_or_else(|| ReadError::Changed {
                source_name: format!("source {}", range.source),
                line: None,
                what: format!(
                    "lane {} of it is to be read, there are {} sources",
                    range.lane,
                    self.inputs.sources.len()
                ),
            })?;
            Ok(Lane::new(Arc::clone(source), range.lane, range.blocks()))
        };
        self.lanes = share.iter().map(lane).collect::<Result<_, ReadError>>()?;
        Ok(self)
    }

    /// The size of all files on the disk in bytes, compressed or not; `None` if an input is a
    /// stream or an index.
    pub fn bytes(&self) -> Option<u64> {
        self.inputs.bytes
    }

    /// Bytes of memory that documents by row take during the whole run and that count against a
    /// memory limit ([`DocumentRows::held_bytes`](crate::DocumentRows::held_bytes)).
    pub fn held_bytes(&self) -> u64 {
        self.inputs.sources.iter().map(|source| source.held_bytes()).sum()
    }

    /// The number of [`bytes`](Self::bytes) that were read so far, for progress.
    pub fn bytes_read(&self) -> u64 {
        self.inputs.settings.consumed.load(Ordering::Relaxed)
    }

    /// The items that the walks of the folders skipped, sorted by path within each folder: hidden
    /// and ignored files, links, pipes, and files that the system refused. They are not passed to
    /// sinks.
    pub fn listed(&self) -> &[SkippedItem] {
        &self.inputs.listed
    }

    fn source(&self, number: u32) -> Option<&Arc<dyn Source>> {
        self.inputs.sources.get(number as usize)
    }

    /// The id of the document that contains a unit, or the id of the document itself.
    fn document_id<'a>(&self, id: &'a str) -> &'a str {
        if self.unit() == TextUnit::Document { id } else { parent_id(id) }
    }

    /// The name of a source: its file, the folder, or `stdin`.
    pub fn source_name(&self, source: u32) -> Option<&str> {
        self.source(source).map(|source| source.info().display_name.as_str())
    }

    /// The number of sources: files of records, streams, and folders of text files.
    pub fn sources(&self) -> u32 {
        self.inputs.sources.len() as u32
    }

    /// Returns true if there is a reference source.
    pub fn has_reference(&self) -> bool {
        self.inputs.first_reference < self.sources()
    }

    /// Returns true if a source is a reference.
    pub fn is_reference(&self, source: u32) -> bool {
        source >= self.inputs.first_reference
    }

    /// The format of a source; [`Format::Text`] for text files, `None` for an index and for
    /// documents in memory.
    pub fn source_format(&self, source: u32) -> Option<Format> {
        self.source(source)?.format()
    }

    /// The file of a source of records; for text files, the first of them or their folder. `None`
    /// for a stream, an index and documents in memory.
    pub fn source_path(&self, source: u32) -> Option<&Path> {
        let source = self.source(source)?;
        (!source.is_stream()).then(|| source.info().path.as_path())
    }

    /// Reads the headers of all files of comma- or tab-separated values.
    ///
    /// # Errors
    /// A [`ReadError`] if a file cannot be read or lacks a column, unless such a file is listed as
    /// skipped when it is read.
    pub fn read_headers(&self) -> Result<(), ReadError> {
        self.inputs.sources.iter().try_for_each(|source| match source.read_header() {
            Err(error) if source.info().is_lenient() => error.into_skipped().map(drop),
            read => read,
        })
    }

    /// Limits each record, each text of a compressed file and each zstd window to `bytes`, because
    /// the run has memory for no more.
    pub fn limit_records(&self, bytes: u64) {
        self.inputs.settings.memory_record.store(bytes, Ordering::Relaxed);
    }

    /// Returns true if the documents of a source are in an index.
    pub fn is_index(&self, source: u32) -> bool {
        self.source(source).is_some_and(|source| source.is_index())
    }

    /// Returns true if the documents of a source are in memory.
    pub fn is_in_memory(&self, source: u32) -> bool {
        self.source(source).is_some_and(|source| source.is_in_memory())
    }

    /// The file that contains the document `id`, if the source consists of named files; otherwise
    /// the name of the source.
    pub fn file_of(&self, source: u32, id: &str) -> &str {
        let Some(source) = self.source(source) else { return "" };
        let id = self.document_id(id);
        source.named_file(id).unwrap_or(&source.info().display_name)
    }

    /// The id of a document, or of the document that contains a unit, without the prefix of its
    /// file's name ([`name_ids_by_file`](Self::name_ids_by_file)).
    pub fn own_id<'a>(&self, source: u32, id: &'a str) -> &'a str {
        let id = self.document_id(id);
        let Some(info) = self.source(source).map(|source| source.info()) else { return id };
        let relative = id.strip_prefix(info.name.as_str()).and_then(|rest| rest.strip_prefix('/'));
        relative.filter(|_| info.has_ids_by_file()).unwrap_or(id)
    }

    /// The part of an id of a text file that is relative to its folder; `None` if the source is not
    /// a folder of text files.
    pub fn id_in_folder<'a>(&self, source: u32, id: &'a str) -> Option<&'a str> {
        let source = self.source(source)?;
        let info = source.info();
        if !info.in_folder || !source.has_files() {
            return None;
        }
        if info.relative {
            return Some(id);
        }
        Some(id.strip_prefix(info.display_name.as_str()).unwrap_or(id).trim_start_matches('/'))
    }

    /// The path of the folder that the ids of files are relative to; `None` unless one folder is
    /// the only input.
    pub fn id_folder(&self) -> Option<&str> {
        let inputs = self.inputs.sources.iter().take(self.inputs.first_reference as usize);
        let mut files = inputs.filter(|source| source.has_files());
        let info = files.find(|source| source.info().in_folder)?.info();
        info.relative.then_some(info.display_name.as_str())
    }

    /// Whether a source is a file of records that was found in a folder.
    pub fn is_found_record_file(&self, source: u32) -> bool {
        self.source(source).is_some_and(|source| source.info().in_folder && !source.has_files())
    }

    /// Makes the ids of records found in folders begin with the name of their file and a slash, as
    /// in `2024.jsonl/17`, from the next block on.
    pub fn name_ids_by_file(&self) {
        self.inputs.settings.ids_by_file.store(true, Ordering::Relaxed);
    }

    /// Whether [`name_ids_by_file`](Self::name_ids_by_file) was called.
    pub fn has_ids_by_file(&self) -> bool {
        self.inputs.settings.ids_by_file.load(Ordering::Relaxed)
    }

    /// Starts reading from the first block again. No other thread may be reading, and there must be
    /// no [`stream`](Self::stream).
    pub fn rewind(&self) {
        self.inputs.sources.iter().for_each(|source| source.rewind());
        self.lanes.iter().for_each(Lane::rewind);
        self.first.store(0, Ordering::Relaxed);
        self.inputs.settings.consumed.store(0, Ordering::Relaxed);
    }

    /// Files of a folder that are named like files of records, but are read as texts because they
    /// lack the columns. Each has its reason.
    pub fn read_as_text(&self) -> &[SkippedItem] {
        &self.inputs.as_text
    }

    /// The sources whose records have no id, so that ids are line numbers although
    /// [`ReadOptions::line_ids`] is not set. Known for a source after its first block.
    pub fn line_ids(&self) -> Vec<String> {
        let sources = self.inputs.sources.iter().filter(|source| source.has_line_ids());
        sources.map(|source| source.info().display_name.clone()).collect()
    }

    /// The header of a source of separated values. Known after its first block.
    pub fn header(&self, source: u32) -> Option<&CsvHeader> {
        self.source(source)?.header()
    }

    /// Every file that is read, source by source, with its state when the collection was opened.
    /// Excludes streams.
    pub fn inputs(&self) -> Vec<InputStamp> {
        let named =
            |(path, Stamp { bytes, modified })| InputStamp { name: name_of(path), bytes, modified };
        self.files().map(named).collect()
    }

    /// Every file that is read, source by source, with its state when the collection was opened.
    pub fn files(&self) -> impl Iterator<Item = (&Path, Stamp)> {
        self.inputs.sources.iter().flat_map(|source| source.stamps())
    }

    /// Checks the size and time of every file again, with one system call for each.
    ///
    /// # Errors
    /// [`ReadError::InputChanged`] for the first file that no longer exists or has changed since
    /// the collection was opened.
    pub fn check_unchanged(&self) -> Result<(), ReadError> {
        for (path, before) in self.files() {
            let after = std::fs::metadata(path).map(|metadata| Stamp::of(&metadata));
            if after.as_ref().ok() != Some(&before) {
                let source_name = name_of(path);
                return Err(ReadError::InputChanged { source_name, before, after });
            }
        }
        Ok(())
    }

    /// The first source that another run could not read again: standard input, a pipe, an index, or
    /// documents in memory.
    pub fn stream(&self) -> Option<&str> {
        let streams = self.inputs.sources.iter().filter(|source| source.is_stream());
        streams.map(|source| source.info().display_name.as_str()).next()
    }

    /// The changes to the texts before they are divided into shingles.
    pub fn normalization(&self) -> Normalization {
        self.inputs.settings.options.normalization
    }

    /// Returns true if bad records are skipped and listed.
    pub fn skips_bad(&self) -> bool {
        self.inputs.settings.options.skip_bad
    }

    /// Returns true if texts are normalized before they are divided into shingles.
    pub fn normalizes(&self) -> bool {
        !self.normalization().is_none()
    }

    /// The field or column with the texts.
    pub fn text_field(&self) -> &str {
        &self.inputs.settings.options.text_field
    }

    /// The unit of comparison.
    pub fn unit(&self) -> TextUnit {
        self.inputs.settings.options.unit
    }

    /// Appends a record of a source, or the bytes of a text file, to `out`, without the ranges
    /// `removed` of its text. They must be ascending and disjoint. All other bytes are unchanged.
    /// Returns `false` if the record does not contain `text` verbatim, because it has another
    /// encoding or was extracted.
    pub fn cut_text(
        &self,
        source: u32,
        record: &[u8],
        text: &str,
        removed: &[Range<usize>],
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(source) = self.source(source) else { return false };
        let options = &self.inputs.settings.options;
        let copy =
            |record: &[u8], copier: &mut KeptCopier<'_>| source.copy_text(record, options, copier);
        text_cut::cut(copy, record, text, removed, out)
    }

    /// The options of reading, as text that is equal for equal options.
    pub fn reading(&self) -> &str {
        &self.reading
    }

    /// Restores a block from its [`RetainedBlock::state`], which must come from a collection of the
    /// same inputs and options. `spool` is the spool to which the block's bytes were written; it
    /// must still contain them.
    ///
    /// # Errors
    /// [`ReadError::Changed`] if this collection has no such block, and errors of reading a table's
    /// header, which is read once.
    pub fn retained(
        &self,
        state: RetainedState,
        spool: Option<&Arc<Spool>>,
    ) -> Result<RetainedBlock, ReadError> {
        let Some(source) = self.source(state.number.source) else {
            return Err(ReadError::Changed {
                source_name: format!("source {}", state.number.source),
                line: None,
                what: format!("a stored block is of it, there are {}", self.inputs.sources.len()),
            });
        };
        let info = source.info();
        let content: Option<Box<dyn BlockContent>> = if state.is_nothing() {
            Some(Box::new(NoDocuments { source: info.display_name.clone(), skipped: None }))
        } else {
            // `restore` sets the rule for ids, so that `read_header` need not read the file for it.
            let content = Arc::clone(source).restore(&state, spool);
            source.read_header()?;
            content
        };
        let content = content.ok_or_else(|| ReadError::Changed {
            source_name: info.display_name.clone(),
            line: None,
            what: "the stored block is not one of it".to_owned(),
        })?;
        let block = Block::new(Arc::clone(info), state.number.index, content);
        Ok(RetainedBlock { block, parts: None })
    }

    /// The next block of the first source (or row group) that no other thread is reading; `None`
    /// after the last block. Can be called from any number of threads. Reads and decompresses the
    /// block; [`Block::read`] parses it.
    ///
    /// # Errors
    /// A [`ReadError`] if a file cannot be opened, read or decompressed, if its header lacks a
    /// column, or if a record is too long. The source then has no more blocks.
    pub fn next_block(&self) -> Result<Option<Block>, ReadError> {
        loop {
            let mut busy = None;
            let first = self.first.load(Ordering::Relaxed);
            for lane in self.lanes.iter().skip(first).filter(|lane| !lane.is_finished()) {
                let Some(state) = lane.try_lock() else {
                    busy = busy.or(Some(lane));
                    continue;
                };
                if let Some(block) = self.take(lane.next(state))? {
                    return Ok(Some(block));
                }
            }
            let Some(lane) = busy else { return Ok(None) };
            if let Some(block) = self.take(lane.next(lane.lock()))? {
                return Ok(Some(block));
            }
        }
    }

    /// The next block in reading order; `None` after the last block. Other threads wait meanwhile,
    /// so that decompression is not parallel.
    ///
    /// # Errors
    /// As [`next_block`](Self::next_block).
    pub fn next_block_in_order(&self) -> Result<Option<Block>, ReadError> {
        for lane in self.lanes.iter().filter(|lane| !lane.is_finished()) {
            if let Some(block) = self.take(lane.next(lane.lock()))? {
                return Ok(Some(block));
            }
        }
        Ok(None)
    }

    /// Passes the next block of a lane on. At the end of the lane, excludes finished lanes from
    /// later searches.
    fn take(&self, next: Result<Option<Block>, ReadError>) -> Result<Option<Block>, ReadError> {
        if !matches!(next, Ok(Some(_))) {
            let first = self.lanes.iter().take_while(|lane| lane.is_finished()).count();
            self.first.fetch_max(first, Ordering::Relaxed);
        }
        next
    }
}
