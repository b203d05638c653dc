#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! ```text
//! inputs ─ read → documents ─ find → findings ─ report → tables and reports
//! ```
//!
//! | module | input | output |
//! |---|---|---|
//! | [`request`] | a use case with its inputs | its outcome, in one call |
//! | [`read`] | paths, standard input, tables, an index | blocks of documents for every thread |
//! | [`mod@find`] | a collection and parameters | groups, pairs, counts, times |
//! | [`mod@passages`] | a collection, a least length | repeated runs of words, verified |
//! | [`report`] | findings | CSV, JSON lines, JSON, Parquet, HTML; complete files or none |
//! | [`decisions`] | a file of user decisions | the decisions in force |
//! | [`outcome`] | findings | whether each document is kept, and why |
//! | [`dedup`] | outcomes and records | survivors in the format of the input |
//! | [`audit`] | a report and its documents again | measured recall, with intervals |
//! | [`mod@contamination`] | a benchmark and a corpus | benchmark items found in the corpus |
//! | [`evaluate`] | a report and a truth file | precision, recall, F1, adjusted Rand index |
//! | [`watch`] | the changed files of a folder | documents in an index, and similar ones |
//! | [`tune`] | a threshold, a recall, a sample | bands × rows, their cost, advice |
//! | [`categories`] | a sample of texts | a tree of categories, and the category of any text |
//! | [`index`] | an index and texts | stored documents, similar documents, groups |
//! | [`pair_similarity`] | two texts | their similarity |
//! | [`difference`] | two texts | the words that differ |
//! | [`digest`] | documents | 128 bits that show whether two runs read the same documents |
//! | [`shard`] | parts of a collection | the stages of a run over many tasks |
//! | [`progress`] | – | progress and warnings of a run |
//! | [`temporary`] | – | removes temporary files when a signal ends the process |
//!
//! Functions that start threads wait for them. If the system provides fewer threads than requested,
//! those do the same work. This crate does not print, exit or read the environment. The algorithms
//! are in [`core`]. [`store`] stores an index, and [`index`] has the operations on an index that
//! need texts.

pub mod audit;
pub mod categories;
mod compressed_file;
pub mod contamination;
pub mod decisions;
pub mod dedup;
pub mod difference;
pub mod digest;
mod document_pass;
mod engine;
pub mod error;
mod error_macros;
pub mod evaluate;
pub mod find;
pub mod folding;
mod id_sample;
pub mod index;
mod moved_blocks;
pub mod outcome;
pub mod pair_similarity;
pub mod passages;
pub mod progress;
mod read_progress;
pub mod report;
pub mod request;
pub mod shard;
mod spill;
pub mod temporary;
pub mod tune;
pub mod watch;
mod words;

pub use lookalike_extract as extract;
pub use lookalike_index as store;
pub use lookalike_read as read;
pub use lookalike_read::stop_words;

pub use error::Error;
pub use find::{FindOptions, Findings, find};
pub use lookalike_core as core;
pub use lookalike_core::params::{Params, ParamsBuilder};
pub use lookalike_index::Index;
pub use lookalike_read::{Collection, ReadOptions};
pub use progress::NoProgress;
