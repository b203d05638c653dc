//! `lookalike index remove INDEX ID…`: removes documents from an index.

use super::open::{PlaceArgs, WaitArgs};
use crate::arguments::read_args::{InputArgs, UnitArgs};
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::extraction::WorkerOption;
use crate::output::progress_bar::StageBar;
use crate::output::terminal;
use lookalike::index::{self, RemovedCounts};
use lookalike::read::{Collection, ReadOptions};
use lookalike::report::phrases::{count, one_line, thousands};
use serde_json::json;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  lookalike index remove news 4711 4712
  lookalike index remove news --ids-from gone.txt      an id on each line
  lookalike index remove news --like withdrawn.jsonl   the ids of its documents";

/// The maximum number of absent ids in a message.
const NAMED: usize = 10;

/// Remove documents from an index
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct RemoveArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Ids of documents
    #[arg(value_name = "ID", required_unless_present_any = ["ids_from", "like"])]
    ids: Vec<String>,

    /// A file with an id on each line, or - for standard input
    #[arg(long, value_name = "FILE")]
    ids_from: Option<PathBuf>,

    /// Remove documents with the same ids as documents in a file or folder
    #[arg(long, value_name = "INPUT")]
    like: Vec<PathBuf>,

    #[command(flatten)]
    wait: WaitArgs,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    /// Print no summary and no progress
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    reading: InputArgs,

    #[command(flatten)]
    unit: UnitArgs,
}

/// Runs the command.
pub(super) fn run(args: &RemoveArgs, worker: WorkerOption<'_>) -> CommandResult {
    let mut ids = args.ids.clone();
    if let Some(path) = &args.ids_from {
        let text = read(path).map_err(|error| {
            CommandError::Data(format!("{}: {error}; expected an id on each line", path.display()))
        })?;
        let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        ids.extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
    }
    let reading = ReadOptions { unit: args.unit.unit, ..args.reading.options(worker) };
    let open = || Collection::open(&args.like, &reading);
    let like = if args.like.is_empty() { None } else { Some(open()?) };
    #[cfg(feature = "serve")]
    if let Some(service) = args.place.service()? {
        if like.is_some() {
            return Err(CommandError::Usage(
                "--like works only with an index on this machine; for a service, pass ids or \
                 --ids-from"
                    .to_owned(),
            ));
        }
        let all = super::remote::remove(&service, ids.iter().map(String::as_str))?;
        return report(args, service.address(), &all);
    }
    let index = args.place.write(&args.wait)?;
    let mut all = index::remove(&index, ids.iter().map(String::as_str))?;
    if let Some(like) = like {
        let bar = StageBar::new(args.quiet);
        let RemovedCounts { removed, mut absent } = index::remove_inputs(&index, &like, &bar)?;
        all.removed += removed;
        all.absent.append(&mut absent);
    }
    report(args, index.name(), &all)
}

fn read(path: &Path) -> io::Result<String> {
    if path == Path::new("-") {
        let mut text = String::new();
        return io::stdin().read_to_string(&mut text).map(|_| text);
    }
    std::fs::read_to_string(path)
}

/// Prints what was removed. Returns an error if no document had one of the ids; by then, all other
/// documents are removed.
fn report(args: &RemoveArgs, name: &str, counts: &RemovedCounts) -> CommandResult {
    if args.json {
        let value = json!({ "index": name, "removed": counts.removed, "absent": counts.absent });
        writeln!(terminal::stdout().json(), "{value}")?;
        return Ok(if counts.absent.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if !args.quiet {
        let removed = count(counts.removed, "document");
        terminal::stderr().message(&format!("{name}: {removed} removed"))?;
    }
    if counts.absent.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let named: Vec<_> = counts.absent.iter().take(NAMED).map(|id| one_line(id)).collect();
    let more = counts.absent.len() - named.len();
    let more =
        if more > 0 { format!(" and {} more", thousands(more as u64)) } else { String::new() };
    let has = if counts.absent.len() == 1 { "has this id" } else { "has these ids" };
    Err(CommandError::Data(format!(
        "{name}: no document {has}: {}{more}; `lookalike index export` lists the ids",
        named.join(", ")
    )))
}
