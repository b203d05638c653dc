//! `lookalike completions SHELL`: the script that makes a shell complete the command's options.

use super::CommandResult;
use super::index::IndexArgs;
use super::shard::ShardArgs;
use crate::exit_code::ExitCode;
use crate::output::terminal;
use clap::{Args, Command};
use clap_complete::Shell;
use std::io::Write;

const EXAMPLE: &str = "\
Examples:
  lookalike completions bash > ~/.local/share/bash-completion/completions/lookalike
  lookalike completions zsh > ~/.zfunc/_lookalike
  lookalike completions fish > ~/.config/fish/completions/lookalike.fish";

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the script that completes `definition`, the whole command.
pub(crate) fn run(args: &CompletionsArgs, definition: &Command) -> CommandResult {
    let mut script = Vec::new();
    // The script is complete before it is printed: the generator panics where it cannot write.
    clap_complete::generate(args.shell, &mut shown(definition), "lookalike", &mut script);
    let mut out = terminal::stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The command without hidden subcommands, which the generator would complete.
fn shown(command: &Command) -> Command {
    let subcommands = command.get_subcommands().filter(|command| !command.is_hide_set());
    Command::new("lookalike")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_flag(true)
        .args(command.get_arguments())
        .subcommands(subcommands.cloned().map(defined))
}

/// A command with its own commands: the generator also completes those of `help`, which are made
/// before deferred definitions are.
fn defined(command: Command) -> Command {
    match command.get_name() {
        "index" => IndexArgs::augment_args(command.defer(|defined| defined)),
        "shard" => ShardArgs::augment_args(command.defer(|defined| defined)),
        _ => command,
    }
}
