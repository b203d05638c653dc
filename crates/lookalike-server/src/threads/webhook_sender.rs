//! Sends messages to one address, in order. Repeats failed attempts after pauses.

use crate::config::webhook::Webhooks;
use crate::service_state::{ReceiverHash, ServiceState, WaitingMessage};
use crate::threads::background_thread::BackgroundThread;
use crate::threads::log::Logger;
use crate::threads::news_signal::NewsSignal;
use lookalike::index::time;
use sha2::{Digest, Sha256};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

/// Time limit of an attempt.
const ATTEMPT_TIME: Duration = Duration::from_secs(10);

/// Counts of sent, failed and dropped messages.
#[derive(Default)]
pub(crate) struct DeliveryCounts {
    pub(crate) delivered: AtomicU64,
    /// Failed attempts.
    pub(crate) failed: AtomicU64,
    /// Messages, and documents, that were not sent.
    pub(crate) dropped: AtomicU64,
}

/// The hash of an address.
pub(crate) fn receiver(url: &str) -> ReceiverHash {
    Sha256::digest(url.as_bytes()).into()
}

impl DeliveryCounts {
    /// Counts messages, or documents, that are not sent.
    pub(crate) fn drop_messages(&self, count: u64) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
    }
}

/// A handle of the thread that sends to an address.
pub(crate) struct WebhookSender {
    sending: Arc<Sending>,
    thread: BackgroundThread,
}

impl WebhookSender {
    pub(crate) fn start(
        url: &str,
        webhooks: &Webhooks,
        state: &Arc<ServiceState>,
        counts: &Arc<DeliveryCounts>,
        log: &Arc<Logger>,
    ) -> io::Result<Self> {
        let sending = Arc::new(Sending {
            url: url.to_owned(),
            receiver: receiver(url),
            webhooks: webhooks.clone(),
            agent: agent(webhooks),
            state: Arc::clone(state),
            signal: NewsSignal::default(),
            counts: Arc::clone(counts),
            log: Arc::clone(log),
        });
        let of_thread = Arc::clone(&sending);
        let thread = BackgroundThread::start("webhook", move || of_thread.send_all())?;
        Ok(Self { sending, thread })
    }

    /// The hash of the address.
    pub(crate) fn receiver(&self) -> ReceiverHash {
        self.sending.receiver
    }

    /// Tells the thread that there are messages.
    pub(crate) fn wake(&self) {
        self.sending.signal.notify();
    }

    /// Ends the thread after the attempt under way. Waiting messages stay in the state.
    pub(crate) fn stop(&self) {
        self.sending.signal.close();
        self.thread.join();
    }
}

/// Returns a client that does not follow redirections, so that a message is sent only to the
/// configured address.
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
    receiver: ReceiverHash,
    webhooks: Webhooks,
    agent: Agent,
    state: Arc<ServiceState>,
    signal: NewsSignal,
    counts: Arc<DeliveryCounts>,
    log: Arc<Logger>,
}

impl Sending {
    fn send_all(&self) {
        while !self.signal.is_closed() {
            match self.state.first_message(&self.receiver) {
                Ok(Some(message)) if message.is_damaged => {
                    self.counts.drop_messages(1);
                    self.log.say("a message for a webhook was not sent: its row is damaged");
                    if self.remove(&message) {
                        return;
                    }
                }
                Ok(Some(message)) => {
                    if self.send(&message) {
                        return;
                    }
                }
                Ok(None) => _ = self.signal.wait(),
                Err(error) => {
                    self.log.say(&format!("messages for webhooks: {error}"));
                    _ = self.signal.wait();
                }
            }
        }
    }

    /// Sends a message, with further attempts after pauses, and removes it. Returns true if the
    /// thread ends before. In this case, the message stays.
    fn send(&self, message: &WaitingMessage) -> bool {
        let mut pauses = self.webhooks.pauses.iter();
        let outcome = loop {
            let Err(why) = self.attempt(message) else { break Ok(()) };
            self.counts.failed.fetch_add(1, Ordering::Relaxed);
            match pauses.next() {
                Some(pause) if self.signal.pause(*pause) => return true,
                Some(_) => {}
                None => break Err(why),
            }
        };
        match outcome {
            Ok(()) => _ = self.counts.delivered.fetch_add(1, Ordering::Relaxed),
            Err(why) => {
                self.counts.drop_messages(1);
                let id = &message.id;
                self.log.say(&format!("a webhook did not take message {id}: {why}"));
            }
        }
        self.remove(message)
    }

    /// Removes a message. Returns true if this failed and the thread ends.
    fn remove(&self, message: &WaitingMessage) -> bool {
        if let Err(error) = self.state.remove_message(message) {
            // Otherwise the message would be sent again and again. It is sent again at the next
            // start.
            self.log.say(&format!("messages for webhooks: {error}; none are sent until a restart"));
            return true;
        }
        false
    }

    /// Sends a message once. An error is the reason why the message was not accepted, without the
    /// address, which may contain a secret.
    fn attempt(&self, message: &WaitingMessage) -> Result<(), String> {
        let WaitingMessage { id, body, .. } = message;
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
