//! Replays the inputs in reading order and writes the kept and the removed documents.

use super::actions::{Collector, DuplicateFiles};
use super::annotation::DROPPED;
use super::non_documents::UnreadParts;
use super::survivors::CutDocument;
use super::{RemovedList, SourceRecord, SurvivorCounts, Survivors};
use crate::dedup::cut_problem::CutPart;
use crate::dedup::error::DedupError;
use crate::engine::{FindError, FindOptions, Findings};
use crate::outcome::{Outcome, Outcomes};
use crate::passages::{CutRule, PassageCuts};
use crate::progress::Progress;
use crate::read::{Collection, Raw, UnitParent, UnitRange};
use crate::report::OutputError;
use crate::words::TextSpan;
use std::ops::Range;
use std::path::PathBuf;

/// Reads the inputs again and writes or omits every document, as the findings say. Bad records and
/// later documents with a repeated id were left out of the run and are also left out here.
///
/// Cost: one more pass over the inputs. All threads read, and one of them writes. Under a limit on
/// memory, one thread does both. Memory: some blocks of the input for each thread. Under a limit:
/// one block, and a sixteenth of the limit for outcomes, which are sorted in temporary files.
///
/// The caller can cancel through `progress`, which is polled at every document and receives no
/// counts.
///
/// # Errors
/// [`FindError::Read`] and [`FindError::Changed`] if an input has changed,
/// [`FindError::Interrupted`], and errors of writing. After an error, no output exists under its
/// final name.
pub fn apply(
    findings: &Findings,
    collection: &Collection,
    options: &FindOptions,
    mut survivors: Survivors,
    mut removed: Option<RemovedList>,
    progress: &dyn Progress,
) -> Result<SurvivorCounts, DedupError> {
    survivors.follow(collection);
    replay(findings, collection, options, &mut survivors, &mut removed, progress)?;
    survivors.copy_others(findings)?;
    let written = survivors.finish()?;
    removed.map_or(Ok(()), RemovedList::finish)?;
    Ok(written)
}

/// Reads the inputs again and writes every document without its cut words, or with an annotation
/// that lists them. Removes documents of which too little is left. Lists the removed parts in
/// `removed`. Without `survivors`, writes only this list.
///
/// Cost: one more pass over the inputs, by one thread, and one more for documents that change.
/// Memory: a block of the input and a document.
///
/// # Errors
/// Errors of [`apply`], and [`DedupError::Survivors`] if a record or file lacks the text that the
/// run read.
pub fn apply_cuts(
    cuts: &PassageCuts,
    collection: &Collection,
    mut survivors: Option<Survivors>,
    mut removed: Option<RemovedList>,
    progress: &dyn Progress,
) -> Result<SurvivorCounts, DedupError> {
    let findings = &cuts.run;
    let mut sources = 0..collection.sources();
    if let Some(survivors) = &mut survivors {
        survivors.follow(collection);
    }
    findings.replay(&mut |number, document| -> Result<(), DedupError> {
        progress.advance(0)?;
        let status = findings.status(number)?;
        if let Some(survivors) = &mut survivors {
            for source in sources.start..=status.source {
                RecordTarget::source(survivors, source, collection)?;
            }
        }
        sources.start = sources.start.max(status.source + 1);
        if status.repeated_id {
            return Ok(());
        }
        if status.dropped {
            let file = collection.file_of(status.source, document.id);
            let text = || cuts.run.written_text(number);
            let record = record_of(document.raw);
            return drop_document(
                survivors.as_mut(),
                &mut removed,
                (document.id, file),
                record,
                text,
            );
        }
        let id = document.id;
        let source = status.source;
        let kept = !cuts.is_removed(number);
        let (text, removed_ranges) =
            if cuts.is_changed(number) { cuts.ranges(number)? } else { Default::default() };
        let spans = spans(&text, &removed_ranges);
        if let Some(removed) = removed.as_mut().filter(|_| !removed_ranges.is_empty()) {
            list_spans(removed, cuts, collection.file_of(source, id), (id, kept), &text, &spans)?;
        }
        let Some(survivors) = &mut survivors else { return Ok(()) };
        let record = record_of(document.raw);
        if kept && !removed_ranges.is_empty() && !survivors.is_annotated() {
            let text = text.as_str();
            let removed_ranges = removed_ranges.as_slice();
            let part = CutPart::Passage;
            let cut = CutDocument { id, part, record, collection, source, text, removed_ranges };
            return survivors.cut(&cut);
        }
        let words = cuts.cut_words(number);
        survivors.record(id, record, &Outcome::Repeated { kept, words, spans: &spans })
    })?;
    collection.check_unchanged()?;
    let mut written = SurvivorCounts::default();
    if let Some(mut survivors) = survivors {
        sources.try_for_each(|source| RecordTarget::source(&mut survivors, source, collection))?;
        survivors.copy_others(findings)?;
        written = survivors.finish()?;
    }
    removed.map_or(Ok(()), RemovedList::finish)?;
    Ok(written)
}

/// Removes a document that a list names. None of its text is a passage.
fn drop_document(
    survivors: Option<&mut Survivors>,
    removed: &mut Option<RemovedList>,
    (id, file): (&str, &str),
    record: SourceRecord<'_>,
    text: impl FnOnce() -> Result<String, FindError>,
) -> Result<(), DedupError> {
    if let Some(removed) = removed {
        removed.span(id, file, &whole_span(&text()?), DROPPED)?;
    }
    let Some(survivors) = survivors else { return Ok(()) };
    let outcome = if survivors.is_annotated() {
        Outcome::Repeated { kept: false, words: 0, spans: &[] }
    } else {
        Outcome::Dropped
    };
    survivors.record(id, record, &outcome)
}

/// Returns the range of a whole text.
fn whole_span(text: &str) -> TextSpan {
    TextSpan { bytes: 0..text.len() as u64, chars: 0..text.chars().count() as u64 }
}

/// Converts ascending and disjoint ranges of bytes to spans, which also have ranges of characters.
fn spans(text: &str, removed_ranges: &[Range<usize>]) -> Vec<TextSpan> {
    let mut at = 0;
    let mut chars = 0;
    let mut chars_before = |byte: usize| {
        chars += text.get(at..byte).map_or(0, |between| between.chars().count() as u64);
        at = byte;
        chars
    };
    let span = |range: &Range<usize>| TextSpan {
        bytes: range.start as u64..range.end as u64,
        chars: chars_before(range.start)..chars_before(range.end),
    };
    removed_ranges.iter().map(span).collect()
}

/// Lists the removed parts of a document: some spans, or the whole text.
fn list_spans(
    removed: &mut RemovedList,
    cuts: &PassageCuts,
    source: &str,
    (id, kept): (&str, bool),
    text: &str,
    spans: &[TextSpan],
) -> Result<(), OutputError> {
    if !kept {
        return removed.span(id, source, &whole_span(text), "min-left");
    }
    let reason = match cuts.rule() {
        CutRule::Copies => "copy",
        CutRule::Boilerplate { .. } => "boilerplate",
    };
    spans.iter().try_for_each(|span| removed.span(id, source, span, reason))
}

/// Reads the inputs again and collects the files that are duplicates, for
/// [`actions`](super::actions). Lists the removed documents in `removed`.
///
/// Cost: as for [`apply`]. Memory: the paths of all files with duplicates.
///
/// # Errors
/// Errors of [`apply`].
pub fn find_files(
    findings: &Findings,
    collection: &Collection,
    options: &FindOptions,
    mut removed: Option<RemovedList>,
    progress: &dyn Progress,
) -> Result<DuplicateFiles, DedupError> {
    let unread = UnreadParts::new(&findings.skipped)?;
    let mut files = FileCollector { files: Collector::default(), unread };
    replay(findings, collection, options, &mut files, &mut removed, progress)?;
    removed.map_or(Ok(()), RemovedList::finish)?;
    Ok(files.files.finish(collection, &files.unread))
}

/// Receives the records of the inputs.
trait RecordTarget {
    /// Starts a source. Its records follow, if it has any. Called for every source, in order.
    fn source(&mut self, number: u32, collection: &Collection) -> Result<(), DedupError>;

    /// Receives a record. `source` is the name of its source.
    fn record(
        &mut self,
        id: &str,
        source: &str,
        record: SourceRecord<'_>,
        outcome: &Outcome<'_>,
    ) -> Result<(), DedupError>;

    /// Receives a record that is kept without some of its units.
    fn cut(&mut self, document: &CutDocument<'_>) -> Result<(), DedupError>;
}

impl RecordTarget for Survivors {
    fn source(&mut self, number: u32, collection: &Collection) -> Result<(), DedupError> {
        self.source(number as usize, collection.header(number))
    }

    fn record(
        &mut self,
        id: &str,
        _: &str,
        record: SourceRecord<'_>,
        outcome: &Outcome<'_>,
    ) -> Result<(), DedupError> {
        self.record(id, record, outcome)
    }

    fn cut(&mut self, document: &CutDocument<'_>) -> Result<(), DedupError> {
        self.cut(document)
    }
}

/// Collects the files that are duplicates.
struct FileCollector {
    files: Collector,
    unread: UnreadParts,
}

impl RecordTarget for FileCollector {
    fn source(&mut self, _: u32, _: &Collection) -> Result<(), DedupError> {
        Ok(())
    }

    fn record(
        &mut self,
        _: &str,
        source: &str,
        record: SourceRecord<'_>,
        outcome: &Outcome<'_>,
    ) -> Result<(), DedupError> {
        self.files.document(source, record, outcome, &self.unread);
        Ok(())
    }

    /// A file that loses only some units is not a duplicate.
    fn cut(&mut self, document: &CutDocument<'_>) -> Result<(), DedupError> {
        let source = document.collection.source_name(document.source).unwrap_or_default();
        self.record(document.id, source, document.record, &Outcome::Unique)
    }
}

/// Reads the inputs again, sends every record with its outcome to `target`, and lists the removed
/// documents in `removed`.
fn replay(
    findings: &Findings,
    collection: &Collection,
    options: &FindOptions,
    target: &mut impl RecordTarget,
    removed: &mut Option<RemovedList>,
    progress: &dyn Progress,
) -> Result<(), DedupError> {
    let outcomes = Outcomes::of(findings, options)?;
    let mut cursor = outcomes.cursor();
    let mut sources = 0..collection.sources();
    let mut open = None;
    findings.replay_records(options, &mut |number, document| -> Result<(), DedupError> {
        progress.advance(0)?;
        let status = findings.status(number)?;
        if document.parent.is_none_or(|parent| parent.number == 1) {
            OpenDocument::finish(&mut open, collection, target)?;
        }
        for source in sources.start..=status.source {
            target.source(source, collection)?;
        }
        sources.start = sources.start.max(status.source + 1);
        let outcome = cursor.of(number, status)?;
        if outcome == Outcome::RepeatedId {
            return Ok(());
        }
        let record = record_of(document.raw);
        if let Some(removed) = removed {
            let file = collection.file_of(status.source, document.id);
            removed.document(document.id, file, &outcome)?;
        }
        if let Some(parent) = document.parent {
            let open = open.get_or_insert_with(|| OpenDocument::new(parent, record, status.source));
            open.add(document.place.unit(), &outcome);
            return Ok(());
        }
        let source = collection.source_name(status.source).unwrap_or_default();
        target.record(document.id, source, record, &outcome)
    })?;
    OpenDocument::finish(&mut open, collection, target)?;
    sources.try_for_each(|source| target.source(source, collection))?;
    // Detects changes of a file after the last position that was read.
    collection.check_unchanged()?;
    Ok(())
}

fn record_of(raw: Raw<'_>) -> SourceRecord<'_> {
    match raw {
        Raw::Record(bytes) => SourceRecord::Bytes(bytes),
        Raw::File(path) => SourceRecord::File(path),
        Raw::Part(path) => SourceRecord::Part(path),
        Raw::Row(row) => SourceRecord::Row(row),
    }
}

/// A document whose consecutive units are being read.
struct OpenDocument {
    id: String,
    text: String,
    record: OwnedRecord,
    /// The number of its source.
    source: u32,
    /// The removed ranges of its text. Adjacent ranges are merged.
    removed_ranges: Vec<Range<usize>>,
    /// The number of kept units.
    kept: u64,
}

/// An owned [`SourceRecord`], which outlives the reading of the next record.
enum OwnedRecord {
    Bytes(Vec<u8>),
    File(PathBuf),
    Part(PathBuf),
    Row(u64),
}

impl OpenDocument {
    fn new(parent: UnitParent<'_>, record: SourceRecord<'_>, source: u32) -> Self {
        let record = match record {
            SourceRecord::Bytes(bytes) => OwnedRecord::Bytes(bytes.to_owned()),
            SourceRecord::File(path) => OwnedRecord::File(path.to_owned()),
            SourceRecord::Part(path) => OwnedRecord::Part(path.to_owned()),
            SourceRecord::Row(row) => OwnedRecord::Row(row),
        };
        let id = parent.id.to_owned();
        let text = parent.text.to_owned();
        Self { id, text, record, source, removed_ranges: Vec::new(), kept: 0 }
    }

    /// Adds the outcome of the next unit.
    fn add(&mut self, unit: Option<UnitRange>, outcome: &Outcome<'_>) {
        let Some(range) = unit.map(UnitRange::bytes).filter(|_| !outcome.is_kept()) else {
            self.kept += 1;
            return;
        };
        match self.removed_ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.removed_ranges.push(range),
        }
    }

    /// Sends the open document, if any, to `target`. A document without kept units is a duplicate.
    fn finish(
        open: &mut Option<Self>,
        collection: &Collection,
        target: &mut impl RecordTarget,
    ) -> Result<(), DedupError> {
        let Some(Self { id, text, record, source, removed_ranges, kept }) = open.take() else {
            return Ok(());
        };
        let id = id.as_str();
        let text = text.as_str();
        let removed_ranges = removed_ranges.as_slice();
        let record = match &record {
            OwnedRecord::Bytes(bytes) => SourceRecord::Bytes(bytes),
            OwnedRecord::File(path) => SourceRecord::File(path),
            OwnedRecord::Part(path) => SourceRecord::Part(path),
            OwnedRecord::Row(row) => SourceRecord::Row(*row),
        };
        let outcome = if kept > 0 {
            Outcome::Unique
        } else {
            Outcome::Duplicate { group: 0, keeper: "", similarity: "", reason: "" }
        };
        if removed_ranges.is_empty() || kept == 0 {
            let name = collection.source_name(source).unwrap_or_default();
            return target.record(id, name, record, &outcome);
        }
        let part = CutPart::Unit;
        target.cut(&CutDocument { id, part, record, collection, source, text, removed_ranges })
    }
}
