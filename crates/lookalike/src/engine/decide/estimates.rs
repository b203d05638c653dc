//! Similarities that signatures estimate for verified pairs, next to the exact similarity.
//!
//! Two minimal hash values are equal with a probability that is the Jaccard similarity J. So the
//! share of equal values of two signatures with k values estimates J with the standard error
//! √(J(1−J)/k) (Broder, *On the resemblance and containment of documents*, 1997).

use crate::engine::decide::ordered_component::OrderedComponent;
use crate::engine::decide::shingle_sets::ShingleSets;
use crate::engine::error::FindError;
use crate::engine::ids::{Id, MemberNumber};
use crate::engine::no_estimates::NoEstimates;
use crate::engine::options::{FindOptions, PairList};
use lookalike_core::params::Measure;
use lookalike_core::signature::Signer;
use lookalike_core::verify::{self, Overlap};

/// The number of equal values at the same positions of two signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SignatureEstimate {
    /// Equal values.
    pub equal: u32,
    /// Values of each signature.
    pub num_hashes: u32,
}

impl SignatureEstimate {
    /// The estimated Jaccard similarity, from 0 to 1: `equal / num_hashes`.
    pub fn jaccard(&self) -> f64 {
        f64::from(self.equal) / f64::from(self.num_hashes.max(1))
    }

    /// The estimated minus the exact Jaccard similarity, from −1 to 1.
    pub fn error(&self, exact: &Overlap) -> f64 {
        let part = i128::from(exact.intersection);
        let whole = i128::from(exact.union().max(1));
        let equal = i128::from(self.equal);
        let values = i128::from(self.num_hashes.max(1));
        // If the fractions are equal, the result is exactly 0.
        (equal * whole - part * values) as f64 / (values * whole) as f64
    }

    /// The standard error of the estimate, √(J(1−J)/k), for the exact similarity J and k values.
    pub fn standard_error(&self, exact: &Overlap) -> f64 {
        let jaccard = exact.jaccard();
        (jaccard * (1.0 - jaccard) / f64::from(self.num_hashes.max(1))).sqrt()
    }

    /// Returns the values of [`ESTIMATE_COLUMNS`], with six decimals.
    pub fn six_decimals(&self, exact: &Overlap) -> [String; 3] {
        let values = [self.jaccard(), self.error(exact), self.standard_error(exact)];
        values.map(|value| {
            let text = format!("{value:.6}");
            if text == "-0.000000" { "0.000000".to_owned() } else { text }
        })
    }

    /// Returns the numbers that [`six_decimals`](Self::six_decimals) formats.
    pub fn rounded(&self, exact: &Overlap) -> [f64; 3] {
        let values = [self.jaccard(), self.error(exact), self.standard_error(exact)];
        let texts = self.six_decimals(exact);
        // Six decimals always parse as a number.
        std::array::from_fn(|i| texts[i].parse().unwrap_or(values[i]))
    }
}

/// The columns of pairs with estimates, in the order of [`SignatureEstimate::six_decimals`].
pub const ESTIMATE_COLUMNS: [&str; 3] = ["estimated_jaccard", "error", "standard_error"];

/// Returns an error if estimates are requested, but the run has no signatures or they do not
/// estimate the measure.
pub(crate) fn check(options: &FindOptions) -> Result<(), FindError> {
    if options.pairs != PairList::WithEstimates {
        return Ok(());
    }
    if options.params.measure() == Measure::Containment {
        return Err(FindError::Estimates(NoEstimates::Containment));
    }
    if options.params.exact() {
        return Err(FindError::Estimates(NoEstimates::Exact));
    }
    Ok(())
}

/// Counts the equal values in the signatures of each pair. Signs a member only once if the
/// signatures fit in the share of memory.
///
/// # Errors
/// A shingle set cannot be made.
pub(crate) fn equal_values(
    component: &OrderedComponent<'_>,
    options: &FindOptions,
    pairs: &[(u32, u32, Overlap)],
    sets: &mut ShingleSets<'_>,
) -> Result<Vec<u32>, FindError> {
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let mut signatures = Signatures::new(component, options, sets.signature_share);
    let mut left = Vec::new();
    let mut last = None;
    let mut equal = Vec::with_capacity(pairs.len());
    for &(a, b, _) in pairs {
        let a = MemberNumber(a);
        let b = MemberNumber(b);
        if last != Some(a) {
            left.clear();
            left.extend_from_slice(signatures.of(a, sets)?);
            last = Some(a);
        }
        let estimate = verify::estimate_at_least(&left, signatures.of(b, sets)?, 0);
        equal.push(estimate.unwrap_or(0) as u32);
    }
    Ok(equal)
}

/// A direct-mapped cache of the signatures of a component's members.
struct Signatures<'a> {
    component: &'a OrderedComponent<'a>,
    signer: Signer,
    hashes: Vec<u32>,
    slots: Vec<Option<(MemberNumber, Box<[u32]>)>>,
}

impl<'a> Signatures<'a> {
    fn new(component: &'a OrderedComponent<'a>, options: &FindOptions, share: usize) -> Self {
        let params = &options.params;
        let num_hashes = params.num_hashes();
        let signer =
            Signer::with_kernel(params.scheme(), num_hashes, params.seed(), options.kernel);
        let bytes = 4 * num_hashes + size_of::<Option<(MemberNumber, Box<[u32]>)>>();
        let slots = (share / bytes).min(component.len()).max(1);
        Self { component, signer, hashes: Vec::new(), slots: vec![None; slots] }
    }

    /// The signature of a member.
    fn of(
        &mut self,
        member: MemberNumber,
        sets: &mut ShingleSets<'_>,
    ) -> Result<&[u32], FindError> {
        let at = member.index() % self.slots.len();
        let slot = &mut self.slots[at];
        if slot.as_ref().is_none_or(|(cached, _)| *cached != member) {
            self.hashes.clear();
            let set = self.component.set(member, sets)?;
            self.hashes.extend(set.iter().map(|hash| (hash >> 32) as u32));
            *slot = Some((member, self.signer.sign(&self.hashes).into()));
        }
        Ok(slot.as_ref().map_or(&[], |(_, signature)| signature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_equals_estimate_minus_exact() {
        let exact = Overlap { intersection: 4, left: 5, right: 4 };
        let estimate = |equal, num_hashes| SignatureEstimate { equal, num_hashes };
        assert_eq!(estimate(100, 125).six_decimals(&exact), ["0.800000", "0.000000", "0.035777"]);
        assert_eq!(estimate(96, 128).six_decimals(&exact), ["0.750000", "-0.050000", "0.035355"]);
        let texts = estimate(96, 128).rounded(&exact).map(|value| value.to_string());
        assert_eq!(texts, ["0.75", "-0.05", "0.035355"]);
        let equal = Overlap { intersection: 9, left: 9, right: 9 };
        assert_eq!(estimate(128, 128).six_decimals(&equal), ["1.000000", "0.000000", "0.000000"]);
    }
}
