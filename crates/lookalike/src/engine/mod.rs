//! The engine of a run, which groups near-duplicates.
//!
//! ```text
//! prepare  blocks → columns and rows (threads) → numbered documents
//! link     unique ids, equal documents
//!          band keys → lists of documents   or   rare shingles → lists of documents
//! decide   connected components, as many as memory allows (threads):
//!          shingle sets, prefix filter, groups, copies
//! collect  groups, pairs, related documents → findings
//! ```
//!
//! `pipeline` calls the stages in this order. No file of the engine imports a use case.
//!
//! The first pass keeps the id, bucket keys, fingerprint, position and keep key of each document,
//! and drops its text. Verification reads documents again if they share a bucket with another one.
//! Stages exchange columns and lists in logs (`spill`). `memory` decides whether a log is in memory
//! or in a temporary file, from which a run with `checkpoint` resumes. For each document, one byte
//! of state, a parent in the disjoint sets and one bit are always in memory.
//!
//! Results depend neither on the number of threads and their order of work nor on the memory:
//! blocks are sorted into reading order, documents are compared in the keep order, and components
//! are independent.

pub(crate) mod collect;
pub(crate) mod decide;
pub(crate) mod link;
pub(crate) mod prepare;

mod checkpoint;
mod error;
pub(crate) mod ids;
mod memory;
mod memory_amount;
mod no_estimates;
mod options;
mod pipeline;
pub(crate) mod reorder_buffer;
mod setting;
pub mod workers;

pub(crate) use checkpoint::describe_run;
pub(crate) use collect::assembled::FindingsAssembler;
pub use collect::empty_copies::EmptyCopies;
pub use collect::findings::{BetterSetting, DocumentStatus, Findings, IdList, RunCounts};
pub use collect::group_categories::{CategoryName, GroupCategories};
pub use collect::group_concentration::GroupConcentration;
pub use collect::groups::{Duplicate, Group, Groups, Keeper};
pub use collect::pairs::{MAX_PAIRS, Pair, PairCursor, PairRef, Pairs};
pub use collect::related::{RelatedDocument, RelatedDocuments};
pub use collect::textless_copies::TextlessCopies;
pub(crate) use decide::decided_part::{PartCounts, PartDocuments, SourceDuplicates};
pub use decide::estimates::{ESTIMATE_COLUMNS, SignatureEstimate};
pub use error::FindError;
pub use ids::DocumentNumber;
pub use link::drop_list::{DropCounts, DropList};
pub use link::judged_documents::{DecisionCounts, NoEffect, UnappliedDecision};
pub use memory::Memory;
pub(crate) use memory::{Budget, long_words};
pub use memory_amount::parse_memory;
pub use no_estimates::NoEstimates;
pub use options::{FindOptions, Grouping, KeeperChoice, PairList};
pub(crate) use pipeline::{explained, run};
pub(crate) use prepare::input_measure::read_within_limit;
pub use prepare::mail_removals::MailRemovals;
pub(crate) use prepare::share::{BlockDocuments, PreparedShare, ShareNotes};
pub use prepare::skipped::SkippedRecords;
pub use prepare::sources::{MAX_SOURCES, SourceCounts};
pub(crate) use prepare::text_run::{DocumentBlock, TextRun};
pub use setting::{Setting, SettingChanges, SettingJob, SettingProfile};
pub use workers::MAX_THREADS;
