//! Forms groups from candidate pairs: finds the duplicates and the keeper of each.
//!
//! Members are numbered by their position in the keep order, from 0: the caller sorts them by
//! [`keep::compare`](crate::keep::compare). Each member is inserted into some buckets and probes
//! some; the two lists may be equal ([`BucketMembership`]). A *candidate pair* consists of an
//! earlier member in a bucket and a later one that probes it. A `similarity` function makes it a
//! *verified pair* by returning an [`Overlap`](crate::verify::Overlap), or rejects it by returning
//! `None`. An error of that function ends the grouping. Two rules form groups from verified pairs:
//!
//! * **Stars** ([`stars`]): walk the members in order. A member that has a verified pair with an
//!   earlier kept member becomes a duplicate; otherwise it is kept. Every duplicate therefore
//!   resembles its keeper. Without fixed or separated members (below), no two keepers form a
//!   verified pair. The keepers are then the lexicographically first maximal independent set of the
//!   graph of verified pairs: a unique answer, however it is computed.
//! * **Components** ([`components`]): a group consists of all members that are connected through
//!   verified pairs. In a chain a–b–c, a and c may have little in common. The keeper is the first
//!   member.
//!
//! Members may be *fixed*: members of a reference collection, and members that a user decision
//! keeps. They come first in the keep order, are kept whatever they resemble, and are never
//! compared with each other.
//!
//! Members may be *separated*: a user judged them to be different, so they are never in one group.
//! In stars, a member does not join a group that contains a member separated from it. If members
//! are separated, components are joined pair by pair, the most similar pair first. Pairs that would
//! bring separated members together are skipped.
//!
//! Members without buckets cost no comparison. The result depends neither on the numbering of
//! buckets nor on the order in which a member lists them. Buckets may have any size.

mod all_pairs;
mod bucket_chains;
mod components;
mod connected_runs;
mod membership;
mod related;
mod stars;
#[cfg(test)]
mod tests;

pub use all_pairs::all_pairs;
pub use components::{components, components_of_pairs};
pub use membership::{BucketMembership, DuplicateMember, MemberRules, RelatedMember};
pub use related::{related, related_of_pairs};
pub use stars::{BestKeepers, KeptMembers, SeenMembers, stars, stars_in_blocks, stars_of_pairs};
