//! Sends messages to one address, in order, again after pauses while it fails.

use crate::background_thread::BackgroundThread;
use crate::log::Logger;
use crate::webhook::Webhooks;
use lookalike::index::time;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

/// Messages that wait for an address; further ones are dropped and counted.
const WAITING: usize = 1_000;
/// Time limit of an attempt.
const ATTEMPT_TIME: Duration = Duration::from_secs(10);

/// A message.
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) body: String,
}

/// What became of messages.
#[derive(Default)]
pub(crate) struct DeliveryCounts {
    pub(crate) delivered: AtomicU64,
    /// Failed attempts.
    pub(crate) failed: AtomicU64,
    /// Messages, and documents, that nobody was sent.
    pub(crate) dropped: AtomicU64,
}

/// A handle of the thread that sends to an address.
pub(crate) struct WebhookSender {
    shared: Arc<SenderQueue>,
    counts: Arc<DeliveryCounts>,
    thread: BackgroundThread,
}

#[derive(Default)]
struct SenderQueue {
    state: Mutex<SenderState>,
    news: Condvar,
}

#[derive(Default)]
struct SenderState {
    messages: VecDeque<Arc<Message>>,
    closed: bool,
}

impl SenderQueue {
    fn lock(&self) -> MutexGuard<'_, SenderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first message; it stays in the queue. `None` at the end.
    fn first(&self) -> Option<Arc<Message>> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(first) = state.messages.front() {
                return Some(Arc::clone(first));
            }
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits; returns whether the queue was closed meanwhile.
    fn pause(&self, pause: Duration) -> bool {
        let state = self.lock();
        let waited = self.news.wait_timeout_while(state, pause, |state| !state.closed);
        waited.unwrap_or_else(PoisonError::into_inner).0.closed
    }
}

impl WebhookSender {
    pub(crate) fn start(
        url: &str,
        webhooks: &Webhooks,
        counts: &Arc<DeliveryCounts>,
        log: &Arc<Logger>,
    ) -> io::Result<Self> {
        let shared = Arc::new(SenderQueue::default());
        let sending = Sending {
            url: url.to_owned(),
            webhooks: webhooks.clone(),
            agent: agent(webhooks),
            queue: Arc::clone(&shared),
            counts: Arc::clone(counts),
            log: Arc::clone(log),
        };
        let thread = BackgroundThread::start("webhook", move || sending.send_all())?;
        Ok(Self { shared, counts: Arc::clone(counts), thread })
    }

    /// Queues a message; drops it if too many wait.
    pub(crate) fn put(&self, message: &Arc<Message>) {
        let mut state = self.shared.lock();
        if state.messages.len() >= WAITING {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        state.messages.push_back(Arc::clone(message));
        drop(state);
        self.shared.news.notify_all();
    }

    /// Ends the thread after the attempt under way. What waits is dropped.
    pub(crate) fn stop(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        let left = state.messages.len() as u64;
        drop(state);
        self.counts.dropped.fetch_add(left, Ordering::Relaxed);
        self.shared.news.notify_all();
        self.thread.join();
    }
}

/// Redirections are not followed: a message goes where the configuration says.
fn agent(webhooks: &Webhooks) -> Agent {
    let certificates = parse_pem(&webhooks.authorities).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(certificates.collect())))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .tls_config(tls)
        .timeout_global(Some(ATTEMPT_TIME))
        .build()
        .new_agent()
}

/// The work of the thread.
struct Sending {
    url: String,
    webhooks: Webhooks,
    agent: Agent,
    queue: Arc<SenderQueue>,
    counts: Arc<DeliveryCounts>,
    log: Arc<Logger>,
}

impl Sending {
    fn send_all(&self) {
        while let Some(message) = self.queue.first() {
            let mut pauses = self.webhooks.pauses.iter();
            let outcome = loop {
                let Err(why) = self.attempt(&message) else { break Ok(()) };
                self.counts.failed.fetch_add(1, Ordering::Relaxed);
                match pauses.next() {
                    Some(pause) if self.queue.pause(*pause) => return,
                    Some(_) => {}
                    None => break Err(why),
                }
            };
            // It stayed in the queue, so that one that waits counts when the server is stopped.
            self.queue.lock().messages.pop_front();
            match outcome {
                Ok(()) => _ = self.counts.delivered.fetch_add(1, Ordering::Relaxed),
                Err(why) => {
                    self.counts.dropped.fetch_add(1, Ordering::Relaxed);
                    let id = &message.id;
                    self.log.say(&format!("a webhook did not take message {id}: {why}"));
                }
            }
        }
    }

    /// Sends a message once; an error is why it was not taken, without the address, which may have
    /// a secret in it.
    fn attempt(&self, message: &Message) -> Result<(), String> {
        let Message { id, body } = message;
        let timestamp = time::now() / 1_000_000_000;
        let sent = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", self.webhooks.secret.sign(id, timestamp, body))
            .send(body.as_str());
        match sent {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => Err(format!("it answers {}", response.status().as_u16())),
            Err(ureq::Error::Io(error)) => Err(error.kind().to_string()),
            Err(ureq::Error::Timeout(_)) => Err("it does not answer in time".to_owned()),
            Err(_) => Err("the connection failed".to_owned()),
        }
    }
}
