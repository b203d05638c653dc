//! Blocks that list a source, or the rest of it, that cannot be read.

use crate::document::DocumentPosition;
use crate::error::ReadError;
use crate::format::TakeText;
use crate::location::Location;
use crate::normalizing_sink::SourceSink;
use crate::retained_state::KeptState;
use crate::scratch::ReadBuffers;
use crate::skipped::SkippedItem;
use crate::source::{BlockContent, RetainedContent};
use crate::spool::Spool;
use std::sync::Arc;

/// A block that lists why there are no documents.
pub(crate) struct SkippedBlock(pub(crate) SkippedItem);

impl BlockContent for SkippedBlock {
    fn bytes(&self) -> u64 {
        0
    }

    fn read(&self, _: &mut ReadBuffers, sink: &mut SourceSink<'_>) -> Result<(), ReadError> {
        sink.skipped(self.0.clone())
    }

    fn retain(
        self: Box<Self>,
        _: Option<&Arc<Spool>>,
    ) -> Result<Box<dyn RetainedContent>, ReadError> {
        Ok(Box::new(NoDocuments { source: self.0.source }))
    }
}

/// A block without documents.
pub(crate) struct NoDocuments {
    pub(crate) source: String,
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
