//! Groups of near-duplicates among all documents, computed by a thread of its own and kept until
//! the index has changed.

use crate::address::{Parameters, expected};
use crate::app::{Answer, App, json_bytes};
use crate::documents::bytes;
use crate::pool::Worker;
use crate::problem::{Code, Problem};
use crate::query::six_decimals;
use crate::stars::{self, Star, Stars};
use crate::time;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use lookalike::store::entry::{Metadata, Wanted};
use lookalike::store::{Index, IndexError};
use serde_json::{Value, json};
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
        let stale = slot.found.as_ref().is_none_or(|found| found.version != version);
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

    /// The groups of this threshold as they were computed at a version.
    fn at(&self, threshold: f64, version: u64) -> Option<Arc<Stars>> {
        let slots = lock(&self.shared);
        let slot = slots.iter().find(|slot| same(slot.threshold, threshold))?;
        slot.found.clone().filter(|found| found.version == version)
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
            Ok(Err(error)) => slot.failed = Some(error.into()),
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
            let found = app.groups.at(threshold, cursor.version).ok_or_else(|| {
                let detail = "the groups were computed anew since this list was begun: leave out \
                              `after` to begin again";
                Problem::new(Code::CURSOR_EXPIRED, detail)
            })?;
            (found, cursor.version != version)
        }
    };
    let from = cursor.map_or(0, |cursor| cursor.from);
    let show = move |worker: &mut Worker| show(&worker.index, &found, from, limit, stale);
    Ok(json_bytes(StatusCode::OK, app.pool.run(show).await?))
}

/// Where a list goes on: in the groups computed at a version.
#[derive(Clone, Copy)]
struct Cursor {
    version: u64,
    from: usize,
}

impl Cursor {
    fn read(text: &str) -> Result<Self, Problem> {
        let parts = text.split_once('.');
        let cursor = parts.and_then(|(version, from)| {
            Some(Self { version: version.parse().ok()?, from: from.parse().ok()? })
        });
        cursor.ok_or_else(|| expected("after", text, "the `next` of an answer, or nothing to begin"))
    }
}

fn show(
    index: &Index,
    found: &Stars,
    from: usize,
    limit: usize,
    stale: bool,
) -> Result<Vec<u8>, Problem> {
    let mut snapshot = index.snapshot()?;
    let wanted = Wanted { metadata: true, ..Wanted::default() };
    // Documents that are gone since are shown without metadata.
    let mut metadata = |number: u64| -> Result<Option<Metadata>, IndexError> {
        let mut found = None;
        snapshot.records(&[number], wanted, &mut |record| {
            found = Some(record.metadata.clone());
            Ok(())
        })?;
        Ok(found)
    };
    let (mut groups, mut shown) = (Vec::new(), 0);
    for Star { keeper, duplicates } in found.groups.iter().skip(from).take(limit) {
        if shown > 0 && shown + duplicates.len() > LIST_DOCUMENTS {
            break;
        }
        shown += 1 + duplicates.len();
        let mut others = Vec::new();
        for (duplicate, similarity) in duplicates {
            others.push(json!({
                "id": duplicate.id, "similarity": six_decimals(similarity),
                "bytes": duplicate.bytes, "metadata": metadata(duplicate.number)?,
            }));
        }
        let metadata = metadata(keeper.number)?;
        let keeper = json!({ "id": keeper.id, "bytes": keeper.bytes, "metadata": metadata });
        groups.push(json!({ "keeper": keeper, "duplicates": others }));
    }
    let end = from.saturating_add(groups.len());
    let mut answer = json!({
        "groups": groups, "groups_total": found.groups.len(),
        "duplicates_total": found.duplicates, "documents": found.documents,
        "version": found.version, "stale": stale,
    });
    if end < found.groups.len()
        && let Value::Object(members) = &mut answer
    {
        members.insert("next".to_owned(), format!("{}.{end}", found.version).into());
    }
    bytes(&answer)
}
