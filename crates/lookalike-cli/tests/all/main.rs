//! The tests of the command, one module for each subject. `terminal` is a test program of its own.

#[path = "../command/mod.rs"]
mod command;
#[path = "../crash/mod.rs"]
mod crash;

mod advice;
mod audit;
mod bad_input;
mod compare;
mod dedup;
mod evaluate;
mod faults;
mod files;
mod find;
mod golden;
mod index;
mod report;
mod resume;
mod same_bytes;
mod serve;
mod tune;
