//! `lookalike shard …`: `find` divided into tasks that write files, for any scheduler.

mod args;
mod finish;
mod plan;
mod status;
mod tasks;

use super::CommandResult;
use super::error::of_job_stage;
use crate::extraction::WorkerOption;
use args::PlanArgs;
use clap::Subcommand;
use std::ffi::OsString;

const EXAMPLE: &str = "\
Examples:
  lookalike shard plan job pages/ --tasks 8    divides the inputs into 8 shares

All tasks of each stage, on one machine:
  lookalike shard keys job
  lookalike shard connect job
  lookalike shard components job               also runs `merge` and `label`
  lookalike shard decide job
  lookalike shard finish job -o groups.csv     the bytes of `find`

One task, on any of several machines:
  lookalike shard keys job 0

docs/guides/shard.md has scripts for schedulers.";

// The description is in `lib.rs`, because the list of commands shows it before clap defines the
// arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct ShardArgs {
    #[command(subcommand)]
    command: ShardCommand,
}

#[derive(Debug, Subcommand)]
enum ShardCommand {
    Plan(Box<PlanArgs>),
    Count(tasks::CountArgs),
    Rarity(tasks::RarityArgs),
    Keys(tasks::KeysArgs),
    Connect(tasks::ConnectArgs),
    Merge(tasks::MergeArgs),
    Label(tasks::LabelArgs),
    Components(tasks::ComponentsArgs),
    Decide(tasks::DecideArgs),
    Finish(Box<finish::FinishArgs>),
    Status(status::StatusArgs),
}

/// Runs the command. The plan keeps `arguments`, the arguments of the process.
pub(crate) fn run(
    args: &mut ShardArgs,
    arguments: &[OsString],
    worker: WorkerOption<'_>,
) -> CommandResult {
    let is_plan = matches!(args.command, ShardCommand::Plan(_));
    let result = match &mut args.command {
        ShardCommand::Plan(args) => plan::run(args, arguments, worker),
        ShardCommand::Count(args) => tasks::count(args, worker),
        ShardCommand::Rarity(args) => tasks::rarity(args),
        ShardCommand::Keys(args) => tasks::keys(args, worker),
        ShardCommand::Connect(args) => tasks::connect(args),
        ShardCommand::Merge(args) => tasks::merge(args),
        ShardCommand::Label(args) => tasks::label(args, worker),
        ShardCommand::Components(args) => tasks::components(args, worker),
        ShardCommand::Decide(args) => tasks::decide(args, worker),
        ShardCommand::Finish(args) => finish::run(args, worker),
        ShardCommand::Status(args) => status::run(args),
    };
    result.map_err(|error| of_job_stage(error, is_plan))
}
