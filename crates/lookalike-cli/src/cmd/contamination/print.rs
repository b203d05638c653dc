//! Prints the counts of each benchmark, and the items with the greatest shares in the corpus.

use crate::output::summary::percent;
use crate::output::terminal::Style;
use lookalike::contamination::{Contamination, ItemVerdict};
use lookalike::report::phrases::{count, one_line, thousands};
use std::io::{self, Write};

const HEADER: Style = Style::DIMMED;
/// Contaminated items that are listed.
const SHOWN: usize = 10;
/// Characters of an item's text that are shown.
const TEXT: usize = 60;

pub(super) fn print(out: &mut impl Write, found: &Contamination) -> io::Result<()> {
    writeln!(
        out,
        "{HEADER}{:>9}  {:>12}  {:>8}  {:>13}  benchmark{HEADER:#}",
        "items", "contaminated", "share", "words covered"
    )?;
    for row in &found.benchmarks {
        let name = one_line(&row.benchmark);
        let field = row.field.iter().map(|field| format!(" ({})", one_line(field)));
        writeln!(
            out,
            "{:>9}  {:>12}  {:>6} %  {:>11} %  {name}{}",
            thousands(row.items),
            thousands(row.contaminated),
            percent(row.contaminated as f64 / row.items.max(1) as f64),
            percent(row.covered as f64 / row.words.max(1) as f64),
            field.collect::<String>(),
        )?;
        if row.empty > 0 {
            let number = thousands(row.empty);
            let verb = contain(row.empty);
            writeln!(out, "{number:>9}  of these items {verb} no words")?;
        }
    }
    writeln!(
        out,
        "\nCompared with {}; {} {} a run of a contaminated item.",
        count(found.documents, "document"),
        thousands(found.contaminated_documents),
        contain(found.contaminated_documents)
    )?;
    if !found.skipped.is_empty() {
        match found.skipped.len() as u64 {
            1 => writeln!(out, "1 record or file was skipped:")?,
            several => writeln!(out, "{} records or files were skipped:", thousands(several))?,
        }
        for skipped in found.skipped.iter().take(SHOWN) {
            writeln!(out, "  {}", one_line(&skipped.to_string()))?;
        }
    }
    let contaminated = || found.items.iter().filter(|item| item.contaminated);
    let listed = contaminated().count();
    if listed > 0 {
        writeln!(
            out,
            "\n{HEADER}{:>6}  {:>6}  {:>9}  item{HEADER:#}",
            "share", "words", "documents"
        )?;
    }
    contaminated().take(SHOWN).try_for_each(|item| write_item(out, item))?;
    match listed.checked_sub(SHOWN).filter(|more| *more > 0) {
        Some(more) => writeln!(out, "… {more} more; --output writes all of them"),
        None => Ok(()),
    }
}

/// Returns the verb for a subject with this number.
fn contain(number: u64) -> &'static str {
    if number == 1 { "contains" } else { "contain" }
}

fn write_item(out: &mut impl Write, verdict: &ItemVerdict) -> io::Result<()> {
    let ItemVerdict { item, documents, .. } = verdict;
    let begin: String = item.text.chars().take(TEXT).collect();
    let more = if begin.len() < item.text.len() { "…" } else { "" };
    writeln!(
        out,
        "{:>4} %  {:>6}  {:>9}  {}: {}{more}",
        percent(verdict.share()),
        thousands(u64::from(item.words)),
        thousands(*documents),
        one_line(&item.id),
        one_line(&begin),
    )
}
