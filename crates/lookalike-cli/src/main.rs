//! The command `lookalike`: parses, calls one command, prints its error. See [`cmd`].

mod cmd;
mod difference;
mod extraction;
mod options;
mod page;
mod plot;
mod progress_bar;
mod sources;
mod span;
mod summary;
mod table;
mod text_width;
mod told;
mod wording;

use clap::{Parser, Subcommand};
#[cfg(feature = "serve")]
use cmd::serve;
use cmd::{Outcome, audit, compare, dedup, evaluate, find, index, query, tune};
use std::io::Write;
use std::process::ExitCode;

const EXAMPLE: &str = "\
Examples:
  lookalike find letters/                              groups of near-duplicates in a folder
  lookalike find corpus.jsonl --output groups.jsonl    the same for records, into a file
  lookalike index create news corpus.jsonl             an index of documents, kept
  lookalike query news draft.txt                       what resembles a text in it

Exit code: 0 success, 1 error, 2 wrong use; with `--exit-code` 3 when something was found.";

/// Finds near-duplicate documents, verified: every reported pair was compared exactly.
#[derive(Parser)]
#[command(name = "lookalike", version, after_help = EXAMPLE)]
#[command(subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Find(find::Args),
    Dedup(dedup::Args),
    Compare(compare::Args),
    Tune(tune::Args),
    Evaluate(evaluate::Args),
    Audit(audit::Args),
    Index(index::Args),
    Query(query::Args),
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    /// Reads files that other processes send, for these
    #[command(name = extraction::WORKER, hide = true)]
    ExtractWorker,
}

fn main() -> ExitCode {
    let outcome: Outcome = match Cli::parse().command {
        Command::Find(args) => find::run(&args),
        Command::Dedup(args) => dedup::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Index(args) => index::run(&args),
        Command::Query(args) => query::run(&args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args),
        Command::ExtractWorker => extraction::serve(),
    };
    outcome.unwrap_or_else(|failure| {
        if let Some(message) = failure.message() {
            // Nothing is left to do when even this cannot be written.
            let _ = writeln!(anstream::stderr(), "error: {message}");
        }
        failure.exit_code()
    })
}
