//! `lookalike dedup INPUT… -o OUT`: the inputs without their near-duplicates, in their own format.

mod action_args;
mod actions;
mod add;
mod args;
mod cut_args;
mod outputs;
mod passages;
mod print;

use super::find::input_bytes;
use super::{CommandError, CommandResult, bands};
use crate::explicit_args::ExplicitArgs;
use crate::extraction::WorkerOption;
use crate::progress_bar::StageBar;
use crate::summary::{Summary, exit_code};
use crate::terminal;
use crate::termination;
use crate::waiting::WaitingNote;
use actions::ActionSummary;
use add::ReferenceIndex;
pub(crate) use args::DedupArgs;
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::dedup::{AnnotationSubject, Destination, RemovedList, SurvivorCounts, apply};
use lookalike::error::Error;
use lookalike::find::{self, FindOptions, Findings};
use lookalike::progress::NoProgress;
use lookalike::read::Collection;
use lookalike::report::Target;
use lookalike::report::csv::CellRule;
use outputs::{DedupOutputs, DedupTargets, OutputPlan, write_skipped_list};
use std::path::Path;
use std::time::Instant;

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
    reading.leave_out = own.chain(args.drop.path()).map(Path::to_owned).collect();
    reading.fields = options.fields();
    reading.shingle = Some(options.params.shingle().clone());
    let index = ReferenceIndex::open(args)?;
    let reference = args.run.reference();
    let bands_auto = args.parameters.bands_auto(args.inputs.iter().chain(reference))?;
    let waiting = WaitingNote::new(args.inputs.iter().chain(reference), args.result.quiet);
    let opened_reference = args.run.opened_reference()?;
    let open = || Collection::open_with_reference(&args.inputs, &opened_reference, &reading);
    let collection = open()?;
    drop(waiting);
    args.result.actions.check(&collection, &args.inputs, reference)?;
    refuse_actions_on_units(args)?;
    if bands_auto {
        let (bar, quiet) = (StageBar::new(args.result.quiet), args.result.quiet);
        bands::choose(&open()?, &builder, &mut options, &bar, quiet)?;
    }
    let subject = AnnotationSubject::Groups(options.params.measure());
    let plan = OutputPlan::new(args, &collection, &reading, subject)?;
    let list = |target: &Target| removed_list(target, &options, plan.cells);
    let outputs = targets.all().map(Target::path).chain(args.result.written_paths());
    termination::clean_up(outputs)?;
    // What cannot be written is an error before the work; an interruption leaves nothing behind.
    if !args.result.dry_run {
        DedupOutputs::create(&plan, &targets, list)?.check_writable(&collection)?;
    }
    let bar = StageBar::new(args.result.quiet);
    let findings = find::in_collection(&collection, &options, &bar)?;
    drop(bar);
    let mut written = None;
    if !args.result.dry_run {
        let outputs = DedupOutputs::create(&plan, &targets, list)?;
        written = write(outputs, &findings, &collection, &options, plan.cells)?;
    }
    let added = index.map(|index| index.add(&findings, &collection, &options)).transpose()?;
    // The list of what goes, where no survivors are written with it.
    let alone = plan.destination.is_none() && !args.result.dry_run;
    let removed = targets.removed.as_ref().filter(|_| alone).map(list).transpose()?;
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
    if let Some(added) = added.filter(|_| !args.result.quiet) {
        terminal::stderr().message(&added)?;
    }
    let found = args.result.exit_code && findings.counts.duplicates > 0;
    let code = exit_code(findings.skipped.iter(), args.reading.skip_bad(), found)?;
    findings.finish()?;
    if let failed @ 1.. = taken.as_ref().map_or(0, ActionSummary::failed) {
        let problem = format!("{failed} duplicates were left as they are, for the reasons above");
        return Err(CommandError::Data(problem));
    }
    Ok(code)
}

/// Refuses actions on whole files where parts of them are compared.
fn refuse_actions_on_units(args: &DedupArgs) -> Result<(), CommandError> {
    let Some(option) = args.result.actions.any() else { return Ok(()) };
    args.reading.refuse_units(&format!(
        "decides about parts of files, {option} moves or lists whole files; leave one of both out \
         (--output FOLDER/ writes files without the parts that go)"
    ))
}

fn options(args: &DedupArgs, builder: &ParamsBuilder) -> Result<FindOptions, CommandError> {
    let mut options = args.run.options(Params::new(builder)?)?;
    options.skip_repeated_ids = args.reading.skip_bad();
    options.related = args.result.annotate;
    options.drop = args.drop.read()?;
    Ok(options)
}

fn removed_list(
    target: &Target,
    options: &FindOptions,
    cells: CellRule,
) -> Result<RemovedList, Error> {
    Ok(RemovedList::create(target, options.params.measure())?.with_cells(cells))
}

fn write(
    outputs: DedupOutputs,
    findings: &Findings,
    collection: &Collection,
    options: &FindOptions,
    cells: CellRule,
) -> Result<Option<SurvivorCounts>, CommandError> {
    let DedupOutputs { survivors, removed, skipped } = outputs;
    let written = survivors
        .map(|survivors| apply(findings, collection, options, survivors, removed, &NoProgress))
        .transpose()?;
    write_skipped_list(skipped, findings, cells)?;
    Ok(written)
}
