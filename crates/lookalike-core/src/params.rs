//! The parameters of a run, checked once. [`ShingleRule`] defines a document's shingles; [`Params`]
//! contains everything that decides a result. Built values are valid; no stage checks them again.

use crate::curve;
use crate::error::ParamsError;
use crate::named::named;
use crate::parameter::Parameter;
pub use crate::parameter::{MAX_NUM_HASHES, MAX_SHINGLE_SIZE, Measure};
pub use crate::shingle_rule::{Case, ShingleRule, StopWords, TokenRule, Unit};
use std::fmt;

/// The seed of the hash functions if the user names none.
pub const DEFAULT_SEED: u64 = 1;

named!(
    Measure,
    Measure,
    "jaccard or containment",
    Jaccard = "jaccard",
    Containment = "containment"
);
named!(
    Scheme,
    Scheme,
    "fss, multiply-shift, mod-prime, xor or xor-multiply",
    FastSimilarity = "fss",
    MultiplyShift = "multiply-shift",
    ModPrime = "mod-prime",
    Xor = "xor",
    XorMultiply = "xor-multiply"
);

/// A method of computing signatures. `docs/reference/signature.md` defines every bit of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Truncated Fast Similarity Sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017): two binning
    /// rounds, then a classic minimum for every value still empty. The default.
    FastSimilarity,
    /// Classic MinHash with `a·x + b mod 2³²`, `a` odd (Dietzfelbinger et al. 1997).
    MultiplyShift,
    /// Classic MinHash with `(a·x + b) mod 4294967311`, the prime just above 2³².
    ModPrime,
    /// Classic MinHash with `x ⊕ b`. Its error on small sets is up to 2.5 times the ideal.
    Xor,
    /// Classic MinHash with `(x ⊕ b)·a mod 2³²`, `a` odd: the best of the classic families here.
    XorMultiply,
}

/// The input of [`Params::new`]. The default is a threshold of 0.8, a recall of 0.99, shingles of
/// five words, and the default scheme and seed. [`Params::new`] chooses the rest.
#[derive(Debug, Clone)]
pub struct ParamsBuilder {
    /// The definition of a shingle.
    pub shingle: ShingleRule,
    /// The measure of similarity, to which the threshold applies.
    pub measure: Measure,
    /// Minimum exact similarity of reported pairs; above 0, at most 1.
    pub threshold: f64,
    /// Whether candidates are found without signatures, so that no pair is missed. With
    /// containment, they always are.
    pub exact: bool,
    /// Minimum predicted probability that a pair at the threshold becomes a candidate.
    pub recall: f64,
    /// Values per signature. Chosen if `None`.
    pub num_hashes: Option<usize>,
    /// Bands per signature. Chosen if `None`.
    pub bands: Option<usize>,
    /// Rows per band. Chosen if `None`.
    pub rows: Option<usize>,
    /// The method of computing signatures.
    pub scheme: Scheme,
    /// The seed of the hash functions. A seed always selects the same functions, also in later
    /// versions.
    pub seed: u64,
}

impl Default for ParamsBuilder {
    fn default() -> Self {
        Self {
            shingle: ShingleRule::default(),
            measure: Measure::Jaccard,
            threshold: 0.8,
            exact: false,
            recall: 0.99,
            num_hashes: None,
            bands: None,
            rows: None,
            scheme: Scheme::FastSimilarity,
            seed: DEFAULT_SEED,
        }
    }
}

/// All parameters that decide a result: the same documents and the same `Params` produce the same
/// bytes.
#[derive(Debug, Clone)]
pub struct Params {
    shingle: ShingleRule,
    measure: Measure,
    threshold: f64,
    exact: bool,
    recall: f64,
    num_hashes: usize,
    bands: usize,
    rows: usize,
    scheme: Scheme,
    seed: u64,
}

impl Params {
    /// Checks the builder and chooses missing values, see [`curve::choose`]. Bands and rows given
    /// by hand are used unchanged, whatever their recall. With exact candidates they would have no
    /// effect and are rejected.
    ///
    /// # Errors
    /// A [`ParamsError`] with the invalid value and the valid ones.
    pub fn new(builder: &ParamsBuilder) -> Result<Self, ParamsError> {
        let ParamsBuilder { measure, threshold, recall, num_hashes, scheme, seed, .. } = *builder;
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(ParamsError::Threshold { got: threshold });
        }
        if let Some(got) = num_hashes.filter(|n| !(1..=MAX_NUM_HASHES).contains(n)) {
            return Err(ParamsError::NumHashes { got });
        }
        let exact = builder.exact || measure == Measure::Containment;
        // An exact run finds all pairs, so its recall may be 1.
        if !(recall > 0.0 && (recall < 1.0 || exact && recall <= 1.0)) {
            return Err(ParamsError::Recall { got: recall });
        }
        if exact {
            refuse_banding(builder)?;
        }
        let chosen = curve::choose(threshold, recall, num_hashes, builder.bands, builder.rows);
        let choice = match chosen {
            // Signatures cannot reach low thresholds, but an exact run does not use them.
            Err(ParamsError::Unreachable { .. }) if exact => UNUSED,
            chosen => chosen?,
        };
        Ok(Self {
            shingle: builder.shingle.clone(),
            measure,
            threshold,
            exact,
            recall,
            num_hashes: choice.num_hashes,
            bands: choice.bands,
            rows: choice.rows,
            scheme,
            seed,
        })
    }

    /// The definition of a shingle.
    pub fn shingle(&self) -> &ShingleRule {
        &self.shingle
    }

    /// The measure of similarity, to which the threshold applies.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Minimum exact similarity of a reported pair.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Returns true if every pair at the threshold is certain to be a candidate: on request, or
    /// because the measure is containment. Signatures and bands are not used then.
    pub fn exact(&self) -> bool {
        self.exact
    }

    /// The requested recall.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    /// The probability that a pair exactly at the threshold becomes a candidate; 1 if candidates
    /// are [exact](Self::exact).
    pub fn predicted_recall(&self) -> f64 {
        if self.exact {
            return 1.0;
        }
        curve::candidate_probability(self.threshold, self.bands, self.rows)
    }

    /// The reason why [`predicted_recall`](Self::predicted_recall) may not be reached, if there is
    /// one. The prediction assumes hash functions that treat the shingles of a set independently.
    pub fn recall_caveat(&self) -> Option<RecallCaveat> {
        if self.exact { None } else { RecallCaveat::of(self.scheme) }
    }

    /// Values per signature. Not used if candidates are [exact](Self::exact).
    pub fn num_hashes(&self) -> usize {
        self.num_hashes
    }

    /// Bands per signature. Not used if candidates are [exact](Self::exact).
    pub fn bands(&self) -> usize {
        self.bands
    }

    /// Rows per band. Not used if candidates are [exact](Self::exact).
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The method of computing signatures.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The seed of the hash functions.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

/// The reason why a run may find less than [`Params::predicted_recall`] predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallCaveat {
    /// The values of a signature by [`Scheme::Xor`] depend on each other if sets are small.
    XorScheme,
}

impl RecallCaveat {
    /// The caveat for candidates by signatures of a scheme; `None` if the prediction is correct.
    pub fn of(scheme: Scheme) -> Option<Self> {
        (scheme == Scheme::Xor).then_some(Self::XorScheme)
    }
}

impl fmt::Display for RecallCaveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::XorScheme => f.write_str(
                "the predicted recall does not hold for the scheme xor, which finds fewer pairs \
                 of small shingle sets (measured: 0.90 on sets of four shingles at \
                 similarity 0.6 where 0.994 is predicted); the scheme fss reaches the \
                 prediction",
            ),
        }
    }
}

impl fmt::Display for Params {
    /// Writes all parameters on one line, in a fixed order. Omits those without effect.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shingle)?;
        if self.measure != Measure::Jaccard {
            write!(f, " measure:{}", self.measure)?;
        }
        write!(f, " threshold:{}", self.threshold)?;
        if self.exact {
            return write!(f, " exact");
        }
        write!(
            f,
            " recall:{} scheme:{} num-hashes:{} bands:{} rows:{} seed:{}",
            self.recall, self.scheme, self.num_hashes, self.bands, self.rows, self.seed
        )
    }
}

/// The unused banding of an exact run whose recall no banding reaches.
const UNUSED: curve::Choice = curve::Choice { num_hashes: 128, bands: 21, rows: 6 };

/// Rejects parameters of signatures if candidates are found without signatures.
fn refuse_banding(builder: &ParamsBuilder) -> Result<(), ParamsError> {
    let given = [
        (Parameter::NumHashes, builder.num_hashes),
        (Parameter::Bands, builder.bands),
        (Parameter::Rows, builder.rows),
    ];
    for (parameter, got) in given {
        if let Some(got) = got {
            return Err(ParamsError::NotUsed { parameter, got, measure: builder.measure });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "the values are meant to be exact")]

    use super::*;

    #[test]
    fn containment_and_exact_predict_full_recall() {
        let exact = ParamsBuilder { exact: true, ..ParamsBuilder::default() };
        let contained = ParamsBuilder { measure: Measure::Containment, ..ParamsBuilder::default() };
        for builder in [&exact, &contained] {
            let params = Params::new(builder).unwrap();
            assert!(params.exact());
            assert_eq!(params.predicted_recall(), 1.0);
            // No banding reaches these, and none is needed.
            for threshold in [0.001, 1e-9] {
                let low = ParamsBuilder { threshold, recall: 0.999_999, ..builder.clone() };
                assert!(Params::new(&low).unwrap().exact());
                let banded = ParamsBuilder { exact: false, measure: Measure::Jaccard, ..low };
                assert!(matches!(Params::new(&banded), Err(ParamsError::Unreachable { .. })));
            }
        }
        let usual = Params::new(&ParamsBuilder::default()).unwrap();
        assert!(!usual.exact() && usual.predicted_recall() < 1.0);
        assert_eq!(usual.measure(), Measure::Jaccard);
    }

    #[test]
    fn banding_conflicts_with_exact_candidates() {
        let exact = ParamsBuilder { exact: true, ..ParamsBuilder::default() };
        let contained = ParamsBuilder { measure: Measure::Containment, ..ParamsBuilder::default() };
        for (base, other) in [(exact, "exact"), (contained, "measure containment")] {
            for (option, builder) in [
                ("num_hashes is 64", ParamsBuilder { num_hashes: Some(64), ..base.clone() }),
                ("bands is 20", ParamsBuilder { bands: Some(20), ..base.clone() }),
                ("rows is 5", ParamsBuilder { rows: Some(5), ..base.clone() }),
            ] {
                let error = Params::new(&builder).unwrap_err().to_string();
                assert!(error.contains(option) && error.contains(other), "{error}");
            }
            let builder = ParamsBuilder { threshold: 1.5, ..base };
            assert!(matches!(Params::new(&builder), Err(ParamsError::Threshold { .. })));
        }
    }

    #[test]
    fn display_omits_ineffective_options() {
        let line = |builder: &ParamsBuilder| Params::new(builder).unwrap().to_string();
        let usual = "words:5 threshold:0.8 recall:0.99 scheme:fss num-hashes:128 bands:21 rows:6 \
                     seed:1";
        assert_eq!(line(&ParamsBuilder::default()), usual);
        let exact = ParamsBuilder { exact: true, ..ParamsBuilder::default() };
        assert_eq!(line(&exact), "words:5 threshold:0.8 exact");
        let contained = ParamsBuilder { measure: Measure::Containment, ..ParamsBuilder::default() };
        assert_eq!(line(&contained), "words:5 measure:containment threshold:0.8 exact");
    }

    #[test]
    fn measures_round_trip() {
        for measure in [Measure::Jaccard, Measure::Containment] {
            assert_eq!(measure.to_string().parse(), Ok(measure));
        }
        let error = "cosine".parse::<Measure>().unwrap_err().to_string();
        assert!(error.contains("measure cannot") && error.contains("jaccard or cont"), "{error}");
    }
}
