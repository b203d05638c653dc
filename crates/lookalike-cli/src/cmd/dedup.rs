//! `lookalike dedup INPUT… -o OUT`: the inputs without their near-duplicates, in their own format.

mod action_args;
mod actions;
mod add;
mod args;
mod changes;
mod outputs;
mod print;

use super::error::{of_added_documents, of_dedup_request};
use super::{CommandError, CommandResult};
use crate::extraction::WorkerOption;
use crate::output::progress_bar::StageBar;
use crate::output::summary::{Summary, exit_code};
use crate::output::terminal;
use crate::output::waiting::WaitingNote;
use crate::output::written_files::WrittenFiles;
use crate::termination;
pub(crate) use args::DedupArgs;
pub(super) use args::DropArgs;
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::find::FindOptions;
use lookalike::progress::NoProgress;
use lookalike::request::{DedupRequest, FindRequest, RunInputs};
pub(super) use outputs::survivor_outputs;
pub(super) use print::dropped;
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &mut DedupArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.reading.read_list(&mut args.inputs)?;
    let args = &*args;
    refuse_no_output(args)?;
    let start = Instant::now();
    let builder = args.parameters.builder(args.shingle.rule(args.reading.normalization())?);
    let options = options(args, &builder)?;
    let outputs = args.outputs()?;
    refuse_actions_on_units(args)?;
    let index = add::reference_index(args)?;
    let all_inputs = || args.inputs.iter().chain(args.run.reference());
    let auto_bands = args.parameters.bands_auto(all_inputs())?.then_some(builder);
    let reference = args.run.opened_reference()?;
    let reading = args.reading.options(worker);
    let mut inputs = RunInputs::of_paths(&args.inputs, &reference, reading);
    inputs.leave_out(args.drop.path().map(Path::to_owned));
    let request = DedupRequest {
        find: FindRequest::new(inputs, options, auto_bands),
        outputs,
        action: args.result.actions.action(),
        script: args.result.actions.script.clone(),
        undo_folder: args.result.actions.undo_folder(),
        is_dry_run: args.result.dry_run,
    };
    let waiting = WaitingNote::new(all_inputs(), args.result.common.quiet);
    let actions = &args.result.actions;
    let opened = request.open().map_err(|error| {
        let folder = actions.verb().1;
        of_dedup_request(error, actions.option(), folder)
    })?;
    drop(waiting);
    termination::clean_up(args.written_paths())?;
    let written_files = WrittenFiles::new(args.written_paths(), &args.inputs);
    let bar = StageBar::new(args.result.common.quiet);
    let found = opened.find(&bar)?;
    drop(bar);
    let outcome = found
        .write(index.as_ref(), &NoProgress)
        .map_err(|error| of_added_documents(error, index.as_ref()))?;
    let findings = &outcome.find.findings;
    let summary = Summary {
        findings,
        options: &outcome.find.options,
        bytes: outcome.find.bytes(),
        elapsed: start.elapsed(),
        skipped_listed: args.result.common.skipped.is_some(),
        verbose: args.result.verbose,
    };
    print::print(args, &summary, &outcome, &written_files)?;
    if let (Some(added), Some(index), false) = (&outcome.added, &index, args.result.common.quiet) {
        terminal::stderr().message(&add::summary(added, index))?;
    }
    let is_found = args.result.exit_code && findings.counts.duplicates > 0;
    let code = exit_code(findings.skipped.iter(), args.reading.skip_bad(), is_found)?;
    let acted = outcome.files.as_ref().and_then(|files| files.acted.as_ref());
    let failed = acted.map_or(0, |acted| acted.failed.len());
    outcome.find.findings.finish()?;
    if failed > 0 {
        let problem = format!("{failed} duplicates were left unchanged, for the reasons above");
        return Err(CommandError::Data(problem));
    }
    Ok(code)
}

/// Refuses a run without an output, an action on files, or a dry run.
fn refuse_no_output(args: &DedupArgs) -> Result<(), CommandError> {
    let result = &args.result;
    let has_list = result.removed.is_some() || result.add || result.dry_run;
    if has_list || result.output.is_some() || result.actions.option().is_some() {
        return Ok(());
    }
    Err(CommandError::Usage(
        "`dedup` has no output; add one of\n  \
         --dry-run         to list the changes and make none\n  \
         -o OUT            to write the kept documents\n  \
         --move-to FOLDER  to move duplicate files there\n  \
         --link hard       to replace files with equal bytes by links\n  \
         --script FILE     to write a script that removes duplicate files"
            .to_owned(),
    ))
}

/// Refuses actions on whole files if the run compares parts of files.
fn refuse_actions_on_units(args: &DedupArgs) -> Result<(), CommandError> {
    let Some(option) = args.result.actions.option() else { return Ok(()) };
    args.reading.refuse_units(&format!(
        "decides about parts of files, {option} moves or lists whole files; leave one of both out \
         (--output FOLDER/ writes files without the removed parts)"
    ))
}

fn options(args: &DedupArgs, builder: &ParamsBuilder) -> Result<FindOptions, CommandError> {
    let mut options = args.run.options(Params::new(builder)?)?;
    options.drop = args.drop.read()?;
    Ok(options)
}
