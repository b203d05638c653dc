//! Draws figures as SVG pictures inside the page, each with a text for screen readers.
//!
//! The style sheet of the page sets the colours, so the pictures follow its light or dark mode.
//!
//! The crate `plotters` is not used. Its SVG has fixed colours and neither `title` nor `desc`, so
//! each picture would have to be rewritten.

use super::number::{ExactSimilarity, Plural, Probability, Thousandths};
use crate::audit::{Audit, SimilarityRange};
use lookalike_core::curve::candidate_probability;
use lookalike_core::params::Params;
use std::fmt::{self, Display, Formatter, Write};

/// A bar for a share, 0 to 1, next to a figure with the same value.
pub(super) struct ShareBar(pub(super) f64);

impl Display for ShareBar {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let width = self.0.clamp(0.0, 1.0) * 100.0;
        write!(
            f,
            "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" \
             aria-hidden=\"true\"><rect width=\"100\" height=\"8\" class=\"rest\"/>\
             <rect width=\"{width:.2}\" height=\"8\"/></svg>"
        )
    }
}

/// The probability that a pair is found, by similarity, with the measurements of an audit.
pub(super) struct RecallCurve<'a> {
    /// Parameters with bands, rows and the threshold.
    pub(super) params: &'a Params,
    /// The measured points with their intervals.
    pub(super) audit: Option<&'a Audit>,
}

/// The area of the curve in its picture.
const LEFT: f64 = 50.0;
const RIGHT: f64 = 468.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 266.0;

fn x(similarity: f64) -> f64 {
    LEFT + similarity.clamp(0.0, 1.0) * (RIGHT - LEFT)
}

fn y(probability: f64) -> f64 {
    BOTTOM - probability.clamp(0.0, 1.0) * (BOTTOM - TOP)
}

impl RecallCurve<'_> {
    pub(super) fn at(&self, similarity: f64) -> f64 {
        candidate_probability(similarity, self.params.bands(), self.params.rows())
    }

    fn axes(f: &mut Formatter<'_>) -> fmt::Result {
        for fifth in 0..=5 {
            let value = f64::from(fifth) / 5.0;
            let at_x = x(value);
            let at_y = y(value);
            writeln!(
                f,
                "<path class=\"grid\" d=\"M{at_x:.1} {BOTTOM}V{TOP}M{LEFT} {at_y:.1}H{RIGHT}\"/>\
                 <text x=\"{at_x:.1}\" y=\"{}\" text-anchor=\"middle\">{value:.1}</text>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}\u{a0}%</text>",
                BOTTOM + 19.0,
                LEFT - 7.0,
                at_y + 4.0,
                fifth * 20
            )?;
        }
        writeln!(
            f,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">Jaccard similarity of the pair\
             </text>",
            f64::midpoint(LEFT, RIGHT),
            BOTTOM + 40.0
        )
    }

    fn measured(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for SimilarityRange { from, to, figures } in self.audit.iter().flat_map(|a| &a.ranges) {
            let Some(recall) = figures.recall else { continue };
            let at = x(f64::midpoint(*from, *to));
            let low = y(figures.interval.low);
            let high = y(figures.interval.high);
            writeln!(
                f,
                "<path class=\"interval\" d=\"M{at:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h8M{:.1} \
                 {high:.1}h8\"/><circle class=\"measured\" cx=\"{at:.1}\" cy=\"{:.1}\" r=\"4\"/>",
                at - 4.0,
                at - 4.0,
                y(recall)
            )?;
        }
        Ok(())
    }
}

impl Display for RecallCurve<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let threshold = self.params.threshold();
        let recall = self.at(threshold);
        let at_x = x(threshold);
        let at_y = y(recall);
        write!(
            f,
            "<svg class=\"chart\" viewBox=\"0 0 484 312\" role=\"img\" \
             aria-labelledby=\"curve-title curve-text\">\
             <title id=\"curve-title\">How probable it is that a similar pair is found</title>\
             <desc id=\"curve-text\">A curve in the shape of an S, from 0 % for pairs without \
             anything in common to 100 % for equal ones. At the threshold of {threshold} it is at \
             {}.</desc>\n<rect class=\"reported\" x=\"{at_x:.1}\" y=\"{TOP}\" width=\"{:.1}\" \
             height=\"{}\"/>\n",
            Probability(recall),
            RIGHT - at_x,
            BOTTOM - TOP
        )?;
        Self::axes(f)?;
        let mut points = String::new();
        for step in 0..=200 {
            let similarity = f64::from(step) / 200.0;
            let space = if step == 0 { "" } else { " " };
            write!(points, "{space}{:.1},{:.1}", x(similarity), y(self.at(similarity)))?;
        }
        let (anchor, shift) = if threshold > 0.5 { ("end", -6.0) } else { ("start", 6.0) };
        write!(
            f,
            "<path class=\"threshold\" d=\"M{at_x:.1} {}V{BOTTOM}\"/>\n\
             <polyline class=\"curve\" points=\"{points}\"/>\n\
             <circle class=\"mark\" cx=\"{at_x:.1}\" cy=\"{at_y:.1}\" r=\"5\"/>\n\
             <text class=\"label\" x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">threshold \
             {threshold}: {}</text>\n",
            TOP - 14.0,
            at_x + shift,
            TOP - 10.0,
            Probability(recall)
        )?;
        self.measured(f)?;
        f.write_str("</svg>")
    }
}

/// The number of duplicates by similarity with their keeper, in hundredths. Similarity 1 is counted
/// separately.
#[derive(Debug, Clone)]
pub(super) struct SimilarityHistogram {
    hundredths: [u64; 100],
    /// Duplicates of similarity 1.
    pub(super) equal: u64,
}

impl Default for SimilarityHistogram {
    fn default() -> Self {
        Self { hundredths: [0; 100], equal: 0 }
    }
}

impl SimilarityHistogram {
    /// Counts a duplicate by its similarity in millionths.
    pub(super) fn add(&mut self, similarity: u32) {
        match self.hundredths.get_mut(similarity as usize / 10_000) {
            Some(count) => *count += 1,
            None => self.equal += 1,
        }
    }

    /// The number of duplicates with a similarity below 1.
    pub(super) fn unequal(&self) -> u64 {
        self.hundredths.iter().sum()
    }

    /// Returns the steps from the first one that is not empty: both bounds in hundredths, and the
    /// count. A step is 0.01 wide, or 0.05 if a similarity is below 0.5.
    pub(super) fn steps(&self) -> Vec<(usize, usize, u64)> {
        let Some(first) = self.hundredths.iter().position(|count| *count > 0) else {
            return Vec::new();
        };
        let step = if first < 50 { 5 } else { 1 };
        let first = first / step * step;
        let chunks = self.hundredths.iter().skip(first).collect::<Vec<_>>();
        let counted = chunks.chunks(step).enumerate().map(|(at, counts)| {
            let from = first + at * step;
            (from, from + step, counts.iter().copied().sum())
        });
        counted.collect()
    }
}

impl Display for SimilarityHistogram {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let steps = self.steps();
        let most = steps.iter().map(|step| step.2).max().unwrap_or(0).max(1);
        let width = (RIGHT - LEFT) / steps.len().max(1) as f64;
        writeln!(
            f,
            "<svg class=\"chart\" viewBox=\"0 0 484 312\" role=\"img\" \
             aria-labelledby=\"spread-title\">\
             <title id=\"spread-title\">Duplicates by similarity with the kept document; the table \
             has the figures</title>"
        )?;
        for quarter in 0..=4u64 {
            let at = y(quarter as f64 / 4.0);
            write!(f, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/>")?;
            if quarter == 4 {
                let count = short(most);
                let left = LEFT - 7.0;
                let up = at + 4.0;
                write!(f, "<text x=\"{left}\" y=\"{up:.1}\" text-anchor=\"end\">{count}</text>")?;
            }
        }
        let every = steps.len().div_ceil(5).max(1);
        for (at, (from, to, count)) in steps.iter().enumerate() {
            let left = LEFT + at as f64 * width;
            let height = (BOTTOM - TOP) * (*count as f64 / most as f64);
            // Make small counts visible.
            let height = if *count > 0 { height.max(1.5) } else { 0.0 };
            writeln!(
                f,
                "<rect class=\"column\" x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" \
                 height=\"{height:.2}\"><title>{} to {}: {}</title></rect>",
                left + width * 0.08,
                BOTTOM - height,
                width * 0.84,
                Hundredths(*from),
                Hundredths(*to),
                Plural(*count, "duplicate")
            )?;
            if at % every == 0 {
                writeln!(
                    f,
                    "<text x=\"{left:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                    BOTTOM + 19.0,
                    Hundredths(*from)
                )?;
            }
        }
        write!(
            f,
            "<text x=\"{RIGHT}\" y=\"{}\" text-anchor=\"middle\">1</text>\
             <path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/></svg>",
            BOTTOM + 19.0
        )
    }
}

/// A similarity in hundredths.
pub(super) struct Hundredths(pub(super) usize);

impl Display for Hundredths {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// A count in few characters, for an axis.
fn short(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{}k", count / 1000),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// The number of groups by number of documents: 2, 3, 4, then powers of two.
#[derive(Debug, Clone)]
pub(super) struct SizeHistogram {
    /// The first three counts are for the sizes 2, 3 and 4. Each further count is for the sizes up
    /// to the next power of two.
    counts: [u64; 66],
}

impl Default for SizeHistogram {
    fn default() -> Self {
        Self { counts: [0; 66] }
    }
}

impl SizeHistogram {
    /// Counts a group of this many documents, at least 2.
    pub(super) fn add(&mut self, documents: u64) {
        let at = match documents {
            0..=2 => 0,
            3 => 1,
            4 => 2,
            // 5 to 8 is the fourth step, 9 to 16 the fifth.
            more => (more - 1).ilog2() as usize + 1,
        };
        if let Some(count) = self.counts.get_mut(at) {
            *count += 1;
        }
    }

    /// Returns the bounds of sizes and the number of groups, up to the last step that is not empty.
    pub(super) fn steps(&self) -> Vec<(u64, u64, u64)> {
        let used = self.counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        let bounds = |at: usize| match at {
            0..=2 => (at as u64 + 2, at as u64 + 2),
            _ => ((1u64 << (at - 1)) + 1, 1u64.checked_shl(at as u32).unwrap_or(u64::MAX)),
        };
        let counted = self.counts.iter().take(used).enumerate();
        counted.map(|(at, count)| (bounds(at).0, bounds(at).1, *count)).collect()
    }
}

/// The least and the highest similarity of a group, as a text.
pub(super) struct SimilaritySpan(pub(super) u32, pub(super) u32);

impl Display for SimilaritySpan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let least_most = [self.0, self.1].map(ExactSimilarity);
        let [least, most] = [self.0, self.1].map(|millionths| Thousandths(millionths).to_string());
        write!(f, "<data value=\"{}\" title=\"", least_most[0])?;
        if self.0 == self.1 {
            write!(f, "{}\">", least_most[0])?;
        } else {
            write!(f, "{} to {}\">", least_most[0], least_most[1])?;
        }
        if least == most {
            write!(f, "{least}</data>")
        } else {
            write!(f, "{least} to {most}</data>")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Figures, Interval, JudgedBy};
    use lookalike_core::params::ParamsBuilder;
    use proptest::prelude::*;

    fn audit() -> Audit {
        let overall = Figures {
            documents: 50,
            found: 49,
            recall: Some(0.98),
            interval: Interval { low: 0.9, high: 0.999 },
            pairs: 50,
            pair_recall: None,
            pair_interval: None,
        };
        let judged_by = JudgedBy::Pairs;
        let ranges = vec![SimilarityRange { from: 0.8, to: 0.9, figures: overall }];
        let confidence = 0.95;
        let seed = 1;
        let population = 99;
        let sampled = 60;
        Audit { judged_by, confidence, seed, population, sampled, overall, ranges }
    }

    #[test]
    fn the_curve_names_threshold_and_probability() {
        let audit = audit();
        for threshold in [0.01, 0.8, 1.0] {
            let bands = Some(21);
            let rows = Some(6);
            let builder = ParamsBuilder { threshold, bands, rows, ..ParamsBuilder::default() };
            let params = Params::new(&builder).unwrap();
            let svg = RecallCurve { params: &params, audit: Some(&audit) }.to_string();
            assert!(svg.contains(&format!("threshold {threshold}: ")), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            assert_eq!(svg.matches("class=\"measured\"").count(), 1);
        }
    }

    #[test]
    fn similarities_are_counted_in_steps() {
        let mut found = SimilarityHistogram::default();
        for similarity in [1_000_000, 999_999, 990_000, 989_999, 800_000] {
            found.add(similarity);
        }
        assert_eq!((found.equal, found.unequal()), (1, 4));
        let steps = found.steps();
        assert_eq!(
            (steps.len(), steps[0], steps[18], steps[19]),
            (20, (80, 81, 1), (98, 99, 1), (99, 100, 2))
        );
        found.add(0);
        assert_eq!((found.steps().len(), found.steps()[0]), (20, (0, 5, 1)));
        assert!(SimilarityHistogram::default().steps().is_empty());
        assert!(!SimilarityHistogram::default().to_string().contains("NaN"));
    }

    proptest! {
        #[test]
        fn every_group_lies_in_its_step(
            size in 2u64..,
            other_sizes in prop::collection::vec(2u64..99, 0..9),
        ) {
            let mut sizes = SizeHistogram::default();
            sizes.add(size);
            for size in &other_sizes {
                sizes.add(*size);
            }
            let steps = sizes.steps();
            prop_assert_eq!(
                steps.iter().map(|step| step.2).sum::<u64>(),
                other_sizes.len() as u64 + 1
            );
            let step = steps.iter().find(|(from, to, _)| (*from..=*to).contains(&size));
            prop_assert!(step.is_some_and(|step| step.2 > 0), "{size} {steps:?}");
        }
    }
}
