//! `lookalike contamination CORPUS… --against BENCHMARK`: which items of a benchmark are in a
//! corpus.

mod inputs;
mod print;

use super::{CommandError, CommandResult};
use crate::arguments::options::WorkArgs;
use crate::arguments::parameter_args::threshold;
use crate::arguments::read_args::ReadArgs;
use crate::extraction::WorkerOption;
use crate::output::progress_bar::StageBar;
use crate::output::summary::exit_code;
use crate::output::terminal;
use crate::output::written_files::WrittenFiles;
use crate::termination;
use lookalike::contamination::{ContaminationOptions, MatchList, NGRAM};
use lookalike::core::params::{Case, ShingleRule, TokenRule};
use lookalike::report::{self, Output, OutputFormat, Target, html};
use lookalike::request::ContaminationRequest;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  lookalike contamination pages/ --against quiz.jsonl --against-field question
  lookalike contamination corpus.jsonl --against quiz.jsonl -o items.jsonl
  lookalike contamination corpus.jsonl --against quiz.jsonl --drop drop.jsonl
  lookalike contamination news.lookalike --against quiz.jsonl

By default, line breaks, punctuation and case do not matter. A word is covered if it is one of \
--ngram consecutive words of the item that also follow each other in a document. The share of an \
item is the share of its words that are covered. An item with fewer than --ngram words is \
compared as a whole.";

/// Find the items of a benchmark that a corpus contains
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct ContaminationArgs {
    /// The files and folders of the corpus, or an index that stores texts
    #[arg(required_unless_present = "files_from", value_name = "CORPUS")]
    inputs: Vec<PathBuf>,

    /// Files and folders with the items of the benchmark, or an index that stores texts; may be
    /// repeated
    #[arg(long, required = true, value_name = "BENCHMARK")]
    against: Vec<PathBuf>,

    /// The field of each item whose text is searched for; may be repeated. Each field is counted as
    /// a separate benchmark [default: --text-field]
    #[arg(long, value_name = "NAME")]
    against_field: Vec<String>,

    /// Number of consecutive words that must match: 2 or more
    #[arg(long, value_name = "N", default_value_t = NGRAM)]
    ngram: usize,

    /// An item is contaminated if at least this share of its words is covered: above 0, at most 1
    #[arg(long, short, value_name = "SHARE", default_value = "0.8", value_parser = threshold)]
    #[arg(allow_negative_numbers = true)]
    threshold: f64,

    /// How texts are divided into words: `words`, `word-runs` or `whitespace`, as in `find`
    #[arg(long, value_name = "RULE", default_value = "words")]
    tokens: TokenRule,

    /// `fold` ignores case, `keep` distinguishes it
    #[arg(long, value_name = "CASE", default_value = "fold")]
    case: Case,

    /// Write every item with its matches to FILE.jsonl [also .gz, .zst]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write a page to FILE.html: the items with the largest shares in the corpus, with matching
    /// runs side by side
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Write the documents that share a run of words with a contaminated item to FILE.jsonl [also
    /// .gz, .zst], for `dedup --drop`
    #[arg(long, value_name = "FILE")]
    drop: Option<PathBuf>,

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
    args.reading.refuse_units(
        "cannot be used with contamination, which searches whole documents; leave it out",
    )?;
    let targets = ContaminationTargets::new(args)?;
    report::check_places(targets.paths(), None, &args.inputs, &args.against)
        .map_err(|error| CommandError::Usage(error.to_string()))?;
    termination::clean_up(targets.paths())?;
    let written = WrittenFiles::new(targets.paths(), &args.inputs);
    // Check before the work that all outputs can be written.
    targets.all().try_for_each(|target| Output::create(target).map(drop))?;
    let mut reading = args.reading.options(worker);
    // A second run must not read the files of the first run as documents.
    reading.leave_out = targets.paths().map(Path::to_owned).collect();
    inputs::refuse_repeats(&args.inputs, &args.against, &args.against_field)?;
    let benchmark = inputs::benchmark(&args.against, &args.against_field, &reading)?;
    let corpus = inputs::side(&args.inputs, &reading)?;
    let request = ContaminationRequest { corpus, benchmark, options: options(args)? };
    let opened = request.open()?;
    let bar = StageBar::new(args.quiet);
    let (found, options) = opened.run(&bar).map_err(inputs::run_error)?;
    drop(bar);
    if let Some(target) = &targets.items {
        Output::create(target)?.finish(|out| report::contamination::items(out, &found))?;
    }
    if let Some(target) = &targets.page {
        Output::create(target)?.finish(|out| html::contamination(out, &found, &options))?;
    }
    if let Some(target) = &targets.documents {
        Output::create(target)?.finish(|out| report::contamination::documents(out, &found))?;
    }
    let mut out = BufWriter::new(terminal::stdout().json_if(args.json));
    if args.json {
        report::contamination::summary(&mut out, &found)?;
        writeln!(out)?;
    } else {
        print::print(&mut out, &found)?;
    }
    out.flush()?;
    if !args.quiet {
        let all = [("items", &args.output), ("report", &args.report), ("drop", &args.drop)];
        for (label, path) in
            all.into_iter().filter_map(|(label, path)| Some((label, path.as_ref()?)))
        {
            written.line(&mut terminal::stderr(), label, path)?;
        }
    }
    Ok(exit_code(found.skipped.into_iter().map(Ok), args.reading.skip_bad(), false)?)
}

/// The files that are written.
struct ContaminationTargets {
    items: Option<Target>,
    page: Option<Target>,
    documents: Option<Target>,
}

impl ContaminationTargets {
    fn new(args: &ContaminationArgs) -> Result<Self, CommandError> {
        let target = |option: &str, path: &Option<PathBuf>, formats: &'static [OutputFormat]| {
            let target = path.as_ref().map(|path| Target::new(path, formats)).transpose();
            target.map_err(|error| CommandError::Usage(format!("{option}: {error}")))
        };
        Ok(Self {
            items: target("--output", &args.output, &[OutputFormat::Jsonl])?,
            page: target("--report", &args.report, &[OutputFormat::Html])?,
            documents: target("--drop", &args.drop, &[OutputFormat::Jsonl])?,
        })
    }

    fn all(&self) -> impl Iterator<Item = &Target> {
        [&self.items, &self.page, &self.documents].into_iter().flatten()
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        self.all().map(Target::path)
    }
}

fn options(args: &ContaminationArgs) -> Result<ContaminationOptions, CommandError> {
    let defaults = ContaminationOptions::new()?;
    let rule: ShingleRule = defaults.rule.clone().with_tokens(args.tokens).with_case(args.case);
    let matches = match (&args.report, &args.output) {
        (Some(_), _) => MatchList::WithExcerpts,
        (None, Some(_)) => MatchList::Listed,
        (None, None) => MatchList::Omitted,
    };
    let mut options = ContaminationOptions {
        rule,
        ngram: args.ngram,
        threshold: args.threshold,
        memory: args.work.memory(),
        matches,
        ..defaults
    };
    options.threads = args.work.threads().unwrap_or(options.threads);
    options.kernel = args.work.kernel()?.unwrap_or(options.kernel);
    Ok(options)
}
