//! Comma- and tab-separated values: the header, the ends of records, the fields of one.

use crate::error::ReadError;
use crate::extra_fields::Further;
use crate::format::{Bad, Cut, Fields, Record, without_line_feed};
use crate::skipped::{Field, SkipReason};
use crate::source::without_mark;
use crate::table_problem::TableProblem;
use csv::ByteRecord;
use memchr::{memchr, memchr3};

/// The columns of a file that make a document.
#[derive(Debug)]
pub(crate) struct Columns {
    /// `None` where ids are made of the line number.
    id: Option<usize>,
    text: usize,
    further: Vec<usize>,
    header: Header,
}

/// The header of a file of comma- or tab-separated values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The record as it stands, with the byte order mark if there is one, without the line feed.
    pub raw: Vec<u8>,
    /// The names of the columns; what is not UTF-8 in one is U+FFFD.
    pub columns: Vec<String>,
}

impl Columns {
    /// Finds the columns in the header, the first record of `bytes`, which begin the source.
    ///
    /// # Errors
    /// [`ReadError::Table`] when a column is not there exactly once.
    pub(crate) fn find(
        delimiter: u8,
        bytes: &[u8],
        fields: &Fields,
        source_name: &str,
    ) -> Result<Self, ReadError> {
        let mut header = ByteRecord::new();
        let (mark, bytes) = bytes.split_at(bytes.len() - without_mark(bytes).len());
        // Reading from memory cannot fail; what is no header has no columns.
        let mut reader = reader(delimiter, bytes);
        let _ = reader.read_byte_record(&mut header);
        let raw = bytes.get(..reader.position().byte() as usize).unwrap_or_default();
        let blank = raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let raw = [mark, without_line_feed(&raw[blank..])].concat();
        let present: Vec<String> =
            header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let column = |field, name: &str| {
            let places = present.iter().enumerate().filter(|(_, column)| *column == name);
            let mut places = places.map(|(place, _)| place);
            match (places.next(), places.count()) {
                (Some(place), 0) => Ok(place),
                (first, more) => Err(ReadError::Table {
                    source_name: source_name.to_owned(),
                    problem: TableProblem::Column {
                        field,
                        name: name.to_owned(),
                        found: more + usize::from(first.is_some()),
                        present: present.clone(),
                    },
                }),
            }
        };
        let id = if fields.line_ids { None } else { Some(column(Field::Id, &fields.id)?) };
        let text = column(Field::Text, &fields.text)?;
        let further = fields.further.iter().map(|name| column(Field::Further, name));
        let further = further.collect::<Result<_, _>>()?;
        Ok(Self { id, text, further, header: Header { raw, columns: present } })
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// The values of the further columns of a record that is a document.
    pub(crate) fn further(
        &self,
        record: &ByteRecord,
        id: Option<&str>,
        further: &mut Further,
    ) -> Result<(), Bad> {
        if self.further.is_empty() {
            return Ok(());
        }
        further.clear();
        for &column in &self.further {
            let value = utf8(record, column);
            further.push(Some(value.map_err(|bad| Bad { id: id.map(str::to_owned), ..bad })?));
        }
        Ok(())
    }

    /// The document of a record.
    pub(crate) fn document<'a>(&self, record: &'a ByteRecord) -> Result<Record<'a>, Bad> {
        let id = match self.id {
            Some(column) => Some(utf8(record, column)?),
            None => None,
        };
        let bad = |reason| Bad { id: id.map(str::to_owned), reason };
        let expected = self.header.columns.len();
        if record.len() != expected {
            return Err(bad(SkipReason::FieldCount { expected, got: record.len() }));
        }
        if memchr(0, record.as_slice()).is_some() {
            return Err(bad(SkipReason::Binary));
        }
        if id.is_some_and(str::is_empty) {
            return Err(Bad::new(SkipReason::EmptyId));
        }
        let text = utf8(record, self.text).map_err(|fault| bad(fault.reason))?;
        Ok(Record { id, text })
    }
}

/// A value; empty where the record has too few, which `document` reports.
fn utf8(record: &ByteRecord, column: usize) -> Result<&str, Bad> {
    let before = record.range(column).map_or(0, |range| range.start);
    std::str::from_utf8(record.get(column).unwrap_or_default()).map_err(|e| {
        Bad::new(SkipReason::NotUtf8 { column: (before + e.valid_up_to()) as u64 + 1 })
    })
}

/// A reader of records that checks nothing: a wrong number of fields is for [`Columns`] to report.
pub(crate) fn reader(delimiter: u8, bytes: &[u8]) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(bytes.len().clamp(64, 64 << 10))
        .from_reader(bytes)
}

/// Where the last record ends at a line feed, by the rules of the crate `csv`: a quote opens a
/// value only at its beginning, two quotes inside are one, and a carriage return ends a record too.
pub(crate) fn cut(delimiter: u8, bytes: &[u8]) -> Cut {
    let mut whole = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'"' {
            // Two quotes in a row are one that belongs to the value: it goes on behind them.
            match memchr(b'"', &bytes[at + 1..]) {
                None => return Cut { whole, unclosed: true },
                Some(next) => at += next + 2,
            }
            if bytes.get(at) == Some(&b'"') {
                continue;
            }
        }
        let Some(next) = memchr3(delimiter, b'\n', b'\r', &bytes[at..]) else { break };
        at += next + 1;
        if bytes[at - 1] == b'\n' {
            whole = at;
        }
    }
    Cut { whole, unclosed: false }
}
