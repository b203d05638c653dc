//! The document of a record of any format, or the reason why it has none.

use crate::error::SkipReason;
use std::ops::Range;

/// The document of a record.
pub(crate) struct RecordDocument<'a> {
    /// `None` if ids are line numbers.
    pub(crate) id: Option<&'a str>,
    pub(crate) text: &'a str,
}

/// A record without a document.
#[derive(Debug)]
pub(crate) struct InvalidRecord {
    pub(crate) id: Option<String>,
    pub(crate) reason: SkipReason,
}

impl InvalidRecord {
    pub(crate) fn new(reason: SkipReason) -> Self {
        Self { id: None, reason }
    }
}

/// The end of the last whole record of a stream's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordBoundary {
    /// The number of bytes up to and including the last whole record; 0 if there is none.
    pub(crate) whole: usize,
    /// Whether the bytes end inside of quotes, or before the end mark of an archive or array.
    pub(crate) unclosed: bool,
    /// The number of counted records in these bytes: files in a container, or elements of an array.
    /// 0 for other formats.
    pub(crate) records: u32,
}

/// Returns the bytes of a whole record as text.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, SkipReason> {
    // `basic` validates fastest, but only the standard library locates the error.
    simdutf8::basic::from_utf8(bytes).map_err(|_| not_utf8(bytes, 0..bytes.len()))
}

/// The reason to skip a record whose bytes in `range` are not UTF-8.
pub(crate) fn not_utf8(record: &[u8], range: Range<usize>) -> SkipReason {
    let bytes = &record[range.clone()];
    let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    SkipReason::NotUtf8 { column: (range.start + valid) as u64 + 1 }
}

/// The record without the line feed. Keeps a carriage return before it, so that the line can be
/// written again verbatim.
pub(crate) fn without_line_feed(record: &[u8]) -> &[u8] {
    record.strip_suffix(b"\n").unwrap_or(record)
}
