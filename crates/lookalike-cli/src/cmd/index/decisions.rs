//! `lookalike index decisions INDEX`: the user decisions stored in an index.

use super::open::{PlaceArgs, WaitArgs};
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::output::terminal;
use crate::termination;
use lookalike::decisions::{self, Decisions, ReviewDecision, UnknownDocuments};
use lookalike::index::time;
use lookalike::report::phrases::{count, thousands};
use lookalike::report::{Output, OutputFormat, Target};
use lookalike::store::Index;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  lookalike index decisions news              a JSON object per line
  lookalike index decisions news --compact    removes replaced decisions
  lookalike index decisions news --add decisions.jsonl --who ann
  tail -n 1 decisions.jsonl | lookalike index decisions news --add - --seen 12";

/// Write the decisions that an index keeps as JSON lines, or add some to them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct DecisionsArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Add the decisions of FILE, as docs/reference/decisions.md specifies it; `-` is standard
    /// input
    #[arg(long, value_name = "FILE")]
    add: Option<PathBuf>,

    /// The person who made the decisions without a `who`
    #[arg(long, value_name = "NAME", requires = "add")]
    who: Option<String>,

    /// The number of the last decision that you have seen, for decisions without a `seen`. No
    /// decision is added if a later decision is about the same pair or documents. The list has the
    /// numbers
    #[arg(long, value_name = "NUMBER", requires = "add", default_value_t = 0)]
    seen: u64,

    /// Remove the decisions that later ones replace or revoke; of each person the last about each
    /// pair stays
    #[arg(long, conflicts_with_all = ["add", "output"])]
    compact: bool,

    /// Write to FILE.jsonl [also .gz, .zst] instead of standard output
    #[arg(long, short, value_name = "FILE", conflicts_with = "add")]
    output: Option<PathBuf>,

    #[command(flatten)]
    wait: WaitArgs,
}

/// Runs the command.
pub(super) fn run(args: &DecisionsArgs) -> CommandResult {
    if let Some(file) = &args.add {
        return add(args, file);
    }
    if args.compact {
        return compact(args);
    }
    let decisions = decisions::of_index(&args.place.read()?, 0)?;
    let file = args.output.as_ref().filter(|path| path.as_os_str() != "-");
    let Some(path) = file else {
        let mut out = BufWriter::with_capacity(1 << 16, terminal::stdout().json());
        write(&mut out, &decisions)?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    let target = Target::new(path, &[OutputFormat::Jsonl]);
    let target = target.map_err(|error| CommandError::Usage(format!("--output: {error}")))?;
    termination::clean_up(std::iter::once(target.path()))?;
    Output::create(&target)?.finish(|out| write(out, &decisions))?;
    let written = count(decisions.len() as u64, "decision");
    let in_force = thousands(Decisions::new(decisions).len());
    let message = format!("{}: {written}, {in_force} in force", path.display());
    terminal::stderr().message(&message)?;
    Ok(ExitCode::SUCCESS)
}

fn write(out: &mut dyn Write, decisions: &[ReviewDecision]) -> io::Result<()> {
    decisions.iter().try_for_each(|decision| writeln!(out, "{}", decision.to_numbered_json()))
}

fn compact(args: &DecisionsArgs) -> CommandResult {
    let index: Index = args.place.write(&args.wait)?;
    let compacted = decisions::compact_log(&index)?;
    let removed = count(compacted.removed, "decision");
    let remaining = thousands(compacted.left);
    terminal::stderr()
        .message(&format!("{}: {removed} removed, {remaining} left", index.name()))?;
    Ok(ExitCode::SUCCESS)
}

fn add(args: &DecisionsArgs, file: &Path) -> CommandResult {
    let mut new = if file.as_os_str() == "-" {
        decisions::read(io::stdin().lock(), Path::new("standard input"))?
    } else {
        decisions::read_file(file)?
    };
    for decision in new.iter_mut().filter(|decision| decision.who.is_none()) {
        decision.who.clone_from(&args.who);
    }
    for decision in &mut new {
        decision.seen.get_or_insert(args.seen);
    }
    let index: Index = args.place.write(&args.wait)?;
    let now = time::format(time::now());
    let outcome = decisions::add_to_index(&index, new, &now, UnknownDocuments::Keep)?;
    let added = count(outcome.added, "decision");
    let mut message =
        format!("{}: {added} added, the last has number {}", index.name(), outcome.last);
    if outcome.unknown > 0 {
        let unknown = thousands(outcome.unknown);
        message = format!("{message}, {unknown} of them about documents that are not in the index");
    }
    terminal::stderr().message(&message)?;
    Ok(ExitCode::SUCCESS)
}
