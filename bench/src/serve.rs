//! How quickly a running server answers when requests come at a steady rate, whether or not the
//! ones before are answered.

use crate::options::{Options, Problem};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Texts that are asked about, in turn.
const TEXTS: usize = 1_000;

/// What is asked of the server.
struct Load {
    address: String,
    requests: Vec<Vec<u8>>,
    rate: f64,
    total: u64,
    next: AtomicU64,
}

/// What came of it.
#[derive(Default)]
struct Outcome {
    /// From when a request was due to the end of its answer, in µs.
    took: Vec<u64>,
    errors: u64,
}

/// `serve --address HOST:PORT --documents FILE.jsonl [--rate N --seconds N --connections N
/// --bytes N --pid N]`: queries with texts of the file, cut to so many bytes; shorter ones are
/// passed over.
pub(crate) fn serve(mut options: Options) -> Result<(), Problem> {
    let address = options.text("address").unwrap_or_else(|| "127.0.0.1:8377".to_owned());
    let documents = options.path("documents");
    let documents =
        documents.ok_or_else(|| Problem("serve needs --documents FILE.jsonl".into()))?;
    let rate: f64 = options.number("rate", 1_000.0)?;
    let seconds: f64 = options.number("seconds", 10.0)?;
    let connections: usize = options.number("connections", 16)?;
    let bytes: usize = options.number("bytes", 2_000)?;
    let pid: Option<String> = options.text("pid");
    options.finish()?;
    let requests = requests(&documents, &address, bytes)?;
    let load =
        Load { address, requests, rate, total: (rate * seconds) as u64, next: AtomicU64::new(0) };
    let before = pid.as_deref().and_then(resident_kib);
    let start = Instant::now();
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..connections).map(|_| scope.spawn(|| load.ask_all(start))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
    });
    let elapsed = start.elapsed().as_secs_f64();
    let errors: u64 = outcomes.iter().map(|outcome| outcome.errors).sum();
    let mut took: Vec<u64> = outcomes.into_iter().flat_map(|outcome| outcome.took).collect();
    took.sort_unstable();
    let at = |share: f64| {
        let place = (share * took.len() as f64) as usize;
        took.get(place.min(took.len().saturating_sub(1))).map_or(0.0, |us| *us as f64 / 1e3)
    };
    let (done, achieved) = (took.len(), took.len() as f64 / elapsed);
    println!("{done} answers in {elapsed:.1} s, {achieved:.0} a second, {errors} errors");
    println!(
        "ms: p50 {:.2}, p90 {:.2}, p99 {:.2}, p99.9 {:.2}, most {:.2}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0)
    );
    if let (Some(pid), Some(before)) = (pid, before) {
        let after = resident_kib(&pid).unwrap_or(0);
        println!("resident memory of the server: {before} KiB before, {after} KiB after");
    }
    Ok(())
}

/// The queries, as they are sent.
fn requests(documents: &Path, address: &str, bytes: usize) -> Result<Vec<Vec<u8>>, Problem> {
    let unread = |error| Problem::new(documents.display(), error);
    let file = std::fs::File::open(documents).map_err(unread)?;
    let mut requests = Vec::new();
    for line in BufReader::new(file).lines() {
        if requests.len() == TEXTS {
            break;
        }
        let record: serde_json::Value = serde_json::from_str(&line.map_err(unread)?)
            .map_err(|error| Problem::new(documents.display(), error))?;
        let text = record["text"].as_str().unwrap_or_default();
        if text.len() < bytes {
            continue;
        }
        let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end));
        let body = serde_json::json!({ "text": &text[..end.unwrap_or(0)] }).to_string();
        let head = format!(
            "POST /v1/query HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        requests.push([head.into_bytes(), body.into_bytes()].concat());
    }
    if requests.is_empty() {
        let name = documents.display();
        return Err(Problem(format!("{name} has no text of {bytes} bytes or more")));
    }
    Ok(requests)
}

impl Load {
    fn ask_all(&self, start: Instant) -> Outcome {
        let (mut outcome, mut stream) = (Outcome::default(), None);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.total {
                return outcome;
            }
            let due = start + Duration::from_secs_f64(number as f64 / self.rate);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let request = &self.requests[number as usize % self.requests.len()];
            if self.ask(&mut stream, request).is_some() {
                outcome.took.push(due.elapsed().as_micros() as u64);
            } else {
                outcome.errors += 1;
                stream = None;
            }
        }
    }

    /// Sends a query and reads the answer; nothing where it is not 200.
    fn ask(&self, stream: &mut Option<BufReader<TcpStream>>, request: &[u8]) -> Option<()> {
        let stream = if let Some(stream) = stream {
            stream
        } else {
            let new = TcpStream::connect(&self.address).ok()?;
            new.set_nodelay(true).ok()?;
            stream.insert(BufReader::new(new))
        };
        stream.get_mut().write_all(request).ok()?;
        let (mut line, mut length, mut ok) = (String::new(), 0, None);
        loop {
            line.clear();
            stream.read_line(&mut line).ok()?;
            if ok.is_none() {
                ok = Some(line.starts_with("HTTP/1.1 200"));
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        ok.filter(|ok| *ok).map(drop)
    }
}

/// Memory that a process has in RAM.
fn resident_kib(pid: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").trim().parse().ok()
}
