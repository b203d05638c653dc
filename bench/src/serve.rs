//! `serve`: measures the response times of a running server. Requests are due at a steady rate,
//! whether or not the server has answered the earlier requests.

use crate::options::{BenchError, BenchOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The maximum number of texts to read. The queries use them in turn.
const TEXTS: usize = 1_000;

/// The requests to the server, and their rate.
struct Load {
    address: String,
    requests: Vec<Vec<u8>>,
    rate: f64,
    total: u64,
    next: AtomicU64,
}

/// Maximum share of the processors' time that other machines of the host take in an undisturbed
/// second.
const UNDISTURBED: f64 = 0.02;

/// The response times on one connection, and the number of errors.
#[derive(Default)]
struct LoadOutcome {
    /// The second in which a request was due, and the µs from then to the end of its answer.
    took: Vec<(usize, u64)>,
    errors: u64,
}

/// Runs `serve --documents FILE.jsonl [--address HOST:PORT --rate N --seconds N
/// --connections N --bytes N --pid N]`. Sends queries with texts of the file, cut to
/// `--bytes` bytes. Skips shorter texts.
pub(crate) fn serve(mut options: BenchOptions) -> Result<(), BenchError> {
    let address = options.text("address").unwrap_or_else(|| "127.0.0.1:8377".to_owned());
    let documents = options.path("documents");
    let documents =
        documents.ok_or_else(|| BenchError("serve needs --documents FILE.jsonl".into()))?;
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
    let (outcomes, stolen): (Vec<LoadOutcome>, Vec<f64>) = std::thread::scope(|scope| {
        let watch = scope.spawn(|| stolen_by_seconds(start, seconds as usize));
        let threads: Vec<_> =
            (0..connections).map(|_| scope.spawn(|| load.send_all(start))).collect();
        let outcomes = threads.into_iter().map(|thread| thread.join().unwrap_or_default());
        (outcomes.collect(), watch.join().unwrap_or_default())
    });
    let elapsed = start.elapsed().as_secs_f64();
    let errors: u64 = outcomes.iter().map(|outcome| outcome.errors).sum();
    let took: Vec<(usize, u64)> = outcomes.into_iter().flat_map(|outcome| outcome.took).collect();
    let answered = took.len();
    let achieved = took.len() as f64 / elapsed;
    println!("{answered} answers in {elapsed:.1} s, {achieved:.0} a second, {errors} errors");
    println!("ms: {}", quantiles(took.iter().map(|(_, us)| *us).collect()));
    print_undisturbed(&took, &stolen);
    if let (Some(pid), Some(before)) = (pid, before) {
        let after = resident_kib(&pid).unwrap_or(0);
        println!("resident memory of the server: {before} KiB before, {after} KiB after");
    }
    Ok(())
}

/// Measures the share of the processors' time that other machines of the host took, in each second
/// from `start`. Empty if the system does not report it.
fn stolen_by_seconds(start: Instant, seconds: usize) -> Vec<f64> {
    let Some(mut before) = processor_time() else { return Vec::new() };
    let mut stolen = Vec::with_capacity(seconds);
    for second in 1..=seconds {
        let end = start + Duration::from_secs(second as u64);
        std::thread::sleep(end.saturating_duration_since(Instant::now()));
        let Some(now) = processor_time() else { break };
        stolen.push((now.0 - before.0) / (now.1 - before.1).max(1.0));
        before = now;
    }
    stolen
}

/// Reads the stolen time and the total time of all processors since the system started, in
/// `/proc/stat`.
fn processor_time() -> Option<(f64, f64)> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let times = text.lines().next()?.split_whitespace().skip(1);
    // Skip the columns `guest` and `guest_nice`: the first two columns already include them.
    let times: Vec<f64> = times.take(8).map_while(|ticks| ticks.parse().ok()).collect();
    Some((*times.get(7)?, times.iter().sum()))
}

/// Prints the response times of the undisturbed seconds.
fn print_undisturbed(took: &[(usize, u64)], stolen: &[f64]) {
    if stolen.is_empty() {
        return;
    }
    let calm = |second: usize| stolen.get(second).is_some_and(|share| *share <= UNDISTURBED);
    let of_them: Vec<u64> =
        took.iter().filter(|(second, _)| calm(*second)).map(|(_, us)| *us).collect();
    println!(
        "other machines of the host took {:.1} % of the processors' time, at most {:.0} % in {} of \
         {} seconds; ms in those: {}",
        stolen.iter().sum::<f64>() / stolen.len() as f64 * 100.0,
        UNDISTURBED * 100.0,
        (0..stolen.len()).filter(|second| calm(*second)).count(),
        stolen.len(),
        quantiles(of_them)
    );
}

/// Formats the quantiles of times in µs as ms.
fn quantiles(mut took: Vec<u64>) -> String {
    took.sort_unstable();
    let at = |share: f64| {
        let place = (share * took.len() as f64) as usize;
        took.get(place.min(took.len().saturating_sub(1))).map_or(0.0, |us| *us as f64 / 1e3)
    };
    format!(
        "p50 {:.2}, p90 {:.2}, p99 {:.2}, p99.9 {:.2}, most {:.2}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0)
    )
}

/// Builds the HTTP requests with the queries.
fn requests(documents: &Path, address: &str, bytes: usize) -> Result<Vec<Vec<u8>>, BenchError> {
    let unread = |error| BenchError::new(documents.display(), error);
    let file = std::fs::File::open(documents).map_err(unread)?;
    let mut requests = Vec::new();
    for line in BufReader::new(file).lines() {
        if requests.len() == TEXTS {
            break;
        }
        let record: serde_json::Value = serde_json::from_str(&line.map_err(unread)?)
            .map_err(|error| BenchError::new(documents.display(), error))?;
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
        return Err(BenchError(format!("{name} has no text of {bytes} bytes or more")));
    }
    Ok(requests)
}

impl Load {
    fn send_all(&self, start: Instant) -> LoadOutcome {
        let mut outcome = LoadOutcome::default();
        let mut stream = None;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.total {
                return outcome;
            }
            let due = start + Duration::from_secs_f64(number as f64 / self.rate);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let request = &self.requests[number as usize % self.requests.len()];
            if self.send_query(&mut stream, request).is_some() {
                let second = (number as f64 / self.rate) as usize;
                outcome.took.push((second, due.elapsed().as_micros() as u64));
            } else {
                outcome.errors += 1;
                stream = None;
            }
        }
    }

    /// Sends a query and reads the answer. Returns `None` for an error or a status other than 200.
    fn send_query(&self, stream: &mut Option<BufReader<TcpStream>>, request: &[u8]) -> Option<()> {
        let stream = if let Some(stream) = stream {
            stream
        } else {
            let new = TcpStream::connect(&self.address).ok()?;
            new.set_nodelay(true).ok()?;
            stream.insert(BufReader::new(new))
        };
        stream.get_mut().write_all(request).ok()?;
        let mut line = String::new();
        let mut length = 0;
        let mut ok = None;
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

/// Returns the resident memory of a process in KiB.
fn resident_kib(pid: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").trim().parse().ok()
}
