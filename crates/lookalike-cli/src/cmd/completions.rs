//! `lookalike completions SHELL`: prints a script with which a shell completes options.

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
  lookalike completions bash \\
      > ~/.local/share/bash-completion/completions/lookalike
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
    // Write to memory first: the generator panics if it cannot write.
    clap_complete::generate(args.shell, &mut without_hidden(definition), "lookalike", &mut script);
    let mut out = terminal::stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the command without hidden subcommands, since the generator would complete them.
fn without_hidden(command: &Command) -> Command {
    let subcommands = command.get_subcommands().filter(|command| !command.is_hide_set());
    Command::new("lookalike")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(command.get_arguments())
        .subcommands(subcommands.cloned().map(defined))
}

/// Adds the subcommands of a command. The generator also completes `help`, which clap builds before
/// it evaluates deferred definitions.
fn defined(command: Command) -> Command {
    match command.get_name() {
        "index" => IndexArgs::augment_args(command.defer(|defined| defined)),
        "shard" => ShardArgs::augment_args(command.defer(|defined| defined)),
        _ => command,
    }
}
