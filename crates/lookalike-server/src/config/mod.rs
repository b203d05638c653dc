//! The configuration of a server.

pub(crate) mod config_error;
pub(crate) mod index_name;
pub mod reload;
pub mod tls;
pub mod token;
pub mod token_file;
pub mod webhook;

pub use crate::config::config_error::ConfigError;
use crate::config::reload::ReloadConfig;
use crate::config::tls::TlsIdentity;
use crate::config::token::Tokens;
use crate::config::webhook::Webhooks;
use lookalike::core::keep::KeepPolicy;
use lookalike::extract::ExtractOptions;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Configuration of a server: address, tokens and limits.
#[derive(Clone)]
pub struct Config {
    /// The address to listen on; port 0 is any free one.
    pub listen: SocketAddr,
    /// Names, without port, that a `Host` header may have in addition to this machine's loopback
    /// names and the address listened on. If the address is not a loopback address and this is
    /// empty, any name is accepted.
    pub hosts: Vec<String>,
    /// Tokens of clients. Without any, every client on this machine may read and write.
    pub tokens: Tokens,
    /// The certificate of the server, if it speaks TLS.
    pub tls: Option<TlsIdentity>,
    /// Reads tokens and certificate again on SIGHUP; without it, SIGHUP does nothing.
    pub reload: Option<ReloadConfig>,
    /// Whether documents may be changed at all.
    pub writable: bool,
    /// Which document of a group is kept.
    pub keep: KeepPolicy,
    /// Limits of requests.
    pub limits: ServerLimits,
    /// Options, process and limits of reading files. The limits of requests also limit files.
    pub extract: ExtractOptions,
    /// The folder of temporary files; the current folder if `None`.
    pub temp_dir: Option<PathBuf>,
    /// The folder that backups are made in, if clients may make some.
    pub backup_dir: Option<PathBuf>,
    /// Where messages about new near-duplicates go, if anywhere.
    pub webhooks: Option<Webhooks>,
    /// The log of requests.
    pub log: Log,
}

/// Limits of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLimits {
    /// Bytes of a request's body, and of one line of documents as lines.
    pub body_bytes: u64,
    /// Bytes of one text.
    pub text_bytes: u64,
    /// Bytes of all bodies in memory; further requests are refused with Retry-After.
    pub held_bytes: u64,
    /// Threads that shingle, query and read. More than processors, so that fast queries do not wait
    /// for those with ten thousand near-duplicates.
    pub workers: usize,
    /// Requests that wait for such a thread; further ones are refused with Retry-After.
    pub queue: usize,
    /// Connections at once; more wait to be accepted.
    pub connections: usize,
    /// Time limit from the end of a request's head to its response. For documents as lines, it
    /// applies to each batch.
    pub request_time: Duration,
    /// Time limit of the head of a request, and of an idle connection.
    pub head_time: Duration,
    /// Time limit of the next piece of a body.
    pub idle_time: Duration,
    /// How long a list of groups is kept for its client after each page.
    pub cursor_time: Duration,
    /// Time limit of running requests when the server is stopped.
    pub grace: Duration,
}

impl ServerLimits {
    /// Bytes that may be unpacked from a file: half of the memory for bodies.
    pub(crate) fn unpacked_bytes(&self) -> u64 {
        self.held_bytes / 2
    }
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

/// The log. Its lines never contain tokens or texts.
#[derive(Clone)]
pub struct Log {
    /// The format of a line.
    pub format: LogFormat,
    /// Creates the writer of lines; called once, on the thread that writes them.
    pub sink: Arc<dyn Fn() -> Box<dyn Write> + Send + Sync>,
}

/// The format of a line of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// `2026-11-21T10:00:00Z GET /v1/stats 200 0.4 ms 312 B 18c3-7`
    Text,
    /// A JSON object.
    Json,
    /// No lines for requests; errors are logged as text.
    Off,
}

impl Default for Config {
    /// Port 8377 of the loopback, no tokens, no log.
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8377),
            hosts: Vec::new(),
            tokens: Tokens::default(),
            tls: None,
            reload: None,
            writable: true,
            keep: KeepPolicy::default(),
            limits: ServerLimits::default(),
            extract: ExtractOptions::default(),
            temp_dir: None,
            backup_dir: None,
            webhooks: None,
            log: Log { format: LogFormat::Off, sink: Arc::new(|| Box::new(std::io::sink())) },
        }
    }
}

impl Config {
    /// How files are read within the limits of requests.
    pub(crate) fn extraction(&self) -> ExtractOptions {
        let mut options = self.extract.clone();
        let limits = &mut options.limits;
        let of_requests = &self.limits;
        limits.bytes = limits.bytes.min(of_requests.body_bytes);
        limits.expanded = limits.expanded.min(of_requests.unpacked_bytes());
        limits.time = limits.time.min(of_requests.request_time);
        options
    }

    /// Whether only this machine can reach the server.
    pub fn is_loopback(&self) -> bool {
        self.listen.ip().to_canonical().is_loopback()
    }

    /// Checks that the values are consistent.
    ///
    /// # Errors
    /// [`ConfigError`] with the remedy.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !self.is_loopback() && self.tokens.is_empty() {
            return Err(ConfigError::OpenToAll { listen: self.listen });
        }
        let urls = self.webhooks.iter().flat_map(|webhooks| &webhooks.urls);
        let is_url = |url: &str| url.starts_with("http://") || url.starts_with("https://");
        if urls.into_iter().any(|url| !is_url(url)) {
            return Err(ConfigError::Webhook);
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
