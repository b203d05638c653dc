//! Groups of near-duplicates among all documents, computed by a thread of its own and kept until
//! the index has changed.

use crate::address::{Parameters, expected};
use crate::app::{Answer, App, json_bytes};
use crate::documents::bytes;
use crate::pool::Worker;
use crate::problem::{Code, Problem};
use crate::stars::{self, Member, Star, Stars};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use lookalike::index::time;
use lookalike::store::Index;
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::Wanted;
use serde_json::{Map, Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Groups in a list if the client does not say how many, and at most.
const LIST: usize = 50;
const LIST_MAX: usize = 1_000;
/// A list ends early beyond so many documents.
const LIST_DOCUMENTS: usize = 20_000;
/// The same beyond so many bytes of ids and metadata.
const LIST_BYTES: usize = 16 << 20;
/// Groups of so many thresholds are kept.
const KEPT: usize = 4;
/// After a computation, the next one of the same threshold waits so many times as long as it took.
const PAUSE: u32 = 4;

/// The thread that computes, and what it has found.
pub(crate) struct Groups {
    shared: Arc<Mutex<Vec<Slot>>>,
    wishes: Mutex<Option<Sender<f64>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What is known for one threshold; the one asked for last stands last.
struct Slot {
    threshold: f64,
    found: Option<Arc<Stars>>,
    failed: Option<Problem>,
    /// Asked for and not yet computed.
    pending: bool,
    ended: Instant,
    took: Duration,
}

fn lock(shared: &Mutex<Vec<Slot>>) -> MutexGuard<'_, Vec<Slot>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Groups {
    pub(crate) fn start(index: Arc<Index>) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let shared = Arc::default();
        let thread = std::thread::Builder::new().name("groups".to_owned());
        let slots = Arc::clone(&shared);
        let thread = thread.spawn(move || compute_all(&index, &receiver, &slots))?;
        let (wishes, thread) = (Mutex::new(Some(sender)), Mutex::new(Some(thread)));
        Ok(Self { shared, wishes, thread })
    }

    /// The groups at this threshold and whether the index has changed since; `groups-pending` where
    /// there are none yet. Has them computed where that is needed.
    fn of(&self, threshold: f64, version: u64) -> Result<(Arc<Stars>, bool), Problem> {
        let mut slots = lock(&self.shared);
        let mut slot = match slots.iter().position(|slot| same(slot.threshold, threshold)) {
            Some(at) => slots.remove(at),
            None => Slot {
                threshold,
                found: None,
                failed: None,
                pending: false,
                ended: Instant::now(),
                took: Duration::ZERO,
            },
        };
        let stale = slot.found.as_ref().is_none_or(|found| is_stale(found, version));
        let rested = slot.found.is_none() || slot.ended.elapsed() >= slot.took * PAUSE;
        if stale && rested && !slot.pending {
            let wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner);
            slot.pending = wishes.as_ref().is_some_and(|wishes| wishes.send(threshold).is_ok());
        }
        let answer = match (&slot.found, slot.failed.take()) {
            (Some(found), _) => Ok((Arc::clone(found), stale)),
            (None, Some(problem)) => Err(problem),
            (None, None) => {
                let detail = "the groups are being computed; ask again in a moment";
                Err(Problem::new(Code::GROUPS_PENDING, detail).retry_after(1))
            }
        };
        slots.push(slot);
        if slots.len() > KEPT
            && let Some(oldest) = slots.iter().position(|slot| !slot.pending)
        {
            slots.remove(oldest);
        }
        answer
    }

    /// The groups of this threshold as one computation found them.
    fn at(&self, threshold: f64, computed: i64) -> Option<Arc<Stars>> {
        let slots = lock(&self.shared);
        let slot = slots.iter().find(|slot| same(slot.threshold, threshold))?;
        slot.found.clone().filter(|found| found.computed == computed)
    }

    /// How long ago groups were computed.
    pub(crate) fn age(&self) -> Option<Duration> {
        let slots = lock(&self.shared);
        let found = slots.iter().filter(|slot| slot.found.is_some());
        found.map(|slot| slot.ended.elapsed()).min()
    }

    pub(crate) fn stop(&self) {
        drop(self.wishes.lock().unwrap_or_else(PoisonError::into_inner).take());
        // What it computes is for nobody: it is not waited for.
        drop(self.thread.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Whether another computation would find other documents.
fn is_stale(found: &Stars, version: u64) -> bool {
    found.version != version || found.expires.is_some_and(|at| at <= time::now())
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

fn compute_all(index: &Index, wishes: &Receiver<f64>, shared: &Mutex<Vec<Slot>>) {
    while let Ok(threshold) = wishes.recv() {
        let since = Instant::now();
        let found = catch_unwind(AssertUnwindSafe(|| stars::find(index, threshold, time::now())));
        let mut slots = lock(shared);
        let Some(slot) = slots.iter_mut().find(|slot| same(slot.threshold, threshold)) else {
            continue;
        };
        (slot.pending, slot.ended, slot.took) = (false, Instant::now(), since.elapsed());
        match found {
            Ok(Ok(found)) => (slot.found, slot.failed) = (Some(Arc::new(found)), None),
            Ok(Err(problem)) => slot.failed = Some(problem),
            Err(_) => slot.failed = Some(Problem::internal("computing groups panicked")),
        }
    }
}

/// `GET /v1/groups`
pub(crate) async fn get(State(app): State<Arc<App>>, request: Request) -> Answer {
    let known = ["after", "limit", "threshold"];
    let parameters = Parameters::read(request.uri().query(), &known)?;
    let limit = parameters.number("limit", LIST_MAX, LIST)?;
    let threshold = parameters.threshold(app.index.settings().threshold)?;
    let cursor = parameters.text("after").map(Cursor::read).transpose()?;
    let look = |worker: &mut Worker| Ok(worker.index.snapshot()?.version());
    let version = app.pool.run(look).await?;
    let (found, stale) = match cursor {
        None => app.groups.of(threshold, version)?,
        Some(cursor) => {
            let found = app.groups.at(threshold, cursor.computed).ok_or_else(|| {
                let detail = "the groups were computed anew since this list was begun: leave out \
                              `after` to begin again";
                Problem::new(Code::CURSOR_EXPIRED, detail)
            })?;
            let stale = is_stale(&found, version);
            (found, stale)
        }
    };
    let at = cursor.unwrap_or(Cursor { computed: found.computed, from: 0, skip: 0 });
    let show = move |worker: &mut Worker| show(&worker.index, &found, at, limit, stale);
    Ok(json_bytes(StatusCode::OK, app.pool.run(show).await?))
}

/// Where a list goes on: in the groups of one computation, at a group, and after so many of its
/// duplicates.
#[derive(Clone, Copy)]
struct Cursor {
    computed: i64,
    from: usize,
    skip: usize,
}

impl Cursor {
    fn read(text: &str) -> Result<Self, Problem> {
        let wrong = || expected("after", text, "the `next` of an answer, or nothing to begin");
        let mut parts = text.split('.');
        let mut part = || parts.next()?.parse::<u64>().ok();
        let (computed, from) = (part(), part());
        let skip = if text.split('.').count() > 2 { part() } else { Some(0) };
        let (Some(computed), Some(from), Some(skip), None) = (computed, from, skip, parts.next())
        else {
            return Err(wrong());
        };
        let computed = i64::try_from(computed).map_err(|_| wrong())?;
        Ok(Self { computed, from: from as usize, skip: skip as usize })
    }

    fn text(self) -> String {
        let Self { computed, from, skip } = self;
        if skip == 0 { format!("{computed}.{from}") } else { format!("{computed}.{from}.{skip}") }
    }
}

/// What is shown of groups, within the limits of an answer.
struct Shown<'a> {
    snapshot: &'a mut dyn Snapshot,
    now: i64,
    documents: usize,
    bytes: usize,
}

impl Shown<'_> {
    fn is_full(&self) -> bool {
        self.documents >= LIST_DOCUMENTS || self.bytes >= LIST_BYTES
    }

    /// A document; `None` for one that has expired. One that is gone has no metadata.
    fn member(&mut self, member: &Member) -> Result<Option<Map<String, Value>>, Problem> {
        let wanted = Wanted { metadata: true, ..Wanted::default() };
        let (mut metadata, mut is_expired, now) = (Value::Null, false, self.now);
        if let Some(number) = self.snapshot.number_of(&member.id)? {
            self.snapshot.records(&[number], wanted, &mut |record| {
                is_expired = record.is_expired(now);
                metadata = Value::Object(record.metadata.clone());
                Ok(())
            })?;
        }
        if is_expired {
            return Ok(None);
        }
        self.documents += 1;
        self.bytes += member.id.len() + metadata.to_string().len();
        let mut shown = Map::new();
        shown.insert("id".to_owned(), member.id.as_str().into());
        shown.insert("bytes".to_owned(), member.bytes.into());
        shown.insert("metadata".to_owned(), metadata);
        Ok(Some(shown))
    }

    /// A group after so many of its duplicates, at least one of them, and how many have been passed
    /// then. There is no group where its keeper, or all of its duplicates here, have expired.
    fn group(&mut self, star: &Star, skip: usize) -> Result<(Option<Value>, usize), Problem> {
        let (all, mut passed) = (star.duplicates.len(), skip);
        let Some(keeper) = self.member(&star.keeper)? else { return Ok((None, all)) };
        let mut others = Vec::new();
        for (duplicate, similarity) in star.duplicates.iter().skip(skip) {
            if !others.is_empty() && self.is_full() {
                break;
            }
            passed += 1;
            if let Some(mut shown) = self.member(duplicate)? {
                shown.insert("similarity".to_owned(), (*similarity).into());
                others.push(Value::Object(shown));
            }
        }
        let group = (!others.is_empty()).then(|| {
            json!({
                "keeper": keeper, "duplicates": others,
                "duplicates_before": skip, "duplicates_total": all,
            })
        });
        Ok((group, passed))
    }
}

fn show(
    index: &Index,
    found: &Stars,
    mut at: Cursor,
    limit: usize,
    stale: bool,
) -> Result<Vec<u8>, Problem> {
    let mut snapshot = index.snapshot()?;
    let mut shown = Shown { snapshot: &mut *snapshot, now: time::now(), documents: 0, bytes: 0 };
    let mut groups = Vec::new();
    while let Some(star) = found.groups.get(at.from)
        && groups.len() < limit
    {
        // A group that has room in the next answer is not divided for its number of documents.
        let is_too_much = shown.documents + star.duplicates.len() > LIST_DOCUMENTS;
        if !groups.is_empty() && (is_too_much || shown.is_full()) {
            break;
        }
        let (group, passed) = shown.group(star, at.skip)?;
        groups.extend(group);
        (at.from, at.skip) =
            if passed < star.duplicates.len() { (at.from, passed) } else { (at.from + 1, 0) };
        if at.skip > 0 {
            break;
        }
    }
    let mut answer = json!({
        "groups": groups, "groups_total": found.groups.len(),
        "duplicates_total": found.duplicates, "documents": found.documents,
        "version": found.version, "stale": stale,
    });
    if at.from < found.groups.len()
        && let Value::Object(members) = &mut answer
    {
        members.insert("next".to_owned(), at.text().into());
    }
    bytes(&answer)
}
