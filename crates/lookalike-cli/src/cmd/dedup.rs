//! `lookalike dedup INPUT… -o OUT`: the inputs without their near-duplicates, in their own format.

use super::{Failure, Outcome};
use crate::exit_code::ExitCode;
use crate::extraction::Worker;
use crate::options::{ParameterArgs, ReadArgs, RunArgs, ShingleArgs};
use crate::progress_bar::Bar;
use crate::sources::{Fate, Table};
use crate::summary::{self, Summary, count};
use crate::terminal;
use crate::text_width::one_line;
use lookalike::core::params::{Measure, Params};
use lookalike::dedup::{
    Annotate, DEFAULT_FIELD, Destination, Origin, Removed, Survivors, Written, apply,
};
use lookalike::progress::Silent;
use lookalike::read::Collection;
use lookalike::run::{self, FindOptions, Findings};
use lookalike::write::{self, Output, OutputFormat, Target};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

const EXAMPLE: &str = "\
Examples:
  lookalike dedup corpus.jsonl -o unique.jsonl            records, each as it stands
  lookalike dedup letters/ -o kept/                       copies of the files that stay
  lookalike dedup a.csv b.csv --dry-run                   what would go from each
  lookalike dedup train.jsonl --reference test.jsonl -o clean.jsonl";

/// What a list of removed documents can be.
const LISTS: &[OutputFormat] = &[OutputFormat::Csv, OutputFormat::Jsonl];
/// Sources in the table beside the summary.
const SUMMARY_SOURCES: usize = 10;
/// The exit code of `--exit-code` when duplicates were found.
const DUPLICATES_FOUND: u8 = 3;

/// The inputs without their near-duplicates, in their own format
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
    reading: ReadArgs,
}

/// What is made of it.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What comes out")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct ResultArgs {
    /// Write the documents that stay to OUT, in the format of the input [also .gz, .zst]. A folder
    /// (it exists and is empty, or the name ends in /) gets a file for each input. Of text files:
    /// a folder gets copies, FILE.txt, .csv or .jsonl a list
    #[arg(long, short, value_name = "OUT", required_unless_present = "dry_run")]
    output: Option<PathBuf>,

    /// Write all documents, each with what was decided: JSON objects get a member, tables columns
    #[arg(long)]
    annotate: bool,

    /// The name of that member, and the beginning of the names of those columns
    #[arg(long, value_name = "NAME", default_value = DEFAULT_FIELD, requires = "annotate")]
    annotate_field: String,

    /// Write nothing; print how much of each source would go
    #[arg(long, conflicts_with_all = ["removed", "skipped"])]
    dry_run: bool,

    /// Write the documents that go to FILE.csv or FILE.jsonl, with what stays for them and why
    #[arg(long, value_name = "FILE")]
    removed: Option<PathBuf>,

    /// Write what was not read, and why, and the empty documents to FILE.csv
    #[arg(long, value_name = "FILE")]
    skipped: Option<PathBuf>,

    /// End with 3 when duplicates were found
    #[arg(long)]
    exit_code: bool,

    /// No summary and no progress; what was skipped, and warnings, are still told
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
    let options = options(args)?;
    let targets = Targets::new(args)?;
    let mut reading = args.reading.options(worker);
    // A second run must not find the files of the first among its documents.
    reading.leave_out = targets.all().map(|target| target.path().to_owned()).collect();
    reading.fields = options.fields();
    let reference = args.run.reference();
    let collection = Collection::open_with_reference(&args.inputs, reference, &reading)?;
    let annotate = args.result.annotate.then(|| Annotate {
        field: args.result.annotate_field.clone(),
        measure: measure(&options),
    });
    let destination = destination(args, &collection, annotate.as_ref())?;
    // What cannot be written is told before the work; nothing is left behind if that is broken off.
    if !args.result.dry_run {
        Outputs::create(destination.clone(), annotate.clone(), &targets, &options)?
            .rehearse(&collection)?;
    }
    let findings = {
        let bar = (!args.result.quiet).then(Bar::new);
        match &bar {
            Some(bar) => run::find(&collection, &options, bar)?,
            None => run::find(&collection, &options, &Silent)?,
        }
    };
    let mut written = None;
    if !args.result.dry_run {
        let outputs = Outputs::create(destination, annotate, &targets, &options)?;
        written = outputs.write(&findings, &collection, &options)?;
    }
    let bytes = collection.bytes().or_else(|| Some(collection.bytes_read()).filter(|b| *b > 0));
    let summary = Summary {
        findings: &findings,
        options: &options,
        bytes,
        elapsed: start.elapsed(),
        skipped_listed: args.result.skipped.is_some(),
        verbose: args.result.verbose,
    };
    tell(args, &summary, written)?;
    let found = args.result.exit_code && findings.counts.duplicates > 0;
    findings.finish()?;
    Ok(if found { ExitCode::from(DUPLICATES_FOUND) } else { ExitCode::SUCCESS })
}

fn options(args: &Args) -> Result<FindOptions, Failure> {
    let params = Params::new(&args.parameters.wishes(args.shingle.rule(args.reading.wording())?))?;
    let mut options = args.run.options(params)?;
    options.skip_duplicate_ids = args.reading.skip_bad();
    Ok(options)
}

/// What the similarity is called.
fn measure(options: &FindOptions) -> &'static str {
    match options.params.measure() {
        Measure::Containment => "containment",
        Measure::Jaccard => "jaccard",
    }
}

/// Where survivors go; nowhere in a dry run that names no output.
fn destination(
    args: &Args,
    collection: &Collection,
    annotate: Option<&Annotate>,
) -> Result<Option<Destination>, Failure> {
    let Some(out) = &args.result.output else { return Ok(None) };
    let origins = (0..collection.sources()).filter_map(|n| Origin::of(collection, n)).collect();
    let destination = Destination::new(out, &args.inputs, args.run.reference(), origins, annotate);
    destination.map(Some).map_err(|error| Failure::Usage(error.to_string()))
}

/// The lists that are asked for beside the survivors.
struct Targets {
    removed: Option<Target>,
    skipped: Option<Target>,
}

impl Targets {
    fn new(args: &Args) -> Result<Self, Failure> {
        let target = |option: &str, path: &Option<PathBuf>, possible| {
            let target = path.as_deref().map(|path| Target::new(path, possible)).transpose();
            target.map_err(|error| Failure::Usage(format!("{option}: {error}")))
        };
        let result = &args.result;
        let targets = Self {
            removed: target("--removed", &result.removed, LISTS)?,
            skipped: target("--skipped", &result.skipped, &[OutputFormat::Csv])?,
        };
        let files = targets.all().map(Target::path);
        write::check_places(files, result.output.as_deref(), &args.inputs, args.run.reference())
            .map_err(|taken| Failure::Usage(taken.to_string()))?;
        Ok(targets)
    }

    fn all(&self) -> impl Iterator<Item = &Target> {
        [&self.removed, &self.skipped].into_iter().flatten()
    }
}

/// The files that are being written.
struct Outputs {
    survivors: Option<Survivors>,
    removed: Option<Removed>,
    skipped: Option<Output>,
}

impl Outputs {
    fn create(
        destination: Option<Destination>,
        annotate: Option<Annotate>,
        targets: &Targets,
        options: &FindOptions,
    ) -> Result<Self, Failure> {
        let survivors = destination.map(|place| Survivors::create(place, annotate)).transpose()?;
        let removed = |target| Removed::create(target, measure(options));
        Ok(Self {
            survivors,
            removed: targets.removed.as_ref().map(removed).transpose()?,
            skipped: targets.skipped.as_ref().map(Output::create).transpose()?,
        })
    }

    fn rehearse(self, collection: &Collection) -> Result<(), Failure> {
        self.survivors.map_or(Ok(()), |survivors| Ok(survivors.rehearse(collection)?))
    }

    fn write(
        self,
        findings: &Findings,
        collection: &Collection,
        options: &FindOptions,
    ) -> Result<Option<Written>, Failure> {
        let Self { survivors, removed, skipped } = self;
        let written = survivors
            .map(|survivors| apply(findings, collection, options, survivors, removed, &Silent))
            .transpose()?;
        if let Some(output) = skipped {
            let (skipped, empty) = (&findings.skipped, &findings.empty);
            let identical = &findings.identical;
            output.finish(|out| write::csv::skipped(out, skipped, identical, empty))?;
        }
        Ok(written)
    }
}

/// What was done, on standard error; in a dry run the table of the sources is on standard output.
fn tell(args: &Args, summary: &Summary<'_>, written: Option<Written>) -> io::Result<()> {
    let findings = summary.findings;
    let dry = args.result.dry_run;
    let fate = if dry { Fate::WouldGo } else { Fate::Go };
    let table = Table { sources: &findings.sources, fate };
    if dry {
        let mut out = terminal::stdout();
        table.write(&mut out, usize::MAX)?;
        out.flush()?;
    }
    let mut err = terminal::stderr();
    if !args.result.quiet {
        if dry {
            writeln!(err)?;
        } else {
            table.write(&mut err, SUMMARY_SOURCES)?;
        }
    }
    table.warn(&mut err)?;
    if args.result.quiet {
        return summary::write_skipped(&mut err, findings, summary.skipped_listed);
    }
    if let (Some(written), Some(out)) = (written, &args.result.output) {
        write_written(&mut err, out, written, args.result.annotate)?;
    }
    for (what, path) in [("removed", &args.result.removed), ("skipped", &args.result.skipped)] {
        if let Some(path) = path {
            writeln!(err, "{what}: {}", one_line(&path.to_string_lossy()))?;
        }
    }
    summary.write(&mut err)
}

fn write_written(
    err: &mut impl Write,
    out: &Path,
    written: Written,
    annotated: bool,
) -> io::Result<()> {
    let kept = count(written.kept, "document");
    let removed = count(written.removed, "duplicate");
    let files = match written.files {
        1 => String::new(),
        files => format!(" in {}", count(files, "file")),
    };
    let out = out.to_string_lossy();
    let out = one_line(&out);
    if annotated {
        writeln!(err, "annotated: {out}{files}: {kept} kept, {removed} marked")
    } else {
        writeln!(err, "written: {out}{files}: {kept}; {removed} left out")
    }
}
