//! The tests of the index, one module for each subject.
//!
//! `processes` is a test program of its own: it starts hundreds of processes, and each of them has
//! the locks of its parent's other threads until it executes its program. Tests here open an index
//! again at once after it was closed, without waiting for a lock.

#[path = "../conformance/mod.rs"]
mod conformance;

mod folder;
mod folder_faults;
mod memory;
mod sketches;
