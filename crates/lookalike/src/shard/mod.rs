//! The stages of [`find`](crate::find()) for a collection that is divided over many tasks, whatever
//! starts them: a cluster engine, a batch scheduler, a shell loop.
//!
//! ```text
//! documents ─ KeyCollector → blocks for each part ─ Connector → a forest for each part
//!   ─ merge → one forest: the components ─ documents again, by component
//!   ─ decide (the run of one machine on whole components) → MemberRow, PairRow, counts
//!   ─ sorted → GroupLines, PairLines: the bytes of the reports
//! ```
//!
//! What a run reports of a document depends on its component in the graph of verified pairs alone.
//! So any division of the documents into sets that no verified pair crosses gives the groups,
//! pairs and counts of one run. The stages make such sets: documents that share a bucket are
//! connected. Joining too much (equal hashes, candidates that are not similar) costs time and
//! changes nothing.
//!
//! A component may be too large for a task. Then its documents get other keys, those of their
//! rarest shingles ([`RarityCounter`], [`KeyCollector::screening`]), and are connected by these;
//! what stays together is decided in rounds over prefixes of the keep order ([`KeepOrder`],
//! [`match_kept`]). Exact runs have these keys from the beginning.
//!
//! A document is a *node* here: 64 bits, the hash of its id, chosen by the caller ([`node_of`] is
//! one such hash). Nodes that collide join two components, and are not checked in the second
//! reading. Nodes of documents with equal ids are equal, and are reported
//! ([`ConnectedPart::repeated`]).
//!
//! Every stage is a function of its rows: it may run again, twice, or in another order. [`job`]
//! runs them on files, for collections that are files.
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

/// The node of a document: a hash of its id, and of whether it is part of a reference collection,
/// whose ids are names of their own.
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

/// The node of a document whose id has the hash `id`.
pub(crate) fn node_of_hash(id: u64, reference: bool) -> Node {
    Node(if reference { hash::mix64(id) } else { id })
}
