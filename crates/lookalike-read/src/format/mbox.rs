//! Mailboxes: a record is a message.

use crate::document::DocumentContents;
use crate::format::embedded_files::{FileRecords, RecordContent};
use lookalike_extract::{FileKind, PartSink};
use std::borrow::Cow;

/// The format of a mailbox.
pub(crate) struct MboxFormat;

impl FileRecords for MboxFormat {
    /// A message without the additions of the mailbox.
    type Record<'a> = Cow<'a, [u8]>;

    const ARE_SEPARABLE: bool = true;

    #[cfg(feature = "mail")]
    fn first<'a>(
        &self,
        bytes: &'a [u8],
        at_end: bool,
    ) -> Option<(usize, RecordContent<Cow<'a, [u8]>>)> {
        let (length, message) = lookalike_extract::mail::next_message(bytes, at_end)?;
        Some((length, RecordContent::File(message)))
    }

    #[cfg(not(feature = "mail"))]
    fn first<'a>(&self, bytes: &'a [u8], _: bool) -> Option<(usize, RecordContent<Cow<'a, [u8]>>)> {
        RecordContent::unsupported(crate::options::format::Format::Mbox, bytes)
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
