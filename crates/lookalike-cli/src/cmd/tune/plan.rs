//! Bands and rows: the choice, its curve, and what else could be chosen.

use super::Args;
use super::layout::{duration, heading, rounded, six, write_table};
use super::measured::Measured;
use crate::cmd::Failure;
use crate::difference::thousands;
use crate::plot::Curve;
use lookalike::core::curve::{self, Banding, Choice, Cost};
use lookalike::core::params::{Params, Wishes};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Lengths of signatures whose best banding is shown.
const LENGTHS: [usize; 5] = [64, 128, 192, 256, 512];
/// Bandings shown with fewer and with more rows than the chosen one.
const NEIGHBORS: usize = 3;
/// Columns and lines of the curve.
const CURVE: (usize, usize) = (61, 17);

/// The choice of bands and rows, and the alternatives.
pub(super) struct Plan {
    pub(super) threshold: f64,
    recall: f64,
    cost: Cost,
    /// What `find` takes.
    usual: Choice,
    /// The best for the documents measured; the usual one where there are none.
    pub(super) best: Choice,
    /// Whether documents were measured.
    measured: bool,
    alternatives: Vec<(usize, Banding)>,
}

impl Plan {
    /// Chooses; by the measured documents, where there are any.
    pub(super) fn new(
        args: &Args,
        wishes: &Wishes,
        params: &Params,
        measured: Option<&Measured>,
    ) -> Result<Self, Failure> {
        let (threshold, recall) = (params.threshold(), params.recall());
        let (num_hashes, bands, rows) = (params.num_hashes(), params.bands(), params.rows());
        let usual = Choice { num_hashes, bands, rows };
        // Fewer than two documents have no pair to tell anything by.
        let used = measured
            .and_then(|measured| Some((measured, measured.used()?)))
            .filter(|(_, profile)| profile.similarities.pairs() > 0);
        let mut cost = match used {
            Some((measured, profile)) => profile.similarities.cost(measured.sample.documents),
            None => Cost::default(),
        };
        cost.documents = args.documents.unwrap_or(cost.documents);
        let by_hand = wishes.bands.is_some() || wishes.rows.is_some();
        let best = if used.is_none() || by_hand {
            usual
        } else {
            curve::choose_for(threshold, recall, wishes.num_hashes, &cost)?
        };
        let mut plan = Self {
            threshold,
            recall,
            cost,
            usual,
            best,
            measured: used.is_some(),
            alternatives: Vec::new(),
        };
        plan.find_alternatives();
        Ok(plan)
    }

    /// Other rows for the best length, and the best rows for other lengths.
    fn find_alternatives(&mut self) {
        let (best, usual) = (self.best, self.usual);
        let near = best.rows.saturating_sub(NEIGHBORS)..=best.rows + NEIGHBORS;
        let table = |length| curve::table(self.threshold, self.recall, length, &self.cost);
        let mut found: Vec<(usize, Banding)> = Vec::new();
        found.extend(
            table(best.num_hashes)
                .into_iter()
                .filter(|banding| near.contains(&banding.rows))
                .map(|banding| (best.num_hashes, banding)),
        );
        for length in LENGTHS.into_iter().filter(|length| *length != best.num_hashes) {
            let choice = curve::choose_for(self.threshold, self.recall, Some(length), &self.cost);
            found.extend(choice.ok().map(|choice| (length, self.banding(choice))));
        }
        for choice in [usual, best] {
            found.push((choice.num_hashes, self.banding(choice)));
        }
        found.sort_by_key(|(length, banding)| (*length, banding.rows, banding.bands));
        found.dedup_by_key(|(length, banding)| (*length, banding.rows, banding.bands));
        self.alternatives = found;
    }

    fn banding(&self, choice: Choice) -> Banding {
        let Choice { bands, rows, .. } = choice;
        let recall = curve::candidate_probability(self.threshold, bands, rows);
        Banding {
            bands,
            rows,
            recall,
            reaches: recall >= self.recall,
            steepest: curve::steepest(bands, rows),
            candidates: self.cost.candidates(bands, rows) * self.cost.documents as f64,
            cost_ns: self.cost.per_document_ns(choice),
        }
    }

    /// The curve of a choice.
    pub(super) fn curve(&self, choice: Choice) -> Curve {
        Curve { bands: choice.bands, rows: choice.rows, threshold: self.threshold }
    }

    /// Writes the choice, its curve and what else could be chosen.
    pub(super) fn write(&self, out: &mut impl Write, args: &Args) -> io::Result<()> {
        let Self { threshold, recall, best, usual, .. } = self;
        let chosen = self.banding(*best);
        heading(out, "Bands and rows", &format!("threshold {threshold}, recall {recall}"))?;
        let flags =
            format!("--num-hashes {} --bands {} --rows {}", best.num_hashes, best.bands, best.rows);
        if best == usual {
            let who = if self.measured { "Best for these documents, and what" } else { "What" };
            writeln!(out, "{who} `find` takes without being told: {flags}")?;
        } else {
            writeln!(out, "Best for these documents: {flags}")?;
            let time = |choice: Choice| {
                duration(self.cost.per_document_ns(choice) * self.cost.documents as f64)
            };
            writeln!(
                out,
                "That takes {} of CPU time beside reading. Without these flags `find` takes {} \
                 hashes, {} bands × {} rows and {}.",
                time(*best),
                usual.num_hashes,
                usual.bands,
                usual.rows,
                time(*usual)
            )?;
        }
        writeln!(
            out,
            "A pair at the threshold is found with probability {:.4}. The curve is steepest at \
             {:.3}; (1/b)^(1/r) is {:.3}.",
            chosen.recall,
            chosen.steepest,
            curve::midpoint(best.bands, best.rows)
        )?;
        if !chosen.reaches {
            writeln!(out, "That is less than the recall of {recall} asked for.")?;
        }
        writeln!(out)?;
        heading(out, "S-curve", "probability of being a candidate, by Jaccard similarity")?;
        write!(out, "{}", self.curve(*best).terminal(CURVE.0, CURVE.1, args.ascii))?;
        let like =
            if self.measured { "like those drawn" } else { "alike as newswire articles are" };
        let scale = format!("{} documents {like}", thousands(self.cost.documents));
        writeln!(out)?;
        heading(out, "Alternatives", &scale)?;
        self.write_alternatives(out, args.ascii)
    }

    fn write_alternatives(&self, out: &mut impl Write, ascii: bool) -> io::Result<()> {
        let at_threshold = format!("at {}", self.threshold);
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
        let place = |choice: Choice| {
            self.alternatives.iter().position(|(length, banding)| {
                let Choice { num_hashes, bands, rows } = choice;
                (*length, banding.bands, banding.rows) == (num_hashes, bands, rows)
            })
        };
        let (best, usual) = (place(self.best), place(self.usual));
        for (at, (length, banding)) in self.alternatives.iter().enumerate() {
            let note = match (Some(at) == best, Some(at) == usual) {
                (true, true) => "chosen",
                (true, false) => "best here",
                (false, true) => "what find takes",
                _ if !banding.reaches => "misses the recall",
                _ if *length < self.cost.least_num_hashes => "estimates are rough",
                _ => "",
            };
            let per_million = Cost { documents: 1_000_000, ..self.cost.clone() };
            let million = per_million.candidates(banding.bands, banding.rows) * 1e6;
            lines.push(vec![
                length.to_string(),
                format!("{} {product} {}", banding.bands, banding.rows),
                format!("{:.4}", banding.recall),
                format!("{:.3}", banding.steepest),
                format!("{:.3}", curve::midpoint(banding.bands, banding.rows)),
                rounded(banding.candidates),
                rounded(million),
                duration(banding.cost_ns * self.cost.documents as f64),
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

    /// The same for a program.
    pub(super) fn json(&self, measured: Option<&Measured>) -> Value {
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
                "cpu_seconds": six(banding.cost_ns * self.cost.documents as f64 / 1e9),
            })
        };
        let choice = |choice: Choice| banding(choice.num_hashes, &self.banding(choice));
        let curve: Vec<(f64, f64)> = (0..=100)
            .map(|at| f64::from(at) / 100.0)
            .map(|s| (s, curve::candidate_probability(s, self.best.bands, self.best.rows)))
            .collect();
        let alternatives: Vec<Value> =
            self.alternatives.iter().map(|(length, found)| banding(*length, found)).collect();
        json!({
            "threshold": self.threshold,
            "recall": self.recall,
            "documents": self.cost.documents,
            "choice": choice(self.best),
            "find_takes": choice(self.usual),
            "alternatives": alternatives,
            "curve": curve,
            "measured": measured.map(|measured| measured.json(self.threshold)),
        })
    }
}
