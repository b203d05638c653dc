//! What records of all formats have in common: their fields, and where one ends and the next
//! begins in a stream.

use super::container;
use super::csv;
use super::error::SkipReason;
use super::options::Format;
use memchr::memrchr;

/// The fields that make a document.
pub(super) struct Fields {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) line_ids: bool,
    /// Those whose values are given beside.
    pub(super) further: Vec<String>,
}

/// A record that became a document.
pub(super) struct Record<'a> {
    /// `None` where ids are made of the line number.
    pub(super) id: Option<&'a str>,
    pub(super) text: &'a str,
}

/// A record that did not.
#[derive(Debug)]
pub(super) struct Bad {
    pub(super) id: Option<String>,
    pub(super) reason: SkipReason,
}

impl Bad {
    pub(super) fn new(reason: SkipReason) -> Self {
        Self { id: None, reason }
    }
}

/// Where the last whole record of a stream's bytes ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Bytes up to and with the line feed of the last whole record; 0 when there is none.
    pub(super) whole: usize,
    /// The bytes end inside of quotes.
    pub(super) unclosed: bool,
}

/// Cuts bytes that begin with a record. A record of `Format::Text` has no end.
pub(super) fn cut(format: Format, bytes: &[u8]) -> Cut {
    match format {
        // Parquet is never a stream.
        Format::Text | Format::File | Format::Parquet => Cut { whole: 0, unclosed: false },
        Format::Lines | Format::Jsonl => {
            Cut { whole: memrchr(b'\n', bytes).map_or(0, |at| at + 1), unclosed: false }
        }
        Format::Mbox | Format::Warc | Format::Tar => container::cut(format, bytes),
        Format::Csv => csv::cut(b',', bytes),
        Format::Tsv => csv::cut(b'\t', bytes),
    }
}

/// Whether a line is no document: empty, or blanks only.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// The record without the line feed. A carriage return before it stays, so that the line can be
/// written again as it was.
pub(super) fn without_line_feed(record: &[u8]) -> &[u8] {
    record.strip_suffix(b"\n").unwrap_or(record)
}

/// The document of a line `id text`; the line feed is off, a carriage return may be there.
pub(super) fn parse_line<'a>(line: &'a [u8], fields: &Fields) -> Result<Record<'a>, Bad> {
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
