//! The tests of the library, one module for each subject.
//!
//! `html` is a test program of its own: it starts a browser, and a process has the locks of its
//! parent's other threads, such as those of indexes, until it executes its program.

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
mod held;
mod huge;
mod index;
mod laws;
mod memory;
mod passages;
mod read;
mod scripts;
mod shard;
mod truth;
