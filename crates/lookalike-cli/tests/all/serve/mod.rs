//! Tests of `lookalike serve` as a process.
#![cfg(feature = "serve")]
#![expect(clippy::unwrap_used, reason = "helpers of tests, too")]

mod credentials;
mod indexes;
mod restart;

use crate::command::Place;
use lookalike_test_support::is_soak;
use parking_lot::Mutex;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Served {
    pub(crate) fn start(place: &Place, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lookalike"))
            .args(["serve", "docs", "--listen", "127.0.0.1:0"])
            .args(args)
            .current_dir(place.path("."))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit("://").next().unwrap().to_owned();
        Self { child, address }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
        ask(&self.address, method, path, body)
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut message = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        (self.child.wait().unwrap().code(), message)
    }
}

/// Returns the status and the body of an answer, or `None` if the server ends before it answers.
fn ask(address: &str, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
    ask_with(address, method, path, "", body)
}

/// Like [`ask`], with additional header lines, each with its line end.
pub(crate) fn ask_with(
    address: &str,
    method: &str,
    path: &str,
    fields: &str,
    body: &str,
) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n{fields}\r\n{body}"
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

pub(crate) fn place() -> Place {
    let place = Place::new();
    place.run(&["index", "create", "docs"]).ok();
    place
}

#[test]
fn acknowledged_documents_survive_kills() {
    let place = place();
    let served = Served::start(&place, &["--log", "off"]);
    let (next, acknowledged) = (AtomicU32::new(0), Mutex::new(Vec::new()));
    let send = |address: &str| loop {
        let id = format!("d{}", next.fetch_add(1, Ordering::Relaxed));
        let body = format!("{{\"text\":\"the words of document {id} are these\"}}");
        match ask(address, "PUT", &format!("/v1/documents/{id}"), &body) {
            Some((201, _)) => acknowledged.lock().push(id),
            Some((status, body)) => panic!("{status} {body}"),
            None => return,
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| send(&served.address));
        }
        while acknowledged.lock().len() < 200 {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        served.signal("-KILL");
    });
    assert_eq!(served.end().0, None);
    let acknowledged = acknowledged.into_inner();
    assert!(acknowledged.len() >= 200);
    let served = Served::start(&place, &["--log", "off"]);
    for id in &acknowledged {
        let (status, body) = served.ask("GET", &format!("/v1/documents/{id}"), "").unwrap();
        assert_eq!(status, 200, "{id} was acknowledged and is gone: {body}");
    }
    served.signal("-TERM");
    assert_eq!(served.end().0, Some(0));
    assert!(!place.run(&["index", "check", "docs"]).ok().contains("damaged"));
}

/// The writes that a service has acknowledged so far.
#[derive(Default)]
struct Acknowledged {
    documents: Mutex<Vec<String>>,
    /// The notes of acknowledged decisions; each note is unique.
    decisions: Mutex<Vec<String>>,
    next: AtomicU32,
}

impl Acknowledged {
    /// Inserts a document and sends two decisions about it, repeatedly, until the service ends.
    fn send(&self, address: &str) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let id = format!("d{number}");
            let body = format!("{{\"text\":\"the words of document {id} are these\"}}");
            match ask(address, "PUT", &format!("/v1/documents/{id}"), &body) {
                Some((201, _)) => self.documents.lock().push(id),
                Some((status, body)) => panic!("{status} {body}"),
                None => return,
            }
            let judged = ["duplicate", "not_duplicate"][number as usize % 2];
            let note = format!("n{number}");
            let body = format!(
                "{{\"decisions\":[{{\"decision\":\"{judged}\",\"documents\":[\"d{number}\",\"d0\"],\
                 \"note\":\"{note}\"}},{{\"decision\":\"keep\",\"documents\":[\"d{number}\"],\
                 \"note\":\"{note}\"}}]}}"
            );
            match ask(address, "POST", "/v1/decisions", &body) {
                Some((200, _)) => self.decisions.lock().push(note),
                // A pair needs two documents, so d0 cannot be paired with itself. Another thread
                // may not have inserted d0 yet.
                Some((422, _)) if number == 0 => {}
                Some((409, _)) if !self.documents.lock().iter().any(|id| id == "d0") => {}
                Some((status, body)) => panic!("{status} {body}"),
                None => return,
            }
        }
    }

    fn count(&self) -> usize {
        self.documents.lock().len() + self.decisions.lock().len()
    }
}

/// Returns the notes of all decisions in the log of an index, in the order of the log.
fn noted(place: &Place) -> Vec<String> {
    let lines = place.run(&["index", "decisions", "docs"]).ok();
    let note = |line: &str| {
        let decision: serde_json::Value = serde_json::from_str(line).unwrap();
        decision["note"].as_str().unwrap().to_owned()
    };
    lines.lines().map(note).collect()
}

#[test]
fn acknowledged_decisions_survive_kills() {
    let place = place();
    let acknowledged = Acknowledged::default();
    let kills = if is_soak() { 300 } else { 4 };
    for kill in 0..kills {
        let served = Served::start(&place, &["--log", "off"]);
        let enough = acknowledged.count() + 1 + kill % 7 * 9;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| acknowledged.send(&served.address));
            }
            while acknowledged.count() < enough {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            served.signal("-KILL");
        });
        assert_eq!(served.end().0, None);
        let log = noted(&place);
        let decisions = acknowledged.decisions.lock();
        // The service stores all decisions of a request or none.
        assert!(log.chunks(2).all(|two| two.len() == 2 && two[0] == two[1]), "kill {kill}");
        let stored: std::collections::HashSet<&String> = log.iter().collect();
        let lost: Vec<&String> = decisions.iter().filter(|note| !stored.contains(note)).collect();
        assert!(lost.is_empty(), "kill {kill}: {lost:?} were acknowledged and are gone");
        assert!(log.len() >= 2 * decisions.len());
    }
    let served = Served::start(&place, &["--log", "off"]);
    for id in &*acknowledged.documents.lock() {
        let (status, body) = served.ask("GET", &format!("/v1/documents/{id}"), "").unwrap();
        assert_eq!(status, 200, "{id} was acknowledged and is gone: {body}");
    }
    served.signal("-TERM");
    assert_eq!(served.end().0, Some(0));
    assert!(!place.run(&["index", "check", "docs"]).ok().contains("damaged"));
}

#[test]
fn sigint_stops_and_logs_omit_texts() {
    let place = place();
    let served = Served::start(&place, &["--log", "json"]);
    let secret = "the very secret words of a text nobody else may see";
    let body = format!("{{\"text\":\"{secret}\"}}");
    assert_eq!(served.ask("PUT", "/v1/documents/hidden-id", &body).unwrap().0, 201);
    assert_eq!(served.ask("POST", "/v1/query", &body).unwrap().0, 200);
    served.signal("-INT");
    let (code, log) = served.end();
    assert_eq!(code, Some(0), "{log}");
    assert!(!log.contains("secret") && !log.contains("hidden-id"), "{log}");
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["route"], &lines[0]["status"]),
        (&"/v1/documents/{id}".into(), &201.into())
    );
    assert_eq!((&lines[1]["method"], &lines[1]["route"]), (&"POST".into(), &"/v1/query".into()));
}

/// A request whose body never arrives delays the end of the server for the grace time only. All
/// other time limits are ten minutes here.
#[cfg(unix)]
#[test]
fn grace_time_interrupts_running_requests() {
    let place = place();
    let times = ["--grace", "50ms", "--idle-time", "10min", "--request-time", "10min"];
    let mut served = Served::start(&place, &times);
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let head = format!(
        "PUT /v1/documents/a HTTP/1.1\r\nhost: {}\r\nexpect: 100-continue\r\n\
         content-type: application/json\r\ncontent-length: 99\r\n\r\n",
        served.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server asks for the body, so the request is in progress.
    let mut line = String::new();
    BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 100 "), "{line}");
    served.signal("-TERM");
    let mut log = String::new();
    served.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(served.child.wait().unwrap().code(), Some(1), "{log}");
    assert!(log.contains("error: requests in progress were interrupted"), "{log}");
    drop(stream);
}

/// While another process holds the write lock, a server with `--wait 10ms` fails. A server that
/// waits for ten minutes starts when the lock is released.
#[test]
fn servers_wait_for_the_write_lock() {
    let place = place();
    let lock = std::fs::File::options().write(true).open(place.path("docs/lock")).unwrap();
    lock.lock().unwrap();
    let error = place.run(&["serve", "docs", "--listen", "127.0.0.1:0", "--wait", "10ms"]).fails(1);
    assert!(error.contains("another process"), "{error}");
    let served = std::thread::scope(|scope| {
        let waits = scope.spawn(|| Served::start(&place, &["--wait", "10min", "--log", "off"]));
        lock.unlock().unwrap();
        waits.join().unwrap()
    });
    let body = "{\"text\":\"the words of the document\"}";
    assert_eq!(served.ask("PUT", "/v1/documents/a", body).unwrap().0, 201);
    served.signal("-TERM");
    assert_eq!(served.end().0, Some(0));
}

#[test]
fn file_tokens_grant_their_rights() {
    let place = place();
    place.file("tokens", "read reader-0123456789\n# a comment\nwrite writer-0123456789\n");
    let served = Served::start(&place, &["--token-file", "tokens", "--log", "off"]);
    let body = "{\"text\":\"the words of the document\"}";
    let status = |method: &str, token: &str| {
        let fields = if token.is_empty() {
            String::new()
        } else {
            format!("authorization: Bearer {token}\r\n")
        };
        let body = if method == "PUT" { body } else { "" };
        ask_with(&served.address, method, "/v1/documents/a", &fields, body).unwrap().0
    };
    assert_eq!(status("PUT", "writer-0123456789"), 201);
    assert_eq!(status("PUT", "reader-0123456789"), 403);
    assert_eq!(status("GET", "reader-0123456789"), 200);
    assert_eq!(status("GET", "writer-0123456789"), 200);
    assert_eq!(status("GET", ""), 401);
    assert_eq!(status("GET", "nobody-0123456789"), 401);
    served.signal("-TERM");
    assert_eq!(served.end().0, Some(0));
}

#[cfg(unix)]
#[test]
fn hangup_signals_keep_servers_running() {
    let place = place();
    let mut served = Served::start(&place, &[]);
    // A server that answers has installed its signal handlers.
    assert_eq!(served.ask("GET", "/v1/health", "").unwrap().0, 200);
    served.signal("-HUP");
    let mut log = BufReader::new(served.child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("SIGHUP: ") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the server has ended");
    }
    assert_eq!(served.ask("GET", "/v1/health", "").unwrap().0, 200);
    served.signal("-TERM");
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn readable_token_files_get_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    place.file("tokens", "write 0123456789abcdef\n");
    place.file("serve.toml", "read-tokens = [\"0123456789abcdef\"]\n");
    for (option, name) in [("--token-file", "tokens"), ("--config", "serve.toml")] {
        for (mode, warned) in [(0o644, true), (0o600, false)] {
            let path = place.path(name);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let run = place.run(&["serve", "docs", option, name, "--print-config"]);
            let message = format!("other users can read the tokens in {name} (mode 644)");
            assert_eq!(run.err.contains(&message), warned, "{mode:o}: {}", run.err);
            assert!(!run.err.contains("0123456789abcdef"), "{}", run.err);
        }
    }
}

/// Returns the peak memory of a process, in MiB.
#[cfg(target_os = "linux")]
fn peak_memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

/// Returns bodies that need many times their size in memory if nothing limits their processing.
#[cfg(target_os = "linux")]
fn hostile_bodies() -> Vec<(&'static str, &'static str, String)> {
    const SIZE: usize = 8_000_000;
    let list = |element: &str| element.repeat(SIZE / element.len());
    let metadata = |list: String| format!("{{\"text\":\"a\",\"metadata\":{{\"a\":[{list}0]}}}}");
    let words = |seed| crate::command::words(seed, SIZE / 14);
    let compare = format!(
        "{{\"a\":{{\"text\":\"{}\"}},\"b\":{{\"text\":\"{}\"}},\"differences\":true}}",
        words(1),
        words(2)
    );
    let letters = format!("{{\"text\":\"{}\"}}", list("a b c d e f g "));
    vec![
        ("PUT", "/v1/documents/a", metadata(list("[],"))),
        ("PUT", "/v1/documents/b", metadata(list("{\"\":0},"))),
        ("PUT", "/v1/documents/c", metadata(list("\"\","))),
        ("POST", "/v1/query", format!("{{\"text\":\"a\",\"filters\":[{}\"\"]}}", list("\"\","))),
        ("POST", "/v1/compare", compare),
        ("POST", "/v1/query", letters.clone()),
        ("PUT", "/v1/documents/d", letters),
    ]
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded_by_the_settings() {
    let place = place();
    let mut served = Served::start(
        &place,
        &[
            "--log",
            "off",
            "--max-held",
            "64MiB",
            "--max-body",
            "16MiB",
            "--max-text",
            "8MiB",
            "--workers",
            "4",
            "--request-time",
            "5min",
        ],
    );
    let bodies = hostile_bodies();
    std::thread::scope(|scope| {
        for body in bodies.iter().chain(&bodies) {
            let address = &served.address;
            scope.spawn(move || {
                let (method, path, body) = body;
                let (status, answer) = ask(address, method, path, body).unwrap();
                assert!(matches!(status, 200 | 201 | 400 | 503), "{path}: {status} {answer}");
            });
        }
    });
    let peak = peak_memory(&served.child);
    writeln!(std::io::stderr(), "peak {peak} MiB").unwrap();
    // 64 MiB for bodies and answers, 40 bytes of work for each byte of one body of 8 MB, and 32 MiB
    // for each of four threads.
    assert!(peak < 64 + 8 * 40 + 4 * 32, "{peak} MiB");
    assert_eq!(served.ask("GET", "/v1/health", "").unwrap().0, 200);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
}

/// No decision request exhausts the memory. Long notes, long id lists and decisions about unknown
/// documents are refused, and long lists of decisions are cut.
#[test]
fn memory_of_decisions_is_bounded() {
    let place = place();
    let mut served = Served::start(&place, &["--log", "off", "--max-held", "64MiB"]);
    served.ask("PUT", "/v1/documents/a", "{\"text\":\"one text of a few words\"}").unwrap();
    let decide = |more: &str, documents: &str| {
        let decision = format!("{{\"decision\":\"keep\",\"documents\":[{documents}]{more}}}");
        served.ask("POST", "/v1/decisions", &format!("{{\"decisions\":[{decision}]}}")).unwrap().0
    };
    let noted = |length: usize| decide(&format!(",\"note\":\"{}\"", "n".repeat(length)), "\"a\"");
    assert_eq!((0..8).map(|_| noted(31 << 20)).collect::<Vec<_>>(), [413; 8]);
    assert_eq!((0..8).map(|_| noted(8 << 20)).collect::<Vec<_>>(), [422; 8]);
    assert_eq!(decide("", &format!("\"{}\"", "i".repeat(2 << 20))), 422);
    let unknown: Vec<String> = (0..60_000)
        .map(|id| format!("{{\"decision\":\"keep\",\"documents\":[\"unknown-{id}\"]}}"))
        .collect();
    let body = format!("{{\"decisions\":[{}]}}", unknown.join(","));
    assert_eq!(served.ask("POST", "/v1/decisions", &body).unwrap().0, 409);
    for seen in 0..400 {
        let note = format!(",\"seen\":{seen},\"note\":\"{}\"", "n".repeat(64 << 10));
        assert_eq!(decide(&note, "\"a\""), 200);
    }
    let (status, list) = served.ask("GET", "/v1/decisions?limit=10000", "").unwrap();
    assert!(status == 200 && list.len() < 17 << 20, "{status} {}", list.len());
    let peak = peak_memory(&served.child);
    writeln!(std::io::stderr(), "peak {peak} MiB").unwrap();
    assert!(peak < 64 + 128, "{peak} MiB");
    served.child.kill().unwrap();
    served.child.wait().unwrap();
}

#[test]
fn invalid_server_options_are_errors() {
    let place = place();
    let message = place.run(&["serve", "docs", "--listen", "0.0.0.0:0"]).fails(2);
    assert!(message.contains("--token-file"), "{message}");
    let message = place.run(&["serve", "docs", "--listen", "here"]).fails(2);
    assert!(message.contains("--listen: expected an address"), "{message}");
    let message = place.run(&["serve", "docs", "--max-body", "much"]).fails(2);
    assert!(message.contains("--max-body: expected a size"), "{message}");
    place.file("tokens", "write short\n");
    let message = place.run(&["serve", "docs", "--token-file", "tokens"]).fails(2);
    assert!(message.contains("16 characters") && !message.contains("short"), "{message}");
    place.run(&["serve", "gone"]).fails(1);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let message = place.run(&["serve", "docs", "--listen", &address]).fails(1);
    assert!(message.contains("cannot listen on") && message.contains("--listen"), "{message}");
}

#[test]
fn print_config_shows_effective_settings() {
    let place = place();
    place.file(
        "serve.toml",
        "queue = 9\nread-tokens = [\"0123456789abcdef\", \"fedcba9876543210\"]\n",
    );
    let args = ["serve", "docs", "--config", "serve.toml", "--grace", "5s", "--print-config"];
    let printed = place.run(&args).ok();
    for line in [
        "queue = \"9\" # serve.toml",
        "grace = \"5s\" # --grace",
        "log = \"text\" # default",
        "# read-tokens = \"2 of them\" # serve.toml",
    ] {
        assert!(printed.contains(line), "{line} in\n{printed}");
    }
    assert!(!printed.contains("0123456789"), "{printed}");
    place.file("serve.toml", "quue = 9\n");
    let message = place.run(&args).fails(2);
    assert!(
        message.contains("unknown setting \"quue\"; expected one of index, listen"),
        "{message}"
    );
}
