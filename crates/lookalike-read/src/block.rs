//! Blocks: what one thread reads at a time.

use crate::error::ReadError;
use crate::normalize::Worded;
use crate::parse::Piece;
use crate::reread::{Kept, Retained, Stretch};
use crate::source::files::{self, DocumentFile};
use crate::source::from_index::StoredBlock;
use crate::source::in_memory;
use crate::source::records::Records;
use crate::source::{Kind, Source};
use crate::spool::Spool;
use crate::{BlockNumber, Document, Place, Raw, RawSink, Scratch, Sink, Skipped};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Some records of a file, or some files of a folder: what one thread reads at a time.
///
/// Records take about 1 MiB of memory, or up to twice the longest record where that is more; files
/// of a folder take nothing until they are read, one after the other.
pub struct Block {
    number: BlockNumber,
    source: Arc<Source>,
    content: Content,
}

enum Content {
    Records(Records),
    Files(Range<usize>),
    Stored(StoredBlock),
    Held(Range<usize>),
    Refused(Skipped),
}

impl Block {
    pub(crate) fn records(source: Arc<Source>, records: Records) -> Self {
        let number = BlockNumber { source: source.number, index: records.index };
        Self { number, source, content: Content::Records(records) }
    }

    pub(crate) fn files(source: Arc<Source>, index: u32, range: Range<usize>) -> Self {
        let number = BlockNumber { source: source.number, index };
        Self { number, source, content: Content::Files(range) }
    }

    pub(crate) fn stored(source: Arc<Source>, block: StoredBlock) -> Self {
        let number = BlockNumber { source: source.number, index: block.index };
        Self { number, source, content: Content::Stored(block) }
    }

    pub(crate) fn held(source: Arc<Source>, index: u32, range: Range<usize>) -> Self {
        let number = BlockNumber { source: source.number, index };
        Self { number, source, content: Content::Held(range) }
    }

    pub(crate) fn refused(source: Arc<Source>, index: u32, skipped: Skipped) -> Self {
        let number = BlockNumber { source: source.number, index };
        Self { number, source, content: Content::Refused(skipped) }
    }

    /// Where the block stands in the reading order.
    pub fn number(&self) -> BlockNumber {
        self.number
    }

    /// Bytes of its records or stored sets, or of the longest of its files.
    pub fn bytes(&self) -> u64 {
        match (&self.content, &self.source.kind) {
            (Content::Records(records), _) => records.piece.len() as u64,
            (Content::Files(range), Kind::Files(files)) => {
                let files = files.get(range.clone()).unwrap_or_default();
                files.iter().map(DocumentFile::bytes).max().unwrap_or(0)
            }
            (Content::Stored(block), _) => block.bytes(),
            // They are in memory already.
            (Content::Files(_) | Content::Held(_) | Content::Refused(_), _) => 0,
        }
    }

    /// Gives every document to the sink, in order. Blank lines are no documents.
    ///
    /// # Errors
    /// [`ReadError::BadRecord`] for the first bad record, or file named by the user that cannot
    /// be read, unless bad records are skipped.
    pub fn read(&self, scratch: &mut Scratch, sink: &mut impl Sink) -> Result<(), ReadError> {
        self.read_raw(scratch, &mut WithoutRaw(sink))
    }

    /// The same with the bytes of each record.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_raw(
        &self,
        scratch: &mut Scratch,
        sink: &mut impl RawSink,
    ) -> Result<(), ReadError> {
        let wording = self.source.settings.wording;
        let mut words = std::mem::take(&mut scratch.words);
        let sink = &mut Worded { sink, words: &mut words, wording };
        let read = match (&self.content, &self.source.kind) {
            (Content::Records(records), Kind::Records { format, .. }) => {
                let piece = Piece {
                    source: &self.source,
                    index: records.index,
                    bytes: &records.piece,
                    first_line: records.first_line,
                    unclosed: records.unclosed,
                    offset: Some(records.offset),
                };
                piece.read(*format, scratch, sink)
            }
            (Content::Files(range), Kind::Files(files)) => {
                let files = files.get(range.clone()).unwrap_or_default();
                let bytes = files.iter().map(DocumentFile::bytes).sum();
                self.source.settings.consumed.fetch_add(bytes, Ordering::Relaxed);
                files::read_all(&self.source, files, scratch, sink)
            }
            (Content::Stored(block), _) => {
                let settings = &self.source.settings;
                settings.consumed.fetch_add(block.bytes(), Ordering::Relaxed);
                block.read(&settings.fields.further, sink)
            }
            (Content::Held(range), Kind::Held(documents)) => {
                let bytes = in_memory::bytes(&*documents.rows, range);
                self.source.settings.consumed.fetch_add(bytes, Ordering::Relaxed);
                in_memory::read(&self.source, &*documents.rows, range.clone(), sink)
            }
            (Content::Refused(skipped), _) => {
                sink.skipped(skipped.clone());
                Ok(())
            }
            _ => Ok(()),
        };
        scratch.words = words;
        read
    }

    /// The line that the record of a document of this block begins on, from 1; `None` where the
    /// file is the document.
    pub fn line(&self, place: Place) -> Option<u64> {
        match &self.content {
            Content::Records(records) => Some(records.first_line + u64::from(place.line)),
            Content::Files(_) | Content::Stored(_) | Content::Held(_) | Content::Refused(_) => None,
        }
    }

    /// Drops what can be read again from the disk and keeps what cannot. Of plain files and folders
    /// a few words are left. The decoded bytes of streams, of compressed files and of those in
    /// another encoding go to the spool, or stay in memory when there is none.
    ///
    /// # Errors
    /// [`ReadError::Spool`] when the spool cannot be written.
    pub fn retain(self, spool: Option<&Arc<Spool>>) -> Result<Retained, ReadError> {
        self.retain_read(spool, &mut Scratch::default())
    }

    /// As [`retain`](Self::retain), with the texts that [`read`](Self::read) kept in a scratch
    /// made by [`Scratch::retaining`].
    ///
    /// # Errors
    /// [`ReadError::Spool`] when the spool cannot be written.
    pub fn retain_read(
        self,
        spool: Option<&Arc<Spool>>,
        scratch: &mut Scratch,
    ) -> Result<Retained, ReadError> {
        let parts = scratch.part_texts.take(spool)?;
        let content = match self.content {
            Content::Files(range) => Kept::Files(range),
            Content::Stored(block) => Kept::Stored(block.stretch),
            Content::Held(range) => Kept::Held(range),
            Content::Refused(_) => Kept::Nothing,
            Content::Records(records) => {
                let stretch = Stretch {
                    offset: records.offset,
                    length: records.piece.len() as u32,
                    first_line: records.first_line,
                    unclosed: records.unclosed,
                };
                match spool {
                    _ if self.source.is_plain() => Kept::Disk(stretch),
                    Some(spool) => {
                        let offset =
                            spool.append(&records.piece).map_err(|error| spool.failed(error))?;
                        Kept::Spooled(Arc::clone(spool), Stretch { offset, ..stretch })
                    }
                    None => Kept::Memory((*records.piece).into(), stretch),
                }
            }
        };
        Ok(Retained::new(self.number, self.source, content).with_parts(parts))
    }
}

/// A sink that does not look at the bytes of records.
struct WithoutRaw<'a, S>(&'a mut S);

impl<S: Sink> RawSink for WithoutRaw<'_, S> {
    fn record(&mut self, document: &Document<'_>, _: Raw<'_>) {
        self.0.document(document);
    }

    fn skipped(&mut self, skipped: Skipped) {
        self.0.skipped(skipped);
    }
}
