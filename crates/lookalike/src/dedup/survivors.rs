//! Writes the records of a run in reading order, according to their outcomes. The output appears
//! when it is complete.

use super::annotation::{Annotate, AnnotationValues};
use super::destination::{Destination, DocumentOrigin, Shape};
use super::files::{FileListWriter, FolderWriter};
use super::non_documents::{Copier, Others, OthersCopied, UnreadParts};
#[cfg(feature = "parquet")]
use super::parquet::Rewriter;
use super::{SourceRecord, values};
use crate::dedup::cut_problem::CutPart;
use crate::dedup::cut_problem::CutProblem;
use crate::dedup::error::DedupError;
use crate::dedup::survivors_problem::SurvivorsProblem;
use crate::engine::Findings;
use crate::outcome::Outcome;
use crate::read::{Collection, CsvHeader, Format};
use crate::report::csv::CellRule;
use crate::report::{Output, OutputError};
use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Counts of the written documents and files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SurvivorCounts {
    /// Kept documents.
    pub kept: u64,
    /// Documents that are duplicates; written only with annotations.
    pub removed: u64,
    /// Documents that are removed because a list names them, not counted in `removed`; written only
    /// with annotations.
    pub dropped: u64,
    /// Documents that are kept without some of their units or words, or with an annotation that
    /// lists repeated words.
    pub changed: u64,
    /// Files in the output, including `others`; 1 if the output is a file.
    pub files: u64,
    /// Entries copied to a folder besides documents.
    pub others: OthersCopied,
}

impl SurvivorCounts {
    /// The counts that an output for these findings would have.
    pub fn of(findings: &Findings) -> Self {
        let counts = &findings.counts;
        Self {
            kept: counts.documents - counts.reference - counts.duplicates,
            removed: counts.duplicates,
            dropped: findings.dropped.map_or(0, |dropped| dropped.documents),
            ..Self::default()
        }
    }
}

/// The writer of survivors. Memory: a record; for Parquet, the current batch and column chunk.
pub struct Survivors {
    destination: Destination,
    annotate: Option<Annotate>,
    folder: Option<FolderWriter>,
    sink: SurvivorSink,
    /// The current source, as an index into the sources of the destination.
    at: Option<usize>,
    /// The header of the first file of separated values, and the name of that file.
    header: Option<(Vec<u8>, String)>,
    /// The delimiter of the current source.
    delimiter: Option<u8>,
    /// Whether the current array has an element.
    has_element: bool,
    line: Vec<u8>,
    written: SurvivorCounts,
    /// The file copied last, which may have several documents.
    copied: Option<PathBuf>,
    cells: CellRule,
    /// How to copy files without documents to a folder; `None` if they are not copied.
    others: Option<Others>,
    /// Files with a removed document, collected if `others` is set.
    duplicates: HashSet<PathBuf>,
    /// Whether rows that cannot be read again are listed instead of ending the run.
    skips_unreadable: bool,
}

/// A document that is kept without some of its parts.
pub(super) struct CutDocument<'a> {
    pub(super) id: &'a str,
    /// The kind of the removed parts.
    pub(super) part: CutPart,
    pub(super) record: SourceRecord<'a>,
    pub(super) collection: &'a Collection,
    /// The number of its source.
    pub(super) source: u32,
    /// Its text, as read from the input.
    pub(super) text: &'a str,
    /// The removed ranges of the text.
    pub(super) removed_ranges: &'a [Range<usize>],
}

impl CutDocument<'_> {
    /// Appends the record or file without the removed parts to `out`. Returns `false` if the record
    /// does not contain the text.
    fn cut(&self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        self.collection.cut_text(self.source, bytes, self.text, self.removed_ranges, out)
    }
}

/// The writer of the next record.
enum SurvivorSink {
    None,
    Lines(Output, Format),
    List(FileListWriter),
    #[cfg(feature = "parquet")]
    Parquet(Box<Rewriter>),
}

impl Survivors {
    /// Creates the temporary file or folder, which detects early that the place cannot be written.
    ///
    /// # Errors
    /// [`OutputError::Write`] if no file can be created at that place.
    pub fn create(
        destination: Destination,
        annotate: Option<Annotate>,
    ) -> Result<Self, DedupError> {
        let is_standard_output = destination.is_standard_output;
        Self::with(destination, annotate, |out| {
            if is_standard_output { Ok(Output::standard_output()) } else { Output::named(out) }
        })
    }

    fn with(
        destination: Destination,
        annotate: Option<Annotate>,
        output: impl FnOnce(&Path) -> Result<Output, OutputError>,
    ) -> Result<Self, DedupError> {
        let out = &destination.out;
        let mut folder = None;
        let sink = match destination.shape {
            Shape::Folder => {
                folder = Some(FolderWriter::create(out)?);
                SurvivorSink::None
            }
            Shape::List(format) => {
                SurvivorSink::List(FileListWriter::create(output(out)?, format, annotate.as_ref())?)
            }
            Shape::Records(format) => open(output(out)?, format, annotate.as_ref()),
        };
        let written =
            SurvivorCounts { files: u64::from(folder.is_none()), ..SurvivorCounts::default() };
        Ok(Self {
            destination,
            annotate,
            folder,
            sink,
            at: None,
            header: None,
            delimiter: None,
            has_element: false,
            line: Vec::new(),
            written,
            copied: None,
            cells: CellRule::Exact,
            others: None,
            duplicates: HashSet::new(),
            skips_unreadable: false,
        })
    }

    /// Lists rows of Parquet files that cannot be read again, if the collection skips bad records.
    /// Otherwise such a row ends the run.
    pub(super) fn follow(&mut self, collection: &Collection) {
        self.skips_unreadable = collection.skips_bad();
        #[cfg(feature = "parquet")]
        if let SurvivorSink::Parquet(rewriter) = &mut self.sink {
            rewriter.skips_unreadable = self.skips_unreadable;
        }
    }

    /// Sets how added texts are written as cells: annotations of tables, and lists of files in CSV.
    #[must_use]
    pub fn with_cells(mut self, cells: CellRule) -> Self {
        self.cells = cells;
        if let SurvivorSink::List(list) = &mut self.sink {
            list.set_cells(cells);
        }
        self
    }

    /// Also copies input files that contain no document to the output folder. By default, only
    /// documents are copied. A file whose documents are duplicates is also copied if a part of it
    /// could not be read. Has no effect if the output is a file.
    #[must_use]
    pub fn with_others(mut self, others: Others) -> Self {
        self.others = Some(others).filter(|_| self.folder.is_some());
        self
    }

    /// Whether all documents are written, with their outcomes.
    pub(super) fn is_annotated(&self) -> bool {
        self.annotate.is_some()
    }

    /// Copies the files selected by [`with_others`](Self::with_others).
    pub(super) fn copy_others(&mut self, findings: &Findings) -> Result<(), DedupError> {
        if self.folder.is_some() {
            // The last file must have its final name. Otherwise its input would also be copied.
            self.finish_file().map_err(|error| self.named(error))?;
        }
        let (Some(folder), Some(others)) = (&self.folder, &self.others) else { return Ok(()) };
        let unread = UnreadParts::new(&findings.skipped)?;
        let copier = Copier {
            destination: &self.destination,
            folder,
            others,
            duplicates: &self.duplicates,
            unread: &unread,
            copied: OthersCopied::default(),
            folders: Vec::new(),
        };
        let copied = copier.copy().map_err(|error| folder.named(error))?;
        self.written.files += copied.files;
        let unreadable = std::mem::replace(&mut self.written.others, copied).not_copied;
        self.written.others.not_copied.extend(unreadable);
        Ok(())
    }

    /// Starts all sources, writes no documents, and drops the writer. This shows before the run
    /// whether the sources fit into the output. Reads headers of files, but not of streams. Does
    /// not write to standard output.
    ///
    /// # Errors
    /// Errors of [`source`](Self::source), and of a header that cannot be read.
    pub fn check_writable(mut self, collection: &Collection) -> Result<(), DedupError> {
        if self.destination.is_standard_output {
            let Self { destination, annotate, .. } = self;
            self = Self::with(destination, annotate, |_| Ok(Output::discarding()))?;
        }
        self.follow(collection);
        collection.read_headers()?;
        for source in 0..collection.sources() {
            self.source(source as usize, collection.header(source))?;
        }
        Ok(())
    }

    /// Continues with the source `number` of the collection passed to [`Destination::new`]. The
    /// caller passes every source in order, even if it has no documents. `header` is the header of
    /// a file of separated values.
    ///
    /// # Errors
    /// [`DedupError::Survivors`] if a file cannot share an output with the files before it, and
    /// [`OutputError::Write`].
    pub fn source(&mut self, number: usize, header: Option<&CsvHeader>) -> Result<(), DedupError> {
        self.go_on_with(number, header).map_err(|error| self.named(error))
    }

    /// Replaces temporary paths of the folder in an error by final paths.
    fn named(&self, error: DedupError) -> DedupError {
        match &self.folder {
            Some(folder) => folder.named(error),
            None => error,
        }
    }

    fn go_on_with(&mut self, number: usize, header: Option<&CsvHeader>) -> Result<(), DedupError> {
        let Some(origin) = self.destination.origins.get(number).cloned() else {
            return Ok(());
        };
        self.at = Some(number);
        self.delimiter = header.map(|header| header.delimiter);
        if origin.reference {
            return Ok(());
        }
        if self.folder.is_some() {
            self.next_file(&origin)?;
        }
        match &mut self.sink {
            #[cfg(feature = "parquet")]
            SurvivorSink::Parquet(rewriter) => rewriter.source(&origin),
            SurvivorSink::Lines(..) => match header {
                Some(header) => self.header(&origin, &header.raw),
                None => Ok(()),
            },
            SurvivorSink::None | SurvivorSink::List(_) => Ok(()),
        }
    }

    /// In a folder: finishes the previous file and begins the file of this source.
    fn next_file(&mut self, origin: &DocumentOrigin) -> Result<(), DedupError> {
        self.finish_file()?;
        let Some(folder) = &self.folder else { return Ok(()) };
        if origin.is_files() {
            return Ok(());
        }
        let name = self.destination.name_of(origin, origin.path.as_deref())?;
        let output = Output::named(&folder.place(&name)?)?;
        self.sink = open(output, origin.format, self.annotate.as_ref());
        #[cfg(feature = "parquet")]
        if let SurvivorSink::Parquet(rewriter) = &mut self.sink {
            rewriter.skips_unreadable = self.skips_unreadable;
        }
        self.header = None;
        self.has_element = false;
        self.written.files += 1;
        Ok(())
    }

    fn finish_file(&mut self) -> Result<(), DedupError> {
        match std::mem::replace(&mut self.sink, SurvivorSink::None) {
            SurvivorSink::None => Ok(()),
            SurvivorSink::Lines(output, Format::Json) => {
                let end: &[u8] = if self.has_element { b"\n]\n" } else { b"[]\n" };
                Ok(output.finish(|out| out.write_all(end))?)
            }
            SurvivorSink::Lines(output, _) => Ok(output.finish(|_| Ok(()))?),
            SurvivorSink::List(list) => Ok(list.finish()?),
            #[cfg(feature = "parquet")]
            SurvivorSink::Parquet(rewriter) => {
                let unreadable = rewriter.finish()?;
                self.written.kept -= unreadable.kept;
                self.written.removed -= unreadable.removed;
                self.written.others.not_copied.extend(unreadable.listed);
                Ok(())
            }
        }
    }

    /// Writes the header of the first file, and compares the headers of later files with it.
    fn header(&mut self, origin: &DocumentOrigin, header: &[u8]) -> Result<(), DedupError> {
        if let Some((first, name)) = &self.header {
            if compared(first) == compared(header) {
                return Ok(());
            }
            let header_text =
                |header: &[u8]| String::from_utf8_lossy(compared(header)).into_owned();
            return Err(self.refused(format!(
                "{name} has the header {:?} and {} has {:?}: one file cannot hold both; end the \
                 name with {} to have a folder with a file for each",
                header_text(first),
                origin.name,
                header_text(header),
                std::path::MAIN_SEPARATOR
            )));
        }
        self.header = Some((header.to_owned(), origin.name.clone()));
        self.line.clear();
        match (&self.annotate, self.delimiter) {
            (Some(annotate), Some(delimiter)) => {
                let columns = annotate.columns();
                self.new_columns(origin, header, delimiter, &columns)?;
                let (record, end) = values::split_end(header);
                values::separated(delimiter, record, &columns, &mut self.line);
                self.line.extend_from_slice(end);
            }
            _ => self.line.extend_from_slice(header),
        }
        self.end_line()
    }

    /// Refuses to add columns that exist already.
    fn new_columns(
        &self,
        origin: &DocumentOrigin,
        header: &[u8],
        delimiter: u8,
        columns: &[String],
    ) -> Result<(), DedupError> {
        let mut reader = ::csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .from_reader(compared(header));
        let mut record = ::csv::ByteRecord::new();
        // Reading from memory cannot fail.
        let _ = reader.read_byte_record(&mut record);
        let existing = columns.iter().find(|name| record.iter().any(|c| c == name.as_bytes()));
        match existing {
            Some(name) => Err(self.refused(SurvivorsProblem::ColumnTaken {
                source_name: origin.name.clone(),
                column: name.clone(),
            })),
            None => Ok(()),
        }
    }

    /// Writes the next document of the current source.
    ///
    /// # Errors
    /// [`OutputError::Write`], and [`DedupError::Survivors`] if a record cannot be annotated or a
    /// Parquet file cannot be read again.
    pub fn record(
        &mut self,
        id: &str,
        record: SourceRecord<'_>,
        outcome: &Outcome<'_>,
    ) -> Result<(), DedupError> {
        let origin = self.at.and_then(|at| self.destination.origins.get(at));
        if origin.is_none_or(|origin| origin.reference) {
            return Ok(());
        }
        self.written.changed +=
            u64::from(matches!(outcome, Outcome::Repeated { kept: true, words: 1.., .. }));
        let written = &mut self.written;
        *match outcome {
            Outcome::Dropped => &mut written.dropped,
            _ if outcome.is_kept() => &mut written.kept,
            _ => &mut written.removed,
        } += 1;
        self.write(id, record, outcome).map_err(|error| self.named(error))
    }

    /// Writes the next document of the current source without some of its parts.
    ///
    /// # Errors
    /// [`OutputError::Write`], and [`DedupError::Survivors`] if the record or file does not contain
    /// the document's text.
    pub(super) fn cut(&mut self, document: &CutDocument<'_>) -> Result<(), DedupError> {
        let origin = self.at.and_then(|at| self.destination.origins.get(at)).cloned();
        let Some(origin) = origin.filter(|origin| !origin.reference) else { return Ok(()) };
        self.written.kept += 1;
        self.written.changed += 1;
        self.write_cut(document, &origin).map_err(|error| self.named(error))
    }

    fn write_cut(
        &mut self,
        document: &CutDocument<'_>,
        origin: &DocumentOrigin,
    ) -> Result<(), DedupError> {
        let problem = CutProblem::Text { id: document.id.to_owned() };
        let no_text = || SurvivorsProblem::Cut { part: document.part, problem };
        #[cfg(feature = "parquet")]
        if let (SurvivorSink::Parquet(rewriter), SourceRecord::Row(row)) =
            (&mut self.sink, document.record)
        {
            return rewriter.cut_row(
                row,
                document.collection.text_field(),
                document.removed_ranges,
            );
        }
        match (document.record, &self.folder, &self.sink) {
            (SourceRecord::Bytes(bytes), _, SurvivorSink::Lines(..)) => {
                self.line.clear();
                if !document.cut(bytes, &mut self.line) {
                    return Err(self.refused(no_text()));
                }
                self.end_line()
            }
            (SourceRecord::File(path), Some(folder), SurvivorSink::None) => {
                let bytes = std::fs::read(path)
                    .map_err(|source| OutputError::Write { path: path.to_owned(), source })?;
                let mut kept = Vec::new();
                if !document.cut(&bytes, &mut kept) {
                    return Err(self.refused(no_text()));
                }
                let name = self.destination.name_of(origin, Some(path))?;
                folder.write(&kept, path, &name)?;
                self.copied = Some(path.to_owned());
                self.written.files += 1;
                Ok(())
            }
            _ => Err(self.refused(no_text())),
        }
    }

    fn write(
        &mut self,
        id: &str,
        record: SourceRecord<'_>,
        outcome: &Outcome<'_>,
    ) -> Result<(), DedupError> {
        #[cfg(feature = "parquet")]
        if let (SurvivorSink::Parquet(rewriter), SourceRecord::Row(row)) = (&mut self.sink, record)
        {
            return rewriter.row(row, outcome);
        }
        if !outcome.is_kept() && self.annotate.is_none() {
            if let (SourceRecord::File(path) | SourceRecord::Part(path), Some(_)) =
                (record, &self.others)
            {
                self.duplicates.insert(path.to_owned());
            }
            return Ok(());
        }
        match record {
            SourceRecord::Bytes(bytes) => self.bytes(id, bytes, outcome),
            SourceRecord::File(path) | SourceRecord::Part(path) => self.file(id, path, outcome),
            SourceRecord::Row(_) => Ok(()),
        }
    }

    fn bytes(&mut self, id: &str, bytes: &[u8], outcome: &Outcome<'_>) -> Result<(), DedupError> {
        let SurvivorSink::Lines(..) = &self.sink else {
            return Err(self.refused(format!("{id:?} comes from a stream that is one text")));
        };
        self.line.clear();
        match (&self.annotate, self.delimiter) {
            (Some(annotate), None) => {
                let values = AnnotationValues::of(outcome);
                values::json(bytes, annotate, &values, &mut self.line)
                    .map_err(|fault| self.refused(fault.problem(id)))?;
            }
            (Some(_), Some(delimiter)) => {
                let (record, end) = values::split_end(bytes);
                let columns = AnnotationValues::of(outcome).columns();
                let columns = columns.iter().map(|value| self.cells.text(value));
                values::separated(delimiter, record, columns, &mut self.line);
                self.line.extend_from_slice(end);
            }
            (None, _) => return self.write_record(bytes),
        }
        self.end_line()
    }

    fn file(&mut self, id: &str, path: &Path, outcome: &Outcome<'_>) -> Result<(), DedupError> {
        if let SurvivorSink::Lines(..) = &self.sink {
            return Err(self.refused(SurvivorsProblem::PartOfRecord { id: id.to_owned() }));
        }
        if let SurvivorSink::List(list) = &mut self.sink {
            let annotation = self.annotate.as_ref().map(|a| (a, AnnotationValues::of(outcome)));
            return list.file(id, path, annotation);
        }
        if self.copied.as_deref() == Some(path) {
            return Ok(());
        }
        let Some((folder, origin)) =
            self.folder.as_ref().zip(self.at.and_then(|at| self.destination.origins.get(at)))
        else {
            return Ok(());
        };
        let name = self.destination.name_of(origin, Some(path))?;
        folder.copy(path, &name)?;
        self.copied = Some(path.to_owned());
        self.written.files += 1;
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), DedupError> {
        let line = std::mem::take(&mut self.line);
        let written = self.write_record(&line);
        self.line = line;
        written
    }

    /// Writes a record without its line end.
    fn write_record(&mut self, record: &[u8]) -> Result<(), DedupError> {
        let SurvivorSink::Lines(output, format) = &mut self.sink else { return Ok(()) };
        let written = if *format == Format::Json {
            let before: &[u8] = if self.has_element { b",\n" } else { b"[\n" };
            self.has_element = true;
            output.write_all(before).and_then(|()| output.write_all(record))
        } else {
            output.write_all(record).and_then(|()| output.write_all(b"\n"))
        };
        let path = output.path();
        written.map_err(|source| OutputError::Write { path: path.to_owned(), source }.into())
    }

    fn refused(&self, problem: impl Into<SurvivorsProblem>) -> DedupError {
        DedupError::Survivors { path: self.out(), problem: problem.into() }
    }

    fn out(&self) -> PathBuf {
        self.destination.out.clone()
    }

    /// Syncs the output to the disk and renames it to its final name.
    ///
    /// # Errors
    /// [`OutputError::Write`]. In this case, a file that existed before is unchanged.
    pub fn finish(mut self) -> Result<SurvivorCounts, DedupError> {
        self.finish_file().map_err(|error| self.named(error))?;
        if let Some(folder) = self.folder {
            folder.finish()?;
        }
        Ok(self.written)
    }
}

#[cfg_attr(not(feature = "parquet"), expect(unused_variables, reason = "only Parquet asks"))]
fn open(output: Output, format: Format, annotate: Option<&Annotate>) -> SurvivorSink {
    #[cfg(feature = "parquet")]
    if format.is_binary() {
        return SurvivorSink::Parquet(Box::new(Rewriter::new(output, annotate.cloned())));
    }
    SurvivorSink::Lines(output, format)
}

/// Returns a header without byte order mark and line end.
fn compared(header: &[u8]) -> &[u8] {
    values::split_end(header.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(header)).0
}
