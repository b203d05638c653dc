//! Tests of extraction, one module for each kind of file. `tests/worker.rs` is a separate test
//! program, because it starts itself as the worker and counts the child processes.

#[cfg(feature = "html")]
mod html;
mod mail;
mod office;
#[cfg(feature = "pdf")]
mod pdf;
