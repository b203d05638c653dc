//! The log: one line for each request, written by a thread of its own, so that no request waits.

use crate::config::{Log, LogFormat};
use crate::threads::background_thread::BackgroundThread;
use lookalike::index::time;
use parking_lot::Mutex;
use serde_json::json;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Maximum number of queued lines; further ones are dropped and counted.
const WAITING: usize = 10_000;

/// The log entry of one request.
pub(crate) struct LogLine<'a> {
    pub(crate) id: &'a str,
    pub(crate) method: &'a str,
    /// The name of its index, if the server has several.
    pub(crate) index: Option<&'a str>,
    pub(crate) route: &'a str,
    pub(crate) status: u16,
    pub(crate) took: Duration,
    pub(crate) bytes: u64,
    pub(crate) note: Option<&'a str>,
}

/// A handle of the log thread.
pub(crate) struct Logger {
    format: LogFormat,
    lines: Mutex<Option<SyncSender<String>>>,
    left_out: AtomicU64,
    thread: BackgroundThread,
}

impl Logger {
    pub(crate) fn start(log: &Log) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(WAITING);
        let sink = std::sync::Arc::clone(&log.sink);
        let thread = BackgroundThread::start("log", move || write_all(&mut *sink(), &receiver))?;
        Ok(Self {
            format: log.format,
            lines: Mutex::new(Some(sender)),
            left_out: AtomicU64::new(0),
            thread,
        })
    }

    /// Logs a request.
    pub(crate) fn request(&self, line: &LogLine<'_>) {
        let ms = line.took.as_secs_f64() * 1e3;
        let at = time::format(time::now() / 1000 * 1000);
        let LogLine { id, method, index, route, status, bytes, note, .. } = line;
        let text = match self.format {
            LogFormat::Json => {
                let ms = (ms * 1e3).round() / 1e3;
                let mut object = json!({
                    "time": at, "id": id, "method": method, "route": route, "status": status,
                    "ms": ms, "bytes": bytes,
                });
                for (name, value) in [("index", index), ("error", note)] {
                    if let Some(value) = value {
                        object[name] = (*value).into();
                    }
                }
                object.to_string()
            }
            LogFormat::Off if note.is_none() => return,
            LogFormat::Text | LogFormat::Off => {
                let note = note.map(|note| format!(": {}", note.escape_debug()));
                let note = note.unwrap_or_default();
                let index = index.map(|index| format!(" [{index}]")).unwrap_or_default();
                format!("{at} {method} {route}{index} {status} {ms:.3} ms {bytes} B {id}{note}")
            }
        };
        self.put(text);
    }

    /// Logs a message.
    pub(crate) fn say(&self, message: &str) {
        let at = time::format(time::now() / 1000 * 1000);
        let text = match self.format {
            LogFormat::Json => json!({ "time": at, "message": message }).to_string(),
            LogFormat::Text | LogFormat::Off => format!("{at} {message}"),
        };
        self.put(text);
    }

    fn put(&self, text: String) {
        let lines = self.lines.lock();
        let Some(sender) = lines.as_ref() else { return };
        if sender.try_send(text).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes queued lines and ends the thread.
    pub(crate) fn stop(&self) {
        let left_out = self.left_out.swap(0, Ordering::Relaxed);
        if left_out > 0 {
            self.say(&format!("{left_out} lines of the log were left out: it was read too slowly"));
        }
        drop(self.lines.lock().take());
        self.thread.join();
    }

    /// Number of dropped lines since the start.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }
}

fn write_all(sink: &mut dyn Write, lines: &Receiver<String>) {
    while let Ok(first) = lines.recv() {
        let mut text = first + "\n";
        for line in lines.try_iter().take(1_000) {
            text.push_str(&line);
            text.push('\n');
        }
        // Errors of the log cannot be reported.
        let _ = sink.write_all(text.as_bytes()).and_then(|()| sink.flush());
    }
}
