//! Mailboxes: a record is a message.

use crate::document::DocumentContents;
use crate::error::ReadError;
use crate::format::embedded_files::{EmbeddedFiles, FileRecords, RecordContent, whole_records};
use crate::format::record::RecordBoundary;
use crate::format::{RecordAgain, RecordFormat, TakeText, WholeRecords};
use crate::normalizing_sink::SourceSink;
use crate::scratch::ReadBuffers;
use lookalike_extract::{FileKind, PartSink};
use std::borrow::Cow;

/// The format of a mailbox.
#[derive(Default)]
pub(crate) struct MboxFormat(EmbeddedFiles);

impl RecordFormat for MboxFormat {
    fn cut(&self, bytes: &[u8]) -> RecordBoundary {
        let (whole, _) = whole_records(self, bytes);
        RecordBoundary { whole, unclosed: false }
    }

    fn read(
        &self,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        self.0.read(self, records, scratch, sink).map(drop)
    }

    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        EmbeddedFiles::read_again(self, record, scratch, take)
    }

    fn is_encoded(&self) -> bool {
        true
    }
}

impl FileRecords for MboxFormat {
    /// A message without what the mailbox put round it.
    type Record<'a> = Cow<'a, [u8]>;

    const ARE_SEPARABLE: bool = true;

    #[cfg(feature = "mail")]
    fn first<'a>(
        &self,
        bytes: &'a [u8],
        at_end: bool,
    ) -> Option<(usize, RecordContent<Cow<'a, [u8]>>)> {
        let (done, message) = lookalike_extract::mail::next_message(bytes, at_end)?;
        Some((done, RecordContent::File(message)))
    }

    #[cfg(not(feature = "mail"))]
    fn first<'a>(&self, bytes: &'a [u8], _: bool) -> Option<(usize, RecordContent<Cow<'a, [u8]>>)> {
        RecordContent::unsupported(crate::format::kind::Format::Mbox, bytes)
    }

    fn extract<S: PartSink>(
        &self,
        message: Cow<'_, [u8]>,
        read: impl FnOnce(&str, &[u8], &mut S) -> Result<(), S::Error>,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        read("message.eml", &message, sink)
    }

    /// The message with its separator line.
    fn contents<'a>(&self, _: &Cow<'a, [u8]>, raw: &'a [u8]) -> DocumentContents<'a> {
        DocumentContents { bytes: raw, media_type: FileKind::Mbox.media_type(), name: "" }
    }
}
