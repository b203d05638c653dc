//! The share of each source that is removed, as a table for people and as warnings.
//!
//! ```text
//! documents  removed  share  source
//!     1,000    632  63.20 %  crawl/2024.jsonl
//! ```

use crate::output::summary::percent;
use crate::output::terminal::Style;
use lookalike::find::SourceCounts;
use lookalike::report::phrases::{count, one_line, thousands};
use std::io::{self, Write};

const HEADER: Style = Style::DIMMED;
/// The share of a source above which its loss is worth a warning.
const LARGE_SHARE: f64 = 0.5;
/// The fewest documents of a source for a warning. The share of a smaller source says little.
const LEAST_DOCUMENTS: u64 = 20;
/// The greatest number of sources that warnings name.
const NAMED: usize = 5;

/// The treatment of duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DuplicateAction {
    /// They are left out of the output.
    Go,
    /// They would be left out if there were an output.
    WouldGo,
    /// They are reported.
    Reported,
}

/// Advice for sources that lose too many documents.
const SHOWN: &str =
    "`lookalike find` shows them, a higher --threshold or longer shingles keep more";

/// The sources of the inputs.
pub(crate) struct SourceTable<'a> {
    pub(crate) sources: &'a [SourceCounts],
    pub(crate) fate: DuplicateAction,
}

impl SourceTable<'_> {
    /// Sorts the sources: most duplicates first, then by name. Leaves out reference collections,
    /// which lose no documents.
    fn sorted(&self) -> Vec<&SourceCounts> {
        let mut sources: Vec<_> = self.sources.iter().filter(|source| !source.reference).collect();
        sources.sort_by(|a, b| b.duplicates.cmp(&a.duplicates).then_with(|| a.name.cmp(&b.name)));
        sources
    }

    /// Writes at most `most` sources, then a line for the others and, unless there is only one
    /// source, a line for all.
    pub(crate) fn write(&self, out: &mut impl Write, most: usize) -> io::Result<()> {
        let sources = self.sorted();
        writeln!(
            out,
            "{HEADER}{:>11}  {:>11}  {:>8}  source{HEADER:#}",
            "documents", "removed", "share"
        )?;
        for source in sources.iter().take(most) {
            line(out, source.documents, source.duplicates, &one_line(&source.name))?;
        }
        if let Some(more) = sources.len().checked_sub(most).filter(|more| *more > 0) {
            let (documents, duplicates) = sum(sources.iter().skip(most));
            let name = format!("… {}", count(more as u64, "more source"));
            line(out, documents, duplicates, &name)?;
        }
        if sources.len() != 1 {
            let (documents, duplicates) = sum(sources.iter());
            line(out, documents, duplicates, "all")?;
        }
        Ok(())
    }

    /// A warning for each of the first sources that lose most of their documents, and one for the
    /// others together.
    pub(crate) fn warn(&self, err: &mut impl Write) -> io::Result<()> {
        let large: Vec<_> = self
            .sorted()
            .into_iter()
            .filter(|source| source.documents >= LEAST_DOCUMENTS)
            .filter(|source| share(source.documents, source.duplicates) > LARGE_SHARE)
            .collect();
        let (go, advice) = match self.fate {
            DuplicateAction::Go => ("are removed", SHOWN),
            DuplicateAction::WouldGo => ("would be removed", SHOWN),
            DuplicateAction::Reported => {
                ("are duplicates", "a higher --threshold or longer shingles find fewer")
            }
        };
        for source in large.iter().take(NAMED) {
            writeln!(
                err,
                "warning: {} % of {} {go} ({} of {}); are they duplicates in your sense? {advice}",
                percent(share(source.documents, source.duplicates)),
                one_line(&source.name),
                thousands(source.duplicates),
                count(source.documents, "document")
            )?;
        }
        if let Some(more) = large.len().checked_sub(NAMED).filter(|more| *more > 0) {
            let more = count(more as u64, "further source");
            writeln!(err, "warning: more than half of each of {more} {go} as well")?;
        }
        Ok(())
    }
}

fn sum<'a>(sources: impl Iterator<Item = &'a &'a SourceCounts>) -> (u64, u64) {
    sources.fold((0, 0), |(documents, duplicates), source| {
        (documents + source.documents, duplicates + source.duplicates)
    })
}

fn share(documents: u64, duplicates: u64) -> f64 {
    if documents == 0 { 0.0 } else { duplicates as f64 / documents as f64 }
}

fn line(out: &mut impl Write, documents: u64, duplicates: u64, name: &str) -> io::Result<()> {
    let all = thousands(documents);
    let go = thousands(duplicates);
    writeln!(out, "{all:>11}  {go:>11}  {:>6} %  {name}", percent(share(documents, duplicates)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, documents: u64, duplicates: u64, reference: bool) -> SourceCounts {
        let name = name.to_owned();
        let (bytes, duplicate_bytes) = (documents, duplicates);
        SourceCounts { name, documents, bytes, duplicates, duplicate_bytes, reference }
    }

    #[test]
    fn removals_are_counted_per_source() {
        let sources = [
            source("a", 10, 5, false),
            source("b", 2_000, 1_001, false),
            source("c", 0, 0, false),
            source("d", 19, 19, false),
            source("r", 9, 0, true),
        ];
        let table = SourceTable { sources: &sources, fate: DuplicateAction::WouldGo };
        let text = |most| crate::output::terminal::piped(|out| table.write(out, most).unwrap());
        assert_eq!(
            text(1),
            "  documents      removed     share  source\n\
             \x20     2,000        1,001   50.05 %  b\n\
             \x20        29           24   82.76 %  … 3 more sources\n\
             \x20     2,029        1,025   50.52 %  all\n"
        );
        assert_eq!(text(9).lines().count(), 6);
        let mut bytes = Vec::new();
        table.warn(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.starts_with("warning: 50.05 % of b would be removed (1,001 of 2,000 documents)")
        );
        let mut bytes = Vec::new();
        SourceTable { sources: &sources, fate: DuplicateAction::Reported }
            .warn(&mut bytes)
            .unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("warning: 50.05 % of b are duplicates (1,001"), "{text}");
    }
}
