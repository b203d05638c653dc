#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! ```text
//! token  token_hasher → hash  scheme (loops) → hash values  bands → bucket_tables → record numbers
//! ```
//!
//! | module | has |
//! |---|---|
//! | [`token_hasher`] | the hash of a token, by SHA-1 ([`sha1`]) or by the token hash |
//! | [`scheme`] | the three permutation schemes, their parameters and values |
//! | [`loops`] | the inner loops, one variant per instruction set ([`instruction_set`]) |
//! | [`mersenne_twister`] | the generator that draws parameters |
//! | [`pairwise_sum`] | sums with the rounding of `NumPy` |
//! | [`optimal_bands`] | bands and rows for a threshold |
//! | [`partitions`] | intervals of sizes for LSH Ensemble |
//! | [`bucket_tables`] | records by the bytes of their bands |
//! | [`allocation`] | vectors of lengths that a caller chooses |

pub mod allocation;
pub mod bucket_tables;
pub mod instruction_set;
pub mod loops;
pub mod mersenne_twister;
pub mod optimal_bands;
pub mod pairwise_sum;
pub mod partitions;
pub mod scheme;
pub mod sha1;
pub mod token_hasher;
