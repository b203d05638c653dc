//! `lookalike serve` after `kill -9`: it sends the waiting messages, and repeats its answers for
//! idempotency keys.

#![cfg(all(feature = "serve", feature = "sqlite", unix))]
#![expect(clippy::unwrap_used, reason = "helpers of tests, too")]

use crate::command::Place;
use crate::serve::{Served, ask_with, place};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Kills a service, so that it cannot clean up.
fn kill(mut served: Served) {
    served.signal("-KILL");
    served.child.wait().unwrap();
}

fn put(served: &Served, id: &str, words: &str) {
    let body = json!({ "text": format!("{words} of many words that are the same in both") });
    let path = format!("/v1/documents/{id}");
    assert_eq!(served.ask("PUT", &path, &body.to_string()).unwrap().0, 201);
}

/// A received webhook message.
struct Received {
    id: String,
    body: Value,
    stream: TcpStream,
}

impl Received {
    fn next(receiver: &TcpListener) -> Self {
        let mut reader = BufReader::new(receiver.accept().unwrap().0);
        let (mut line, mut id, mut length) = (String::new(), String::new(), 0);
        while reader.read_line(&mut line).unwrap() > 2 {
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            match name.to_ascii_lowercase().as_str() {
                "webhook-id" => value.trim().clone_into(&mut id),
                "content-length" => length = value.trim().parse().unwrap(),
                _ => {}
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        Self { id, body: serde_json::from_slice(&body).unwrap(), stream: reader.into_inner() }
    }

    fn answer(mut self, status: &str) {
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        self.stream.write_all(head.as_bytes()).unwrap();
    }

    /// Returns the ids of the documents that the message reports.
    fn documents(&self) -> Vec<String> {
        let documents = self.body["data"]["documents"].as_array().unwrap().iter();
        documents.map(|document| document["id"].as_str().unwrap().to_owned()).collect()
    }
}

fn with_webhook(place: &Place, receiver: &TcpListener) -> Served {
    let url = format!("http://{}/new", receiver.local_addr().unwrap());
    let args = ["--log", "off", "--webhook", &url, "--webhook-secret-file", "secret"];
    Served::start(place, &args)
}

#[test]
fn pending_messages_survive_kills() {
    let place = place();
    place.file("secret", SECRET);
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let served = with_webhook(&place, &receiver);
    put(&served, "a", "a first text");
    put(&served, "b", "a first text");
    // The message also reports `a` if the service checks `a` after it stores `b`.
    let first = Received::next(&receiver);
    let (id, documents) = (first.id.clone(), first.documents());
    assert!(documents.iter().all(|id| ["a", "b"].contains(&id.as_str())), "{documents:?}");
    // Two more messages wait. The service has acknowledged the documents, but has not sent the
    // messages.
    put(&served, "c", "a second text that nothing resembles, as long as it is alone");
    put(&served, "d", "a second text that nothing resembles, as long as it is alone");
    kill(served);
    drop(first);
    let served = with_webhook(&place, &receiver);
    let second = Received::next(&receiver);
    assert_eq!((second.documents(), &second.id), (documents.clone(), &id));
    second.answer("204 No Content");
    let mut known = documents;
    while !known.contains(&"d".to_owned()) {
        let message = Received::next(&receiver);
        assert!(message.id != id, "it was taken");
        known.extend(message.documents());
        message.answer("204 No Content");
    }
    assert!(known.contains(&"b".to_owned()), "{known:?}");
    kill(served);
    // Delivered messages are not sent again. The next message reports new documents.
    let served = with_webhook(&place, &receiver);
    put(&served, "e", "a first text");
    loop {
        // If the service was killed before it recorded a delivery, it sends the message again with
        // its id.
        let message = Received::next(&receiver);
        let documents = message.documents();
        message.answer("204 No Content");
        if documents == ["e"] {
            break;
        }
        assert!(documents.iter().all(|id| known.contains(id)), "{documents:?} {known:?}");
    }
    kill(served);
}

#[test]
fn idempotent_answers_survive_kills() {
    let place = place();
    let served = Served::start(&place, &["--log", "off"]);
    let lines = "{\"id\":\"a\",\"text\":\"some words\"}\n{\"id\":\"b\",\"text\":\"more words\"}\n";
    let send = |served: &Served, lines: &str| {
        // Sends one request with an idempotency key, and returns the whole answer.
        let mut stream = TcpStream::connect(&served.address).unwrap();
        let head = format!(
            "POST /v1/documents?mode=add HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\
             content-type: application/x-ndjson\r\nidempotency-key: k-1\r\n\
             content-length: {}\r\n\r\n{lines}",
            served.address,
            lines.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let first = send(&served, lines);
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");
    assert!(!first.contains("idempotent-replayed"), "{first}");
    kill(served);
    let served = Served::start(&place, &["--log", "off"]);
    let second = send(&served, lines);
    assert!(second.contains("idempotent-replayed: true"), "{second}");
    assert_eq!(second.split("\r\n\r\n").nth(1), first.split("\r\n\r\n").nth(1));
    assert!(
        second.ends_with("\"added\":2,\"replaced\":0,\"skipped\":[],\"skipped_total\":0}"),
        "{second}"
    );
    assert!(send(&served, "{}\n").starts_with("HTTP/1.1 422"));
    kill(served);
}

/// A file of another program is neither used nor changed, and the message names a remedy.
#[test]
fn invalid_state_files_are_errors() {
    let place = place();
    place.file("docs/service.sqlite", "no database");
    let message = place.run(&["serve", "docs", "--listen", "127.0.0.1:0"]).fails(1);
    assert!(message.contains("service.sqlite") && message.contains("move it away"), "{message}");
    assert_eq!(place.read("docs/service.sqlite"), "no database");
    // A read-only service does not need the state, and another folder has its own state.
    let served = Served::start(&place, &["--log", "off", "--read-only"]);
    kill(served);
    std::fs::create_dir(place.path("state")).unwrap();
    let served = Served::start(&place, &["--log", "off", "--state-dir", "state"]);
    assert_eq!(ask_with(&served.address, "GET", "/v1/health", "", "").unwrap().0, 200);
    kill(served);
    assert!(place.path("state/docs.sqlite").is_file());
    let message = place.run(&["serve", "docs", "--state-dir", "none"]).fails(2);
    assert!(message.contains("--state-dir: expected a folder"), "{message}");
}
