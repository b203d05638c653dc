//! The state shared by all requests, and JSON responses.

use crate::agreement_cache::AgreementCache;
use crate::body::BodyMemory;
use crate::category_cache::CategoryCache;
use crate::config::Config;
use crate::decision_cache::DecisionCache;
use crate::document_groups::{self, ComputeLimits};
use crate::group_cache::{CacheLimits, GroupCache};
use crate::idempotency::KeyedRequests;
use crate::log::Logger;
use crate::metrics::{Metrics, Serial};
use crate::near_duplicate_watch::NearDuplicateWatch;
use crate::pool::{self, WorkerPool};
use crate::problem::{Code, Problem};
use crate::reload::Credentials;
use crate::upkeep_jobs::Upkeep;
use crate::writer::IndexWriter;
use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lookalike::find;
use lookalike::index::time;
use lookalike::progress::Progress;
use lookalike::store::settings::StoredContent;
use lookalike::store::{Index, IndexError};
use serde::Serialize;
use std::sync::{Arc, OnceLock};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Exports at once.
const EXPORTS: usize = 2;

/// The state shared by all requests.
pub(crate) struct App {
    pub(crate) index: Arc<Index>,
    pub(crate) config: Config,
    /// Tokens and certificate in effect.
    pub(crate) credentials: Credentials,
    pub(crate) pool: WorkerPool,
    /// `None` if the index is served for reading only.
    pub(crate) writer: Option<IndexWriter>,
    pub(crate) groups: GroupCache,
    pub(crate) decisions: Arc<DecisionCache>,
    pub(crate) agreement: Arc<AgreementCache>,
    pub(crate) categories: Arc<CategoryCache>,
    pub(crate) metrics: Metrics,
    pub(crate) upkeep: Upkeep,
    /// Places of exports.
    pub(crate) exports: Arc<Semaphore>,
    /// Requests with an idempotency key.
    pub(crate) keyed: Arc<KeyedRequests>,
    pub(crate) log: Arc<Logger>,
    /// Looks for near-duplicates of what is written, if there are webhooks.
    pub(crate) watch: Option<Arc<NearDuplicateWatch>>,
    /// Memory of bodies.
    pub(crate) memory: BodyMemory,
    /// The share of it for documents as lines.
    pub(crate) bulk_memory: BodyMemory,
    /// Memory of the work on large bodies.
    pub(crate) work: BodyMemory,
    /// The description of the API, built at the first request.
    pub(crate) description: OnceLock<Bytes>,
    /// Numbers requests.
    pub(crate) serial: Serial,
    /// Prefix that distinguishes the numbers of this run.
    pub(crate) started: i64,
}

/// The response to a request, or the problem with it.
pub(crate) type HandlerResult = Result<Response, Problem>;

impl App {
    pub(crate) fn start(index: Index, config: Config) -> Result<Arc<Self>, IndexError> {
        let index = Arc::new(index);
        let limits = &config.limits;
        let thread = |source| IndexError::Io { path: "a thread of the server".to_owned(), source };
        let log = Arc::new(Logger::start(&config.log).map_err(thread)?);
        let watch = |webhooks| NearDuplicateWatch::start(&index, webhooks, &log);
        let watch = config.webhooks.as_ref().map(watch).transpose().map_err(thread)?;
        let watch = watch.map(Arc::new);
        let metrics = Metrics::default();
        let start = || {
            let sizes = Arc::clone(&metrics.sizes);
            IndexWriter::start(Arc::clone(&index), sizes, watch.clone())
        };
        let writer = if config.writable { Some(start()?) } else { None };
        Ok(Arc::new(Self {
            pool: WorkerPool::start(&index, &config)?,
            writer,
            groups: start_groups(&index, &config).map_err(thread)?,
            decisions: Arc::default(),
            agreement: Arc::default(),
            categories: Arc::default(),
            metrics,
            upkeep: Upkeep::default(),
            exports: Arc::new(Semaphore::new(EXPORTS)),
            keyed: Arc::default(),
            log,
            watch,
            memory: BodyMemory::new(limits.held_bytes),
            // A line of maximum length fits, whatever the limits are.
            bulk_memory: BodyMemory::new((limits.held_bytes / 2).max(limits.body_bytes)),
            work: BodyMemory::new(limits.held_bytes / 2),
            description: OnceLock::new(),
            serial: Serial::default(),
            started: time::now() / 1_000_000_000,
            index,
            credentials: Credentials::new(&config.tokens, config.tls.as_ref()),
            config,
        }))
    }

    /// Finishes submitted work and ends all threads.
    pub(crate) fn stop(&self) {
        self.pool.stop();
        if let Some(writer) = &self.writer {
            writer.stop();
        }
        if let Some(watch) = &self.watch {
            watch.stop(&self.log);
        }
        self.groups.stop();
        self.log.stop();
    }

    /// Memory of the work on a body of this size: its parts, tokens and shingles.
    pub(crate) const fn work_bytes(body: usize) -> u64 {
        /// A text of short words has a token for every two bytes, and 36 bytes for each.
        const FACTOR: u64 = 20;
        FACTOR * body as u64
    }

    /// Waits for the memory of the work on a body. Small bodies need none: their number is limited
    /// by that of the workers.
    pub(crate) async fn work_memory(
        &self,
        body: usize,
    ) -> Result<Option<OwnedSemaphorePermit>, Problem> {
        if body <= pool::SMALL {
            return Ok(None);
        }
        self.work.wait(Self::work_bytes(body)).await.map(Some)
    }

    /// The writer.
    pub(crate) fn writer(&self) -> Result<&IndexWriter, Problem> {
        self.writer.as_ref().ok_or_else(|| {
            let detail =
                "the index is served for reading only: start the server without --read-only";
            Problem::new(Code::READ_ONLY, detail)
        })
    }

    /// Whether similarities are exact.
    pub(crate) fn has_sets(&self) -> bool {
        self.index.settings().store != StoredContent::Signatures
    }
}

/// Memory of cached lists of groups: a quarter of that of bodies.
const fn list_bytes(held_bytes: u64) -> u64 {
    held_bytes / 4
}

/// Minimum memory of a computation of groups, in bytes.
const MIN_COMPUTE_BYTES: u64 = 128 << 20;

fn start_groups(index: &Arc<Index>, config: &Config) -> std::io::Result<GroupCache> {
    let (index, limits) = (Arc::clone(index), &config.limits);
    let memory = find::Memory {
        limit: Some(limits.held_bytes.max(MIN_COMPUTE_BYTES)),
        temp_dir: config.temp_dir.clone(),
        ..find::Memory::default()
    };
    let compute_limits = ComputeLimits { memory, list_bytes: list_bytes(limits.held_bytes) };
    let cache_limits =
        CacheLimits { bytes: list_bytes(limits.held_bytes), cursor_time: limits.cursor_time };
    let default_threshold = index.settings().threshold;
    let compute = move |threshold: f64, progress: &dyn Progress| {
        document_groups::find(&index, threshold, time::now(), &compute_limits, progress)
    };
    GroupCache::start(default_threshold, cache_limits, Box::new(compute))
}

/// A JSON response.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> HandlerResult {
    let bytes = serde_json::to_vec(body);
    Ok(json_bytes(status, bytes.map_err(|error| Problem::internal(error.to_string()))?))
}

/// A JSON response with a serialized body.
pub(crate) fn json_bytes(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
