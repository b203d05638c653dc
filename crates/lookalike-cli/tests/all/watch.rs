//! Tests of `lookalike watch` as a process: it adds new files of a folder to an index and reports
//! them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "these are tests")]

use crate::command::Place;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The maximum time to wait for an expected event.
const PATIENCE: Duration = Duration::from_secs(120);
const WORDS: &str = "one two three four five six seven eight nine ten eleven twelve thirteen";

/// A running watch, which is killed at the end of the test.
struct Watch {
    child: Child,
    lines: Receiver<String>,
    messages: Receiver<String>,
}

/// Sends the lines of a stream as they arrive.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        BufReader::new(stream).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
    });
    receiver
}

impl Watch {
    /// Starts to watch the folder `in`, and waits until the program reports it.
    fn start(place: &Place, args: &[&str]) -> Self {
        let watch = Self::begin(place, args);
        watch.wait_for_message("watching in");
        watch
    }

    fn begin(place: &Place, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lookalike"))
            .args(["watch", "in", "--index", "index", "--settle", "50ms"])
            .args(args)
            .current_dir(place.path("."))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = lines(child.stdout.take().unwrap());
        let messages = lines(child.stderr.take().unwrap());
        Self { child, lines: out, messages }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    fn wait_for_message(&self, expected: &str) -> String {
        loop {
            let message = self.messages.recv_timeout(PATIENCE);
            let message = message.unwrap_or_else(|_| panic!("no message {expected:?}"));
            if message.contains(expected) {
                return message;
            }
        }
    }

    /// Sends a signal and returns the exit code.
    fn end(mut self, signal: Signal) -> Option<i32> {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).unwrap();
        let status = self.child.wait().unwrap();
        assert!(self.lines.iter().next().is_none(), "nothing more is reported");
        status.code()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a folder with an index and an empty folder to watch.
fn place(store: &str) -> Place {
    let place = Place::new();
    place.run(&["index", "create", "index", "--store", store, "--threshold", "0.5"]).ok();
    fs::create_dir(place.path("in")).unwrap();
    place
}

fn ids(place: &Place) -> Vec<String> {
    let export = place.run(&["index", "export", "index"]).ok();
    let id = |line: &str| {
        serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let mut ids: Vec<String> = export.lines().map(id).collect();
    ids.sort();
    ids
}

#[test]
fn watch_adds_new_and_changed_files() {
    let place = place("originals");
    place.file("in/old.txt", format!("{WORDS} fourteen"));
    let watch = Watch::begin(&place, &["--json"]);
    let old = watch.json();
    assert_eq!(
        (&old["id"], &old["group"], &old["total"]),
        (&"old.txt".into(), &Value::Null, &0.into())
    );
    watch.wait_for_message("watching in");
    place.file("in/new/page.html", format!("<!doctype html><p>{WORDS} fourteen fifteen</p>"));
    let new = watch.json();
    assert_eq!(
        (&new["id"], &new["done"], &new["group"]),
        (&"new/page.html".into(), &"added".into(), &"new".into())
    );
    assert_eq!(new["matches"][0]["id"], "old.txt");
    assert!(new["matches"][0]["similarity"].as_f64().unwrap() > 0.5, "{new}");
    place.file("in/old.txt", format!("{WORDS} sixteen"));
    let changed = watch.json();
    assert_eq!((&changed["id"], &changed["done"]), (&"old.txt".into(), &"replaced".into()));
    place.file("moved.txt", format!("{WORDS} again and again"));
    fs::rename(place.path("moved.txt"), place.path("in/moved.txt")).unwrap();
    let moved = watch.json();
    assert_eq!((&moved["id"], &moved["group"]), (&"moved.txt".into(), &"grown".into()));
    assert_eq!(moved["total"], 2);
    place.file("in/picture.png", b"\x89PNG\r\n\x1a\n\0\0");
    let skipped = watch.json();
    assert!(skipped["skipped"].as_str().unwrap().contains("PNG"), "{skipped}");
    // A folder with files is moved to the watched folder.
    place
        .file("ready/a.txt", "quite another text of some words")
        .file("ready/b.txt", "and one more of them");
    fs::rename(place.path("ready"), place.path("in/ready")).unwrap();
    assert_eq!(watch.json()["id"], "ready/a.txt");
    assert_eq!(watch.json()["id"], "ready/b.txt");
    // Documents of deleted files stay in the index.
    fs::remove_file(place.path("in/old.txt")).unwrap();
    place.file("in/last.txt", "the last one");
    assert_eq!(watch.json()["id"], "last.txt");
    assert_eq!(watch.end(Signal::SIGINT), Some(0));
    let all = ["last.txt", "moved.txt", "new/page.html", "old.txt", "ready/a.txt", "ready/b.txt"];
    assert_eq!(ids(&place), all);
    let versions = place.run(&["index", "versions", "index", "old.txt", "--json"]).ok();
    let versions: Value = serde_json::from_str(&versions).unwrap();
    assert_eq!(versions["versions"].as_array().unwrap().len(), 2);
}

#[test]
fn watch_adds_existing_files_once() {
    let place = place("texts");
    place.file("in/a.txt", WORDS).file("in/b.txt", format!("{WORDS} fourteen"));
    let watch = ["watch", "in", "--index", "index", "--settle", "50ms", "--once"];
    let out = place.run(&watch).ok();
    assert_eq!(out.lines().next(), Some("a.txt: resembles nothing"), "{out}");
    assert!(out.lines().nth(1).unwrap().starts_with("b.txt: resembles a.txt (0."), "{out}");
    assert_eq!(place.run(&watch).ok(), "");
    place.file("in/a.txt", format!("{WORDS} and another end"));
    let out = place.run(&watch).ok();
    assert!(out.starts_with("a.txt: resembles b.txt"), "{out}");
    assert!(out.ends_with("; replaced the earlier version\n"), "{out}");
    assert_eq!(ids(&place), ["a.txt", "b.txt"]);
    // The program does not read an index or a feed in the folder as a document.
    let own = Place::new();
    own.file("in/a.txt", WORDS);
    own.run(&["index", "create", "in/index"]).ok();
    for _ in 0..2 {
        own.run(&[
            "watch",
            "in",
            "--index",
            "in/index",
            "--once",
            "--feed",
            "in/feed.xml",
            "--settle",
            "1ms",
        ])
        .ok();
    }
    let stats: Value =
        serde_json::from_str(&own.run(&["index", "stats", "in/index", "--json"]).ok()).unwrap();
    assert_eq!(stats["documents"], 1);
    // `index add` gives the files the same ids.
    let error = own.run(&["index", "add", "in/index", "in"]).fails(1);
    assert!(error.contains("the index already contains document \"a.txt\""), "{error}");
}

#[test]
fn unfinished_files_are_not_read() {
    let place = place("originals");
    let watch = Watch::start(&place, &[]);
    let mut file = File::create(place.path("in/slow.txt")).unwrap();
    file.write_all(b"the first half of a text, ").unwrap();
    file.sync_all().unwrap();
    // Other files come and go while this file is being written.
    for number in 0..3 {
        place.file(&format!("in/other{number}.txt"), format!("something else {number}"));
        assert!(watch.line().starts_with(&format!("other{number}.txt")));
    }
    file.write_all(b"and the second half").unwrap();
    drop(file);
    assert!(watch.line().starts_with("slow.txt"));
    assert_eq!(watch.end(Signal::SIGTERM), Some(0));
    let versions = place.run(&["index", "versions", "index", "slow.txt", "--json"]).ok();
    let versions: Value = serde_json::from_str(&versions).unwrap();
    assert_eq!(versions["versions"].as_array().unwrap().len(), 1, "{versions}");
    let original = place.run(&["index", "original", "index", "slow.txt"]).ok();
    assert_eq!(original, "the first half of a text, and the second half");
}

#[test]
fn watch_waits_for_missing_folders() {
    let place = place("sets");
    place.file("in/a.txt", "a few words of a text");
    let watch = Watch::begin(&place, &[]);
    assert_eq!(watch.line(), "a.txt: resembles nothing");
    watch.wait_for_message("watching in");
    fs::rename(place.path("in"), place.path("away")).unwrap();
    let message = watch.wait_for_message("in is missing");
    assert!(message.contains("The index keeps the documents that were added"), "{message}");
    place.file("away/b.txt", "written while it was away");
    fs::rename(place.path("away"), place.path("in")).unwrap();
    watch.wait_for_message("in is back");
    assert_eq!(watch.line(), "b.txt: resembles nothing");
    place.file("in/c.txt", "written when it is back");
    assert_eq!(watch.line(), "c.txt: resembles nothing");
    assert_eq!(watch.end(Signal::SIGINT), Some(0));
    assert_eq!(ids(&place), ["a.txt", "b.txt", "c.txt"]);
    fs::remove_dir_all(place.path("in")).unwrap();
    let error = place.run(&["watch", "in", "--index", "index"]).fails(1);
    assert!(error.contains("in: ") && error.contains("name a folder"), "{error}");
}

#[test]
fn watch_skips_oversized_originals() {
    let place = Place::new();
    let create = ["index", "create", "index", "--store", "originals", "--max-original", "1KiB"];
    place.run(&create).ok();
    place.file("in/long.txt", WORDS.repeat(50)).file("in/short.txt", WORDS);
    let watch = Watch::begin(&place, &["--json"]);
    let skipped = watch.json();
    let why = skipped["skipped"].as_str().unwrap();
    assert!(why.contains("the index keeps at most 1024"), "{skipped}");
    assert_eq!(watch.json()["id"], "short.txt");
    watch.wait_for_message("watching in");
    assert_eq!(ids(&place), ["short.txt"]);
    // If the new version of a file is too long, the old one stays.
    place.file("in/short.txt", WORDS.repeat(50));
    assert!(watch.json()["skipped"].is_string());
    place.file("in/long.txt", format!("{WORDS} fourteen"));
    assert_eq!(watch.json()["id"], "long.txt");
    assert_eq!(watch.end(Signal::SIGTERM), Some(0));
    assert_eq!(ids(&place), ["long.txt", "short.txt"]);
    assert_eq!(place.run(&["index", "original", "index", "short.txt"]).ok(), WORDS);
}

/// Reads one request, answers it with a status, and returns its body.
fn answered(stream: impl Read + Write, status: &str) -> Value {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).unwrap() > 2 {
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut stream = reader.into_inner();
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn webhooks_receive_and_retry_reports() {
    let place = place("sets");
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/new", server.local_addr().unwrap());
    let watch = Watch::start(&place, &["--webhook", &url]);
    place.file("in/a.txt", WORDS);
    assert_eq!(watch.line(), "a.txt: resembles nothing");
    place.file("in/b.txt", format!("{WORDS} fourteen"));
    assert!(watch.line().starts_with("b.txt: resembles a.txt"));
    // Documents without a match are not sent. A message that fails is sent again.
    let first = answered(server.accept().unwrap().0, "500 Oops");
    assert_eq!((&first["id"], &first["matches"][0]["id"]), (&"b.txt".into(), &"a.txt".into()));
    assert_eq!(answered(server.accept().unwrap().0, "204 No Content"), first);
    place.file("in/c.txt", format!("{WORDS} fifteen"));
    assert!(watch.line().starts_with("c.txt: resembles"));
    let refused = answered(server.accept().unwrap().0, "410 Gone");
    assert_eq!((&refused["id"], &refused["total"]), (&"c.txt".into(), &2.into()));
    let message = watch.wait_for_message("c.txt was not sent");
    assert!(message.contains("410"), "{message}");
    // A signal ends the pause between attempts.
    drop(server);
    place.file("in/d.txt", format!("{WORDS} sixteen"));
    assert!(watch.line().starts_with("d.txt: resembles"));
    assert_eq!(watch.end(Signal::SIGINT), Some(0));
    assert_eq!(ids(&place).len(), 4);
    for (wrong, expected) in [
        ("e.example", "expected an address"),
        ("https://", "expected an address"),
        ("http://", "expected an address"),
    ] {
        let error = place.run(&["watch", "in", "--index", "index", "--webhook", wrong]).fails(2);
        assert!(error.contains(expected), "{error}");
    }
}

/// Creates a self-signed certificate of `localhost` with its key. Returns `None` if `openssl` is
/// not installed.
fn certificate(place: &Place) -> Option<Arc<ServerConfig>> {
    let output = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "key.pem", "-out", "certificate.pem"])
        .current_dir(place.path("."))
        .output();
    let Ok(output) = output else {
        let reason = "openssl is not installed, so webhooks over TLS were not tried";
        lookalike_test_support::print_skipped(reason);
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let certificate = CertificateDer::from_pem_file(place.path("certificate.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(place.path("key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Some(Arc::new(config))
}

#[test]
fn tls_webhooks_need_trusted_certificates() {
    let place = place("sets");
    let Some(config) = certificate(&place) else { return };
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/new", server.local_addr().unwrap().port());
    place.file("in/a.txt", WORDS).file("in/b.txt", format!("{WORDS} fourteen"));
    let once = ["watch", "in", "--index", "index", "--settle", "0s", "--once", "--webhook", &url];
    let wrong = place.run_with(&once, &[("LOOKALIKE_SERVICE_CA", "in/a.txt")]).fails(2);
    assert!(wrong.contains("the file contains no certificate"), "{wrong}");
    let receiver = std::thread::spawn(move || {
        let (stream, _) = server.accept().unwrap();
        let connection = rustls::ServerConnection::new(config).unwrap();
        answered(rustls::StreamOwned::new(connection, stream), "204 No Content")
    });
    place.run_with(&once, &[("LOOKALIKE_SERVICE_CA", "certificate.pem")]).ok();
    assert!(receiver.join().unwrap()["matches"][0]["similarity"].as_f64().unwrap() > 0.5);
}

#[test]
fn feeds_accumulate_all_matches() {
    let place = place("sets");
    place.file("in/a.txt", WORDS).file("in/b.txt", format!("{WORDS} <&> fourteen"));
    let watch =
        ["watch", "in", "--index", "index", "--once", "--feed", "groups.xml", "--settle", "1ms"];
    place.run(&watch).ok();
    let feed = place.read("groups.xml");
    assert_eq!(feed.matches("<entry>").count(), 1, "{feed}");
    assert!(feed.contains("<title>b.txt: resembles a.txt ("), "{feed}");
    // The third document joins the first group. The second pair is a new group.
    let other_text = "another text, of words that the first two do not have, which is long enough";
    place.file("in/c.txt", format!("{WORDS} fifteen"));
    place.file("in/d.txt", other_text).file("in/e.txt", format!("{other_text} for a group"));
    place.run(&watch).ok();
    let feed = place.read("groups.xml");
    assert_eq!(feed.matches("<entry>").count(), 3, "{feed}");
    let [e, c, b] = ["e", "c", "b"].map(|name| feed.find(&format!("<title>{name}.txt")).unwrap());
    assert!(e < c && c < b, "{feed}");
    place.file("groups.xml", "something else");
    let error = place.run(&watch).fails(2);
    assert!(error.contains("not a feed of `lookalike watch`"), "{error}");
    assert_eq!(place.read("groups.xml"), "something else");
}

#[test]
fn another_writer_is_waited_for() {
    let place = place("sets");
    let watch = Watch::start(&place, &["--wait", "1ms"]);
    // This service holds the index until it is killed.
    let mut other = Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .args(["serve", "index", "--listen", "127.0.0.1:0", "--log", "off"])
        .current_dir(place.path("."))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let started = lines(other.stdout.take().unwrap());
    assert!(started.recv_timeout(PATIENCE).unwrap().contains("is served at"));
    place.file("in/a.txt", "a few words of a text");
    watch.wait_for_message("writes to index; use the service, or stop it first");
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(watch.line(), "a.txt: resembles nothing");
    // Other processes can write between the batches of the watch.
    place.file("b.txt", format!("{WORDS} of another command"));
    place.run(&["index", "add", "index", "b.txt"]).ok();
    place.file("in/c.txt", format!("{WORDS} of this command"));
    assert!(watch.line().starts_with("c.txt: resembles b.txt"));
    assert_eq!(watch.end(Signal::SIGHUP), Some(0));
}
