//! Measures the similarity of two texts.

use crate::engine::prepare::shingles::SetSigner;
use crate::progress::{Interruption, Progress};
use lookalike_core::band;
use lookalike_core::params::Params;
use lookalike_core::verify::{self, Overlap};

/// The similarity of two texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSimilarity {
    /// The exact overlap of their shingle sets.
    pub overlap: Overlap,
    /// Whether they are equal byte for byte.
    pub same_text: bool,
    /// Whether they reach the threshold.
    pub similar: bool,
    /// The estimate from signatures. `None` if a text has no token, or if the parameters require
    /// that no pair is missed, because signatures are not used then.
    pub estimate: Option<Estimate>,
}

/// The comparison of two signatures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The Jaccard similarity, from 0 to 1.
    pub jaccard: f64,
    /// The number of bands in which both have the same key. If it is 0, they are not candidates.
    pub bands_shared: usize,
}

impl PairSimilarity {
    /// Compares two texts.
    ///
    /// # Errors
    /// [`Interruption`] if `progress` cancels between the steps.
    pub fn of(
        a: &str,
        b: &str,
        params: &Params,
        progress: &dyn Progress,
    ) -> Result<Self, Interruption> {
        let num_hashes = if params.exact() { 0 } else { params.num_hashes() };
        let mut signer_of_a = SetSigner::new(params, num_hashes);
        let left = signer_of_a.sign_text(a);
        progress.advance(0)?;
        let mut signer_of_b = SetSigner::new(params, num_hashes);
        let right = signer_of_b.sign_text(b);
        progress.advance(0)?;
        let is_estimated = !left.signature.is_empty() && !right.signature.is_empty();
        let estimate = is_estimated.then(|| Estimate::of(left.signature, right.signature, params));
        let overlap = verify::overlap(left.set, right.set);
        let similar = overlap.reaches(params.measure(), params.threshold());
        Ok(Self { overlap, same_text: a == b, similar, estimate })
    }
}

impl Estimate {
    fn of(a: &[u32], b: &[u32], params: &Params) -> Self {
        let keys = |signature: &[u32]| {
            let mut keys = vec![0; params.bands()];
            band::bucket_keys(signature, params.rows(), &mut keys);
            keys
        };
        let bands_shared = keys(a).iter().zip(keys(b)).filter(|(a, b)| **a == *b).count();
        Self { jaccard: verify::estimate(a, b), bands_shared }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "1 is 1")]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use lookalike_core::params::ParamsBuilder;

    const A: &str = "one two three four five six seven eight nine ten";

    fn compared(a: &str, b: &str, builder: &ParamsBuilder) -> PairSimilarity {
        PairSimilarity::of(a, b, &Params::new(builder).unwrap(), &NoProgress).unwrap()
    }

    #[test]
    fn equal_shingles_share_all_bands() {
        let found = compared(A, &A.to_uppercase(), &ParamsBuilder::default());
        assert!(found.similar && !found.same_text);
        let estimate = found.estimate.unwrap();
        assert_eq!((estimate.jaccard, estimate.bands_shared), (1.0, 21));
    }

    #[test]
    fn unused_signatures_have_no_estimate() {
        assert_eq!(compared(A, "", &ParamsBuilder::default()).estimate, None);
        let exact = compared(A, A, &ParamsBuilder { exact: true, ..ParamsBuilder::default() });
        assert!(exact.similar && exact.same_text && exact.estimate.is_none());
    }
}
