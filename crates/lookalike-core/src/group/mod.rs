//! Candidates in, groups out: which documents are duplicates, and of which kept one.
//!
//! Members are numbered by their position in the keep order, 0 first: the caller sorts them by
//! [`keep::compare`](crate::keep::compare). Each member is inserted into some buckets and probes
//! some; the two lists may be equal ([`BucketMembership`]). A *candidate pair* is an earlier member
//! that is in a bucket and a later one that probes it; a `similarity` function makes it a *verified
//! pair* by giving an [`Overlap`](crate::verify::Overlap), or refuses it. An error of that function
//! ends the walk. Two rules make groups of them:
//!
//! * **Stars** ([`stars`]): walk the members in order; one that has a verified pair with a kept
//!   member before it becomes a duplicate, else it is kept. Every duplicate therefore resembles its
//!   keeper, and no two keepers that are candidates resemble each other. The keepers are the
//!   lexicographically first maximal independent set of the graph of verified pairs: one right
//!   answer, however it is computed.
//! * **Components** ([`components`]): everything that is connected through verified pairs, as in
//!   chains a–b–c where a and c may have little in common. The keeper is the first member.
//!
//! Members may be *fixed*, those of a reference collection and those that a decision of a person
//! keeps: they come first in the keep order, are kept whatever they resemble, and are never
//! compared with each other.
//!
//! Members may be *separated*, those that a person judged to be different: they are never in one
//! group. In stars, a member with a separated one among a keeper's duplicates does not become a
//! duplicate of that keeper. Components are then joined pair by pair, the most similar first, and a
//! pair that would bring two of them together is left out.
//!
//! Members without buckets cost nothing beyond their place in the walk. Nothing here depends on how
//! buckets are numbered or in which order a member lists them, and no bucket is limited in size.

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
pub use stars::{stars, stars_of_pairs};
