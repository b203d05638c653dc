//! Reads decisions from the log of an index.

use super::decision::ReviewDecision;
use super::error::DecisionError;
use super::file::decision;
use lookalike_index::index::Index;

/// The number of decisions to read at a time, as a page. Reading ends with the page that contains
/// the first invalid decision.
const PAGE: usize = 32;

/// Returns the decisions of an index that are numbered above `after`, by number. The numbers are
/// the lines of the decisions.
///
/// # Errors
/// Errors of [`each_of_index`].
pub fn of_index(index: &Index, after: u64) -> Result<Vec<ReviewDecision>, DecisionError> {
    let mut decisions = Vec::new();
    each_of_index(index, after, &mut |decision| decisions.push(decision))?;
    Ok(decisions)
}

/// Passes the decisions of an index that are numbered above `after` to `each`, one after the other.
/// Holds one page of decisions in memory.
///
/// # Errors
/// The index cannot be read, or an entry is not a decision. `each` has then received the earlier
/// entries.
pub fn each_of_index(
    index: &Index,
    after: u64,
    each: &mut dyn FnMut(ReviewDecision),
) -> Result<(), DecisionError> {
    let mut snapshot = index.snapshot()?;
    let mut after = after;
    let mut page = Vec::with_capacity(PAGE);
    loop {
        let count = snapshot.decisions(after, PAGE, &mut |line, json| {
            page.push((line, decision(json.as_bytes(), line)));
            Ok(())
        })?;
        for (line, parsed) in page.drain(..) {
            let parsed = parsed.map_err(|problem| DecisionError::Line {
                path: index.name().into(),
                line,
                problem,
            })?;
            parsed.into_iter().for_each(&mut *each);
            after = line;
        }
        if count < PAGE {
            return Ok(());
        }
    }
}
