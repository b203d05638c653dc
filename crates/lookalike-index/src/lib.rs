//! A persistent index: documents are added, replaced and removed by id, and near-duplicates of any
//! text are found among them, verified.
//!
//! ```text
//! Entry  put → Backend (documents, signatures, shingle sets; band postings)
//! Probe  query → keys → candidates → records → exact comparison → Match
//! ```
//!
//! | module | is |
//! |---|---|
//! | [`settings`] | what decides which documents resemble each other; stored, compared at opening |
//! | [`sketches`] | sketches of other programs in place of documents |
//! | [`entry`] | a document as it is added, and as it comes back |
//! | [`set`] | shingle sets in few bytes |
//! | [`backend`] | what a place that keeps an index must be able to do |
//! | [`memory`] | an index that is gone with the process: the model the others are held against |
//! | `sqlite` | an index in a folder: a catalogue in SQLite, postings in segments |
//! | `postgres` | an index in a PostgreSQL database, for several writers |
//! | [`filter`] | conditions on metadata |
//! | [`query`] | a document asked for: its candidates, verified |
//! | [`containment`] | candidates where an excerpt is looked for in longer texts, or the reverse |
//! | [`compact`] | signatures of all documents in memory, to be scanned |
//! | [`nearest`] | the documents nearest to one, whatever their similarity |
//! | [`query_by_id`] | the same for a document of the index |
//! | [`index`] | an opened index, wherever it is kept |
//!
//! Nothing here reads files of documents, cuts texts into shingles, prints, or looks at the clock.

mod access;
pub mod backend;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod checksum;
pub mod compact;
mod comparison;
pub mod containment;
pub mod entry;
pub mod error;
pub mod filter;
pub mod index;
pub mod memory;
pub mod nearest;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod query;
pub mod query_by_id;
pub mod set;
pub mod settings;
pub mod sketches;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use error::IndexError;
pub use index::Index;
