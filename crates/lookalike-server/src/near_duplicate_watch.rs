//! Looks for near-duplicates of documents that were written, and hands messages about them to the
//! senders of webhooks. Writing never waits for it.

use crate::background_thread::BackgroundThread;
use crate::log::Logger;
use crate::problem::Problem;
use crate::similarity::six_decimals;
use crate::token::random_token;
use crate::webhook::Webhooks;
use crate::webhook_sender::{DeliveryCounts, Message, WebhookSender};
use lookalike::index::time;
use lookalike::store::Index;
use lookalike::store::entry::RecordFields;
use lookalike::store::query::{QueryBuffers, QueryRequest};
use lookalike::store::query_by_id::query_stored;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Documents that wait to be looked up; further ones are dropped and counted.
const WAITING: usize = 100_000;
/// Documents in a message, and near-duplicates of each.
const DOCUMENTS: usize = 100;
const MATCHES: usize = 10;

/// A handle of the thread, and of the senders.
pub(crate) struct NearDuplicateWatch {
    shared: Arc<WatchQueue>,
    pub(crate) counts: Arc<DeliveryCounts>,
    senders: Arc<[WebhookSender]>,
    thread: BackgroundThread,
}

#[derive(Default)]
struct WatchQueue {
    state: Mutex<WatchState>,
    news: Condvar,
}

#[derive(Default)]
struct WatchState {
    ids: VecDeque<String>,
    closed: bool,
}

impl WatchQueue {
    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next documents; empty at the end.
    fn next(&self) -> Vec<String> {
        let state = self.lock();
        let waited = self.news.wait_while(state, |state| state.ids.is_empty() && !state.closed);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return Vec::new();
        }
        let count = state.ids.len().min(DOCUMENTS);
        state.ids.drain(..count).collect()
    }
}

impl NearDuplicateWatch {
    pub(crate) fn start(
        index: &Arc<Index>,
        webhooks: &Webhooks,
        log: &Arc<Logger>,
    ) -> io::Result<Self> {
        let counts = Arc::new(DeliveryCounts::default());
        let start = |url: &String| WebhookSender::start(url, webhooks, &counts, log);
        let senders: Arc<[WebhookSender]> =
            webhooks.urls.iter().map(start).collect::<io::Result<_>>()?;
        let shared = Arc::new(WatchQueue::default());
        let watching = WriteWatcher {
            index: Arc::clone(index),
            threshold: webhooks.threshold.unwrap_or(index.settings().threshold),
            queue: Arc::clone(&shared),
            counts: Arc::clone(&counts),
            senders: Arc::clone(&senders),
            log: Arc::clone(log),
        };
        let thread = BackgroundThread::start("near-duplicates", move || watching.watch())?;
        Ok(Self { shared, counts, senders, thread })
    }

    /// Queues documents that were written; drops those that are too many.
    pub(crate) fn put(&self, ids: impl Iterator<Item = String>) {
        let mut state = self.shared.lock();
        for id in ids {
            if state.ids.len() < WAITING {
                state.ids.push_back(id);
            } else {
                self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
        drop(state);
        self.shared.news.notify_all();
    }

    /// Ends all threads after what they are about. What waits is dropped and counted.
    pub(crate) fn stop(&self, log: &Logger) {
        let mut state = self.shared.lock();
        state.closed = true;
        let left = state.ids.len() as u64;
        drop(state);
        self.counts.dropped.fetch_add(left, Ordering::Relaxed);
        self.shared.news.notify_all();
        self.thread.join();
        for sender in &*self.senders {
            sender.stop();
        }
        let dropped = self.counts.dropped.load(Ordering::Relaxed);
        if dropped > 0 {
            log.say(&format!("{dropped} messages or documents were not sent to webhooks"));
        }
    }
}

/// The work of the thread.
struct WriteWatcher {
    index: Arc<Index>,
    threshold: f64,
    queue: Arc<WatchQueue>,
    counts: Arc<DeliveryCounts>,
    senders: Arc<[WebhookSender]>,
    log: Arc<Logger>,
}

impl WriteWatcher {
    fn watch(&self) {
        let mut buffers = QueryBuffers::default();
        loop {
            let ids = self.queue.next();
            if ids.is_empty() {
                return;
            }
            let look = AssertUnwindSafe(|| self.documents(&ids, &mut buffers));
            let found = catch_unwind(look)
                .unwrap_or_else(|_| Err(Problem::internal("a search for webhooks panicked")));
            match found {
                Ok(documents) if documents.is_empty() => {}
                Ok(documents) => self.tell(&documents),
                Err(problem) => {
                    self.counts.dropped.fetch_add(ids.len() as u64, Ordering::Relaxed);
                    let why = problem.note_text().unwrap_or(&problem.detail);
                    self.log.say(&format!("{} documents for webhooks: {why}", ids.len()));
                }
            }
        }
    }

    /// Those of the documents that have near-duplicates, with these.
    fn documents(&self, ids: &[String], buffers: &mut QueryBuffers) -> Result<Vec<Value>, Problem> {
        let request = QueryRequest {
            threshold: self.threshold,
            top: Some(MATCHES),
            nearest: None,
            filters: &[],
            now: time::now(),
            except: None,
            wanted: RecordFields::default(),
        };
        let (mut snapshot, mut documents) = (self.index.snapshot()?, Vec::new());
        for id in ids {
            let settings = self.index.settings();
            // One that is removed already has none.
            let found = query_stored(&mut *snapshot, settings, id, &request, buffers)?;
            let Some((_, answer)) = found.filter(|(_, answer)| answer.found > 0) else { continue };
            let matches = answer.matches.iter().map(|one| {
                let estimated = one.similarity.overlap().is_none();
                json!({
                    "id": one.record.id, "similarity": six_decimals(&one.similarity),
                    "estimated": estimated,
                })
            });
            let matches: Vec<Value> = matches.collect();
            documents.push(json!({ "id": id, "found": answer.found, "matches": matches }));
        }
        Ok(documents)
    }

    /// Hands a message to all senders.
    fn tell(&self, documents: &[Value]) {
        let body = json!({
            "type": "near_duplicates.found",
            "timestamp": time::format(time::now()),
            "data": { "threshold": self.threshold, "documents": documents },
        });
        // Without random bytes from the system there is no id that is unique.
        let Ok(id) = random_token() else {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let id = id.replace("lookalike_", "msg_");
        let message = Arc::new(Message { id, body: body.to_string() });
        self.senders.iter().for_each(|sender| sender.put(&message));
    }
}
