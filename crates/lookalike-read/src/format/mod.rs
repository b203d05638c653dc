//! What records of all formats have in common: their fields, and where one ends and the next
//! begins in a stream.

pub(crate) mod csv;
pub(crate) mod embedded_files;
mod json_scanner;
pub(crate) mod jsonl;
pub(crate) mod packed_rows;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;

use crate::options::Format;
use crate::skipped::SkipReason;
use memchr::memrchr;

/// The fields that make a document.
pub(crate) struct Fields {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) line_ids: bool,
    /// Those whose values are given beside.
    pub(crate) further: Vec<String>,
}

/// A record that became a document.
pub(crate) struct Record<'a> {
    /// `None` where ids are made of the line number.
    pub(crate) id: Option<&'a str>,
    pub(crate) text: &'a str,
}

/// A record that did not.
#[derive(Debug)]
pub(crate) struct Bad {
    pub(crate) id: Option<String>,
    pub(crate) reason: SkipReason,
}

impl Bad {
    pub(crate) fn new(reason: SkipReason) -> Self {
        Self { id: None, reason }
    }
}

/// Where the last whole record of a stream's bytes ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Bytes up to and with the line feed of the last whole record; 0 when there is none.
    pub(crate) whole: usize,
    /// The bytes end inside of quotes.
    pub(crate) unclosed: bool,
}

/// Cuts bytes that begin with a record. A record of `Format::Text` has no end.
pub(crate) fn cut(format: Format, bytes: &[u8]) -> Cut {
    match format {
        // Parquet is never a stream.
        Format::Text | Format::File | Format::Parquet => Cut { whole: 0, unclosed: false },
        Format::Lines | Format::Jsonl => {
            Cut { whole: memrchr(b'\n', bytes).map_or(0, |at| at + 1), unclosed: false }
        }
        Format::Mbox | Format::Warc | Format::Tar => embedded_files::cut(format, bytes),
        Format::Csv => csv::cut(b',', bytes),
        Format::Tsv => csv::cut(b'\t', bytes),
    }
}

/// Whether a line is no document: empty, or blanks only.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// The record without the line feed. A carriage return before it stays, so that the line can be
/// written again as it was.
pub(crate) fn without_line_feed(record: &[u8]) -> &[u8] {
    record.strip_suffix(b"\n").unwrap_or(record)
}

/// The document of a line `id text`; the line feed is off, a carriage return may be there.
pub(crate) fn parse_line<'a>(line: &'a [u8], fields: &Fields) -> Result<Record<'a>, Bad> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if memchr::memchr(0, line).is_some() {
        return Err(Bad::new(SkipReason::Binary));
    }
    let line = std::str::from_utf8(line)
        .map_err(|e| Bad::new(SkipReason::NotUtf8 { column: e.valid_up_to() as u64 + 1 }))?;
    if fields.line_ids {
        return Ok(Record { id: None, text: line });
    }
    let (id, text) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if id.is_empty() {
        return Err(Bad::new(SkipReason::EmptyId));
    }
    Ok(Record { id: Some(id), text })
}
