//! MinHash sketches with the bits of datasketch 2.0.0, without Python.
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
//!
//! # Example
//!
//! ```
//! use lookalike_datasketch::instruction_set::InstructionSet;
//! use lookalike_datasketch::scheme::{PermutationScheme, Permutations};
//! use lookalike_datasketch::token_hasher::TokenHasher;
//!
//! let scheme = PermutationScheme::Affine32;
//! let permutations = Permutations::drawn(scheme, 1, 128)?;
//! let sketch = |text: &str| {
//!     let tokens: Vec<&[u8]> = text.split(' ').map(str::as_bytes).collect();
//!     let (mut hashes, mut values) = (Vec::new(), scheme.no_values(128)?);
//!     TokenHasher::Sha32.hash_all(&tokens, &mut hashes);
//!     permutations.lower(InstructionSet::best(), scheme, &mut hashes, &mut values);
//!     Ok::<_, lookalike_datasketch::allocation::AllocationError>(values)
//! };
//! let one = sketch("the quick brown fox")?;
//! assert_eq!(one.equal_to(&sketch("fox the brown quick")?), 128);
//! assert!(one.equal_to(&sketch("the quick brown dog")?) < 128);
//! # Ok::<(), lookalike_datasketch::allocation::AllocationError>(())
//! ```

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
