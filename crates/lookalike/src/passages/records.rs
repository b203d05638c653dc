//! Second reading: hashes all runs that may repeat, sorts the hashes, and joins the classes of
//! equal runs to unitigs.
//!
//! ```text
//! runs ─ (hash, number) ─ sorted ─ number of the first equal run, by run number ─ classes
//! ```

use super::candidates::{CandidateRange, CandidateRuns};
use super::cuts::TokenCuts;
use super::first_runs::{FirstRuns, FirstRunsWriter};
use crate::engine::ids::RowIndex;
use crate::engine::prepare::anchor_log::fingerprint;
use crate::engine::workers::{Counter, map_numbers, on_threads};
use crate::engine::{Budget, DocumentBlock, DocumentNumber, FindError, FindOptions, TextRun};
use crate::progress::Progress;
use crate::read::ReadBuffers;
use crate::spill::{PartSorter, PartedValues, SpillError};
use crate::words::WordRule;
use lookalike_core::passage::position_set::PositionSet;
use lookalike_core::passage::run_hash::{HASH_BITS, RunHasher};
use lookalike_core::passage::unitig::{
    ClassNeighbours, EqualRun, RepeatedRun, RunRecord, Unitigs, group_equal,
};
use lookalike_core::shingle::Shingler;
use parking_lot::Mutex;
use std::ops::Range;

/// The number of records that a thread gathers before it passes them to the sorter.
const GATHERED: usize = 1 << 14;
/// The number of pieces of the documents while unitigs are formed: more than most machines have
/// threads, so that threads end at about the same time.
const PIECES: usize = 256;
/// Bytes of memory for each class while unitigs are formed.
const CLASS_BYTES: u64 = 8;

/// The input of the selection of runs.
#[derive(Clone, Copy)]
pub(super) struct RunSelection<'a> {
    pub(super) run: &'a TextRun,
    pub(super) budget: &'a Budget,
    pub(super) options: &'a FindOptions,
    pub(super) candidates: &'a CandidateRuns,
    /// The tokens cut out of documents.
    pub(super) cuts: &'a TokenCuts,
    /// The number of tokens of a run.
    pub(super) length: usize,
}

impl RunSelection<'_> {
    /// Returns the unitigs of all repeated runs. Runs with equal hashes of `seed` count as equal.
    pub(super) fn unitigs(&self, seed: u64, progress: &dyn Progress) -> Result<Unitigs, FindError> {
        let budget = self.budget;
        let records = self.records(seed, progress)?;
        let (runs, mut firsts) = self.first_runs(&records)?;
        drop(records);
        let classes = firsts.number_members();
        budget.need(classes as u64 * CLASS_BYTES + runs.held_bytes())?;
        let pieces = self.pieces(&runs);
        let in_piece = |i: usize| {
            let blocks = pieces[i].clone();
            let mut places = self.candidates.places(blocks.start);
            let runs = runs.iter(self.candidates.runs(blocks));
            let firsts = &firsts;
            runs.map(move |run| {
                let EqualRun { run, first } = run?;
                let (document, position) = places.of(run)?;
                Ok::<_, FindError>(RepeatedRun { document, position, class: firsts.number(first) })
            })
        };
        let threads = self.options.threads;
        let neighbours = ClassNeighbours::new(classes);
        map_numbers(threads, pieces.len(), || (), |(), i| neighbours.record(in_piece(i)))?;
        let unitigs = neighbours.number_unitigs();
        let places = map_numbers(
            threads,
            pieces.len(),
            || (),
            |(), i| {
                let places = in_piece(i).map(|run| Ok(unitigs.place(run?)));
                places.filter_map(Result::transpose).collect::<Result<Vec<_>, FindError>>()
            },
        )?;
        Ok(Unitigs { runs: unitigs.runs, places: joined(places) })
    }

    /// Divides the blocks of documents into pieces for several threads. Sorted runs are one piece,
    /// because they can only be read from the start.
    fn pieces(&self, runs: &FirstRuns) -> Vec<Range<usize>> {
        let blocks = self.run.blocks();
        let pieces = if runs.is_direct() { PIECES.min(blocks) } else { 1 };
        (0..pieces).map(|i| blocks * i / pieces..blocks * (i + 1) / pieces).collect()
    }

    /// Returns the repeated runs, each with the first equal run, and the set of these first runs.
    fn first_runs(&self, records: &PartedValues) -> Result<(FirstRuns, PositionSet), FindError> {
        let Self { run, budget, candidates, .. } = self;
        let len = candidates.len;
        let runs = FirstRunsWriter::new(run.temp(), len, budget.share(3), budget.share(4));
        let runs = Mutex::new(runs);
        let firsts = Mutex::new(PositionSet::new(len));
        let hand_on = |found: &mut Vec<EqualRun>| {
            let mut set = firsts.lock();
            for run in &*found {
                set.insert(run.first);
            }
            drop(set);
            let mut runs = runs.lock();
            found.drain(..).try_for_each(|run| runs.push(run))
        };
        let parts = Counter::default();
        on_threads::<_, FindError>(records.readers(self.options.threads), |stop| {
            let mut found = Vec::new();
            while !stop.is_requested()
                && let Some(i) = parts.next(records.parts())
            {
                // Runs with equal hashes are in one part.
                group_equal(records.part(i).map(|value| value.map(record)), |run| {
                    found.push(run);
                    if found.len() < GATHERED { Ok(()) } else { hand_on(&mut found) }
                })?;
            }
            Ok(hand_on(&mut found)?)
        })?;
        Ok((runs.into_inner().finish()?, firsts.into_inner()))
    }

    /// Returns the hashes and numbers of the runs that may repeat, in ascending order.
    fn records(&self, seed: u64, progress: &dyn Progress) -> Result<PartedValues, FindError> {
        let temp = self.run.temp();
        let share = self.budget.share(4);
        let sorter = PartSorter::new(temp, HASH_BITS + u64::BITS, self.candidates.len, share);
        let sorter = Mutex::new(sorter);
        let blocks = Counter::default();
        on_threads::<_, FindError>(self.options.threads, |stop| {
            let mut selector = RunSelector::new(*self, seed, &sorter);
            while !stop.is_requested()
                && let Some(i) = blocks.next(self.run.blocks())
            {
                selector.block(i)?;
                progress.advance(u64::from(self.run.block_len(i)))?;
            }
            Ok(selector.runs.hand_on()?)
        })?;
        Ok(sorter.into_inner().finish_parts()?)
    }
}

/// Appends all pieces to one vector. Frees each piece after it is copied.
fn joined<T>(pieces: Vec<Vec<T>>) -> Vec<T> {
    let mut all = Vec::with_capacity(pieces.iter().map(Vec::len).sum());
    for mut piece in pieces {
        all.append(&mut piece);
    }
    all
}

fn record(value: u128) -> RunRecord {
    RunRecord { hash: (value >> 64) as u64, run: value as u64 }
}

/// The state of one thread.
struct RunSelector<'a> {
    of: RunSelection<'a>,
    seed: u64,
    words: WordRule,
    shingler: Shingler,
    scratch: ReadBuffers,
    runs: GatheredRuns<'a>,
}

impl<'a> RunSelector<'a> {
    fn new(of: RunSelection<'a>, seed: u64, sorter: &'a Mutex<PartSorter>) -> Self {
        let rule = of.options.params.shingle();
        Self {
            of,
            seed,
            words: WordRule::of(rule),
            shingler: Shingler::with_kernel(rule, of.options.kernel),
            scratch: ReadBuffers::default(),
            runs: GatheredRuns {
                hasher: RunHasher::new(of.length, seed),
                length: of.length,
                gathered: Vec::new(),
                sorter,
            },
        }
    }

    fn block(&mut self, i: usize) -> Result<(), FindError> {
        let (ranges, mut number) = self.of.candidates.block(i)?;
        if ranges.is_empty() {
            return Ok(());
        }
        let block = self.of.run.block(i)?;
        let start = self.of.run.range(i).start;
        for ranges in ranges.chunk_by(|a, b| a.0 >> 32 == b.0 >> 32) {
            let document = DocumentNumber((ranges[0].0 >> 32) as u32);
            let runs = NumberedRuns { document, ranges, first: number };
            if !self.document(&block, document.row_after(start), &runs)? {
                return Err(self.of.run.changed(document));
            }
            number += ranges.iter().map(|(_, runs)| u64::from(*runs)).sum::<u64>();
        }
        Ok(())
    }

    /// Hashes runs of a document. Returns false if the document has changed.
    fn document(
        &mut self,
        block: &DocumentBlock<'_>,
        row: RowIndex,
        candidates: &NumberedRuns<'_>,
    ) -> Result<bool, FindError> {
        let Self { of, seed, words, shingler, scratch, runs } = self;
        let cuts = of.cuts.of(candidates.document);
        block.fetch(row, scratch, |row, text| {
            let tokens = shingler.tokens(text);
            if fingerprint(tokens) != row.fingerprint {
                return Ok(false);
            }
            if *seed > 0 {
                let words = words.words(text).select(|words| TokenCuts::without(cuts, words));
                let mut tokens = Vec::new();
                words.hashes(*seed, &mut tokens);
                runs.hash(&tokens, candidates)?;
            } else if cuts.is_empty() {
                runs.hash(tokens, candidates)?;
            } else {
                runs.hash(&TokenCuts::without(cuts, tokens.to_vec()), candidates)?;
            }
            Ok(true)
        })?
    }
}

/// Runs of one document.
struct NumberedRuns<'a> {
    document: DocumentNumber,
    ranges: &'a [CandidateRange],
    /// The number of the first run. The others have consecutive numbers.
    first: u64,
}

/// A buffer of run hashes and numbers before they are sorted.
struct GatheredRuns<'a> {
    hasher: RunHasher,
    length: usize,
    gathered: Vec<u128>,
    sorter: &'a Mutex<PartSorter>,
}

impl GatheredRuns<'_> {
    /// Hashes the candidate runs among the tokens of a document.
    fn hash(&mut self, tokens: &[u64], candidates: &NumberedRuns<'_>) -> Result<(), SpillError> {
        let Self { hasher, length, .. } = *self;
        let mut number = candidates.first;
        for (place, runs) in candidates.ranges {
            let start = *place as u32 as usize;
            let runs = *runs as usize;
            // Hashing the first run of a piece reads all tokens of this run. Every piece but the
            // last has at least as many runs, so the cost at most doubles.
            for from in (0..runs).step_by(GATHERED.max(length)) {
                let count = (runs - from).min(GATHERED.max(length));
                let piece = start + from..start + from + count + length - 1;
                let mut run = number + from as u64;
                hasher.hash(tokens.get(piece).unwrap_or_default(), |hash| {
                    self.gathered.push(u128::from(hash) << 64 | u128::from(run));
                    run += 1;
                });
                if self.gathered.len() >= GATHERED {
                    self.hand_on()?;
                }
            }
            number += runs as u64;
        }
        Ok(())
    }

    fn hand_on(&mut self) -> Result<(), SpillError> {
        let mut sorter = self.sorter.lock();
        sorter.append(&mut self.gathered)
    }
}
