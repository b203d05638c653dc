//! `lookalike dedup INPUT… -o OUT`: the inputs without their near-duplicates, in their own format.

mod action_args;
mod actions;
mod args;
mod cut_args;
mod passages;
mod print;

use super::find::input_bytes;
use super::{CommandError, CommandResult, bands};
use crate::exit_code::ExitCode;
use crate::explicit_args::ExplicitArgs;
use crate::extraction::WorkerOption;
use crate::progress_bar::StageBar;
use crate::summary::Summary;
use crate::termination;
use crate::waiting::WaitingNote;
use actions::ActionSummary;
pub(crate) use args::DedupArgs;
use args::DedupOutputArgs;
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::dedup::{
    Annotate, AnnotationSubject, Destination, Others, RemovedList, SurvivorCounts, Survivors, apply,
};
use lookalike::find::{self, FindOptions, Findings};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, ReadOptions};
use lookalike::report::csv::CellRule;
use lookalike::report::{self, Output, OutputFormat, Target};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a list of removed documents can be.
const LISTS: &[OutputFormat] = &[OutputFormat::Csv, OutputFormat::Jsonl];

/// Runs the command.
pub(crate) fn run(given: &mut ExplicitArgs<DedupArgs>, worker: WorkerOption<'_>) -> CommandResult {
    given.args.reading.read_list(&mut given.args.inputs)?;
    let args = &given.args;
    if args.cut.passages {
        passages::refuse_idle(given)?;
        return passages::run(args, worker);
    }
    let start = Instant::now();
    let builder = args.parameters.builder(args.shingle.rule(args.reading.normalization())?);
    let mut options = options(args, &builder)?;
    let targets = DedupTargets::new(args)?;
    let mut reading = args.reading.options(worker);
    // A second run must not find the files of the first among its documents.
    let own = targets.all().map(Target::path).chain(args.result.actions.script.as_deref());
    reading.leave_out = own.map(Path::to_owned).collect();
    reading.fields = options.fields();
    let reference = args.run.reference();
    let bands_auto = args.parameters.bands_auto(args.inputs.iter().chain(reference))?;
    let waiting = WaitingNote::new(args.inputs.iter().chain(reference), args.result.quiet);
    let open = || Collection::open_with_reference(&args.inputs, reference, &reading);
    let collection = open()?;
    drop(waiting);
    args.result.actions.check(&collection, &args.inputs, reference)?;
    if let Some(option) = args.result.actions.any() {
        args.reading.refuse_units(&format!(
            "decides about parts of files, {option} moves or lists whole files; leave one of both \
             out (--output FOLDER/ writes files without the parts that go)"
        ))?;
    }
    if bands_auto {
        let (bar, quiet) = (StageBar::new(args.result.quiet), args.result.quiet);
        bands::choose(&open()?, &builder, &mut options, &bar, quiet)?;
    }
    let plan = DedupPlan::new(args, &collection, &options, &reading)?;
    let outputs = targets.all().map(Target::path).chain(args.result.written_paths());
    termination::clean_up(outputs)?;
    // What cannot be written is an error before the work; an interruption leaves nothing behind.
    if !args.result.dry_run {
        DedupOutputs::create(&plan, &targets)?.check_writable(&collection)?;
    }
    let bar = StageBar::new(args.result.quiet);
    let findings = find::in_collection(&collection, &options, &bar)?;
    drop(bar);
    let mut written = None;
    if !args.result.dry_run {
        written = DedupOutputs::create(&plan, &targets)?.write(&findings, &collection, &plan)?;
    }
    let removed = targets.removed(args, &plan)?;
    let taken = args.result.actions.take(&findings, &collection, args, &options, removed)?;
    let summary = Summary {
        findings: &findings,
        options: &options,
        bytes: input_bytes(&collection),
        elapsed: start.elapsed(),
        skipped_listed: args.result.skipped.is_some(),
        verbose: args.result.verbose,
    };
    let is_folder = plan.destination.as_ref().is_some_and(Destination::is_folder);
    print::print(args, &summary, written.as_ref(), taken.as_ref(), is_folder)?;
    let failed = taken.as_ref().map_or(0, ActionSummary::failed);
    let found = args.result.exit_code && findings.counts.duplicates > 0;
    findings.finish()?;
    if failed > 0 {
        let problem = format!("{failed} duplicates were left as they are, for the reasons above");
        return Err(CommandError::Data(problem));
    }
    Ok(ExitCode::found_if(found))
}

fn options(args: &DedupArgs, builder: &ParamsBuilder) -> Result<FindOptions, CommandError> {
    let mut options = args.run.options(Params::new(builder)?)?;
    options.skip_repeated_ids = args.reading.skip_bad();
    options.related = args.result.annotate;
    Ok(options)
}

/// What is written, and how.
struct DedupPlan<'a> {
    /// Where survivors go, if anywhere.
    destination: Option<Destination>,
    annotate: Option<Annotate>,
    /// What else is copied to a folder.
    others: Option<Others>,
    cells: CellRule,
    options: &'a FindOptions,
}

impl<'a> DedupPlan<'a> {
    fn new(
        args: &DedupArgs,
        collection: &Collection,
        options: &'a FindOptions,
        reading: &ReadOptions,
    ) -> Result<Self, CommandError> {
        let annotate = args.result.annotate.then(|| Annotate {
            field: args.result.annotate_field.clone(),
            subject: AnnotationSubject::Groups(options.params.measure()),
        });
        let others = (!args.result.documents_only).then(|| Others {
            follow_links: reading.follow_links,
            leave_out: reading.leave_out.clone(),
        });
        let destination = args.destination(collection, annotate.as_ref())?;
        Ok(Self { destination, annotate, others, cells: args.result.csv.cells(), options })
    }
}

impl DedupOutputArgs {
    /// The outputs that are not lists.
    fn written_paths(&self) -> impl Iterator<Item = &Path> {
        [&self.output, &self.actions.script].into_iter().flatten().map(PathBuf::as_path)
    }
}

/// The lists that are asked for next to the survivors.
struct DedupTargets {
    removed: Option<Target>,
    skipped: Option<Target>,
}

impl DedupTargets {
    fn new(args: &DedupArgs) -> Result<Self, CommandError> {
        let target = |option: &str, path: &Option<PathBuf>, possible| {
            let target = path.as_deref().map(|path| Target::new(path, possible)).transpose();
            target.map_err(|error| CommandError::Usage(format!("{option}: {error}")))
        };
        let result = &args.result;
        let targets = Self {
            removed: target("--removed", &result.removed, LISTS)?,
            skipped: target("--skipped", &result.skipped, &[OutputFormat::Csv])?,
        };
        let files = targets.all().map(Target::path).chain(result.actions.script.as_deref());
        let output = result.output.as_deref().filter(|output| *output != Path::new("-"));
        report::check_places(files, output, &args.inputs, args.run.reference())
            .map_err(|taken| CommandError::Usage(taken.to_string()))?;
        Ok(targets)
    }

    /// The list of what goes, where no survivors are written with it.
    fn removed(
        &self,
        args: &DedupArgs,
        plan: &DedupPlan<'_>,
    ) -> Result<Option<RemovedList>, CommandError> {
        let target = self.removed.as_ref();
        let target = target.filter(|_| plan.destination.is_none() && !args.result.dry_run);
        let removed = target.map(|target| removed_list(target, plan)).transpose()?;
        Ok(removed)
    }

    fn all(&self) -> impl Iterator<Item = &Target> {
        [&self.removed, &self.skipped].into_iter().flatten()
    }
}

fn removed_list(
    target: &Target,
    plan: &DedupPlan<'_>,
) -> Result<RemovedList, lookalike::error::Error> {
    Ok(RemovedList::create(target, plan.options.params.measure())?.with_cells(plan.cells))
}

/// The files that are being written.
struct DedupOutputs {
    survivors: Option<Survivors>,
    removed: Option<RemovedList>,
    skipped: Option<Output>,
}

impl DedupOutputs {
    fn create(plan: &DedupPlan<'_>, targets: &DedupTargets) -> Result<Self, CommandError> {
        let survivors = plan.destination.clone().map(|place| {
            let survivors = Survivors::create(place, plan.annotate.clone())?;
            let survivors = survivors.with_cells(plan.cells);
            Ok::<_, lookalike::error::Error>(match &plan.others {
                Some(others) => survivors.with_others(others.clone()),
                None => survivors,
            })
        });
        let removed = targets.removed.as_ref().map(|target| removed_list(target, plan));
        Ok(Self {
            survivors: survivors.transpose()?,
            removed: removed.transpose()?,
            skipped: targets.skipped.as_ref().map(Output::create).transpose()?,
        })
    }

    fn check_writable(self, collection: &Collection) -> Result<(), CommandError> {
        self.survivors.map_or(Ok(()), |survivors| Ok(survivors.check_writable(collection)?))
    }

    fn write(
        self,
        findings: &Findings,
        collection: &Collection,
        plan: &DedupPlan<'_>,
    ) -> Result<Option<SurvivorCounts>, CommandError> {
        let Self { survivors, removed, skipped } = self;
        let options = plan.options;
        let written = survivors
            .map(|survivors| apply(findings, collection, options, survivors, removed, &NoProgress))
            .transpose()?;
        write_skipped_list(skipped, findings, plan.cells)?;
        Ok(written)
    }
}

/// Writes the list of what was skipped, if it is wanted.
fn write_skipped_list(
    output: Option<Output>,
    findings: &Findings,
    cells: CellRule,
) -> Result<(), CommandError> {
    let Some(output) = output else { return Ok(()) };
    let Findings { skipped, textless_copies, empty, .. } = findings;
    Ok(output.finish(|out| report::csv::skipped(out, skipped, textless_copies, empty, cells))?)
}
