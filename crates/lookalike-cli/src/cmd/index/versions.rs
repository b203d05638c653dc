//! `lookalike index versions INDEX ID`: the versions of a document, with their times.

use super::open::{PlaceArgs, ReadingArgs};
use super::original::{version, versions};
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::output::terminal;
use lookalike::index::time;
use lookalike::report::phrases::{one_line, thousands};
use lookalike::store::original::DocumentVersion;
use serde_json::{Value, json};
use std::io::{self, Write};

/// List the versions of a document; needs an index with originals
#[derive(Debug, clap::Args)]
pub(super) struct VersionsArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// The id of the document
    #[arg(value_name = "ID")]
    id: String,

    /// Write the text of this version instead, from 1; `lookalike compare` shows the differences
    /// between two of them
    #[arg(long, value_name = "N", conflicts_with = "json")]
    text: Option<u64>,

    #[command(flatten)]
    output: ReadingArgs,
}

/// Runs the command.
pub(super) fn run(args: &VersionsArgs) -> CommandResult {
    let index = args.place.read()?;
    let mut snapshot = index.snapshot()?;
    let versions = versions(&index, &mut *snapshot, &args.id)?;
    let mut out = terminal::stdout().json_if(args.output.json);
    if let Some(number) = args.text {
        let version = version(&versions, &args.id, Some(number))?;
        let text = snapshot.version_text(version)?;
        let text = text.ok_or_else(|| {
            CommandError::Data(format!("version {number} was stored without a text"))
        })?;
        write!(out, "{text}")?;
    } else if args.output.json {
        let versions: Vec<Value> = versions.iter().map(value).collect();
        writeln!(out, "{:#}", json!({ "id": args.id, "versions": versions }))?;
    } else {
        list(&mut out, &args.id, &versions)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn value(version: &DocumentVersion) -> Value {
    json!({
        "version": version.number,
        "added": time::format(version.added),
        "ended": version.ended.map(time::format),
        "modified": version.modified.map(time::format),
        "type": version.media_type,
        "name": version.name,
        "bytes": version.bytes,
        "sha256": version.sha256_hex(),
    })
}

fn list(out: &mut impl Write, id: &str, versions: &[DocumentVersion]) -> io::Result<()> {
    writeln!(out, "{}", one_line(id))?;
    for version in versions.iter().rev() {
        let ended = version.ended.map_or("now".to_owned(), time::format);
        writeln!(
            out,
            "  {:>4}  {} to {ended}  {:>13} bytes  {}  {}",
            version.number,
            time::format(version.added),
            thousands(version.bytes),
            version.media_type,
            &version.sha256_hex()[..12],
        )?;
    }
    Ok(())
}
