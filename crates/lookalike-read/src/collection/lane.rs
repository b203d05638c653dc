//! Lanes: the parts of a collection from which one thread at a time takes blocks.

use crate::collection::block::Block;
use crate::error::{ReadError, SkipReason};
use crate::source::{AfterError, LaneReader, NoDocuments, Source};
use parking_lot::{Mutex, MutexGuard};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A source, or a part of a source that is read in parallel with its other parts.
pub(crate) struct Lane {
    source: Arc<dyn Source>,
    /// Number of the lane in its source.
    number: u32,
    /// Blocks with other numbers are skipped.
    blocks: Range<u32>,
    state: Mutex<LaneState>,
    finished: AtomicBool,
}

/// The state of reading a lane.
pub(crate) enum LaneState {
    /// The lane is not opened.
    Start,
    Open {
        reader: Box<dyn LaneReader>,
        /// Number of the next block in the source.
        next: u32,
    },
    /// There are no more blocks.
    End,
}

impl Lane {
    pub(crate) fn new(source: Arc<dyn Source>, number: u32, blocks: Range<u32>) -> Self {
        let state = Mutex::new(LaneState::Start);
        Self { source, number, blocks, state, finished: AtomicBool::new(false) }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    /// Waits until no other thread reads the lane.
    pub(crate) fn lock(&self) -> MutexGuard<'_, LaneState> {
        self.state.lock()
    }

    /// `None` while another thread reads the lane.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, LaneState>> {
        self.state.try_lock()
    }

    /// Returns to the start.
    pub(crate) fn rewind(&self) {
        *self.lock() = LaneState::Start;
        self.finished.store(false, Ordering::Release);
    }

    /// The next block. The lane is finished at its end and after an error. A record that is too
    /// long for the memory does not finish the lane, because the following records show how much
    /// memory is needed.
    pub(crate) fn next(
        &self,
        mut state: MutexGuard<'_, LaneState>,
    ) -> Result<Option<Block>, ReadError> {
        if self.is_finished() {
            return Ok(None);
        }
        let next = self.next_or_skipped(&mut state);
        if !matches!(next, Ok(Some(_)) | Err(ReadError::OverMemory { .. })) {
            // Closes the file.
            *state = LaneState::Start;
            self.source.finish_lane(self.number);
            self.finished.store(true, Ordering::Release);
        }
        next
    }

    /// The next block. An unreadable part is an error. If the source was not named or bad records
    /// are skipped, a block lists the part instead.
    fn next_or_skipped(&self, state: &mut LaneState) -> Result<Option<Block>, ReadError> {
        let info = self.source.info();
        let mut skipped = match self.advance(state) {
            Ok(None) if info.in_folder && is_empty(state) => info.skipped(SkipReason::NoContent),
            Ok(block) => return Ok(block),
            Err(error) if info.is_lenient() => error.into_skipped()?,
            Err(error) => return Err(error.with_limit()),
        };
        let (index, after) = match state {
            LaneState::Open { reader, next } => {
                *next += 1;
                (*next - 1, reader.after_error())
            }
            LaneState::Start | LaneState::End => {
                let after = AfterError { line: None, has_more: false };
                (self.source.first_block(self.number), after)
            }
        };
        if !after.has_more {
            *state = LaneState::End;
        }
        skipped.line = skipped.line.or(after.line);
        skipped.id = skipped.id.or_else(|| Some(info.name.clone()));
        let content = NoDocuments { source: skipped.source.clone(), skipped: Some(skipped) };
        Ok(Some(Block::new(Arc::clone(info), index, Box::new(content))))
    }

    fn advance(&self, state: &mut LaneState) -> Result<Option<Block>, ReadError> {
        if matches!(state, LaneState::Start) {
            let reader = Arc::clone(&self.source).open_lane(self.number)?;
            *state = LaneState::Open { reader, next: self.source.first_block(self.number) };
        }
        let LaneState::Open { reader, next } = state else { return Ok(None) };
        while let Some(content) = reader.next()?.filter(|_| *next < self.blocks.end) {
            *next += 1;
            if *next > self.blocks.start {
                let info = Arc::clone(self.source.info());
                return Ok(Some(Block::new(info, *next - 1, content)));
            }
        }
        Ok(None)
    }
}

/// Returns true if a source ended without a block.
fn is_empty(state: &LaneState) -> bool {
    matches!(state, LaneState::Open { reader, .. } if reader.is_empty())
}
