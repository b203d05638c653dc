//! Crawls (WARC, WET): a record is a fetched page, or its text.

use crate::document::DocumentContents;
use crate::format::embedded_files::{FileRecords, RecordContent};
use lookalike_extract::warc::{holds_file, next_record, record_length};
use lookalike_extract::{FileKind, PartSink};

/// The format of a crawl.
pub(crate) struct WarcFormat;

impl FileRecords for WarcFormat {
    /// A record with its header. Some records contain no file.
    type Record<'a> = &'a [u8];

    const ID_FIELD: Option<&'static str> = Some("record-id");
    /// A record is a crawl of a single page.
    const IS_CONTAINER: bool = true;

    /// Records about other records are not members.
    fn is_member(&self, record: &&[u8]) -> bool {
        holds_file(record)
    }

    fn first<'a>(&self, bytes: &'a [u8], at_end: bool) -> Option<(usize, RecordContent<&'a [u8]>)> {
        let (length, record) = next_record(bytes, at_end)?;
        let content =
            record.map_or_else(RecordContent::Damaged, |_| RecordContent::File(&bytes[..length]));
        Some((length, content))
    }

    fn missing_bytes(&self, partial: &[u8]) -> Option<u64> {
        record_length(partial)?.checked_sub(partial.len() as u64)
    }

    fn extract<S: PartSink>(
        &self,
        record: &[u8],
        read: impl FnOnce(&str, &[u8], &mut S) -> Result<(), S::Error>,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        read("record.warc", record, sink)
    }

    fn contents<'a>(&self, record: &&'a [u8], _: &'a [u8]) -> DocumentContents<'a> {
        DocumentContents { bytes: record, media_type: FileKind::Warc.media_type(), name: "" }
    }

    /// Removes the first name. Extraction reads each record as a crawl of one page, so the name of
    /// this page is meaningless.
    fn name_within<'w>(&self, within: &'w str) -> &'w str {
        within.split_once('/').map_or("", |(_, within)| within)
    }
}
