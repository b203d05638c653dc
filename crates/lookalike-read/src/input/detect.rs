//! Converts named inputs to sources: detects the kind of each input, and how it is read.

use crate::bytes::decompress::{peek, strip};
use crate::bytes::{ByteStream, Compression, encoding};
use crate::error::{ReadError, SkipReason, SkippedItem, TableProblem, unreadable};
use crate::file::{DocumentFile, name_of, zip_files};
use crate::input::reached_files::ReachedFiles;
use crate::input::sniff::{
    first_bytes, format_of, has_lines_of_json, is_json_array, is_jsonl, is_parquet, of_kind, sniff,
};
use crate::input::walk::{self, FolderFile};
use crate::measure::Stamp;
use crate::options::{Format, ReadOptions, SourceInfo, SourceSettings};
#[cfg(feature = "parquet")]
use crate::source::row_groups::ParquetSource;
use crate::source::{
    FileSource, InMemoryDocuments, InMemorySource, IndexContent, IndexSource, RecordInput,
    RecordSource, Source,
};
use crate::text::TextUnit;
use lookalike_index::index::{self, Access, Index, IndexLocation};
use lookalike_index::settings::StoredContent;
use lookalike_index::time;
use parking_lot::Mutex;
use std::fs::{self, File};
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of bytes of a stream, before decompression, from which its format is detected. zstd
/// returns the first text only after a block of up to 128 KiB.
const SNIFFED_STREAM_BYTES: u64 = 256 << 10;

/// One side of a comparison: the documents to compare, or the references.
#[derive(Clone, Copy)]
pub enum Side<'a> {
    /// Files, folders, pipes and `-`. For references also indexes, by folder or database address.
    Paths(&'a [PathBuf]),
    /// Collections of documents in memory. Each collection becomes one source.
    InMemory(&'a [InMemoryDocuments]),
    /// The documents of an index.
    Index(&'a IndexLocation),
}

/// All inputs.
pub(crate) struct OpenedInputs {
    pub(crate) sources: Vec<Arc<dyn Source>>,
    /// The first source that is a reference.
    pub(crate) first_reference: u32,
    pub(crate) settings: Arc<SourceSettings>,
    pub(crate) listed: Vec<SkippedItem>,
    /// Files of a folder that are read as texts instead of records, with the reason.
    pub(crate) as_text: Vec<SkippedItem>,
    pub(crate) bytes: Option<u64>,
}

impl OpenedInputs {
    pub(crate) fn new(settings: SourceSettings) -> Self {
        Self {
            sources: Vec::new(),
            first_reference: 0,
            settings: Arc::new(settings),
            listed: Vec::new(),
            as_text: Vec::new(),
            bytes: Some(0),
        }
    }

    /// The description of the next source, which is not a file.
    pub(crate) fn unnamed(&self, name: &str) -> Arc<SourceInfo> {
        Arc::new(self.info(PathBuf::new(), name.to_owned()))
    }

    /// The description of the next source, whose name in ids and in messages is `name`.
    fn info(&self, path: PathBuf, name: String) -> SourceInfo {
        SourceInfo {
            number: self.sources.len() as u32,
            path,
            display_name: name.clone(),
            name,
            stamp: None,
            in_folder: false,
            relative: false,
            settings: Arc::clone(&self.settings),
        }
    }
}

pub(crate) fn open(
    inputs: Side<'_>,
    reference: Side<'_>,
    options: &ReadOptions,
    block_bytes: usize,
) -> Result<OpenedInputs, ReadError> {
    if !options.normalization.is_supported() || !options.unit.is_supported() {
        return Err(ReadError::NotBuilt { feature: "scripts" });
    }
    let encoding = options.encoding.as_deref().map(encoding::by_label).transpose()?;
    let settings = SourceSettings::new(options.clone(), encoding, block_bytes);
    let opened = OpenedInputs::new(settings);
    let mut opener = Opener {
        options,
        is_reference: false,
        is_only_input: false,
        named: Vec::new(),
        reached: ReachedFiles::default(),
        references: reference_files(reference, options)?,
        opened,
    };
    if matches!(inputs, Side::Paths([]) | Side::InMemory([])) {
        return Err(ReadError::NoInputs);
    }
    opener.side(inputs)?;
    opener.opened.first_reference = opener.opened.sources.len() as u32;
    opener.is_reference = true;
    opener.side(reference)?;
    Ok(opener.opened)
}

/// The files of the references. An input folder may contain them, but a file is not compared with
/// itself.
fn reference_files(reference: Side<'_>, options: &ReadOptions) -> Result<ReachedFiles, ReadError> {
    let mut files = ReachedFiles::new(true);
    let Side::Paths(paths) = reference else { return Ok(files) };
    for path in paths {
        if path.is_file() {
            files.is_new(path, None);
        } else if path.is_dir() && IndexLocation::among_inputs(path).is_none() {
            for found in walk::walk(path, options)?.files {
                files.is_new(&found.path, Some(found.is_link));
            }
        }
    }
    Ok(files)
}

struct Opener<'a> {
    options: &'a ReadOptions,
    /// Whether the references are being opened.
    is_reference: bool,
    /// Whether there is only one input, or only one reference.
    is_only_input: bool,
    /// Consecutive named text files, which become one source.
    named: Vec<DocumentFile>,
    /// The files that were reached on the current side.
    reached: ReachedFiles,
    references: ReachedFiles,
    opened: OpenedInputs,
}

impl Opener<'_> {
    fn side(&mut self, side: Side<'_>) -> Result<(), ReadError> {
        match side {
            Side::Paths(paths) => {
                self.is_only_input = paths.len() == 1;
                self.reached = ReachedFiles::new(!self.is_only_input || self.options.follow_links);
                for path in paths {
                    self.input(path)?;
                }
                self.flush();
            }
            Side::Index(location) => {
                self.opened.bytes = None;
                self.index(location)?;
            }
            Side::InMemory(all) => {
                for documents in all {
                    self.add_bytes(documents.bytes());
                    let info = self.opened.unnamed(&documents.name);
                    let source = InMemorySource::new(info, Arc::clone(&documents.rows));
                    self.opened.sources.push(Arc::new(source));
                }
            }
        }
        Ok(())
    }

    fn input(&mut self, path: &Path) -> Result<(), ReadError> {
        let display_name = name_of(path);
        if path == Path::new("-") {
            if self.opened.sources.iter().any(|source| source.info().display_name == "stdin") {
                return Err(ReadError::StdinTwice);
            }
            return self.stream(path, "stdin".to_owned(), Box::new(io::stdin()));
        }
        if self.is_reference
            && let Some(location) = IndexLocation::among_inputs(path)
        {
            return self.index(&location);
        }
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => ReadError::Missing { path: display_name.clone() },
            _ => ReadError::Io { source_name: display_name.clone(), error },
        };
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            return self.folder(path, &display_name);
        }
        if !metadata.is_file() {
            let file = File::open(path).map_err(failed)?;
            return self.stream(path, display_name, Box::new(file));
        }
        if !self.claim(path, None) {
            return Ok(());
        }
        let (by_name, stem) = Compression::of_name(&display_name);
        let (compression, format) = match self.options.format {
            Some(format @ (Format::Text | Format::File)) => (by_name, format),
            requested => {
                let sniffed = sniff(path, by_name, &self.opened.settings).map_err(failed)?;
                let (compression, head) = sniffed;
                let found = || format_of(stem, Format::of_name(stem), &head);
                (compression, requested.unwrap_or_else(found))
            }
        };
        let stamp = Stamp::of(&metadata);
        self.add_bytes(stamp.bytes);
        if matches!(format, Format::Text | Format::File) {
            let files = self.files(path.to_owned(), display_name, stamp, format, true)?;
            self.named.extend(files);
        } else {
            self.flush();
            let info = self.record_info(path, display_name, Some(stamp));
            self.push_records(&info, format, RecordInput::File(compression))?;
        }
        Ok(())
    }

    /// Adds the current documents of an index.
    fn index(&mut self, location: &IndexLocation) -> Result<(), ReadError> {
        let index = index::open(location, Access::Read)?;
        let content = self.index_content(&index)?;
        self.flush();
        let info = self.opened.unnamed(index.name());
        let metadata = !self.options.fields.is_empty();
        let source = IndexSource::open(info, &index, time::now(), metadata, content)?;
        self.opened.sources.push(Arc::new(source));
        Ok(())
    }

    /// The content to read: shingle sets if the run has the same shingles, otherwise texts.
    fn index_content(&self, index: &Index) -> Result<IndexContent, ReadError> {
        let Some(shingle) = &self.options.shingle else { return Ok(IndexContent::Texts) };
        let normalization = self.options.normalization.to_string();
        match index.check_shingles(shingle, &normalization) {
            Ok(()) if self.options.unit == TextUnit::Document => Ok(IndexContent::Sets),
            Err(error) if index.settings().store == StoredContent::Sets => Err(error.into()),
            _ => Ok(IndexContent::Texts),
        }
    }

    /// Returns the members of a ZIP archive, or any other file itself.
    fn files(
        &mut self,
        path: PathBuf,
        id: String,
        stamp: Stamp,
        format: Format,
        named: bool,
    ) -> Result<Vec<DocumentFile>, ReadError> {
        if !cfg!(feature = "archive") || format != Format::File || strip(&id, ".zip").is_none() {
            return Ok(vec![DocumentFile::new(path, id, stamp, named)]);
        }
        let skipped = |reason| SkippedItem::whole(name_of(&path), reason).with_id(&id);
        match zip_files(&path, &id, stamp, &self.options.extract.limits) {
            Ok((files, refused)) => {
                if files.is_empty() && refused.is_empty() {
                    self.opened.listed.push(skipped(SkipReason::NoContent));
                }
                self.opened.listed.extend(refused);
                Ok(files)
            }
            Err(reason) => {
                let skipped = self.opened.settings.reject_file(named, skipped(reason))?;
                self.opened.listed.push(skipped);
                Ok(Vec::new())
            }
        }
    }

    fn add_bytes(&mut self, bytes: u64) {
        self.opened.bytes = self.opened.bytes.map(|sum| sum + bytes);
    }

    /// Combines the text files named so far into one source.
    fn flush(&mut self) {
        let files = std::mem::take(&mut self.named);
        if let Some(first) = files.first() {
            let info = Arc::new(self.opened.info(first.path.clone(), first.id.clone()));
            self.opened.sources.push(Arc::new(FileSource::new(info, files)));
        }
    }

    /// Adds a file or stream of records. An unreadable table is listed if it was found in a folder,
    /// or if bad records are skipped. Otherwise, it is an error.
    fn push_records(
        &mut self,
        info: &Arc<SourceInfo>,
        format: Format,
        origin: RecordInput,
    ) -> Result<(), ReadError> {
        match open_records(info, format, origin) {
            Ok(source) => self.opened.sources.push(source),
            Err(error) if info.is_lenient() => {
                let skipped = error.into_skipped()?.with_id(&info.name);
                self.opened.listed.push(skipped);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The description of the next source, a file of records called `name`.
    fn record_info(&self, path: &Path, name: String, stamp: Option<Stamp>) -> Arc<SourceInfo> {
        let display_name = name_of(path);
        Arc::new(SourceInfo { display_name, stamp, ..self.opened.info(path.to_owned(), name) })
    }

    /// The description of the next source, which was found in a folder.
    fn found_info(&self, info: SourceInfo) -> Arc<SourceInfo> {
        Arc::new(SourceInfo { in_folder: true, relative: self.is_only_input, ..info })
    }

    /// Adds standard input or a pipe. Detects the compression from the first bytes, and also the
    /// format if the options name none.
    fn stream(
        &mut self,
        path: &Path,
        display_name: String,
        stream: ByteStream,
    ) -> Result<(), ReadError> {
        let failed = |error| ReadError::Io { source_name: display_name.clone(), error };
        let (head, mut stream) = peek(stream, 4).map_err(failed)?;
        if is_parquet(&head) || self.options.format == Some(Format::Parquet) {
            let problem = TableProblem::ParquetStream;
            return Err(ReadError::Table { source_name: display_name, problem });
        }
        let compression = Compression::of_magic(&head);
        let format = if let Some(format) = self.options.format {
            // `Format::File` would read the input twice to detect its kind. A stream is therefore
            // read as one text.
            if format == Format::File { Format::Text } else { format }
        } else {
            let (head, restored) = peek(stream, SNIFFED_STREAM_BYTES).map_err(failed)?;
            stream = restored;
            let head = first_bytes(compression.decode(Cursor::new(head), u64::MAX));
            let head = head.map_err(failed)?;
            match of_kind("", &head) {
                Some(format) => format,
                None if head.is_empty() || is_jsonl(&head) => Format::Jsonl,
                None if is_json_array(&head) => Format::Json,
                None => return Err(ReadError::FormatNeeded { source_name: display_name }),
            }
        };
        self.opened.bytes = None;
        self.flush();
        let info = Arc::new(self.opened.info(path.to_owned(), display_name));
        self.push_records(&info, format, RecordInput::Stream(compression, Mutex::new(Some(stream))))
    }

    fn folder(&mut self, folder: &Path, display_name: &str) -> Result<(), ReadError> {
        let listing = walk::walk(folder, self.options)?;
        if listing.files.is_empty() {
            let count = |reason: SkipReason| {
                listing.skipped.iter().filter(|skipped| skipped.reason == reason).count()
            };
            let hidden = count(SkipReason::Hidden);
            let ignored = count(SkipReason::Ignored);
            let filters: [&[String]; 3] =
                [&self.options.include, &self.options.exclude, &self.options.types];
            let filtered = if filters.iter().all(|filter| filter.is_empty()) {
                0
            } else {
                let options = ReadOptions {
                    include: Vec::new(),
                    exclude: Vec::new(),
                    types: Vec::new(),
                    ..self.options.clone()
                };
                walk::walk(folder, &options)?.files.len()
            };
            return Err(ReadError::NoFiles {
                path: display_name.to_owned(),
                hidden,
                ignored,
                other: listing.skipped.len() - hidden - ignored,
                filtered,
            });
        }
        self.opened.listed.extend(listing.skipped);
        let mut texts = Vec::new();
        let mut records = Vec::new();
        for found in listing.files {
            if !self.claim(&found.path, Some(found.is_link)) {
                continue;
            }
            let stamp = found.stamp;
            self.add_bytes(stamp.bytes);
            let id = if self.is_only_input { found.name.clone() } else { name_of(&found.path) };
            let format = self.found_format(&found, &id)?;
            match format {
                None => {}
                Some((_, Format::File)) if stamp.bytes == 0 => {
                    texts.push(DocumentFile::new(found.path, id, stamp, false));
                }
                Some((_, format @ (Format::Text | Format::File))) => {
                    texts.extend(self.files(found.path, id, stamp, format, false)?);
                }
                Some((compression, format)) => {
                    records.push((found.path, id, stamp, compression, format));
                }
            }
        }
        if !texts.is_empty() {
            self.flush();
            let info =
                self.found_info(self.opened.info(folder.to_owned(), display_name.to_owned()));
            self.opened.sources.push(Arc::new(FileSource::new(info, texts)));
        }
        for (path, name, stamp, compression, format) in records {
            self.flush();
            let display_name = name_of(&path);
            let stamp = Some(stamp);
            let info = SourceInfo { display_name, stamp, ..self.opened.info(path, name) };
            let info = self.found_info(info);
            self.push_records(&info, format, RecordInput::File(compression))?;
        }
        Ok(())
    }

    /// Marks a file as reached. Returns false and lists the file if an earlier input or a reference
    /// is the same file.
    fn claim(&mut self, path: &Path, is_link: Option<bool>) -> bool {
        if !self.is_reference && self.references.contains(path, is_link) {
            self.list(path, SkipReason::IsReference);
            return false;
        }
        let is_new = self.reached.is_new(path, is_link);
        if !is_new {
            self.list(path, SkipReason::ReachedTwice);
        }
        is_new
    }

    /// Lists a file that is not read.
    fn list(&mut self, path: &Path, reason: SkipReason) {
        self.opened.listed.push(SkippedItem::whole(name_of(path), reason));
    }

    /// Determines how a file of a folder is read; `None` if it cannot be read and is listed.
    /// Without a requested format, opens only files whose names promise records. The kind of other
    /// files is detected when they are read.
    fn found_format(
        &mut self,
        found: &FolderFile,
        id: &str,
    ) -> Result<Option<(Compression, Format)>, ReadError> {
        let (named, stem) = Compression::of_name(&found.name);
        let by_name = Format::of_name(stem).filter(|format| match format {
            // An empty file is an empty document, whatever its name.
            _ if found.stamp.bytes == 0 => false,
            Format::Parquet => named == Compression::None,
            Format::Text | Format::File | Format::Lines => false,
            _ => true,
        });
        let is_json = strip(stem, ".json").is_some() && found.stamp.bytes > 0;
        let requested = self.options.format;
        if matches!(requested, Some(Format::Text | Format::File))
            || (requested.is_none() && by_name.is_none() && !is_json)
        {
            return Ok(Some((named, requested.unwrap_or(Format::File))));
        }
        let (compression, head) = match sniff(&found.path, named, &self.opened.settings) {
            Ok(sniffed) => sniffed,
            Err(error) => {
                let skipped = SkippedItem::whole(name_of(&found.path), unreadable(&error));
                self.opened.listed.push(skipped.with_id(id));
                return Ok(None);
            }
        };
        let format = requested.unwrap_or_else(|| format_of(stem, by_name, &head));
        let is_checked = matches!(format, Format::Csv | Format::Tsv | Format::Jsonl | Format::Json);
        let format = match format {
            format if requested.is_some() || !is_checked => Some(format),
            format if is_json => {
                let has_records = format == Format::Json || has_lines_of_json(&head);
                Some(self.json_format(&found.path, id, (compression, format), has_records)?)
            }
            format => self.record_format(&found.path, id, compression, format)?,
        };
        Ok(format.map(|format| (compression, format)))
    }

    /// The format of a `.json` file in a folder: records if the first one has the fields, otherwise
    /// a text. `has_records` is false for a single object, such as settings, which needs no
    /// warning.
    fn json_format(
        &mut self,
        path: &Path,
        id: &str,
        (compression, format): (Compression, Format),
        has_records: bool,
    ) -> Result<Format, ReadError> {
        let info = SourceInfo {
            display_name: name_of(path),
            ..self.opened.info(path.to_owned(), id.to_owned())
        };
        let info = self.found_info(info);
        let source = RecordSource::new(info, format, RecordInput::File(compression));
        let Err(error) = source.check_first_record(true) else { return Ok(format) };
        let skipped = error.into_skipped()?.with_id(id);
        let is_object = matches!(
            skipped.reason,
            SkipReason::MissingField { .. } | SkipReason::WrongType { .. }
        );
        if has_records && is_object {
            self.opened.as_text.push(skipped);
        }
        Ok(Format::File)
    }

    /// Returns the format of a file in a folder. The file's name must promise a table or JSON. A
    /// table without the columns is a text. `None` means that the file cannot be read and is
    /// listed.
    fn record_format(
        &mut self,
        path: &Path,
        id: &str,
        compression: Compression,
        format: Format,
    ) -> Result<Option<Format>, ReadError> {
        let info = self.record_info(path, id.to_owned(), None);
        let source = RecordSource::new(info, format, RecordInput::File(compression));
        let found = match format {
            Format::Jsonl | Format::Json if self.options.skip_bad => Ok(()),
            Format::Jsonl | Format::Json => source.check_first_record(false),
            _ => source.read_header(),
        };
        let Err(error) = found else { return Ok(Some(format)) };
        let lacks_columns =
            matches!(error, ReadError::Table { problem: TableProblem::Column { .. }, .. });
        let skipped = error.into_skipped()?.with_id(id);
        if lacks_columns {
            self.opened.as_text.push(skipped);
            return Ok(Some(Format::File));
        }
        self.opened.listed.push(skipped);
        Ok(None)
    }
}

/// Opens a file or stream of records.
fn open_records(
    info: &Arc<SourceInfo>,
    format: Format,
    origin: RecordInput,
) -> Result<Arc<dyn Source>, ReadError> {
    if format != Format::Parquet {
        return Ok(Arc::new(RecordSource::new(Arc::clone(info), format, origin)));
    }
    let refused = |problem| ReadError::Table { source_name: info.display_name.clone(), problem };
    if !matches!(origin, RecordInput::File(Compression::None)) {
        return Err(refused(TableProblem::ParquetStream));
    }
    #[cfg(feature = "parquet")]
    return Ok(Arc::new(ParquetSource::open(Arc::clone(info))?));
    #[cfg(not(feature = "parquet"))]
    return Err(refused(TableProblem::NoParquet));
}
