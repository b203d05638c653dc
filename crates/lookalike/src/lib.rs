//! Finds near-duplicate documents in files: reads them, runs the stages of [`lookalike_core`] in
//! parallel, and reports what was found, verified.
//!
//! ```text
//! inputs  read → documents  run → findings  write → tables and reports
//! ```
//!
//! | module | takes | gives |
//! |---|---|---|
//! | [`read`] | paths, standard input | documents, blocks of them for every thread |
//! | [`mod@find`] | a collection and parameters | groups, pairs, counts, times |
//! | [`spill`] | records, steps of a run | the same from temporary files; how much memory |
//! | [`report`] | findings | CSV, JSON lines, JSON, Parquet, HTML; complete files or none |
//! | [`dedup`] | decisions and records | survivors in the format of the input |
//! | [`evaluate`] | a report and a truth file | precision, recall, F1, adjusted Rand index |
//! | [`audit`] | a report and its documents again | measured recall, with intervals |
//! | [`tune`] | a threshold, a recall, a sample | bands × rows, what they cost, advice |
//! | [`digest`] | documents | 128 bits that tell whether two readings saw the same |
//! | [`index`] | an index and texts | documents in it, what resembles a text, groups |
//! | [`pair_similarity`] | two texts | how alike they are |
//! | [`difference`] | two texts | the words that differ |
//! | [`progress`] | – | how a run tells how far it is |
//! | [`temporary`] | – | removes temporary files when a signal ends the process |
//!
//! Only [`mod@find`], [`audit`] and [`index`] have threads; where the system gives fewer than are asked
//! for, those do the same. Nothing here prints, exits or looks at the environment.
//! The algorithms are in [`core`].

pub mod audit;
pub mod dedup;
pub mod difference;
pub mod digest;
pub mod error;
pub mod evaluate;
pub mod find;
pub mod folding;
pub mod index;
pub mod pair_similarity;
pub mod progress;
pub mod report;
pub mod spill;
pub mod temporary;
pub mod tune;

pub use lookalike_extract as extract;
pub use lookalike_index as store;
pub use lookalike_read as read;
pub use lookalike_read::stop_words;

pub use error::Error;
pub use find::{FindOptions, Findings, find};
pub use lookalike_core as core;
