//! The algorithms of lookalike: near-duplicate documents, found fast and verified.
//!
//! ```text
//! "Héllo  World …"  text → "hello world …"  shingle → {h1, h2, …}  signature → [m1 … m128]
//!   band → [key1 … key21]   candidate → (7, 42)   verify → exact 0.87 ≥ 0.80
//!   keep → 7 before 42 (longest)   group → 42 is a duplicate of 7
//! ```
//!
//! One module per arrow; each stage uses earlier ones only. `params`, `parameter`, `error`, `hash`
//! and `kernel` are shared.
//!
//! | module | takes | gives |
//! |---|---|---|
//! | [`params`] | [`params::ParamsBuilder`] | checked [`params::Params`], or an error |
//! | [`parameter`] | – | the names of parameters, as each front end spells them |
//! | [`error`] | – | [`error::ParamsError`]: why a parameter cannot be used |
//! | [`text`] | raw text | lower-cased text; what a character is |
//! | [`shingle`] | text | shingle hashes, shingle sets |
//! | [`signature`] | shingle hashes | a signature |
//! | [`compact`] | a signature | the same in one byte per value, to be scanned |
//! | [`band`] | a signature | its bucket keys |
//! | [`curve`] | a threshold and a recall | bands × rows, and what to expect of them |
//! | [`candidate`] | bucket keys | buckets, components, candidates of one document |
//! | [`verify`] | two shingle sets | their exact overlap; two signatures: an estimate |
//! | [`prefix`] | a shingle set and its counts | the few rare shingles to look at |
//! | [`disjoint_sets`] | what is connected | the first of each set |
//! | [`group`] | candidates and a similarity | groups: stars round keepers, or components |
//! | [`keep`] | a document's attributes | a key whose order says which document is kept |
//! | [`passage`] | tokens of documents | runs of tokens that are repeated |
//! | [`naive`] | a small collection | reference results by comparing all pairs |
//! | [`hash`] | bytes | the frozen hashes, `docs/reference/signature.md` in code |
//! | [`kernel`] | the inner loops | the same bits, faster |
//!
//! # Example
//!
//! ```
//! use lookalike_core::params::{Params, ParamsBuilder};
//! use lookalike_core::shingle::Shingler;
//! use lookalike_core::signature::Signer;
//! use lookalike_core::verify;
//!
//! let params = Params::new(&ParamsBuilder::default())?;
//! let mut shingler = Shingler::new(params.shingle());
//! let (mut a, mut b) = (Vec::new(), Vec::new());
//! shingler.set("The quick brown fox jumps over the lazy dog.", &mut a);
//! shingler.set("the quick brown fox jumps over the lazy cat", &mut b);
//! let overlap = verify::overlap(&a, &b);
//! assert_eq!((overlap.intersection, overlap.left, overlap.right), (4, 5, 5));
//!
//! let mut signer = Signer::new(params.scheme(), params.num_hashes(), params.seed());
//! let first = signer.sign(shingler.shingle("one two three four five six").hashes).to_vec();
//! let again = signer.sign(shingler.shingle("One, two, three: four five six!").hashes).to_vec();
//! assert_eq!(verify::estimate(&first, &again), 1.0);
//! # Ok::<(), lookalike_core::error::ParamsError>(())
//! ```
//!
//! # What is absent
//!
//! No input or output, no threads, no clock, no environment, no global state. The stages are total:
//! they return no errors and panic on no input. What can fail is before them: reading parameters
//! from text, and building [`params::Params`]. Equal documents and equal parameters give equal
//! results on every processor.
//!
//! # Limits
//!
//! * 4,294,967,294 documents in one run ([`candidate::MAX_DOCUMENTS`]).
//! * Signatures see 32 bits of a shingle's hash. From about a million shingles in a document on,
//!   chance agreement of hashes begins to show in *estimates* (by n/2³³); exact verification looks
//!   at all 64 bits.
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
