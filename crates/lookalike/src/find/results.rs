//! What batches give, on its way to the order of a report: groups and pairs go to sorters at once,
//! or to a file first where the run may have to go on from it.

use super::batch::ComponentBatch;
use super::checkpoint::{BatchStep, Checkpoint};
use super::clustering::Clustering;
use super::decision::BatchDecisions;
use super::documents::RunDocuments;
use super::groups::{self, Groups};
use super::memory::Budget;
use super::pairs::{self, Pairs};
use super::record_file::FileRange;
use super::record_file::{RecordFile, end};
use super::related::{self, RelatedDocuments};
use crate::error::Error;
use crate::find::options::FindOptions;
use crate::find::options::PairList;
use crate::spill::codec::{FieldReader, put_bytes, put_u64};
use crate::spill::{Sorter, TempSpace};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Records of groups, of pairs and of related documents in a file.
const GROUP: u64 = 0;
const PAIRS: u64 = 1;
const RELATED: u64 = 2;

/// What all batches have given so far.
pub(super) struct ResultCollector<'a> {
    sorters: ResultSorters,
    pair_count: u64,
    checkpoint: Option<&'a Checkpoint>,
    file: Option<RecordFile>,
    /// Their duplicates are added up and not kept.
    batches: Vec<BatchStep>,
    /// Duplicates and their bytes, by source.
    duplicates: Vec<(u64, u64)>,
}

/// A sorter for each kind of record.
struct ResultSorters {
    groups: Sorter,
    pairs: Option<Sorter>,
    estimates: bool,
    related: Sorter,
    clustering: Clustering,
}

impl ResultSorters {
    fn push(&mut self, kind: u64, key: &[u8], payload: &[u8]) -> Result<(), Error> {
        match (kind, &mut self.pairs) {
            (GROUP, _) => {
                self.clustering.add(groups::duplicates_of_key(key).ok_or_else(corrupt)?);
                self.groups.push(key, payload)
            }
            (PAIRS, Some(pairs)) => pairs.push(key, payload),
            (RELATED, _) => self.related.push(key, payload),
            _ => Err(corrupt()),
        }
    }
}

/// Everything that was found.
pub(super) struct RunResults {
    pub(super) groups: Groups,
    pub(super) pairs: Option<Pairs>,
    pub(super) related: RelatedDocuments,
    pub(super) clustering: Clustering,
    pub(super) verified: u64,
    /// Documents that share a bucket with another one.
    pub(super) candidates: u64,
    /// Duplicates and their bytes, by source.
    pub(super) duplicates: Vec<(u64, u64)>,
}

impl<'a> ResultCollector<'a> {
    pub(super) fn new(
        options: &FindOptions,
        budget: &Budget,
        temp: &'a Arc<TempSpace>,
        checkpoint: Option<&'a Checkpoint>,
    ) -> Result<Self, Error> {
        let sorter = || Sorter::new(Some(Arc::clone(temp)), budget.results());
        let mut batches = checkpoint.map_or(Vec::new(), |c| c.done.batches.clone());
        let mut duplicates = Vec::new();
        for batch in &mut batches {
            add_up(&mut duplicates, batch);
        }
        let pieces: Vec<FileRange> =
            batches.iter().flat_map(|batch| batch.pieces.iter().copied()).collect();
        let file =
            checkpoint.map(|_| RecordFile::open(temp, "results", end(&pieces))).transpose()?;
        Ok(Self {
            sorters: ResultSorters {
                groups: sorter(),
                pairs: options.pairs.is_listed().then(sorter),
                estimates: options.pairs == PairList::WithEstimates,
                related: sorter(),
                clustering: Clustering::default(),
            },
            pair_count: batches.iter().map(|batch| batch.pairs).sum(),
            checkpoint,
            file,
            batches,
            duplicates,
        })
    }

    /// What is left of some ranges of first documents without those that an earlier run decided.
    pub(super) fn remaining(&self, ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
        let mut left = ranges;
        for Range { start, end } in self.batches.iter().map(|batch| batch.roots.clone()) {
            let without = |range: Range<u32>| {
                [range.start..range.end.min(start), range.start.max(end)..range.end]
            };
            left = left.into_iter().flat_map(without).filter(|range| !range.is_empty()).collect();
        }
        left
    }

    /// Takes what was decided in a batch.
    pub(super) fn add(
        &mut self,
        roots: &Range<u32>,
        documents: &RunDocuments,
        batch: &ComponentBatch,
        decided: &BatchDecisions,
        options: &FindOptions,
    ) -> Result<(), Error> {
        let sorters = &mut self.sorters;
        let mut pieces = Vec::new();
        let mut record = Vec::new();
        let mut take = |kind: u64, key: &[u8], payload: &[u8]| match &mut self.file {
            None => sorters.push(kind, key, payload),
            Some(file) => {
                record.clear();
                put_u64(&mut record, kind);
                put_bytes(&mut record, key);
                put_bytes(&mut record, payload);
                file.push(&record, &mut pieces)
            }
        };
        groups::records(batch, decided, options, &mut |key, payload| take(GROUP, key, payload))?;
        related::records(batch, decided, &mut |key, payload| take(RELATED, key, payload))?;
        let mut pairs = 0;
        if options.pairs.is_listed() {
            let most = pairs::MAX_PAIRS.saturating_sub(self.pair_count);
            pairs = pairs::records(batch, decided, options, most, &mut |key, payload| {
                take(PAIRS, key, payload)
            })?;
        }
        self.pair_count += pairs;
        let duplicates = of_sources(documents, batch, decided);
        let (roots, verified) = (roots.clone(), decided.verified);
        let step = BatchStep { roots, pieces, verified, duplicates, pairs };
        self.done(step)
    }

    fn done(&mut self, mut step: BatchStep) -> Result<(), Error> {
        if let (Some(file), Some(checkpoint)) = (&mut self.file, self.checkpoint) {
            file.flush(&mut step.pieces)?;
            file.sync()?;
            checkpoint.batch(step.clone())?;
        }
        add_up(&mut self.duplicates, &mut step);
        self.batches.push(step);
        Ok(())
    }

    /// Puts everything in order.
    pub(super) fn finish(mut self) -> Result<RunResults, Error> {
        if let Some(file) = &self.file {
            let mut bytes = Vec::new();
            for piece in self.batches.iter().flat_map(|batch| &batch.pieces) {
                file.read(*piece, &mut bytes)?;
                let mut reader = FieldReader::new(&bytes);
                while !reader.is_empty() {
                    let record = || Some((reader.u64()?, reader.bytes()?, reader.bytes()?));
                    let mut record = record;
                    let (kind, key, payload) = record().ok_or_else(corrupt)?;
                    self.sorters.push(kind, key, payload)?;
                }
            }
        }
        let sum = |f: fn(&BatchStep) -> u64| self.batches.iter().map(f).sum::<u64>();
        let (verified, pair_count) = (sum(|batch| batch.verified), sum(|batch| batch.pairs));
        let ResultSorters { groups, pairs, estimates, related, clustering } = self.sorters;
        let pairs = pairs.map(Sorter::finish).transpose()?;
        Ok(RunResults {
            groups: Groups::new(groups.finish()?),
            pairs: pairs.map(|sorted| Pairs::new(sorted, pair_count, estimates)),
            related: RelatedDocuments::new(related.finish()?),
            clustering,
            verified,
            candidates: 0,
            duplicates: self.duplicates,
        })
    }
}

/// Adds the duplicates of a batch to those of the sources, and lets go of them.
fn add_up(sums: &mut Vec<(u64, u64)>, batch: &mut BatchStep) {
    for (source, duplicates, bytes) in std::mem::take(&mut batch.duplicates) {
        let source = source as usize;
        sums.resize(sums.len().max(source + 1), (0, 0));
        sums[source].0 += duplicates;
        sums[source].1 += bytes;
    }
}

fn corrupt() -> Error {
    Error::TemporaryFile { what: "groups and pairs".to_owned() }
}

/// Duplicates and their bytes, by the sources that have any.
fn of_sources(
    documents: &RunDocuments,
    batch: &ComponentBatch,
    decided: &BatchDecisions,
) -> Vec<(u32, u64, u64)> {
    let mut sums: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (duplicate, _, _) in &decided.duplicates {
        let row = batch.records.row(*duplicate);
        let source = documents.source(row.label);
        let (duplicates, bytes) = sums.entry(source).or_default();
        *duplicates += 1;
        *bytes += row.bytes;
    }
    sums.into_iter().map(|(source, (duplicates, bytes))| (source, duplicates, bytes)).collect()
}
