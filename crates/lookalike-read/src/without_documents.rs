//! Blocks that list a source, or the rest of it, that cannot be read.

use crate::document::{Place, RawSink};
use crate::error::ReadError;
use crate::format::TakeText;
use crate::location::Location;
use crate::retained_state::KeptState;
use crate::scratch::Scratch;
use crate::skipped::Skipped;
use crate::source::{BlockContent, RetainedContent};
use crate::spool::Spool;
use std::sync::Arc;

/// A block that lists why there are no documents.
pub(crate) struct SkippedBlock(pub(crate) Skipped);

impl BlockContent for SkippedBlock {
    fn bytes(&self) -> u64 {
        0
    }

    fn read(&self, _: &mut Scratch, sink: &mut dyn RawSink) -> Result<(), ReadError> {
        sink.skipped(self.0.clone());
        Ok(())
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

    fn location(&self, _: Place) -> Location {
        Location::Whole { source: self.source.clone() }
    }

    fn read_again(
        &self,
        place: Place,
        _: &str,
        _: &mut Scratch,
        _: TakeText<'_>,
    ) -> Result<(), ReadError> {
        Err(self.location(place).changed("no such document".to_owned()))
    }

    fn replay(&self, _: &mut Scratch, _: &mut dyn RawSink) -> Result<(), ReadError> {
        Ok(())
    }
}
