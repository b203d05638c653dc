//! Merges segments incrementally.

use crate::error::IndexError;
use crate::folder::catalogue;
use crate::folder::catalogue::writer::CatalogueWriter;
use crate::folder::index_state::IndexState;
use crate::folder::segments::posting::{Posting, PostingList};
use crate::folder::segments::posting_cursor::PostingCursor;
use crate::folder::segments::segment::Segment;
use crate::folder::segments::segment_file::SegmentFile;
use crate::folder::write::next_name;
use std::sync::Arc;

/// Number of postings of one sorted batch.
const BATCH: u64 = 1 << 16;

/// Merges adjacent segments and drops removed documents. Returns `false` if the segments no longer
/// exist. No other thread may merge at the same time.
pub(crate) fn merge(
    state: &Arc<IndexState>,
    segments: &[Arc<Segment>],
) -> Result<bool, IndexError> {
    let Some(mut merge) = SegmentMerge::begin(state, segments)? else { return Ok(false) };
    while !merge.step()? {
        state.place.poll()?;
    }
    merge.finish()?;
    Ok(true)
}

/// A running merge of adjacent segments. Its file is removed unless it is finished.
pub(crate) struct SegmentMerge<'a> {
    state: &'a Arc<IndexState>,
    segments: Vec<Arc<Segment>>,
    /// Documents that were removed up to change `changes`.
    dead: TombstoneSet,
    changes: u64,
    file: SegmentFile<'a>,
    list: PostingList,
    /// A cursor over the list in each segment.
    cursors: Vec<PostingCursor>,
    /// The postings of a piece.
    postings: Vec<Posting>,
    /// Number of pieces of the list; `finished_pieces` of them are finished.
    pieces: u64,
    finished_pieces: u64,
    /// Number of postings of all finished pieces.
    merged_postings: u64,
}

impl<'a> SegmentMerge<'a> {
    /// Begins to merge adjacent segments; `None` if they no longer exist.
    pub(crate) fn begin(
        state: &'a Arc<IndexState>,
        segments: &[Arc<Segment>],
    ) -> Result<Option<Self>, IndexError> {
        let name = {
            let mut guard = state.writer.lock();
            let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
            // The transaction that added a segment may have been rolled back.
            let view = state.view();
            let is_listed = |one| view.segments.iter().any(|segment| Arc::ptr_eq(one, segment));
            if !segments.iter().all(is_listed) {
                return Ok(None);
            }
            next_name(&mut writer.head)
        };
        let range = covered(segments);
        let (dead, changes) = {
            let snapshot = state.begin()?;
            let changes = snapshot.head.changes;
            let dead = snapshot
                .catalogue()?
                .run(|connection| catalogue::dead(connection, range, changes))?;
            (TombstoneSet::new(range, &dead), snapshot.head.changes)
        };
        let mut merge = Self {
            state,
            segments: segments.to_vec(),
            dead,
            changes,
            file: SegmentFile::create(&state.place, name)?,
            list: PostingList::Bands,
            cursors: Vec::new(),
            postings: Vec::new(),
            pieces: 0,
            finished_pieces: 0,
            merged_postings: 0,
        };
        merge.begin_list(PostingList::Bands);
        Ok(Some(merge))
    }

    fn begin_list(&mut self, list: PostingList) {
        self.list = list;
        self.cursors =
            self.segments.iter().map(|segment| PostingCursor::new(segment, list)).collect();
        self.pieces = self.postings_of(list).div_ceil(BATCH).max(1);
        self.finished_pieces = 0;
    }

    fn postings_of(&self, list: PostingList) -> u64 {
        self.segments.iter().map(|segment| segment.postings(list)).sum()
    }

    /// Number of documents that were added to its segments.
    pub(crate) fn documents(&self) -> u64 {
        self.segments.iter().map(|segment| segment.documents()).sum()
    }

    /// The merged segments.
    pub(crate) fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    /// Returns true if a segment is being merged.
    pub(crate) fn takes(&self, segment: &Arc<Segment>) -> bool {
        self.segments.iter().any(|one| Arc::ptr_eq(one, segment))
    }

    /// Progress, from 0 to 1.
    pub(crate) fn share_done(&self) -> f64 {
        let all: u64 = PostingList::BOTH.iter().map(|list| self.postings_of(*list)).sum();
        self.merged_postings as f64 / all.max(1) as f64
    }

    /// Merges the next piece, within milliseconds. Returns `true` when the merge can be finished.
    ///
    /// # Errors
    /// Read and write errors of segments. The merge cannot continue after an error.
    #[expect(clippy::stable_sort_primitive, reason = "the stable sort finds sorted pieces")]
    pub(crate) fn step(&mut self) -> Result<bool, IndexError> {
        if self.finished_pieces == self.pieces {
            if self.list == PostingList::Ids {
                return Ok(true);
            }
            self.file.end_bands()?;
            self.begin_list(PostingList::Ids);
        }
        self.finished_pieces += 1;
        // Keys are hashes, so equal ranges of them contain about equally many postings. The end of
        // the last range, 2⁶⁴, becomes the greatest key.
        let end = (u128::from(self.finished_pieces) << 64) / u128::from(self.pieces);
        let most = u64::try_from(end).unwrap_or(u64::MAX);
        self.postings.clear();
        for cursor in &mut self.cursors {
            self.merged_postings +=
                cursor.take_up_to(most, |number| self.dead.has(number), &mut self.postings)?;
        }
        self.postings.sort();
        for (key, number) in &self.postings {
            self.file.push(*key, *number)?;
        }
        Ok(false)
    }

    /// Replaces the segments by the merged one, and removes the old files.
    ///
    /// # Errors
    /// Write errors. After an error, nothing has changed.
    pub(crate) fn finish(self) -> Result<(), IndexError> {
        let state = self.state;
        let segments = &self.segments;
        let remaining = self.documents().saturating_sub(self.dead.count);
        let level = state.tuning.level(remaining);
        let next_level = segments.iter().map(|segment| segment.entry.level + 1).max().unwrap_or(0);
        let level =
            if segments.len() >= state.tuning.fan_out { level.max(next_level) } else { level };
        let before = segments.iter().map(|segment| segment.entry.dropped).max().unwrap_or(0);
        let dropped = if self.dead.count == 0 { before } else { self.changes };
        let merged = Arc::new(self.file.finish(covered(segments), level, dropped)?);
        let swapped = swap(state, segments, &[Arc::clone(&merged)], self.changes, |_| {});
        if swapped.is_err() {
            remove_files(state, &[merged]);
        }
        swapped
    }
}

/// The range of documents of adjacent segments.
fn covered(segments: &[Arc<Segment>]) -> (u32, u32) {
    let first = segments.first().map_or(0, |segment| segment.entry.first);
    let last = segments.last().map_or(0, |segment| segment.entry.last);
    (first, last)
}

/// Replaces adjacent segments by others in one transaction, which also runs `update`. Then removes
/// the files of the replaced segments.
///
/// # Errors
/// Write errors. After an error, nothing has changed.
pub(crate) fn swap(
    state: &IndexState,
    old: &[Arc<Segment>],
    new: &[Arc<Segment>],
    changes: u64,
    update: impl FnOnce(&mut CatalogueWriter),
) -> Result<(), IndexError> {
    let mut guard = state.writer.lock();
    let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
    let place = &state.place;
    writer.transaction(state, |writer, view| {
        update(writer);
        let failed = |error| place.database(error);
        for segment in old {
            let name = &segment.entry.name;
            catalogue::unlist_segment(&writer.connection, name).map_err(failed)?;
            let range = (segment.entry.first, segment.entry.last);
            catalogue::remove_tombstones(&writer.connection, range, changes).map_err(failed)?;
        }
        for segment in new {
            catalogue::list_segment(&writer.connection, &segment.entry).map_err(failed)?;
        }
        writer.head.generation += 1;
        view.generation = writer.head.generation;
        let is_old = |name: &str| old.iter().any(|segment| segment.entry.name == name);
        view.segments.retain(|segment| !is_old(&segment.entry.name));
        view.segments.extend_from_slice(new);
        view.segments.sort_by_key(|segment| segment.entry.first);
        Ok(())
    })?;
    drop(guard);
    remove_files(state, old);
    Ok(())
}

/// Removes files of unlisted segments. The next writer removes files that cannot be removed because
/// another process reads them.
fn remove_files(state: &IndexState, segments: &[Arc<Segment>]) {
    for segment in segments {
        let _ = std::fs::remove_file(state.place.folder.join(&segment.entry.name));
    }
}

/// Removed documents of a range.
struct TombstoneSet {
    first: u32,
    bits: Vec<u64>,
    count: u64,
}

impl TombstoneSet {
    fn new((first, last): (u32, u32), numbers: &[u32]) -> Self {
        let words = if numbers.is_empty() { 0 } else { (last - first) as usize / 64 + 1 };
        let mut bits = vec![0; words];
        for number in numbers {
            let at = (number - first) as usize;
            bits[at / 64] |= 1 << (at % 64);
        }
        Self { first, bits, count: numbers.len() as u64 }
    }

    fn has(&self, number: u32) -> bool {
        let at = number.wrapping_sub(self.first) as usize;
        self.bits.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dead_are_known() {
        let dead = TombstoneSet::new((10, 200), &[10, 74, 200]);
        let known: Vec<u32> = (0..300).filter(|number| dead.has(*number)).collect();
        assert_eq!(known, [10, 74, 200]);
        assert!(!TombstoneSet::new((10, 200), &[]).has(10));
    }
}
