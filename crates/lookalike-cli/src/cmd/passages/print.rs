//! Prints passages as a table or JSON on standard output, and the summary on standard error.
//!
//! ```text
//! words  places  documents  first in                  text
//!    52      12         11  letters/2019.txt:0        All rights reserved. No part of this …
//! ```

use super::args::PassagesOutputArgs;
use crate::output::summary::{self, percent, seconds};
use crate::output::terminal::{self, Style};
use crate::output::text_width::{columns, cut, shorten, visible};
use crate::output::written_files::WrittenFiles;
use lookalike::passages::{PassageFindings, PassageOptions, PassageRow};
use lookalike::report::passages;
use lookalike::report::phrases::{count, one_line, thousands};
use std::io::{self, BufWriter, Write};
use std::time::Duration;

const HEADER: Style = Style::DIMMED;
/// Passages shown on a terminal by default.
const TERMINAL_PASSAGES: usize = 50;
/// Columns of a text if the line may have any number of columns.
const TEXT: usize = 60;
/// Minimum and maximum columns of the place.
const PLACE: usize = 12;
const MOST_PLACE: usize = 40;
/// Sources in the table of the summary.
const SOURCES: usize = 10;

/// Prints everything.
pub(super) fn print(
    args: &PassagesOutputArgs,
    findings: &PassageFindings,
    options: &PassageOptions,
    elapsed: Duration,
    written: &WrittenFiles,
) -> io::Result<()> {
    let stream = terminal::stdout().json_if(args.whole_run.json);
    let is_terminal = stream.is_terminal();
    let mut out = BufWriter::with_capacity(1 << 16, stream);
    let mut not_shown = 0;
    if args.whole_run.json {
        passages::json(&mut out, findings, options)?;
    } else if args.output.is_none() {
        let most = match args.limit {
            Some(0) => usize::MAX,
            Some(most) => most,
            None if is_terminal => TERMINAL_PASSAGES,
            None => usize::MAX,
        };
        not_shown = findings.rows.passages().saturating_sub(most);
        table(&mut out, findings, most, is_terminal.then(terminal::columns))?;
    }
    out.flush()?;
    let mut err = terminal::stderr();
    if not_shown > 0 {
        let passages = count(not_shown as u64, "passage");
        writeln!(err, "not shown: {passages}; --limit 0 shows all, --output FILE.csv writes all")?;
    }
    if args.quiet {
        return summary::write_skipped(&mut err, &findings.run, Some("--json"));
    }
    for (label, path) in args
        .output
        .iter()
        .map(|path| ("places", path))
        .chain(args.whole_run.report.iter().map(|path| ("report", path)))
    {
        written.line(&mut err, label, path)?;
    }
    write_summary(&mut err, findings, elapsed)
}

/// Returns the first place of each of the first `most` passages, with the id of its document.
fn first_rows(
    findings: &PassageFindings,
    most: usize,
) -> impl Iterator<Item = io::Result<(PassageRow, String)>> {
    let is_first =
        |row: &io::Result<PassageRow>| row.as_ref().map_or(true, |row| row.place.is_first);
    findings.rows.iter().filter(is_first).take(most).map(|row| {
        let row = row?;
        let id = findings.id(row.place.document).map_err(io::Error::other)?;
        Ok((row, id))
    })
}

fn table(
    out: &mut impl Write,
    findings: &PassageFindings,
    most: usize,
    width: Option<usize>,
) -> io::Result<()> {
    if findings.rows.is_empty() {
        return Ok(());
    }
    let mut widest = 0;
    for row in first_rows(findings, most) {
        widest = widest.max(columns(&visible(&row?.1)));
    }
    let place = widest.clamp(PLACE, MOST_PLACE);
    let numbers = "  words   places  documents  ".len();
    let text = width.map_or(TEXT, |width| width.saturating_sub(numbers + place + 2).max(PLACE));
    writeln!(
        out,
        "{HEADER}{:>7}  {:>7}  {:>9}  {:place$}  text{HEADER:#}",
        "words", "places", "documents", "first in"
    )?;
    for row in first_rows(findings, most) {
        let (PassageRow { passage, .. }, id) = row?;
        let id = visible(&id).into_owned();
        let id = shorten(&id, place);
        let pad = " ".repeat(place.saturating_sub(columns(&id)));
        let words: Vec<&str> = passage.excerpt.split_whitespace().collect();
        let mut excerpt = visible(&words.join(" ")).into_owned();
        if words.len() < passage.words as usize {
            excerpt += " …";
        }
        writeln!(
            out,
            "{:>7}  {:>7}  {:>9}  {id}{pad}  {}",
            thousands(passage.words.into()),
            thousands(passage.places.into()),
            thousands(passage.documents.into()),
            cut(&excerpt, text)
        )?;
    }
    Ok(())
}

/// Prints the summary: counts, sources, skipped inputs and the elapsed time.
fn write_summary(
    err: &mut impl Write,
    findings: &PassageFindings,
    elapsed: Duration,
) -> io::Result<()> {
    let counts = &findings.counts;
    if findings.rows.is_empty() {
        writeln!(
            err,
            "no repeated passages: no {} words in a row occur twice; try a lower --min-words",
            thousands(findings.min_words as u64)
        )?;
    } else {
        writeln!(err)?;
    }
    writeln!(
        err,
        "{} with {}: {} of at least {} words at {}, in {}",
        count(counts.documents, "document"),
        count(counts.words, "word"),
        count(counts.passages, "passage"),
        thousands(findings.min_words as u64),
        count(counts.runs, "maximal run"),
        count(counts.documents_with_repeats, "document"),
    )?;
    sources(err, findings)?;
    summary::write_skipped(err, &findings.run, Some("--json"))?;
    writeln!(err, "{}", seconds(elapsed))
}

/// How much of each source is repeated.
fn sources(err: &mut impl Write, findings: &PassageFindings) -> io::Result<()> {
    let mut sources: Vec<_> = findings.sources.iter().collect();
    sources
        .sort_by(|a, b| b.repeated_words.cmp(&a.repeated_words).then_with(|| a.name.cmp(&b.name)));
    writeln!(
        err,
        "{HEADER}{:>11}  {:>13}  {:>8}  {:>8}  source{HEADER:#}",
        "documents", "words", "repeated", "copied"
    )?;
    for source in sources.iter().take(SOURCES) {
        let share = |part: u64| {
            let share = if source.words == 0 { 0.0 } else { part as f64 / source.words as f64 };
            format!("{} %", percent(share))
        };
        writeln!(
            err,
            "{:>11}  {:>13}  {:>8}  {:>8}  {}",
            thousands(source.documents),
            thousands(source.words),
            share(source.repeated_words),
            share(source.copied_words),
            one_line(&source.name)
        )?;
    }
    let more = sources.len().saturating_sub(SOURCES);
    if more > 0 { writeln!(err, "… {}", count(more as u64, "more source")) } else { Ok(()) }
}
