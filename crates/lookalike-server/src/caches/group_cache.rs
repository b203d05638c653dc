//! Cache of lists of groups: a bounded queue of computations, one thread that runs them, and the
//! finished lists.
//!
//! * At most [`QUEUE`] thresholds wait. The threshold of the index goes first.
//! * A computation ends if no client requests its threshold for [`LEASE`].
//! * A finished list is kept until a client has read it, then until its memory is needed. A list
//!   whose cursor is in use is kept for the time that [`CacheLimits::cursor_time`] promises.

use crate::caches::document_groups::DocumentGroups;
use crate::http::problem::{Code, Problem};
use lookalike::index::time;
use lookalike::progress::{Interruption, Progress, Stage};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum number of queued thresholds.
const QUEUE: usize = 16;
/// How long a computation continues without a request for its result, and how long an unread result
/// is kept.
const LEASE: Duration = Duration::from_secs(60);
/// Maximum number of lists and failures.
const KEPT: usize = 256;
/// A threshold is computed again only after a pause of this many times the duration of its last
/// computation.
const PAUSE: u32 = 4;

/// Limits of the finished lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheLimits {
    /// Memory of all lists.
    pub(crate) bytes: u64,
    /// How long a cursor stays valid.
    pub(crate) cursor_time: Duration,
}

/// The state of the groups at a threshold.
#[derive(Debug)]
pub(crate) enum Lookup {
    Ready {
        list: Arc<DocumentGroups>,
        /// Whether the index has changed since the computation.
        stale: bool,
    },
    /// Waits or runs; the client asks again after this many seconds.
    Pending { retry_after: u32 },
}

/// Computes the groups at a threshold, as long as the progress permits it.
pub(crate) type Compute = dyn Fn(f64, &dyn Progress) -> Result<DocumentGroups, Problem> + Send;

/// The finished lists and the thread that computes them.
pub(crate) struct GroupCache {
    shared: Arc<CacheShared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct CacheShared {
    state: Mutex<CacheState>,
    changed: Condvar,
}

impl GroupCache {
    pub(crate) fn start(
        default_threshold: f64,
        limits: CacheLimits,
        compute: Box<Compute>,
    ) -> std::io::Result<Self> {
        let state = Mutex::new(CacheState::new(default_threshold, limits));
        let shared = Arc::new(CacheShared { state, changed: Condvar::new() });
        let worker = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("groups".to_owned());
        let thread = thread.spawn(move || run(&worker, &*compute))?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// The groups at a threshold for an index of this version. Queues a computation if there are
    /// none, or if the index has changed.
    pub(crate) fn lookup(&self, threshold: f64, version: u64) -> Result<Lookup, Problem> {
        let found = self.shared.state.lock().lookup(threshold, version, Instant::now());
        self.shared.changed.notify_one();
        found
    }

    /// The list that a cursor belongs to, while it is kept.
    pub(crate) fn at(&self, threshold: f64, computed: i64) -> Option<Arc<DocumentGroups>> {
        self.shared.state.lock().at(threshold, computed, Instant::now())
    }

    /// Extends the time that a list is kept for its cursor.
    pub(crate) fn keep_for_cursor(&self, list: &DocumentGroups) {
        self.shared.state.lock().keep_for_cursor(list.computed, Instant::now());
    }

    /// Time since groups were last computed.
    pub(crate) fn age(&self) -> Option<Duration> {
        let state = self.shared.state.lock();
        state.lists.iter().map(|kept| kept.finished.elapsed()).min()
    }

    /// Interrupts the computation and ends the thread, without waiting for it.
    pub(crate) fn stop(&self) {
        self.shared.state.lock().closed = true;
        self.shared.changed.notify_all();
        drop(self.thread.lock().take());
    }
}

fn run(shared: &CacheShared, compute: &Compute) {
    loop {
        let mut state = shared.state.lock();
        let threshold = loop {
            if state.closed {
                return;
            }
            match state.start_next(Instant::now()) {
                Some(threshold) => break threshold,
                None => {
                    shared.changed.wait(&mut state);
                }
            }
        };
        drop(state);
        let lease = ComputationLease { shared };
        let result = catch_unwind(AssertUnwindSafe(|| compute(threshold, &lease)))
            .unwrap_or_else(|_| Err(Problem::internal("the computation of groups panicked")));
        shared.state.lock().finish(result, Instant::now());
    }
}

/// Interrupts a computation whose result no client waits for.
struct ComputationLease<'a> {
    shared: &'a CacheShared,
}

impl Progress for ComputationLease<'_> {
    fn begin(&self, _: Stage, _: Option<u64>) {}

    fn advance(&self, _: u64) -> Result<(), Interruption> {
        if self.shared.state.lock().is_wanted(Instant::now()) { Ok(()) } else { Err(Interruption) }
    }

    fn end(&self, _: Stage, _: Duration) {}
}

/// A threshold whose groups are to be computed.
struct Computation {
    threshold: f64,
    last_request: Instant,
}

struct RunningComputation {
    computation: Computation,
    started: Instant,
}

struct CachedGroups {
    threshold: f64,
    list: Arc<DocumentGroups>,
    /// Whether a client has read it.
    read: bool,
    last_request: Instant,
    /// Kept for a cursor until this time.
    needed_until: Option<Instant>,
    finished: Instant,
    took: Duration,
}

impl CachedGroups {
    fn is_evictable(&self, now: Instant) -> bool {
        let unread = !self.read && now.duration_since(self.finished) < LEASE;
        let needed = self.needed_until.is_some_and(|until| until > now);
        // A request that reads the list has a clone.
        !unread && !needed && Arc::strong_count(&self.list) == 1
    }
}

struct CachedFailure {
    threshold: f64,
    problem: Problem,
    at: Instant,
}

struct CacheState {
    default_threshold: f64,
    limits: CacheLimits,
    queue: VecDeque<Computation>,
    running: Option<RunningComputation>,
    lists: Vec<CachedGroups>,
    failures: VecDeque<CachedFailure>,
    last_computed: i64,
    closed: bool,
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

impl CacheState {
    fn new(default_threshold: f64, limits: CacheLimits) -> Self {
        Self {
            default_threshold,
            limits,
            queue: VecDeque::new(),
            running: None,
            lists: Vec::new(),
            failures: VecDeque::new(),
            last_computed: 0,
            closed: false,
        }
    }

    /// The latest list of a threshold.
    fn latest(&mut self, threshold: f64) -> Option<&mut CachedGroups> {
        let lists = self.lists.iter_mut().filter(|kept| same(kept.threshold, threshold));
        lists.max_by_key(|kept| kept.list.computed)
    }

    fn lookup(&mut self, threshold: f64, version: u64, now: Instant) -> Result<Lookup, Problem> {
        self.failures.retain(|failure| now.duration_since(failure.at) < LEASE);
        if let Some(kept) = self.latest(threshold) {
            kept.read = true;
            kept.last_request = now;
            let list = Arc::clone(&kept.list);
            let stale = kept.list.is_stale(version, time::now());
            let rested = now.duration_since(kept.finished) >= kept.took * PAUSE;
            if stale && rested {
                // If the queue is full, the existing list is the response.
                let _ = self.enqueue(threshold, now);
            }
            return Ok(Lookup::Ready { list, stale });
        }
        if let Some(at) =
            self.failures.iter().position(|failure| same(failure.threshold, threshold))
            && let Some(failure) = self.failures.remove(at)
        {
            return Err(failure.problem);
        }
        self.enqueue(threshold, now)?;
        Ok(Lookup::Pending { retry_after: self.retry_after(now) })
    }

    /// Queues a threshold, or renews its lease if it is queued or running.
    fn enqueue(&mut self, threshold: f64, now: Instant) -> Result<(), Problem> {
        let running = self.running.iter_mut().map(|running| &mut running.computation);
        let mut known = running.chain(&mut self.queue);
        if let Some(computation) = known.find(|known| same(known.threshold, threshold)) {
            computation.last_request = now;
            return Ok(());
        }
        let computation = Computation { threshold, last_request: now };
        if same(threshold, self.default_threshold) {
            self.queue.push_front(computation);
            return Ok(());
        }
        self.queue.retain(|waiting| now.duration_since(waiting.last_request) < LEASE);
        if self.queue.len() >= QUEUE {
            let detail = format!("groups of {QUEUE} other thresholds wait to be computed");
            return Err(Problem::busy(&detail).retry_after(self.retry_after(now)));
        }
        self.queue.push_back(computation);
        Ok(())
    }

    /// Seconds until a retry is useful, which increase with the duration of the computation.
    fn retry_after(&self, now: Instant) -> u32 {
        let elapsed = self.running.as_ref().map(|running| now.duration_since(running.started));
        elapsed.map_or(1, |elapsed| (elapsed.as_secs() / 4).clamp(1, 10) as u32)
    }

    /// Takes the next threshold from the queue. Skips thresholds whose lease ended.
    fn start_next(&mut self, now: Instant) -> Option<f64> {
        self.queue.retain(|waiting| now.duration_since(waiting.last_request) < LEASE);
        let computation = self.queue.pop_front()?;
        let threshold = computation.threshold;
        self.running = Some(RunningComputation { computation, started: now });
        Some(threshold)
    }

    /// Whether a client still waits for the running computation.
    fn is_wanted(&self, now: Instant) -> bool {
        let last_request = self.running.as_ref().map(|running| running.computation.last_request);
        !self.closed && last_request.is_some_and(|at| now.duration_since(at) < LEASE)
    }

    fn finish(&mut self, result: Result<DocumentGroups, Problem>, now: Instant) {
        let is_wanted = self.is_wanted(now);
        let Some(RunningComputation { computation, started }) = self.running.take() else { return };
        let took = now.duration_since(started);
        let threshold = computation.threshold;
        let problem = match result {
            Ok(list) => match self.insert(list, &computation, took, now) {
                Ok(()) => return,
                Err(problem) => problem,
            },
            // No client waits for it.
            Err(_) if !is_wanted => return,
            Err(problem) => problem,
        };
        if let Some(kept) = self.latest(threshold) {
            kept.finished = now;
            kept.took = took;
            return;
        }
        if self.failures.len() >= KEPT {
            self.failures.pop_front();
        }
        self.failures.push_back(CachedFailure { threshold, problem, at: now });
    }

    fn insert(
        &mut self,
        mut list: DocumentGroups,
        computation: &Computation,
        took: Duration,
        now: Instant,
    ) -> Result<(), Problem> {
        let Computation { threshold, last_request } = *computation;
        // Cursors identify a computation by its time, which must be unique.
        list.computed = list.computed.max(self.last_computed + 1);
        self.lists.retain(|kept| !same(kept.threshold, threshold) || !kept.is_evictable(now));
        while self.lists.len() >= KEPT || self.bytes() + list.bytes > self.limits.bytes {
            let evictable =
                self.lists.iter().enumerate().filter(|(_, kept)| kept.is_evictable(now));
            let Some((oldest, _)) = evictable.min_by_key(|(_, kept)| kept.last_request) else {
                return Err(self.no_room(now));
            };
            self.lists.remove(oldest);
        }
        self.last_computed = list.computed;
        self.lists.push(CachedGroups {
            threshold,
            list: Arc::new(list),
            read: false,
            last_request,
            needed_until: None,
            finished: now,
            took,
        });
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.lists.iter().map(|kept| kept.list.bytes).sum()
    }

    /// All memory is in use for lists that clients are reading.
    fn no_room(&self, now: Instant) -> Problem {
        let until = |kept: &CachedGroups| kept.needed_until.unwrap_or(kept.finished + LEASE);
        let first = self.lists.iter().map(until).min();
        let seconds = first.map_or(1, |first| first.saturating_duration_since(now).as_secs() + 1);
        let detail = format!(
            "lists of groups that clients are reading take all of their {} bytes (a quarter of \
             --max-held)",
            self.limits.bytes
        );
        Problem::new(Code::BUSY, detail).retry_after(u32::try_from(seconds).unwrap_or(u32::MAX))
    }

    fn at(&mut self, threshold: f64, computed: i64, now: Instant) -> Option<Arc<DocumentGroups>> {
        let latest = self.latest(threshold)?.list.computed;
        let mut lists = self.lists.iter_mut().filter(|kept| same(kept.threshold, threshold));
        let kept = lists.find(|kept| kept.list.computed == computed)?;
        // An older list may still exist because a request was reading it.
        if computed != latest && kept.needed_until.is_none_or(|until| until <= now) {
            return None;
        }
        kept.last_request = now;
        Some(Arc::clone(&kept.list))
    }

    fn keep_for_cursor(&mut self, computed: i64, now: Instant) {
        let kept = self.lists.iter_mut().find(|kept| kept.list.computed == computed);
        if let Some(kept) = kept {
            kept.needed_until = Some(now + self.limits.cursor_time);
        }
    }
}

impl DocumentGroups {
    /// Whether a computation at `now` (in ns since 1970) for this version of the index would use
    /// other documents.
    pub(crate) fn is_stale(&self, version: u64, now: i64) -> bool {
        self.version != version || self.stored.expires.is_some_and(|at| at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const CURSOR_TIME: Duration = Duration::from_secs(300);

    fn list(bytes: u64) -> DocumentGroups {
        let list = DocumentGroups::new(Vec::new(), HashSet::new());
        DocumentGroups { version: 1, computed: 1, bytes, ..list }
    }

    fn state(bytes: u64) -> CacheState {
        CacheState::new(0.8, CacheLimits { bytes, cursor_time: CURSOR_TIME })
    }

    /// Computes what waits, one at a time.
    fn compute(state: &mut CacheState, bytes: u64, now: Instant) -> bool {
        let started = state.start_next(now).is_some();
        state.finish(Ok(list(bytes)), now);
        started
    }

    fn is_ready(state: &mut CacheState, threshold: f64, now: Instant) -> bool {
        matches!(state.lookup(threshold, 1, now), Ok(Lookup::Ready { .. }))
    }

    #[test]
    fn alternating_thresholds_are_all_computed() {
        // Memory for two lists, nine thresholds, one computation between two questions.
        let mut state = state(20);
        let mut now = Instant::now();
        let mut answered = [0; 9];
        for round in 0..100 {
            for (nth, answered) in answered.iter_mut().enumerate() {
                let threshold = 0.1 * (nth + 1) as f64;
                *answered += i32::from(is_ready(&mut state, threshold, now));
                compute(&mut state, 10, now);
                now += Duration::from_secs(1);
                assert!(state.bytes() <= 20, "round {round}");
            }
        }
        assert!(answered.iter().all(|answered| *answered >= 10), "{answered:?}");
    }

    #[test]
    fn queue_is_bounded_default_goes_first() {
        let mut state = state(1_000);
        let now = Instant::now();
        let refused = (1..=400)
            .filter(|n| state.lookup(f64::from(*n) / 500.0 + 1e-4, 1, now).is_err())
            .count();
        assert_eq!(refused, 400 - QUEUE);
        assert!(!is_ready(&mut state, 0.8, now));
        assert_eq!(state.start_next(now), Some(0.8));
        // Thresholds that no client requests again are not computed.
        state.finish(Ok(list(1)), now);
        assert_eq!(state.start_next(now + LEASE), None);
    }

    #[test]
    fn unwanted_computations_end() {
        let mut state = state(1_000);
        let now = Instant::now();
        assert!(!is_ready(&mut state, 0.5, now));
        assert_eq!(state.start_next(now), Some(0.5));
        let later = now + LEASE * 9 / 10;
        assert!(state.is_wanted(later) && !state.is_wanted(now + LEASE));
        assert!(!is_ready(&mut state, 0.5, later));
        assert!(state.is_wanted(now + LEASE));
        state.finish(Err(Problem::internal("interrupted")), later + LEASE);
        assert!(state.failures.is_empty());
    }

    #[test]
    fn a_cursor_keeps_its_list() {
        let mut state = state(20);
        let now = Instant::now();
        assert!(!is_ready(&mut state, 0.8, now));
        compute(&mut state, 10, now);
        let Ok(Lookup::Ready { list, .. }) = state.lookup(0.8, 1, now) else { panic!("no list") };
        let computed = list.computed;
        state.keep_for_cursor(computed, now);
        drop(list);
        // The index changes, and other thresholds need memory.
        for second in 1..299 {
            let now = now + Duration::from_secs(second);
            assert!(state.lookup(0.8, 1 + second, now).is_ok());
            let _ = state.lookup(0.1 + second as f64 / 1_000.0, 1, now);
            while compute(&mut state, 10, now) {}
            assert!(state.at(0.8, computed, now).is_some() && state.bytes() <= 20);
        }
        let later = now + CURSOR_TIME;
        assert!(state.lookup(0.8, 1_000, later).is_ok());
        while compute(&mut state, 10, later) {}
        assert!(state.at(0.8, computed, later).is_none());
    }

    #[test]
    fn needed_lists_delay_new_ones() {
        let mut state = state(10);
        let now = Instant::now();
        assert!(!is_ready(&mut state, 0.8, now));
        compute(&mut state, 10, now);
        assert!(is_ready(&mut state, 0.8, now));
        let computed = state.lists[0].list.computed;
        state.keep_for_cursor(computed, now);
        assert!(!is_ready(&mut state, 0.5, now));
        compute(&mut state, 10, now);
        let problem = state.lookup(0.5, 1, now).unwrap_err();
        assert_eq!(problem.code, Code::BUSY);
        let later = now + CURSOR_TIME;
        assert!(!is_ready(&mut state, 0.5, later));
        compute(&mut state, 10, later);
        assert!(is_ready(&mut state, 0.5, later));
    }
}
