//! The runs that may repeat, by their anchors: numbered in reading order.

use crate::engine::prepare::anchor_log::{CompleteAnchors, documents};
use crate::engine::{DocumentNumber, FindError, TextRun};
use crate::spill::{SpillError, SpillLog};
use std::borrow::Cow;
use std::ops::Range;

/// The place of a run, and how many others begin at the positions behind it, itself included.
pub(super) type CandidateRange = (u64, u32);

/// Runs of all documents.
pub(super) struct CandidateRuns {
    log: SpillLog<CandidateRange>,
    /// Of each block its ranges, and the number of its first run.
    blocks: Vec<(Range<u64>, u64)>,
    /// How many runs there are.
    pub(super) len: u64,
}

impl CandidateRuns {
    /// The runs of the documents that take part whose anchors have the hash of another one; `share`
    /// bytes of ranges are in memory.
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

    /// The ranges of the i-th block, and the number of its first run.
    pub(super) fn block(&self, i: usize) -> Result<(Cow<'_, [CandidateRange]>, u64), FindError> {
        let (range, first) = self.blocks[i].clone();
        Ok((self.log.range(range)?, first))
    }

    /// The places of runs whose numbers ascend.
    pub(super) fn places(&self) -> RunPlaces<'_> {
        RunPlaces { of: self, block: 0, ranges: Cow::default(), at: 0, range: (0, 0), first: 0 }
    }
}

/// A document and a position in it.
pub(super) fn place(document: DocumentNumber, position: u32) -> u64 {
    u64::from(document.0) << 32 | u64::from(position)
}

/// Goes through the runs.
pub(super) struct RunPlaces<'a> {
    of: &'a CandidateRuns,
    /// The block behind that of `ranges`.
    block: usize,
    ranges: Cow<'a, [CandidateRange]>,
    /// The range behind `range`.
    at: usize,
    range: CandidateRange,
    /// The number of the first run of `range`.
    first: u64,
}

impl RunPlaces<'_> {
    /// The document and the position of a run, whose number is not below that of the last one.
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
