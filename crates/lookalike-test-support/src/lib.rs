//! Helpers for the tests of several crates: the size of long tests, the document sets, compressed
//! bytes, archives, a PostgreSQL server.
//!
//! Crates list this crate in `dev-dependencies` only. It uses no crate of the workspace, so that
//! every crate can use it. Tests that lack an optional part call [`print_skipped`], and
//! `cargo x test` counts the calls.
#![allow(clippy::unwrap_used, reason = "tests may stop at anything unexpected")]

mod document_sets;
mod gzip;
#[cfg(feature = "postgres")]
pub mod postgres_server;
mod skipped;
mod soak;
mod tar;

pub use document_sets::{document_set_path, document_sets};
pub use gzip::gzip;
pub use skipped::print_skipped;
pub use soak::is_soak;
pub use tar::{tar, tar_entry};
