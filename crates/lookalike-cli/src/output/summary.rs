//! The summary of a run, in a few lines for people, on standard error.

use crate::exit_code::ExitCode;
use crate::output::terminal;
pub(crate) use lookalike::core::parameter::NamesParameters;
use lookalike::extract::{ExtractError, OLD_OFFICE, OLD_OFFICE_CONVERSION};
use lookalike::find::{DropCounts, FindOptions, Findings};
use lookalike::outcome::keep_reasons;
use lookalike::read::{SkipReason, SkippedItem, limit_parameter};
use lookalike::report::notes;
use lookalike::report::option_name;
use lookalike::report::phrases::{count, one_line, thousands};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

/// Minimum bytes of an input whose speed is shown.
const LEAST_BYTES: u64 = 1_000_000;

/// The contents of a summary.
pub(crate) struct Summary<'a> {
    pub(crate) findings: &'a Findings,
    pub(crate) options: &'a FindOptions,
    /// Bytes of input, where known.
    pub(crate) bytes: Option<u64>,
    /// From start to end.
    pub(crate) elapsed: Duration,
    /// Whether a file lists the skipped files and records.
    pub(crate) skipped_listed: bool,
    /// Whether the figures of candidates, stages and parameters are wanted.
    pub(crate) verbose: bool,
}

impl Summary<'_> {
    /// Writes all lines: first what was found, and in how many documents.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let counts = &self.findings.counts;
        let duplicates = count(counts.duplicates, "duplicate");
        let groups = count(counts.groups, "group");
        if counts.duplicates > 0 {
            writeln!(out, "{duplicates} in {groups}: one document of each group is kept")?;
            self.write_keep_reasons(out)?;
        }
        self.write_documents(out)?;
        if counts.documents > counts.empty {
            self.write_recall(out)?;
        }
        self.write_better_setting(out)?;
        if !self.verbose {
            let elapsed = seconds(self.elapsed);
            let speed = self.speed(self.elapsed);
            return writeln!(out, "{elapsed}{speed}; --verbose shows more figures");
        }
        let compared = count(counts.verified, "pair");
        writeln!(out, "{}, {compared} compared", count(counts.candidates, "candidate"))?;
        self.write_times(out)?;
        writeln!(out, "{}", self.options.params)
    }

    /// Which rules decided, with the number of duplicates for each.
    fn write_keep_reasons(&self, out: &mut impl Write) -> io::Result<()> {
        let policy = &self.options.keep;
        let reasons = keep_reasons(&self.findings.groups, policy)?;
        let counts = reasons.into_iter().map(|(reason, number)| {
            format!("{} decided {}", one_line(&reason.name(policy)), thousands(number))
        });
        writeln!(out, "keep rules: {}", counts.collect::<Vec<_>>().join(", "))
    }

    /// Writes the setting that finds more, if the run found few documents.
    fn write_better_setting(&self, out: &mut impl Write) -> io::Result<()> {
        match notes::better_setting(self.findings) {
            Some(note) => writeln!(out, "note: {note}"),
            None => Ok(()),
        }
    }

    fn write_documents(&self, out: &mut impl Write) -> io::Result<()> {
        let counts = &self.findings.counts;
        let mut remarks = Vec::new();
        if counts.empty > 0 {
            remarks.push(format!("{} empty", thousands(counts.empty)));
        }
        if counts.copies > 0 {
            remarks.push(format!("{} with the same shingles as another", thousands(counts.copies)));
        }
        write!(out, "{}", count(counts.documents, "document"))?;
        if !remarks.is_empty() {
            write!(out, " ({})", remarks.join(", "))?;
        }
        if counts.skipped > 0 {
            write!(out, ", {} skipped", thousands(counts.skipped))?;
        }
        writeln!(out)?;
        write_reasons(out, self.findings.skipped.iter())?;
        let copies = self.findings.textless_copies.copies();
        if let Some([first, copy, ..]) =
            self.findings.textless_copies.groups().first().map(Vec::as_slice)
        {
            let first = one_line(first);
            let copy = one_line(copy);
            let are = if copies == 1 { "is" } else { "are" };
            let copies = thousands(copies as u64);
            writeln!(out, "  {copies} of them {are} the same bytes as another: {copy} as {first}")?;
        }
        for note in notes::of(self.findings)? {
            writeln!(out, "  {note}")?;
        }
        write_warnings(out, self.findings)?;
        if self.findings.ids_by_file {
            writeln!(out, "  ids of records begin with the file, since files share ids")?;
        }
        if !self.skipped_listed && counts.skipped > 0 {
            writeln!(out, "  --skipped FILE.csv lists them, and the empty documents")?;
        } else if !self.skipped_listed && counts.empty > 0 {
            writeln!(out, "  --skipped FILE.csv lists the empty documents")?;
        }
        Ok(())
    }

    fn write_recall(&self, out: &mut impl Write) -> io::Result<()> {
        let params = &self.options.params;
        if params.exact() {
            return writeln!(
                out,
                "every pair at similarity {} is found (exact)",
                params.threshold()
            );
        }
        if let Some(caveat) = params.recall_caveat() {
            return writeln!(out, "warning: {caveat}");
        }
        let threshold = params.threshold();
        let predicted = params.predicted_recall();
        let percent = percent(predicted);
        let concentration = self.findings.concentration;
        write!(out, "{percent} % of pairs at similarity {threshold} are found (predicted)")?;
        if predicted < params.recall() {
            write!(
                out,
                "; less than --recall {} asks for, because of --bands and --rows",
                params.recall()
            )?;
        }
        writeln!(out)?;
        if !concentration.is_concentrated() {
            return Ok(());
        }
        writeln!(
            out,
            "note: one group of {} has {} % of the pairs; there, pairs near the threshold are \
             found or missed together, so that one run can find fewer than predicted; a higher \
             --recall helps, --exact finds all",
            count(concentration.largest, "document"),
            (concentration.largest_share() * 100.0).floor()
        )
    }

    fn write_times(&self, out: &mut impl Write) -> io::Result<()> {
        for (at, (stage, elapsed)) in self.findings.times.iter().enumerate() {
            // Only the first stage goes through the input.
            let speed = if at == 0 { self.speed(*elapsed) } else { String::new() };
            write!(out, "{stage} {}{speed}, ", seconds(*elapsed))?;
        }
        writeln!(out, "in all {}{}", seconds(self.elapsed), self.speed(self.elapsed))
    }

    /// Input bytes per second. Empty for a small input, whose speed says nothing.
    fn speed(&self, elapsed: Duration) -> String {
        match self.bytes {
            Some(bytes) if bytes >= LEAST_BYTES && !elapsed.is_zero() => {
                let speed = bytes as f64 / 1e6 / elapsed.as_secs_f64();
                if speed < 10.0 {
                    format!(" ({speed:.1} MB/s)")
                } else {
                    format!(" ({} MB/s)", thousands(speed as u64))
                }
            }
            _ => String::new(),
        }
    }
}

/// The option for a file that lists the skipped files and records.
pub(crate) const SKIPPED_FILE: &str = "--skipped FILE.csv";

/// Writes the warnings and the number of skipped files and records, even if no summary is wanted.
/// Writes no number if nothing was skipped. `option` names the option that would list the skipped
/// ones, unless a file lists them already.
pub(crate) fn write_skipped(
    out: &mut impl Write,
    findings: &Findings,
    option: Option<&str>,
) -> io::Result<()> {
    write_warnings(out, findings)?;
    if findings.skipped.is_empty() {
        return Ok(());
    }
    let parts: Vec<String> = reasons(findings.skipped.iter())?
        .into_iter()
        .map(|(reason, (number, _))| format!("{} {reason}", thousands(number)))
        .collect();
    let remedy = option.map(|option| format!("; {option} lists them")).unwrap_or_default();
    writeln!(out, "skipped: {}{remedy}", one_line(&parts.join(", ")))
}

/// Writes the effect of `--drop`, and warnings about keep rules that decide nothing and about
/// tables that were read as text.
fn write_warnings(out: &mut impl Write, findings: &Findings) -> io::Result<()> {
    if let Some(DropCounts { documents, lines, unknown }) = findings.dropped {
        writeln!(out, "dropped: {} that --drop lists", count(documents, "document"))?;
        if unknown > 0 {
            writeln!(
                out,
                "warning: {} of {} of that list match no document; use ids and sources exactly as \
                 this run names them",
                thousands(unknown),
                count(lines, "line")
            )?;
        }
    }
    for field in &findings.missing_fields {
        writeln!(
            out,
            "warning: no document has a value in the field {field:?}, so --keep \
             field:{} decides nothing",
            one_line(field)
        )?;
    }
    for pattern in &findings.unmatched_patterns {
        let remedy = if pattern.contains(',') { "; for several rules, repeat --keep" } else { "" };
        writeln!(
            out,
            "warning: no document matches the pattern {pattern:?}, so --keep path:{} decides \
             nothing{remedy}",
            one_line(pattern)
        )?;
    }
    if findings.lacks_file_names {
        writeln!(
            out,
            "warning: no document is a file, so --keep name decides nothing; records are compared \
             by the rules that follow"
        )?;
    }
    write_as_text(out, &findings.read_as_text)
}

/// Writes a warning that some files were read as one text each, although their names promise
/// records. The warning names the first of them.
pub(crate) fn write_as_text(out: &mut impl Write, files: &[SkippedItem]) -> io::Result<()> {
    let Some(first) = files.first() else { return Ok(()) };
    let number = files.len() as u64;
    let (are, each) = if number == 1 { ("is", "") } else { ("are", " each") };
    writeln!(
        out,
        "warning: {} {are} read as one text{each}, not as records; {}: {}",
        count(number, "table"),
        one_line(&first.source),
        one_line(&first.reason.spelled(option_name))
    )
}

/// The exit code of a finished run: 1 if damaged records or files were left out without `skip_bad`,
/// else 3 if `is_found`.
pub(crate) fn exit_code(
    skipped: impl Iterator<Item = io::Result<SkippedItem>>,
    skip_bad: bool,
    is_found: bool,
) -> io::Result<ExitCode> {
    let mut faults = 0;
    for each in skipped {
        faults += u64::from(each?.reason.is_fault());
    }
    if faults == 0 || skip_bad {
        return Ok(ExitCode::found_if(is_found));
    }
    terminal::stderr().message(&format!(
        "warning: bad records or files were left out ({}), so the exit code is 1; --skip-bad \
         accepts them",
        thousands(faults)
    ))?;
    Ok(ExitCode::FAILURE)
}

/// Writes a line for each reason, with the number of skipped files or records and the first of
/// them. The line for a single file or record has the reason in full.
pub(crate) fn write_reasons(
    out: &mut impl Write,
    skipped: impl Iterator<Item = io::Result<SkippedItem>>,
) -> io::Result<()> {
    for (reason, (number, first)) in reasons(skipped)? {
        if is_old_office(&first.reason) {
            let place = place(&first);
            let place = one_line(&place);
            match number {
                1 => writeln!(out, "  {place}: an old Office file")?,
                _ => writeln!(out, "  {} old Office files, first {place}", thousands(number))?,
            }
            // Users copy the command, so nothing else is in its line.
            writeln!(out, "  to convert a folder (.xls to xlsx, .ppt to pptx):")?;
            writeln!(out, "{OLD_OFFICE_CONVERSION}")?;
            continue;
        }
        if number == 1 {
            let reason = first.reason.spelled(option_name);
            writeln!(out, "  {}: {}", one_line(&place(&first)), one_line(&reason))?;
            continue;
        }
        writeln!(
            out,
            "  {} {}, first {}",
            thousands(number),
            one_line(&reason),
            one_line(&place(&first))
        )?;
    }
    Ok(())
}

/// A reason, how often it occurred, and the first file or record that was skipped for it.
type SkipReasonCount = (Cow<'static, str>, (u64, SkippedItem));

/// Counts the reasons; the most frequent one is first.
fn reasons(
    skipped: impl Iterator<Item = io::Result<SkippedItem>>,
) -> io::Result<Vec<SkipReasonCount>> {
    let mut reasons: BTreeMap<Cow<'static, str>, (u64, SkippedItem)> = BTreeMap::new();
    for each in skipped {
        let each = each?;
        reasons.entry(kind(&each.reason)).or_insert((0, each)).0 += 1;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by(|(a, (x, _)), (b, (y, _))| y.cmp(x).then_with(|| a.cmp(b)));
    Ok(reasons)
}

/// Returns true for Office files in the format before 2007.
fn is_old_office(reason: &SkipReason) -> bool {
    match reason {
        SkipReason::NoText { failure, .. } => failure.to_string().contains(OLD_OFFICE),
        _ => false,
    }
}

/// A reason without the details of a single record.
fn kind(reason: &SkipReason) -> Cow<'static, str> {
    Cow::Borrowed(match reason {
        SkipReason::Hidden => "hidden (--all-files reads them)",
        SkipReason::Ignored => "left out by ignore files (--all-files reads them)",
        SkipReason::SystemFile => "files of the system, or locks of office programs",
        SkipReason::ReachedTwice => "found a second time, read once",
        SkipReason::IsReference => "also in the reference, read only as reference",
        SkipReason::SymbolicLink => "symbolic links (--follow reads them)",
        SkipReason::NotAFile => "neither files nor folders",
        SkipReason::Binary => "binary",
        SkipReason::NoText { failure, .. } => return without_text(failure),
        SkipReason::Unreadable { .. } => "unreadable",
        SkipReason::TooLong => "too long",
        SkipReason::NotRecords { .. } => "without the columns of records",
        SkipReason::NoContent => "empty",
        SkipReason::OverLimit { parameter, .. } => {
            return format!("above {}", option_name(*parameter)).into();
        }
        SkipReason::NotStored { .. } => "that no index takes",
        SkipReason::NotUtf8 { .. } => "not UTF-8",
        SkipReason::BrokenJson { .. } => "not JSON",
        SkipReason::NotAnObject { .. } => "not JSON objects",
        SkipReason::MissingField { name, .. } => {
            return format!("without a field {name:?}").into();
        }
        SkipReason::WrongType { name, .. } => {
            return format!("with a field {name:?} of another type").into();
        }
        SkipReason::EmptyId => "with an empty id",
        SkipReason::LoneSurrogate { .. } => "with half a surrogate pair",
        SkipReason::FieldCount { .. } => "with too many or too few values",
        SkipReason::UnclosedQuote => "with a quote that never ends",
        SkipReason::RepeatedId { .. } => "with the id of an earlier document",
        other => return other.spelled(option_name).into(),
    })
}

/// The reason why a file has no text, without the details of a single file.
fn without_text(failure: &ExtractError) -> Cow<'static, str> {
    Cow::Borrowed(match failure {
        ExtractError::Binary => "binary",
        ExtractError::Encrypted => "encrypted",
        ExtractError::Damaged { .. } => "damaged",
        ExtractError::Crashed { .. } => "on which the reader failed",
        ExtractError::TooSlow { .. } => "not read in time (--max seconds)",
        ExtractError::Limit { kind, limit } => {
            let remedy = limit_parameter(failure)
                .map(|parameter| format!(" ({} allows more)", option_name(parameter)));
            let limit = thousands(*limit);
            return format!("with more than {limit} {kind}{}", remedy.unwrap_or_default()).into();
        }
        other if other.to_string().contains(OLD_OFFICE) => "old Office files",
        other => return other.to_string().into(),
    })
}

/// The file and line of a record, and its id if that says more.
fn place(skipped: &SkippedItem) -> String {
    let Some(line) = skipped.line else { return skipped.source.clone() };
    let place = format!("{}:{line}", skipped.source);
    match &skipped.id {
        Some(id) if *id != place => format!("{place} ({id})"),
        _ => place,
    }
}

/// A share in percent, rounded to two decimals. Only the share 1 is 100.
pub(crate) fn percent(share: f64) -> String {
    let hundredths = (share * 10_000.0).round() as u64;
    let hundredths = if share < 1.0 { hundredths.min(9_999) } else { hundredths };
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

pub(crate) fn seconds(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 100.0 {
        format!("{seconds:.3} s")
    } else {
        format!("{} s", thousands(seconds.round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(source: &str, line: Option<u64>, reason: SkipReason) -> SkippedItem {
        SkippedItem { source: source.to_owned(), line, id: None, reason }
    }

    #[test]
    fn reasons_are_counted_by_kind() {
        let broken = |column| SkipReason::BrokenJson {
            expected: "a value".into(),
            got: "the end".into(),
            column,
        };
        let all = [
            skipped("photo.jpg", None, SkipReason::Binary),
            skipped("in.jsonl", Some(3), broken(1)),
            skipped("in.jsonl", Some(9), broken(7)),
            skipped("in.jsonl", Some(11), SkipReason::RepeatedId { first: "in.jsonl:1".into() }),
            skipped("in.jsonl", Some(12), SkipReason::RepeatedId { first: "in.jsonl:2".into() }),
        ];
        let found = reasons(all.into_iter().map(Ok)).unwrap();
        assert_eq!((found[0].0.as_ref(), found[0].1.0), ("not JSON", 2));
        assert_eq!(place(&found[0].1.1), "in.jsonl:3");
        assert_eq!((found[1].0.as_ref(), found[1].1.0), ("with the id of an earlier document", 2));
        assert_eq!((found[2].0.as_ref(), found[2].1.0), ("binary", 1));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn ids_equal_to_places_are_omitted() {
        let mut record = skipped("crawl.warc", Some(13), SkipReason::Binary);
        record.id = Some("crawl.warc:13".to_owned());
        assert_eq!(place(&record), "crawl.warc:13");
        record.id = Some("page 7".to_owned());
        assert_eq!(place(&record), "crawl.warc:13 (page 7)");
    }

    #[test]
    fn percentages_below_hundred_round_down() {
        assert_eq!(percent(0.999_999), "99.99");
        assert_eq!(percent(1.0), "100.00");
        assert_eq!(percent(0.5), "50.00");
        assert_eq!((percent(5.0 / 22.0), percent(0.0)), ("22.73".to_owned(), "0.00".to_owned()));
    }

    #[test]
    fn times_and_counts_read_well() {
        assert_eq!(seconds(Duration::from_millis(1_234)), "1.234 s");
        assert_eq!(seconds(Duration::from_secs(4_000)), "4,000 s");
        assert_eq!(
            (count(1, "group"), count(1_200, "group")),
            ("1 group".into(), "1,200 groups".into())
        );
    }
}
