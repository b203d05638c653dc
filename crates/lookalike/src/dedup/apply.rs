//! Findings and the inputs → decisions in reading order → survivors, and the list of what goes.

use super::actions::{Collector, DuplicateFiles};
use super::decisions::{DecisionCursor, SortedDecisions};
use super::others::UnreadParts;
use super::{Decision, DecisionCollector, RemovedList, SourceRecord, SurvivorCounts, Survivors};
use crate::error::Error;
use crate::find::{FindOptions, Findings};
use crate::progress::Progress;
use crate::read::{Collection, Document, Raw};
use std::io;

/// Bytes of decisions held in memory where the run has no limit, and the share of it otherwise.
const DECISION_BYTES: u64 = 256 << 20;
const DECISION_SHARE: u64 = 16;

/// Reads the inputs again and writes every document, or leaves it out, as was decided. What was
/// left out of the run is left out here: bad records, and later documents with the id of another.
///
/// Cost: one more pass over the inputs, by one thread. Memory: a block of the input, and a
/// sixteenth of the limit for decisions, which are sorted in temporary files.
///
/// `progress` may end it; it is polled at every document and gets no counts.
///
/// # Errors
/// [`Error::Read`] and [`Error::Changed`] when an input is no longer what it was,
/// [`Error::Interrupted`], and those of writing. No file has the name of an output then
/// that was not there before.
pub fn apply(
    findings: &Findings,
    collection: &Collection,
    options: &FindOptions,
    survivors: Survivors,
    removed: Option<RemovedList>,
    progress: &dyn Progress,
) -> Result<SurvivorCounts, Error> {
    let decided = decide(findings, options)?;
    let pass = Pass::new(
        findings,
        collection,
        &decided,
        RecordTarget::Survivors(Box::new(survivors)),
        removed,
    );
    let (taker, removed) = pass.run(progress)?;
    let RecordTarget::Survivors(mut survivors) = taker else {
        return Ok(SurvivorCounts::default());
    };
    survivors.copy_others(findings)?;
    let written = survivors.finish()?;
    removed.map_or(Ok(()), RemovedList::finish)?;
    Ok(written)
}

/// Reads the inputs again and collects the files that are duplicates, for
/// [`actions`](super::actions). Lists what goes in `removed`.
///
/// Cost and errors: those of [`apply`]. Memory: the paths of all files with duplicates.
///
/// # Errors
/// Those of [`apply`].
pub fn find_files(
    findings: &Findings,
    collection: &Collection,
    options: &FindOptions,
    removed: Option<RemovedList>,
    progress: &dyn Progress,
) -> Result<DuplicateFiles, Error> {
    let decided = decide(findings, options)?;
    let taker = RecordTarget::Files(Box::default(), UnreadParts::new(&findings.skipped)?);
    let pass = Pass::new(findings, collection, &decided, taker, removed);
    let (taker, removed) = pass.run(progress)?;
    removed.map_or(Ok(()), RemovedList::finish)?;
    match taker {
        RecordTarget::Files(collector, unread) => Ok(collector.finish(collection, &unread)),
        RecordTarget::Survivors(_) => Ok(DuplicateFiles::default()),
    }
}

/// The decisions of all groups, and the empty documents.
fn decide(findings: &Findings, options: &FindOptions) -> Result<SortedDecisions, Error> {
    let rules = options.keep.rules().iter().map(ToString::to_string);
    let mut reasons: Vec<String> = rules.collect();
    let by_id = u8::try_from(reasons.len()).unwrap_or(u8::MAX);
    reasons.extend(["id".to_owned(), "reference".to_owned()]);
    let limit = options.memory.limit.map(|limit| limit / DECISION_SHARE);
    let memory = limit.unwrap_or(DECISION_BYTES).min(DECISION_BYTES);
    let temp = Some(findings.temporary());
    let mut decisions = DecisionCollector::new(temp, memory as usize, reasons);
    let measure = options.params.measure();
    for (number, group) in (1u64..).zip(findings.groups.iter()) {
        let group = group.map_err(io_error)?;
        let keeper = &group.keeper;
        decisions.keeper(keeper.document, number, group.duplicates.len() as u64 + 1)?;
        for duplicate in &group.duplicates {
            let reason = match duplicate.decided_by {
                _ if keeper.reference => by_id.saturating_add(1),
                Some(rule) => rule,
                None => by_id,
            };
            let similarity = duplicate.overlap.six_decimals_of(measure);
            decisions.duplicate(duplicate.document, number, &keeper.id, &similarity, reason)?;
        }
    }
    for related in findings.related.iter() {
        let related = related.map_err(io_error)?;
        let similarity = related.overlap.six_decimals_of(measure);
        decisions.related(related.document, &related.neighbour, &similarity)?;
    }
    decisions.finish()
}

fn io_error(error: io::Error) -> Error {
    Error::of_io(error)
}

/// One way through the inputs.
struct Pass<'a> {
    findings: &'a Findings,
    collection: &'a Collection,
    decisions: DecisionCursor<'a>,
    taker: RecordTarget,
    removed: Option<RemovedList>,
    /// The source at work.
    source: Option<u32>,
}

/// What takes the documents.
enum RecordTarget {
    Survivors(Box<Survivors>),
    Files(Box<Collector>, UnreadParts),
}

impl<'a> Pass<'a> {
    fn new(
        findings: &'a Findings,
        collection: &'a Collection,
        decided: &'a SortedDecisions,
        taker: RecordTarget,
        removed: Option<RemovedList>,
    ) -> Self {
        let decisions = decided.cursor();
        Self { findings, collection, decisions, taker, removed, source: None }
    }

    fn run(
        mut self,
        progress: &dyn Progress,
    ) -> Result<(RecordTarget, Option<RemovedList>), Error> {
        let (findings, collection) = (self.findings, self.collection);
        findings.replay(&mut |number, document| {
            progress.advance(0)?;
            self.document(number, document)
        })?;
        self.sources_before(collection.sources())?;
        // A file that was changed behind the place that was read last.
        collection.check_unchanged()?;
        Ok((self.taker, self.removed))
    }

    fn document(&mut self, number: u32, document: &Document<'_>) -> Result<(), Error> {
        let status = self.findings.status(number);
        self.sources_before(status.source + 1)?;
        if status.left_out {
            return Ok(());
        }
        let decision = match self.decisions.of(number)? {
            Decision::Unique if status.empty => Decision::Empty,
            decision => decision,
        };
        let record = match document.raw {
            Raw::Record(bytes) => SourceRecord::Bytes(bytes),
            Raw::File(path) => SourceRecord::File(path),
            Raw::Part(path) => SourceRecord::Part(path),
            Raw::Row(row) => SourceRecord::Row(row),
        };
        let source = self.collection.source_name(status.source).unwrap_or_default();
        if let Some(removed) = &mut self.removed {
            let file = self.collection.file_of(status.source, document.id);
            removed.document(document.id, file, &decision)?;
        }
        match &mut self.taker {
            RecordTarget::Survivors(survivors) => survivors.record(document.id, record, &decision),
            RecordTarget::Files(files, unread) => {
                files.document(source, record, &decision, unread);
                Ok(())
            }
        }
    }

    /// Names the sources up to `end`, also those without a document.
    fn sources_before(&mut self, end: u32) -> Result<(), Error> {
        let first = self.source.map_or(0, |source| source + 1);
        for source in first..end {
            self.source = Some(source);
            if let RecordTarget::Survivors(survivors) = &mut self.taker {
                let header = self.collection.header(source).map(|header| header.raw.as_slice());
                survivors.source(source as usize, header)?;
            }
        }
        Ok(())
    }
}
