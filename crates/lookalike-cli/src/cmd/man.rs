//! `lookalike man [COMMAND]…`: a manual page.

use super::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::output::terminal;
use clap::Command;
use std::io::Write;

const EXAMPLE: &str = "\
Examples:
  lookalike man | man -l -                    the page of the command
  lookalike man find | man -l -               the page of `lookalike find`
  lookalike man index add > lookalike-index-add.1";

/// Print the manual page of a command, in roff
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct ManArgs {
    /// The command, such as `find` or `index add` [default: lookalike itself]
    #[arg(value_name = "COMMAND")]
    path: Vec<String>,
}

/// Prints the page of the whole `command`, or of one of its subcommands.
pub(crate) fn run(args: &ManArgs, mut command: Command) -> CommandResult {
    command.build();
    for name in &args.path {
        command = subcommand(&command, name)?;
    }
    let mut page = Vec::new();
    let source = concat!("lookalike ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).source(source).render(&mut page)?;
    let mut out = terminal::stdout();
    out.write_all(&page)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn subcommand(command: &Command, name: &str) -> Result<Command, CommandError> {
    let visible = || command.get_subcommands().filter(|command| !command.is_hide_set());
    let found = visible().find(|command| command.get_name() == name).cloned();
    found.ok_or_else(|| {
        let names: Vec<&str> = visible().map(Command::get_name).collect();
        let of = command.get_display_name().unwrap_or(command.get_name());
        let expected = match names.as_slice() {
            [] => "no further name".to_owned(),
            names => format!("one of {}", names.join(", ")),
        };
        CommandError::Usage(format!("{of} has no command {name:?}: expected {expected}"))
    })
}
