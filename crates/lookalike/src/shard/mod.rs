//! The stages of [`find`](crate::find()) for a collection that is divided over many tasks. Any tool
//! can start them: a cluster engine, a batch scheduler, a shell loop.
//!
//! ```text
//! documents ─ KeyCollector → blocks for each part ─ Connector → a forest for each part
//!   ─ merge → one forest: the components ─ documents again, by component
//!   ─ decide (the run of one machine on whole components) → MemberRow, PairRow, counts
//!   ─ sorted → GroupLines, PairLines: the bytes of the reports
//! ```
//!
//! The result for a document depends only on its component in the graph of verified pairs. So any
//! division of the documents into sets that no verified pair crosses yields the groups, pairs and
//! counts of one run. The stages form such sets by connecting documents that share a bucket.
//! Unnecessary connections (equal hashes, candidates that are not similar) cost time and do not
//! change the result.
//!
//! A component may be too large for a task. In that case its documents receive other keys, their
//! rarest shingles ([`RarityCounter`], [`KeyCollector::screening`]), and are connected by these.
//! Components that remain too large are decided in rounds over prefixes of the keep order
//! ([`KeepOrder`], [`match_kept`]). Exact runs always use these keys.
//!
//! A document is a *node* here: a 64-bit hash of its id. The caller chooses the hash function, such
//! as [`node_of`]. Colliding nodes join two components and are not checked in the second reading.
//! Nodes of documents with equal ids are equal, and are reported ([`ConnectedPart::repeated`]).
//!
//! Every stage is a function of its rows, and can be repeated or run in another order. [`job`] runs
//! the stages on files, for collections in files.
//! `docs/reference/stages.md` specifies the rows.

mod block;
mod connect;
mod decide;
mod error;
mod forest;
pub mod job;
mod keys;
mod lines;
mod match_kept;
mod place;
mod rank;
mod rarity;
mod stars;

pub use crate::engine::ids::Node;
pub use block::{BLOCK_VERSION, BlockError, Membership, NodeIdentity, ShardBlock};
pub use connect::{ConnectedPart, Connector};
pub use decide::{CheckedDocuments, MemberRole, MemberRow, PairRow, member_rows, pair_rows};
pub use error::ShardError;
pub use forest::{Edge, merge, merge_with_roots};
pub use keys::{BucketRule, CollectedDocument, KeyCollector, PartBlock, RarityCounter, part_of};
pub use lines::{GroupLines, PairLines};
pub use match_kept::match_kept;
pub use place::{KeepOrder, KeepRuleUse, PlacedDocument};
pub use rank::SimilarityRank;
pub use rarity::{COUNTERS_VERSION, CountersError, RarityCounters};
pub use stars::{StarRows, StarStep, star_step};

use lookalike_core::hash;

/// Returns the node of a document: a hash of its id, and of whether the document belongs to a
/// reference collection, whose ids are separate from the others.
///
/// ```
/// use lookalike::shard::node_of;
///
/// assert_eq!(node_of("a", false), node_of("a", false));
/// assert_ne!(node_of("a", false), node_of("a", true));
/// ```
pub fn node_of(id: &str, reference: bool) -> Node {
    node_of_hash(hash::token_hash(id.as_bytes()), reference)
}

/// Returns the node of a document whose id has the hash `id`.
pub(crate) fn node_of_hash(id: u64, reference: bool) -> Node {
    Node(if reference { hash::mix64(id) } else { id })
}
