//! A block that was read, in a form from which its documents can be read again.

use crate::bytes::Spool;
use crate::collection::block::Block;
use crate::document::{
    BlockNumber, Description, DocumentPosition, DocumentSink, KEPT_BYTES, KeptParts, ReadBuffers,
    StatedFields, UnitRange, description, normalized,
};
use crate::error::{Location, ReadError, SkippedItem};
use crate::source::RetainedState;
use crate::text::parent_id;
use lookalike_core::shingle::Shingler;
use std::sync::Arc;

/// The data that is kept of a [`Block`](crate::Block) after reading. It suffices to read one or all
/// of the documents again. Takes some 150 bytes, plus the size of the block if
/// [`Block::retain`](crate::Block::retain) had to keep it in memory.
pub struct RetainedBlock {
    pub(super) block: Block,
    pub(super) parts: Option<Box<KeptParts>>,
}

impl Block {
    /// Drops the bytes that can be read again from the disk, and keeps the rest. For plain files
    /// and folders, a few words remain. The decoded bytes of streams, of compressed files and of
    /// files in another encoding are written to the spool, or stay in memory without a spool. The
    /// texts that [`read`](Self::read) kept in buffers created by [`ReadBuffers::retaining`] are
    /// also written there.
    ///
    /// # Errors
    /// [`ReadError::Spool`] if the spool cannot be written.
    pub fn retain(
        mut self,
        spool: Option<&Arc<Spool>>,
        scratch: &mut ReadBuffers,
    ) -> Result<RetainedBlock, ReadError> {
        let parts = scratch.part_texts.take(spool)?;
        self.content.retain(spool)?;
        Ok(RetainedBlock { block: self, parts })
    }
}

impl RetainedBlock {
    /// The block as numbers; `None` if some of its bytes are in memory, in this value or held by
    /// the caller.
    pub fn state(&self) -> Option<RetainedState> {
        Some(RetainedState { number: self.block.number, kept: self.block.content.state()? })
    }

    /// The position in reading order.
    pub fn number(&self) -> BlockNumber {
        self.block.number
    }

    /// The place from which a document of this block was read.
    pub fn location(&self, place: DocumentPosition) -> Location {
        self.block.content.location(place)
    }

    /// Reads the document `id` at `place` of this block again and passes its text to `f`. Can be
    /// called from any thread. Costs one positioned read of the record, or one read of the whole
    /// text file.
    ///
    /// # Errors
    /// [`ReadError::Changed`] if the document has changed: the file no longer exists or is shorter,
    /// or the record does not exist or has another id. [`ReadError::Spool`] if the spool cannot be
    /// read.
    pub fn fetch<R>(
        &self,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
        f: impl FnOnce(&str) -> R,
    ) -> Result<R, ReadError> {
        let normalization = self.block.source.settings.options.normalization;
        let mut words = std::mem::take(&mut scratch.words);
        let f = |text: &str| f(words.of(text, normalization));
        let fetched = match place.unit() {
            Some(unit) if place.bytes() >= KEPT_BYTES => {
                self.fetch_unit(unit, place, id, scratch, f)
            }
            _ => self.fetch_written(place, id, scratch, f),
        };
        scratch.words = words;
        fetched
    }

    /// Like [`fetch`](Self::fetch), with the original text instead of its normal form.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch).
    pub fn fetch_written<R>(
        &self,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
        f: impl FnOnce(&str) -> R,
    ) -> Result<R, ReadError> {
        match &self.parts {
            Some(parts) if parts.has(place) => {
                let fetched = parts
                    .fetch(place, &mut scratch.bytes, |text| text_at(text, place.unit()).map(f))?;
                fetched.ok_or_else(|| self.no_document(place))
            }
            _ => self.fetch_as_read(place, id, scratch, |text, _| f(text)),
        }
    }

    /// Like [`fetch_written`](Self::fetch_written), for a unit of a long document. Keeps the text
    /// of the document for its following units.
    fn fetch_unit<R>(
        &self,
        unit: UnitRange,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
        f: impl FnOnce(&str) -> R,
    ) -> Result<R, ReadError> {
        let whole = place.with_unit(None);
        if scratch.parent_texts.get(&self.block.source, self.block.number, whole).is_none() {
            let text = self.fetch_written(whole, parent_id(id), scratch, str::to_owned)?;
            scratch.parent_texts.insert(&self.block.source, self.block.number, whole, text);
        }
        let text = scratch.parent_texts.get(&self.block.source, self.block.number, whole);
        let text = text.and_then(|text| text_at(text, Some(unit)));
        text.map(f).ok_or_else(|| self.no_document(place))
    }

    /// Reads the document `id` at `place` of this block again, and returns a description that helps
    /// users recognize it.
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
            description.date = self.block.content.modified(place).and_then(description::day);
        }
        Ok(description)
    }

    /// Writes the shingle set of a document, ascending and without repeats, to `set` (which is
    /// cleared), and returns its fingerprint. The set comes from the text, or from an index.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch), and [`ReadError::Index`] if an index cannot be read.
    pub fn fetch_set(
        &self,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
        shingler: &mut Shingler,
        set: &mut Vec<u64>,
    ) -> Result<u128, ReadError> {
        match self.block.content.stored_set(place, id, scratch, set)? {
            Some(fingerprint) => Ok(fingerprint),
            None => self.fetch(place, id, scratch, |text| shingler.set(text, set)),
        }
    }

    /// Returns true if [`fetch`](Self::fetch) finds texts.
    pub fn has_texts(&self) -> bool {
        self.block.content.has_texts()
    }

    fn fetch_as_read<R>(
        &self,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
        f: impl FnOnce(&str, StatedFields<'_>) -> R,
    ) -> Result<R, ReadError> {
        let mut f = Some(f);
        let mut result = None;
        let unit = place.unit();
        let id = if unit.is_some() { parent_id(id) } else { id };
        self.block.content.read_again(
            place.with_unit(None),
            id,
            scratch,
            &mut |text, stated| {
                // The fields that a document states do not describe its single units.
                let stated = if unit.is_some() { StatedFields::Nothing } else { stated };
                let Some(text) = text_at(text, unit) else { return };
                result = f.take().map(|f| f(text, stated)).or(result.take());
            },
        )?;
        result.ok_or_else(|| self.no_document(place))
    }

    fn no_document(&self, place: DocumentPosition) -> ReadError {
        self.location(place).changed("no such document".to_owned())
    }

    /// Reads the whole block again: passes every document in order, and passes bad records to
    /// [`DocumentSink::skipped`] again. The caller compares the ids and their number with the first
    /// reading.
    ///
    /// # Errors
    /// The first error of the sink. [`ReadError::Changed`] if the block can no longer be read, or
    /// if it contains a bad record and bad records are not skipped. [`ReadError::Spool`] if the
    /// spool cannot be read.
    pub fn replay<S: DocumentSink>(
        &self,
        scratch: &mut ReadBuffers,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        normalized(sink, &self.block.source.settings, scratch, |scratch, sink| {
            self.block.content.read(scratch, sink).map_err(|error| match error {
                ReadError::BadRecord(skipped) => {
                    let SkippedItem { source, line, reason, .. } = *skipped;
                    ReadError::Changed { source_name: source, line, what: reason.to_string() }
                }
                error => error,
            })
        })
    }
}

/// The text of a unit within the text of its document, or the whole text; `None` if the range is
/// invalid.
fn text_at(text: &str, unit: Option<UnitRange>) -> Option<&str> {
    match unit {
        Some(unit) => text.get(unit.bytes()).map(str::trim_end),
        None => Some(text),
    }
}
