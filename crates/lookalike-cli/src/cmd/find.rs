//! `lookalike find INPUT…`: groups of near-duplicates, as a table, files or JSON.

mod measure;
pub(super) mod targets;
mod tell;

use super::{Failure, Outcome, bands};
use crate::exit_code::ExitCode;
use crate::extraction::Worker;
use crate::options::{CsvArgs, ParameterArgs, ReadArgs, RunArgs, ShingleArgs};
use crate::page::Subject;
use crate::progress_bar::Bar;
use crate::summary::Summary;
use crate::termination;
use crate::waiting::WaitingNote;
use lookalike::core::params::{Params, Wishes};
use lookalike::find::{self, FindOptions, PairList};
use lookalike::progress::{Progress, Silent};
use lookalike::read::Collection;
use lookalike::report::Target;
use lookalike::report::csv::Cells;
use measure::AuditArgs;
use std::path::PathBuf;
use std::time::Instant;
use targets::Targets;

const EXAMPLE: &str = "\
Examples:
  lookalike find letters/                                 a folder of text files
  lookalike find corpus.jsonl -o groups.jsonl --pairs pairs.csv
  lookalike find corpus.jsonl --report report.html --audit 2000
  zcat posts.gz | lookalike find - --format lines --threshold 0.6";

/// The exit code of `--exit-code` when duplicates were found.
const DUPLICATES_FOUND: u8 = 3;

/// Groups of near-duplicates: a table to read, or files
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// Files, folders, or - for standard input
    #[arg(required_unless_present = "files_from", value_name = "INPUT")]
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
    audit: AuditArgs,

    #[command(flatten)]
    reading: ReadArgs,
}

/// What is made of it.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What comes out")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct ResultArgs {
    /// Write groups to FILE.jsonl, FILE.csv [also .gz, .zst] or FILE.parquet instead of the table
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[arg(long, value_name = "FILE")]
    #[arg(help = "Write all verified pairs to FILE.csv or FILE.parquet: id_a,id_b,jaccard")]
    pairs: Option<PathBuf>,

    /// Add to the pairs what the MinHash signatures estimate, the error of the estimate, and its
    /// standard error
    #[arg(long, requires = "pairs")]
    estimates: bool,

    /// Write what was not read, and why, and the empty documents to FILE.csv
    #[arg(long, value_name = "FILE")]
    skipped: Option<PathBuf>,

    #[command(flatten)]
    csv: CsvArgs,

    /// Write the run to FILE.html, a page to read and to pass on, or to FILE.json [also .gz, .zst],
    /// what --json prints; may be given again
    #[arg(long, value_name = "FILE")]
    report: Vec<PathBuf>,

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

    /// Summary with candidates, comparisons, the time of each stage, and all parameters
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
}

impl Args {
    /// Adds the inputs of `--files-from`.
    pub(crate) fn read_list(&mut self) -> Result<(), Failure> {
        self.inputs = self.reading.inputs(&self.inputs)?;
        Ok(())
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args, worker: Worker<'_>) -> Outcome {
    let start = Instant::now();
    let wishes = args.parameters.wishes(args.shingle.rule(args.reading.wording())?);
    let mut options = find_options(args, &wishes)?;
    let reference = args.run.reference();
    let bands_auto = args.parameters.bands_auto(args.inputs.iter().chain(reference))?;
    let targets = Targets::new(&args.result)?;
    targets.refuse_taken(&args.inputs, reference)?;
    args.audit.refuse(args.inputs.iter().chain(reference))?;
    let mut reading = args.reading.options(worker);
    // A second run must not find the files of the first among its documents.
    reading.leave_out = targets.all().map(|target| target.path().to_owned()).collect();
    reading.fields = options.fields();
    let open = || Collection::open_with_reference(&args.inputs, reference, &reading);
    let waiting = WaitingNote::new(args.inputs.iter().chain(reference), args.result.quiet);
    let collection = open()?;
    drop(waiting);
    termination::clean_up(targets.all().map(Target::path))?;
    // What cannot be written is told before the work; nothing is left behind if that is broken off.
    drop((targets.create()?, targets.create_reports()?));
    let bar = (!args.result.quiet).then(Bar::new);
    let shown = bar.as_ref().map(|bar| bar as &dyn Progress);
    if bands_auto {
        bands::choose(&open()?, &wishes, &mut options, shown)?;
    }
    let progress = shown.unwrap_or(&Silent);
    let mut findings = find::in_collection(&collection, &options, progress)?;
    // What was found is on the disk before an audit that may fail.
    targets.create()?.write(&findings, options.params.measure())?;
    let audit = args.audit.measure(&mut findings, &options, open, progress)?;
    drop(bar);
    let subject = Subject {
        findings: &findings,
        options: &options,
        inputs: &args.inputs,
        reference,
        audit: audit.as_ref(),
    };
    let bytes = collection.bytes().or_else(|| Some(collection.bytes_read()).filter(|b| *b > 0));
    let found = args.result.tell(&subject, &targets, bytes, start)?;
    findings.finish()?;
    Ok(found)
}

impl ResultArgs {
    /// Whether something is shown while the work is done.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// How values of CSV files are written.
    fn cells(&self) -> Cells {
        self.csv.cells()
    }

    /// How pairs are listed.
    pub(super) fn pair_list(&self) -> Result<PairList, Failure> {
        Ok(PairList::new(self.pairs.is_some(), self.estimates)?)
    }

    /// Writes reports, prints what is wanted, and gives the exit code.
    pub(super) fn tell(
        &self,
        subject: &Subject<'_>,
        targets: &Targets,
        bytes: Option<u64>,
        start: Instant,
    ) -> Outcome {
        targets.create_reports()?.write(subject)?;
        let Subject { findings, options, audit, .. } = *subject;
        let summary = Summary {
            findings,
            options,
            bytes,
            elapsed: start.elapsed(),
            skipped_listed: self.skipped.is_some(),
            verbose: self.verbose,
        };
        let not_shown = tell::print(self, &summary, audit)?;
        tell::tell(self, &summary, audit, not_shown)?;
        let found = self.exit_code && !findings.groups.is_empty();
        Ok(if found { ExitCode::from(DUPLICATES_FOUND) } else { ExitCode::SUCCESS })
    }
}

fn find_options(args: &Args, wishes: &Wishes) -> Result<FindOptions, Failure> {
    let mut options = args.run.options(Params::new(wishes)?)?;
    options.pairs = args.result.pair_list()?;
    options.skip_duplicate_ids = args.reading.skip_bad();
    Ok(options)
}
