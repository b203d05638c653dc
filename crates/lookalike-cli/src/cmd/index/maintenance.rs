//! `lookalike index compact | check | backup | restore INDEX`: maintenance of an index.

use super::open::{PlaceArgs, ReadingArgs, WaitArgs};
#[cfg(feature = "serve")]
use super::remote;
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::output::terminal;
use lookalike::index::time;
use lookalike::report::phrases::count;
use lookalike::store::backend::IndexProblem;
#[cfg(feature = "serve")]
use lookalike::store::index::IndexLocation;
use lookalike::store::{Index, index};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;

/// Free the space of removed and expired documents, and make queries as fast as possible
#[derive(Debug, clap::Args)]
pub(super) struct CompactArgs {
    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    output: ReadingArgs,
}

/// Check all stored data; exit code 1 if something is damaged
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Rebuild everything that can be derived from documents and signatures, then check again
    #[arg(long)]
    repair: bool,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    output: ReadingArgs,
}

/// Copy a snapshot of an index to a new folder, while it is in use
#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// The new folder; for a service, its name in the folder of `serve --backup-dir`
    #[arg(value_name = "TO")]
    to: PathBuf,

    #[command(flatten)]
    output: ReadingArgs,
}

/// Create an index from a backup; INDEX must not exist yet
#[derive(Debug, clap::Args)]
pub(super) struct RestoreArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Folder that `index backup` created from an index of the same kind
    #[arg(value_name = "FROM")]
    from: PathBuf,

    #[command(flatten)]
    output: ReadingArgs,
}

/// Runs `compact`.
pub(super) fn compact(args: &CompactArgs) -> CommandResult {
    #[cfg(feature = "serve")]
    if let Some(service) = args.place.service()? {
        return remote::compact(&service, args.output.json);
    }
    let index = args.place.write(&args.wait)?;
    let before = index.stats()?;
    index.compact(time::now())?;
    let after = index.stats()?;
    if args.output.json {
        let value = json!({
            "index": index.name(),
            "documents_before": before.documents,
            "documents": after.documents,
            "bytes_before": before.catalogue_bytes + before.segment_bytes,
            "bytes": after.catalogue_bytes + after.segment_bytes,
        });
        writeln!(terminal::stdout().json(), "{value}")?;
    } else {
        let expired = before.documents - after.documents.min(before.documents);
        let documents = count(after.documents, "document");
        let message = format!("{}: {documents}, {expired} expired", index.name());
        terminal::stderr().message(&message)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks the index, and the state of a service in its folder (`service.sqlite`) if there is one.
fn problems(args: &CheckArgs, index: &Index) -> Result<Vec<IndexProblem>, CommandError> {
    #[cfg_attr(not(feature = "serve"), expect(unused_mut, reason = "only a service has a state"))]
    let mut all = index.check()?;
    #[cfg(feature = "serve")]
    if let IndexLocation::Folder(folder) = args.place.place()? {
        let state = lookalike_server::check_state(&folder.join("service.sqlite"));
        all.extend(state.map_err(|error| CommandError::Data(error.to_string()))?);
    }
    #[cfg(not(feature = "serve"))]
    let _ = args;
    Ok(all)
}

/// Runs `check`.
pub(super) fn check(args: &CheckArgs) -> CommandResult {
    #[cfg(feature = "serve")]
    if let Some(service) = args.place.service()? {
        return remote::check(&service, args.repair, args.output.json);
    }
    let index = if args.repair { args.place.write(&args.wait)? } else { args.place.read()? };
    let found = problems(args, &index)?;
    let mut remaining = found.clone();
    if args.repair && !found.is_empty() {
        index.repair()?;
        remaining = problems(args, &index)?;
    }
    if args.output.json {
        let list = |problems: &[IndexProblem]| problems.iter().map(problem).collect::<Vec<Value>>();
        let value = json!({
            "index": index.name(),
            "repaired": args.repair && remaining != found,
            "found": list(&found),
            "problems": list(&remaining),
        });
        writeln!(terminal::stdout().json(), "{value}")?;
    } else {
        print_summary(args, index.name(), &found, &remaining)?;
    }
    match remaining.as_slice() {
        [] => Ok(ExitCode::SUCCESS),
        _ if args.output.json => Ok(ExitCode::FAILURE),
        problems => Err(CommandError::Data(remedy(problems, index.name()))),
    }
}

fn print_summary(
    args: &CheckArgs,
    name: &str,
    found: &[IndexProblem],
    remaining: &[IndexProblem],
) -> io::Result<()> {
    let mut out = terminal::stdout();
    for IndexProblem { place, what, .. } in remaining {
        out.message(&format!("{place}: {what}"))?;
    }
    if remaining.is_empty() {
        let mut err = terminal::stderr();
        if args.repair && !found.is_empty() {
            let found = count(found.len() as u64, "problem");
            err.message(&format!("{name}: {found} repaired"))?;
        } else {
            err.message(&format!("{name}: everything is as it should be"))?;
        }
    }
    Ok(())
}

fn remedy(problems: &[IndexProblem], name: &str) -> String {
    let found = count(problems.len() as u64, "problem");
    if problems.iter().all(|problem| problem.repairable) {
        format!("{name}: {found}; `lookalike index check --repair` repairs without loss")
    } else {
        format!(
            "{name}: {found}, some of which mean loss: go back to a backup, or create the index \
             again from `lookalike index export`"
        )
    }
}

fn problem(problem: &IndexProblem) -> Value {
    let IndexProblem { place, what, repairable } = problem;
    json!({ "place": place, "what": what, "repairable": repairable })
}

/// Runs `backup`.
pub(super) fn backup(args: &BackupArgs) -> CommandResult {
    #[cfg(feature = "serve")]
    if let Some(service) = args.place.service()? {
        return remote::backup(&service, &args.to.to_string_lossy(), args.output.json);
    }
    let index = args.place.read()?;
    index.backup(&args.to)?;
    let to = args.to.display();
    if args.output.json {
        let value = json!({ "index": index.name(), "backup": to.to_string() });
        writeln!(terminal::stdout().json(), "{value}")?;
    } else {
        terminal::stderr().message(&format!("{} is copied to {to}", index.name()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs `restore`.
pub(super) fn restore(args: &RestoreArgs) -> CommandResult {
    let index = index::restore(&args.place.place()?, &args.from)?;
    let documents = index.stats()?.documents;
    if args.output.json {
        let value = json!({ "index": index.name(), "documents": documents });
        writeln!(terminal::stdout().json(), "{value}")?;
    } else {
        let message = format!("{}: {}", index.name(), count(documents, "document"));
        terminal::stderr().message(&message)?;
    }
    Ok(ExitCode::SUCCESS)
}
