//! The main job: documents in, groups of near-duplicates out.
//!
//! ```text
//! blocks ─ prepare (threads) → block_store ─ documents (numbering)
//!   ─ identity (unique ids, equal documents)
//!   ─ bucket: band keys → lists   or   exact_candidates: rare shingles → lists
//!   ─ batch (connected components, as many as memory allows)
//!   ─ decide (threads over components: shingle sets, prefix filter, groups, copies)
//!   → results (groups, pairs) → findings
//! ```
//!
//! `pipeline` calls the stages one after the other.
//!
//! The first pass keeps of each document its id, bucket keys, fingerprint, position and keep key;
//! the texts are dropped. Verification reads the documents that share a bucket with another one
//! again. Stages exchange columns and lists in logs (`spill`), which go to temporary files where
//! `memory` says so, and from which a run with `checkpoint` goes on. Of each document, one byte of
//! state, its parent in the disjoint sets and one bit are always held.
//!
//! Results do not depend on the number of threads or the order in which they work, nor on the
//! memory: blocks are put in reading order, documents are compared in the keep order, components
//! are independent.

mod assembled;
mod batch;
mod batch_result;
mod better_setting;
mod block_notes;
mod block_store;
mod bucket;
mod bucket_lists;
mod checkpoint;
mod class_parts;
mod columns;
mod component;
mod component_judgments;
mod copies;
mod decide;
mod decided_part;
mod documents;
mod drop_list;
mod empty_copies;
mod estimates;
mod exact_candidates;
mod excess_candidates;
mod excluded_documents;
mod findings;
mod group_categories;
mod group_concentration;
mod groups;
mod identity;
mod input_measure;
mod judged_documents;
pub(crate) mod keep_keys;
mod limited_reading;
mod loaded_rows;
mod long_records;
mod mail_removals;
mod memory;
mod memory_amount;
mod options;
mod ordered_component;
mod pairs;
mod pipeline;
mod prefix_filter;
mod prepare;
mod ranges;
mod references;
mod related;
mod reread;
mod results;
mod share;
mod shingle_counts;
mod shingle_sets;
pub(crate) mod shingles;
mod skipped;
mod sources;
mod text_run;
mod textless_copies;
pub mod workers;

pub use crate::error::NoEstimates;
pub(crate) use assembled::FindingsAssembler;
pub(crate) use checkpoint::describe_run;
pub(crate) use decided_part::{PartCounts, PartDocuments, SourceDuplicates};
pub use drop_list::{DropCounts, DropList};
pub use empty_copies::EmptyCopies;
pub use estimates::{ESTIMATE_COLUMNS, SignatureEstimate};
pub use findings::{BetterSetting, DocumentStatus, Findings, IdList, RunCounts};
pub use group_categories::{CategoryName, GroupCategories};
pub use group_concentration::GroupConcentration;
pub use groups::{Duplicate, Group, Groups, Keeper};
pub(crate) use input_measure::read_within_limit;
pub use judged_documents::{DecisionCounts, NoEffect, UnappliedDecision};
pub use mail_removals::MailRemovals;
pub use memory::Memory;
pub(crate) use memory::{Budget, long_words};
pub use memory_amount::parse_memory;
pub use options::{FindOptions, Grouping, KeeperChoice, PairList};
pub use pairs::{MAX_PAIRS, Pair, PairCursor, PairRef, Pairs};
pub(crate) use pipeline::explained;
pub use pipeline::{find, in_collection};
pub use related::{RelatedDocument, RelatedDocuments};
pub(crate) use share::{BlockDocuments, PreparedShare, ShareNotes};
pub use skipped::SkippedRecords;
pub use sources::{MAX_SOURCES, SourceCounts};
pub(crate) use text_run::{DocumentBlock, TextRun};
pub use textless_copies::TextlessCopies;
pub use workers::MAX_THREADS;
