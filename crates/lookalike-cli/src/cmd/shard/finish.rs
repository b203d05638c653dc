//! `lookalike shard finish FOLDER`: combines all task results, and writes them as `find` does.

use super::tasks::{open, plan_args};
use crate::arguments::options::WorkArgs;
use crate::cmd::find::FindOutputArgs;
use crate::cmd::find::targets::FindTargets;
use crate::cmd::{CommandError, CommandResult};
use crate::extraction::WorkerOption;
use lookalike::shard::job::Job;
use std::path::PathBuf;
use std::time::Instant;

/// Put together what all tasks found, and write it as `find` does
#[derive(Debug, clap::Args)]
pub(super) struct FinishArgs {
    /// The folder of the job
    folder: PathBuf,

    #[command(flatten)]
    result: FindOutputArgs,

    #[command(flatten)]
    work: WorkArgs,
}

pub(super) fn run(args: &FinishArgs, worker: WorkerOption<'_>) -> CommandResult {
    let start = Instant::now();
    let mut targets = FindTargets::new(&args.result)?;
    if targets.has_page() {
        return Err(CommandError::Usage(
            "--report: a page shows texts, which the tasks of a job do not keep; use FILE.json"
                .to_owned(),
        ));
    }
    if args.result.has_estimates() {
        return Err(CommandError::Usage(
            "--estimates: the tasks of a job do not keep signatures; use `lookalike find` with \
             --memory"
                .to_owned(),
        ));
    }
    let job = Job::open(&args.folder)?;
    let plan = plan_args(&job)?;
    let (collection, mut options) = open(&job, &args.work, worker)?;
    if args.result.has_pairs() && !options.pairs.is_listed() {
        return Err(CommandError::Usage(
            "--pairs: the plan was made without pairs; make one with `lookalike shard plan \
             --pairs`"
                .to_owned(),
        ));
    }
    targets.refuse_taken(&plan.inputs, &plan.reference)?;
    targets.check_writable(&plan.inputs)?;
    let findings = job.finish(&collection, &options)?;
    // As in `find`, the exit code depends on this option.
    options.skip_repeated_ids = plan.skips_bad();
    let sides = [plan.inputs.as_slice(), &plan.reference];
    args.result.finish(findings, &options, sides, &targets, start)
}
