//! Threads for blocking work, and the queues, signals and counters that they share with requests.

pub(crate) mod background_thread;
pub(crate) mod log;
pub(crate) mod metrics;
pub(crate) mod near_duplicate_watch;
pub(crate) mod news_signal;
pub(crate) mod pool;
pub(crate) mod upkeep_jobs;
pub(crate) mod webhook_sender;
pub(crate) mod writer;
