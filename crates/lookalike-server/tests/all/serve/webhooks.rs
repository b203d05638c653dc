//! Webhooks: signed messages about new near-duplicates, which are repeated after a failure. Writes
//! do not wait for them.

use crate::serve::served::Served;
use lookalike::store::settings::StoredContent;
use lookalike_server::{WebhookSecret, Webhooks};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PATIENCE: Duration = Duration::from_secs(120);

/// A request that the receiver of a webhook got.
struct Received {
    head: Vec<String>,
    body: String,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        let mut lines = self.head.iter();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

fn request(stream: &TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        head.push(line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Received { head, body: String::from_utf8(body).unwrap() }
}

/// Starts a receiver that answers with these statuses, then with 204.
fn receiver(statuses: &'static [u16]) -> (String, Receiver<Received>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook?secret=1", listener.local_addr().unwrap());
    let (sender, received) = channel();
    let mut statuses = statuses.iter().copied();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let got = request(&stream);
            let status = statuses.next().unwrap_or(204);
            let answer = format!(
                "HTTP/1.1 {status} X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\
                 connection: close\r\n\r\n"
            );
            let _ = stream.write_all(answer.as_bytes());
            if sender.send(got).is_err() {
                return;
            }
        }
    });
    (url, received)
}

fn webhooks(urls: &[&str], pauses: &[u64]) -> Webhooks {
    Webhooks {
        urls: urls.iter().map(|url| (*url).to_owned()).collect(),
        secret: WebhookSecret::parse(SECRET).unwrap(),
        threshold: None,
        authorities: Vec::new().into(),
        pauses: pauses.iter().copied().map(Duration::from_millis).collect(),
    }
}

fn served(webhooks: Webhooks) -> Served {
    Served::with(StoredContent::Texts, |config| config.webhooks = Some(webhooks))
}

/// Returns a value of the metrics.
fn figure(served: &Served, name: &str) -> f64 {
    let answer = served.client.get("/metrics");
    let text = String::from_utf8(answer.body).unwrap();
    let line = text.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

fn wait_for(served: &Served, name: &str, value: f64) {
    while figure(served, name) < value {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn put(served: &Served, id: &str, text: &str) {
    let answer = served.client.put(&format!("/v1/documents/{id}"), &json!({ "text": text }));
    assert!(answer.status < 300, "{answer:?}");
}

/// Returns the document with this id from a message.
fn of<'a>(body: &'a Value, id: &str) -> Option<&'a Value> {
    body["data"]["documents"].as_array().unwrap().iter().find(|document| document["id"] == id)
}

/// Returns the next message about a document. The server may check an earlier document late, and
/// then also report it.
fn about(received: &Receiver<Received>, id: &str) -> Received {
    loop {
        let message = received.recv_timeout(PATIENCE).unwrap();
        if of(&message.json(), id).is_some() {
            return message;
        }
    }
}

const TEXT: &str = "the quick brown fox jumps over the lazy dog in the green park";

#[test]
fn near_duplicates_send_signed_messages() {
    let (url, received) = receiver(&[]);
    let served = served(webhooks(&[&url], &[]));
    put(&served, "a", TEXT);
    put(&served, "other", "nothing of this has ever been written before by anyone at all");
    put(&served, "b", &format!("{TEXT} today"));
    let message = about(&received, "b");
    let body = message.json();
    assert_eq!(body["type"], "near_duplicates.found");
    assert_eq!(body["data"]["threshold"], 0.5);
    let document = of(&body, "b").unwrap();
    let first_match = &document["matches"][0];
    assert_eq!(document["found"], 1);
    assert!(of(&body, "other").is_none(), "{body}");
    let answer = served.client.post("/v1/query", &json!({ "id": "b" })).ok(200);
    assert_eq!(
        (&first_match["id"], &first_match["similarity"]),
        (&json!("a"), &answer["matches"][0]["similarity"])
    );
    assert!(!message.body.contains("fox"), "{body}");
    let (id, timestamp) = (message.header("webhook-id"), message.header("webhook-timestamp"));
    let secret = WebhookSecret::parse(SECRET).unwrap();
    let expected = secret.sign(id, timestamp.parse().unwrap(), &message.body);
    // The receiver converts heads to lower case.
    assert_eq!(message.header("webhook-signature"), expected.to_ascii_lowercase());
    // A replaced document is reported again. A document without a near-duplicate is not reported.
    put(&served, "other", "again nothing that anyone has written at any time before this");
    put(&served, "b", TEXT);
    let second = about(&received, "b");
    assert_ne!(second.header("webhook-id"), id);
    let body = second.json();
    assert_eq!(of(&body, "b").unwrap()["matches"][0]["similarity"], 1.0);
    assert!(of(&body, "other").is_none(), "{body}");
}

#[test]
fn refused_messages_are_sent_again() {
    let (url, received) = receiver(&[500, 307, 404]);
    let served = served(webhooks(&[&url], &[1, 1, 1]));
    put(&served, "a", TEXT);
    put(&served, "b", TEXT);
    let all: Vec<Received> = (0..4).map(|_| received.recv_timeout(PATIENCE).unwrap()).collect();
    for message in &all {
        assert_eq!(message.header("webhook-id"), all[0].header("webhook-id"));
        assert_eq!(message.body, all[0].body);
    }
    wait_for(&served, "lookalike_webhook_messages_delivered_total", 1.0);
    assert!((figure(&served, "lookalike_webhook_attempts_failed_total") - 3.0).abs() < 0.1);
    assert!(figure(&served, "lookalike_webhook_dropped_total") < 0.1);
}

#[test]
fn undeliverable_messages_are_dropped_and_counted() {
    let (url, received) = receiver(&[500, 500]);
    let served = served(webhooks(&[&url], &[1]));
    put(&served, "a", TEXT);
    put(&served, "b", TEXT);
    wait_for(&served, "lookalike_webhook_dropped_total", 1.0);
    put(&served, "c", TEXT);
    let failed: Vec<Received> = (0..2).map(|_| received.recv_timeout(PATIENCE).unwrap()).collect();
    assert_eq!(failed[0].header("webhook-id"), failed[1].header("webhook-id"));
    let message = about(&received, "c");
    assert_ne!(message.header("webhook-id"), failed[0].header("webhook-id"));
}

/// A webhook that does not answer delays neither writes, nor other webhooks, nor the end of the
/// server.
#[test]
fn silent_webhooks_delay_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent_url = format!("http://{}/", silent.local_addr().unwrap());
    let refused_url = format!("http://{refused}/");
    let (url, received) = receiver(&[]);
    let served = served(webhooks(&[&silent_url, &refused_url, &url], &[3_600_000]));
    let lines: String =
        (0..600).map(|n| format!("{{\"id\":\"{n}\",\"text\":\"{TEXT}\"}}\n")).collect();
    assert_eq!(served.client.lines("/v1/documents", lines.as_bytes()).ok(200)["added"], 600);
    let mut documents = 0;
    while documents < 300 {
        let message = received.recv_timeout(PATIENCE).unwrap();
        let count = message.json()["data"]["documents"].as_array().unwrap().len();
        assert!((1..=100).contains(&count));
        documents += count;
    }
    drop(silent);
    assert_eq!(served.end(), lookalike_server::StopOutcome::InOrder);
}

#[test]
fn invalid_webhook_addresses_are_errors() {
    for url in ["ftp://example.org/", "example.org", ""] {
        let webhooks = Some(webhooks(&[url], &[]));
        let config = lookalike_server::Config { webhooks, ..Default::default() };
        let error = config.check().unwrap_err();
        assert!(error.to_string().contains("http://"), "{error}");
    }
}
