//! Requests that are too large, too slow or too late are refused with the reason. Stopping loses no
//! acknowledged write.

use crate::serve::client::{Answer, rest};
use crate::serve::served::{Served, token};
use lookalike::store::settings::StoredContent;
use lookalike_server::{Right, StopOutcome, Tokens};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[test]
fn too_much_is_refused() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.body_bytes = 20_000;
        config.limits.text_bytes = 10_000;
    });
    let client = &served.client;
    let body = json!({ "text": "x".repeat(30_000) });
    client.put("/v1/documents/a", &body).problem(413, "body-too-large");
    let body = json!({ "text": "x".repeat(15_000) });
    let problem = client.put("/v1/documents/a", &body).problem(413, "text-too-large");
    assert!(problem["detail"].as_str().unwrap().contains("--max-text"));
    client.post("/v1/query", &body).problem(413, "text-too-large");
    let headers = ["content-type: application/json", "transfer-encoding: chunked"];
    let chunk = format!("7530\r\n{}\r\n0\r\n\r\n", "x".repeat(30_000));
    let answer = client.request("PUT", "/v1/documents/a", &headers, chunk.as_bytes());
    answer.problem(413, "body-too-large");
    let line = format!("{{\"id\":\"a\",\"text\":\"{}\"}}\n", "x".repeat(300_000));
    let problem = client.lines("/v1/documents", line.as_bytes()).problem(413, "body-too-large");
    assert_eq!((&problem["line"], &problem["stored"]), (&json!(1), &json!(0)));
    let many: String = (0..1_000)
        .map(|n| format!("{{\"id\":\"m{n}\",\"text\":\"{}\"}}\n", "y ".repeat(50)))
        .collect();
    assert_eq!(client.lines("/v1/documents", many.as_bytes()).ok(200)["added"], 1_000);
}

#[test]
fn text_limits_decide_about_long_documents() {
    let text = "word after word\n".repeat(50_000_000 / 16);
    let body = json!({ "text": text });
    let served = Served::with(StoredContent::Texts, |_| {});
    served.client.put("/v1/documents/long", &body).problem(413, "text-too-large");
    served.client.get("/v1/documents/long").problem(404, "unknown-document");
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.text_bytes = 64 << 20;
        config.limits.request_time = Duration::from_secs(300);
    });
    served.client.put("/v1/documents/long", &body).ok(201);
    let stored = served.client.get("/v1/documents/long").ok(200);
    assert_eq!(stored["bytes"], text.len());
    let found = served.client.post("/v1/query", &body).ok(200);
    assert_eq!(found["matches"][0]["id"], "long");
}

#[test]
fn full_disks_keep_stored_documents() {
    let served = Served::with(StoredContent::Texts, |_| {});
    let client = &served.client;
    let body = json!({ "text": "one two three" });
    client.put("/v1/documents/a", &body).ok(201);
    served.gate.set_full(true);
    client.put("/v1/documents/b", &body).problem(507, "disk-full");
    let lines = b"{\"id\":\"c\",\"text\":\"one\"}\n";
    let problem = client.lines("/v1/documents", lines).problem(507, "disk-full");
    assert_eq!(problem["stored"], json!(0));
    client.get("/v1/documents/a").ok(200);
    client.get("/v1/documents/b").problem(404, "unknown-document");
    served.gate.set_full(false);
    client.put("/v1/documents/b", &body).ok(201);
}

#[test]
fn full_disks_allow_removals() {
    let served = Served::start();
    let client = &served.client;
    let body = json!({ "text": "one two three" });
    client.put("/v1/documents/a", &body).ok(201);
    served.gate.set_full(true);
    served.gate.close();
    let ask = |method: &'static str, path: &'static str| {
        let (client, body) = (client.clone(), body.to_string());
        let headers = ["content-type: application/json"];
        std::thread::spawn(move || client.request(method, path, &headers, body.as_bytes()))
    };
    let first = ask("PUT", "/v1/documents/b");
    served.gate.wait_for(1);
    // The server writes these two changes in one batch.
    let (second, removed) = (ask("PUT", "/v1/documents/c"), ask("DELETE", "/v1/documents/a"));
    loop {
        let figures = String::from_utf8(client.get("/metrics").body).unwrap();
        if figures.contains("lookalike_write_queue_length 3\n") {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    served.gate.open();
    first.join().unwrap().problem(507, "disk-full");
    second.join().unwrap().problem(507, "disk-full");
    assert_eq!(removed.join().unwrap().status, 204);
    client.get("/v1/documents/a").problem(404, "unknown-document");
}

#[test]
fn unreachable_databases_are_reported() {
    let served = Served::start();
    let client = &served.client;
    served.gate.set_down(true);
    let body = json!({ "text": "one two three" });
    for answer in [client.put("/v1/documents/a", &body), client.post("/v1/query", &body)] {
        let problem = answer.problem(503, "database-unavailable");
        assert!(!problem["detail"].as_str().unwrap().contains("another process"), "{problem}");
        assert_eq!(answer.header("retry-after"), Some("5"));
    }
    served.gate.set_down(false);
    client.put("/v1/documents/a", &body).ok(201);
}

#[test]
fn idle_connections_make_room() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.connections = 4;
        config.limits.head_time = Duration::from_secs(600);
        config.limits.request_time = Duration::from_secs(600);
    });
    let client = served.client.clone();
    served.gate.close();
    let busy = std::thread::spawn(move || client.get("/v1/documents"));
    served.gate.wait_for(1);
    let mut idle: Vec<_> = (0..12).map(|_| served.client.connect()).collect();
    // Half of the connections have sent a part of a head.
    for (nth, stream) in idle.iter_mut().enumerate() {
        if nth % 2 == 0 {
            stream.write_all(b"GET /v1/health HTTP/1.1\r\nhost:").unwrap();
        }
    }
    served.client.get("/v1/settings").ok(200);
    served.client.get("/openapi.json").ok(200);
    served.gate.open();
    busy.join().unwrap().ok(200);
    drop(idle);
}

#[test]
fn bursts_fit_into_the_backlog() {
    const BURST: usize = 300;
    let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
    if most.trim().parse().is_ok_and(|most: usize| most <= BURST) {
        lookalike_test_support::print_skipped(&format!("somaxconn is {most}, below {BURST}"));
        return;
    }
    let served = Served::with(StoredContent::Texts, |config| config.limits.connections = 1);
    let client = served.client.clone();
    served.gate.close();
    let busy = std::thread::spawn(move || client.get("/v1/documents"));
    served.gate.wait_for(1);
    // The only connection is busy, so the server accepts none of these connections.
    let connect = |_| {
        let connected = TcpStream::connect_timeout(&served.client.address, Duration::from_secs(5));
        connected.expect("the backlog has no room")
    };
    let burst: Vec<TcpStream> = (0..BURST).map(connect).collect();
    served.gate.open();
    busy.join().unwrap().ok(200);
    drop(burst);
}

#[test]
fn sending_clients_receive_the_refusal() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.body_bytes = 20_000;
        config.limits.text_bytes = 10_000;
        config.tokens = Tokens::new(vec![token(Right::Write, None, "write-write-write-write")]);
    });
    let token = "authorization: Bearer write-write-write-write\r\n";
    for (token, status, code) in [(token, 413, "body-too-large"), ("", 401, "token-needed")] {
        let mut stream = served.client.connect();
        let head = format!(
            "PUT /v1/documents/a HTTP/1.1\r\nhost: localhost\r\n{token}\
             content-type: application/json\r\ncontent-length: 30000000\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b'x'; 30_000_000]).unwrap();
        Answer::read(&rest(&mut stream)).problem(status, code);
    }
}

#[test]
fn the_slow_are_cut_off() {
    let heads = Served::with(StoredContent::Texts, |config| {
        config.limits.head_time = Duration::from_millis(100);
    });
    let mut slow: Vec<_> = (0..20).map(|_| heads.client.connect()).collect();
    for stream in &mut slow {
        // The server may already have closed this connection.
        let _ = stream.write_all(b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\nx:");
    }
    for stream in &mut slow {
        let answer = Answer::read(&rest(stream));
        assert!(matches!(answer.status, 0 | 408), "{}", answer.head);
    }
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.idle_time = Duration::from_millis(100);
    });
    let mut body = served.client.connect();
    let head = "PUT /v1/documents/a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                content-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    body.write_all(head.as_bytes()).unwrap();
    Answer::read(&rest(&mut body)).problem(408, "slow-body");
    served.client.get("/v1/health").ok(200);
}

#[test]
fn busy_servers_request_a_retry() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.workers = 1;
        config.limits.queue = 1;
    });
    served.gate.close();
    let ask = || {
        let client = served.client.clone();
        std::thread::spawn(move || client.get("/v1/documents"))
    };
    let mut threads: Vec<_> = (0..2).map(|_| ask()).collect();
    served.gate.wait_for(1);
    let busy = loop {
        let answer = ask();
        // An earlier request may not have arrived yet. Then this one takes its place in the queue.
        std::thread::sleep(Duration::from_millis(50));
        if answer.is_finished() {
            break answer.join().unwrap();
        }
        threads.push(answer);
    };
    busy.problem(503, "busy");
    assert_eq!(busy.header("retry-after"), Some("1"));
    served.gate.open();
    let statuses: Vec<_> = threads.into_iter().map(|a| a.join().unwrap().status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 2, "{statuses:?}");
}

#[test]
fn an_answer_has_its_time() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.request_time = Duration::from_millis(100);
    });
    served.gate.close();
    let answer = served.client.get("/v1/documents");
    answer.problem(503, "timeout");
    assert!(answer.header("retry-after").is_some());
    let put = served.client.put("/v1/documents/late", &json!({ "text": "" }));
    put.problem(503, "timeout");
    served.client.lines("/v1/documents", b"{\"id\":\"x\",\"text\":\"\"}").problem(503, "timeout");
    served.gate.open();
    // On a busy machine, an answer may exceed the time limit, but not every time.
    until_ok(|| served.client.get("/v1/health"));
}

/// Repeats a request until it succeeds.
fn until_ok(ask: impl Fn() -> Answer) -> Answer {
    let begun = Instant::now();
    loop {
        let answer = ask();
        if matches!(answer.status, 200 | 201) {
            return answer;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{}", answer.head);
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_memory_for_bodies_ends() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.body_bytes = 1 << 20;
        config.limits.held_bytes = 1 << 20;
    });
    let mut first = served.client.connect();
    let head = "POST /v1/query HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                content-type: application/json\r\ncontent-length: 1000000\r\n\
                expect: 100-continue\r\n\r\n";
    first.write_all(head.as_bytes()).unwrap();
    // The server answers `100 Continue` when it has reserved the memory.
    let mut reported = [0; 25];
    std::io::Read::read_exact(&mut first, &mut reported).unwrap();
    let body = json!({ "text": "x".repeat(100_000) });
    served.client.post("/v1/query", &body).problem(503, "busy");
    drop(first);
    until_ok(|| served.client.post("/v1/query", &body));
}

#[test]
fn stopping_finishes_running_requests() {
    let served = Served::start();
    let client = served.client.clone();
    served.gate.close();
    let thread = std::thread::spawn(move || client.put("/v1/documents/a", &json!({ "text": "a" })));
    served.gate.wait_for(1);
    let idle = served.client.connect();
    served.stop.stop();
    while TcpStream::connect(served.client.address).is_ok() {
        std::thread::sleep(Duration::from_millis(5));
    }
    served.gate.open();
    thread.join().unwrap().ok(201);
    drop(idle);
    assert_eq!(served.ended(), StopOutcome::InOrder);
}

/// Starts a server with a document whose answer has 30 MB, more than a connection buffers.
fn with_a_long_document(idle: Duration) -> Served {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.held_bytes = 64 << 20;
        config.limits.idle_time = idle;
    });
    let body = json!({ "text": "x".repeat(30_000_000) }).to_string();
    let head = format!(
        "PUT /v1/documents/long HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let request = [head.as_bytes(), body.as_bytes()].concat();
    // On a busy machine, an upload may pause for longer than `idle`, but not every time.
    until_ok(|| served.client.raw(&request));
    served
}

/// Requests the document and reads only the beginning of the answer.
fn ask_and_leave(served: &Served) -> TcpStream {
    let mut stream = served.client.connect();
    let head = b"GET /v1/documents/long?text=true HTTP/1.1\r\nhost: localhost\r\n\r\n";
    stream.write_all(head).unwrap();
    let mut status = [0; 12];
    std::io::Read::read_exact(&mut stream, &mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    stream
}

#[test]
fn the_memory_for_answers_ends() {
    let served = with_a_long_document(Duration::from_secs(600));
    let mut left: Vec<_> = (0..2).map(|_| ask_and_leave(&served)).collect();
    let path = "/v1/documents/long?text=true";
    served.client.get(path).problem(503, "busy");
    served.client.get("/v1/documents/long").ok(200);
    // Memory becomes free when a client has read its answer.
    rest_of_answer(&mut left.remove(0));
    until_ok(|| served.client.get(path));
}

fn rest_of_answer(stream: &mut TcpStream) {
    let mut all = std::io::Read::take(stream, 30_000_000);
    assert_eq!(std::io::copy(&mut all, &mut std::io::sink()).unwrap(), 30_000_000);
}

#[test]
fn stalled_clients_are_disconnected() {
    let served = with_a_long_document(Duration::from_millis(200));
    let left: Vec<_> = (0..2).map(|_| ask_and_leave(&served)).collect();
    // A client that does not read for longer than `idle` is disconnected, after it has received its
    // status.
    let head = b"GET /v1/documents/long?text=true HTTP/1.1\r\nhost: localhost\r\n\
        connection: close\r\n\r\n";
    until_ok(|| served.client.raw(head));
    let _more = ask_and_leave(&served);
    assert_eq!(served.end(), StopOutcome::InOrder);
    drop(left);
}

#[test]
fn slow_uploads_leave_room_for_others() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.held_bytes = 16 << 20;
        config.limits.body_bytes = 1 << 20;
        config.limits.idle_time = Duration::from_secs(600);
    });
    let begin = |bytes: usize| {
        let mut stream = served.client.connect();
        let head = "POST /v1/documents HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                    content-type: application/x-ndjson\r\ncontent-length: 9000000\r\n\
                    expect: 100-continue\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let mut reported = [0; 25];
        std::io::Read::read_exact(&mut stream, &mut reported).unwrap();
        stream.write_all(&vec![b' '; bytes]).unwrap();
        stream
    };
    let slow: Vec<_> = (0..32).map(|_| begin(10)).collect();
    let line = b"{\"id\":\"a\",\"text\":\"a\"}\n";
    assert_eq!(served.client.lines("/v1/documents", line).ok(200)["added"], 1);
    drop(slow);
    // Uploads of lines use at most half of the memory.
    let _more: Vec<_> = (0..16).map(|_| begin(900_000)).collect();
    let body = json!({ "text": "x".repeat(900_000) });
    for _ in 0..5 {
        served.client.post("/v1/query", &body).ok(200);
    }
}

/// Compresses several copies of a piece.
fn gzip_of(piece: &[u8], times: usize) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..times).for_each(|_| encoder.write_all(piece).unwrap());
    encoder.finish().unwrap()
}

fn send_gzip(served: &Served, path: &str, body: &[u8]) -> Answer {
    let headers = ["content-type: application/x-ndjson", "content-encoding: gzip"];
    served.client.request("POST", path, &headers, body)
}

#[test]
fn blank_lines_have_a_limit() {
    let served = Served::with(StoredContent::Texts, |config| config.limits.body_bytes = 1 << 20);
    let blank = [b'\n'; 4_096];
    let answer = send_gzip(&served, "/v1/documents", &gzip_of(&blank, 1_000));
    answer.problem(413, "body-too-large");
    // The allowed blank lines count in the line number of an error.
    let mut lines = blank.to_vec();
    lines.extend_from_slice(b"{\"id\":\"a\",\"text\":\"a\"}\n\n{}");
    let answer = send_gzip(&served, "/v1/documents", &gzip_of(&lines, 1));
    assert_eq!(answer.problem(400, "bad-line")["line"], 4_099);
}

#[test]
fn expanded_lines_have_a_time_limit() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.request_time = Duration::from_millis(500);
    });
    let body = gzip_of(&b"{}\n".repeat(4_096), 2_000);
    assert!(body.len() < 1 << 20);
    send_gzip(&served, "/v1/documents?on_error=skip", &body).problem(503, "timeout");
}

#[test]
fn unfinished_bodies_leave_room_for_others() {
    const ONE: &str = "write-write-write-write";
    const OTHER: &str = "other-other-other-other";
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.connections = 32;
        config.limits.idle_time = Duration::from_secs(600);
        config.tokens =
            Tokens::new(vec![token(Right::Write, None, ONE), token(Right::Write, None, OTHER)]);
    });
    let begin = || {
        let mut stream = served.client.connect();
        let head = format!(
            "POST /v1/documents HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ONE}\r\n\
             content-type: application/x-ndjson\r\ncontent-length: 9000000\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let mut unfinished: Vec<_> = (0..64).map(|_| begin()).collect();
    served.client.with_token(OTHER).get("/v1/stats").ok(200);
    let refused = unfinished.last_mut().unwrap();
    let mut status = [0; 12];
    std::io::Read::read_exact(refused, &mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 503");
}

#[test]
fn the_grace_period_ends_upkeep() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.grace = Duration::from_millis(50);
    });
    served.gate.close();
    served.client.post("/v1/upkeep", &json!({ "job": "compact" })).ok(202);
    served.gate.wait_for(1);
    let gate = std::sync::Arc::clone(&served.gate);
    assert_eq!(served.end(), StopOutcome::Interrupted);
    gate.open();
}

#[test]
fn a_second_stop_ends_upkeep() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.grace = Duration::from_secs(3_600);
    });
    served.gate.close();
    served.client.post("/v1/upkeep", &json!({ "job": "compact" })).ok(202);
    served.gate.wait_for(1);
    let gate = std::sync::Arc::clone(&served.gate);
    served.stop.stop();
    assert_eq!(served.end(), StopOutcome::Interrupted);
    gate.open();
}
