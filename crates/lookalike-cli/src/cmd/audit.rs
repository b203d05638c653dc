//! `lookalike audit REPORT INPUT…`: measures the recall of a finished run.

use super::{CommandError, CommandResult};
use crate::arguments::decision_args::DecisionArgs;
use crate::arguments::read_args::ReadArgs;
use crate::exit_code::ExitCode;
use crate::extraction::WorkerOption;
use crate::index_place;
use crate::output::progress_bar::StageBar;
use crate::output::terminal;
use lookalike::audit::{
    self, Audit, AuditOptions, CONFIDENCE, Figures, Interval, JudgedBy, SAMPLE_DOCUMENTS,
    SimilarityRange,
};
use lookalike::core::kernel::Kernel;
use lookalike::core::params::Params;
use lookalike::read::refuse_streams;
use lookalike::report::json;
use lookalike::report::phrases::thousands;
use lookalike::request::{AuditRequest, RunInputs};
use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  lookalike find corpus.jsonl --json > report.json
  lookalike audit report.json corpus.jsonl    by the groups of the report
  lookalike audit report.json corpus.jsonl --pairs pairs.csv --sample 10000

The report has the definition of similarity. Name the same inputs as \
for `find`. They are read twice.";

/// For an interval wider than this, the output advises how to make it narrower.
const WIDTH: f64 = 0.02;

/// Measure the recall of a finished run on a sample
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct AuditArgs {
    /// The report of a whole run, as `find --json` prints it [also .gz, .zst]
    report: PathBuf,

    /// The files and folders that the run read
    #[arg(required_unless_present = "files_from", value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// The pairs that the run wrote: a pair is found if it is among them, not by the groups
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,

    /// The reference collection of the run
    #[arg(long, value_name = "INPUT")]
    reference: Vec<PathBuf>,

    /// Documents to draw, and to compare with all others
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::new(SAMPLE_DOCUMENTS)
        .unwrap_or(NonZeroUsize::MIN), value_parser = positive)]
    sample: NonZeroUsize,

    /// Random seed of the sample; the same seed draws the same documents
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Confidence level of the intervals: above 0, below 1
    #[arg(long, value_name = "SHARE", default_value_t = CONFIDENCE)]
    #[arg(allow_negative_numbers = true)]
    confidence: f64,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// No progress
    #[arg(long, short)]
    quiet: bool,

    /// Threads [default: one per processor]
    #[arg(long, value_name = "N", value_parser = positive)]
    threads: Option<NonZeroUsize>,

    /// Inner loops: scalar, portable, neon, avx2 or avx512; results are equal
    #[arg(long, value_name = "NAME", hide = true)]
    kernel: Option<String>,

    #[command(flatten)]
    decisions: DecisionArgs,

    #[command(flatten)]
    reading: ReadArgs,
}

pub(super) fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number from 1, such as 2000".to_owned())
}

/// Runs the command.
pub(crate) fn run(args: &mut AuditArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.reading.read_list(&mut args.inputs)?;
    let args = &*args;
    refuse_streams(args.inputs.iter().chain(&args.reference), "an audit")?;
    let options = audit_options(args)?;
    let options = AuditOptions { decisions: args.decisions.read()?, ..options };
    let reference = index_place::with_environment(&args.reference)?;
    let reading = args.reading.options(worker);
    let inputs = RunInputs::of_paths(&args.inputs, &reference, reading);
    let request = AuditRequest::new(args.report.clone(), args.pairs.clone(), inputs, options)?;
    let bar = StageBar::new(args.quiet);
    let (audit, params) = request.run(&bar)?;
    drop(bar);
    let mut out = BufWriter::new(terminal::stdout().json_if(args.json));
    if args.json {
        json::audit(&mut out, &audit, &params)?;
        writeln!(out)?;
    } else {
        write_text(&mut out, &audit, &params, "--sample")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn audit_options(args: &AuditArgs) -> Result<AuditOptions, CommandError> {
    let AuditArgs { sample, seed, confidence, .. } = *args;
    let mut options = AuditOptions { sample, seed, confidence, ..AuditOptions::default() };
    if let Some(threads) = args.threads {
        options.threads = threads;
    }
    if let Some(name) = &args.kernel {
        options.kernel = Kernel::named(name)?;
    }
    refuse_confidence(confidence)?;
    Ok(options)
}

/// Refuses an invalid confidence level before the work.
pub(super) fn refuse_confidence(confidence: f64) -> Result<(), CommandError> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(());
    }
    Err(CommandError::Usage(audit::AuditError::Confidence { got: confidence }.to_string()))
}

/// Writes an audit for people: the measured recall, the figures by range, and advice. `option` is
/// the spelling of the option for the size of the sample.
pub(super) fn write_text(
    out: &mut impl Write,
    audit: &Audit,
    params: &Params,
    option: &str,
) -> io::Result<()> {
    let figures = &audit.overall;
    let percent = audit.confidence * 100.0;
    let sampled = thousands(audit.sampled);
    let population = thousands(audit.population);
    let threshold = params.threshold();
    if figures.documents == 0 {
        return write_without_neighbours(out, audit, threshold, option);
    }
    let by = match audit.judged_by {
        JudgedBy::Pairs => "A pair counts as found if the run reported it.",
        JudgedBy::Groups => {
            "A pair counts as found if the groups remove at least one of its documents."
        }
    };
    let predicted = match params.recall_caveat() {
        Some(caveat) => caveat.to_string(),
        None => format!("predicted at the threshold: {:.4}", params.predicted_recall()),
    };
    if audit.is_known(figures) {
        writeln!(
            out,
            "Recall is {} ({predicted}).\nThis is known, not estimated: all {population} \
             documents were compared exactly with all others. {} of them\n{} a neighbour of \
             similarity {threshold} or more, and this is the mean share of a document's\n\
             neighbours that was found.\n{by}\n",
            four_decimals(figures.interval.low),
            thousands(figures.documents),
            if figures.documents == 1 { "has" } else { "have" },
        )?;
        return write_table(out, audit);
    }
    writeln!(
        out,
        "Recall is {} ({percent} % confidence; {predicted}).\n\
         {sampled} documents were drawn from {population} and compared exactly with all others: {} \
         of them {} a\nneighbour of similarity {threshold} or more. One neighbour was drawn for \
         each of them, and the run had\nfound {} of these pairs.\n{by}\n",
        span(figures.interval),
        thousands(figures.documents),
        if figures.documents == 1 { "has" } else { "have" },
        thousands(figures.found),
    )?;
    write_table(out, audit)?;
    write_interval_advice(out, audit)
}

/// Writes an audit whose sample has no neighbours.
fn write_without_neighbours(
    out: &mut impl Write,
    audit: &Audit,
    threshold: f64,
    option: &str,
) -> io::Result<()> {
    let sampled = thousands(audit.sampled);
    let population = thousands(audit.population);
    if audit.is_complete() {
        return writeln!(
            out,
            "There is nothing to find: all {population} documents were compared exactly with all \
             others, and none has a\nneighbour of similarity {threshold} or more."
        );
    }
    let interval = audit::clopper_pearson(0, audit.sampled, audit.confidence);
    writeln!(
        out,
        "Recall was not measured: of {sampled} documents drawn from {population} none has a \
         neighbour of\nsimilarity {threshold} or more. So at most a share of {} of the documents \
         has one ({} % confidence);\n{option} draws more.",
        upper_end(interval.high),
        audit.confidence * 100.0
    )
}

/// Writes the sample size that would make a wide interval narrow.
fn write_interval_advice(out: &mut impl Write, audit: &Audit) -> io::Result<()> {
    let width = audit.overall.interval.width();
    // If all documents were drawn, a larger sample is impossible. The interval is then wide because
    // only some of many neighbours were judged.
    if width <= WIDTH || audit.is_complete() {
        return Ok(());
    }
    write!(out, "\nThe interval is {width:.3} wide; ")?;
    match audit.sample_for_width(WIDTH) {
        Some(sample) => writeln!(
            out,
            "a sample of about {} documents would make it {WIDTH}.",
            thousands(sample)
        ),
        None => writeln!(out, "not even all documents would make it {WIDTH}."),
    }
}

fn write_table(out: &mut impl Write, audit: &Audit) -> io::Result<()> {
    writeln!(
        out,
        "{:<18}{:>11}{:>9}{:>9}{:>18}{:>14}{:>13}{:>18}",
        "similarity",
        "documents",
        "found",
        "recall",
        "interval",
        "pairs",
        "pair recall",
        "pair interval"
    )?;
    for SimilarityRange { from, to, figures } in &audit.ranges {
        let name = if to > from { format!("{from} to below {to}") } else { "1".to_owned() };
        write_row(out, &name, figures)?;
    }
    write_row(out, "all", &audit.overall)?;
    writeln!(
        out,
        "\nA document counts in each row in which it has a neighbour, and once in the last row."
    )?;
    if audit.is_known(&audit.overall) {
        return writeln!(
            out,
            "recall: the found share of a document's neighbours, on average. pair recall: the \
             found share of all\npairs, so that large groups count more."
        );
    }
    writeln!(
        out,
        "recall: of one neighbour of each document; its interval is exact. pair recall: of all \
         pairs, so that\nlarge groups count more; its interval is approximate, by resampling."
    )
}

fn write_row(out: &mut impl Write, name: &str, figures: &Figures) -> io::Result<()> {
    let share = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), four_decimals);
    let interval = |interval: Option<Interval>| interval.map_or_else(|| "–".to_owned(), span);
    writeln!(
        out,
        "{name:<18}{:>11}{:>9}{:>9}{:>18}{:>14}{:>13}{:>18}",
        thousands(figures.documents),
        thousands(figures.found),
        share(figures.recall),
        interval((figures.documents > 0).then_some(figures.interval)),
        thousands(figures.pairs),
        share(figures.pair_recall),
        interval(figures.pair_interval),
    )
}

/// Formats an interval, rounded outwards so that it contains the unrounded interval.
fn span(interval: Interval) -> String {
    format!("{:.4} to {}", (interval.low * 1e4).floor() / 1e4, upper_end(interval.high))
}

/// Formats four decimals, rounded up.
fn upper_end(value: f64) -> String {
    format!("{:.4}", (value * 1e4).ceil() / 1e4)
}

/// Formats a share with four decimals. A share below 1 is never rounded up to `1.0000`.
fn four_decimals(value: f64) -> String {
    format!("{:.4}", if value < 1.0 { value.min(0.9999) } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_rounded_outwards() {
        let printed = |low, high| span(Interval { low, high });
        assert_eq!(printed(0.912_39, 0.987_61), "0.9123 to 0.9877");
        assert_eq!(printed(0.999_99, 0.999_99), "0.9999 to 1.0000");
        assert_eq!(printed(0.000_01, 0.000_01), "0.0000 to 0.0001");
        assert_eq!(
            (four_decimals(0.999_99), four_decimals(1.0)),
            ("0.9999".into(), "1.0000".into())
        );
    }
}
