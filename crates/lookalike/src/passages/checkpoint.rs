//! Finished steps of a search for passages, from which an interrupted run resumes.
//!
//! ```text
//! reading (find::checkpoint)   each round: Selected ─ (Unequal ─ Selected …) ─ Cut
//! ```
//!
//! A resumed run searches repeated anchors again and compares words again. So every reported
//! passage was compared in the run that reports it.

use crate::engine::{FindError, TextRun};
use crate::spill::{Journal, SpillError, SpillLog, TempSpace};
use lookalike_core::hash::{mix64, token_hash};
use lookalike_core::passage::maximal::TokenRange;
use lookalike_core::passage::unitig::{UnitigPlace, Unitigs};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The number of values per read or write.
const PIECE_VALUES: usize = 3 << 14;
/// The count of numbers that describe a place of a unitig, or a range of tokens.
const TRIPLE: usize = 3;

/// The unitigs found with the hashes of a seed: their number, and the number of their places.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct SelectedStep {
    seed: u64,
    unitigs: u64,
    places: u64,
    checksum: u64,
}

/// A round of cutting: the number of ranges it cut.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct CutStep {
    ranges: u64,
    checksum: u64,
}

/// A finished step.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum PassageStep {
    Selected(SelectedStep),
    /// The seed has equal hashes for different words.
    Unequal {
        seed: u64,
    },
    Cut(CutStep),
}

/// The steps of the current round, and the cuts of earlier rounds. Empty for a run that cannot be
/// resumed.
#[derive(Default)]
pub(super) struct PassageCheckpoint {
    journal: Journal<PassageStep>,
    temp: Option<Arc<TempSpace>>,
    /// The number of seeds that this round refused.
    tried: u64,
    /// The selection of this round.
    selected: Option<SelectedStep>,
    /// The finished rounds.
    rounds: Vec<CutStep>,
}

impl PassageCheckpoint {
    /// Opens the journal in the folder of the run.
    pub(super) fn open(run: &TextRun) -> Result<Self, FindError> {
        let temp = run.temp();
        let (journal, steps) = Journal::open(temp, "passage_steps")?;
        let mut checkpoint = Self { journal, temp: Some(Arc::clone(temp)), ..Self::default() };
        for step in steps {
            match step {
                PassageStep::Selected(step) => checkpoint.selected = Some(step),
                PassageStep::Unequal { seed } => checkpoint.next_seed(seed),
                PassageStep::Cut(step) => checkpoint.next_round(step),
            }
        }
        Ok(checkpoint)
    }

    fn next_seed(&mut self, seed: u64) {
        self.tried = seed + 1;
        self.selected = None;
    }

    fn next_round(&mut self, step: CutStep) {
        self.rounds.push(step);
        self.tried = 0;
        self.selected = None;
    }

    /// The first seed that is not known to have equal hashes for different words.
    pub(super) fn first_seed(&self) -> u64 {
        self.tried
    }

    /// Returns the unitigs that this round stored for the seed, if any.
    pub(super) fn selected(&self, run: &TextRun, seed: u64) -> Result<Option<Unitigs>, FindError> {
        let Some(step) = self.selected.filter(|step| step.seed == seed) else { return Ok(None) };
        let SelectedStep { unitigs, places, checksum, .. } = step;
        let held_bytes = unitigs.saturating_mul(size_of::<u32>() as u64)
            + places.saturating_mul(size_of::<UnitigPlace>() as u64);
        run.budget.need(held_bytes)?;
        let len = unitigs.saturating_add(places.saturating_mul(TRIPLE as u64));
        let log = self.open_log("unitigs", len)?;
        let mut of = Unitigs::default();
        let runs = StoredNumbers { log: &log, range: 0..unitigs };
        let read = runs.read(0, |values| of.runs.extend_from_slice(values))?;
        let triples = StoredNumbers { log: &log, range: unitigs..len };
        let read = triples.read(read, |values| {
            of.places.extend(values.as_chunks().0.iter().map(|[document, position, unitig]| {
                UnitigPlace { document: *document, position: *position, unitig: *unitig }
            }));
        })?;
        if read == checksum { Ok(Some(of)) } else { Err(damaged("the repeated runs").into()) }
    }

    /// Stores the unitigs of a seed.
    pub(super) fn select(&mut self, seed: u64, unitigs: &Unitigs) -> Result<(), SpillError> {
        if !self.journal.is_active() {
            return Ok(());
        }
        let mut log = self.open_log("unitigs", 0)?;
        let checksum = append(&mut log, 0, unitigs.runs.iter().copied())?;
        let triples = unitigs.places.iter();
        let triples = triples.flat_map(|place| [place.document, place.position, place.unitig]);
        let checksum = append(&mut log, checksum, triples)?;
        log.sync()?;
        let places = unitigs.places.len() as u64;
        let unitigs = unitigs.runs.len() as u64;
        let step = SelectedStep { seed, unitigs, places, checksum };
        self.journal.append(&PassageStep::Selected(step))
    }

    /// Records that the seed has equal hashes for different words.
    pub(super) fn refuse(&mut self, seed: u64) -> Result<(), SpillError> {
        self.next_seed(seed);
        self.journal.append(&PassageStep::Unequal { seed })
    }

    /// The number of finished rounds of cutting.
    pub(super) fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// Returns the ranges that the finished rounds cut, by round.
    pub(super) fn cuts(&self, run: &TextRun) -> Result<Vec<Vec<TokenRange>>, FindError> {
        let all = self.rounds.iter().fold(0u64, |sum, step| sum.saturating_add(step.ranges));
        if all == 0 {
            return Ok(Vec::new());
        }
        run.budget.need(all.saturating_mul(size_of::<TokenRange>() as u64))?;
        let log = self.open_log("cuts", all.saturating_mul(TRIPLE as u64))?;
        let mut end = 0;
        let rounds = self.rounds.iter().map(|CutStep { ranges, checksum }| {
            let start = end;
            end += ranges * TRIPLE as u64;
            let mut cuts = Vec::new();
            let numbers = StoredNumbers { log: &log, range: start..end };
            let read =
                numbers.read(0, |values| {
                    cuts.extend(values.as_chunks().0.iter().map(|[document, start, end]| {
                        TokenRange { document: *document, start: *start, end: *end }
                    }));
                })?;
            if read == *checksum {
                Ok(cuts)
            } else {
                Err(damaged("the ranges that are cut").into())
            }
        });
        rounds.collect()
    }

    /// Stores the cuts of a round, and begins the next one.
    pub(super) fn cut(&mut self, ranges: &[TokenRange]) -> Result<(), SpillError> {
        if !self.journal.is_active() {
            return Ok(());
        }
        let before: u64 = self.rounds.iter().map(|step| step.ranges).sum();
        let mut log = self.open_log("cuts", before * TRIPLE as u64)?;
        let triples = ranges.iter().flat_map(|range| [range.document, range.start, range.end]);
        let checksum = append(&mut log, 0, triples)?;
        log.sync()?;
        let step = CutStep { ranges: ranges.len() as u64, checksum };
        self.next_round(step);
        self.journal.append(&PassageStep::Cut(step))
    }

    /// Opens a file of the run that has `len` valid numbers.
    fn open_log(&self, name: &'static str, len: u64) -> Result<SpillLog<u32>, SpillError> {
        match &self.temp {
            Some(temp) => SpillLog::stored(temp, name, 0, len),
            None => Ok(SpillLog::default()),
        }
    }
}

/// Numbers of a file, with a checksum.
struct StoredNumbers<'a> {
    log: &'a SpillLog<u32>,
    range: Range<u64>,
}

impl StoredNumbers<'_> {
    /// Passes the numbers to `take` in pieces. Returns the checksum, continued from `checksum`.
    fn read(self, mut checksum: u64, mut take: impl FnMut(&[u32])) -> Result<u64, SpillError> {
        let mut at = self.range.start;
        while at < self.range.end {
            let end = self.range.end.min(at + PIECE_VALUES as u64);
            let piece = self.log.range(at..end)?;
            checksum = checksum_after(checksum, &piece);
            take(&piece);
            at = end;
        }
        Ok(checksum)
    }
}

/// Appends numbers. Returns the checksum, continued from `checksum`.
fn append(
    log: &mut SpillLog<u32>,
    mut checksum: u64,
    mut values: impl Iterator<Item = u32>,
) -> Result<u64, SpillError> {
    loop {
        let piece: Vec<u32> = values.by_ref().take(PIECE_VALUES).collect();
        if piece.is_empty() {
            return Ok(checksum);
        }
        checksum = checksum_after(checksum, &piece);
        log.append(piece)?;
    }
}

fn checksum_after(checksum: u64, piece: &[u32]) -> u64 {
    let bytes: Vec<u8> = piece.iter().flat_map(|value| value.to_le_bytes()).collect();
    mix64(checksum ^ token_hash(&bytes))
}

fn damaged(part: &str) -> SpillError {
    SpillError::altered(format!("{part} of an earlier run"))
}
