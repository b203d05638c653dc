//! `lookalike contamination CORPUS… --against BENCHMARK`: which items of a benchmark are in a
//! corpus.

use super::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::extraction::WorkerOption;
use crate::options::{WorkArgs, threshold};
use crate::progress_bar::StageBar;
use crate::read_args::ReadArgs;
use crate::summary::percent;
use crate::terminal::{self, Style};
use crate::termination;
use lookalike::contamination::{
    BenchmarkField, Contamination, ContaminationOptions, ItemVerdict, NGRAM, contamination,
};
use lookalike::core::params::{Case, ShingleRule, TokenRule};
use lookalike::read::{Collection, ReadOptions};
use lookalike::report::phrases::{count, one_line, thousands};
use lookalike::report::{self, Output, OutputFormat, Target};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  lookalike contamination pages/ --against quiz.jsonl --against-field question
  lookalike contamination corpus.jsonl --against quiz.jsonl -o items.jsonl

An item counts by the share of its words that are in runs of --ngram words which a document has,
too; an item with fewer words is compared whole. Line breaks, punctuation and case do not matter.";

const HEADER: Style = Style::DIMMED;
/// Contaminated items that are listed.
const SHOWN: usize = 10;
/// Characters of an item's text that are shown.
const TEXT: usize = 60;

/// Find the items of a benchmark that a corpus contains, and how much of each
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct ContaminationArgs {
    /// The files and folders of the corpus
    #[arg(required_unless_present = "files_from", value_name = "CORPUS")]
    inputs: Vec<PathBuf>,

    /// Files and folders with the items of the benchmark; may be repeated
    #[arg(long, required = true, value_name = "BENCHMARK")]
    against: Vec<PathBuf>,

    /// The field of the items that is looked for; may be repeated, and each field counts by itself
    /// [default: that of --text-field]
    #[arg(long, value_name = "NAME")]
    against_field: Vec<String>,

    /// Words of a run: 2 or more
    #[arg(long, value_name = "N", default_value_t = NGRAM)]
    ngram: usize,

    /// The share of an item's words from which it is contaminated: above 0, at most 1
    #[arg(long, short, value_name = "SHARE", default_value = "0.8", value_parser = threshold)]
    #[arg(allow_negative_numbers = true)]
    threshold: f64,

    /// Words: `words`, `word-runs` or `whitespace`, as in `find`
    #[arg(long, value_name = "RULE", default_value = "words")]
    tokens: TokenRule,

    /// `fold` reads upper case as lower case, `keep` distinguishes them
    #[arg(long, value_name = "CASE", default_value = "fold")]
    case: Case,

    /// Write every item with its matches to FILE.jsonl [also .gz, .zst]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// No progress
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    work: WorkArgs,

    #[command(flatten)]
    reading: ReadArgs,
}

/// Runs the command.
pub(crate) fn run(args: &mut ContaminationArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.reading.read_list(&mut args.inputs)?;
    let args = &*args;
    args.reading
        .refuse_units("is for whole documents here: runs of words are found in any part")?;
    let target = args.output.as_ref().map(|path| Target::new(path, &[OutputFormat::Jsonl]));
    let target = target.transpose().map_err(|e| CommandError::Usage(format!("--output: {e}")))?;
    let paths = || target.iter().map(Target::path);
    report::check_places(paths(), None, &args.inputs, &args.against)
        .map_err(|taken| CommandError::Usage(taken.to_string()))?;
    termination::clean_up(paths())?;
    // A file that cannot be written is an error before the work.
    target.as_ref().map(Output::create).transpose()?;
    let reading = args.reading.options(worker);
    let fields = benchmark_collections(args, &reading)?;
    let fields: Vec<BenchmarkField<'_>> = fields
        .iter()
        .map(|(name, collection)| BenchmarkField { name: name.as_deref(), collection })
        .collect();
    let corpus = Collection::open(&args.inputs, &reading)?;
    let bar = StageBar::new(args.quiet);
    let found = contamination(&corpus, &fields, &options(args)?, &bar)?;
    drop(bar);
    if let Some(target) = &target {
        Output::create(target)?.finish(|out| report::contamination::items(out, &found))?;
    }
    let mut out = BufWriter::new(terminal::stdout().json_if(args.json));
    if args.json {
        report::contamination::summary(&mut out, &found)?;
        writeln!(out)?;
    } else {
        write_text(&mut out, &found)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn options(args: &ContaminationArgs) -> Result<ContaminationOptions, CommandError> {
    let defaults = ContaminationOptions::new()?;
    let rule: ShingleRule = defaults.rule.clone().with_tokens(args.tokens).with_case(args.case);
    let mut options = ContaminationOptions {
        rule,
        ngram: args.ngram,
        threshold: args.threshold,
        memory: args.work.memory(),
        ..defaults
    };
    options.threads = args.work.threads().unwrap_or(options.threads);
    options.kernel = args.work.kernel()?.unwrap_or(options.kernel);
    Ok(options)
}

/// The benchmark, once for each field.
fn benchmark_collections(
    args: &ContaminationArgs,
    reading: &ReadOptions,
) -> Result<Vec<(Option<String>, Collection)>, CommandError> {
    if args.against_field.is_empty() {
        return Ok(vec![(None, Collection::open(&args.against, reading)?)]);
    }
    let open = |field: &String| {
        let reading = ReadOptions { text_field: field.clone(), ..reading.clone() };
        Ok((Some(field.clone()), Collection::open(&args.against, &reading)?))
    };
    args.against_field.iter().map(open).collect()
}

fn write_text(out: &mut impl Write, found: &Contamination) -> io::Result<()> {
    writeln!(
        out,
        "{HEADER}{:>9}  {:>12}  {:>8}  {:>13}  benchmark{HEADER:#}",
        "items", "contaminated", "share", "words covered"
    )?;
    for row in &found.benchmarks {
        let name = one_line(&row.benchmark);
        let field = row.field.iter().map(|field| format!(" ({})", one_line(field)));
        writeln!(
            out,
            "{:>9}  {:>12}  {:>6} %  {:>11} %  {name}{}",
            thousands(row.items),
            thousands(row.contaminated),
            percent(row.contaminated as f64 / row.items.max(1) as f64),
            percent(row.covered as f64 / row.words.max(1) as f64),
            field.collect::<String>(),
        )?;
        if row.empty > 0 {
            writeln!(out, "{:>9}  of these have no words", thousands(row.empty))?;
        }
    }
    writeln!(out, "\nCompared with {}.", count(found.documents, "document"))?;
    if !found.skipped.is_empty() {
        writeln!(out, "{} could not be read:", count(found.skipped.len() as u64, "record"))?;
        for skipped in found.skipped.iter().take(SHOWN) {
            writeln!(out, "  {}", one_line(&skipped.to_string()))?;
        }
    }
    let contaminated = || found.items.iter().filter(|item| item.contaminated);
    let listed = contaminated().count();
    if listed > 0 {
        writeln!(
            out,
            "\n{HEADER}{:>6}  {:>6}  {:>9}  item{HEADER:#}",
            "share", "words", "documents"
        )?;
    }
    contaminated().take(SHOWN).try_for_each(|item| write_item(out, item))?;
    match listed.checked_sub(SHOWN).filter(|more| *more > 0) {
        Some(more) => writeln!(out, "… {more} more; --output writes all of them"),
        None => Ok(()),
    }
}

fn write_item(out: &mut impl Write, verdict: &ItemVerdict) -> io::Result<()> {
    let ItemVerdict { item, documents, .. } = verdict;
    let begin: String = item.text.chars().take(TEXT).collect();
    let more = if begin.len() < item.text.len() { "…" } else { "" };
    writeln!(
        out,
        "{:>4} %  {:>6}  {:>9}  {}: {}{more}",
        percent(verdict.share()),
        thousands(u64::from(item.words)),
        thousands(*documents),
        one_line(&item.id),
        one_line(&begin),
    )
}
