//! `lookalike index …`: documents that are kept, so that what resembles a new one is found at once.

mod add;
mod create;
mod export;
mod groups;
mod open;
#[cfg(feature = "postgres")]
mod postgres_environment;
mod remove;
mod settings;
mod stats;
mod upkeep;

pub(super) use open::{PlaceArgs, place};
pub(super) use settings::Asked;

use super::{Failure, Outcome};
use crate::extraction::Worker;
use clap::Subcommand;

const EXAMPLE: &str = "\
Examples:
  lookalike index create news.lookalike articles.jsonl --metadata date
  lookalike index add news.lookalike more.jsonl
  lookalike query news.lookalike draft.txt
  lookalike index groups news.lookalike --report groups.html";

/// Documents that are kept: add, replace and remove them, group them, look after the index
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Create(create::Args),
    Add(add::AddArgs),
    Update(add::UpdateArgs),
    Remove(remove::Args),
    Groups(groups::Args),
    Stats(stats::Args),
    Export(export::Args),
    Compact(upkeep::CompactArgs),
    Check(upkeep::CheckArgs),
    Backup(upkeep::BackupArgs),
    Restore(upkeep::RestoreArgs),
}

impl Args {
    /// Adds the inputs of `--files-from`.
    pub(crate) fn read_list(&mut self) -> Result<(), Failure> {
        match &mut self.command {
            Command::Create(args) => args.read_list(),
            Command::Add(args) => args.read_list(),
            Command::Update(args) => args.read_list(),
            _ => Ok(()),
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args, worker: Worker<'_>) -> Outcome {
    match &args.command {
        Command::Create(args) => create::run(args, worker),
        Command::Add(args) => add::run(args, worker),
        Command::Update(args) => add::run_update(args, worker),
        Command::Remove(args) => remove::run(args, worker),
        Command::Groups(args) => groups::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Export(args) => export::run(args),
        Command::Compact(args) => upkeep::compact(args),
        Command::Check(args) => upkeep::check(args),
        Command::Backup(args) => upkeep::backup(args),
        Command::Restore(args) => upkeep::restore(args),
    }
}
