//! Looks through everything that is stored.

use super::catalogue;
use super::index_state::{FolderSnapshot, IndexState};
use super::maintenance::counted;
use super::posting::{PostingList, id_key};
use super::posting_view::PostingView;
use super::segment::Segment;
use crate::backend::{IndexProblem, Stats, posting_keys};
use crate::entry::{IndexRecord, RecordFields, shown};
use crate::error::IndexError;
use crate::set;
use crate::settings::{IndexSettings, StoredContent};
use lookalike_core::signature::Signer;
use std::sync::Arc;

/// Documents looked at between two looks into the tail.
const AT_ONCE: u64 = 10_000;

/// Everything that is wrong at this moment.
///
/// # Errors
/// As [`Backend::check`](crate::backend::Backend::check).
pub(super) fn check(shared: &Arc<IndexState>) -> Result<Vec<IndexProblem>, IndexError> {
    let mut problems = Vec::new();
    // Segments are opened here, one by one, so that a damaged one hides nothing.
    let Some((moment, segments)) = noted(opened(shared), &mut problems)? else {
        return Ok(problems);
    };
    let catalogue = shared.place.catalogue().display().to_string();
    for what in integrity(&moment)? {
        problems.push(IndexProblem { place: catalogue.clone(), what, repairable: false });
    }
    let mut parts = PostingView { generation: moment.head.generation, ..PostingView::default() };
    let mut lost = Vec::new();
    let mut in_segments = 0;
    for (listed, segment) in segments {
        in_segments = listed.last;
        let segment = segment.and_then(|segment| segment.verify().map(|()| segment));
        match segment {
            Ok(segment) => parts.segments.push(Arc::new(segment)),
            Err(error) => {
                lost.push((listed.first, listed.last));
                let (what, repairable) = (reason(&error), true);
                problems.push(IndexProblem { place: listed.name, what, repairable });
            }
        }
    }
    let counted = counts(&moment, &mut problems);
    noted(counted, &mut problems)?;
    let mut look = DocumentChecker {
        settings: &shared.settings,
        signer: signer(&shared.settings)?,
        parts: &parts,
        lost,
        in_segments: moment.head.last.min(in_segments),
        keys: Vec::new(),
        set: Vec::new(),
    };
    let looked = documents(&moment, &mut look, &mut problems);
    noted(looked, &mut problems)?;
    Ok(problems)
}

/// What came of a look; a damaged catalogue is among the problems, once.
fn noted<T>(
    looked: Result<T, IndexError>,
    problems: &mut Vec<IndexProblem>,
) -> Result<Option<T>, IndexError> {
    match looked {
        Ok(seen) => Ok(Some(seen)),
        Err(IndexError::DamagedCatalogue { file, why }) => {
            let what = format!(
                "{why}; restore a backup, or save what can be read with `lookalike index export`"
            );
            let problem = IndexProblem { place: file, what, repairable: false };
            if !problems.contains(&problem) {
                problems.push(problem);
            }
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What was listed, and what came of opening it.
type OpenedSegments = Vec<(super::segment::SegmentEntry, Result<Segment, IndexError>)>;

/// A moment whose segments were all there when they were opened, or are really missing.
fn opened(shared: &Arc<IndexState>) -> Result<(FolderSnapshot, OpenedSegments), IndexError> {
    for _ in 0..10 {
        let (moment, segments) = open_once(shared)?;
        let is_newest = shared.begin()?.head.generation == moment.head.generation;
        if is_newest || segments.iter().all(|(_, segment)| segment.is_ok()) {
            return Ok((moment, segments));
        }
    }
    open_once(shared)
}

fn open_once(shared: &Arc<IndexState>) -> Result<(FolderSnapshot, OpenedSegments), IndexError> {
    let moment = shared.begin()?;
    let listed = catalogue::segments(&shared.place, moment.connection(), &moment.head)?;
    let folder = &shared.place.folder;
    let opened = listed.into_iter();
    let opened = opened.map(|listed| (listed.clone(), Segment::open(folder, listed))).collect();
    Ok((moment, opened))
}

/// What signs shingle sets again; none where there are no sets.
fn signer(settings: &IndexSettings) -> Result<Option<Signer>, IndexError> {
    if settings.store == StoredContent::Signatures {
        return Ok(None);
    }
    let params = settings.params()?;
    Ok(Some(Signer::new(params.scheme(), settings.num_hashes, params.seed())))
}

/// What SQLite finds wrong.
fn integrity(moment: &FolderSnapshot) -> Result<Vec<String>, IndexError> {
    let look = || -> rusqlite::Result<Vec<String>> {
        let mut statement = moment.connection().prepare("PRAGMA integrity_check(20)")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    match look() {
        Ok(lines) => Ok(lines.into_iter().filter(|line| line != "ok").collect()),
        Err(error) => match moment.shared.place.database(error) {
            IndexError::DamagedCatalogue { why, .. } => Ok(vec![why]),
            error => Err(error),
        },
    }
}

/// Whether the counts are right.
fn counts(moment: &FolderSnapshot, problems: &mut Vec<IndexProblem>) -> Result<(), IndexError> {
    let counted = counted(moment.connection());
    let counted = counted.map_err(|error| moment.shared.place.database(error))?;
    let head = &moment.head;
    let pairs = [
        ("documents", head.documents, counted.documents),
        ("documents without shingles", head.without_shingles, counted.without_shingles),
        ("bytes of sets", head.set_bytes, counted.set_bytes),
        ("bytes of texts", head.text_bytes, counted.text_bytes),
    ];
    for (name, stored, there) in pairs {
        if stored != there {
            let what = format!("{stored} {name} are counted, {there} are there");
            problems.push(IndexProblem { place: "state".to_owned(), what, repairable: true });
        }
    }
    if u64::from(head.last) < u64::from(counted.last) {
        let what = format!("the last number is {}, {} is there", head.last, counted.last);
        problems.push(IndexProblem { place: "state".to_owned(), what, repairable: true });
    }
    Ok(())
}

struct DocumentChecker<'a> {
    settings: &'a IndexSettings,
    /// None where there are no sets.
    signer: Option<Signer>,
    parts: &'a PostingView,
    /// Documents of segments that cannot be read, which were reported already.
    lost: Vec<(u32, u32)>,
    in_segments: u32,
    keys: Vec<u64>,
    set: Vec<u64>,
}

/// Every document: its set, its signature, its postings.
fn documents(
    moment: &FolderSnapshot,
    look: &mut DocumentChecker<'_>,
    problems: &mut Vec<IndexProblem>,
) -> Result<(), IndexError> {
    let reader = moment.reader();
    let wanted = RecordFields { signature: true, set: true, metadata: true, text: true };
    let mut from = 0;
    while from <= u64::from(moment.head.last) {
        let to = from + AT_ONCE - 1;
        let looked = reader.range((from, to), usize::MAX, wanted, &mut |record| {
            from = record.number;
            if let Some((what, repairable)) = look.at(record)? {
                let place = format!("document {:?} (number {from})", shown(&record.id));
                problems.push(IndexProblem { place, what, repairable });
            }
            Ok(())
        });
        match looked {
            Ok(_) => from = to + 1,
            Err(IndexError::Damaged { what, why }) => {
                problems.push(IndexProblem { place: what, what: why, repairable: false });
                // The row after the last one that could be read is the damaged one.
                from = next_row(moment, from)? + 1;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The number of the first row behind `number`, or, where there is none, the end.
fn next_row(moment: &FolderSnapshot, number: u64) -> Result<u64, IndexError> {
    let sql = "SELECT coalesce(min(doc), 4294967295) FROM docs WHERE doc > ?1";
    let mut statement = moment
        .connection()
        .prepare_cached(sql)
        .map_err(|error| moment.shared.place.database(error))?;
    let row = statement.query_row([number.cast_signed()], |row| row.get::<_, i64>(0));
    row.map(i64::cast_unsigned).map_err(|error| moment.shared.place.database(error))
}

impl DocumentChecker<'_> {
    /// What is wrong with a document, and whether it can be repaired.
    fn at(&mut self, record: &IndexRecord) -> Result<Option<(String, bool)>, IndexError> {
        if let Some(what) = self.content(record) {
            return Ok(Some((what, false)));
        }
        let set = record.set.as_deref().unwrap_or_default();
        posting_keys(self.settings, &record.signature, set, &mut self.keys)?;
        let number = record.number as u32;
        let is_lost = self.lost.iter().any(|(first, last)| (*first..=*last).contains(&number));
        // What is behind the last segment is looked for nowhere: its row is where it is.
        if number > self.in_segments || is_lost {
            return Ok(None);
        }
        let holds = |segment: &&Arc<Segment>| {
            (segment.listed.first..=segment.listed.last).contains(&number)
        };
        let id = [id_key(record.id.as_bytes())];
        let mut found = 0;
        if let Some(segment) = self.parts.segments.iter().find(holds) {
            for (list, keys) in [(PostingList::Bands, &self.keys[..]), (PostingList::Ids, &id)] {
                let mut before = None;
                segment.find(list, keys, |at, other| {
                    let is_new = other == number && before != Some(at);
                    found += usize::from(is_new);
                    before = if is_new { Some(at) } else { before };
                })?;
            }
        }
        let is_whole = found == self.keys.len() + id.len();
        Ok((!is_whole).then(|| ("its postings are not all there".to_owned(), true)))
    }

    fn content(&mut self, record: &IndexRecord) -> Option<String> {
        let (got, expected) = (record.signature.len(), self.settings.num_hashes);
        if got != 0 && got != expected {
            return Some(format!("its signature has {got} values, expected are {expected}"));
        }
        let signer = self.signer.as_mut()?;
        let Some(code) = &record.set else { return Some("it has no shingle set".to_owned()) };
        if let Err(error) = set::decode(code, &mut self.set) {
            return Some(reason(&error));
        }
        let upper: Vec<u32> = self.set.iter().map(|hash| (hash >> 32) as u32).collect();
        let signature = if upper.is_empty() { &[][..] } else { signer.sign(&upper) };
        let differs = signature != record.signature;
        differs.then(|| "its signature is not that of its shingle set".to_owned())
    }
}

/// What is wrong, without the place, which is reported separately.
fn reason(error: &IndexError) -> String {
    match error {
        IndexError::Damaged { why, .. } | IndexError::DamagedCatalogue { why, .. } => why.clone(),
        error => error.to_string(),
    }
}

/// Sizes and counts of a moment.
///
/// # Errors
/// What SQLite and the system say.
pub(super) fn stats(moment: &FolderSnapshot) -> Result<Stats, IndexError> {
    let place = &moment.shared.place;
    let number = |pragma: &str| -> Result<u64, IndexError> {
        let sql = format!("PRAGMA {pragma}");
        let got = moment.connection().query_row(&sql, [], |row| row.get::<_, i64>(0));
        got.map(i64::cast_unsigned).map_err(|error| place.database(error))
    };
    let log_bytes = std::fs::metadata(place.log()).map_or(0, |data| data.len());
    let parts = &moment.parts;
    let sum = |of: &dyn Fn(&Segment) -> u64| parts.segments.iter().map(|one| of(one)).sum::<u64>();
    let run_postings = parts.runs.iter().map(|run| run.bands.len() as u64).sum::<u64>();
    Ok(Stats {
        documents: moment.head.documents,
        without_shingles: moment.head.without_shingles,
        postings: sum(&|segment| segment.postings(PostingList::Bands)) + run_postings,
        segments: parts.segments.len() as u64,
        tail: parts.tail() as u64,
        catalogue_bytes: number("page_count")? * number("page_size")? + log_bytes,
        set_bytes: moment.head.set_bytes,
        text_bytes: moment.head.text_bytes,
        segment_bytes: sum(&Segment::file_bytes),
    })
}
