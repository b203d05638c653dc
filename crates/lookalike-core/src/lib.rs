#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! ```text
//! "Héllo  World …"  text → "hello world …"  shingle → {h1, h2, …}  signature → [m1 … m128]
//!   band → [key1 … key21]   candidate → (7, 42)   verify → exact 0.87 ≥ 0.80
//!   keep → 7 before 42 (longest)   group → 42 is a duplicate of 7
//! ```
//!
//! Each arrow is a module, and each stage uses earlier ones only. All stages share `params`,
//! `parameter`, `error`, `hash` and `kernel`.
//!
//! | module | input | output |
//! |---|---|---|
//! | [`params`] | [`params::ParamsBuilder`] | checked [`params::Params`], or an error |
//! | [`parameter`] | – | the names of parameters, as each front end spells them |
//! | [`error`] | – | [`error::ParamsError`]: the reason why a parameter is invalid |
//! | [`text`] | raw text | lower-cased text; the class of a character |
//! | [`shingle`] | text | shingle hashes, shingle sets |
//! | [`signature`] | shingle hashes | a signature |
//! | [`compact`] | a signature | one byte per value, for scanning |
//! | [`band`] | a signature | its bucket keys |
//! | [`curve`] | a threshold and a recall | bands × rows, and their expected results |
//! | [`candidate`] | bucket keys | buckets, components, candidates of one document |
//! | [`verify`] | two shingle sets | their exact overlap; two signatures: an estimate |
//! | [`prefix`] | a shingle set and its counts | the few rare shingles to look at |
//! | [`disjoint_sets`] | connected numbers | the first number of each set |
//! | [`group`] | candidates and a similarity | groups: stars round keepers, or components |
//! | [`keep`] | a document's attributes | a key whose order says which document is kept |
//! | [`passage`] | tokens of documents | runs of tokens that are repeated |
//! | [`naive`] | a small collection | reference results by comparing all pairs |
//! | [`hash`] | bytes | the frozen hashes, `docs/reference/signature.md` in code |
//! | [`kernel`] | the inner loops | the same bits, computed faster |
//!
//! # What is absent
//!
//! No input or output, no threads, no clock, no environment, no global state. The stages are total:
//! they return no errors, and no input makes them panic. Only the steps before them can fail:
//! parsing parameters, and building [`params::Params`]. Equal documents and equal parameters have
//! equal results on every processor.
//!
//! # Limits
//!
//! * 4,294,967,294 documents in one run ([`candidate::MAX_DOCUMENTS`]).
//! * Signatures use 32 bits of a shingle's hash. In documents of about a million shingles or more,
//!   chance agreement of hashes affects *estimates* (by n/2³³); exact verification uses all 64
//!   bits.
//! * 64-bit hashes do not resist deliberate collisions.

pub mod band;
pub mod candidate;
pub mod compact;
pub mod curve;
pub mod disjoint_sets;
pub mod error;
pub mod group;
pub mod hash;
pub mod keep;
pub mod kernel;
pub mod naive;
mod named;
pub mod parameter;
pub mod params;
pub mod passage;
pub mod prefix;
pub mod shingle;
mod shingle_rule;
pub mod signature;
pub mod text;
mod unicode_table;
pub mod verify;
