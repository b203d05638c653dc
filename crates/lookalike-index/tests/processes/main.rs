//! The tests of the index that start other processes: writers that are killed, and PostgreSQL.
//!
//! A program of their own: a process has the locks of its parent's other threads until it executes
//! its program, so that a test in another thread could find the index locked that it has closed.

#[path = "../conformance/mod.rs"]
mod conformance;

mod folder_crash;
mod postgres;
