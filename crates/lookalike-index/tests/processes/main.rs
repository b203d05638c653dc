//! Tests of the index that start other processes: writers that are killed, and PostgreSQL.
//!
//! This is a separate test program. A process holds the locks of its parent's other threads until
//! it executes its program, so another thread could find an index locked that it has just closed.

#[path = "../conformance/mod.rs"]
mod conformance;

mod folder_crash;
mod postgres;
