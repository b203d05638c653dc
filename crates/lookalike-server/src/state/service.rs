//! The state that all indexes of a server share: configuration, tokens, memory, worker threads,
//! metrics and the log.

use crate::config::Config;
use crate::config::reload::Credentials;
use crate::http::body::BodyMemory;
use crate::http::client_requests::ClientRequests;
use crate::threads::log::Logger;
use crate::threads::metrics::Metrics;
use crate::threads::pool::WorkerThreads;
use lookalike::index::time;
use lookalike::store::IndexError;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::Semaphore;

/// Exports at once.
const EXPORTS: usize = 2;

/// The state that is shared by requests to all indexes.
pub(crate) struct Service {
    pub(crate) config: Config,
    /// Tokens and certificate in effect.
    pub(crate) credentials: Credentials,
    /// The threads that all indexes share.
    pub(crate) threads: Arc<WorkerThreads>,
    /// Held while groups are computed. Only one index at a time computes groups, because this may
    /// take all the memory for computations.
    pub(crate) group_turn: Arc<Mutex<()>>,
    /// Places of exports.
    pub(crate) exports: Arc<Semaphore>,
    pub(crate) metrics: Metrics,
    pub(crate) log: Arc<Logger>,
    /// The unfinished requests of each client.
    pub(crate) requests: Arc<ClientRequests>,
    /// Memory of bodies.
    pub(crate) memory: BodyMemory,
    /// The share of `memory` for documents as lines.
    pub(crate) bulk_memory: BodyMemory,
    /// Memory of the work on large bodies.
    pub(crate) work: BodyMemory,
    /// Numbers requests.
    pub(crate) serial: AtomicU64,
    /// Prefix that distinguishes the numbers of this run.
    pub(crate) started: i64,
}

impl Service {
    /// Starts the threads that are shared.
    pub(crate) fn start(config: Config) -> Result<Arc<Self>, IndexError> {
        let limits = &config.limits;
        Ok(Arc::new(Self {
            threads: WorkerThreads::start(&config).map_err(thread_error)?,
            group_turn: Arc::default(),
            exports: Arc::new(Semaphore::new(EXPORTS)),
            metrics: Metrics::default(),
            log: Arc::new(Logger::start(&config.log).map_err(thread_error)?),
            requests: ClientRequests::new(limits.connections),
            memory: BodyMemory::new(limits.held_bytes),
            // A line of maximum length fits, whatever the limits are.
            bulk_memory: BodyMemory::new((limits.held_bytes / 2).max(limits.body_bytes)),
            work: BodyMemory::new(limits.held_bytes / 2),
            serial: AtomicU64::new(0),
            started: time::now() / 1_000_000_000,
            credentials: Credentials::new(&config.tokens, config.tls.as_ref()),
            config,
        }))
    }
}

/// The error if the system starts no more threads.
pub(crate) fn thread_error(source: std::io::Error) -> IndexError {
    IndexError::Io { path: "a thread of the server".to_owned(), source }
}
