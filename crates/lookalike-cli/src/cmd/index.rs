//! `lookalike index …`: keeps documents, so that documents similar to a new one are found at once.

mod add;
mod categorise;
mod create;
mod decisions;
mod export;
mod groups;
mod maintenance;
mod open;
mod original;
#[cfg(feature = "serve")]
mod remote;
mod remove;
mod settings;
mod stats;
mod versions;

pub(super) use open::PlaceArgs;

use super::CommandResult;
use crate::extraction::WorkerOption;
use clap::Subcommand;

const EXAMPLE: &str = "\
Examples:
  lookalike index create news.lookalike articles.jsonl --metadata date
  lookalike index add news.lookalike more.jsonl
  lookalike query news.lookalike draft.txt
  lookalike index groups news.lookalike --report groups.html";

// The description is in `lib.rs`, because the list of commands shows it before clap defines the
// arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct IndexArgs {
    #[command(subcommand)]
    command: IndexCommand,
}

#[derive(Debug, Subcommand)]
enum IndexCommand {
    Create(create::CreateArgs),
    Add(add::AddArgs),
    Update(add::UpdateArgs),
    Remove(remove::RemoveArgs),
    Groups(groups::GroupsArgs),
    Decisions(decisions::DecisionsArgs),
    Categorise(categorise::CategoriseArgs),
    Original(original::OriginalArgs),
    Versions(versions::VersionsArgs),
    Stats(stats::StatsArgs),
    Export(export::ExportArgs),
    Compact(maintenance::CompactArgs),
    Check(maintenance::CheckArgs),
    Backup(maintenance::BackupArgs),
    Restore(maintenance::RestoreArgs),
}

/// Runs the command.
pub(crate) fn run(args: &mut IndexArgs, worker: WorkerOption<'_>) -> CommandResult {
    match &mut args.command {
        IndexCommand::Create(args) => create::run(args, worker),
        IndexCommand::Add(args) => add::run(args, worker),
        IndexCommand::Update(args) => add::run_update(args, worker),
        IndexCommand::Remove(args) => remove::run(args, worker),
        IndexCommand::Groups(args) => groups::run(args),
        IndexCommand::Decisions(args) => decisions::run(args),
        IndexCommand::Categorise(args) => categorise::run(args),
        IndexCommand::Original(args) => original::run(args),
        IndexCommand::Versions(args) => versions::run(args),
        IndexCommand::Stats(args) => stats::run(args),
        IndexCommand::Export(args) => export::run(args),
        IndexCommand::Compact(args) => maintenance::compact(args),
        IndexCommand::Check(args) => maintenance::check(args),
        IndexCommand::Backup(args) => maintenance::backup(args),
        IndexCommand::Restore(args) => maintenance::restore(args),
    }
}
