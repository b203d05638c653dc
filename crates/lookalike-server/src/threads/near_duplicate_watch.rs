//! Finds near-duplicates of written documents, and passes messages about them to the senders of
//! webhooks. Writing never waits for this.

use crate::config::index_name::IndexName;
use crate::config::token::random_token;
use crate::config::webhook::Webhooks;
use crate::http::problem::Problem;
use crate::http::response::six_decimals;
use crate::service_state::{ReceiverHash, ServiceState, WaitingDocuments};
use crate::threads::background_thread::BackgroundThread;
use crate::threads::log::Logger;
use crate::threads::news_signal::NewsSignal;
use crate::threads::webhook_sender::{DeliveryCounts, WebhookSender, receiver};
use lookalike::index::time;
use lookalike::store::Index;
use lookalike::store::entry::RecordFields;
use lookalike::store::query::{QueryBuffers, QueryRequest};
use lookalike::store::query_by_id::query_stored;
use serde_json::{Value, json};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Documents in a message, and near-duplicates of each.
const DOCUMENTS: u32 = 100;
const MATCHES: usize = 10;
/// The pause before another attempt to queue a message.
const RETRY: Duration = Duration::from_secs(10);

/// A handle of the thread, and of the senders.
pub(crate) struct NearDuplicateWatch {
    watcher: Arc<WriteWatcher>,
    thread: BackgroundThread,
}

impl NearDuplicateWatch {
    pub(crate) fn start(
        index: &Arc<Index>,
        name: Option<&IndexName>,
        webhooks: &Webhooks,
        state: &Arc<ServiceState>,
        log: &Arc<Logger>,
    ) -> io::Result<Self> {
        let counts = Arc::new(DeliveryCounts::default());
        remove_stale(state, webhooks, &counts, log);
        let start = |url: &String| WebhookSender::start(url, webhooks, state, &counts, log);
        let senders = webhooks.urls.iter().map(start).collect::<io::Result<_>>()?;
        let watcher = Arc::new(WriteWatcher {
            index: Arc::clone(index),
            name: name.cloned(),
            threshold: webhooks.threshold.unwrap_or(index.settings().threshold),
            state: Arc::clone(state),
            signal: NewsSignal::default(),
            counts,
            senders,
            log: Arc::clone(log),
        });
        let of_thread = Arc::clone(&watcher);
        let thread = BackgroundThread::start("near-duplicates", move || of_thread.watch())?;
        Ok(Self { watcher, thread })
    }

    /// Counts of sent, failed and dropped messages.
    pub(crate) fn counts(&self) -> &DeliveryCounts {
        &self.watcher.counts
    }

    /// Queues written documents before the write is acknowledged. Drops documents that are too
    /// many.
    pub(crate) fn put(&self, ids: impl Iterator<Item = String>) {
        let watcher = &self.watcher;
        let ids: Vec<String> = ids.collect();
        if ids.is_empty() {
            return;
        }
        let count = ids.len() as u64;
        let dropped = watcher.state.queue_documents(ids.into_iter()).unwrap_or_else(|error| {
            watcher.log.say(&format!("{count} documents for webhooks: {error}"));
            count
        });
        watcher.counts.drop_messages(dropped);
        watcher.signal.notify();
    }

    /// Documents and messages that wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.watcher.state.waiting().map_or(0, |(documents, messages)| documents + messages)
    }

    /// Ends all threads after their current work. Waiting documents and messages are sent in the
    /// next run if the state is a file. Otherwise they are dropped and counted.
    pub(crate) fn stop(&self) {
        let watcher = &self.watcher;
        watcher.signal.close();
        self.thread.join();
        for sender in &watcher.senders {
            sender.stop();
        }
        let waiting = self.waiting();
        if watcher.state.is_file {
            if waiting > 0 {
                watcher
                    .log
                    .say(&format!("{waiting} messages or documents wait for the next start"));
            }
        } else {
            watcher.counts.drop_messages(waiting);
        }
        let dropped = watcher.counts.dropped.load(Ordering::Relaxed);
        if dropped > 0 {
            watcher.log.say(&format!("{dropped} messages or documents were not sent to webhooks"));
        }
    }
}

/// Removes messages of an earlier run that are too old, or for addresses that are not configured
/// any more.
fn remove_stale(state: &ServiceState, webhooks: &Webhooks, counts: &DeliveryCounts, log: &Logger) {
    let receivers: Vec<ReceiverHash> = webhooks.urls.iter().map(|url| receiver(url)).collect();
    match state.remove_stale(&receivers) {
        Ok(0) => {}
        Ok(removed) => {
            counts.drop_messages(removed);
            log.say(&format!(
                "{removed} messages of an earlier run are older than a day, or for other webhooks, \
                 and were dropped"
            ));
        }
        Err(error) => log.say(&format!("messages of an earlier run: {error}")),
    }
}

/// The work of the thread.
struct WriteWatcher {
    index: Arc<Index>,
    /// The name of the index in messages, if the server has several indexes.
    name: Option<IndexName>,
    threshold: f64,
    state: Arc<ServiceState>,
    signal: NewsSignal,
    counts: Arc<DeliveryCounts>,
    senders: Vec<WebhookSender>,
    log: Arc<Logger>,
}

impl WriteWatcher {
    fn watch(&self) {
        let mut buffers = QueryBuffers::default();
        loop {
            let next = self.state.next_documents(DOCUMENTS).unwrap_or_else(|error| {
                self.log.say(&format!("documents for webhooks: {error}"));
                WaitingDocuments { ids: Vec::new(), last: None, damaged: 0 }
            });
            let WaitingDocuments { ids, last, damaged } = next;
            if damaged > 0 {
                self.counts.drop_messages(damaged);
                self.log.say(&format!("{damaged} documents for webhooks: their rows are damaged"));
            }
            let Some(last) = last else {
                if self.signal.wait() {
                    continue;
                }
                return;
            };
            if self.signal.is_closed() {
                return;
            }
            let look = AssertUnwindSafe(|| self.documents(&ids, &mut buffers));
            let found = catch_unwind(look)
                .unwrap_or_else(|_| Err(Problem::internal("a search for webhooks panicked")));
            let documents = found.unwrap_or_else(|problem| {
                self.counts.drop_messages(ids.len() as u64);
                self.log.say(&format!("{} documents for webhooks: {}", ids.len(), problem.cause()));
                Vec::new()
            });
            if self.finish(last, &documents) {
                return;
            }
        }
    }

    /// Returns the documents that have near-duplicates, with their near-duplicates.
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
        let mut snapshot = self.index.snapshot()?;
        let mut documents = Vec::new();
        for id in ids {
            let settings = self.index.settings();
            // A document that is already removed has none.
            let found = query_stored(&mut *snapshot, settings, id, &request, buffers)?;
            let Some((_, answer)) = found.filter(|(_, answer)| answer.found > 0) else { continue };
            let matches = answer.matches.iter().map(|found| {
                let estimated = found.similarity.overlap().is_none();
                json!({
                    "id": found.record.id, "similarity": six_decimals(&found.similarity),
                    "estimated": estimated,
                })
            });
            let matches: Vec<Value> = matches.collect();
            documents.push(json!({ "id": id, "found": answer.found, "matches": matches }));
        }
        Ok(documents)
    }

    /// Queues a message for all senders, and removes the documents from their queue. If that fails,
    /// another attempt follows after a pause. Returns true if the thread ends
    /// meanwhile.
    fn finish(&self, last: i64, documents: &[Value]) -> bool {
        let receivers: Vec<ReceiverHash> =
            self.senders.iter().map(WebhookSender::receiver).collect();
        let message = match documents {
            [] => Ok(None),
            queued => random_token().map(|id| Some((id.replace("lookalike_", "msg_"), queued))),
        };
        let finished = message.map_err(|error| error.to_string()).and_then(|message| {
            let message = message.map(|(id, queued)| (id, self.message(queued)));
            let message = message.as_ref().map(|(id, body)| (id.as_str(), body.as_str()));
            let dropped = self.state.finish_documents(last, message, &receivers);
            dropped.map_err(|error| error.to_string())
        });
        match finished {
            Ok(dropped) => {
                self.counts.drop_messages(dropped);
                self.senders.iter().for_each(WebhookSender::wake);
                false
            }
            Err(why) => {
                let seconds = RETRY.as_secs();
                self.log.say(&format!("messages for webhooks: {why}; again in {seconds} s"));
                self.signal.pause(RETRY)
            }
        }
    }

    fn message(&self, documents: &[Value]) -> String {
        let mut data = json!({ "threshold": self.threshold, "documents": documents });
        if let Some(name) = &self.name {
            data["index"] = name.as_str().into();
        }
        let body = json!({
            "type": "near_duplicates.found",
            "timestamp": time::format(time::now()),
            "data": data,
        });
        body.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::config::webhook::WebhookSecret;
    use lookalike::core::params::{Params, ParamsBuilder};
    use lookalike::store::memory::MemoryBackend;
    use lookalike::store::settings::{IndexSettings, StoredContent};

    fn index() -> Arc<Index> {
        let params = Params::new(&ParamsBuilder::default()).unwrap();
        let settings = IndexSettings::new(&params, "as written", StoredContent::Sets).unwrap();
        Arc::new(Index::new(Box::new(MemoryBackend::new(settings))).unwrap())
    }

    #[test]
    fn unqueued_documents_stay_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.sqlite");
        let state = Arc::new(ServiceState::open(Some(&path)).unwrap());
        let log = Arc::new(Logger::start(&Config::default().log).unwrap());
        let counts = Arc::new(DeliveryCounts::default());
        let webhooks = Webhooks {
            urls: Vec::new(),
            secret: WebhookSecret::parse(&format!("whsec_{}", "A".repeat(32))).unwrap(),
            threshold: None,
            authorities: Arc::from([]),
            pauses: Vec::new(),
        };
        let sender = WebhookSender::start("http://127.0.0.1:1/", &webhooks, &state, &counts, &log);
        let id = "a".to_owned();
        let watching = WriteWatcher {
            index: index(),
            name: None,
            threshold: 0.5,
            state: Arc::clone(&state),
            signal: NewsSignal::default(),
            counts: Arc::clone(&counts),
            senders: vec![sender.unwrap()],
            log: Arc::clone(&log),
        };
        state.queue_documents(std::iter::once(id.clone())).unwrap();
        let rename = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql);
        rename("ALTER TABLE messages RENAME TO away").unwrap();
        let WaitingDocuments { ids, last, .. } = state.next_documents(9).unwrap();
        let last = last.unwrap();
        assert_eq!(ids, [id]);
        // The pause ends at once, as the thread ends.
        watching.signal.close();
        assert!(watching.finish(last, &[json!({ "id": "a" })]));
        assert_eq!(state.next_documents(9).unwrap().ids, ids);
        assert_eq!(counts.dropped.load(Ordering::Relaxed), 0);
        watching.senders[0].stop();
        rename("ALTER TABLE away RENAME TO messages").unwrap();
        assert!(!watching.finish(last, &[json!({ "id": "a" })]));
        assert_eq!(state.waiting(), Ok((0, 1)));
        log.stop();
    }
}
