//! `lookalike find INPUT…`: groups of near-duplicates, as a table, files or JSON.

use super::{Failure, Outcome};
use crate::options::{ParameterArgs, ReadArgs, RunArgs, ShingleArgs};
use crate::progress_bar::Bar;
use crate::summary::{self, Summary, count};
use crate::table::{self, Extent, NotShown};
use crate::text_width::terminal_columns;
use lookalike::core::params::{Measure, Params};
use lookalike::read::Collection;
use lookalike::run::{self, FindOptions, Findings, Pairs};
use lookalike::write::{self, Output, OutputFormat, Target};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

const EXAMPLE: &str = "\
Examples:
  lookalike find letters/                                 a folder of text files
  lookalike find corpus.jsonl -o groups.jsonl --pairs pairs.csv
  zcat posts.gz | lookalike find - --format lines --threshold 0.6";

/// Groups shown on a terminal, and duplicates of each, when nothing else is asked for.
const TERMINAL_GROUPS: usize = 50;
const TERMINAL_DUPLICATES: usize = 20;
/// The exit code of `--exit-code` when duplicates were found.
const DUPLICATES_FOUND: u8 = 3;

/// Groups of near-duplicates: a table to read, or files
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// Files, folders, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    parameters: ParameterArgs,

    #[command(flatten)]
    shingle: ShingleArgs,

    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    result: ResultArgs,

    #[command(flatten)]
    reading: ReadArgs,
}

/// What is made of it.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What comes out")]
struct ResultArgs {
    /// Write groups to FILE.jsonl, FILE.csv [also .gz, .zst] or FILE.parquet instead of the table
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[arg(long, value_name = "FILE")]
    #[arg(help = "Write all verified pairs to FILE.csv or FILE.parquet: id_a,id_b,jaccard")]
    pairs: Option<PathBuf>,

    /// Write what was not read, and why, and the empty documents to FILE.csv
    #[arg(long, value_name = "FILE")]
    skipped: Option<PathBuf>,

    /// Print everything as JSON instead of the table
    #[arg(long)]
    json: bool,

    /// Show at most N groups, 0 for all [default: 50 on a terminal, else all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// End with 3 when duplicates were found
    #[arg(long)]
    exit_code: bool,

    /// No summary and no progress; what was skipped is still told
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Outcome {
    let start = Instant::now();
    let options = find_options(args)?;
    let targets = Targets::new(&args.result)?;
    targets.refuse_inputs(&args.inputs)?;
    targets.refuse_inputs(args.run.reference())?;
    let mut reading = args.reading.options();
    // A second run must not find the files of the first among its documents.
    reading.leave_out = targets.all().map(|target| target.path().to_owned()).collect();
    reading.fields = options.fields();
    let collection = Collection::open_with_reference(&args.inputs, args.run.reference(), &reading)?;
    // What cannot be written is told before the work; nothing is left behind if that is broken off.
    drop(targets.create()?);
    let findings = {
        let bar = (!args.result.quiet).then(Bar::new);
        match &bar {
            Some(bar) => run::find(&collection, &options, bar)?,
            None => run::find(&collection, &options, &lookalike::progress::Silent)?,
        }
    };
    targets.create()?.write(&findings, options.params.measure())?;
    let not_shown = print(args, &findings, &options)?;
    let bytes = collection.bytes().or_else(|| Some(collection.bytes_read()).filter(|b| *b > 0));
    let summary = Summary {
        findings: &findings,
        options: &options,
        bytes,
        elapsed: start.elapsed(),
        skipped_listed: args.result.skipped.is_some(),
    };
    tell(args, &summary, not_shown)?;
    let found = args.result.exit_code && !findings.groups.is_empty();
    findings.finish()?;
    Ok(if found { ExitCode::from(DUPLICATES_FOUND) } else { ExitCode::SUCCESS })
}

fn find_options(args: &Args) -> Result<FindOptions, Failure> {
    let params = Params::new(&args.parameters.wishes(args.shingle.rule()?))?;
    let mut options = args.run.options(params)?;
    options.pairs = args.result.pairs.is_some();
    options.skip_duplicate_ids = args.reading.skip_bad();
    Ok(options)
}

/// The files that are asked for.
struct Targets {
    groups: Option<Target>,
    pairs: Option<Target>,
    skipped: Option<Target>,
}

impl Targets {
    fn new(args: &ResultArgs) -> Result<Self, Failure> {
        const LIST: &[OutputFormat] = &[OutputFormat::Csv];
        const TABLE: &[OutputFormat] = &[OutputFormat::Csv, OutputFormat::Parquet];
        const GROUPS: &[OutputFormat] =
            &[OutputFormat::Jsonl, OutputFormat::Csv, OutputFormat::Parquet];
        let target = |option: &str, path: &Option<PathBuf>, possible| {
            let target = path.as_deref().map(|path| Target::new(path, possible)).transpose();
            target.map_err(|error| Failure::Usage(format!("{option}: {error}")))
        };
        let targets = Self {
            groups: target("--output", &args.output, GROUPS)?,
            pairs: target("--pairs", &args.pairs, TABLE)?,
            skipped: target("--skipped", &args.skipped, LIST)?,
        };
        let paths: Vec<PathBuf> = targets.all().map(|target| same_name(target.path())).collect();
        for (i, path) in paths.iter().enumerate() {
            if paths[..i].contains(path) {
                return Err(Failure::Usage(format!(
                    "{} is named for two outputs; give each its own file",
                    path.display()
                )));
            }
        }
        Ok(targets)
    }

    fn all(&self) -> impl Iterator<Item = &Target> {
        [&self.groups, &self.pairs, &self.skipped].into_iter().flatten()
    }

    /// Inputs are never overwritten.
    fn refuse_inputs(&self, inputs: &[PathBuf]) -> Result<(), Failure> {
        for target in self.all() {
            let path = same_name(target.path());
            if inputs.iter().any(|input| same_name(input) == path) {
                return Err(Failure::Usage(format!(
                    "{} is an input; write to another file, inputs are never changed",
                    target.path().display()
                )));
            }
        }
        Ok(())
    }

    fn create(&self) -> Result<Outputs, Failure> {
        let create = |target: &Option<Target>| target.as_ref().map(Output::create).transpose();
        Ok(Outputs {
            groups: create(&self.groups)?.zip(self.groups.as_ref().map(Target::format)),
            pairs: create(&self.pairs)?.zip(self.pairs.as_ref().map(Target::format)),
            skipped: create(&self.skipped)?,
        })
    }
}

/// One spelling for every way to name a file.
pub(super) fn same_name(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// The files that are being written.
struct Outputs {
    groups: Option<(Output, OutputFormat)>,
    pairs: Option<(Output, OutputFormat)>,
    skipped: Option<Output>,
}

impl Outputs {
    fn write(self, findings: &Findings, measure: Measure) -> Result<(), Failure> {
        let groups = &findings.groups;
        match self.groups {
            Some((output, OutputFormat::Parquet)) => {
                write::parquet::groups(output, groups, measure)?;
            }
            Some((output, OutputFormat::Jsonl)) => {
                output.finish(|out| write::jsonl::groups(out, groups, measure))?;
            }
            Some((output, OutputFormat::Csv)) => {
                output.finish(|out| write::csv::groups(out, groups, measure))?;
            }
            None => {}
        }
        let none = Pairs::default();
        let pairs = findings.pairs.as_ref().unwrap_or(&none);
        match self.pairs {
            Some((output, OutputFormat::Parquet)) => {
                write::parquet::pairs(output, pairs, measure)?;
            }
            Some((output, _)) => {
                output.finish(|out| write::csv::pairs(out, pairs, measure))?;
            }
            None => {}
        }
        if let Some(output) = self.skipped {
            let (skipped, empty) = (&findings.skipped, &findings.empty);
            output.finish(|out| write::csv::skipped(out, skipped, empty))?;
        }
        Ok(())
    }
}

/// Prints the JSON or the table, whichever is wanted.
fn print(args: &Args, findings: &Findings, options: &FindOptions) -> io::Result<NotShown> {
    let terminal = io::stdout().is_terminal();
    let mut out = BufWriter::with_capacity(1 << 16, anstream::stdout().lock());
    let mut not_shown = NotShown::default();
    if args.result.json {
        write::json::summary(&mut out, findings, options)?;
    } else if args.result.output.is_none() {
        not_shown = {
            let extent = extent(args.result.limit, terminal);
            table::write(&mut out, &findings.groups, options.params.measure(), extent)?
        };
    }
    out.flush()?;
    Ok(not_shown)
}

fn extent(limit: Option<usize>, terminal: bool) -> Extent {
    let everything = limit == Some(0) || !terminal;
    Extent {
        groups: match limit {
            Some(0) => None,
            Some(most) => Some(most),
            None => terminal.then_some(TERMINAL_GROUPS),
        },
        duplicates: (!everything).then_some(TERMINAL_DUPLICATES),
        width: terminal.then(terminal_columns),
        spaced: terminal,
    }
}

/// What the table does not say, on standard error: what is not in it, what was skipped, how it ran.
fn tell(args: &Args, summary: &Summary<'_>, not_shown: NotShown) -> io::Result<()> {
    let mut err = anstream::stderr().lock();
    let findings = summary.findings;
    let table = !args.result.json && args.result.output.is_none();
    if not_shown != NotShown::default() {
        let duplicates = count(not_shown.duplicates as u64, "duplicate");
        let what = match not_shown.groups as u64 {
            0 => duplicates,
            groups => format!("{} and {duplicates}", count(groups, "group")),
        };
        let remedy = "--limit 0 shows all, --output FILE.csv writes all";
        writeln!(err, "not shown: {what}; {remedy}")?;
    }
    if args.result.quiet {
        return summary::write_skipped(&mut err, findings, summary.skipped_listed);
    }
    if findings.groups.is_empty() {
        write_nothing_found(&mut err, summary)?;
    }
    if table && !findings.groups.is_empty() {
        writeln!(err)?;
    }
    for (option, path) in [
        ("groups", &args.result.output),
        ("pairs", &args.result.pairs),
        ("skipped", &args.result.skipped),
    ] {
        if let Some(path) = path {
            writeln!(err, "{option}: {}", path.display())?;
        }
    }
    summary.write(&mut err)
}

/// Why there may be no groups, and what to try.
fn write_nothing_found(err: &mut impl Write, summary: &Summary<'_>) -> io::Result<()> {
    let (counts, params) = (&summary.findings.counts, &summary.options.params);
    match (counts.documents, counts.documents - counts.empty) {
        (0, _) => return writeln!(err, "no near-duplicates: there is no document"),
        (_, 0) => {
            return writeln!(err, "no near-duplicates: there is no document with a token");
        }
        (_, 1) => {
            return writeln!(
                err,
                "no near-duplicates: there is only one document with a token; where every line of \
                 a file is a document, say --format lines"
            );
        }
        _ => {}
    }
    writeln!(
        err,
        "no near-duplicates: no two documents have similarity {} or more; try a lower --threshold, \
         or shorter shingles such as --shingle words:3",
        params.threshold()
    )
}
