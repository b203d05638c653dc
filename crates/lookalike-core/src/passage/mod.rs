//! Repeated passages: runs of tokens that occur at more than one place.
//!
//! A *run* is a sequence of consecutive tokens of one document. A *place* is a document, a position
//! in it and a length. A run is *repeated* if an equal run is at another place, in the same
//! document or in another one; both places may overlap. With a minimum length of `n` tokens:
//!
//! * A repeated run of at least `n` tokens is **maximal** if it is no longer repeated when it is
//!   extended at its place by one token at the start, or by one token at the end.
//! * A **passage** is the sequence of tokens of a maximal run. It occurs wherever these tokens are,
//!   also inside of longer repeated runs.
//! * A run is a **copy** if an equal run is at an earlier place that does not overlap it: in an
//!   earlier document in the order of documents, or earlier in its own document.
//!
//! `naive` implements all three definitions by comparing each place with all others.
//!
//! ```text
//! tokens ─ anchors → a few positions, those with an equal one → runs that may repeat
//!        ─ run_hash → classes of equal runs ─ unitig → classes with the same places, joined
//!        ─ suffix_order ─ maximal → runs and passages
//! ```
//!
//! | module | does |
//! |---|---|
//! | [`anchors`] | selects positions such that equal runs have an equal anchor |
//! | [`position_set`] | stores the selected positions, one bit for each |
//! | [`run_hash`] | hashes all runs of `n` tokens of a document |
//! | [`unitig`] | joins overlapping runs that have the same places |
//! | [`suffix_order`] | sorts suffixes of sequences of unitigs, and finds their shared prefixes |
//! | [`maximal`] | finds maximal runs, passages and copies |
//! | [`naive`] | contains the definitions, for tests |
//!
//! Hashes only select places. The caller compares the tokens of these places ([`unitig::Unitigs`]
//! states which places must be equal).

pub mod anchors;
pub mod maximal;
pub mod naive;
pub mod position_set;
pub mod prefix_hash;
pub mod run_hash;
pub mod suffix_order;
pub mod unitig;
