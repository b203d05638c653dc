//! Repeated passages: runs of tokens that occur at more than one place.
//!
//! A *run* is consecutive tokens of one document; a *place* is a document, a position in it and a
//! length. A run is *repeated* when an equal run is at another place, in the same document or in
//! another one; both places may overlap. With a least length of `n` tokens:
//!
//! * A repeated run of at least `n` tokens is **maximal** when neither the run that begins one
//!   token earlier nor the one that ends one token later at its place is repeated.
//! * A **passage** is the sequence of tokens of a maximal run. It occurs wherever these tokens are,
//!   also inside of longer repeated runs.
//! * A run is a **copy** when an equal run is at an earlier place that does not overlap it: in a
//!   document that is before its own in the order of documents, or before it in its own.
//!
//! `naive` defines all three once more, by comparing all places with all.
//!
//! ```text
//! tokens ─ anchors → a few positions, those with an equal one → runs that may repeat
//!        ─ run_hash → classes of equal runs ─ unitig → classes with the same places, joined
//!        ─ suffix_order ─ maximal → runs and passages
//! ```
//!
//! | module | does |
//! |---|---|
//! | [`anchors`] | selects positions so that equal runs have an equal anchor |
//! | [`position_set`] | positions that are selected, one bit for each |
//! | [`run_hash`] | hashes all runs of `n` tokens of a document |
//! | [`unitig`] | joins overlapping runs that have the same places |
//! | [`suffix_order`] | sorts the ends of sequences of unitigs; how far neighbours agree |
//! | [`maximal`] | maximal runs, passages, copies |
//! | [`naive`] | the definitions, for tests |
//!
//! Hashes select; the caller compares the tokens of what is selected ([`unitig::Unitigs`] says
//! which places have to be equal).

pub mod anchors;
pub mod maximal;
pub mod naive;
pub mod position_set;
pub mod prefix_hash;
pub mod run_hash;
pub mod suffix_order;
pub mod unitig;
