//! Schedules merges of segments on a separate thread, in proportion to additions.
//!
//! Merging a large segment takes seconds, which would delay additions. Several merges therefore run
//! interleaved, each in proportion to the documents that were added since it began. A merge ends
//! before there are enough segments for the next merge of its level. While nothing is added, all
//! merges run at full speed.

use crate::error::IndexError;
use crate::folder::index_state::IndexState;
use crate::folder::segments::posting_view::PostingView;
use crate::folder::segments::segment::Segment;
use crate::folder::upkeep::merge::SegmentMerge;
use crate::folder::upkeep::merge_signal::MergeSignal;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Documents that are added per merged document before a merge is due.
const SPREAD: f64 = 0.75;
/// Bounds of the idle timeout, the time without additions after which merges run at full speed.
const MIN_IDLE_TIMEOUT: Duration = Duration::from_millis(100);
const MAX_IDLE_TIMEOUT: Duration = Duration::from_secs(2);

impl MergeSignal {
    /// Blocks a writer while there are so many segments that searching them costs more than merging
    /// them.
    pub(crate) fn wait_for_merges(&self, state: &IndexState) {
        if !state.tuning.background {
            return;
        }
        let most = 10 * state.tuning.fan_out;
        let mut flags = self.flags.lock();
        while state.view().segments.len() > most && !flags.failed && !flags.end {
            self.changed.wait_for(&mut flags, Duration::from_millis(20));
        }
    }
}

/// Number of segments at which merges run at full speed. Scheduled merges leave fewer segments, up
/// to hundreds of millions of documents.
fn merge_backlog_limit(fan_out: usize) -> usize {
    8 * fan_out
}

/// The main loop of the merging thread.
pub(crate) fn work(state: &Arc<IndexState>) {
    while let Some(_turn) = state.signal.next() {
        // A failed merge is retried after the next new segment, and by `compact`, which reports the
        // error. Until then, only speed is affected.
        let result = merge_all(state);
        state.signal.merged(result.is_ok());
    }
}

/// Runs merges until none is due or a thread requests exclusive access.
///
/// # Errors
/// The first error; merges of other segments continue.
fn merge_all(state: &Arc<IndexState>) -> Result<(), IndexError> {
    let mut merges =
        RunningMerges { state, running: Vec::new(), failed_segments: Vec::new(), error: None };
    let mut adding = WriteActivity::new(state.view().last, Instant::now());
    while !state.signal.has_waiters() {
        let view = state.view();
        let ends = state.signal.ends();
        if !ends && merges.begin(&view) {
            continue;
        }
        let at_once = ends
            || adding.has_ended(view.last, Instant::now())
            || view.segments.len() >= merge_backlog_limit(state.tuning.fan_out);
        match next(merges.lags(view.last), at_once) {
            NextStep::Nothing => break,
            NextStep::Wait => state.signal.pause(MIN_IDLE_TIMEOUT),
            NextStep::Step(at) => merges.advance(at),
        }
    }
    merges.error.map_or(Ok(()), Err)
}

/// The running merges.
struct RunningMerges<'a> {
    state: &'a Arc<IndexState>,
    running: Vec<(SegmentMerge<'a>, MergePace)>,
    /// Segments whose merge failed.
    failed_segments: Vec<Arc<Segment>>,
    /// The error of the first failed merge. It is stored until the other merges are done. They
    /// continue, because they keep queries fast and do not depend on the failed one.
    error: Option<IndexError>,
}

impl RunningMerges<'_> {
    /// Begins the next due merge. Returns `false` if there is none.
    fn begin(&mut self, view: &PostingView) -> bool {
        let is_unavailable = |segment: &Arc<Segment>| {
            self.running.iter().any(|(merge, _)| merge.takes(segment))
                || self.failed_segments.iter().any(|one| Arc::ptr_eq(one, segment))
        };
        let levels = view.segments.iter();
        let levels =
            levels.map(|segment| (!is_unavailable(segment)).then_some(segment.entry.level));
        let planned = plan(&levels.collect::<Vec<_>>(), self.state.tuning.fan_out);
        let Some(range) = planned else { return false };
        let segments = &view.segments[range];
        match SegmentMerge::begin(self.state, segments) {
            Ok(Some(merge)) => {
                let pace = MergePace { from: view.last, documents: merge.documents() };
                self.running.push((merge, pace));
            }
            Ok(None) => {}
            Err(error) => self.fail(segments.to_vec(), error),
        }
        true
    }

    /// The lag of each merge: the share that is due minus the share that is done.
    fn lags(&self, last: u32) -> impl Iterator<Item = f64> {
        self.running.iter().map(move |(merge, pace)| pace.due(last) - merge.share_done())
    }

    /// Merges the next piece of a merge, or finishes the merge.
    fn advance(&mut self, at: usize) {
        let failure = match self.running[at].0.step() {
            Ok(false) => return,
            Ok(true) => None,
            Err(error) => Some(error),
        };
        let (merge, _) = self.running.swap_remove(at);
        let segments = merge.segments().to_vec();
        match failure.map_or_else(|| merge.finish(), Err) {
            Ok(()) => self.state.signal.merged(true),
            Err(error) => self.fail(segments, error),
        }
    }

    fn fail(&mut self, segments: Vec<Arc<Segment>>, error: IndexError) {
        self.failed_segments.extend(segments);
        self.error.get_or_insert(error);
        self.state.signal.merged(false);
    }
}

/// Detects whether documents are being added.
struct WriteActivity {
    last: u32,
    since: Instant,
    /// Time between the last two additions.
    gap: Duration,
}

impl WriteActivity {
    fn new(last: u32, now: Instant) -> Self {
        Self { last, since: now, gap: Duration::ZERO }
    }

    /// Returns true if the time since the last addition is much longer than the time between the
    /// last two additions.
    fn has_ended(&mut self, last: u32, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.since);
        if last != self.last {
            *self = Self { last, since: now, gap: passed };
            return false;
        }
        passed >= (4 * self.gap).clamp(MIN_IDLE_TIMEOUT, MAX_IDLE_TIMEOUT)
    }
}

/// The next action.
#[derive(Debug, PartialEq)]
enum NextStep {
    Nothing,
    Wait,
    Step(usize),
}

/// Continues the merge with the greatest lag, if any is late or if `at_once` is set.
fn next(lags: impl Iterator<Item = f64>, at_once: bool) -> NextStep {
    match lags.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) {
        None => NextStep::Nothing,
        Some((at, lag)) if at_once || lag > 0.0 => NextStep::Step(at),
        Some(_) => NextStep::Wait,
    }
}

/// The schedule of a merge.
struct MergePace {
    /// The last document when the merge began.
    from: u32,
    /// The number of its documents.
    documents: u64,
}

impl MergePace {
    /// The share that is due when `last` is the last document.
    fn due(&self, last: u32) -> f64 {
        f64::from(last.saturating_sub(self.from)) / (SPREAD * self.documents.max(1) as f64)
    }
}

/// The segments to merge next: the first `fan_out` segments of the lowest possible level, including
/// smaller segments between them. If a group of adjacent segments has at least `fan_out` segments
/// per level, the whole group is merged. Segments without a level are already being merged.
fn plan(levels: &[Option<u32>], fan_out: usize) -> Option<std::ops::Range<usize>> {
    let mut known: Vec<u32> = levels.iter().flatten().copied().collect();
    known.sort_unstable();
    known.dedup();
    known.into_iter().zip(1..).find_map(|(most, level_count)| {
        let mut start = 0;
        levels.split(|level| level.is_none_or(|level| level > most)).find_map(|group| {
            let all = start..start + group.len();
            start = all.end + 1;
            let same: Vec<_> = all.clone().filter(|at| levels[*at] == Some(most)).collect();
            match same.get(..fan_out) {
                Some([first, .., last]) => Some(*first..last + 1),
                _ => (group.len() >= level_count * fan_out).then_some(all),
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Snapshot;
    use crate::folder::{Tuning, test_index};

    #[test]
    fn plan_merges_enough_adjacent_segments() {
        // A dot is a segment that is being merged.
        let plan = |levels: &str, fan_out| {
            let levels: Vec<_> = levels.chars().map(|level| level.to_digit(10)).collect();
            plan(&levels, fan_out)
        };
        assert_eq!(plan("", 3), None);
        assert_eq!(plan("2100", 3), None);
        assert_eq!(plan("21000", 3), Some(2..5));
        assert_eq!(plan("210000000", 3), Some(2..5));
        assert_eq!(plan("002000", 3), Some(3..6));
        assert_eq!(plan("0002000", 3), Some(0..3));
        assert_eq!(plan("2020", 3), None);
        assert_eq!(plan("20202", 3), Some(0..5));
        assert_eq!(plan("310101", 3), Some(1..6));
        assert_eq!(plan("30101010", 3), Some(2..7));
        assert_eq!(plan("201010200", 3), Some(0..9));
        assert_eq!(plan("...", 3), None);
        assert_eq!(plan("00.0", 3), None);
        assert_eq!(plan("00.000", 3), Some(3..6));
        assert_eq!(plan("2.2.2", 3), None);
    }

    #[test]
    fn latest_merge_is_next() {
        assert_eq!(next([].into_iter(), true), NextStep::Nothing);
        assert_eq!(next([-0.1, -0.2].into_iter(), false), NextStep::Wait);
        assert_eq!(next([-0.1, -0.2].into_iter(), true), NextStep::Step(0));
        assert_eq!(next([-0.1, 0.0].into_iter(), false), NextStep::Wait);
        assert_eq!(next([0.1, 0.3, -0.2].into_iter(), false), NextStep::Step(1));
    }

    /// Merges that are exactly on schedule, while segments of 10 documents are added one after the
    /// other.
    #[test]
    fn merges_in_step_keep_segments_few() {
        struct Model {
            level: u32,
            documents: u64,
            merge: Option<u32>,
        }
        let (fan_out, mut segments) = (8, Vec::<Model>::new());
        let (mut paces, mut most) = (Vec::<(u32, MergePace)>::new(), (0, 0));
        let mut merge_count = 0;
        for flushed in 0..8 * 4096_u32 {
            let last = 10 * (flushed + 1);
            segments.push(Model { level: 0, documents: 10, merge: None });
            loop {
                let levels = segments.iter().map(|one| one.merge.is_none().then_some(one.level));
                let levels: Vec<_> = levels.collect();
                let Some(range) = plan(&levels, fan_out) else { break };
                merge_count += 1;
                let (name, mut documents) = (merge_count, 0);
                for one in &mut segments[range] {
                    one.merge = Some(name);
                    documents += one.documents;
                }
                paces.push((name, MergePace { from: last, documents }));
            }
            most = (segments.len().max(most.0), paces.len().max(most.1));
            paces.retain(|(name, pace)| {
                if pace.due(last) < 1.0 {
                    return true;
                }
                let is_of = |one: &Model| one.merge == Some(*name);
                let start = segments.iter().position(is_of).unwrap();
                let range = start..start + segments.iter().filter(|one| is_of(one)).count();
                let level = segments[range.clone()].iter().map(|one| one.level).max().unwrap();
                let documents = pace.documents;
                segments.splice(range, [Model { level: level + 1, documents, merge: None }]);
                false
            });
        }
        // The segments of each of five levels, both collected and being merged.
        assert!(most.0 < merge_backlog_limit(fan_out), "{most:?}");
        assert_eq!(most.1, 4, "one of a level at a time");
    }

    #[test]
    fn segment_count_stays_small() {
        let (fan_out, mut levels) = (4, Vec::new());
        for step in 0..20_000u32 {
            levels.push(Some(if step.is_multiple_of(97) { 2 } else { 0 }));
            while let Some(range) = plan(&levels, fan_out) {
                let next_level = levels[range.clone()].iter().flatten().max().unwrap() + 1;
                levels.splice(range, [Some(next_level)]);
            }
            assert!(levels.len() <= 40, "{levels:?}");
        }
    }

    /// An index of 80 documents in 40 segments, without automatic merges.
    fn unmerged(folder: &std::path::Path) -> Arc<IndexState> {
        let tuning = Tuning { tail: 1, fan_out: 4, background: false };
        let state = test_index::state(folder, tuning);
        (0..80).for_each(|number| test_index::put(&state, &number.to_string()));
        assert_eq!(state.view().segments.len(), 40);
        state
    }

    fn files(folder: &std::path::Path) -> usize {
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.extension().is_some_and(|end| end == "seg")).count()
    }

    #[test]
    fn merge_all_leaves_few_segments() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        let state = unmerged(&path);
        merge_all(&state).unwrap();
        let segments = state.view().segments.len();
        assert!(segments <= 6, "{segments}");
        assert_eq!(files(&path), segments);
        let mut snapshot = state.snapshot().unwrap();
        for number in 0..80 {
            assert_eq!(
                snapshot.number_of(&number.to_string()).unwrap().map(|n| n.0),
                Some(number + 1)
            );
        }
    }

    #[test]
    fn merges_yield_to_exclusive_access() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        let state = unmerged(&path);
        state.signal.flags.lock().waiters = 1;
        merge_all(&state).unwrap();
        assert_eq!((state.view().segments.len(), files(&path)), (40, 40));
        state.signal.flags.lock().waiters = 0;
        // An abandoned merge leaves nothing.
        let segments = state.view().segments.clone();
        let mut merge = SegmentMerge::begin(&state, &segments).unwrap().unwrap();
        assert!(!merge.step().unwrap());
        assert_eq!(files(&path), 41);
        drop(merge);
        assert_eq!(files(&path), 40);
    }

    #[test]
    fn cancelled_merges_are_retried() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        let state = unmerged(&path);
        let thread = {
            let state = Arc::clone(&state);
            std::thread::spawn(move || work(&state))
        };
        let wait_until = |condition: &dyn Fn() -> bool| {
            let started = Instant::now();
            while !condition() {
                assert!(started.elapsed() < Duration::from_secs(60), "nobody merges");
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        // A merge is running, or done.
        wait_until(&|| files(&path) != 40);
        let turn = state.signal.exclusive();
        assert_eq!(files(&path), state.view().segments.len());
        drop(turn);
        wait_until(&|| state.view().segments.len() <= 6);
        state.signal.end();
        thread.join().unwrap();
    }

    #[test]
    fn failed_merge_does_not_block_others() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        let state = unmerged(&path);
        let (tuning, name) = (state.tuning, state.view().segments[0].entry.name.clone());
        drop(state);
        let broken = path.join(name);
        // The first block of ids, after the header.
        let mut bytes = std::fs::read(&broken).unwrap();
        bytes[4096] ^= 1;
        std::fs::write(&broken, bytes).unwrap();
        let state = test_index::opened(&path, tuning);
        let segments = state.view().segments.clone();
        let error = merge_all(&state).unwrap_err();
        assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
        let left = state.view().segments.clone();
        assert!(left.len() <= 10, "{}", left.len());
        assert!(Arc::ptr_eq(&left[0], &segments[0]));
        assert_eq!(files(&path), left.len());
    }

    #[test]
    fn removed_segments_are_not_merged() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        let state = unmerged(&path);
        let segments = state.view().segments.clone();
        merge_all(&state).unwrap();
        assert!(SegmentMerge::begin(&state, &segments[..4]).unwrap().is_none());
    }

    #[test]
    fn write_activity_ends_after_a_pause() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut adding = WriteActivity::new(10, start);
        assert!(!adding.has_ended(10, at(99)));
        assert!(adding.has_ended(10, at(100)));
        assert!(!adding.has_ended(20, at(300)));
        assert!(!adding.has_ended(20, at(1499)));
        assert!(adding.has_ended(20, at(1500)));
        assert!(!adding.has_ended(30, at(60_000)));
        assert!(!adding.has_ended(30, at(61_999)));
        assert!(adding.has_ended(30, at(62_000)));
    }

    #[test]
    fn no_merge_starts_after_end() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        let state = unmerged(&path);
        state.signal.end();
        merge_all(&state).unwrap();
        assert_eq!(state.view().segments.len(), 40);
        assert!(state.signal.next().is_none());
    }
}
