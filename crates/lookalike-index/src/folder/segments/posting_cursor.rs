//! Reads all postings of a segment's list in order, for merging.

use crate::error::IndexError;
use crate::folder::segments::layout::{BLOCK, COUNT, NUMBERS, u32_at, u64_at};
use crate::folder::segments::posting::{Posting, PostingList};
use crate::folder::segments::segment::Segment;
use std::ops::Range;
use std::sync::Arc;

/// Number of blocks that a cursor reads at a time.
const READ_AHEAD: usize = 16;

/// A cursor over a list of a segment.
pub(crate) struct PostingCursor {
    segment: Arc<Segment>,
    block: usize,
    end: usize,
    at: usize,
    /// The number of the first block in `buffer`.
    first: usize,
    buffer: Vec<[u8; BLOCK]>,
}

impl PostingCursor {
    /// A cursor over all postings of a list.
    pub(crate) fn new(segment: &Arc<Segment>, list: PostingList) -> Self {
        let Range { start: block, end } = segment.blocks_of(list);
        let segment = Arc::clone(segment);
        Self { segment, block, end, at: 0, first: 0, buffer: Vec::new() }
    }

    /// Appends the next postings with keys up to `most`, except postings of dead documents. The
    /// returned number of postings includes the postings of dead documents.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] for a damaged block.
    pub(crate) fn take_up_to(
        &mut self,
        most: u64,
        is_dead: impl Fn(u32) -> bool,
        out: &mut Vec<Posting>,
    ) -> Result<u64, IndexError> {
        let mut count = 0;
        while self.block < self.end {
            let block = self.read_ahead()?;
            let bytes = &self.buffer[block];
            // At most `PER_BLOCK`, because the block was verified.
            let length = u32_at(bytes, COUNT) as usize;
            while self.at < length {
                let key = u64_at(bytes, 8 * self.at);
                if key > most {
                    return Ok(count);
                }
                let number = u32_at(bytes, NUMBERS + 4 * self.at);
                if !is_dead(number) {
                    out.push((key, number));
                }
                self.at += 1;
                count += 1;
            }
            self.block += 1;
            self.at = 0;
        }
        Ok(count)
    }

    /// Reads the next block and some after it; returns the position of the next block in `buffer`.
    fn read_ahead(&mut self) -> Result<usize, IndexError> {
        if !(self.first..self.first + self.buffer.len()).contains(&self.block) {
            let count = READ_AHEAD.min(self.end - self.block);
            self.first = self.block;
            self.buffer.clear();
            let mut blocks = vec![[0; BLOCK]; count];
            self.segment.read(self.block, blocks.as_flattened_mut())?;
            for (at, block) in blocks.iter().enumerate() {
                self.segment.check_once(self.block + at, block)?;
            }
            self.buffer = blocks;
        }
        Ok(self.block - self.first)
    }
}
