//! Prints the summary on standard error, and in a dry run the changes on standard output.

use super::args::DedupArgs;
use super::changes;
use crate::output::printed_paths::PrintedPaths;
use crate::output::sources::{DuplicateAction, SourceTable};
use crate::output::summary::{self, SKIPPED_FILE, Summary};
use crate::output::terminal;
use crate::output::written_files::WrittenFiles;
use lookalike::dedup::actions::ActionCounts;
use lookalike::dedup::{RefusedFile, SurvivorCounts};
use lookalike::find::Findings;
use lookalike::read::TextUnit;
use lookalike::report::phrases::{count, one_line, thousands};
use lookalike::request::{DedupOutcome, FileOutcome};
use std::io::{self, Write};
use std::path::Path;

/// Sources in the table of the summary.
const SUMMARY_SOURCES: usize = 10;
/// Files that a message names.
const NAMED_FILES: usize = 10;

/// Prints everything.
pub(super) fn print(
    args: &DedupArgs,
    summary: &Summary<'_>,
    outcome: &DedupOutcome,
    written_files: &WrittenFiles,
) -> io::Result<()> {
    let findings = summary.findings;
    let dry = args.result.dry_run;
    let quiet = args.result.common.quiet;
    let fate = if dry { DuplicateAction::WouldGo } else { DuplicateAction::Go };
    let table = SourceTable { sources: &findings.sources, fate };
    let mut err = terminal::stderr();
    let paths = PrintedPaths::new(&args.inputs, args.run.reference());
    if dry && let Some(more) = changes::print(summary, &paths)? {
        let more = count(more, "change");
        writeln!(err, "not shown: {more}; --removed FILE.csv lists all")?;
    }
    if !quiet {
        if dry && findings.counts.duplicates > 0 {
            writeln!(err)?;
        }
        table.write(&mut err, if dry { usize::MAX } else { SUMMARY_SOURCES })?;
    }
    table.warn(&mut err)?;
    let DedupOutcome { written, files, is_folder, .. } = outcome;
    if let Some(written) = written {
        list(&mut err, "not copied", &written.others.not_copied)?;
    }
    if let Some(files) = files {
        actions(&mut err, args, files)?;
    }
    if quiet {
        let option = (!summary.skipped_listed).then_some(SKIPPED_FILE);
        return summary::write_skipped(&mut err, findings, option);
    }
    if let (Some(written), Some(out)) = (written, &args.result.output) {
        let replaced = written_files.replaced(out);
        write_written(&mut err, args, (out, replaced), written, findings.counts.duplicates)?;
        left_out(&mut err, args, findings, *is_folder)?;
    }
    for (label, path) in
        [("removed", &args.result.removed), ("skipped", &args.result.common.skipped)]
    {
        if let Some(path) = path {
            written_files.line(&mut err, label, path)?;
        }
    }
    summary.write(&mut err)
}

fn write_written(
    err: &mut impl Write,
    args: &DedupArgs,
    (out, replaced): (&Path, &str),
    written: &SurvivorCounts,
    duplicates: u64,
) -> io::Result<()> {
    let kept = count(written.kept, "document");
    let removed = count(written.removed, "duplicate");
    let files = match written.files {
        1 => String::new(),
        files => format!(" in {}", count(files, "file")),
    };
    let out = out.to_string_lossy();
    let out = format!("{}{replaced}", one_line(&out));
    if args.reading.unit() != TextUnit::Document {
        let units = count(duplicates, "duplicate");
        let changed = thousands(written.changed);
        let emptied = count(written.removed, "document");
        return writeln!(
            err,
            "written: {out}{files}: {kept}, {changed} of them without some units; left out: \
             {units}, and {emptied} without any other unit{}",
            dropped(written)
        );
    }
    let dropped = dropped(written);
    if args.result.annotate.is_some() {
        return writeln!(err, "annotated: {out}{files}: {kept} kept, {removed} marked{dropped}");
    }
    writeln!(err, "written: {out}{files}: {kept}; {removed} left out{dropped}")?;
    let other_files = &written.others;
    if other_files.files + other_files.links > 0 {
        let files = count(other_files.files, "file");
        let links = count(other_files.links, "link");
        writeln!(err, "  copied unchanged: {files} without a document and {links}")?;
    }
    Ok(())
}

/// States how many documents were removed because a list names them; empty if there are none.
pub(in crate::cmd) fn dropped(written: &SurvivorCounts) -> String {
    match written.dropped {
        0 => String::new(),
        dropped => format!(", {} dropped", thousands(dropped)),
    }
}

/// Prints how many files without documents are missing from the output. An output folder contains
/// them, unless it is limited to documents; any other output does not.
fn left_out(
    err: &mut impl Write,
    args: &DedupArgs,
    findings: &Findings,
    is_folder: bool,
) -> io::Result<()> {
    if is_folder && !args.result.common.documents_only {
        return Ok(());
    }
    let mut files = 0;
    for skipped in findings.skipped.iter() {
        files += u64::from(skipped?.line.is_none());
    }
    if files > 0 {
        let files = count(files, "file");
        let copied = if is_folder { "copied" } else { "written" };
        writeln!(err, "  not {copied}: {files} or parts of files without a document")?;
    }
    Ok(())
}

fn actions(err: &mut impl Write, args: &DedupArgs, outcome: &FileOutcome) -> io::Result<()> {
    let (action, to) = args.result.actions.verb();
    if let Some(ActionCounts { done: number, bytes, unsuitable, failed }) = &outcome.acted {
        let files = count(*number, "file");
        let bytes = count(*bytes, "byte");
        let to = to.map(|to| format!(" to {}", one_line(&to.to_string_lossy())));
        let to = to.unwrap_or_default();
        if *number == 0 {
            let would_be = if args.result.dry_run { "would be " } else { "" };
            if !args.result.common.quiet {
                writeln!(err, "no file {would_be}{action}")?;
            }
        } else if args.result.dry_run {
            writeln!(err, "would be {action}{to}: {files}, {bytes}")?;
        } else if !args.result.common.quiet {
            writeln!(err, "{action}{to}: {files}, {bytes}")?;
        }
        if let Some(path) = &outcome.undo {
            writeln!(err, "undo: sh {}", one_line(&shell_word(path)))?;
        }
        for files in [failed, unsuitable, &outcome.found.refused] {
            list(err, &format!("not {action}"), files)?;
        }
    }
    if let Some(path) = &args.result.actions.script {
        let files = count(outcome.found.files.len() as u64, "file");
        let verb = if args.result.dry_run { "would list" } else { "lists" };
        if !args.result.common.quiet {
            let path = path.to_string_lossy();
            writeln!(err, "script: {} {verb} {files}", one_line(&path))?;
        }
        if outcome.acted.is_none() {
            list(err, "not in the script", &outcome.found.refused)?;
        }
    }
    Ok(())
}

/// A path as a word of a shell command.
fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    if text.chars().all(is_plain) && !text.starts_with('-') {
        return text.into_owned();
    }
    let dash = if text.starts_with('-') { "./" } else { "" };
    format!("'{dash}{}'", text.replace('\'', r"'\''"))
}

/// The first files of a list, each with the reason.
fn list(err: &mut impl Write, label: &str, files: &[RefusedFile]) -> io::Result<()> {
    for (path, why) in files.iter().take(NAMED_FILES) {
        let path = path.to_string_lossy();
        writeln!(err, "{label}: {}: {}", one_line(&path), one_line(why))?;
    }
    if let Some(more) = files.len().checked_sub(NAMED_FILES).filter(|more| *more > 0) {
        writeln!(err, "{label}: {more} more")?;
    }
    Ok(())
}
