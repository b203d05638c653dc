//! `lookalike index original INDEX ID`: the original of a document, byte for byte.

use super::open::PlaceArgs;
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::output::terminal;
use crate::termination;
use lookalike::report::phrases::{count, thousands};
use lookalike::report::{OutputError, write_whole_file};
use lookalike::store::Index;
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::shortened_id;
use lookalike::store::original::DocumentVersion;
use std::io::Write;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  lookalike index original archive letters/12.pdf -o 12.pdf
  lookalike index original archive https://e.example/ --version 1 | less
  lookalike index versions archive https://e.example/";

/// Write the original of a document, byte for byte; needs an index with originals
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct OriginalArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// The id of the document
    #[arg(value_name = "ID")]
    id: String,

    /// Which of its versions, from 1 [default: the current one]
    #[arg(long, value_name = "N")]
    version: Option<u64>,

    /// Write to FILE instead of standard output; an existing one is replaced
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &OriginalArgs) -> CommandResult {
    let index = args.place.read()?;
    let mut snapshot = index.snapshot()?;
    let versions = versions(&index, &mut *snapshot, &args.id)?;
    let version = version(&versions, &args.id, args.version)?;
    let original = snapshot.original(version)?;
    drop(snapshot);
    let target = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = target {
        termination::clean_up(std::iter::once(path))?;
        let written = write_whole_file(path, &original);
        written.map_err(|source| OutputError::Write { path: path.to_owned(), source })?;
        let bytes = count(original.len() as u64, "byte");
        let message = format!("{}: {bytes} of {}", path.display(), version.media_type);
        terminal::stderr().message(&message)?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_terminal = terminal::stdout().is_terminal();
    // Refuse to print binary data by default, because it is unreadable on a terminal.
    if args.output.is_none() && is_terminal && str::from_utf8(&original).is_err() {
        return Err(CommandError::Usage(format!(
            "the original is not text ({}); write it to a file with --output, or to a pipe",
            version.media_type
        )));
    }
    if is_terminal {
        write!(terminal::stdout(), "{}", String::from_utf8_lossy(&original))?;
        return Ok(ExitCode::SUCCESS);
    }
    write_whole_file(Path::new("-"), &original)?;
    Ok(ExitCode::SUCCESS)
}

/// The versions of a document, by time.
///
/// # Errors
/// A message with the remedy if the index has no document with this id.
pub(super) fn versions(
    index: &Index,
    snapshot: &mut dyn Snapshot,
    id: &str,
) -> Result<Vec<DocumentVersion>, CommandError> {
    let versions = snapshot.versions(id)?;
    if versions.is_empty() {
        return Err(CommandError::Data(format!(
            "{} has no document {:?}; `lookalike index export` lists the ids",
            index.name(),
            shortened_id(id)
        )));
    }
    Ok(versions)
}

/// Returns the version with this number, or the current version if `number` is `None`.
///
/// # Errors
/// A message with the valid numbers if no version has this number.
pub(super) fn version<'v>(
    versions: &'v [DocumentVersion],
    id: &str,
    number: Option<u64>,
) -> Result<&'v DocumentVersion, CommandError> {
    let found = match number {
        None => versions.last(),
        Some(number) => versions.iter().find(|version| version.number == number),
    };
    found.ok_or_else(|| {
        let last = versions.last().map_or(0, |version| version.number);
        CommandError::Usage(format!(
            "document {:?} has no version {}: expected 1 to {}",
            shortened_id(id),
            number.unwrap_or(0),
            thousands(last)
        ))
    })
}
