//! Blocks: the units of reading.

use crate::document::{BlockNumber, DocumentPosition, DocumentSink, ReadBuffers, normalized};
use crate::options::SourceInfo;
use crate::source::BlockContent;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Some records of a file, or some files of a folder, which one thread reads at a time.
///
/// Records take about 1 MiB of memory, or up to twice the longest record if that is more. Files of
/// a folder take no memory until they are read, one after the other.
pub struct Block {
    pub(super) number: BlockNumber,
    pub(super) source: Arc<SourceInfo>,
    pub(super) content: Box<dyn BlockContent>,
}

impl Block {
    pub(crate) fn new(source: Arc<SourceInfo>, index: u32, content: Box<dyn BlockContent>) -> Self {
        let number = BlockNumber { source: source.number, index };
        Self { number, source, content }
    }

    /// The position in reading order.
    pub fn number(&self) -> BlockNumber {
        self.number
    }

    /// The size of its records or stored sets in bytes, or the size of its longest file.
    pub fn bytes(&self) -> u64 {
        self.content.bytes()
    }

    /// Passes every document to the sink, in order. Blank lines are not documents.
    ///
    /// # Errors
    /// The first error of the sink. If bad records are not skipped, also
    /// [`ReadError::BadRecord`](crate::ReadError::BadRecord) for the first bad record or the first
    /// unreadable file that the user named.
    pub fn read<S: DocumentSink>(
        &self,
        scratch: &mut ReadBuffers,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let settings = &self.source.settings;
        settings.consumed.fetch_add(self.content.progress_bytes(), Ordering::Relaxed);
        normalized(sink, settings, scratch, |scratch, sink| self.content.read(scratch, sink))
    }

    /// The number of copies of a record that are made to extract its text ([`RecordSize::copies`]).
    ///
    /// [`RecordSize::copies`]: crate::RecordSize::copies
    pub fn copies(&self, is_escaped: bool) -> u64 {
        self.content.copies(is_escaped)
    }

    /// The line on which the record of a document of this block begins, from 1; `None` if the file
    /// is the document.
    pub fn line(&self, place: DocumentPosition) -> Option<u64> {
        self.content.line(place)
    }
}
