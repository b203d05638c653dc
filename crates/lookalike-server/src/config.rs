//! The configuration of a server.

pub use crate::config_error::ConfigError;
use crate::token::Tokens;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Configuration of a server: address, tokens and limits.
#[derive(Clone)]
pub struct Config {
    /// Where it listens; port 0 takes any free one.
    pub listen: SocketAddr,
    /// Names, without port, that a `Host` header may have in addition to those of this machine's
    /// loopback and the address listened on. Where the address is no loopback and this is empty,
    /// any name is taken.
    pub hosts: Vec<String>,
    /// Who may read and write. Without any, everybody may, on this machine only.
    pub tokens: Tokens,
    /// Whether documents may be changed at all.
    pub writable: bool,
    /// What is taken on at most.
    pub limits: ServerLimits,
    /// Where temporary files are written; the current folder where it is `None`.
    pub temp_dir: Option<PathBuf>,
    /// How a line is written for each request.
    pub log: Log,
}

/// Limits of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLimits {
    /// Bytes of a request's body, and of one line where documents come as lines.
    pub body_bytes: u64,
    /// Bytes of one text.
    pub text_bytes: u64,
    /// Bytes of all bodies that are held at once; beyond it requests are refused with Retry-After.
    pub held_bytes: u64,
    /// Threads that shingle, query and read. More than processors, so that what is found quickly
    /// does not wait for what has ten thousand near-duplicates.
    pub workers: usize,
    /// Requests that wait for such a thread; beyond it they are refused with Retry-After.
    pub queue: usize,
    /// Connections at once; more wait to be accepted.
    pub connections: usize,
    /// From the end of a request's head to its answer. Documents that come as lines may take longer
    /// altogether, each batch of them may not.
    pub request_time: Duration,
    /// For the head of a request, and for a connection on which nothing happens.
    pub head_time: Duration,
    /// For the next piece of a body.
    pub idle_time: Duration,
    /// How long a list of groups is kept after each page, for the client that reads it.
    pub cursor_time: Duration,
    /// For requests that are under way when the server is stopped.
    pub grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            body_bytes: 64 << 20,
            text_bytes: 32 << 20,
            held_bytes: 512 << 20,
            workers: 2 * std::thread::available_parallelism().map_or(2, usize::from),
            queue: 256,
            connections: 1_000,
            request_time: Duration::from_secs(30),
            head_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(10),
            cursor_time: Duration::from_secs(300),
            grace: Duration::from_secs(30),
        }
    }
}

/// How lines of the log are written. They never hold tokens or texts.
#[derive(Clone)]
pub struct Log {
    /// How a line looks.
    pub format: LogFormat,
    /// Makes what takes the lines; called once, from the thread that writes them.
    pub sink: Arc<dyn Fn() -> Box<dyn Write> + Send + Sync>,
}

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// `2026-11-21T10:00:00Z GET /v1/stats 200 0.4 ms 312 B 18c3-7`
    Text,
    /// A JSON object.
    Json,
    /// No line for a request; errors are logged as text.
    Off,
}

impl Default for Config {
    /// Port 8377 of this machine alone, everybody may read and write, no log.
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8377),
            hosts: Vec::new(),
            tokens: Tokens::default(),
            writable: true,
            limits: ServerLimits::default(),
            temp_dir: None,
            log: Log { format: LogFormat::Off, sink: Arc::new(|| Box::new(std::io::sink())) },
        }
    }
}

impl Config {
    /// Whether only this machine reaches the server.
    pub fn is_loopback(&self) -> bool {
        self.listen.ip().to_canonical().is_loopback()
    }

    /// Checks what goes together.
    ///
    /// # Errors
    /// [`ConfigError`] with the remedy.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !self.is_loopback() && self.tokens.is_empty() {
            return Err(ConfigError::OpenToAll { listen: self.listen });
        }
        let limits = &self.limits;
        let least = [
            ("max-body", limits.body_bytes, 1 << 10),
            ("max-text", limits.text_bytes, 1 << 10),
            ("max-held", limits.held_bytes, limits.body_bytes),
            ("workers", limits.workers as u64, 1),
            ("queue", limits.queue as u64, 1),
            ("max-connections", limits.connections as u64, 1),
            ("request-time (ms)", limits.request_time.as_millis() as u64, 1),
            ("head-time (ms)", limits.head_time.as_millis() as u64, 1),
            ("idle-time (ms)", limits.idle_time.as_millis() as u64, 1),
        ];
        match least.into_iter().find(|(_, got, least)| got < least) {
            Some((what, got, least)) => Err(ConfigError::TooSmall { what, got, least }),
            None => Ok(()),
        }
    }
}
