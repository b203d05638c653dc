//! The command `lookalike`: parses the arguments, runs one command and prints its error. The
//! program `lookalike` and the Python module `lookalike` call [`main`].
//!
//! ```
//! use std::ffi::OsString;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let letters = folder.path().join("letters");
//! # std::fs::create_dir(&letters)?;
//! # std::fs::write(letters.join("a.txt"), "one two three four five six seven eight")?;
//! # std::fs::write(letters.join("b.txt"), "one two three four five six seven eight")?;
//! # let groups = folder.path().join("groups.jsonl");
//! let arguments: [OsString; 5] = [
//!     "lookalike".into(),
//!     "find".into(),
//!     letters.into(),
//!     "--output".into(),
//!     groups.clone().into(),
//! ];
//! let code = lookalike_cli::main(arguments, None);
//! assert_eq!(code, lookalike_cli::ExitCode::SUCCESS);
//! assert!(std::fs::read_to_string(groups)?.contains("b.txt"));
//! # Ok(())
//! # }
//! ```

mod arguments;
mod cmd;
mod exit_code;
mod extraction;
mod index_place;
mod member;
mod output;
#[cfg(feature = "postgres")]
mod postgres_environment;
mod service;
mod short_help;
mod termination;
mod usage;
mod version;

use arguments::deferred_args::DeferredArgs;
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};
use cmd::{
    CommandResult, audit, compare, completions, contamination, cut, dedup, evaluate, find, index,
    man, passages, query, shard, tune, watch,
};
#[cfg(feature = "serve")]
use cmd::{serve, token};
pub use exit_code::ExitCode;
pub use extraction::WORKER as EXTRACT_WORKER;
use extraction::WorkerOption;
use lookalike::extract::WorkerCommand;
pub use lookalike::extract::serve as extract_worker;
use output::terminal;
use output::terminal::ColorArgs;
use parking_lot::Mutex;
use std::ffi::OsString;
use std::sync::LazyLock;

const EXAMPLE: &str = "\
Examples:
  lookalike find letters/                     similar documents in a folder
  lookalike dedup letters/ --dry-run          the duplicates to remove
  lookalike index create news corpus.jsonl    an index of documents
  lookalike query news draft.txt              the documents that resemble a text

Exit codes: 0 success, 1 error, 2 wrong use; with `--exit-code`, 3 if something \
was found.";

/// The version, and where this build keeps indexes.
#[cfg(all(feature = "sqlite", feature = "postgres"))]
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\nindexes: folders, PostgreSQL");
#[cfg(all(feature = "sqlite", not(feature = "postgres")))]
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\nindexes: folders (built without PostgreSQL)");
#[cfg(all(not(feature = "sqlite"), feature = "postgres"))]
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\nindexes: PostgreSQL (built without folders)");
#[cfg(not(any(feature = "sqlite", feature = "postgres")))]
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\nindexes: none (built without)");

/// Commands and options, for every command line of this process. Never dropped, because dropping
/// takes a sixth of the instructions of a run that does nothing else.
static DEFINITION: LazyLock<Mutex<clap::Command>> = LazyLock::new(|| Mutex::new(Cli::command()));

/// Finds near-duplicate documents, verified: every reported pair was compared exactly.
#[derive(Parser)]
#[command(name = "lookalike", version, long_version = VERSION, after_help = EXAMPLE)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_flag = true)]
#[command(disable_version_flag = true)]
struct Cli {
    /// Print help (--help: all options)
    #[arg(short, long, global = true, action = ArgAction::Help)]
    help: Option<bool>,

    /// Print version (with --json: also commit, features and kernels)
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,

    #[command(flatten)]
    color: ColorArgs,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Find(find::FindArgs),
    Dedup(dedup::DedupArgs),
    Passages(passages::PassagesArgs),
    Cut(cut::CutArgs),
    Compare(compare::CompareArgs),
    Tune(tune::TuneArgs),
    Evaluate(evaluate::EvaluateArgs),
    Audit(audit::AuditArgs),
    Contamination(contamination::ContaminationArgs),
    /// Keep documents in an index: add, replace, remove and group them
    Index(DeferredArgs<index::IndexArgs>),
    Query(query::QueryArgs),
    /// `find` divided into tasks, for a shell loop or a batch scheduler
    Shard(DeferredArgs<shard::ShardArgs>),
    Watch(Box<watch::WatchArgs>),
    #[cfg(feature = "serve")]
    Serve(serve::ServeArgs),
    #[cfg(feature = "serve")]
    Token(token::TokenArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    /// Reads files that other processes send, for these
    #[command(name = extraction::WORKER, hide = true)]
    ExtractWorker,
}

impl Command {
    /// Whether the command has temporary files that signals must remove. The server and a watch
    /// handle signals themselves.
    fn writes_files(&self) -> bool {
        match self {
            Self::Find(_) | Self::Dedup(_) | Self::Tune(_) | Self::Audit(_) => true,
            Self::Cut(_) => true,
            Self::Contamination(_) | Self::Index(_) | Self::Passages(_) | Self::Shard(_) => true,
            Self::Compare(_) | Self::Evaluate(_) | Self::Query(_) | Self::Watch(_) => false,
            Self::Completions(_) | Self::Man(_) | Self::ExtractWorker => false,
            #[cfg(feature = "serve")]
            Self::Serve(_) | Self::Token(_) => false,
        }
    }
}

/// Runs the command that the arguments describe, and returns its exit code. The first argument is
/// the name of the program in messages. The command prints to the standard streams of the process
/// and does not end it.
///
/// `worker` starts a process that runs [`extract_worker`], such as
/// `<this program> `[`EXTRACT_WORKER`]. Without it, parsers that are not trusted read the files in
/// this process.
pub fn main(
    arguments: impl IntoIterator<Item = OsString>,
    worker: Option<&WorkerCommand>,
) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if version::is_json_requested(&arguments) {
        return version::print_json();
    }
    let code = match parse(&arguments) {
        Ok(mut cli) => {
            cli.color.when.apply();
            run(&mut cli.command, &arguments, worker)
        }
        Err(error) => {
            // A failure to print has nowhere to be reported.
            let _ = usage::print::<Cli>(&error, &arguments);
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    };
    // The end of a program flushes by itself, but the end of an interpreter does not.
    terminal::flush();
    code
}

/// Reads a command line.
fn parse<A>(arguments: &[A]) -> Result<Cli, clap::Error>
where
    for<'a> &'a A: Into<OsString>,
{
    let mut definition = DEFINITION.lock();
    let mut matches = usage::matches(&mut definition, arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut definition))
}

fn run(command: &mut Command, arguments: &[OsString], worker: WorkerOption<'_>) -> ExitCode {
    if command.writes_files() {
        termination::remove_temporary_files_on_signals();
    }
    outcome(command, arguments, worker).unwrap_or_else(|failure| {
        if let Some(message) = failure.message() {
            // A failure to print has nowhere to be reported.
            let _ = terminal::stderr().message(&format!("error: {message}"));
        }
        failure.exit_code()
    })
}

fn outcome(
    command: &mut Command,
    arguments: &[OsString],
    worker: WorkerOption<'_>,
) -> CommandResult {
    match command {
        Command::Find(args) => find::run(args, worker),
        Command::Dedup(args) => dedup::run(args, worker),
        Command::Passages(args) => passages::run(args, worker),
        Command::Cut(args) => cut::run(args, worker),
        Command::Compare(args) => compare::run(args, worker),
        Command::Tune(args) => tune::run(args, worker),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Audit(args) => audit::run(args, worker),
        Command::Contamination(args) => contamination::run(args, worker),
        Command::Index(args) => index::run(&mut args.args, worker),
        Command::Query(args) => query::run(args, worker),
        Command::Shard(args) => shard::run(&mut args.args, arguments, worker),
        Command::Watch(args) => watch::run(args, worker),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, worker),
        #[cfg(feature = "serve")]
        Command::Token(args) => token::run(args),
        Command::Completions(args) => completions::run(args, &Cli::command()),
        Command::Man(args) => man::run(args, Cli::command()),
        Command::ExtractWorker => extraction::serve(),
    }
}
