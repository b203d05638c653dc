//! Signatures of shingle hashes: `num_hashes` values of 32 bits whose agreement estimates the
//! Jaccard similarity (Broder 1997). `docs/reference/signature.md` defines every bit.
//!
//! Every value is the minimum over a document's shingles in one fixed random order of all possible
//! shingles. It therefore does not depend on the order or the repeats of shingles. Two documents
//! agree in a value with a probability equal to their Jaccard similarity, and the signature of a
//! union is the minimum at each place ([`merge`]).
//!
//! A document without shingles has no signature: all its values are [`EMPTY`], and it must not be
//! compared.

use crate::hash::SplitMix64;
use crate::kernel::{HashParameters, Kernel};
use crate::params::{MAX_NUM_HASHES, Scheme};

/// The value of a signature without shingles.
pub const EMPTY: u32 = u32::MAX;

/// Computes the signatures of one scheme, length and seed. Only signatures of equal signers can be
/// compared.
#[derive(Debug, Clone)]
pub struct Signer {
    parameters: HashParameters,
    kernel: Kernel,
    padded: Vec<u32>,
}

impl Signer {
    /// Creates a signer. Limits `num_hashes` to 1 ..= [`MAX_NUM_HASHES`]; the value in
    /// [`Params`](crate::params::Params) is already in this range.
    pub fn new(scheme: Scheme, num_hashes: usize, seed: u64) -> Self {
        Self::with_kernel(scheme, num_hashes, seed, Kernel::best())
    }

    /// Like [`new`](Self::new), with a given kernel. All kernels compute the same values.
    pub fn with_kernel(scheme: Scheme, num_hashes: usize, seed: u64, kernel: Kernel) -> Self {
        let num_hashes = num_hashes.clamp(1, MAX_NUM_HASHES);
        let parameters = parameters(scheme, num_hashes, seed);
        Self { padded: vec![EMPTY; HashParameters::padded(num_hashes)], parameters, kernel }
    }

    /// Values per signature.
    pub fn num_hashes(&self) -> usize {
        self.parameters.num_hashes
    }

    /// The signature of a document whose shingles have these hashes ([`Shingles::hashes`]). Valid
    /// until the signer is used for the next document.
    ///
    /// Classic schemes take O(n · `num_hashes`) time. The default scheme takes O(n) time from about
    /// `3 · num_hashes` shingles on, and O(n · empty values) time for fewer shingles.
    ///
    /// [`Shingles::hashes`]: crate::shingle::Shingles::hashes
    pub fn sign(&mut self, shingles: &[u32]) -> &[u32] {
        match self.parameters.scheme {
            Scheme::FastSimilarity => {
                self.kernel.sketch(&self.parameters, shingles, &mut self.padded);
            }
            _ => self.kernel.classic(&self.parameters, shingles, &mut self.padded),
        }
        &self.padded[..self.parameters.num_hashes]
    }
}

/// Draws the parameters of the hash functions: for each value a multiplier (made odd) and an
/// addend, then a pair for each of the two rounds.
fn parameters(scheme: Scheme, num_hashes: usize, seed: u64) -> HashParameters {
    let mut random = SplitMix64::new(seed);
    let padded = HashParameters::padded(num_hashes);
    let mut a = vec![1; padded];
    let mut b = vec![0; padded];
    for (a, b) in a.iter_mut().zip(&mut b).take(num_hashes) {
        let multiplier = random.next_u32();
        // A prime modulus allows any multiplier except 0; powers of two need an odd one.
        *a = if scheme == Scheme::ModPrime { multiplier.max(1) } else { multiplier | 1 };
        *b = random.next_u32();
    }
    let rounds = [(); 2].map(|()| (random.next_u32() | 1, random.next_u32()));
    HashParameters { scheme, num_hashes, a, b, rounds }
}

/// Changes `signature` to the signature of the union of both documents' shingles. Both must come
/// from equal signers. Surplus values of a longer `signature` are not changed.
pub fn merge(signature: &mut [u32], other: &[u32]) {
    for (value, other) in signature.iter_mut().zip(other) {
        *value = (*value).min(*other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMES: [Scheme; 5] = [
        Scheme::FastSimilarity,
        Scheme::MultiplyShift,
        Scheme::ModPrime,
        Scheme::Xor,
        Scheme::XorMultiply,
    ];

    #[test]
    fn signature_length_equals_num_hashes() {
        for scheme in SCHEMES {
            for num_hashes in [1, 100, 128, 200, MAX_NUM_HASHES] {
                let mut signer = Signer::new(scheme, num_hashes, 1);
                for n in [1, 7, 1000] {
                    let shingles: Vec<u32> =
                        (0..n).map(|i: u32| i.wrapping_mul(0x9e37_79b1)).collect();
                    assert_eq!(signer.sign(&shingles).len(), num_hashes);
                }
            }
        }
    }

    #[test]
    fn empty_sets_have_empty_signatures() {
        for scheme in SCHEMES {
            assert!(Signer::new(scheme, 16, 1).sign(&[]).iter().all(|v| *v == EMPTY));
        }
    }

    #[test]
    fn seeds_and_schemes_differ() {
        let shingles = [1, 2, 3, 4];
        let mut seen = Vec::new();
        for scheme in SCHEMES {
            for seed in [1, 2] {
                let signature = Signer::new(scheme, 16, seed).sign(&shingles).to_vec();
                assert!(!seen.contains(&signature));
                seen.push(signature);
            }
        }
    }
}
