//! Commands that ask a service refuse the answers of proxies and other programs.

#![cfg(feature = "serve")]
#![expect(clippy::unwrap_used, reason = "helpers of tests, too")]

use crate::command::{Place, Run};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

const SETTINGS: &str = r#"{"num_hashes":128,"store":"texts"}"#;

/// Returns the whole response for the method and the path of a request.
type Answers = dyn Fn(&str, &str) -> String + Send;

/// Starts a service with these answers, and returns its address.
fn answering(answers: Box<Answers>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let request = read_request(&mut stream);
            let mut words = request.split(' ');
            let (method, path) = (words.next().unwrap(), words.next().unwrap());
            stream.write_all(answers(method, path).as_bytes()).unwrap();
        }
    });
    address
}

/// Reads a request, its body included, and returns its text.
fn read_request(stream: &mut TcpStream) -> String {
    let (mut request, mut piece) = (Vec::new(), [0; 4_096]);
    loop {
        let read = stream.read(&mut piece).unwrap();
        request.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.to_lowercase().lines().find_map(|line| {
            line.strip_prefix("content-length:").map(|length| length.trim().parse().unwrap())
        });
        if read == 0 || body.len() >= length.unwrap_or(0) {
            return text.into_owned();
        }
    }
}

/// Builds a response; `fields` are additional header lines.
fn response(status: u16, fields: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Some\r\nconnection: close\r\ncontent-length: {length}\r\n{fields}\r\n\
         {body}"
    )
}

fn json(body: &str) -> String {
    response(200, "content-type: application/json\r\n", body)
}

/// Starts a service that answers all requests with one response. If `has_settings` is true, it
/// answers requests for the settings like a real service.
fn same_answer(has_settings: bool, answer: String) -> String {
    answering(Box::new(move |_, path| {
        let is_settings = has_settings && path == "/v1/settings";
        if is_settings { json(SETTINGS) } else { answer.clone() }
    }))
}

fn place() -> Place {
    let place = Place::new();
    place.file("a.jsonl", "{\"id\":\"a\",\"text\":\"words\"}\n").file("out.jsonl", "kept\n");
    place
}

/// Checks that each command fails and that its existing output file is unchanged.
fn check_each_fails(address: &str, expected: &str) {
    let commands: [&[&str]; 10] = [
        &["add", address, "a.jsonl"],
        &["update", address, "a.jsonl"],
        &["remove", address, "a"],
        &["export", address],
        &["export", address, "-o", "out.jsonl"],
        &["export", address, "--originals", "-o", "out.jsonl"],
        &["compact", address],
        &["check", address],
        &["check", address, "--repair", "--json"],
        &["backup", address, "monday"],
    ];
    for command in commands {
        let place = place();
        let args = [&["index"], command].concat();
        let run = place.run_with(&args, &[("LOOKALIKE_SERVICE_TOKEN", "secret")]);
        assert!(!run.err.contains("secret"), "{run:?}");
        let message = run.fails(1);
        assert!(message.contains(expected) && message.contains(address), "{args:?}: {message}");
        assert_eq!(place.read("out.jsonl"), "kept\n", "{args:?}");
    }
}

#[test]
fn redirects_are_not_followed() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    let to = format!("http://{}/elsewhere", other.local_addr().unwrap());
    for status in [301, 302, 307, 308] {
        for has_settings in [false, true] {
            let redirect = response(status, &format!("location: {to}\r\n"), "");
            let address = same_answer(has_settings, redirect);
            check_each_fails(&address, &format!("to {to} (status {status})"));
        }
    }
    assert_eq!(other.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn empty_answers_are_refused() {
    let types = ["", "content-type: application/json\r\n", "content-type: text/html\r\n"];
    for content_type in types {
        for has_settings in [false, true] {
            let address = same_answer(has_settings, response(200, content_type, ""));
            check_each_fails(&address, "is it `lookalike serve` of this version?");
        }
    }
}

#[test]
fn empty_exports_are_incomplete() {
    let lines = response(200, "content-type: application/x-ndjson; charset=utf-8\r\n", "");
    let address = same_answer(true, lines);
    let place = place();
    let run = place.run(&["index", "export", &address, "-o", "out.jsonl"]);
    assert!(run.fails(1).contains("came to an early end"));
    assert_eq!(place.read("out.jsonl"), "kept\n");
}

#[test]
fn foreign_json_is_refused() {
    for body in ["{}", "[]", r#"{"jobs":[{"state":"done"}]}"#] {
        for has_settings in [false, true] {
            let address = same_answer(has_settings, json(body));
            check_each_fails(&address, "is it `lookalike serve` of this version?");
        }
    }
}

#[test]
fn foreign_problems_are_refused() {
    let gateway = response(502, "content-type: text/html\r\n", "<h1>Bad Gateway</h1>");
    check_each_fails(&same_answer(true, gateway), "answers 502 to `");
}

/// Exports from a service whose response has no length and ends with the connection.
fn export(body: &str, place: &Place) -> Run {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/x-ndjson\r\n\r\n";
    let address = same_answer(true, format!("{head}{body}"));
    place.run(&["index", "export", &address, "-o", "out.jsonl"])
}

#[test]
fn incomplete_exports_replace_nothing() {
    let line = format!("{{\"id\":\"a\",\"text\":\"{}\"}}\n", "word ".repeat(50));
    let bodies = [
        line.clone(),
        line.repeat(2) + &line[..20],
        line.repeat(2) + "{\"documents\":3}\n",
        line.repeat(2) + "{\"documents\":2}",
        "{\"documents\":1}\n".to_owned(),
    ];
    for body in bodies {
        let place = place();
        let message = export(&body, &place).fails(1);
        assert!(message.contains("came to an early end"), "{body}: {message}");
        assert_eq!(place.read("out.jsonl"), "kept\n");
    }
}

#[test]
fn whole_exports_lose_only_their_count() {
    for body in ["", "{\"id\":\"a\"}\n", &format!("{{\"id\":\"{}\"}}\n", "b".repeat(70_000))] {
        let place = place();
        let documents = body.lines().count();
        let run = export(&format!("{body}{{\"documents\":{documents}}}\n"), &place);
        assert!(run.err.contains(&format!("out.jsonl: {documents} document")), "{run:?}");
        run.ok();
        assert!(place.read("out.jsonl") == body);
    }
}

#[test]
fn documents_sent_are_counted() {
    let answer = json(r#"{"added":0,"replaced":0,"skipped":[],"skipped_total":0}"#);
    let address = same_answer(true, answer);
    for command in ["add", "update"] {
        let message = place().run(&["index", command, &address, "a.jsonl"]).fails(1);
        assert!(message.contains("added 0, replaced 0 and skipped 0 of 1"), "{message}");
    }
}
