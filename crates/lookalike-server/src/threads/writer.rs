//! The writer thread: queued changes are written in batches, and acknowledged when they are
//! durable.

use crate::http::problem::Problem;
use crate::threads::background_thread::BackgroundThread;
use crate::threads::metrics::Histogram;
use crate::threads::near_duplicate_watch::NearDuplicateWatch;
use lookalike::index::{ExistingIds, PreparedDocument, record_duplicates};
use lookalike::store::backend::{Change, ChangeOutcome};
use lookalike::store::{Index, IndexError};
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Maximum size of a batch in changes and, without the last one, in bytes.
const BATCH_CHANGES: usize = 4_000;
const BATCH_BYTES: usize = 64 << 20;
/// Maximum number of queued jobs.
const WAITING_JOBS: usize = 4_000;

/// An owned change.
pub(crate) enum OwnedChange {
    Add(PreparedDocument),
    Put(PreparedDocument),
    Remove(String),
}

impl OwnedChange {
    fn change(&self) -> Change<'_> {
        match self {
            Self::Add(document) => Change::Add(document.entry()),
            Self::Put(document) => Change::Put(document.entry()),
            Self::Remove(id) => Change::Remove(id),
        }
    }

    /// The document; `None` for a removal.
    fn document(&self) -> Option<&PreparedDocument> {
        match self {
            Self::Add(document) | Self::Put(document) => Some(document),
            Self::Remove(_) => None,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Add(document) | Self::Put(document) => {
                let original =
                    document.original.as_ref().map_or(0, |original| original.bytes().len());
                document.set.len() + document.text.as_ref().map_or(0, String::len) + original
            }
            Self::Remove(_) => 0,
        }
    }
}

/// Changes of one request. They are applied in order, except impossible ones.
#[expect(clippy::struct_field_names, reason = "the word of the library")]
pub(crate) struct Changes {
    pub(crate) changes: Vec<OwnedChange>,
    /// Whether the first impossible change stops the rest.
    pub(crate) stop: bool,
    /// Memory that is released when the changes are written.
    pub(crate) held: Vec<OwnedSemaphorePermit>,
}

/// The outcome of each change, up to the change at which the request stopped.
pub(crate) type ChangeResults = Vec<Result<ChangeOutcome, Problem>>;

/// Changes in the queue of the writer.
pub(crate) struct SubmittedChanges(oneshot::Receiver<ChangeResults>);

impl SubmittedChanges {
    /// Waits until the changes are written.
    pub(crate) async fn outcomes(self) -> Result<ChangeResults, Problem> {
        self.0.await.map_err(|_| lost())
    }
}

struct WriteJob {
    changes: Changes,
    reply: oneshot::Sender<ChangeResults>,
    _place: OwnedSemaphorePermit,
}

/// A handle of the writer thread.
pub(crate) struct IndexWriter {
    jobs: Mutex<Option<Sender<WriteJob>>>,
    places: Arc<Semaphore>,
    thread: BackgroundThread,
}

impl IndexWriter {
    /// Starts the thread; `sizes` records the sizes of batches.
    /// `watch` gets the documents that were written.
    pub(crate) fn start(
        index: Arc<Index>,
        sizes: Arc<Mutex<Histogram>>,
        watch: Option<Arc<NearDuplicateWatch>>,
    ) -> Result<Self, IndexError> {
        let (sender, receiver) = channel();
        let write = move || write_all(&index, &receiver, &sizes, watch.as_deref());
        let thread = BackgroundThread::start("writer", write)
            .map_err(|source| IndexError::Io { path: "a thread of the server".into(), source })?;
        Ok(Self {
            jobs: Mutex::new(Some(sender)),
            places: Arc::new(Semaphore::new(WAITING_JOBS)),
            thread,
        })
    }

    /// Number of queued jobs, including those being written.
    pub(crate) fn waiting(&self) -> usize {
        WAITING_JOBS - self.places.available_permits().min(WAITING_JOBS)
    }

    /// Submits changes; `busy` if too many wait.
    pub(crate) fn put(&self, changes: Changes) -> Result<SubmittedChanges, Problem> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| Problem::busy("too many documents wait to be written"))?;
        self.send(changes, place)
    }

    /// Submits changes as soon as the queue has room.
    pub(crate) async fn put_when_free(
        &self,
        changes: Changes,
    ) -> Result<SubmittedChanges, Problem> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        self.send(changes, place.map_err(|_| Problem::busy("the server stops"))?)
    }

    fn send(
        &self,
        changes: Changes,
        place: OwnedSemaphorePermit,
    ) -> Result<SubmittedChanges, Problem> {
        let (reply, answer) = oneshot::channel();
        let job = WriteJob { changes, reply, _place: place };
        let jobs = self.jobs.lock();
        let sent = jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        if sent { Ok(SubmittedChanges(answer)) } else { Err(Problem::busy("the server stops")) }
    }

    /// Writes queued changes and ends the thread.
    pub(crate) fn stop(&self) {
        drop(self.jobs.lock().take());
        self.thread.join();
    }
}

/// The problem of changes whose writer panicked.
pub(crate) fn lost() -> Problem {
    Problem::internal("the thread that writes panicked")
}

fn write_all(
    index: &Index,
    receiver: &Receiver<WriteJob>,
    sizes: &Mutex<Histogram>,
    watch: Option<&NearDuplicateWatch>,
) {
    while let Ok(first) = receiver.recv() {
        let mut jobs = vec![first];
        let (mut count, mut bytes) = weight(&jobs[0]);
        while count < BATCH_CHANGES && bytes < BATCH_BYTES {
            let Ok(job) = receiver.try_recv() else { break };
            let (more, heavier) = weight(&job);
            count += more;
            bytes += heavier;
            jobs.push(job);
        }
        sizes.lock().record(count as u64);
        let groups: Vec<&Changes> = jobs.iter().map(|job| &job.changes).collect();
        // After a panic, the replies are dropped, so that each client gets a problem.
        let Ok(outcomes) = catch_unwind(AssertUnwindSafe(|| write(index, &groups))) else {
            continue;
        };
        for (job, outcome) in jobs.into_iter().zip(outcomes) {
            let Changes { changes, held, .. } = job.changes;
            if let Some(watch) = watch {
                watch.put(written_ids(&changes, &outcome));
            }
            drop((changes, held));
            let _ = job.reply.send(outcome);
        }
        // Readers compute categories that are not stored, so an error or a panic loses nothing.
        let _ = catch_unwind(AssertUnwindSafe(|| lookalike::index::catch_up(index)));
    }
}

/// The documents that were stored.
fn written_ids<'a>(
    changes: &'a [OwnedChange],
    outcomes: &'a ChangeResults,
) -> impl Iterator<Item = String> + 'a {
    changes.iter().zip(outcomes).filter_map(|(change, outcome)| match (change, outcome) {
        (
            OwnedChange::Add(document) | OwnedChange::Put(document),
            Ok(ChangeOutcome::Added | ChangeOutcome::Replaced),
        ) => Some(document.id.clone()),
        _ => None,
    })
}

fn weight(job: &WriteJob) -> (usize, usize) {
    let changes = &job.changes.changes;
    (changes.len(), changes.iter().map(OwnedChange::bytes).sum())
}

/// Writes the changes of several clients in one batch. Impossible changes do not affect others.
fn write(index: &Index, groups: &[&Changes]) -> Vec<ChangeResults> {
    let plan = match plan(index, groups) {
        Ok(plan) => plan,
        Err(problem) => return groups.iter().map(|_| vec![Err(problem.clone())]).collect(),
    };
    let mut all = Vec::new();
    for (group, refused) in groups.iter().zip(&plan) {
        let kept = group.changes.iter().zip(refused).filter(|(_, refused)| refused.is_none());
        all.extend(kept.map(|(change, _)| change.change()));
    }
    let Ok(outcomes) = index.write(&all) else {
        return groups.iter().map(|group| write_alone(index, group)).collect();
    };
    let written = groups.iter().flat_map(|group| &group.changes);
    if let Err(error) = record_duplicates(index, written.filter_map(OwnedChange::document)) {
        let problem = Problem::from(error);
        return groups.iter().map(|_| vec![Err(problem.clone())]).collect();
    }
    let mut outcomes = outcomes.into_iter();
    let mut answer = |refused: Option<Problem>| match refused {
        Some(problem) => Err(problem),
        None => outcomes.next().ok_or_else(lost),
    };
    plan.into_iter().map(|refused| refused.into_iter().map(&mut answer).collect()).collect()
}

/// For each change, in order, the reason if it is impossible. If the client stops at an impossible
/// change, the list ends there.
fn plan(index: &Index, groups: &[&Changes]) -> Result<Vec<Vec<Option<Problem>>>, Problem> {
    let mut ids = ExistingIds::new(index);
    let mut plan = Vec::new();
    for group in groups {
        let mut refused = Vec::new();
        for change in &group.changes {
            let why = refusal(index, &mut ids, change)?;
            let stops = why.is_some() && group.stop;
            refused.push(why.map(Problem::from));
            if stops {
                break;
            }
        }
        plan.push(refused);
    }
    Ok(plan)
}

/// Why a change is impossible after the previous ones.
fn refusal<'a>(
    index: &Index,
    ids: &mut ExistingIds<'a>,
    change: &'a OwnedChange,
) -> Result<Option<IndexError>, IndexError> {
    let document = match change {
        OwnedChange::Remove(id) => {
            ids.set(id, false);
            return Ok(None);
        }
        OwnedChange::Add(document) | OwnedChange::Put(document) => document,
    };
    if let Err(error) = index.settings().check_entry(&document.entry()) {
        return Ok(Some(error));
    }
    let id = &document.id;
    let is_add = matches!(change, OwnedChange::Add(_));
    if is_add && ids.has(id, document.fields.added)? {
        return Ok(Some(IndexError::IdTaken { id: id.clone() }));
    }
    ids.set(id, true);
    Ok(None)
}

/// Writes one client's changes after a failed batch: as a whole, or by bisection until the failing
/// ones are isolated.
fn write_alone(index: &Index, group: &Changes) -> ChangeResults {
    let mut outcome = Vec::new();
    halves(index, &group.changes, group.stop, &mut outcome);
    outcome
}

fn halves(index: &Index, changes: &[OwnedChange], stop: bool, outcome: &mut ChangeResults) {
    if changes.is_empty() || (stop && outcome.last().is_some_and(Result::is_err)) {
        return;
    }
    let all: Vec<Change<'_>> = changes.iter().map(OwnedChange::change).collect();
    let written = index.write(&all).and_then(|outcomes| {
        record_duplicates(index, changes.iter().filter_map(OwnedChange::document))?;
        Ok(outcomes)
    });
    match written {
        Ok(outcomes) => outcome.extend(outcomes.into_iter().map(Ok)),
        Err(error) if changes.len() == 1 => outcome.push(Err(error.into())),
        Err(IndexError::IdTaken { .. } | IndexError::Document { .. }) => {
            let (left, right) = changes.split_at(changes.len() / 2);
            halves(index, left, stop, outcome);
            halves(index, right, stop, outcome);
        }
        Err(error) => {
            let problem = Problem::from(error);
            outcome.extend(changes.iter().map(|_| Err(problem.clone())));
        }
    }
}
