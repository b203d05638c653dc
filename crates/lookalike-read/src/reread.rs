//! A block that was read: how single documents, or all of them, are read again.

use crate::description::{self, Description, StatedFields};
use crate::document::{BlockNumber, DocumentPosition, DocumentSink};
use crate::error::ReadError;
use crate::file::part_texts::KeptParts;
use crate::location::Location;
use crate::normalizing_sink::normalized;
use crate::retained_state::RetainedState;
use crate::scratch::ReadBuffers;
use crate::skipped::SkippedItem;
use crate::source::RetainedContent;
use crate::source_info::SourceInfo;
use lookalike_core::shingle::Shingler;
use std::sync::Arc;

/// What is left of a [`Block`](crate::Block) that was read: enough to read it again, one document
/// or all of them. Some 150 bytes, and the block's own where
/// [`Block::retain`](crate::Block::retain) had to keep them in memory.
pub struct RetainedBlock {
    number: BlockNumber,
    source: Arc<SourceInfo>,
    content: Box<dyn RetainedContent>,
    parts: Option<Box<KeptParts>>,
}

impl RetainedBlock {
    pub(crate) fn new(
        number: BlockNumber,
        source: Arc<SourceInfo>,
        content: Box<dyn RetainedContent>,
        parts: Option<Box<KeptParts>>,
    ) -> Self {
        Self { number, source, content, parts }
    }

    /// The value as numbers; `None` when bytes of it are in memory, here or with the caller.
    pub fn state(&self) -> Option<RetainedState> {
        Some(RetainedState { number: self.number, kept: self.content.state()? })
    }

    /// The position in reading order.
    pub fn number(&self) -> BlockNumber {
        self.number
    }

    /// Where a document of this block was read.
    pub fn location(&self, place: DocumentPosition) -> Location {
        self.content.location(place)
    }

    /// Reads the document `id` at `place` of this block again and gives its text to `f`. From any
    /// thread; one positioned read of the record, or one of the whole text file.
    ///
    /// # Errors
    /// [`ReadError::Changed`] when it is no longer there: the file is gone or shorter, or there is
    /// no such record, or one with another id. [`ReadError::Spool`] when the spool cannot be read.
    pub fn fetch<R>(
        &self,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
        f: impl FnOnce(&str) -> R,
    ) -> Result<R, ReadError> {
        let normalization = self.source.settings.options.normalization;
        let mut words = std::mem::take(&mut scratch.words);
        let fetched = match &self.parts {
            Some(parts) if parts.has(place) => {
                parts.fetch(place, &mut scratch.bytes, |text| f(words.of(text, normalization)))
            }
            _ => self.fetch_as_read(place, id, scratch, |text, _| f(words.of(text, normalization))),
        };
        scratch.words = words;
        fetched
    }

    /// Reads the document `id` at `place` of this block again, for what people recognise it by.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch).
    pub fn describe(
        &self,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
    ) -> Result<Description, ReadError> {
        let mut description = self.fetch_as_read(place, id, scratch, Description::of)?;
        let location = self.location(place);
        location.source().clone_into(&mut description.source);
        description.line = location.number();
        if description.date.is_none() {
            description.date = self.content.modified(place).and_then(description::day);
        }
        Ok(description)
    }

    /// Makes the shingle set of a document, ascending, without repeats, into `set` (which is
    /// cleared), and gives its fingerprint: from its text, or as an index has it.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch); [`ReadError::Index`] when an index cannot be read.
    pub fn fetch_set(
        &self,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
        shingler: &mut Shingler,
        set: &mut Vec<u64>,
    ) -> Result<u128, ReadError> {
        match self.content.stored_set(place, id, scratch, set)? {
            Some(fingerprint) => Ok(fingerprint),
            None => self.fetch(place, id, scratch, |text| shingler.set(text, set)),
        }
    }

    /// Whether [`fetch`](Self::fetch) has a text to give.
    pub fn has_texts(&self) -> bool {
        self.content.has_texts()
    }

    fn fetch_as_read<R>(
        &self,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
        f: impl FnOnce(&str, StatedFields<'_>) -> R,
    ) -> Result<R, ReadError> {
        let (mut f, mut result) = (Some(f), None);
        self.content.read_again(place, id, scratch, &mut |text, stated| {
            result = f.take().map(|f| f(text, stated)).or(result.take());
        })?;
        result.ok_or_else(|| self.location(place).changed("no such document".to_owned()))
    }

    /// Reads the whole block again: every document in order, and bad records again to
    /// [`DocumentSink::skipped`]. The caller compares ids and their number with those of the first
    /// time.
    ///
    /// # Errors
    /// The first error of the sink. [`ReadError::Changed`] when the block cannot be read any more,
    /// or has a bad record where those are not skipped. [`ReadError::Spool`] when the spool cannot
    /// be read.
    pub fn replay<S: DocumentSink>(
        &self,
        scratch: &mut ReadBuffers,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        normalized(sink, self.source.settings.options.normalization, scratch, |scratch, sink| {
            self.content.replay(scratch, sink).map_err(|error| match error {
                ReadError::BadRecord(SkippedItem { source, line, reason, .. }) => {
                    ReadError::Changed { source_name: source, line, what: reason.to_string() }
                }
                error => error,
            })
        })
    }
}
