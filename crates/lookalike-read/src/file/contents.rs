//! The decompressed bytes of a file, and its kind.

use crate::document::DocumentContents;
use crate::error::{OverLimit, SkipReason, unreadable};
use crate::measure::MAX_DOCUMENT_BYTES;
use crate::options::{Format, SourceSettings};
use lookalike_extract::{ExtractError, FileKind, LimitKind, encoding};
use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::atomic::Ordering;

/// Number of bytes that are read first: they suffice to recognize most files without text.
const FIRST_BYTES: u64 = 64 << 10;

/// The bytes of a file.
pub(crate) struct Contents<'a> {
    pub(crate) kind: FileKind,
    /// The decompressed bytes.
    pub(crate) bytes: &'a [u8],
    /// The size of the file before decompression. For a member of a zip archive, its size in the
    /// directory of the archive.
    pub(crate) length: u64,
    /// The name without the extension of compression.
    pub(crate) name: String,
}

impl Contents<'_> {
    /// Returns the value for [`Document::contents`](crate::Document::contents).
    pub(crate) fn described(&self) -> DocumentContents<'_> {
        let Self { kind, bytes, ref name, .. } = *self;
        DocumentContents { bytes, media_type: kind.media_type_of(name), name }
    }

    /// The text of a file that is plain text.
    pub(crate) fn text(&self, settings: &SourceSettings) -> Result<Cow<'_, str>, SkipReason> {
        encoding::decode(self.bytes, settings.encoding).ok_or(SkipReason::Binary)
    }
}

/// The kind of a file. Binary files count as text until they are decoded, because they may be text
/// in the encoding of the options.
pub(crate) fn kind(name: &str, bytes: &[u8], settings: &SourceSettings) -> FileKind {
    match FileKind::of(name, bytes) {
        _ if settings.options.format == Some(Format::Text) || bytes.is_empty() => FileKind::Text,
        FileKind::Binary => FileKind::Text,
        kind => kind,
    }
}

/// Reads a stream to its end. Fails if it exceeds a limit, or if its first bytes show that it
/// contains no text.
pub(crate) fn fill(
    mut stream: impl Read,
    name: &str,
    compressed: bool,
    settings: &SourceSettings,
    bytes: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let unreadable = |error: io::Error| unreadable(&error);
    stream.by_ref().take(FIRST_BYTES).read_to_end(bytes).map_err(unreadable)?;
    let kind = kind(name, bytes, settings);
    if kind == FileKind::Text && encoding::is_binary(bytes, settings.encoding) {
        return Err(SkipReason::Binary);
    }
    let longest = settings.longest_record(compressed).filter(|_| kind == FileKind::Text);
    let limit = match kind {
        FileKind::Text => longest.map_or(u64::MAX, |longest| longest.limit),
        _ if compressed => {
            settings.options.extract.limits.bytes.min(settings.options.extract.limits.expanded)
        }
        _ => settings.options.extract.limits.bytes,
    };
    let memory = settings.memory_record.load(Ordering::Relaxed);
    let is_memory = kind != FileKind::Text && memory < limit;
    let limit = if is_memory { memory } else { limit };
    let limit = limit.min(MAX_DOCUMENT_BYTES as u64) as usize;
    let rest = (limit + 1).saturating_sub(bytes.len()) as u64;
    stream.by_ref().take(rest).read_to_end(bytes).map_err(unreadable)?;
    if let Some(over) = longest.filter(|over| over.is_memory() && bytes.len() as u64 > over.limit) {
        return Err(over.reason());
    }
    match kind {
        _ if bytes.len() <= limit => Ok(()),
        FileKind::Text => Err(longest.map_or(SkipReason::TooLong, OverLimit::reason)),
        _ => {
            let limit = limit as u64;
            let failure = if is_memory {
                ExtractError::limited(LimitKind::Held, limit)
            } else {
                ExtractError::limited(LimitKind::Bytes, limit)
            };
            Err(SkipReason::NoText { failure, content: None })
        }
    }
}
