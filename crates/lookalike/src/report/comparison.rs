//! Reports the similarity of two texts, in sentences and as JSON.

use super::phrases::{count, one_line, thousands};
use crate::difference::{DifferencePart, Differences, Places};
use crate::pair_similarity::PairSimilarity;
use lookalike_core::params::{Measure, Params};
use lookalike_core::verify::Overlap;
use serde_json::{Value, json};

/// A report about two texts, A and B.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonReport<'a> {
    /// The similarity of the texts.
    pub similarity: &'a PairSimilarity,
    /// The names of the texts.
    pub names: &'a [String; 2],
    /// The parameters of the comparison.
    pub params: &'a Params,
}

impl ComparisonReport<'_> {
    /// Returns one sentence that states whether the texts are similar.
    pub fn verdict(&self) -> String {
        let measure = self.params.measure();
        let threshold = self.params.threshold();
        let exact = match measure {
            Measure::Jaccard => self.similarity.overlap.six_decimals(),
            Measure::Containment => {
                format!("containment {}", self.similarity.overlap.six_decimals_of(measure))
            }
        };
        if self.similarity.similar {
            format!("Similar: {exact} reaches the threshold of {threshold}.")
        } else {
            format!("Not similar: {exact} is below the threshold of {threshold}.")
        }
    }

    /// Returns an explanation of the figures, if they alone would mislead.
    pub fn remark(&self) -> Option<String> {
        let Self { names, params, .. } = self;
        let Overlap { intersection, left, right } = self.similarity.overlap;
        let rule = params.shingle();
        if left == 0 || right == 0 {
            let who = match (left, right) {
                (0, 0) => "Both texts have".to_owned(),
                (0, _) => format!("{} has", one_line(&names[0])),
                _ => format!("{} has", one_line(&names[1])),
            };
            return Some(format!("{who} no token; an empty document resembles nothing."));
        }
        if self.similarity.same_text {
            return Some("The texts are equal.".to_owned());
        }
        if intersection == left && left == right {
            return Some(
                "Both have the same shingles; the texts differ in what these leave out.".into(),
            );
        }
        let similar = self.similarity.similar;
        let missed = self.similarity.estimate.is_some_and(|estimate| estimate.bands_shared == 0);
        if similar && missed {
            return Some("They share no band, so `find` with these parameters misses them.".into());
        }
        if !similar && intersection == left.min(right) {
            let (a, b) = if left <= right { ("A", "B") } else { ("B", "A") };
            return Some(format!("All of {a} is in {b}, which has more text."));
        }
        if !similar && intersection as f64 >= 0.9 * left.min(right) as f64 {
            let (a, b) = if left <= right { ("A", "B") } else { ("B", "A") };
            return Some(format!("Nearly all of {a} is in {b}, which has more text."));
        }
        let size = rule.size();
        (!similar && size > 1 && left.min(right) < SHORT).then(|| {
            format!(
                "These texts are short, and one changed token changes up to {size} shingles; \
                 a shorter --shingle is milder."
            )
        })
    }

    /// The standard error of the estimate.
    pub fn standard_error(&self) -> f64 {
        standard_error(self.similarity.overlap.jaccard(), self.params.num_hashes())
    }

    /// Returns all figures, with the differences if given, as specified in
    /// `docs/reference/report.md`.
    pub fn json(&self, differences: Option<&Differences>) -> Value {
        let Self { names, params, .. } = self;
        let overlap = &self.similarity.overlap;
        let six = |value: f64| (value * 1e6).round() / 1e6;
        let number = overlap.rounded(Measure::Jaccard);
        let mut value = json!({
            "a": names[0],
            "b": names[1],
            "shingle": params.shingle().to_string(),
            "jaccard": number,
            "shared": overlap.intersection,
            "union": overlap.union(),
            "shingles_a": overlap.left,
            "shingles_b": overlap.right,
            "containment_a": six(overlap.containment_left()),
            "containment_b": six(overlap.containment_right()),
            "measure": params.measure().to_string(),
            "threshold": params.threshold(),
            "similar": self.similarity.similar,
            "equal_texts": self.similarity.same_text,
            "num_hashes": params.num_hashes(),
            "bands": params.bands(),
            "rows": params.rows(),
            "estimate": Value::Null,
        });
        if let Some(estimate) = self.similarity.estimate {
            value["estimate"] = json!({
                "jaccard": six(estimate.jaccard),
                "standard_error": six(self.standard_error()),
                "bands_shared": estimate.bands_shared,
            });
        }
        if let Some(found) = differences {
            let place = |part: &DifferencePart, [a, b]: [&str; 2]| {
                json!({
                    "word_a": found.a.word_from(part.a.start),
                    "word_b": found.b.word_from(part.b.start),
                    "a": a,
                    "b": b,
                })
            };
            let change = |part| place(part, found.texts(part).map(str::trim));
            let variation = |part| place(part, found.texts(part));
            let [shared, only_a, only_b] = found.counts;
            value["words"] = json!({ "shared": shared, "only_a": only_a, "only_b": only_b });
            value["differences"] = found.changes().map(change).collect();
            value["same_words_differences"] = found.variations().map(variation).collect();
            value["difference_counts"] = json!(found.places);
            value["differences_cut_short"] = found.cut_short.into();
        }
        value
    }
}

/// Returns `4 places with the same words written differently (case 3, punctuation 2)`, or `None`
/// without such places.
pub fn same_words(places: &Places) -> Option<String> {
    let Places { same_words, case, punctuation, white_space, .. } = *places;
    let kinds = [(case, "case"), (punctuation, "punctuation"), (white_space, "white space")];
    let kinds = kinds.iter().filter(|kind| kind.0 > 0);
    let kinds: Vec<_> =
        kinds.map(|(count, kind)| format!("{kind} {}", thousands(*count as u64))).collect();
    (same_words > 0).then(|| {
        let place = count(same_words as u64, "place");
        format!("{place} with the same words written differently ({})", kinds.join(", "))
    })
}

/// A text with fewer shingles is short. If it has 40 shingles of five words, one changed word
/// reduces the similarity to 0.78.
const SHORT: u64 = 40;

/// √(J(1 − J)/k), the standard error of an estimate from k independent values.
fn standard_error(jaccard: f64, num_hashes: usize) -> f64 {
    (jaccard * (1.0 - jaccard) / num_hashes.max(1) as f64).sqrt()
}

/// A share in percent, rounded to one decimal. Only the whole is 100.0 %.
pub fn percent(part: u64, whole: u64) -> String {
    let part = u128::from(part);
    let whole = u128::from(whole.max(1));
    let tenths = (part * 2000 + whole) / (2 * whole);
    let tenths = if part < whole { tenths.min(999) } else { tenths };
    format!("{}.{} %", tenths / 10, tenths % 10)
}
