//! `lookalike index export INDEX`: the documents of an index as JSON lines.

use super::open::PlaceArgs;
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::output::terminal;
use crate::termination;
use lookalike::index;
use lookalike::index::time;
use lookalike::report::phrases::count;
use lookalike::report::{Output, OutputFormat, Target};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Write the documents of an index as JSON lines: id, metadata, times, and the text if it is kept
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Write to FILE.jsonl [also .gz, .zst] instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Add every version of each document with its original in Base64; needs an index with
    /// originals
    #[arg(long)]
    originals: bool,
}

/// Runs the command.
pub(super) fn run(args: &ExportArgs) -> CommandResult {
    #[cfg(feature = "serve")]
    if let Some(service) = args.place.service()? {
        let has_originals = super::remote::originals(&service)?.is_some();
        let path = format!("/export?count=true&originals={}", args.originals);
        let exit_code = super::remote::export(&service, &path, args.output.as_deref())?;
        note_left_out(args, has_originals)?;
        return Ok(exit_code);
    }
    let index = args.place.read()?;
    let write = if args.originals { index::export_with_originals } else { index::export };
    let Some(path) = &args.output else {
        let mut out = BufWriter::with_capacity(1 << 16, terminal::stdout().json());
        write(&index, time::now(), &mut out)??;
        out.flush()?;
        note_left_out(args, index.settings().originals.is_some())?;
        return Ok(ExitCode::SUCCESS);
    };
    let target = Target::new(path, &[OutputFormat::Jsonl]);
    let target = target.map_err(|error| CommandError::Usage(format!("--output: {error}")))?;
    termination::clean_up(std::iter::once(target.path()))?;
    let mut written = 0;
    Output::create(&target)?.finish(|out| {
        written = write(&index, time::now(), out)?.map_err(std::io::Error::other)?;
        Ok(())
    })?;
    let written = count(written, "document");
    terminal::stderr().message(&format!("{}: {written}", path.display()))?;
    note_left_out(args, index.settings().originals.is_some())?;
    Ok(ExitCode::SUCCESS)
}

/// Notes that the export omits originals and former versions, if the index keeps any.
fn note_left_out(args: &ExportArgs, has_originals: bool) -> std::io::Result<()> {
    if args.originals || !has_originals {
        return Ok(());
    }
    terminal::stderr().message("originals and former versions are not in it: --originals adds them")
}
