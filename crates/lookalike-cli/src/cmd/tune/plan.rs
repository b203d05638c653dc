//! Bands and rows: the choice, its curve, and the alternatives.

use super::args::TuneArgs;
use super::layout::{duration, heading, rounded, six, write_table};
use super::sample_advice::SampleAdvice;
use crate::output::plot::CurvePlot;
use lookalike::core::curve::{self, Banding, Choice, Cost};
use lookalike::report::phrases::count;
use lookalike::tune::BandPlan as Chosen;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Lengths of signatures whose best banding is shown.
const LENGTHS: [usize; 5] = [64, 128, 192, 256, 512];
/// Bandings shown with fewer and with more rows than the chosen one.
const NEIGHBORS: usize = 3;
/// Columns and lines of the curve.
const CURVE: (usize, usize) = (61, 17);

/// The choice of bands and rows, and the alternatives.
pub(super) struct PlanOutput {
    chosen: Chosen,
    alternatives: Vec<(usize, Banding)>,
}

impl PlanOutput {
    /// Adds the alternatives to a choice.
    pub(super) fn new(chosen: Chosen) -> Self {
        let alternatives = alternatives(&chosen);
        Self { chosen, alternatives }
    }

    /// Returns the curve of the choice.
    pub(super) fn curve(&self) -> CurvePlot {
        let Chosen { best, threshold, recall_caveat: caveat, .. } = self.chosen;
        CurvePlot { bands: best.bands, rows: best.rows, threshold, caveat }
    }

    /// Writes the choice, its curve and the alternatives.
    pub(super) fn write(&self, out: &mut impl Write, args: &TuneArgs) -> io::Result<()> {
        let Chosen { threshold, recall, cost, best, usual, measured, recall_caveat } = &self.chosen;
        let banding = self.chosen.banding(*best);
        heading(out, "Bands and rows", &format!("threshold {threshold}, recall {recall}"))?;
        let flags =
            format!("--num-hashes {} --bands {} --rows {}", best.num_hashes, best.bands, best.rows);
        if best == usual {
            let subject = if *measured { "Best for these documents, and what" } else { "What" };
            writeln!(out, "{subject} `find` takes by default: {flags}")?;
        } else {
            writeln!(out, "Best for these documents: {flags}")?;
            let time = |choice| duration(cost.per_document_ns(choice) * cost.documents as f64);
            writeln!(
                out,
                "That takes {} of CPU time in addition to reading. Without these flags `find` \
                 takes {} hashes, {} bands × {} rows and {}.",
                time(*best),
                usual.num_hashes,
                usual.bands,
                usual.rows,
                time(*usual)
            )?;
        }
        if recall_caveat.is_none() {
            write!(
                out,
                "A pair at the threshold is found with probability {:.4}. ",
                banding.recall
            )?;
        }
        writeln!(
            out,
            "The curve is steepest at {:.3}; (1/b)^(1/r) is {:.3}.",
            banding.steepest,
            curve::midpoint(best.bands, best.rows)
        )?;
        if let Some(caveat) = recall_caveat {
            writeln!(out, "warning: {caveat}")?;
        } else if !banding.reaches {
            writeln!(out, "That is less than the requested recall of {recall}.")?;
        }
        writeln!(out)?;
        heading(out, "S-curve", "probability of being a candidate, by Jaccard similarity")?;
        write!(out, "{}", self.curve().terminal(CURVE.0, CURVE.1, args.ascii))?;
        let like = if *measured { "like those drawn" } else { "alike as newswire articles are" };
        let scale = format!("{} {like}", count(cost.documents, "document"));
        writeln!(out)?;
        heading(out, "Alternatives", &scale)?;
        self.write_alternatives(out, args.ascii)
    }

    fn write_alternatives(&self, out: &mut impl Write, ascii: bool) -> io::Result<()> {
        let Chosen { threshold, cost, best, usual, .. } = &self.chosen;
        let at_threshold = format!("at {threshold}");
        let product = if ascii { "x" } else { "×" };
        let header = [
            ["", "", "found", "", "", "", "candidates per", "CPU", ""],
            [
                "hashes",
                "bands, rows",
                &at_threshold,
                "steepest",
                "midpoint",
                "candidates",
                "million documents",
                "time",
                "",
            ],
        ];
        let mut lines: Vec<Vec<String>> =
            header.iter().map(|row| row.iter().map(|&text| text.to_owned()).collect()).collect();
        let place = |choice: &Choice| {
            self.alternatives.iter().position(|(length, banding)| {
                (*length, banding.bands, banding.rows)
                    == (choice.num_hashes, choice.bands, choice.rows)
            })
        };
        let best = place(best);
        let usual = place(usual);
        for (at, (length, banding)) in self.alternatives.iter().enumerate() {
            let note = match (Some(at) == best, Some(at) == usual) {
                (true, true) => "chosen",
                (true, false) => "best here",
                (false, true) => "what find takes",
                _ if !banding.reaches => "misses the recall",
                _ if *length < cost.least_num_hashes => "estimates are rough",
                _ => "",
            };
            let per_million = Cost { documents: 1_000_000, ..cost.clone() };
            let million = per_million.candidates(banding.bands, banding.rows) * 1e6;
            lines.push(vec![
                length.to_string(),
                format!("{} {product} {}", banding.bands, banding.rows),
                format!("{:.4}", banding.recall),
                format!("{:.3}", banding.steepest),
                format!("{:.3}", curve::midpoint(banding.bands, banding.rows)),
                rounded(banding.candidates),
                rounded(million),
                duration(banding.cost_ns * cost.documents as f64),
                note.to_owned(),
            ]);
        }
        write_table(out, &lines, [2, 0], |line| Some(line) == best.map(|best| best + 2))?;
        writeln!(
            out,
            "\nCandidates are verified exactly, so false ones cost time and nothing else. CPU \
             time: to sign, group and\nverify on one core, without reading."
        )
    }

    /// Returns the choice, its curve, the alternatives and the measurements as JSON.
    pub(super) fn json(&self, measured: Option<&SampleAdvice>) -> Value {
        let chosen = &self.chosen;
        let banding = |length: usize, banding: &Banding| {
            json!({
                "num_hashes": length,
                "bands": banding.bands,
                "rows": banding.rows,
                "recall_at_threshold": banding.recall,
                "reaches_recall": banding.reaches,
                "steepest": six(banding.steepest),
                "midpoint": six(curve::midpoint(banding.bands, banding.rows)),
                "candidates": banding.candidates.round(),
                "cpu_seconds": six(banding.cost_ns * chosen.cost.documents as f64 / 1e9),
            })
        };
        let choice = |choice: Choice| banding(choice.num_hashes, &chosen.banding(choice));
        let curve: Vec<(f64, f64)> = (0..=100)
            .map(|at| f64::from(at) / 100.0)
            .map(|s| (s, curve::candidate_probability(s, chosen.best.bands, chosen.best.rows)))
            .collect();
        let alternatives: Vec<Value> =
            self.alternatives.iter().map(|(length, found)| banding(*length, found)).collect();
        let mut all = json!({
            "threshold": chosen.threshold,
            "recall": chosen.recall,
            "documents": chosen.cost.documents,
            "choice": choice(chosen.best),
            "find_takes": choice(chosen.usual),
            "alternatives": alternatives,
            "curve": curve,
            "measured": measured.map(|measured| measured.json(chosen.threshold)),
        });
        if let Some(caveat) = chosen.recall_caveat {
            all["recall_caveat"] = json!(caveat.to_string());
        }
        all
    }
}

/// Other rows for the best length, and the best rows for other lengths.
fn alternatives(chosen: &Chosen) -> Vec<(usize, Banding)> {
    let Chosen { threshold, recall, cost, best, usual, .. } = chosen;
    let near = best.rows.saturating_sub(NEIGHBORS)..=best.rows + NEIGHBORS;
    let mut found: Vec<(usize, Banding)> = Vec::new();
    found.extend(
        curve::table(*threshold, *recall, best.num_hashes, cost)
            .into_iter()
            .filter(|banding| near.contains(&banding.rows))
            .map(|banding| (best.num_hashes, banding)),
    );
    for length in LENGTHS.into_iter().filter(|length| *length != best.num_hashes) {
        let choice = curve::choose_for(*threshold, *recall, Some(length), cost);
        found.extend(choice.ok().map(|choice| (length, chosen.banding(choice))));
    }
    for choice in [*usual, *best] {
        found.push((choice.num_hashes, chosen.banding(choice)));
    }
    found.sort_by_key(|(length, banding)| (*length, banding.rows, banding.bands));
    found.dedup_by_key(|(length, banding)| (*length, banding.rows, banding.bands));
    found
}
