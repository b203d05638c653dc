//! The changes that a dry run lists: each removed document with its keeper.
//!
//! ```text
//! similarity  reason   removed -> kept
//!      0.842  longest  flat-3.txt -> flat-12.txt
//! ```

use crate::output::printed_paths::PrintedPaths;
use crate::output::summary::Summary;
use crate::output::table::similarity;
use crate::output::terminal::{self, Style};
use lookalike::outcome::KeepReason;
use lookalike::report::phrases::one_line;
use std::io::{self, BufWriter, Write};

const HEADER: Style = Style::DIMMED;
/// Changes shown on a terminal.
const TERMINAL_CHANGES: u64 = 200;

/// Prints the changes on standard output. Prints only the first ones on a terminal. Returns the
/// number of changes that are not shown, if any.
pub(super) fn print(summary: &Summary<'_>, paths: &PrintedPaths) -> io::Result<Option<u64>> {
    let Summary { findings, options, .. } = *summary;
    let stream = terminal::stdout();
    let most = if stream.is_terminal() { TERMINAL_CHANGES } else { u64::MAX };
    let mut out = BufWriter::new(stream);
    let rules = options.keep.rules().iter().map(ToString::to_string);
    let reasons = rules.chain(["reference".to_owned(), "decision".to_owned()]);
    let width = reasons.map(|reason| reason.chars().count()).max().unwrap_or(0);
    let mut changes = 0;
    for group in findings.groups.iter() {
        let group = group?;
        for duplicate in &group.duplicates {
            changes += 1;
            if changes > most {
                continue;
            }
            if changes == 1 {
                writeln!(
                    out,
                    "{HEADER}similarity  {:<width$}  removed -> kept{HEADER:#}",
                    "reason"
                )?;
            }
            let similarity = similarity(&duplicate.overlap, options.params.measure());
            let reason = KeepReason::of(&group.keeper, duplicate).name(&options.keep);
            let removed = paths.of_id(&duplicate.id);
            let kept = paths.of_keeper(&group.keeper);
            writeln!(
                out,
                "{similarity:>10}  {:<width$}  {} -> {}",
                one_line(&reason),
                one_line(&removed),
                one_line(&kept)
            )?;
        }
    }
    out.flush()?;
    Ok(changes.checked_sub(most).filter(|more| *more > 0))
}
