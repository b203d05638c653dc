//! A record of any format: its document, or why it has none.

use crate::error::SkipReason;

/// The document of a record.
pub(crate) struct RecordDocument<'a> {
    /// `None` where ids are made of the line number.
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
    /// Bytes up to and with the end of the last whole record; 0 when there is none.
    pub(crate) whole: usize,
    /// The bytes end inside of quotes, or an archive or array before its end mark.
    pub(crate) unclosed: bool,
    /// The records in them, as far as they count: files in a container, elements of an array. 0 for
    /// other formats.
    pub(crate) records: u32,
}

/// The record without the line feed. A carriage return before it is kept, so that the line can be
/// written again verbatim.
pub(crate) fn without_line_feed(record: &[u8]) -> &[u8] {
    record.strip_suffix(b"\n").unwrap_or(record)
}
