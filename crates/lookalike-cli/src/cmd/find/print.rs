//! Prints findings for people and programs: the table or JSON on standard output, and the summary
//! with the figures of an audit on standard error.

use super::args::FindOutputArgs;
use crate::cmd::audit::write_text;
use crate::output::printed_paths::PrintedPaths;
use crate::output::sources::{DuplicateAction, SourceTable};
use crate::output::summary::{self, SKIPPED_FILE, Summary};
use crate::output::table::{self, Extent, NotShown};
use crate::output::terminal;
use crate::output::written_files::WrittenFiles;
use lookalike::audit::Audit;
use lookalike::report::json;
use lookalike::report::phrases::{count, one_line};
use std::io::{self, BufWriter, Write};

/// Groups shown on a terminal by default, and duplicates of each.
const TERMINAL_GROUPS: usize = 50;
const TERMINAL_DUPLICATES: usize = 20;

/// Prints the requested JSON or table.
pub(super) fn print(
    args: &FindOutputArgs,
    summary: &Summary<'_>,
    audit: Option<&Audit>,
    paths: &PrintedPaths,
) -> io::Result<NotShown> {
    let Summary { findings, options, .. } = *summary;
    let stream = terminal::stdout().json_if(args.whole_run.json);
    let is_terminal = stream.is_terminal();
    let mut out = BufWriter::with_capacity(1 << 16, stream);
    let mut not_shown = NotShown::default();
    if args.whole_run.json {
        json::summary(&mut out, findings, options, audit)?;
    } else if has_table(args) {
        not_shown = {
            let extent = extent(args.limit, is_terminal);
            table::write(&mut out, &findings.groups, options.params.measure(), extent, paths)?
        };
    }
    out.flush()?;
    Ok(not_shown)
}

/// Returns true if the table is printed. `--output` replaces the table; `--pairs` also does, unless
/// `--limit` is set.
fn has_table(args: &FindOutputArgs) -> bool {
    args.output.is_none() && (args.pairs.is_none() || args.limit.is_some())
}

fn extent(limit: Option<usize>, terminal: bool) -> Extent {
    let is_complete = limit == Some(0) || !terminal;
    Extent {
        groups: match limit {
            Some(0) => None,
            Some(most) => Some(most),
            None => terminal.then_some(TERMINAL_GROUPS),
        },
        duplicates: (!is_complete).then_some(TERMINAL_DUPLICATES),
        width: terminal.then(terminal::columns),
        spaced: terminal,
    }
}

/// Prints everything besides the results to standard error: the count of omitted groups, the
/// written files, the skipped inputs, the summary of the run, and the figures of an audit.
pub(super) fn print_summary(
    args: &FindOutputArgs,
    summary: &Summary<'_>,
    audit: Option<&Audit>,
    not_shown: NotShown,
    written: &WrittenFiles,
) -> io::Result<()> {
    let mut err = terminal::stderr();
    let findings = summary.findings;
    let table = !args.whole_run.json && has_table(args);
    if not_shown != NotShown::default() {
        let duplicates = count(not_shown.duplicates as u64, "duplicate");
        let hidden = match not_shown.groups as u64 {
            0 => duplicates,
            groups => format!("{} and {duplicates}", count(groups, "group")),
        };
        let remedy = "--limit 0 shows all, --output FILE.csv writes all";
        writeln!(err, "not shown: {hidden}; {remedy}")?;
    }
    if args.quiet {
        let option = (!summary.skipped_listed).then_some(SKIPPED_FILE);
        summary::write_skipped(&mut err, findings, option)?;
        // The audit is printed even with `--quiet`, if neither the JSON nor a report contains it.
        let reported = args.whole_run.json || !args.whole_run.report.is_empty();
        return audit
            .filter(|_| !reported)
            .map_or(Ok(()), |audit| write_audit(&mut err, audit, summary));
    }
    if findings.groups.is_empty() {
        write_nothing_found(&mut err, summary)?;
    }
    if table && !findings.groups.is_empty() {
        writeln!(err)?;
    }
    let single = [("groups", &args.output), ("pairs", &args.pairs), ("skipped", &args.skipped)];
    let single = single.into_iter().filter_map(|(label, path)| Some((label, path.as_ref()?)));
    for (label, path) in single.chain(args.whole_run.report.iter().map(|path| ("report", path))) {
        written.line(&mut err, label, path)?;
    }
    let has_ids = args.output.is_some() || args.pairs.is_some();
    if let Some(folder) = findings.id_folder.as_ref().filter(|_| has_ids) {
        let except = if findings.counts.reference > 0 { ", except in the reference" } else { "" };
        writeln!(err, "  ids of files are paths below {}{except}", one_line(folder))?;
    }
    SourceTable { sources: &findings.sources, fate: DuplicateAction::Reported }.warn(&mut err)?;
    summary.write(&mut err)?;
    let Some(audit) = audit else { return Ok(()) };
    writeln!(err)?;
    write_audit(&mut err, audit, summary)
}

fn write_audit(err: &mut impl Write, audit: &Audit, summary: &Summary<'_>) -> io::Result<()> {
    write_text(err, audit, &summary.options.params, "--audit")
}

/// Prints the likely reason for an empty result, and a remedy.
fn write_nothing_found(err: &mut impl Write, summary: &Summary<'_>) -> io::Result<()> {
    let counts = &summary.findings.counts;
    let params = &summary.options.params;
    match (counts.documents, counts.documents - counts.empty) {
        (0, _) => return writeln!(err, "no near-duplicates: the input has no documents"),
        (_, 0) => {
            return writeln!(err, "no near-duplicates: no document has a token");
        }
        (_, 1) => {
            return writeln!(
                err,
                "no near-duplicates: only one document has a token; if every line of a file is a \
                 document, use --format lines"
            );
        }
        _ => {}
    }
    // If another setting finds more, the summary names that setting.
    let remedy = match summary.findings.better_setting {
        Some(_) => "",
        None => "; try a lower --threshold, or shorter shingles such as --shingle words:3",
    };
    writeln!(
        err,
        "no near-duplicates: no two documents have similarity {} or more{remedy}",
        params.threshold()
    )
}
