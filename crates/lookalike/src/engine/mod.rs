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

pub(crate) mod collect;
pub(crate) mod decide;
pub(crate) mod link;
pub(crate) mod prepare;

mod better_setting;
mod checkpoint;
pub(crate) mod ids;
mod memory;
mod memory_amount;
mod options;
mod pipeline;
pub mod workers;

pub use crate::error::NoEstimates;
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
pub use ids::DocumentNumber;
pub use link::drop_list::{DropCounts, DropList};
pub use link::judged_documents::{DecisionCounts, NoEffect, UnappliedDecision};
pub use memory::Memory;
pub(crate) use memory::{Budget, long_words};
pub use memory_amount::parse_memory;
pub use options::{FindOptions, Grouping, KeeperChoice, PairList};
pub(crate) use pipeline::explained;
pub use pipeline::{find, in_collection};
pub(crate) use prepare::input_measure::read_within_limit;
pub use prepare::mail_removals::MailRemovals;
pub(crate) use prepare::share::{BlockDocuments, PreparedShare, ShareNotes};
pub use prepare::skipped::SkippedRecords;
pub use prepare::sources::{MAX_SOURCES, SourceCounts};
pub(crate) use prepare::text_run::{DocumentBlock, TextRun};
pub use workers::MAX_THREADS;
