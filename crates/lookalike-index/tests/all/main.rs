//! Tests of the index, one module for each subject.
//!
//! `processes` is a separate test program. It starts hundreds of processes, and each one holds the
//! locks of its parent's other threads until it executes its program. Tests in this program open an
//! index right after they close it, without waiting for a lock.

#[path = "../conformance/mod.rs"]
mod conformance;

mod folder;
mod folder_faults;
mod memory;
mod sketches;
