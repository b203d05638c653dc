//! `lookalike evaluate REPORT TRUTH`: the correct, the wrong and the missed pairs of a report.

use super::CommandResult;
use crate::arguments::parameter_args::threshold;
use crate::exit_code::ExitCode;
use crate::output::terminal;
use lookalike::core::error::ParamsError;
use lookalike::evaluate::{
    EstimateRange, Estimates, EvaluateOptions, Evaluation, Example, PairExamples, UnreadColumn,
    evaluate,
};
use lookalike::report::json;
use lookalike::report::phrases::{one_line, thousands};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  lookalike evaluate pairs.csv truth.csv --threshold 0.8
  lookalike evaluate groups.jsonl clusters.csv

Each file is one of these, also as .gz or .zst:
  pairs: a CSV with the columns id_a, id_b and, if known, jaccard;
         or two ids per line
  clusters: a CSV with the columns id and cluster
  groups: a file of `find --output` or `find --report FILE.json`";

/// Compare a report with a truth file: precision, recall, F1
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct EvaluateArgs {
    /// The result to judge: pairs, groups or clusters
    report: PathBuf,

    /// The correct result: pairs, groups or clusters
    truth: PathBuf,

    /// Ignore pairs below this similarity, in both files [default: count all pairs]
    #[arg(long, short, value_name = "J", value_parser = threshold)]
    #[arg(allow_negative_numbers = true)]
    threshold: Option<f64>,

    /// Files of pairs: the column that labels each row. Rows with 0, false, no or an empty label
    /// are not pairs
    #[arg(long, value_name = "NAME")]
    label: Option<String>,

    /// Files of pairs: the column that --threshold applies to [default: jaccard or containment]
    #[arg(long, value_name = "NAME", requires = "threshold")]
    score: Option<String>,

    /// Count all pairs within each group of REPORT, not only pairs with the keeper. Always so if
    /// TRUTH has groups or clusters
    #[arg(long)]
    all_members: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &EvaluateArgs) -> CommandResult {
    if let Some(got) = args.threshold.filter(|t| !(*t > 0.0 && *t <= 1.0)) {
        return Err(ParamsError::Threshold { got }.into());
    }
    let options = EvaluateOptions {
        threshold: args.threshold,
        all_members: args.all_members,
        label: args.label.clone(),
        score: args.score.clone(),
    };
    let evaluation = evaluate(&args.report, &args.truth, &options)?;
    for UnreadColumn { path, name, is_number } in &evaluation.unread {
        let remedy =
            if *is_number { "--score NAME --threshold J, or --label NAME" } else { "--label NAME" };
        terminal::stderr().message(&format!(
            "warning: {}: the column {name:?} is not read, and every row is a pair; {remedy} \
             names it",
            path.display()
        ))?;
    }
    let mut out = BufWriter::new(terminal::stdout().json_if(args.json));
    if args.json {
        json::evaluation(&mut out, &evaluation)?;
        writeln!(out)?;
    } else {
        write_text(&mut out, &evaluation)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn write_text(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    let mut number = |name: &str, value: u64| writeln!(out, "{name:<22}{:>13}", thousands(value));
    number("pairs reported", evaluation.reported)?;
    number("pairs in the truth", evaluation.expected)?;
    number("true positives", evaluation.true_positives)?;
    number("false positives", evaluation.false_positives.count)?;
    number("missed", evaluation.missed.count)?;
    if let Some(different) = &evaluation.different {
        number("similarity differs", different.count)?;
    }
    let mut share = |name: &str, value: Option<f64>| match value {
        Some(value) => writeln!(out, "{name:<22}{:>13}", six_decimals(value)),
        None => writeln!(out, "{name:<22}{:>13}", "–"),
    };
    share("precision", evaluation.precision())?;
    share("recall", evaluation.recall())?;
    share("F1", evaluation.f1())?;
    if let Some(index) = evaluation.adjusted_rand_index {
        share("adjusted Rand index", Some(index))?;
    }
    if let Some(estimates) = evaluation.estimates {
        let Estimates { pairs, bias, mean_absolute_error, rms_error, expected_rms_error } =
            estimates;
        writeln!(out, "{:<22}{:>13}", "pairs with estimates", thousands(pairs))?;
        writeln!(out, "{:<22}{bias:>13.6}", "estimate bias")?;
        writeln!(out, "{:<22}{mean_absolute_error:>13.6}", "mean absolute error")?;
        writeln!(out, "{:<22}{rms_error:>13.6}", "RMS error")?;
        writeln!(out, "{:<22}{expected_rms_error:>13.6}", "expected RMS error")?;
    }
    estimate_ranges(out, &evaluation.estimate_ranges)?;
    examples(out, "false positives", Some(&evaluation.false_positives))?;
    examples(out, "missed", Some(&evaluation.missed))?;
    examples(out, "similarity differs", evaluation.different.as_ref())
}

/// Writes the errors of estimates, one line for each range of exact similarity.
fn estimate_ranges(out: &mut impl Write, ranges: &[EstimateRange]) -> io::Result<()> {
    if ranges.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nestimates by exact similarity:")?;
    let names = ["similarity", "pairs", "bias", "mean absolute", "RMS", "expected RMS"];
    let [range, pairs, bias, absolute, rms, expected] = names;
    writeln!(out, "  {range:<16}{pairs:>11}{bias:>11}{absolute:>15}{rms:>11}{expected:>14}")?;
    for EstimateRange { from, to, estimates } in ranges {
        let range = if from < to { format!("{from:.1} to {to:.1}") } else { "1".to_owned() };
        let Estimates { pairs, bias, mean_absolute_error, rms_error, expected_rms_error } =
            estimates;
        let pairs = thousands(*pairs);
        writeln!(
            out,
            "  {range:<16}{pairs:>11}{bias:>11.6}{mean_absolute_error:>15.6}{rms_error:>11.6}\
             {expected_rms_error:>14.6}"
        )?;
    }
    Ok(())
}

/// Formats a share with six decimals. A share below 1 is never rounded up to `1.000000`.
fn six_decimals(value: f64) -> String {
    if value < 1.0 { format!("{:.6}", value.min(0.999_999)) } else { format!("{value:.6}") }
}

fn examples(out: &mut impl Write, name: &str, kind: Option<&PairExamples>) -> io::Result<()> {
    let Some(kind) = kind.filter(|kind| kind.count > 0) else { return Ok(()) };
    let listed = kind.examples.len() as u64;
    if listed < kind.count {
        writeln!(out, "\n{name}, the first {listed} of {}:", thousands(kind.count))?;
    } else {
        writeln!(out, "\n{name}:")?;
    }
    for Example { a, b, reported, expected } in &kind.examples {
        write!(out, "  {}  {}", one_line(a), one_line(b))?;
        match (reported, expected) {
            (Some(reported), Some(expected)) => {
                write!(out, "  reported {reported}, truth {expected}")?;
            }
            (Some(similarity), None) | (None, Some(similarity)) => write!(out, "  {similarity}")?,
            (None, None) => {}
        }
        writeln!(out)?;
    }
    Ok(())
}
