//! Tests of the library, one module for each subject.
//!
//! `html` and `histories` are separate test programs, because they start a browser and PostgreSQL.
//! A process holds the locks of its parent's other threads, such as those of indexes, until it
//! executes its program.

mod actions;
mod audit;
mod candidates;
mod categories;
mod collection;
mod containment;
mod contamination;
mod decisions;
mod dedup;
mod exact;
mod examples;
mod files;
#[path = "../histories/fresh_run.rs"]
mod fresh_run;
mod huge;
mod in_memory_documents;
mod index;
mod keep_rules;
mod laws;
mod memory;
mod passages;
mod progress;
mod read;
mod requests;
mod scripts;
mod shard;
mod truth;
