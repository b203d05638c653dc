//! Checks all stored data.

use crate::backend::{IndexProblem, Stats, posting_keys};
use crate::entry::{DocumentNumber, IndexRecord, shortened_id};
use crate::error::IndexError;
use crate::folder::catalogue;
use crate::folder::index_state::{FolderSnapshot, IndexState};
use crate::folder::segments::posting::{PostingList, id_key};
use crate::folder::segments::posting_view::PostingView;
use crate::folder::segments::segment::{Segment, SegmentEntry};
use crate::folder::upkeep::maintenance::count_rows;
use crate::record_check::{EVERYTHING, RecordChecker};
use crate::settings::IndexSettings;
use crate::tables::check::{self, checks};
use std::sync::Arc;

/// Number of documents that are checked at a time.
const BATCH: u64 = 10_000;

/// All problems of a snapshot.
///
/// # Errors
/// As [`Backend::check`](crate::backend::Backend::check).
pub(crate) fn check(state: &Arc<IndexState>) -> Result<Vec<IndexProblem>, IndexError> {
    let mut problems = Vec::new();
    // Segments are opened one by one, so that a damaged one does not hide others.
    let Some((snapshot, segments)) = collect_damage(open_consistent(state), &mut problems)? else {
        return Ok(problems);
    };
    let catalogue = state.place.catalogue().display().to_string();
    for what in integrity(&snapshot)? {
        problems.push(IndexProblem { place: catalogue.clone(), what, repairable: false });
    }
    let mut view = PostingView { generation: snapshot.head.generation, ..PostingView::default() };
    let mut unreadable = Vec::new();
    let mut last_in_segments = 0;
    for (entry, segment) in segments {
        state.place.poll()?;
        last_in_segments = entry.last;
        let segment = segment.and_then(|segment| segment.verify().map(|()| segment));
        match segment {
            Ok(segment) => view.segments.push(Arc::new(segment)),
            Err(error) => {
                unreadable.push((entry.first, entry.last));
                let what = error.damage();
                let repairable = true;
                problems.push(IndexProblem { place: entry.name, what, repairable });
            }
        }
    }
    let count_rows = counts(&snapshot, &mut problems);
    collect_damage(count_rows, &mut problems)?;
    let mut checker = DocumentChecker {
        settings: &state.settings,
        content: RecordChecker::new(&state.settings)?,
        view: &view,
        unreadable,
        last_in_segments: snapshot.head.last.min(last_in_segments),
        keys: Vec::new(),
    };
    let result = documents(&snapshot, &mut checker, &mut problems);
    collect_damage(result, &mut problems)?;
    for check in checks(&state.settings) {
        let result = check(&mut snapshot.tables()?, &mut problems);
        collect_damage(result, &mut problems)?;
    }
    Ok(problems)
}

/// The result of a check; `None` if the catalogue is damaged. Reports the damage as one of the
/// problems, once.
fn collect_damage<T>(
    result: Result<T, IndexError>,
    problems: &mut Vec<IndexProblem>,
) -> Result<Option<T>, IndexError> {
    match result {
        Ok(seen) => Ok(Some(seen)),
        Err(IndexError::DamagedCatalogue { file, why }) => {
            let what = format!("{why}; restore a backup, or export what can be read");
            let problem = IndexProblem { place: file, what, repairable: false };
            if !problems.contains(&problem) {
                problems.push(problem);
            }
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The listed segments, and the results of opening them.
type OpenedSegments = Vec<(SegmentEntry, Result<Segment, IndexError>)>;

/// Opens a snapshot and its segments. If a segment cannot be opened, retries with a later snapshot,
/// because a merge may have removed the segment. If the snapshot is still the newest one, the
/// segment is lost or damaged.
fn open_consistent(
    state: &Arc<IndexState>,
) -> Result<(FolderSnapshot, OpenedSegments), IndexError> {
    for _ in 0..10 {
        let (snapshot, segments) = open_once(state)?;
        let is_newest = state.begin()?.head.generation == snapshot.head.generation;
        if is_newest || segments.iter().all(|(_, segment)| segment.is_ok()) {
            return Ok((snapshot, segments));
        }
    }
    open_once(state)
}

fn open_once(state: &Arc<IndexState>) -> Result<(FolderSnapshot, OpenedSegments), IndexError> {
    let snapshot = state.begin()?;
    let entry = catalogue::segments(snapshot.catalogue()?, &snapshot.head)?;
    let folder = &state.place.folder;
    let open_consistent = entry.into_iter();
    let open_consistent =
        open_consistent.map(|entry| (entry.clone(), Segment::open(folder, entry))).collect();
    Ok((snapshot, open_consistent))
}

/// Problems that SQLite finds.
fn integrity(snapshot: &FolderSnapshot) -> Result<Vec<String>, IndexError> {
    let lines = snapshot.catalogue()?.run(|connection| {
        let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
    });
    match lines {
        Ok(lines) => Ok(lines.into_iter().filter(|line| line != "ok").collect()),
        Err(IndexError::DamagedCatalogue { why, .. }) => Ok(vec![why]),
        Err(error) => Err(error),
    }
}

/// Checks the counts.
fn counts(snapshot: &FolderSnapshot, problems: &mut Vec<IndexProblem>) -> Result<(), IndexError> {
    let count_rows = snapshot.catalogue()?.run(count_rows)?;
    let head = &snapshot.head;
    let pairs = [
        ("documents", head.documents, count_rows.documents),
        ("documents without shingles", head.without_shingles, count_rows.without_shingles),
        ("bytes of sets", head.set_bytes, count_rows.set_bytes),
        ("bytes of texts", head.text_bytes, count_rows.text_bytes),
    ];
    for (name, stored, counted) in pairs {
        if stored != counted {
            let what = format!("the stored count is {stored} {name}, but the index has {counted}");
            problems.push(IndexProblem { place: "state".to_owned(), what, repairable: true });
        }
    }
    if u64::from(head.last) < u64::from(count_rows.last) {
        let what = format!(
            "the last number is {}, but a document has number {}",
            head.last, count_rows.last
        );
        problems.push(IndexProblem { place: "state".to_owned(), what, repairable: true });
    }
    Ok(())
}

struct DocumentChecker<'a> {
    settings: &'a IndexSettings,
    content: RecordChecker<'a>,
    view: &'a PostingView,
    /// Document ranges of unreadable segments, which are already reported.
    unreadable: Vec<(u32, u32)>,
    last_in_segments: u32,
    keys: Vec<u64>,
}

/// Checks set, signature and postings of every document.
fn documents(
    snapshot: &FolderSnapshot,
    checker: &mut DocumentChecker<'_>,
    problems: &mut Vec<IndexProblem>,
) -> Result<(), IndexError> {
    let reader = snapshot.catalogue()?;
    let mut from = DocumentNumber(0);
    while from.0 <= u64::from(snapshot.head.last) {
        let to = DocumentNumber(from.0 + BATCH - 1);
        let result = reader.range((from, to), usize::MAX, EVERYTHING, &mut |record| {
            from = record.number;
            if let Some((what, repairable)) = checker.check_document(record)? {
                let place = format!("document {:?} (number {from})", shortened_id(&record.id));
                problems.push(IndexProblem { place, what, repairable });
            }
            Ok(())
        });
        match result {
            Ok(_) => from = to.next(),
            Err(IndexError::Damaged { what, why }) => {
                problems.push(IndexProblem { place: what, what: why, repairable: false });
                // The row after the last readable row is damaged.
                from = next_row(snapshot, from)?.next();
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The number of the first row after `number`, or the end.
fn next_row(
    snapshot: &FolderSnapshot,
    number: DocumentNumber,
) -> Result<DocumentNumber, IndexError> {
    let sql = "SELECT coalesce(min(doc), 4294967295) FROM docs WHERE doc > ?1";
    let next = snapshot.catalogue()?.run(|connection| {
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_row([number.signed()], |row| row.get::<_, i64>(0))
    })?;
    snapshot.state.place.later("docs", number.signed(), next).map(DocumentNumber::of_signed)
}

impl DocumentChecker<'_> {
    /// The problem of a document, and whether it can be repaired.
    fn check_document(
        &mut self,
        record: &IndexRecord,
    ) -> Result<Option<(String, bool)>, IndexError> {
        if let Some(what) = self.content.problem(record) {
            return Ok(Some((what, false)));
        }
        let set = record.set.as_deref().unwrap_or_default();
        posting_keys(self.settings, &record.signature, set, &mut self.keys)?;
        let number = record.number.0 as u32;
        let is_lost =
            self.unreadable.iter().any(|(first, last)| (*first..=*last).contains(&number));
        // Documents after the last segment have no stored postings.
        if number > self.last_in_segments || is_lost {
            return Ok(None);
        }
        let holds =
            |segment: &&Arc<Segment>| (segment.entry.first..=segment.entry.last).contains(&number);
        let id = [id_key(record.id.as_bytes())];
        let mut found = 0;
        if let Some(segment) = self.view.segments.iter().find(holds) {
            found += segment.count_of(PostingList::Bands, &self.keys, number)?;
            found += segment.count_of(PostingList::Ids, &id, number)?;
        }
        let is_whole = found == self.keys.len() + id.len();
        Ok((!is_whole).then(|| ("its postings are not all there".to_owned(), true)))
    }
}

/// Sizes and counts of a snapshot.
pub(crate) fn stats(snapshot: &FolderSnapshot) -> Result<Stats, IndexError> {
    let catalogue = snapshot.catalogue()?;
    let pages = catalogue.number("PRAGMA page_count")?;
    let log_bytes = std::fs::metadata(catalogue.place.log()).map_or(0, |data| data.len());
    let view = &snapshot.view;
    let sum = |size: &dyn Fn(&Segment) -> u64| {
        view.segments.iter().map(|segment| size(segment)).sum::<u64>()
    };
    let run_postings = view.runs.iter().map(|run| run.bands.len() as u64).sum::<u64>();
    Ok(Stats {
        documents: snapshot.head.documents,
        without_shingles: snapshot.head.without_shingles,
        postings: sum(&|segment| segment.postings(PostingList::Bands)) + run_postings,
        segments: view.segments.len() as u64,
        tail: view.tail() as u64,
        catalogue_bytes: pages * catalogue.number("PRAGMA page_size")? + log_bytes,
        set_bytes: snapshot.head.set_bytes,
        text_bytes: snapshot.head.text_bytes,
        segment_bytes: sum(&Segment::file_bytes),
        originals: check::stats(&mut snapshot.tables()?, &snapshot.state.settings)?,
    })
}
