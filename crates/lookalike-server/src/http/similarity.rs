//! Similarities and probabilities in responses, with six decimals.

use lookalike::store::query::MatchSimilarity;

/// A value with six decimals.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// A similarity as in reports: only equal sets give 1.
pub(crate) fn six_decimals(similarity: &MatchSimilarity) -> f64 {
    similarity.six_decimals().parse().unwrap_or_else(|_| rounded(similarity.value()))
}
