//! Several segments become one, beside everything else that goes on.

use super::catalogue;
use super::posting::List;
use super::segment::Segment;
use super::segment_file::SegmentFile;
use super::shared::{Shared, lock};
use super::write::next_name;
use crate::error::IndexError;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Postings that are sorted at once.
const AT_ONCE: u64 = 1 << 16;

/// What the thread that merges is told, and tells.
#[derive(Default)]
pub(super) struct Signal {
    told: Mutex<Told>,
    changed: Condvar,
}

#[derive(Default)]
struct Told {
    /// There is a new segment.
    flushed: bool,
    /// The thread is to end.
    end: bool,
    /// The last merge failed: nobody needs to wait for another.
    failed: bool,
}

impl Signal {
    /// There is a new segment.
    pub(super) fn flushed(&self) {
        let mut told = lock(&self.told);
        (told.flushed, told.failed) = (true, false);
        self.changed.notify_all();
    }

    /// The thread is to end, after the merge that is under way.
    pub(super) fn end(&self) {
        lock(&self.told).end = true;
        self.changed.notify_all();
    }

    fn ends(&self) -> bool {
        lock(&self.told).end
    }

    /// Waits for something to do; `false` when the thread is to end.
    fn next(&self) -> bool {
        let told = lock(&self.told);
        let idle = |told: &mut Told| !told.flushed && !told.end;
        let told = self.changed.wait_while(told, idle);
        let mut told = told.unwrap_or_else(PoisonError::into_inner);
        told.flushed = false;
        !told.end
    }

    fn merged(&self, is_done: bool) {
        lock(&self.told).failed = !is_done;
        self.changed.notify_all();
    }

    /// Lets a writer wait while there are so many segments that looking into each would cost more
    /// than merging them.
    pub(super) fn wait_while_behind(&self, shared: &Shared) {
        if !shared.tuning.background {
            return;
        }
        let most = shared.tuning.fan_out * 6;
        let mut told = lock(&self.told);
        while shared.parts().segments.len() > most && !told.failed && !told.end {
            let waited = self.changed.wait_timeout(told, Duration::from_millis(20));
            told = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What the thread does that merges, to the end.
pub(super) fn work(shared: &Arc<Shared>) {
    while shared.signal.next() {
        while !shared.signal.ends() {
            // What fails is tried again when there is one more segment, and by `compact`, which
            // says why it cannot be done; until then nothing is wrong but the speed.
            let merged = merge_one(shared);
            shared.signal.merged(merged.is_ok());
            if !matches!(merged, Ok(true)) {
                break;
            }
        }
    }
}

/// Merges what should be merged first, if anything.
///
/// # Errors
/// What keeps segments from being read or written.
fn merge_one(shared: &Arc<Shared>) -> Result<bool, IndexError> {
    let _one = lock(&shared.merging);
    let parts = shared.parts();
    let levels: Vec<u32> = parts.segments.iter().map(|segment| segment.listed.level).collect();
    let Some(range) = plan(&levels, shared.tuning.fan_out) else { return Ok(false) };
    merge(shared, &parts.segments[range])?;
    Ok(true)
}

/// Which segments are merged next: neighbours of the least level of which there are enough, with
/// the smaller ones between them; or any, where too many of different levels lie side by side.
fn plan(levels: &[u32], fan_out: usize) -> Option<std::ops::Range<usize>> {
    let mut known: Vec<u32> = levels.to_vec();
    known.sort_unstable();
    known.dedup();
    known.into_iter().find_map(|most| {
        let mut start = 0;
        levels.split(|level| *level > most).find_map(|group| {
            let range = start..start + group.len();
            start = range.end + 1;
            let same = group.iter().filter(|level| **level == most).count();
            (same >= fan_out || group.len() >= 3 * fan_out).then_some(range)
        })
    })
}

/// Makes one segment of neighbours; documents that are gone are left out. `merging` is held.
///
/// # Errors
/// What keeps segments from being read or written.
pub(super) fn merge(shared: &Arc<Shared>, segments: &[Arc<Segment>]) -> Result<(), IndexError> {
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else { return Ok(()) };
    let range = (first.listed.first, last.listed.last);
    let failed = |error| shared.place.database(error);
    let (dead, changes) = {
        let moment = shared.begin()?;
        let dead = catalogue::dead(moment.connection(), range, moment.head.changes);
        (Dead::new(range, &dead.map_err(failed)?), moment.head.changes)
    };
    let name = {
        let mut held = lock(&shared.writer);
        next_name(&mut held.as_mut().ok_or_else(|| shared.read_only())?.head)
    };
    let mut file = SegmentFile::create(&shared.place, name)?;
    for list in List::BOTH {
        if list == List::Ids {
            file.end_bands()?;
        }
        merge_list(segments, list, &dead, &mut file)?;
    }
    let documents: u64 = segments.iter().map(|segment| segment.documents()).sum();
    let level = shared.tuning.level(documents.saturating_sub(dead.count));
    let above = segments.iter().map(|segment| segment.listed.level + 1).max().unwrap_or(0);
    let level = if segments.len() >= shared.tuning.fan_out { level.max(above) } else { level };
    let before = segments.iter().map(|segment| segment.listed.dropped).max().unwrap_or(0);
    let dropped = if dead.count == 0 { before } else { changes };
    let merged = Arc::new(file.finish(range, level, dropped)?);
    let swapped = swap(shared, segments, &[Arc::clone(&merged)], changes);
    if swapped.is_err() {
        remove_files(shared, &[merged]);
    }
    swapped
}

/// Puts other segments into the place of neighbours, in one transaction, and removes their files.
///
/// # Errors
/// What keeps it from being stored; nothing has changed then.
pub(super) fn swap(
    shared: &Shared,
    old: &[Arc<Segment>],
    new: &[Arc<Segment>],
    changes: u64,
) -> Result<(), IndexError> {
    let mut held = lock(&shared.writer);
    let writer = held.as_mut().ok_or_else(|| shared.read_only())?;
    let place = &shared.place;
    writer.transaction(shared, |writer, parts| {
        let failed = |error| place.database(error);
        for segment in old {
            let name = &segment.listed.name;
            catalogue::unlist_segment(&writer.connection, name).map_err(failed)?;
            let range = (segment.listed.first, segment.listed.last);
            catalogue::forget_dead(&writer.connection, range, changes).map_err(failed)?;
        }
        for segment in new {
            catalogue::list_segment(&writer.connection, &segment.listed).map_err(failed)?;
        }
        writer.head.generation += 1;
        parts.generation = writer.head.generation;
        let is_old = |name: &str| old.iter().any(|segment| segment.listed.name == name);
        parts.segments.retain(|segment| !is_old(&segment.listed.name));
        parts.segments.extend_from_slice(new);
        parts.segments.sort_by_key(|segment| segment.listed.first);
        Ok(())
    })?;
    drop(held);
    remove_files(shared, old);
    Ok(())
}

/// Removes files of segments that are in no list. What cannot be removed now, since another system
/// keeps it for those who read it, is removed by the next writer.
fn remove_files(shared: &Shared, segments: &[Arc<Segment>]) {
    for segment in segments {
        let _ = std::fs::remove_file(shared.place.folder.join(&segment.listed.name));
    }
}

#[expect(clippy::stable_sort_primitive, reason = "the stable sort finds sorted pieces")]
fn merge_list(
    segments: &[Arc<Segment>],
    list: List,
    dead: &Dead,
    file: &mut SegmentFile<'_>,
) -> Result<(), IndexError> {
    let total: u64 = segments.iter().map(|segment| segment.postings(list)).sum();
    let mut cursors: Vec<_> = segments.iter().map(|segment| segment.cursor(list)).collect();
    let mut postings = Vec::new();
    // Keys are hashes: equal ranges of them have about equally many postings.
    let ranges = total.div_ceil(AT_ONCE).max(1);
    for range in 1..=ranges {
        // 2⁶⁴ at the end of the last range becomes the greatest key.
        let end = (u128::from(range) << 64) / u128::from(ranges);
        let most = u64::try_from(end).unwrap_or(u64::MAX);
        postings.clear();
        for cursor in &mut cursors {
            cursor.take_up_to(most, |number| dead.has(number), &mut postings)?;
        }
        postings.sort();
        for (key, number) in &postings {
            file.push(*key, *number)?;
        }
    }
    Ok(())
}

/// Documents of a range that are gone.
struct Dead {
    first: u32,
    bits: Vec<u64>,
    count: u64,
}

impl Dead {
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
    fn enough_neighbours_of_a_level_are_merged() {
        assert_eq!(plan(&[], 3), None);
        assert_eq!(plan(&[2, 1, 0, 0], 3), None);
        assert_eq!(plan(&[2, 1, 0, 0, 0], 3), Some(2..5));
        assert_eq!(plan(&[0, 0, 2, 0, 0, 0], 3), Some(3..6));
        assert_eq!(plan(&[0, 0, 0, 2, 0, 0, 0], 3), Some(0..3));
        assert_eq!(plan(&[2, 0, 2, 0], 3), None);
        assert_eq!(plan(&[2, 0, 2, 0, 2], 3), Some(0..5));
        assert_eq!(plan(&[3, 1, 0, 1, 0, 1], 3), Some(1..6));
        assert_eq!(plan(&[2, 0, 1, 0, 1, 0, 2, 0, 0], 3), Some(0..9));
    }

    #[test]
    fn the_number_of_segments_stays_small() {
        let (fan_out, mut levels) = (4, Vec::new());
        for step in 0..20_000u32 {
            levels.push(if step.is_multiple_of(97) { 2 } else { 0 });
            while let Some(range) = plan(&levels, fan_out) {
                let above = levels[range.clone()].iter().max().unwrap() + 1;
                levels.splice(range, [above]);
            }
            assert!(levels.len() <= 40, "{levels:?}");
        }
    }

    #[test]
    fn the_dead_are_known() {
        let dead = Dead::new((10, 200), &[10, 74, 200]);
        let known: Vec<u32> = (0..300).filter(|number| dead.has(*number)).collect();
        assert_eq!(known, [10, 74, 200]);
        assert!(!Dead::new((10, 200), &[]).has(10));
    }
}
