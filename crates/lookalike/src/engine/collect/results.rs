//! Sorts the results of batches into the order of a report. A resumable run also stores them.

use crate::engine::checkpoint::{BatchStep, Checkpoint, Step};
use crate::engine::collect::group_concentration::GroupConcentration;
use crate::engine::collect::groups::{self, Groups};
use crate::engine::collect::pairs::{self, Pairs};
use crate::engine::collect::related::{self, RelatedDocuments};
use crate::engine::decide::batch::ComponentBatch;
use crate::engine::decide::batch_result::BatchResult;
use crate::engine::error::FindError;
use crate::engine::ids::{DocumentNumber, Id, SourceIndex};
use crate::engine::memory::Budget;
use crate::engine::options::{FindOptions, PairList};
use crate::engine::prepare::documents::RunDocuments;
use crate::spill::codec::{FieldReader, put_bytes, put_u64};
use crate::spill::{Sorter, SpillError, SpillLog, TempSpace};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of records per append to the log.
const PIECE_BYTES: usize = 1 << 20;
/// Bytes of the length before a record in the log.
const LENGTH_BYTES: usize = 8;

/// The kind of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RecordKind {
    Group,
    Pairs,
    Related,
}

/// A sorter for each kind of record.
pub(crate) struct ResultSorters {
    groups: Sorter,
    pairs: Option<Sorter>,
    estimates: bool,
    related: Sorter,
    concentration: GroupConcentration,
}

impl ResultSorters {
    pub(crate) fn new(options: &FindOptions, budget: &Budget, temp: &Arc<TempSpace>) -> Self {
        let sorter = || Sorter::new(Some(Arc::clone(temp)), budget.results());
        Self {
            groups: sorter(),
            pairs: options.pairs.is_listed().then(sorter),
            estimates: options.pairs == PairList::WithEstimates,
            related: sorter(),
            concentration: GroupConcentration::default(),
        }
    }

    pub(crate) fn push(
        &mut self,
        kind: RecordKind,
        key: &[u8],
        payload: &[u8],
    ) -> Result<(), SpillError> {
        match kind {
            RecordKind::Group => {
                self.concentration.add(groups::duplicates_of_key(key).ok_or_else(damaged)?);
                self.groups.push(key, payload)
            }
            RecordKind::Pairs => self.pairs.as_mut().ok_or_else(damaged)?.push(key, payload),
            RecordKind::Related => self.related.push(key, payload),
        }
    }

    /// Sorts all results. `pair_count` is the number of pairs.
    pub(crate) fn finish(self, pair_count: u64) -> Result<SortedResults, FindError> {
        let pairs = self.pairs.map(Sorter::finish).transpose()?;
        Ok(SortedResults {
            groups: Groups::new(self.groups.finish()?),
            pairs: pairs.map(|sorted| Pairs::new(sorted, pair_count, self.estimates)),
            related: RelatedDocuments::new(self.related.finish()?),
            concentration: self.concentration,
        })
    }
}

/// Groups, pairs and related documents in the order of a report.
pub(crate) struct SortedResults {
    pub(crate) groups: Groups,
    pub(crate) pairs: Option<Pairs>,
    pub(crate) related: RelatedDocuments,
    pub(crate) concentration: GroupConcentration,
}

/// All results of a run.
pub(crate) struct RunResults {
    pub(crate) sorted: SortedResults,
    /// The number of compared pairs.
    pub(crate) compared: u64,
    /// The number of documents that share a bucket with another one.
    pub(crate) candidates: u64,
    /// Duplicates and their bytes, by source.
    pub(crate) duplicates: Vec<(u64, u64)>,
}

/// The results of all batches so far.
pub(crate) struct ResultCollector<'a> {
    options: &'a FindOptions,
    /// Whether the run has a reference collection.
    has_reference: bool,
    checkpoint: &'a Checkpoint,
    sorters: ResultSorters,
    /// All records, for a later run.
    log: SpillLog<u8>,
    /// First documents of components that an earlier run has decided.
    decided: Vec<Range<DocumentNumber>>,
    /// The number of compared pairs.
    compared: u64,
    pair_count: u64,
    /// Duplicates and their bytes, by source.
    duplicates: Vec<(u64, u64)>,
}

impl<'a> ResultCollector<'a> {
    /// Creates a collector with the results of an earlier run. `sources` is the number of sources.
    pub(crate) fn new(
        options: &'a FindOptions,
        has_reference: bool,
        budget: &Budget,
        temp: &Arc<TempSpace>,
        checkpoint: &'a Checkpoint,
        sources: usize,
    ) -> Result<Self, FindError> {
        let batches = &checkpoint.completed.batches;
        let len = batches.last().map_or(0, |batch| batch.results);
        let mut collector = Self {
            options,
            has_reference,
            checkpoint,
            sorters: ResultSorters::new(options, budget, temp),
            log: SpillLog::stored(temp, "results", 0, len)?,
            decided: batches.iter().map(|batch| batch.roots.clone()).collect(),
            compared: 0,
            pair_count: 0,
            duplicates: vec![(0, 0); sources],
        };
        for batch in batches {
            collector.count(batch)?;
        }
        let sorters = &mut collector.sorters;
        collector.log.each_record(record_length, |record| {
            let (kind, key, payload) = decode(record).ok_or_else(damaged)?;
            sorters.push(kind, key, payload)
        })?;
        Ok(collector)
    }

    /// Removes from ranges of first documents the parts that an earlier run decided.
    pub(crate) fn remaining(
        &self,
        ranges: Vec<Range<DocumentNumber>>,
    ) -> Vec<Range<DocumentNumber>> {
        let mut remaining = ranges;
        for &Range { start, end } in &self.decided {
            let without = |range: Range<DocumentNumber>| {
                [range.start..range.end.min(start), range.start.max(end)..range.end]
            };
            remaining =
                remaining.into_iter().flat_map(without).filter(|range| !range.is_empty()).collect();
        }
        remaining
    }

    /// Adds the results of a batch.
    pub(crate) fn add(
        &mut self,
        roots: Range<DocumentNumber>,
        documents: &RunDocuments,
        batch: &ComponentBatch,
        decided: &BatchResult,
    ) -> Result<(), FindError> {
        let Self { options, has_reference, checkpoint, sorters, log, pair_count, .. } = self;
        let mut piece = Vec::new();
        let mut take = |kind, key: &[u8], payload: &[u8]| {
            if checkpoint.is_active() {
                encode(kind, key, payload, &mut piece);
                if piece.len() >= PIECE_BYTES {
                    log.append(std::mem::take(&mut piece))?;
                }
            }
            sorters.push(kind, key, payload)
        };
        groups::records(batch, decided, options, &mut |key, group| {
            take(RecordKind::Group, key, group)
        })?;
        related::records(batch, decided, &mut |key, related| {
            take(RecordKind::Related, key, related)
        })?;
        let mut pairs = 0;
        if options.pairs.is_listed() {
            let most = pairs::MAX_PAIRS.saturating_sub(*pair_count);
            let mut take = |key: &[u8], pairs: &[u8]| take(RecordKind::Pairs, key, pairs);
            pairs = pairs::records(batch, decided, options, *has_reference, most, &mut take)?;
        }
        log.append(piece)?;
        log.sync()?;
        let step = BatchStep {
            roots,
            results: log.len(),
            verified: decided.compared,
            duplicates: of_sources(documents, batch, decided),
            pairs,
        };
        self.count(&step)?;
        Ok(self.checkpoint.append(Step::Batch(step))?)
    }

    /// Adds the numbers of a batch to the sums.
    ///
    /// # Errors
    /// [`SpillError::Altered`] for a source that the run does not have, or numbers that are too
    /// large. Both show that the stored step was changed.
    fn count(&mut self, batch: &BatchStep) -> Result<(), FindError> {
        let add = |sum: &mut u64, number| {
            *sum = sum.checked_add(number).ok_or_else(damaged)?;
            Ok::<_, FindError>(())
        };
        add(&mut self.compared, batch.verified)?;
        add(&mut self.pair_count, batch.pairs)?;
        for (source, duplicates, bytes) in &batch.duplicates {
            let sums = self.duplicates.get_mut(source.index()).ok_or_else(damaged)?;
            add(&mut sums.0, *duplicates)?;
            add(&mut sums.1, *bytes)?;
        }
        Ok(())
    }

    /// Sorts all results. `candidates` is the number of documents that share a bucket with another
    /// one.
    pub(crate) fn finish(self, candidates: u64) -> Result<RunResults, FindError> {
        let Self { sorters, pair_count, compared, duplicates, .. } = self;
        let sorted = sorters.finish(pair_count)?;
        Ok(RunResults { sorted, compared, candidates, duplicates })
    }
}

/// Appends a record of the log: the length of the rest, then its kind, key and payload.
fn encode(kind: RecordKind, key: &[u8], payload: &[u8], out: &mut Vec<u8>) {
    let start = out.len() + LENGTH_BYTES;
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    put_u64(out, kind as u64);
    put_bytes(out, key);
    put_bytes(out, payload);
    let length = (out.len() - start) as u64;
    out[start - LENGTH_BYTES..start].copy_from_slice(&length.to_le_bytes());
}

/// Returns the length of the record at the start of some bytes. Returns [`LENGTH_BYTES`] if there
/// are fewer bytes than that, because the length of the record is not known yet.
fn record_length(bytes: &[u8]) -> usize {
    let length = bytes.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    LENGTH_BYTES.saturating_add(usize::try_from(length).unwrap_or(usize::MAX))
}

fn decode(record: &[u8]) -> Option<(RecordKind, &[u8], &[u8])> {
    let mut reader = FieldReader::new(record.get(LENGTH_BYTES..)?);
    let kinds = [RecordKind::Group, RecordKind::Pairs, RecordKind::Related];
    let kind = *kinds.get(usize::try_from(reader.u64()?).ok()?)?;
    Some((kind, reader.bytes()?, reader.bytes()?))
}

fn damaged() -> SpillError {
    SpillError::altered("groups and pairs")
}

/// Returns duplicates and their bytes, for each source that has any.
fn of_sources(
    documents: &RunDocuments,
    batch: &ComponentBatch,
    decided: &BatchResult,
) -> Vec<(SourceIndex, u64, u64)> {
    let mut sums: BTreeMap<SourceIndex, (u64, u64)> = BTreeMap::new();
    for duplicate in &decided.duplicates {
        let row = batch.rows.row(duplicate.document);
        let source = documents.source(row.source);
        let (duplicates, bytes) = sums.entry(source).or_default();
        *duplicates += 1;
        *bytes += row.bytes;
    }
    sums.into_iter().map(|(source, (duplicates, bytes))| (source, duplicates, bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::memory::Memory;
    use lookalike_core::params::{Params, ParamsBuilder};

    /// Returns the counts by source from a step of an earlier run with `sources` sources.
    fn resumed(step: &BatchStep, sources: usize) -> Result<Vec<(u64, u64)>, FindError> {
        let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
        let budget = Budget::new(&Memory::default(), 1).unwrap();
        let temp = Arc::new(TempSpace::new(std::env::temp_dir()));
        let mut checkpoint = Checkpoint::default();
        checkpoint.completed.batches = vec![step.clone(), step.clone()];
        let results = ResultCollector::new(&options, false, &budget, &temp, &checkpoint, sources)?;
        Ok(results.duplicates)
    }

    #[test]
    fn impossible_resumed_results_are_errors() {
        let step = |duplicates: &[(u32, u64, u64)], verified, pairs| BatchStep {
            roots: DocumentNumber(0)..DocumentNumber(1),
            results: 0,
            verified,
            duplicates: duplicates
                .iter()
                .map(|(source, documents, bytes)| (SourceIndex(*source), *documents, *bytes))
                .collect(),
            pairs,
        };
        let good = resumed(&step(&[(0, 1, 10), (1, 2, 20)], 3, 0), 3).unwrap();
        assert_eq!(good, [(2, 20), (4, 40), (0, 0)]);
        for wrong in [
            step(&[(2, 1, 1)], 0, 0),
            step(&[(0, 1, 1), (u32::MAX, 1, 1)], 0, 0),
            step(&[(1, u64::MAX, 1)], 0, 0),
            step(&[(1, 1, u64::MAX)], 0, 0),
            step(&[], u64::MAX, 0),
            step(&[], 0, u64::MAX),
        ] {
            let result = resumed(&wrong, 2);
            assert!(
                matches!(result, Err(FindError::Spill(SpillError::Altered { .. }))),
                "{wrong:?}"
            );
        }
    }
}
