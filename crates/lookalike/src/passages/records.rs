//! Second reading: the hashes of all runs that may repeat, sorted, then the classes of equal runs,
//! joined to unitigs.

use super::anchor_log::{CompleteAnchors, documents, fingerprint};
use super::cuts::TokenCuts;
use crate::error::Error;
use crate::find::workers::{Counter, on_threads};
use crate::find::{DocumentBlock, FindOptions, TextRun};
use crate::progress::Progress;
use crate::read::ReadBuffers;
use crate::spill::{SortedValues, ValueSorter};
use crate::words::WordRule;
use lookalike_core::passage::maximal::TokenRange;
use lookalike_core::passage::run_hash::RunHasher;
use lookalike_core::passage::unitig::{RepeatedRun, RunRecord, Unitigs, number_classes};
use lookalike_core::shingle::Shingler;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Records that a thread gathers before they are sorted in.
const GATHERED: usize = 1 << 14;
/// Bytes of memory for each class while unitigs are made.
const CLASS_BYTES: u64 = 12;

/// What runs are selected from.
#[derive(Clone, Copy)]
pub(super) struct RunSelection<'a> {
    pub(super) run: &'a TextRun,
    pub(super) options: &'a FindOptions,
    pub(super) anchors: &'a CompleteAnchors,
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
        let mut sorter = ValueSorter::new(temp, budget.share(4));
        let mut gathered = Vec::with_capacity(GATHERED);
        let sizes = number_classes(records.iter().map(|value| value.map(record)), |run| {
            gathered.push(packed(run.document, run.position, run.class.into()));
            if gathered.len() == GATHERED { sorter.append(&mut gathered) } else { Ok(()) }
        })?;
        drop(records);
        sorter.append(&mut gathered)?;
        let runs = sorter.finish()?;
        budget.need(sizes.len() as u64 * CLASS_BYTES)?;
        Unitigs::new(|| runs.iter().map(|value| value.map(repeated)), &sizes)
    }

    /// The runs that may repeat: hash, document, position, ascending.
    fn records(&self, seed: u64, progress: &dyn Progress) -> Result<SortedValues, Error> {
        let sorter = Mutex::new(ValueSorter::new(self.run.temp(), self.run.budget.share(4)));
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

fn packed(upper: u32, middle: u32, lower: u64) -> u128 {
    u128::from(upper) << 96 | u128::from(middle) << 64 | u128::from(lower)
}

fn record(value: u128) -> RunRecord {
    let (hash, place) = ((value >> 64) as u64, value as u64);
    RunRecord { hash, document: (place >> 32) as u32, position: place as u32 }
}

fn repeated(value: u128) -> RepeatedRun {
    RepeatedRun {
        document: (value >> 96) as u32,
        position: (value >> 64) as u32,
        class: value as u32,
    }
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
    ranges: Vec<Range<u32>>,
    gathered: Vec<u128>,
    sorter: &'a Mutex<ValueSorter>,
}

impl<'a> RunSelector<'a> {
    fn new(of: RunSelection<'a>, seed: u64, sorter: &'a Mutex<ValueSorter>) -> Self {
        let rule = of.options.params.shingle();
        Self {
            of,
            seed,
            words: WordRule::of(rule),
            shingler: Shingler::with_kernel(rule, of.options.kernel),
            hasher: RunHasher::new(of.length, seed),
            scratch: ReadBuffers::default(),
            tokens: Vec::new(),
            ranges: Vec::new(),
            gathered: Vec::new(),
            sorter,
        }
    }

    fn block(&mut self, i: usize) -> Result<(), Error> {
        let entries = self.of.anchors.block(i)?;
        let mut block: Option<DocumentBlock<'_>> = None;
        for ((place, document), found) in (0..).zip(self.of.run.range(i)).zip(documents(&entries)) {
            if !self.of.run.is_active(document) {
                continue;
            }
            found.repeated(&self.of.anchors.filter, &mut self.ranges);
            if self.ranges.is_empty() {
                continue;
            }
            let block = match &mut block {
                Some(block) => block,
                none => none.insert(self.of.run.block(i)?),
            };
            let cuts = self.of.cuts.of(document);
            if !self.read(block, place, cuts)? || self.tokens.len() as u64 != found.tokens {
                return Err(self.of.run.changed(document));
            }
            self.hash(document)?;
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

    fn hash(&mut self, document: u32) -> Result<(), Error> {
        let Self { ranges, tokens, hasher, gathered, .. } = self;
        for range in ranges {
            let end = range.end as usize + self.of.length - 1;
            let Some(run) = tokens.get(range.start as usize..end) else { continue };
            let mut position = range.start;
            hasher.hash(run, |hash| {
                gathered.push(u128::from(hash) << 64 | u128::from(place(document, position)));
                position += 1;
            });
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

fn place(document: u32, position: u32) -> u64 {
    u64::from(document) << 32 | u64::from(position)
}
