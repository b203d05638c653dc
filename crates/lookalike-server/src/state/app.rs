//! A served index, with the state that its requests share.

use crate::caches::agreement_cache::AgreementCache;
use crate::caches::category_cache::CategoryCache;
use crate::caches::decision_cache::DecisionCache;
use crate::caches::document_groups::{self, ComputeOptions};
use crate::caches::group_cache::{CacheLimits, GroupCache};
use crate::config::index_name::IndexName;
use crate::http::address::QueryParameters;
use crate::http::body::{self, WholeBody};
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, json_bytes};
use crate::service_state::ServiceState;
use crate::service_state::idempotency::KeyedRequests;
use crate::state::served_index::ServedIndex;
use crate::state::service::{Service, thread_error};
use crate::threads::near_duplicate_watch::NearDuplicateWatch;
use crate::threads::pool::{self, PoolWorker, WorkerPool};
use crate::threads::upkeep_jobs::Upkeep;
use crate::threads::writer::IndexWriter;
use axum::extract::Request;
use axum::http::StatusCode;
use lookalike::find;
use lookalike::index::time;
use lookalike::progress::Progress;
use lookalike::store::settings::StoredContent;
use lookalike::store::{Index, IndexError};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// An index of the server, with the state that its requests share.
pub(crate) struct App {
    pub(crate) service: Arc<Service>,
    pub(crate) name: IndexName,
    /// Whether the name was configured, not taken from the place of the index.
    is_named: bool,
    pub(crate) index: Arc<Index>,
    pub(crate) pool: WorkerPool,
    /// `None` if the index is served for reading only.
    pub(crate) writer: Option<IndexWriter>,
    pub(crate) groups: GroupCache,
    pub(crate) decisions: Arc<DecisionCache>,
    pub(crate) agreement: Arc<AgreementCache>,
    pub(crate) categories: Arc<CategoryCache>,
    pub(crate) upkeep: Upkeep,
    /// Answers and messages that are kept.
    pub(crate) state: Arc<ServiceState>,
    /// Requests with an idempotency key.
    pub(crate) keyed: Arc<KeyedRequests>,
    /// Finds near-duplicates of new documents, if there are webhooks.
    pub(crate) watch: Option<Arc<NearDuplicateWatch>>,
}

impl App {
    /// Starts the threads of an index.
    pub(crate) fn start(
        ServedIndex { name, is_named, index, .. }: ServedIndex,
        state: ServiceState,
        service: &Arc<Service>,
    ) -> Result<Arc<Self>, IndexError> {
        let index = Arc::new(index);
        let config = &service.config;
        let log = &service.log;
        let state = Arc::new(state);
        let label = is_named.then_some(&name);
        let watch = |webhooks| NearDuplicateWatch::start(&index, label, webhooks, &state, log);
        let watch = config.webhooks.as_ref().map(watch).transpose().map_err(thread_error)?;
        let watch = watch.map(Arc::new);
        let start = || {
            let sizes = Arc::clone(&service.metrics.sizes);
            IndexWriter::start(Arc::clone(&index), sizes, watch.clone())
        };
        let decisions = Arc::new(DecisionCache::new(config.limits.held_bytes / 4));
        let writer = if config.writable { Some(start()?) } else { None };
        Ok(Arc::new(Self {
            pool: WorkerPool::new(&service.threads, &index)?,
            writer,
            groups: start_groups(&index, service, &decisions).map_err(thread_error)?,
            decisions,
            agreement: Arc::new(AgreementCache::new(config.limits.held_bytes / 8)),
            categories: Arc::default(),
            upkeep: Upkeep::default(),
            keyed: Arc::new(KeyedRequests::new(&state)),
            state,
            watch,
            service: Arc::clone(service),
            name,
            is_named,
            index,
        }))
    }

    /// The name in figures and folders; `None` for the only index, which needs none there.
    pub(crate) fn label(&self) -> Option<&str> {
        self.is_named.then(|| self.name.as_str())
    }

    /// Finishes the work that was submitted to the threads of the index, and ends the threads.
    pub(crate) fn stop(&self) {
        if let Some(writer) = &self.writer {
            writer.stop();
        }
        if let Some(watch) = &self.watch {
            watch.stop();
        }
        self.groups.stop();
    }

    /// Memory of the work on a body of this size: its parts, tokens and shingles.
    pub(crate) const fn work_bytes(body: usize) -> u64 {
        /// A text of short words has a token for every two bytes, and a token takes 36 bytes.
        const FACTOR: u64 = 20;
        FACTOR * body as u64
    }

    /// Waits for the memory of the work on a body. Small bodies need none: the number
    /// of workers limits them.
    pub(crate) async fn work_memory(
        &self,
        body: usize,
    ) -> Result<Option<OwnedSemaphorePermit>, Problem> {
        if body <= pool::SMALL {
            return Ok(None);
        }
        self.service.work.wait(Self::work_bytes(body)).await.map(Some)
    }

    /// The JSON body of a request without parameters, and the memory of the work on `factor` times
    /// its bytes.
    pub(crate) async fn json_body(
        &self,
        request: Request,
        factor: usize,
    ) -> Result<(WholeBody, Option<OwnedSemaphorePermit>), Problem> {
        QueryParameters::read(request.uri().query(), &[])?;
        let (parts, body) = request.into_parts();
        let Service { config, memory, .. } = &*self.service;
        let whole = body::json(&parts.headers, body, &config.limits, memory).await?;
        let work = self.work_memory(factor * whole.bytes.len()).await?;
        Ok((whole, work))
    }

    /// Answers with the JSON that a job on this many bytes returns.
    pub(crate) async fn answer(
        &self,
        bytes: usize,
        job: impl FnOnce(&mut PoolWorker) -> Result<Vec<u8>, Problem> + Send + 'static,
    ) -> HandlerResult {
        Ok(json_bytes(StatusCode::OK, self.pool.run_sized(bytes, job).await?))
    }

    /// Waits for a result up to the time limit of a request.
    pub(crate) async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, Problem>>,
    ) -> Result<T, Problem> {
        let limit = self.service.config.limits.request_time;
        tokio::time::timeout(limit, work).await.unwrap_or_else(|_| Err(self.timeout()))
    }

    /// The problem of a request without a response in time.
    pub(crate) fn timeout(&self) -> Problem {
        let seconds = self.service.config.limits.request_time.as_secs_f64();
        let detail = format!(
            "the request did not finish within {seconds} s; the service may have stored a sent \
             document, and you can send it again safely"
        );
        Problem::new(Code::TIMEOUT, detail).retry_after(1)
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

/// Memory of cached lists of groups: a quarter of the memory of bodies.
const fn list_bytes(held_bytes: u64) -> u64 {
    held_bytes / 4
}

/// Minimum memory of a computation of groups, in bytes.
const MIN_COMPUTE_BYTES: u64 = 128 << 20;

fn start_groups(
    index: &Arc<Index>,
    service: &Service,
    decisions: &Arc<DecisionCache>,
) -> std::io::Result<GroupCache> {
    let index = Arc::clone(index);
    let config = &service.config;
    let turn = Arc::clone(&service.group_turn);
    let decisions = Arc::clone(decisions);
    let limits = &config.limits;
    let memory = find::Memory {
        limit: Some(limits.held_bytes.max(MIN_COMPUTE_BYTES)),
        temp_dir: config.temp_dir.clone(),
        ..find::Memory::default()
    };
    let options = ComputeOptions {
        keep: config.keep.clone(),
        memory,
        list_bytes: list_bytes(limits.held_bytes),
    };
    let cache_limits =
        CacheLimits { bytes: list_bytes(limits.held_bytes), cursor_time: limits.cursor_time };
    let default_threshold = index.settings().threshold;
    let compute = move |threshold: f64, progress: &dyn Progress| {
        let _turn = turn.lock();
        document_groups::find(&index, threshold, time::now(), &options, &decisions, progress)
    };
    GroupCache::start(default_threshold, cache_limits, Box::new(compute))
}
