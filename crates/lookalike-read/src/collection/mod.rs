//! The opened inputs, and how threads share them.

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

/// Bytes of records or text files read at a time: enough to make the lock cheap, and little enough
/// to stay in a core's cache until it is parsed.
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

/// The options that decide which documents there are, in words.
fn reading(options: &ReadOptions) -> String {
    let mut options = ReadOptions { leave_out: Vec::new(), shingle: None, ..options.clone() };
    // The process that reads a file does not change its documents.
    options.extract.worker = None;
    // Runs that compare documents have the name from before units existed.
    format!("{options:?}").replace(", unit: Document }", " }")
}

impl Collection {
    /// Opens files, folders and `-` (standard input). Folders are walked here, once; nothing but
    /// the first bytes of some files, and the footers of Parquet files, is read.
    ///
    /// # Errors
    /// A [`ReadError`] when an input is missing, cannot be opened, is a folder without a file to
    /// read, or when its format or an option has no meaning.
    pub fn open(inputs: &[PathBuf], options: &ReadOptions) -> Result<Self, ReadError> {
        Self::open_with_reference(inputs, &[], options)
    }

    /// Also opens files and folders of documents to compare with. Their sources are numbered after
    /// the inputs, and each side has its ids as if it were alone: a text file's is relative to its
    /// folder where that is the only one of its side.
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

    /// As [`open_with_reference`](Self::open_with_reference), with documents in memory on either
    /// side. The options about texts, `fields` and `skip_bad` count for them.
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
    /// 1970). They come by number, with their shingle sets instead of texts. `fields` are members
    /// of their metadata, given as [`Document::fields`](crate::Document::fields).
    ///
    /// # Errors
    /// [`IndexError::NoSets`] for an index that keeps no shingle sets, and what keeps it from being
    /// read.
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

    /// Divides the blocks into `count` shares of about equal bytes, in reading order, for processes
    /// that read one share each. A file of records, or a row group, is in one share; so some are
    /// empty where there are few files.
    pub fn divide(&self, count: NonZeroU32) -> Vec<Vec<LaneRange>> {
        let ranges = self.inputs.sources.iter().flat_map(|source| source.lane_ranges());
        lane_range::divide(&ranges.collect::<Vec<_>>(), count)
    }

    /// Gives out only the blocks of a share that [`divide`](Self::divide) made for a collection of
    /// the same inputs and options. Everything else is unchanged, including the numbers of blocks.
    ///
    /// # Errors
    /// [`ReadError::Changed`] when there is no such lane.
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

    /// Bytes of all files on the disk, compressed where they are; `None` with streams among them.
    pub fn bytes(&self) -> Option<u64> {
        self.inputs.bytes
    }

    /// Bytes of memory that documents by row take for good and that a limit on memory includes
    /// ([`DocumentRows::held_bytes`](crate::DocumentRows::held_bytes)).
    pub fn held_bytes(&self) -> u64 {
        self.inputs.sources.iter().map(|source| source.held_bytes()).sum()
    }

    /// How many of [`bytes`](Self::bytes) have been read, for progress.
    pub fn bytes_read(&self) -> u64 {
        self.inputs.settings.consumed.load(Ordering::Relaxed)
    }

    /// What the walks of the folders left out, sorted by path within each folder: hidden and
    /// ignored files, links, pipes, what the system refused. Not part of what sinks are given.
    pub fn listed(&self) -> &[SkippedItem] {
        &self.inputs.listed
    }

    fn source(&self, number: u32) -> Option<&Arc<dyn Source>> {
        self.inputs.sources.get(number as usize)
    }

    /// The id of the document that a unit is part of; the id of a document itself.
    fn document_id<'a>(&self, id: &'a str) -> &'a str {
        if self.unit() == TextUnit::Document { id } else { parent_id(id) }
    }

    /// The name of a source: its file, the folder, or `stdin`.
    pub fn source_name(&self, source: u32) -> Option<&str> {
        self.source(source).map(|source| source.info().shown.as_str())
    }

    /// How many sources there are: files of records, streams, and folders of text files.
    pub fn sources(&self) -> u32 {
        self.inputs.sources.len() as u32
    }

    /// Whether there is a source to compare with.
    pub fn has_reference(&self) -> bool {
        self.inputs.first_reference < self.sources()
    }

    /// Whether a source is one to compare with.
    pub fn is_reference(&self, source: u32) -> bool {
        source >= self.inputs.first_reference
    }

    /// The format of a source; [`Format::Text`] for text files, `None` for an index and for
    /// documents in memory.
    pub fn source_format(&self, source: u32) -> Option<Format> {
        self.source(source)?.format()
    }

    /// The file of a source of records, or for text files the first of them or their folder; `None`
    /// for a stream, an index and documents in memory.
    pub fn source_path(&self, source: u32) -> Option<&Path> {
        let source = self.source(source)?;
        (!source.is_stream()).then(|| source.info().path.as_path())
    }

    /// Reads the headers of all files of comma- or tab-separated values.
    ///
    /// # Errors
    /// A [`ReadError`] when a file cannot be read or lacks a column, unless that is listed when the
    /// file is read.
    pub fn read_headers(&self) -> Result<(), ReadError> {
        self.inputs.sources.iter().try_for_each(|source| match source.read_header() {
            Err(error) if source.info().is_lenient() => error.into_skipped().map(drop),
            read => read,
        })
    }

    /// Limits records, texts of compressed files and windows of zstd to what the memory of a run
    /// has room for: `bytes` each.
    pub fn limit_records(&self, bytes: u64) {
        self.inputs.settings.memory_record.store(bytes, Ordering::Relaxed);
    }

    /// Whether the documents of a source are in an index.
    pub fn is_index(&self, source: u32) -> bool {
        self.source(source).is_some_and(|source| source.is_index())
    }

    /// Whether the documents of a source are in memory, and in no file.
    pub fn is_in_memory(&self, source: u32) -> bool {
        self.source(source).is_some_and(|source| source.is_in_memory())
    }

    /// The file that contains a document, by its id, if the source consists of named files;
    /// otherwise the name of the source.
    pub fn file_of(&self, source: u32, id: &str) -> &str {
        let Some(source) = self.source(source) else { return "" };
        let id = self.document_id(id);
        source.named_file(id).unwrap_or(&source.info().shown)
    }

    /// The id of a document, or of the document that contains a unit, without the name of its file
    /// in front ([`name_ids_by_file`](Self::name_ids_by_file)).
    pub fn own_id<'a>(&self, source: u32, id: &'a str) -> &'a str {
        let id = self.document_id(id);
        let Some(info) = self.source(source).map(|source| source.info()) else { return id };
        let own = id.strip_prefix(info.name.as_str()).and_then(|rest| rest.strip_prefix('/'));
        own.filter(|_| info.has_ids_by_file()).unwrap_or(id)
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
        Some(id.strip_prefix(info.shown.as_str()).unwrap_or(id).trim_start_matches('/'))
    }

    /// The path of the folder that the ids of files are relative to; `None` unless one folder is
    /// the only input.
    pub fn id_folder(&self) -> Option<&str> {
        let inputs = self.inputs.sources.iter().take(self.inputs.first_reference as usize);
        let mut files = inputs.filter(|source| source.has_files());
        let info = files.find(|source| source.info().in_folder)?.info();
        info.relative.then_some(info.shown.as_str())
    }

    /// Whether a source is a file of records that was found in a folder.
    pub fn is_found_record_file(&self, source: u32) -> bool {
        self.source(source).is_some_and(|source| source.info().in_folder && !source.has_files())
    }

    /// From the next block on, ids of records found in folders begin with the name of their file
    /// and a slash: `2024.jsonl/17`.
    pub fn name_ids_by_file(&self) {
        self.inputs.settings.ids_by_file.store(true, Ordering::Relaxed);
    }

    /// Whether [`name_ids_by_file`](Self::name_ids_by_file) was called.
    pub fn has_ids_by_file(&self) -> bool {
        self.inputs.settings.ids_by_file.load(Ordering::Relaxed)
    }

    /// Gives all blocks out again. No other thread may be reading; there must be no
    /// [`stream`](Self::stream).
    pub fn rewind(&self) {
        self.inputs.sources.iter().for_each(|source| source.rewind());
        self.lanes.iter().for_each(Lane::rewind);
        self.first.store(0, Ordering::Relaxed);
        self.inputs.settings.consumed.store(0, Ordering::Relaxed);
    }

    /// Files of a folder that look like files of records by their names and are read as texts,
    /// since they lack the columns, each with the reason.
    pub fn read_as_text(&self) -> &[SkippedItem] {
        &self.inputs.as_text
    }

    /// The sources whose records have no id, so that ids are made of lines although
    /// [`ReadOptions::line_ids`] is not set; each is known when its first block is.
    pub fn line_ids(&self) -> Vec<String> {
        let sources = self.inputs.sources.iter().filter(|source| source.has_line_ids());
        sources.map(|source| source.info().shown.clone()).collect()
    }

    /// The header of a source of separated values; known when its first block is.
    pub fn header(&self, source: u32) -> Option<&CsvHeader> {
        self.source(source)?.header()
    }

    /// Every file that is read, source by source, with its state when the collection was opened.
    /// Streams are not among them.
    pub fn inputs(&self) -> Vec<InputStamp> {
        let named =
            |(path, Stamp { bytes, modified })| InputStamp { name: name_of(path), bytes, modified };
        self.files().map(named).collect()
    }

    /// Every file that is read, source by source, with its state when the collection was opened.
    pub fn files(&self) -> impl Iterator<Item = (&Path, Stamp)> {
        self.inputs.sources.iter().flat_map(|source| source.stamps())
    }

    /// Looks at the size and time of every file again: one question to the system for each.
    ///
    /// # Errors
    /// [`ReadError::InputChanged`] for the first file that is gone, or not what it was when the
    /// collection was opened.
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

    /// The first source that another run could not read the same: standard input, a pipe, an index,
    /// documents in memory.
    pub fn stream(&self) -> Option<&str> {
        let streams = self.inputs.sources.iter().filter(|source| source.is_stream());
        streams.map(|source| source.info().shown.as_str()).next()
    }

    /// What is done to the texts before they are cut.
    pub fn normalization(&self) -> Normalization {
        self.inputs.settings.options.normalization
    }

    /// Whether bad records are skipped and listed.
    pub fn skips_bad(&self) -> bool {
        self.inputs.settings.options.skip_bad
    }

    /// Whether texts are normalized before they are cut.
    pub fn normalizes(&self) -> bool {
        !self.normalization().is_none()
    }

    /// The field or column that holds texts.
    pub fn text_field(&self) -> &str {
        &self.inputs.settings.options.text_field
    }

    /// What is compared as a document.
    pub fn unit(&self) -> TextUnit {
        self.inputs.settings.options.unit
    }

    /// Appends a record of a source, or the bytes of a text file, to `out` without some ranges of
    /// its text, which are ascending and apart; all other bytes are unchanged. `false` if `text` is
    /// not in the record verbatim: a text in another encoding, or one that was extracted.
    pub fn cut_text(
        &self,
        source: u32,
        record: &[u8],
        text: &str,
        taken: &[Range<usize>],
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(source) = self.source(source) else { return false };
        let options = &self.inputs.settings.options;
        let copy =
            |record: &[u8], copier: &mut KeptCopier<'_>| source.copy_text(record, options, copier);
        text_cut::cut(copy, record, text, taken, out)
    }

    /// How the inputs are read, in words that are equal for equal options.
    pub fn reading(&self) -> &str {
        &self.reading
    }

    /// What [`RetainedBlock::state`] was made of, for a collection of the same inputs and options.
    /// `spool` is the one its bytes went to, whose length must not be less.
    ///
    /// # Errors
    /// [`ReadError::Changed`] when there is no such block here, and the errors of reading the
    /// header of a table, which is read once.
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
            Some(Box::new(NoDocuments { source: info.shown.clone(), skipped: None }))
        } else {
            // The block says how ids are made, which is then not read from the file.
            let content = Arc::clone(source).restore(&state, spool);
            source.read_header()?;
            content
        };
        let content = content.ok_or_else(|| ReadError::Changed {
            source_name: info.shown.clone(),
            line: None,
            what: "the stored block is not one of it".to_owned(),
        })?;
        let block = Block::new(Arc::clone(info), state.number.index, content);
        Ok(RetainedBlock { block, parts: None })
    }

    /// The next block of the first source, or row group of one, that no other thread is reading
    /// from; `None` when all has been given out. Call it from any number of threads until then.
    /// Reading (and decompressing) happens here, parsing in [`Block::read`].
    ///
    /// # Errors
    /// A [`ReadError`] when a file cannot be opened, read or decompressed, when its header lacks a
    /// column, or a record is too long. The source then has no more blocks.
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

    /// The next block in reading order; `None` when all has been given out.
    /// Other threads wait meanwhile, so that decompression is not shared among them.
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

    /// Passes the next block of a lane on; at its end leaves the finished lanes out of later
    /// searches.
    fn take(&self, next: Result<Option<Block>, ReadError>) -> Result<Option<Block>, ReadError> {
        if !matches!(next, Ok(Some(_))) {
            let first = self.lanes.iter().take_while(|lane| lane.is_finished()).count();
            self.first.fetch_max(first, Ordering::Relaxed);
        }
        next
    }
}
