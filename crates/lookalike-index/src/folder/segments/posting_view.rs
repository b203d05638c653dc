//! The searchable view of postings: segments, then runs of the documents in no segment.

use crate::backend::posting_keys;
use crate::error::IndexError;
use crate::folder::catalogue;
use crate::folder::catalogue::connection::Catalogue;
use crate::folder::catalogue::state::CatalogueState;
use crate::folder::segments::posting::{Posting, PostingList, PostingRun, id_key};
use crate::folder::segments::segment::Segment;
use crate::settings::IndexSettings;
use rusqlite::Connection;
use std::sync::Arc;

/// Limit of postings in memory for each document of the tail, in an index for containment.
const TAIL_POSTINGS: usize = 64;
/// Maximum number of postings collected at a time.
const MAX_COLLECTED: usize = 1 << 25;

/// The postings of all documents up to `last`. Documents that were removed up to change
/// [`dropped`](Self::dropped) may be missing. Immutable; changes create another view.
#[derive(Debug, Clone, Default)]
pub(crate) struct PostingView {
    /// The segments, by ascending document numbers.
    pub(crate) segments: Vec<Arc<Segment>>,
    /// The runs of documents after the last segment, by ascending document numbers.
    pub(crate) runs: Vec<Arc<PostingRun>>,
    /// The generation of the list of segments.
    pub(crate) generation: u64,
    /// The greatest document number.
    pub(crate) last: u32,
    /// Documents of the runs that were removed up to this change may be missing.
    pub(crate) runs_dropped: u64,
}

impl PostingView {
    /// Returns true if it contains all documents of a snapshot.
    pub(crate) fn covers(&self, head: &CatalogueState) -> bool {
        self.last >= head.last && self.dropped() <= head.changes
    }

    /// The change up to which removed documents may be missing.
    pub(crate) fn dropped(&self) -> u64 {
        let segments = self.segments.iter().map(|segment| segment.entry.dropped);
        segments.max().unwrap_or(0).max(self.runs_dropped)
    }

    /// The number of documents in runs.
    pub(crate) fn tail(&self) -> usize {
        self.runs.iter().map(|run| run.documents()).sum()
    }

    /// Returns true if the runs should become a segment: they contain more than `most` documents
    /// or, in an index for containment, more postings than allowed.
    pub(crate) fn is_tail_full(&self, most: usize, settings: &IndexSettings) -> bool {
        let postings = || self.runs.iter().map(|run| run.bands.len()).sum::<usize>();
        self.tail() > most
            || settings.containment.is_some() && postings() > most.saturating_mul(TAIL_POSTINGS)
    }

    /// Number of documents with postings.
    pub(crate) fn documents(&self) -> u64 {
        let last_in_segments: u64 = self.segments.iter().map(|segment| segment.documents()).sum();
        last_in_segments + self.tail() as u64
    }

    /// The last document of the last segment.
    pub(crate) fn last_in_segments(&self) -> u32 {
        self.segments.last().map_or(0, |segment| segment.entry.last)
    }

    /// Calls `each` with the place of a key and a document with this key.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] for a damaged segment.
    pub(crate) fn find(
        &self,
        list: PostingList,
        keys: &[u64],
        mut each: impl FnMut(usize, u32),
    ) -> Result<(), IndexError> {
        self.segments.iter().try_for_each(|segment| segment.find(list, keys, &mut each))?;
        self.runs.iter().for_each(|run| run.find(list, keys, &mut each));
        Ok(())
    }

    /// Appends a run. Runs of similar size are merged to keep their number small.
    pub(crate) fn push(&mut self, run: PostingRun) {
        let mut run = Arc::new(run);
        while let Some(before) = self.runs.pop_if(|last| last.documents() < 2 * run.documents()) {
            run = Arc::new(before.merged(&run));
        }
        self.runs.push(run);
    }

    /// A view of all postings of a snapshot, which reuses the postings of this view.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] for a segment that is missing or differs from the list.
    pub(crate) fn refreshed(
        &self,
        catalogue: Catalogue<'_>,
        settings: &IndexSettings,
        head: &CatalogueState,
    ) -> Result<Self, IndexError> {
        let mut view = self.clone();
        if view.generation != head.generation || view.last == 0 {
            let known = std::mem::take(&mut view.segments);
            for entry in catalogue::segments(catalogue, head)? {
                let same = known.iter().find(|known| known.entry == entry);
                let segment = match same {
                    Some(segment) => Arc::clone(segment),
                    None => Arc::new(Segment::open(&catalogue.place.folder, entry)?),
                };
                view.segments.push(segment);
            }
            if view.last_in_segments() != self.last_in_segments() {
                view.runs.clear();
                view.runs_dropped = 0;
                view.last = view.last_in_segments();
            }
            view.generation = head.generation;
        }
        let range = (u64::from(view.last) + 1, u64::from(head.last));
        let (run, ..) = collect_run(catalogue, settings, range, None)?;
        if range.0 <= range.1 {
            // Rows that are already removed are in no run, although earlier snapshots contain them.
            view.runs_dropped = view.runs_dropped.max(head.changes);
        }
        if run.documents() > 0 {
            view.push(run);
        }
        view.last = head.last.max(view.last);
        Ok(view)
    }
}

/// Collects the postings of the documents in a range from their rows. Returns the postings, the
/// number of the last document, and whether the range has no more documents. Collects at most
/// `most` documents, or fewer if they have many postings. A row with an invalid signature or set is
/// found only by its id; `check` reports it.
///
/// # Errors
/// Errors of SQLite. [`IndexError::DamagedCatalogue`] if the rows are not in order, because a
/// caller that continues after the last one would never end.
pub(crate) fn collect_run(
    catalogue: Catalogue<'_>,
    settings: &IndexSettings,
    (from, to): (u64, u64),
    most: Option<usize>,
) -> Result<(PostingRun, u32, bool), IndexError> {
    let mut is_sorted = true;
    let collect = |connection: &Connection| -> rusqlite::Result<(PostingRun, u32, bool)> {
        let mut bands = Vec::<Posting>::new();
        let mut ids = Vec::<Posting>::new();
        let mut keys = Vec::new();
        let mut values = Vec::new();
        let mut last = 0;
        let mut least = from;
        let sql = if settings.containment.is_some() {
            "SELECT docs.doc, id, signature, code FROM docs LEFT JOIN sets ON sets.doc = docs.doc
            WHERE docs.doc BETWEEN ?1 AND ?2 ORDER BY docs.doc"
        } else {
            "SELECT doc, id, signature, NULL FROM docs WHERE doc BETWEEN ?1 AND ?2 ORDER BY doc"
        };
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([from.cast_signed(), to.cast_signed()])?;
        let is_full = |ids: &[Posting], bands: &[Posting]| {
            most.is_some_and(|most| ids.len() >= most || bands.len() >= MAX_COLLECTED)
        };
        let mut is_end = false;
        while !is_full(&ids, &bands) {
            let Some(row) = rows.next()? else {
                is_end = true;
                break;
            };
            last = row.get(0)?;
            is_sorted &= u64::from(last) >= least;
            least = u64::from(last) + 1;
            ids.push((id_key(row.get_ref(1)?.as_bytes()?), last));
            let (signature, rest) = row.get_ref(2)?.as_blob()?.as_chunks::<4>();
            if signature.len() == settings.num_hashes && rest.is_empty() {
                values.clear();
                values.extend(signature.iter().map(|value| u32::from_le_bytes(*value)));
                let set = row.get_ref(3)?.as_blob_or_null()?.unwrap_or_default();
                if posting_keys(settings, &values, set, &mut keys).is_ok() {
                    bands.extend(keys.iter().map(|key| (*key, last)));
                }
            }
        }
        Ok((PostingRun::sorted(bands, ids), last, is_end))
    };
    let collected = catalogue.run(collect)?;
    if is_sorted {
        Ok(collected)
    } else {
        Err(catalogue.place.damaged_catalogue("its documents are not in order".to_owned()))
    }
}
