//! The tests of the command, one module for each subject.
//!
//! `terminal` is a test program of its own: a process that another thread starts would inherit the
//! open end of the test's terminal, and the test would wait for the end of that process.

#[path = "../command/mod.rs"]
mod command;
#[path = "../crash/mod.rs"]
mod crash;

mod advice;
mod audit;
mod bad_input;
mod categorise;
mod compare;
mod contamination;
mod decisions;
mod dedup;
mod deploy;
mod evaluate;
mod faults;
mod files;
mod find;
mod golden;
mod index;
mod originals;
mod passages;
mod reference_index;
mod remedies;
mod report;
mod resume;
mod resume_passages;
mod same_bytes;
mod serve;
mod serve_credentials;
mod serve_indexes;
mod serve_restart;
mod service;
mod service_answers;
mod shard;
mod shard_files;
mod shard_guide;
mod tune;
mod units;
mod watch;
