//! Tests of the program, one module for each subject.
//!
//! `terminal` is a separate test program. In this one, a child process of another thread could
//! inherit the open terminal, and the terminal test would wait until that process ends.

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
