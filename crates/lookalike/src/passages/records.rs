//! Second reading: the hashes of all runs that may repeat, sorted, then the classes of equal runs,
//! joined to unitigs.
//!
//! ```text
//! runs ─ (hash, number) ─ sorted ─ number of the first equal run, by the number ─ classes
//! ```

use super::anchor_log::fingerprint;
use super::candidates::{CandidateRange, CandidateRuns};
use super::cuts::TokenCuts;
use super::first_runs::FirstRunsWriter;
use crate::error::Error;
use crate::find::workers::{Counter, on_threads};
use crate::find::{DocumentBlock, FindOptions, TextRun};
use crate::progress::Progress;
use crate::read::ReadBuffers;
use crate::spill::{PartSorter, PartedValues};
use crate::words::WordRule;
use lookalike_core::passage::maximal::TokenRange;
use lookalike_core::passage::position_set::PositionSet;
use lookalike_core::passage::run_hash::{HASH_BITS, RunHasher};
use lookalike_core::passage::unitig::{EqualRun, RepeatedRun, RunRecord, Unitigs, group_equal};
use lookalike_core::shingle::Shingler;
use std::sync::{Mutex, PoisonError};

/// Records that a thread gathers before they are sorted in.
const GATHERED: usize = 1 << 14;
/// Bytes of memory for each class while unitigs are made.
const CLASS_BYTES: u64 = 8;

/// What runs are selected from.
#[derive(Clone, Copy)]
pub(super) struct RunSelection<'a> {
    pub(super) run: &'a TextRun,
    pub(super) options: &'a FindOptions,
    pub(super) candidates: &'a CandidateRuns,
    /// What documents are without.
    pub(super) cuts: &'a TokenCuts,
    /// Tokens of a run.
    pub(super) length: usize,
}

impl RunSelection<'_> {
    /// The unitigs of all repeated runs, by hashes of `seed`.
    pub(super) fn unitigs(&self, seed: u64, progress: &dyn Progress) -> Result<Unitigs, Error> {
        let (temp, budget) = (self.run.temp(), self.run.budget);
        let records = self.records(seed, progress)?;
        let len = self.candidates.len;
        let mut runs = FirstRunsWriter::new(temp, len, budget.share(3), budget.share(4));
        let mut firsts = PositionSet::new(len);
        group_equal(records.iter().map(|value| value.map(record)), |run| {
            firsts.insert(run.first);
            runs.push(run)
        })?;
        drop(records);
        let runs = runs.finish()?;
        let classes = firsts.number_members();
        budget.need(classes as u64 * CLASS_BYTES + runs.held())?;
        let repeated = || {
            let mut places = self.candidates.places();
            let firsts = &firsts;
            runs.iter().map(move |run| {
                let EqualRun { run, first } = run?;
                let (document, position) = places.of(run)?;
                Ok(RepeatedRun { document, position, class: firsts.number(first) })
            })
        };
        Unitigs::new(repeated, classes)
    }

    /// The runs that may repeat: hash and number, ascending.
    fn records(&self, seed: u64, progress: &dyn Progress) -> Result<PartedValues, Error> {
        let (temp, share) = (self.run.temp(), self.run.budget.share(4));
        let sorter = PartSorter::new(temp, HASH_BITS + u64::BITS, self.candidates.len, share);
        let sorter = Mutex::new(sorter);
        let blocks = Counter::default();
        on_threads::<_, Error>(self.options.threads, |stop| {
            let mut selector = RunSelector::new(*self, seed, &sorter);
            while !stop.asked()
                && let Some(i) = blocks.next(self.run.blocks())
            {
                selector.block(i)?;
                progress.advance(u64::from(self.run.range(i).end - self.run.range(i).start))?;
            }
            selector.finish()
        })?;
        sorter.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
    }
}

fn record(value: u128) -> RunRecord {
    RunRecord { hash: (value >> 64) as u64, run: value as u64 }
}

/// One thread's tools.
struct RunSelector<'a> {
    of: RunSelection<'a>,
    seed: u64,
    words: WordRule,
    shingler: Shingler,
    hasher: RunHasher,
    scratch: ReadBuffers,
    tokens: Vec<u64>,
    gathered: Vec<u128>,
    sorter: &'a Mutex<PartSorter>,
}

impl<'a> RunSelector<'a> {
    fn new(of: RunSelection<'a>, seed: u64, sorter: &'a Mutex<PartSorter>) -> Self {
        let rule = of.options.params.shingle();
        Self {
            of,
            seed,
            words: WordRule::of(rule),
            shingler: Shingler::with_kernel(rule, of.options.kernel),
            hasher: RunHasher::new(of.length, seed),
            scratch: ReadBuffers::default(),
            tokens: Vec::new(),
            gathered: Vec::new(),
            sorter,
        }
    }

    fn block(&mut self, i: usize) -> Result<(), Error> {
        let (ranges, mut number) = self.of.candidates.block(i)?;
        if ranges.is_empty() {
            return Ok(());
        }
        let (block, start) = (self.of.run.block(i)?, self.of.run.range(i).start);
        for ranges in ranges.chunk_by(|a, b| a.0 >> 32 == b.0 >> 32) {
            let document = (ranges[0].0 >> 32) as u32;
            let cuts = self.of.cuts.of(document);
            if !self.read(&block, document - start, cuts)? {
                return Err(self.of.run.changed(document));
            }
            self.hash(ranges, &mut number)?;
        }
        Ok(())
    }

    /// Reads the tokens of a document; whether it is what it was.
    fn read(
        &mut self,
        block: &DocumentBlock<'_>,
        place: u32,
        cuts: &[TokenRange],
    ) -> Result<bool, Error> {
        let Self { shingler, scratch, tokens, words, seed, .. } = self;
        block.fetch(place, scratch, |row, text| {
            let read = shingler.tokens(text);
            if fingerprint(read) != row.fingerprint {
                return false;
            }
            if *seed == 0 {
                tokens.clear();
                tokens.extend_from_slice(read);
                *tokens = TokenCuts::without(cuts, std::mem::take(tokens));
            } else {
                let words = words.words(text).select(|words| TokenCuts::without(cuts, words));
                words.hashes(*seed, tokens);
            }
            true
        })
    }

    /// Hashes runs, whose numbers go on from `number`.
    fn hash(&mut self, ranges: &[CandidateRange], number: &mut u64) -> Result<(), Error> {
        let Self { tokens, hasher, gathered, .. } = self;
        for (place, runs) in ranges {
            let start = *place as u32 as usize;
            let end = start + *runs as usize + self.of.length - 1;
            let mut run = *number;
            hasher.hash(tokens.get(start..end).unwrap_or_default(), |hash| {
                gathered.push(u128::from(hash) << 64 | u128::from(run));
                run += 1;
            });
            *number += u64::from(*runs);
        }
        if gathered.len() >= GATHERED { self.hand_on() } else { Ok(()) }
    }

    fn hand_on(&mut self) -> Result<(), Error> {
        let mut sorter = self.sorter.lock().unwrap_or_else(PoisonError::into_inner);
        sorter.append(&mut self.gathered)
    }

    fn finish(mut self) -> Result<(), Error> {
        self.hand_on()
    }
}
