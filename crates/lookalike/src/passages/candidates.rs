//! The runs that may repeat, selected by their anchors and numbered in reading order.

use crate::engine::prepare::anchor_log::{CompleteAnchors, documents};
use crate::engine::{DocumentNumber, FindError, TextRun};
use crate::spill::{SpillError, SpillLog};
use std::borrow::Cow;
use std::ops::Range;

/// The place of a run, and the number of runs that begin there and at the following positions.
pub(super) type CandidateRange = (u64, u32);

/// The candidate runs of all documents.
pub(super) struct CandidateRuns {
    log: SpillLog<CandidateRange>,
    /// For each block, its ranges in the log and the number of its first run.
    blocks: Vec<(Range<u64>, u64)>,
    /// The number of runs.
    pub(super) len: u64,
}

impl CandidateRuns {
    /// Collects the runs of the participating documents whose anchor hash occurs more than once.
    /// Holds `share` bytes of ranges in memory.
    pub(super) fn of(
        run: &TextRun,
        anchors: &CompleteAnchors,
        share: usize,
    ) -> Result<Self, FindError> {
        let log = SpillLog::scratch(run.temp(), "candidates", share);
        let mut found = Self { log, blocks: Vec::with_capacity(run.blocks()), len: 0 };
        for i in 0..run.blocks() {
            let entries = anchors.block(i)?;
            let first = found.len;
            let mut ranges = Vec::new();
            for ((_, document), of) in run.in_block(i).zip(documents(&entries)) {
                if run.is_active(document) {
                    anchors.candidate_runs(&of, |start, runs| {
                        ranges.push((place(document, start), runs));
                        found.len += u64::from(runs);
                    });
                }
            }
            found.blocks.push((found.log.append(ranges)?, first));
        }
        Ok(found)
    }

    /// Returns the ranges of the i-th block, and the number of its first run.
    pub(super) fn block(&self, i: usize) -> Result<(Cow<'_, [CandidateRange]>, u64), FindError> {
        let (range, first) = self.blocks[i].clone();
        Ok((self.log.range(range)?, first))
    }

    /// Returns a reader of the places of runs, from the first run of a block on. Run numbers must
    /// not descend.
    pub(super) fn places(&self, block: usize) -> RunPlaces<'_> {
        let first = self.runs(block..block).start;
        RunPlaces { of: self, block, ranges: Cow::default(), at: 0, range: (0, 0), first }
    }

    /// Returns the numbers of the runs of some blocks.
    pub(super) fn runs(&self, blocks: Range<usize>) -> Range<u64> {
        let first = |block: usize| self.blocks.get(block).map_or(self.len, |(_, first)| *first);
        first(blocks.start)..first(blocks.end)
    }
}

/// Encodes a document and a position in it.
pub(super) fn place(document: DocumentNumber, position: u32) -> u64 {
    u64::from(document.0) << 32 | u64::from(position)
}

/// Finds the places of runs in ascending order.
pub(super) struct RunPlaces<'a> {
    of: &'a CandidateRuns,
    /// The number of the block after the block of `ranges`.
    block: usize,
    ranges: Cow<'a, [CandidateRange]>,
    /// The index in `ranges` of the range after `range`.
    at: usize,
    range: CandidateRange,
    /// The number of the first run of `range`.
    first: u64,
}

impl RunPlaces<'_> {
    /// Returns the document and the position of a run. Run numbers must not descend.
    pub(super) fn of(&mut self, run: u64) -> Result<(u32, u32), FindError> {
        while run - self.first >= u64::from(self.range.1) {
            self.first += u64::from(self.range.1);
            while self.at == self.ranges.len() {
                if self.block == self.of.blocks.len() {
                    return Err(SpillError::altered("the number of a run").into());
                }
                (self.ranges, _) = self.of.block(self.block)?;
                self.block += 1;
                self.at = 0;
            }
            self.range = self.ranges[self.at];
            self.at += 1;
        }
        let place = self.range.0 + (run - self.first);
        Ok(((place >> 32) as u32, place as u32))
    }
}
