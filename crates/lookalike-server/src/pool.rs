//! The worker pool for blocking work: shingling, queries, reading. The queue of jobs is bounded;
//! further ones are refused with `busy`.

use crate::config::{Config, ServerLimits};
use crate::problem::Problem;
use lookalike::extract::{ExtractOptions, Extractor};
use lookalike::index::TextPreparer;
use lookalike::store::query::QueryBuffers;
use lookalike::store::{Index, IndexError};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Jobs on up to this many bytes are small: they reserve no memory and do not wait for large ones.
pub(crate) const SMALL: usize = 64 << 10;

/// Buffers of a thread.
pub(crate) struct PoolWorker {
    pub(crate) index: Arc<Index>,
    pub(crate) preparer: TextPreparer,
    pub(crate) scratch: QueryBuffers,
    extract: Arc<ExtractOptions>,
    extractor: Option<Extractor>,
}

impl PoolWorker {
    fn new(index: &Arc<Index>, extract: &Arc<ExtractOptions>) -> Result<Self, IndexError> {
        let preparer = TextPreparer::new(index.settings())?;
        let (index, extract) = (Arc::clone(index), Arc::clone(extract));
        Ok(Self { index, preparer, scratch: QueryBuffers::default(), extract, extractor: None })
    }

    /// The same with new buffers; the process that reads files goes with the old ones.
    fn renewed(&self) -> Result<Self, IndexError> {
        Self::new(&self.index, &self.extract)
    }

    /// Reads files.
    pub(crate) fn extractor(&mut self) -> &mut Extractor {
        self.extractor.get_or_insert_with(|| Extractor::new(&self.extract))
    }

    /// Frees the buffers after a large text.
    pub(crate) fn release_buffers(&mut self, bytes: usize) {
        const MUCH: usize = 1 << 20;
        if bytes > MUCH
            && let Ok(new) = self.renewed()
        {
            *self = new;
        }
    }
}

type PoolJob = Box<dyn FnOnce(&mut PoolWorker) + Send>;

/// The threads and their queue.
pub(crate) struct WorkerPool {
    shared: Arc<PoolShared>,
    places: Arc<Semaphore>,
    /// Permits of large jobs, fewer than threads, so that small ones are not delayed.
    large: Arc<Semaphore>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct PoolShared {
    queue: Mutex<Queue>,
    news: Condvar,
    waiting: AtomicUsize,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<PoolJob>,
    closed: bool,
}

impl PoolShared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<PoolJob> {
        let mut queue = self.lock();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                self.waiting.store(queue.jobs.len(), Ordering::Relaxed);
                return Some(job);
            }
            if queue.closed {
                return None;
            }
            queue = self.news.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl WorkerPool {
    /// Starts `workers` threads; `queue` jobs may wait.
    pub(crate) fn start(index: &Arc<Index>, config: &Config) -> Result<Self, IndexError> {
        let ServerLimits { workers, queue, .. } = config.limits;
        let extract = Arc::new(config.extraction());
        let shared = Arc::new(PoolShared::default());
        let mut threads = Vec::new();
        for number in 0..workers {
            let (shared, mut worker) = (Arc::clone(&shared), PoolWorker::new(index, &extract)?);
            let work = move || {
                while let Some(job) = shared.next() {
                    // A job that panicked may have left the buffers in an inconsistent state.
                    let done = catch_unwind(AssertUnwindSafe(|| job(&mut worker)));
                    if done.is_err()
                        && let Ok(new) = worker.renewed()
                    {
                        worker = new;
                    }
                }
            };
            let thread = std::thread::Builder::new().name(format!("worker {number}")).spawn(work);
            let thread = thread.map_err(|source| IndexError::Io {
                path: "a thread of the server".to_owned(),
                source,
            })?;
            threads.push(thread);
        }
        let places = Arc::new(Semaphore::new(workers + queue));
        let large = Arc::new(Semaphore::new(workers.saturating_sub(1).max(1)));
        Ok(Self { shared, places, large, threads: Mutex::new(threads) })
    }

    /// Number of queued jobs.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// Runs a job; `busy` if the queue is full.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut PoolWorker) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| Problem::busy("too many requests wait"))?;
        self.put(place, job).await
    }

    /// The same for a job on this many bytes. Large ones wait for a permit first, in the order
    /// of requests.
    pub(crate) async fn run_sized<T: Send + 'static>(
        &self,
        bytes: usize,
        job: impl FnOnce(&mut PoolWorker) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        if bytes <= SMALL {
            return self.run(job).await;
        }
        let turn = Arc::clone(&self.large).acquire_owned().await;
        let turn = turn.map_err(|_| Problem::busy("the server stops"))?;
        let job = move |worker: &mut PoolWorker| {
            let _turn = turn;
            job(worker)
        };
        self.run(job).await
    }

    /// Runs a job as soon as the queue has room.
    pub(crate) async fn run_when_free<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut PoolWorker) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_| Problem::busy("the server stops"))?;
        self.put(place, job).await
    }

    async fn put<T: Send + 'static>(
        &self,
        place: OwnedSemaphorePermit,
        job: impl FnOnce(&mut PoolWorker) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (reply, answer) = oneshot::channel();
        let job = move |worker: &mut PoolWorker| {
            let _place = place;
            // There is no receiver if the request timed out or was interrupted.
            if !reply.is_closed() {
                let _ = reply.send(job(worker));
            }
        };
        {
            let mut queue = self.shared.lock();
            if queue.closed {
                return Err(Problem::busy("the server stops"));
            }
            queue.jobs.push_back(Box::new(job));
            self.shared.waiting.store(queue.jobs.len(), Ordering::Relaxed);
        }
        self.shared.news.notify_one();
        match answer.await {
            Ok(answer) => answer,
            Err(_) => Err(Problem::internal("a worker thread panicked")),
        }
    }

    /// Runs queued jobs and ends the threads.
    pub(crate) fn stop(&self) {
        self.shared.lock().closed = true;
        self.shared.news.notify_all();
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join();
        }
    }
}
