//! The worker pool for blocking work: shingling, queries, reading. The queue of jobs is bounded;
//! further ones are refused with `busy`. All indexes of a server share the threads.

use crate::config::{Config, ServerLimits};
use crate::http::problem::Problem;
use lookalike::extract::{ExtractOptions, Extractor};
use lookalike::index::TextPreparer;
use lookalike::store::query::QueryBuffers;
use lookalike::store::{Index, IndexError};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Jobs on up to this many bytes are small: they reserve no memory and do not wait for large ones.
pub(crate) const SMALL: usize = 64 << 10;

/// Buffers of a thread, for the index of the job that it runs.
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
        let index = Arc::clone(index);
        let extract = Arc::clone(extract);
        Ok(Self { index, preparer, scratch: QueryBuffers::default(), extract, extractor: None })
    }

    /// Reads files.
    pub(crate) fn extractor(&mut self) -> &mut Extractor {
        self.extractor.get_or_insert_with(|| Extractor::new(&self.extract))
    }

    /// Frees the buffers after a large text. This also ends the process that reads files.
    pub(crate) fn release_buffers(&mut self, bytes: usize) {
        const MUCH: usize = 1 << 20;
        if bytes > MUCH
            && let Ok(new) = Self::new(&self.index, &self.extract)
        {
            *self = new;
        }
    }
}

/// State of a thread between jobs.
struct PoolThread {
    extract: Arc<ExtractOptions>,
    worker: Option<PoolWorker>,
}

impl PoolThread {
    /// The buffers for a job on an index. Buffers for another index are freed, so that memory does
    /// not depend on the number of indexes. The process that reads files stays.
    fn worker(&mut self, index: &Arc<Index>) -> Result<&mut PoolWorker, IndexError> {
        let mut before = self.worker.take();
        let worker = match before.take_if(|worker| Arc::ptr_eq(&worker.index, index)) {
            Some(worker) => worker,
            None => PoolWorker {
                extractor: before.and_then(|worker| worker.extractor),
                ..PoolWorker::new(index, &self.extract)?
            },
        };
        Ok(self.worker.insert(worker))
    }
}

type PoolJob = Box<dyn FnOnce(&mut PoolThread) + Send>;

/// The threads and their queue, which all indexes share.
pub(crate) struct WorkerThreads {
    shared: Arc<PoolShared>,
    places: Arc<Semaphore>,
    /// Permits of large jobs, fewer than threads, so that small ones are not delayed.
    large: Arc<Semaphore>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// The threads for the jobs on one index.
pub(crate) struct WorkerPool {
    threads: Arc<WorkerThreads>,
    index: Arc<Index>,
}

#[derive(Default)]
struct PoolShared {
    queue: Mutex<Queue>,
    job_added: Condvar,
    waiting: AtomicUsize,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<PoolJob>,
    closed: bool,
}

impl PoolShared {
    fn next(&self) -> Option<PoolJob> {
        let mut queue = self.queue.lock();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                self.waiting.store(queue.jobs.len(), Ordering::Relaxed);
                return Some(job);
            }
            if queue.closed {
                return None;
            }
            self.job_added.wait(&mut queue);
        }
    }

    fn work(&self, extract: Arc<ExtractOptions>) {
        let mut thread = PoolThread { extract, worker: None };
        while let Some(job) = self.next() {
            // A job that panicked may have left the buffers in an inconsistent state.
            if catch_unwind(AssertUnwindSafe(|| job(&mut thread))).is_err() {
                thread.worker = None;
            }
        }
    }
}

impl WorkerThreads {
    /// Starts `workers` threads; `queue` jobs may wait.
    pub(crate) fn start(config: &Config) -> io::Result<Arc<Self>> {
        let ServerLimits { workers, queue, .. } = config.limits;
        let extract = Arc::new(config.extraction());
        let shared = Arc::new(PoolShared::default());
        let mut threads = Vec::new();
        for number in 0..workers {
            let of_thread = Arc::clone(&shared);
            let extract = Arc::clone(&extract);
            let thread = std::thread::Builder::new().name(format!("worker {number}"));
            threads.push(thread.spawn(move || of_thread.work(extract))?);
        }
        let places = Arc::new(Semaphore::new(workers + queue));
        let large = Arc::new(Semaphore::new(workers.saturating_sub(1).max(1)));
        Ok(Arc::new(Self { shared, places, large, threads: Mutex::new(threads) }))
    }

    /// Number of queued jobs.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// Runs queued jobs and ends the threads.
    pub(crate) fn stop(&self) {
        self.shared.queue.lock().closed = true;
        self.shared.job_added.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl WorkerPool {
    /// The threads for an index.
    ///
    /// # Errors
    /// Texts cannot be prepared for the settings of the index.
    pub(crate) fn new(
        threads: &Arc<WorkerThreads>,
        index: &Arc<Index>,
    ) -> Result<Self, IndexError> {
        TextPreparer::new(index.settings())?;
        Ok(Self { threads: Arc::clone(threads), index: Arc::clone(index) })
    }

    /// Runs a job; `busy` if the queue is full.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut PoolWorker) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let place = Arc::clone(&self.threads.places).try_acquire_owned();
        let place = place.map_err(|_| Problem::busy("too many requests wait"))?;
        self.put(place, job).await
    }

    /// Like [`run`](Self::run) for a job on this many bytes. Large jobs wait for a permit first, in
    /// the order of requests.
    pub(crate) async fn run_sized<T: Send + 'static>(
        &self,
        bytes: usize,
        job: impl FnOnce(&mut PoolWorker) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        if bytes <= SMALL {
            return self.run(job).await;
        }
        let turn = Arc::clone(&self.threads.large).acquire_owned().await;
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
        let place = Arc::clone(&self.threads.places).acquire_owned().await;
        let place = place.map_err(|_| Problem::busy("the server stops"))?;
        self.put(place, job).await
    }

    async fn put<T: Send + 'static>(
        &self,
        place: OwnedSemaphorePermit,
        job: impl FnOnce(&mut PoolWorker) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (reply, answer) = oneshot::channel();
        let index = Arc::clone(&self.index);
        let job = move |thread: &mut PoolThread| {
            let _place = place;
            // The receiver is gone if the request timed out or was interrupted.
            if !reply.is_closed() {
                let worker = thread.worker(&index).map_err(Problem::from);
                let _ = reply.send(worker.and_then(job));
            }
        };
        let shared = &self.threads.shared;
        {
            let mut queue = shared.queue.lock();
            if queue.closed {
                return Err(Problem::busy("the server stops"));
            }
            queue.jobs.push_back(Box::new(job));
            shared.waiting.store(queue.jobs.len(), Ordering::Relaxed);
        }
        shared.job_added.notify_one();
        match answer.await {
            Ok(answer) => answer,
            Err(_) => Err(Problem::internal("a worker thread panicked")),
        }
    }
}
