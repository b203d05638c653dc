//! Groups as a table for people.
//!
//! ```text
//! group  similarity  document
//!     1      keeper  office/tenancy-notice-flat-12.txt
//!     1       0.842  office/tenancy-notice-flat-3.txt
//! ```
//!
//! Every line has its group's number, so that a line found by `grep` says where it belongs.
//!
//! Used instead of `comfy-table`, which holds all rows before it prints the first one, and takes
//! 976 MB for a million rows (November 2026, `contributing/libraries.md`). Groups are printed one
//! at a time.

use crate::output::printed_paths::PrintedPaths;
use crate::output::terminal::Style;
use crate::output::text_width::{shorten, visible};
use lookalike::core::params::Measure;
use lookalike::core::verify::Overlap;
use lookalike::find::{Group, Groups};
use lookalike::report::phrases::{one_line, thousands};
use std::io::{self, Write};

const HEADER: Style = Style::DIMMED;
const KEEPER: Style = Style::BOLD;
const LESS: Style = Style::DIMMED;

/// Columns of the similarity, and between columns.
const SIMILARITY: usize = "similarity".len();
const GAP: usize = 2;
/// The least columns of an id that is shortened.
const LEAST_ID: usize = 20;

/// How much is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extent {
    /// Groups, or all.
    pub(crate) groups: Option<usize>,
    /// Duplicates of a group, or all.
    pub(crate) duplicates: Option<usize>,
    /// Columns of a line, or as many as it takes; ids are shortened to fit.
    pub(crate) width: Option<usize>,
    /// A blank line between groups.
    pub(crate) spaced: bool,
}

/// The number of groups and duplicates that a table leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NotShown {
    /// Groups.
    pub(crate) groups: usize,
    /// Duplicates, in those groups and in others.
    pub(crate) duplicates: usize,
}

/// Writes the table and returns how much it leaves out. Without groups, writes nothing.
pub(crate) fn write(
    out: &mut impl Write,
    groups: &Groups,
    measure: Measure,
    extent: Extent,
    paths: &PrintedPaths,
) -> io::Result<NotShown> {
    let printed = extent.groups.unwrap_or(usize::MAX).min(groups.len());
    let mut not_shown = NotShown { groups: groups.len() - printed, duplicates: 0 };
    let number = printed.to_string().len().max("group".len());
    let used = number + SIMILARITY + 2 * GAP;
    let id = extent.width.map(|width| width.saturating_sub(used).max(LEAST_ID));
    let mut lines = TableLines { out, measure, number, id, paths };
    for (i, group) in groups.iter().enumerate() {
        let group = group?;
        if i >= printed {
            not_shown.duplicates += group.duplicates.len();
            continue;
        }
        if i == 0 {
            lines.header()?;
        } else if extent.spaced {
            lines.blank()?;
        }
        not_shown.duplicates += lines.group(i + 1, &group, extent.duplicates)?;
    }
    Ok(not_shown)
}

struct TableLines<'a, W> {
    out: &'a mut W,
    measure: Measure,
    /// Columns of the group's number.
    number: usize,
    /// Columns of an id, if ids are shortened.
    id: Option<usize>,
    paths: &'a PrintedPaths,
}

impl<W: Write> TableLines<'_, W> {
    fn header(&mut self) -> io::Result<()> {
        let width = self.number;
        writeln!(self.out, "{HEADER}{:>width$}  similarity  document{HEADER:#}", "group")
    }

    fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// Writes one group and returns how many of its duplicates are not shown.
    fn group(&mut self, number: usize, group: &Group, most: Option<usize>) -> io::Result<usize> {
        let role = if group.keeper.reference { "reference" } else { "keeper" };
        self.line(number, role, &self.paths.of_keeper(&group.keeper), KEEPER)?;
        let duplicates = group.duplicates.len();
        let printed = most.unwrap_or(duplicates).min(duplicates);
        for duplicate in &group.duplicates[..printed] {
            let similarity = similarity(&duplicate.overlap, self.measure);
            self.line(number, &similarity, &self.paths.of_id(&duplicate.id), Style::PLAIN)?;
        }
        let omitted = duplicates - printed;
        if omitted > 0 {
            self.line(number, "", &format!("… and {} more", thousands(omitted as u64)), LESS)?;
        }
        Ok(omitted)
    }

    fn line(&mut self, number: usize, similarity: &str, id: &str, style: Style) -> io::Result<()> {
        let id = match self.id {
            Some(width) => shorten(&visible(id), width).into_owned().into(),
            None => one_line(id),
        };
        let width = self.number;
        writeln!(self.out, "{number:>width$}  {similarity:>SIMILARITY$}  {style}{id}{style:#}")
    }
}

/// Formats three decimals, cut and not rounded. Only equal sets have `1.000`, and a similarity that
/// reaches a threshold of at most three decimals is never shown below it.
pub(crate) fn similarity(overlap: &Overlap, measure: Measure) -> String {
    let mut text = overlap.six_decimals_of(measure);
    text.truncate("0.000".len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike::find::{DocumentNumber, Duplicate, Keeper};

    fn groups() -> Groups {
        let overlap = |intersection| Overlap { intersection, left: 10_000, right: intersection };
        let duplicate = |id: &str, n| Duplicate {
            id: id.to_owned(),
            document: DocumentNumber::default(),
            bytes: n,
            overlap: overlap(n),
            decided_by: None,
            unit: None,
        };
        let keeper = |id: &str| Keeper {
            id: id.to_owned(),
            document: DocumentNumber::default(),
            bytes: 10_000,
            reference: false,
            by_decision: false,
            unit: None,
        };
        let few = vec![duplicate("letters/2024/heating-failure.txt", 9_999)];
        let many = vec![duplicate("y", 10_000), duplicate("z\n", 8_125)];
        Groups::of(&[
            Group { keeper: keeper("阅览室"), duplicates: many },
            Group { keeper: keeper("b"), duplicates: few },
        ])
        .unwrap()
    }

    fn text(extent: Extent) -> (String, NotShown) {
        let mut not_shown = NotShown::default();
        let text = crate::output::terminal::piped(|out| {
            not_shown =
                write(out, &groups(), Measure::Jaccard, extent, &PrintedPaths::default()).unwrap();
        });
        (text, not_shown)
    }

    #[test]
    fn tables_are_complete_by_default() {
        let (text, not_shown) = text(Extent::default());
        assert_eq!(
            text,
            "group  similarity  document\n\
             \x20   1      keeper  阅览室\n\
             \x20   1       1.000  y\n\
             \x20   1       0.812  z\\n\n\
             \x20   2      keeper  b\n\
             \x20   2       0.999  letters/2024/heating-failure.txt\n"
        );
        assert_eq!(not_shown, NotShown::default());
    }

    #[test]
    fn hidden_rows_are_counted() {
        let (text, not_shown) =
            text(Extent { groups: Some(1), duplicates: Some(1), ..Extent::default() });
        assert!(text.ends_with("y\n    1              … and 1 more\n"), "{text}");
        assert_eq!(not_shown, NotShown { groups: 1, duplicates: 2 });
    }

    #[test]
    fn long_ids_are_shortened_to_width() {
        let (text, _) = text(Extent { width: Some(40), spaced: true, ..Extent::default() });
        assert!(text.contains("\n\n    2      keeper  b\n"), "{text}");
        assert!(text.contains("  letter…ng-failure.txt\n"), "{text}");
        assert!(text.lines().all(|line| crate::output::text_width::columns(line) <= 40));
    }

    #[test]
    fn empty_groups_print_no_table() {
        let mut bytes = Vec::new();
        let not_shown = write(
            &mut bytes,
            &Groups::default(),
            Measure::Jaccard,
            Extent::default(),
            &PrintedPaths::default(),
        )
        .unwrap();
        assert_eq!(not_shown, NotShown::default());
        assert!(bytes.is_empty());
    }
}
