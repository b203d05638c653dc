//! Separated values: the delimiter, the header, the ends of records, and the fields of a record.

use crate::bytes::without_mark;
use crate::document::{DocumentPosition, ExtraFields, Raw, ReadBuffers, SourceSink, StatedFields};
use crate::error::{Field, ReadError, SkipReason, TableProblem};
use crate::format::csv_header::CsvHeader;
use crate::format::record::{
    self, InvalidRecord, RecordBoundary, RecordDocument, without_line_feed,
};
use crate::format::separated_record::{SeparatedRecord, WrittenValue, value_range};
use crate::format::text_cut::{self, KeptCopier};
use crate::format::{
    BlockRecords, Continuation, NextRecords, RecordAgain, RecordFormat, TakeText, WholeRecords,
};
use crate::options::{ReadOptions, SourceInfo};
use memchr::memchr;
use std::ops::Range;
use std::sync::OnceLock;

/// Bytes that may separate values, in the order of preference.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Number of records from which the delimiter is detected if the header does not show it.
const COMPARED_RECORDS: usize = 20;
/// Maximum number of columns of a table. Their names are in memory during the run.
const MOST_COLUMNS: usize = 1 << 16;

/// The format of records with a header and values that a delimiter separates.
pub(crate) struct SeparatedValues {
    /// The delimiter, detected in the first bytes unless it was given.
    delimiter: OnceLock<u8>,
    /// The columns by which the delimiter is detected.
    needed: Vec<String>,
    /// The columns, found when the first block is observed.
    columns: OnceLock<DocumentColumns>,
}

impl SeparatedValues {
    /// Values separated by the delimiter of the options. Without one, the first records show the
    /// delimiter.
    pub(crate) fn csv(options: &ReadOptions) -> Self {
        let id = (!options.line_ids).then_some(&options.id_field);
        let needed = id.into_iter().chain([&options.text_field]).cloned().collect();
        let delimiter = options.delimiter.map_or_else(OnceLock::new, OnceLock::from);
        Self { delimiter, needed, columns: OnceLock::new() }
    }

    /// Values between tabs, unless the options name another delimiter.
    pub(crate) fn tsv(options: &ReadOptions) -> Self {
        let delimiter = OnceLock::from(options.delimiter.unwrap_or(b'\t'));
        Self { delimiter, needed: Vec::new(), columns: OnceLock::new() }
    }

    /// The delimiter. If it is not known yet, `bytes` must begin the source.
    fn delimiter(&self, bytes: &[u8]) -> u8 {
        *self.delimiter.get_or_init(|| find_delimiter(bytes, &self.needed))
    }

    /// The columns, once they are known.
    fn columns(&self) -> Option<(&DocumentColumns, u8)> {
        self.columns.get().map(|columns| (columns, columns.header.delimiter))
    }
}

impl RecordFormat for SeparatedValues {
    fn cut(&self, bytes: &[u8]) -> RecordBoundary {
        cut(self.delimiter(bytes), bytes)
    }

    fn copy_text(&self, record: &[u8], options: &ReadOptions, copier: &mut KeptCopier<'_>) -> bool {
        text_cut::separated(record, self.header(), options, copier)
    }

    fn read(
        &self,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        let Some((columns, delimiter)) = self.columns() else {
            let error = std::io::Error::other("the header was not read before the records");
            return Err(records.source.io(error));
        };
        let mark = records.mark_bytes();
        let bytes = &records.bytes[mark..];
        let mut is_header = records.index == 0;
        let mut at = 0;
        let mut line = 0;
        let ReadBuffers { values, line_id, extra, .. } = scratch;
        extra.clear();
        let expected = columns.header.columns.len();
        while let Some(Range { start, end }) = values.read(delimiter, bytes, at, expected) {
            line += memchr::memchr_iter(b'\n', &bytes[at..start]).count() as u32;
            let raw = &bytes[start..end];
            let place = DocumentPosition::of_record(start + mark, raw.len(), line);
            line += memchr::memchr_iter(b'\n', raw).count() as u32;
            at = end;
            if std::mem::take(&mut is_header) {
                continue;
            }
            let parsed = if records.unclosed && end == bytes.len() {
                Err(InvalidRecord::new(SkipReason::UnclosedQuote))
            } else {
                columns.document(values, raw)
            };
            let parsed = parsed.and_then(|record| {
                columns.set_extra(values, raw, record.id, extra)?;
                Ok(record)
            });
            let raw = Raw::Record(without_line_feed(raw));
            let is_tsv = delimiter == b'\t';
            let media_type = if is_tsv { "text/tab-separated-values" } else { "text/csv" };
            records.give(parsed, &extra.list(), place, (raw, media_type), line_id, sink)?;
        }
        Ok(())
    }

    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        let (columns, delimiter) = self.columns().ok_or("the header was not read")?;
        // Bytes without a record have no values, which `document` reports.
        let expected = columns.header.columns.len();
        let place = scratch.values.read(delimiter, record.bytes, 0, expected).unwrap_or_default();
        let parsed = columns.document(&scratch.values, &record.bytes[place]);
        record.give(parsed, StatedFields::Nothing, take)
    }

    fn observe(
        &self,
        source: &SourceInfo,
        records: Option<&BlockRecords>,
    ) -> Result<(), ReadError> {
        if self.columns.get().is_some() {
            return Ok(());
        }
        let bytes = records.map_or(&[][..], |records| &*records.buffer);
        let columns = DocumentColumns::find(
            self.delimiter(bytes),
            bytes,
            &source.settings.options,
            &source.display_name,
        )?;
        // Another thread may have set the same columns.
        let _ = self.columns.set(columns);
        Ok(())
    }

    fn learn_header(&self, source: &SourceInfo, next: NextRecords<'_>) -> Result<(), ReadError> {
        if self.columns.get().is_some() {
            return Ok(());
        }
        self.observe(source, next()?.as_ref())
    }

    /// Bytes after which [`cut`] is in the same state as after `partial`.
    fn continuation(&self, partial: &[u8], unclosed: bool) -> Continuation {
        let before: &[u8] = match partial.last() {
            _ if unclosed => b"\"",
            // A quote before another quote continues the value.
            Some(b'"') => b"\"\"",
            Some(last) if Some(last) == self.delimiter.get() => b"",
            _ => b"x",
        };
        Continuation::Cut(before.to_vec())
    }

    /// A value that contains quotes is copied.
    fn copies(&self, _: bool) -> u64 {
        1
    }

    fn has_header(&self) -> bool {
        true
    }

    fn header(&self) -> Option<&CsvHeader> {
        self.columns.get().map(|columns| &columns.header)
    }
}

/// The columns of a file that make a document.
#[derive(Debug)]
struct DocumentColumns {
    /// `None` if ids are line numbers.
    id: Option<usize>,
    text: usize,
    extra: Vec<usize>,
    header: CsvHeader,
}

impl DocumentColumns {
    /// Finds the columns in the header, the first record of `bytes`, which must begin the source.
    ///
    /// # Errors
    /// [`ReadError::Table`] if a column does not occur exactly once, or if there are more than
    /// [`MOST_COLUMNS`].
    fn find(
        delimiter: u8,
        bytes: &[u8],
        options: &ReadOptions,
        source_name: &str,
    ) -> Result<Self, ReadError> {
        let (marks, bytes) = bytes.split_at(bytes.len() - without_marks(bytes).len());
        let mut values = SeparatedRecord::default();
        // Without a header, no columns are found.
        let record = &bytes[values.read(delimiter, bytes, 0, MOST_COLUMNS).unwrap_or_default()];
        let refused = |problem| ReadError::Table { source_name: source_name.to_owned(), problem };
        if values.len() > MOST_COLUMNS {
            let problem = TableProblem::TooManyColumns { found: values.len(), most: MOST_COLUMNS };
            return Err(refused(problem));
        }
        let raw = [marks, without_line_feed(record)].concat();
        let present: Vec<String> =
            values.iter(record).map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let column = |field, name: &str| {
            let places = present.iter().enumerate().filter(|(_, column)| *column == name);
            let mut places = places.map(|(place, _)| place);
            match (places.next(), places.count()) {
                (Some(place), 0) => Ok(place),
                (first, more) => Err(refused(TableProblem::Column {
                    field,
                    name: name.to_owned(),
                    found: more + usize::from(first.is_some()),
                    present: present.clone(),
                })),
            }
        };
        let id = if options.line_ids { None } else { Some(column(Field::Id, &options.id_field)?) };
        let text = column(Field::Text, &options.text_field)?;
        let extra = options.fields.iter().map(|name| column(Field::Extra, name));
        let extra = extra.collect::<Result<_, _>>()?;
        Ok(Self { id, text, extra, header: CsvHeader { raw, columns: present, delimiter } })
    }

    /// Sets the values of the extra columns of a record with a document.
    fn set_extra(
        &self,
        values: &SeparatedRecord,
        record: &[u8],
        id: Option<&str>,
        extra: &mut ExtraFields,
    ) -> Result<(), InvalidRecord> {
        extra.clear();
        for &column in &self.extra {
            let value = self.utf8(values, record, column);
            extra.push(Some(
                value.map_err(|bad| InvalidRecord { id: id.map(str::to_owned), ..bad })?,
            ));
        }
        Ok(())
    }

    /// A value; empty if the record has too few values, which [`document`](Self::document) reports.
    fn utf8<'a>(
        &self,
        values: &'a SeparatedRecord,
        record: &'a [u8],
        column: usize,
    ) -> Result<&'a str, InvalidRecord> {
        let value = values.get(record, column).unwrap_or_default();
        record::utf8(value).map_err(|_| {
            let written = value_range(record, self.header.delimiter, column).unwrap_or_default();
            InvalidRecord::new(record::not_utf8(record, written))
        })
    }

    /// The document of a record with these values.
    fn document<'a>(
        &self,
        values: &'a SeparatedRecord,
        record: &'a [u8],
    ) -> Result<RecordDocument<'a>, InvalidRecord> {
        let id = match self.id {
            Some(column) => Some(self.utf8(values, record, column)?),
            None => None,
        };
        let bad = |reason| InvalidRecord { id: id.map(str::to_owned), reason };
        let expected = self.header.columns.len();
        if values.len() != expected {
            return Err(bad(SkipReason::FieldCount { expected, got: values.len() }));
        }
        if values.iter(record).any(|value| memchr(0, value).is_some()) {
            return Err(bad(SkipReason::Binary));
        }
        if id.is_some_and(str::is_empty) {
            return Err(InvalidRecord::new(SkipReason::EmptyId));
        }
        let text = self.utf8(values, record, self.text).map_err(|fault| bad(fault.reason))?;
        Ok(RecordDocument { id, text })
    }
}

/// The delimiter of a table that begins with `bytes`. This is the first delimiter for which the
/// header has the needed columns. If there is none, delimiters for which the first records have
/// equally many values are preferred, and then the delimiter with the most values. A comma if no
/// delimiter divides the first record.
fn find_delimiter(bytes: &[u8], needed: &[String]) -> u8 {
    let bytes = without_marks(bytes);
    let mut values = SeparatedRecord::default();
    let mut has_columns = |delimiter: &u8| {
        // An empty table has no columns.
        let header = values.read(*delimiter, bytes, 0, MOST_COLUMNS).unwrap_or_default();
        let header = &bytes[header];
        needed.iter().all(|name| values.iter(header).any(|column| column == name.as_bytes()))
    };
    let by_header = DELIMITERS.into_iter().find(&mut has_columns);
    by_header.unwrap_or_else(|| {
        let by_records = |delimiter: &u8| {
            let mut values = SeparatedRecord::default();
            let mut at = 0;
            let counts = std::iter::from_fn(|| {
                at = values.read(*delimiter, bytes, at, 0)?.end;
                Some(values.len())
            });
            let counts: Vec<usize> = counts.take(COMPARED_RECORDS).collect();
            let (first, rest) = counts.split_first()?;
            // The last record may be incomplete.
            let rest = &rest[..rest.len().saturating_sub(1)];
            (*first > 1).then(|| (rest.iter().all(|count| count == first), *first))
        };
        // `max_by_key` returns the last of equal ones.
        let found = DELIMITERS.into_iter().rev().max_by_key(by_records);
        found.filter(|delimiter| by_records(delimiter).is_some()).unwrap_or(b',')
    })
}

/// The bytes of a table without byte order marks. A program that adds a mark to a file that already
/// has one leaves two.
fn without_marks(bytes: &[u8]) -> &[u8] {
    without_mark(without_mark(bytes))
}

/// Finds the end of the last whole record at a line feed.
fn cut(delimiter: u8, bytes: &[u8]) -> RecordBoundary {
    let mut whole = 0;
    let mut at = 0;
    while at < bytes.len() {
        let WrittenValue { range, is_closed } = WrittenValue::at(at, delimiter, bytes);
        if !is_closed {
            return RecordBoundary { whole, unclosed: true, records: 0 };
        }
        at = range.end + 1;
        if bytes.get(range.end) == Some(&b'\n') {
            whole = at;
        }
    }
    RecordBoundary { whole, unclosed: false, records: 0 }
}
