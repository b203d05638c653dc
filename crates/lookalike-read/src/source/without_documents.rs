//! Blocks without documents, which list a source, or the rest of one, that cannot be read.

use crate::bytes::Spool;
use crate::document::{DocumentPosition, ReadBuffers, SourceSink};
use crate::error::{Location, ReadError, SkippedItem};
use crate::format::TakeText;
use crate::source::BlockContent;
use crate::source::retained_state::KeptState;
use std::sync::Arc;

/// A block without documents.
pub(crate) struct NoDocuments {
    pub(crate) source: String,
    /// The skipped item, until the block is read.
    pub(crate) skipped: Option<SkippedItem>,
}

impl BlockContent for NoDocuments {
    fn bytes(&self) -> u64 {
        0
    }

    fn read(&self, _: &mut ReadBuffers, sink: &mut SourceSink<'_>) -> Result<(), ReadError> {
        self.skipped.clone().map_or(Ok(()), |skipped| sink.skipped(skipped))
    }

    fn retain(&mut self, _: Option<&Arc<Spool>>) -> Result<(), ReadError> {
        self.skipped = None;
        Ok(())
    }

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
}
