//! `lookalike tune`: which bands and rows a threshold and a recall come to, what else could be had,
//! and, given documents, which shingles suit them.

use super::{Failure, Outcome};
use crate::difference::{plural, thousands};
use crate::options::{ParameterArgs, ReadArgs, ShingleArgs};
use crate::plot::Curve;
use anstyle::{AnsiColor, Style};
use lookalike::core::curve::{self, Banding, Choice, Cost};
use lookalike::core::params::{Params, ShingleRule, Unit, Wishes};
use lookalike::error::Error;
use lookalike::read::{Collection, Skipped};
use lookalike::tune::{self, Advice, Profile, RELATED_WORDS, Reason, SAMPLE_DOCUMENTS, Sample};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLE: &str = "\
Examples:
  lookalike tune --threshold 0.7 --recall 0.95      what `find` would choose, and what else there is
  lookalike tune corpus.jsonl --svg curve.svg       the same for these documents, and which shingles
                                                    suit them";

/// Lengths of signatures whose best banding is shown.
const LENGTHS: [usize; 5] = [64, 128, 192, 256, 512];
/// Bandings shown with fewer and with more rows than the chosen one.
const NEIGHBORS: usize = 3;
/// Columns and lines of the curve.
const CURVE: (usize, usize) = (61, 17);

/// Choose bands, rows and shingles: predicted recall and cost, the S-curve, advice from a sample
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// Documents to measure, as for `find`; without any, the cost is that of newswire articles
    inputs: Vec<PathBuf>,

    /// Documents to draw from the input
    #[arg(long, value_name = "N", default_value_t = SAMPLE_DOCUMENTS as u64)]
    #[arg(value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    sample: u64,

    /// Documents of the collection to plan for [default: those of the input, or a million]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    documents: Option<u64>,

    /// Shingles to measure, such as words:3,words:5,chars:9 [default: ten usual ones]
    #[arg(long = "try", value_name = "UNIT:N", value_delimiter = ',')]
    tried: Vec<ShingleRule>,

    /// Write the S-curve as a picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Draw with ASCII characters only
    #[arg(long)]
    ascii: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    parameters: ParameterArgs,

    #[command(flatten)]
    shingle: ShingleArgs,

    #[command(flatten)]
    reading: ReadArgs,
}

/// Measures, chooses and prints.
pub(crate) fn run(args: &Args) -> Outcome {
    let wishes = args.parameters.wishes(args.shingle.rule()?);
    let params = Params::new(&wishes)?;
    let measured = if args.inputs.is_empty() { None } else { Some(Measured::of(args, &wishes)?) };
    let plan = Plan::new(args, &wishes, &params, measured.as_ref())?;
    if let Some(path) = &args.svg {
        let failed = |source| Error::Write { path: path.clone(), source };
        fs::write(path, plan.curve(plan.best).svg()).map_err(failed)?;
    }
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    if args.json {
        writeln!(out, "{:#}", plan.json(measured.as_ref()))?;
    } else {
        if let Some(measured) = &measured {
            measured.write(&mut out, plan.threshold)?;
        }
        plan.write(&mut out, args)?;
        if let Some(path) = &args.svg {
            writeln!(out, "\nThe curve is in {}.", path.display())?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// What a sample of the input says.
struct Measured {
    sample: Sample,
    profiles: Vec<Profile>,
    current: usize,
    advice: Option<Advice>,
}

impl Measured {
    fn of(args: &Args, wishes: &Wishes) -> Result<Self, Failure> {
        let collection = Collection::open(&args.inputs, &args.reading.options())?;
        let sample = tune::sample(&collection, args.sample as usize, wishes.seed)?;
        let rule = &wishes.shingle;
        let rules = if args.tried.is_empty() {
            tune::usual_rules(rule)
        } else {
            let mut lengths: Vec<(Unit, usize)> =
                args.tried.iter().map(|rule| (rule.unit(), rule.size())).collect();
            lengths.push((rule.unit(), rule.size()));
            lengths.sort_by_key(|(unit, size)| (*unit as u8, *size));
            lengths.dedup();
            tune::rules(rule, &lengths)?
        };
        let used = (rule.unit(), rule.size());
        let current = rules.iter().position(|rule| (rule.unit(), rule.size()) == used);
        let current = current.unwrap_or_default();
        let profiles = tune::measure(&sample.texts, &rules);
        let advice = tune::advise(&profiles, current, wishes.threshold);
        Ok(Self { sample, profiles, current, advice })
    }

    fn write(&self, out: &mut impl Write, threshold: f64) -> io::Result<()> {
        let Sample { texts, documents, skipped } = &self.sample;
        let count = plural(*documents as usize, "document");
        writeln!(out, "{count}, {} drawn", thousands(texts.len() as u64))?;
        write_skipped(out, skipped)?;
        let Some(used) = self.profiles.get(self.current) else { return Ok(()) };
        if used.empty > 0 {
            writeln!(out, "{} of them without a token", thousands(used.empty as u64))?;
        }
        heading(out, "Shingles", "")?;
        let header = [
            ["", "per", "", "in several", "unrelated", "99.9 % of", "shorter", "changes", ""],
            [
                "",
                "document",
                "different",
                "documents",
                "mean",
                "them up to",
                "documents",
                "borne",
                "",
            ],
        ];
        let mut lines: Vec<Vec<String>> =
            header.iter().map(|row| row.iter().map(|&text| text.to_owned()).collect()).collect();
        for (place, profile) in self.profiles.iter().enumerate() {
            let found = &profile.similarities;
            let unit_size = profile.rule.to_string();
            let note = match (profile.is_saturated(threshold), profile.is_too_long()) {
                (true, _) => "unrelated documents look alike",
                (_, true) => "many documents are shorter",
                _ if place == self.current => "in use",
                _ => "",
            };
            lines.push(vec![
                unit_size.split(' ').next().unwrap_or_default().to_owned(),
                thousands(profile.median_shingles as u64),
                thousands(profile.vocabulary as u64),
                percent(profile.shared_share()),
                format!("{:.4}", found.unrelated_mean()),
                format!("{:.4}", found.unrelated_quantile(0.999)),
                percent(profile.short_share()),
                format!("{:.1}", profile.tolerated_changes(threshold)),
                note.to_owned(),
            ]);
        }
        write_table(out, &lines, [2, 1], |line| line == self.current + 2)?;
        writeln!(
            out,
            "\nUnrelated: Jaccard similarity of documents with no {RELATED_WORDS} words in a row in \
             common. Changes borne: scattered\ntokens replaced in a document of median length \
             before it falls below {threshold}."
        )?;
        let compared = used.similarities.documents();
        if self.profiles.iter().any(|p| p.similarities.documents() < p.documents as u64) {
            writeln!(
                out,
                "Where comparing all would take long, fewer documents were compared ({} for {}).",
                thousands(compared),
                used.rule
            )?;
        }
        if let Some(advice) = self.advice {
            let style = Style::new().bold();
            writeln!(out, "\n{style}{}{style:#}", self.sentence(advice, threshold))?;
        } else {
            writeln!(out, "\nToo few documents with a token to advise a shingle.")?;
        }
        Ok(())
    }

    /// The advice and its reason.
    fn sentence(&self, advice: Advice, threshold: f64) -> String {
        let (used, better) = (&self.profiles[advice.current], &self.profiles[advice.advised]);
        let below =
            |profile: &Profile| format!("{:.3}", profile.similarities.unrelated_quantile(0.999));
        let shorter = |profile: &Profile| match profile.short {
            0 => "none".to_owned(),
            _ => percent(profile.short_share()),
        };
        match advice.reason {
            Reason::Fits => format!(
                "Keep {}: 99.9 % of unrelated pairs are at most {} alike, far from the threshold of \
                 {threshold},\nand {} of the documents are shorter than a shingle.",
                used.rule,
                below(used),
                shorter(used)
            ),
            Reason::Saturated => format!(
                "Use --shingle {} instead of {}: unrelated documents look alike under it. Their mean \
                 similarity is {:.3} and\none pair in a thousand is above {}; with {} these are \
                 {:.3} and {}.",
                short_name(&better.rule),
                short_name(&used.rule),
                used.similarities.unrelated_mean(),
                below(used),
                short_name(&better.rule),
                better.similarities.unrelated_mean(),
                below(better)
            ),
            Reason::TooLong => format!(
                "Use --shingle {} instead of {}: {} of the documents are shorter than that, and can \
                 only\nbe similar to documents of the very same tokens; with {} these are {}.",
                short_name(&better.rule),
                short_name(&used.rule),
                percent(used.short_share()),
                short_name(&better.rule),
                shorter(better)
            ),
            Reason::NoneFits => format!(
                "None of these suits: unrelated documents look alike, or many documents are shorter \
                 than a shingle.\nThe least evil is --shingle {}. Look at what the documents have in \
                 common (templates, navigation, signatures)\nand take it out before.",
                short_name(&better.rule)
            ),
        }
    }

    fn json(&self, threshold: f64) -> Value {
        let profile = |profile: &Profile| {
            let found = &profile.similarities;
            json!({
                "shingle": profile.rule.to_string(),
                "documents": profile.documents,
                "empty": profile.empty,
                "shorter": profile.short,
                "median_shingles": profile.median_shingles,
                "vocabulary": profile.vocabulary,
                "in_several_documents": profile.shared,
                "compared": found.documents(),
                "unrelated_pairs": found.unrelated_pairs(),
                "unrelated_mean": six(found.unrelated_mean()),
                "unrelated_p999": six(found.unrelated_quantile(0.999)),
                "changes_borne": six(profile.tolerated_changes(threshold)),
                "saturated": profile.is_saturated(threshold),
                "too_long": profile.is_too_long(),
            })
        };
        let histogram = self.profiles.get(self.current).map(|used| {
            let mut steps = [0u64; 20];
            for similarity in used.similarities.above_zero() {
                steps[((similarity * 20.0) as usize).min(19)] += 1;
            }
            json!({ "pairs": used.similarities.pairs(), "above_zero_by_0.05": steps })
        });
        let advice = self.advice.map(|advice| {
            let reason = match advice.reason {
                Reason::Fits => "fits",
                Reason::Saturated => "saturated",
                Reason::TooLong => "too_long",
                Reason::NoneFits => "none_fits",
            };
            json!({
                "shingle": self.profiles[advice.advised].rule.to_string(),
                "reason": reason,
                "sentence": self.sentence(advice, threshold),
            })
        });
        json!({
            "documents": self.sample.documents,
            "drawn": self.sample.texts.len(),
            "skipped": self.sample.skipped.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "shingles": self.profiles.iter().map(profile).collect::<Vec<_>>(),
            "similarities": histogram,
            "advice": advice,
        })
    }
}

/// The choice of bands and rows, and the alternatives.
struct Plan {
    threshold: f64,
    recall: f64,
    cost: Cost,
    /// What `find` takes.
    usual: Choice,
    /// The best for the documents measured; the usual one where there are none.
    best: Choice,
    /// Whether documents were measured.
    measured: bool,
    alternatives: Vec<(usize, Banding)>,
}

impl Plan {
    fn new(
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
            .and_then(|measured| Some((measured, measured.profiles.get(measured.current)?)))
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

    fn curve(&self, choice: Choice) -> Curve {
        Curve { bands: choice.bands, rows: choice.rows, threshold: self.threshold }
    }

    fn write(&self, out: &mut impl Write, args: &Args) -> io::Result<()> {
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
        heading(out, "S-curve", "probability of being a candidate, by Jaccard similarity")?;
        write!(out, "{}", self.curve(*best).terminal(CURVE.0, CURVE.1, args.ascii))?;
        let like =
            if self.measured { "like those drawn" } else { "alike as newswire articles are" };
        let scale = format!("{} documents {like}", thousands(self.cost.documents));
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

    fn json(&self, measured: Option<&Measured>) -> Value {
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

/// How many records could not be read, and the first few of them.
fn write_skipped(out: &mut impl Write, skipped: &[Skipped]) -> io::Result<()> {
    if skipped.is_empty() {
        return Ok(());
    }
    writeln!(out, "{} skipped:", thousands(skipped.len() as u64))?;
    for one in skipped.iter().take(3) {
        writeln!(out, "  {one}")?;
    }
    if skipped.len() > 3 {
        writeln!(out, "  … and {} more; --json lists them", thousands(skipped.len() as u64 - 3))?;
    }
    Ok(())
}

fn heading(out: &mut impl Write, title: &str, rest: &str) -> io::Result<()> {
    let (bold, quiet) = (Style::new().bold(), Style::new().dimmed());
    write!(out, "\n{bold}{title}{bold:#}")?;
    if rest.is_empty() { writeln!(out) } else { writeln!(out, "  {quiet}{rest}{quiet:#}") }
}

/// Columns side by side: the first `names` and the last one to the left, numbers to the right;
/// `header` dimmed lines first, and one line that stands out.
fn write_table(
    out: &mut impl Write,
    lines: &[Vec<String>],
    [header, names]: [usize; 2],
    marked: impl Fn(usize) -> bool,
) -> io::Result<()> {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for (at, line) in lines.iter().enumerate() {
        let style = match (at < header, marked(at)) {
            (true, _) => Style::new().dimmed(),
            (_, true) => AnsiColor::Green.on_default().bold(),
            _ => Style::new(),
        };
        let mut text = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let left = column < names || column + 1 == columns;
            let gap = " ".repeat(width - cell.chars().count());
            let (before, after) = if left { ("", gap.as_str()) } else { (gap.as_str(), "") };
            text.extend(["  ", before, cell, after]);
        }
        writeln!(out, "{style}{}{style:#}", text.trim_end())?;
    }
    Ok(())
}

/// `words:5` without the settings.
fn short_name(rule: &ShingleRule) -> String {
    rule.to_string().split(' ').next().unwrap_or_default().to_owned()
}

/// Three significant digits of a count.
fn rounded(count: f64) -> String {
    if count > 0.0 && count < 10.0 {
        return format!("{count:.1}");
    }
    let step = 10f64.powf((count.max(100.0).log10().floor() - 2.0).max(0.0));
    thousands(((count / step).round() * step) as u64)
}

/// Nanoseconds in a unit that suits them.
fn duration(nanoseconds: f64) -> String {
    match nanoseconds / 1e6 {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 1e3 => format!("{ms:.0} ms"),
        ms if ms < 1e4 => format!("{:.2} s", ms / 1e3),
        ms => format!("{} s", rounded(ms / 1e3)),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Six decimals.
fn six(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_three_digits() {
        let shown = [0.0, 0.26, 9.96, 12.3, 987.6, 1_234.0, 98_765.0, 1.234e9].map(rounded);
        let expected = ["0", "0.3", "10.0", "12", "988", "1,230", "98,800", "1,230,000,000"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn times_have_a_unit() {
        let shown = [1e5, 4.2e7, 1.357e9, 1.2e10].map(duration);
        assert_eq!(shown, ["0.1 ms", "42 ms", "1.36 s", "12 s"]);
    }

    #[test]
    fn the_table_aligns() {
        let lines = [["a", "bb", "x"], ["111", "2", "yy"]];
        let lines: Vec<Vec<String>> =
            lines.iter().map(|line| line.iter().map(|&cell| cell.to_owned()).collect()).collect();
        let mut out = Vec::new();
        let mut plain = anstream::StripStream::new(&mut out);
        write_table(&mut plain, &lines, [0, 0], |_| false).unwrap();
        write_table(&mut plain, &lines, [0, 1], |_| false).unwrap();
        let expected = "    a  bb  x\n  111   2  yy\n  a    bb  x\n  111   2  yy\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
