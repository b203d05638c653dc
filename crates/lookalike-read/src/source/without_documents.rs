//! Blocks without documents, which list a source, or the rest of it, that cannot be read.

use crate::bytes::spool::Spool;
use crate::document::DocumentPosition;
use crate::document::normalizing_sink::SourceSink;
use crate::document::read_buffers::ReadBuffers;
use crate::error::ReadError;
use crate::error::location::Location;
use crate::error::skipped::SkippedItem;
use crate::format::TakeText;
use crate::source::retained_state::KeptState;
use crate::source::{BlockContent, RetainedContent};
use std::sync::Arc;

/// A block without documents.
pub(crate) struct NoDocuments {
    pub(crate) source: String,
    /// Why, until the block is read.
    pub(crate) skipped: Option<SkippedItem>,
}

impl BlockContent for NoDocuments {
    fn bytes(&self) -> u64 {
        0
    }

    fn read(&self, _: &mut ReadBuffers, sink: &mut SourceSink<'_>) -> Result<(), ReadError> {
        self.skipped.clone().map_or(Ok(()), |skipped| sink.skipped(skipped))
    }

    fn retain(
        mut self: Box<Self>,
        _: Option<&Arc<Spool>>,
    ) -> Result<Box<dyn RetainedContent>, ReadError> {
        self.skipped = None;
        Ok(self)
    }
}

impl RetainedContent for NoDocuments {
    fn state(&self) -> Option<KeptState> {
        Some(KeptState::Nothing)
    }

    fn location(&self, _: DocumentPosition) -> Location {
        Location::Whole { source: self.source.clone() }
    }

    fn read_again(
        &self,
        place: DocumentPosition,
        _: &str,
        _: &mut ReadBuffers,
        _: TakeText<'_>,
    ) -> Result<(), ReadError> {
        Err(self.location(place).changed("no such document".to_owned()))
    }

    fn replay(&self, _: &mut ReadBuffers, _: &mut SourceSink<'_>) -> Result<(), ReadError> {
        Ok(())
    }
}
