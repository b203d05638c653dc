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
mod compare;
mod contamination;
mod decisions;
mod dedup;
mod deploy;
mod docs;
mod evaluate;
mod faults;
mod files;
mod find;
mod golden;
mod help;
mod index;
mod passages;
mod remedies;
mod report;
mod resume;
mod same_bytes;
mod serve;
mod service;
mod shard;
mod tune;
mod undo;
mod units;
mod watch;
