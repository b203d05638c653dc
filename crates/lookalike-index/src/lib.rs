#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! ```text
//! IndexEntry ─ write → Backend (documents, signatures, shingle sets; band postings)
//! QueryDocument ─ query → keys → candidates → records → exact comparison → Match
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`settings`] | how documents are compared; the index stores and verifies its settings |
//! | [`sketches`] | sketches of other programs instead of documents |
//! | [`entry`] | a document to add, and a stored document |
//! | [`duplicate_table`] | documents removed as duplicates, which count in the size of a group |
//! | [`original`] | the bytes that a document was read from, and its versions |
//! | [`set`] | compressed shingle sets |
//! | [`backend`] | the traits of a storage backend |
//! | [`memory`] | an index in memory; the reference implementation of the tests |
//! | `folder` | an index in a folder: a catalogue in SQLite, postings in segments |
//! | `postgres` | an index in a PostgreSQL database, for several writers |
//! | [`filter`] | conditions on metadata |
//! | [`query`] | queries: candidates and their verification |
//! | [`containment`] | candidates for an excerpt in longer texts, or the reverse |
//! | [`compact`] | signatures of all documents in memory, for scanning |
//! | [`nearest`] | the documents nearest to a document, whatever their similarity |
//! | [`query_by_id`] | queries for documents similar to a document of the index |
//! | [`index`] | an opened index in any kind of storage |
//!
//! This crate does not read documents from files, shingle texts, or print. Only [`time::now`] reads
//! the system time.

mod access;
pub mod backend;
pub mod category_table;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod checksum;
pub mod decision_log;
mod document_number;
pub mod duplicate_table;
pub mod entry;
pub mod error;
#[cfg(feature = "sqlite")]
pub mod folder;
pub mod index;
pub mod memory;
pub mod original;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod original_code;
mod original_limits;
pub mod percent;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod query;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod record_check;
pub mod set;
pub mod settings;
mod shortened_id;
pub mod sketches;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod tables;
pub mod text_code;
pub mod time;

pub use error::IndexError;
pub use index::Index;
pub use query::{compact, containment, filter, nearest, query_by_id};
