//! Checks side tables, and counts originals.

use super::originals::{self, ORIGINALS};
use super::versions::{self, VERSIONS};
use super::{Tables, Value, categories, decisions, duplicates};
use crate::backend::{IndexProblem, OriginalStats};
use crate::error::IndexError;
use crate::settings::IndexSettings;

/// Versions that are checked at a time.
const BATCH: i64 = 1000;
/// The remedy for damaged bytes that are stored only once.
const REMEDY: &str = "restore a backup, or add its document again";

/// Counts that are 0 in a sound index.
const COUNTS: [(&str, &str); 3] = [
    (
        "documents have no version",
        "SELECT count(*) FROM docs \
         WHERE NOT EXISTS (SELECT 1 FROM versions WHERE versions.doc = docs.doc)",
    ),
    (
        "versions that have not ended have no document",
        "SELECT count(*) FROM versions WHERE ended IS NULL \
         AND NOT EXISTS (SELECT 1 FROM docs WHERE docs.doc = versions.doc)",
    ),
    (
        "versions have no original",
        "SELECT count(*) FROM versions WHERE NOT EXISTS \
         (SELECT 1 FROM originals WHERE originals.original = versions.original)",
    ),
];

/// A check of some tables.
type Check = fn(Tables<'_>, &mut Vec<IndexProblem>) -> Result<(), IndexError>;

/// The checks of the side tables of an index.
pub(crate) fn checks(settings: &IndexSettings) -> &'static [Check] {
    const ALL: [Check; 4] = [decisions::check, categories::check, duplicates::check, archive];
    if settings.store.has_originals() { &ALL } else { &ALL[..3] }
}

/// Checks every version and every original. Needs memory for one chain of differences at a time.
fn archive(tables: Tables<'_>, problems: &mut Vec<IndexProblem>) -> Result<(), IndexError> {
    check_versions(tables, problems)?;
    check_originals(tables, problems)?;
    for (problem, sql) in COUNTS {
        let count = tables.integer(VERSIONS.name, sql)?;
        if count > 0 {
            push(problems, VERSIONS.name.to_owned(), &format!("{count} {problem}"));
        }
    }
    Ok(())
}

fn check_versions(tables: Tables<'_>, problems: &mut Vec<IndexProblem>) -> Result<(), IndexError> {
    let mut after = i64::MIN;
    loop {
        let page = versions::page(tables, after, BATCH)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.version.document.signed();
        for row in &page {
            let mut seen = row.verify(tables.name());
            if row.version.ended.is_some() && seen.is_ok() {
                seen = tables.ended_text(row.version.document.signed()).map(drop);
            }
            note(seen, problems)?;
        }
    }
}

fn check_originals(tables: Tables<'_>, problems: &mut Vec<IndexProblem>) -> Result<(), IndexError> {
    let sql = "SELECT original FROM originals WHERE original > $1 ORDER BY original LIMIT 1";
    let mut after = i64::MIN;
    loop {
        let values = [Value::Integer(after)];
        let next = tables.first(ORIGINALS.name, sql, &values, |row| row.later(0, after))?;
        let Some(number) = next else { return Ok(()) };
        after = number;
        note(originals::read(tables, number).map(drop), problems)?;
    }
}

/// Converts an error of damage to a problem.
fn note(read: Result<(), IndexError>, problems: &mut Vec<IndexProblem>) -> Result<(), IndexError> {
    match read {
        Err(IndexError::Damaged { what, why }) => push(problems, what, &why),
        other => other?,
    }
    Ok(())
}

fn push(problems: &mut Vec<IndexProblem>, place: String, problem: &str) {
    problems.push(IndexProblem { place, what: format!("{problem}; {REMEDY}"), repairable: false });
}

/// Counts the originals of an index that stores them.
///
/// # Errors
/// Read errors.
pub(crate) fn stats(
    tables: Tables<'_>,
    settings: &IndexSettings,
) -> Result<Option<OriginalStats>, IndexError> {
    if !settings.store.has_originals() {
        return Ok(None);
    }
    let sql = "SELECT (SELECT count(*) FROM versions), count(*), count(base), \
               CAST(coalesce(sum(bytes), 0) AS bigint), \
               CAST(coalesce(sum(length(zstd)), 0) AS bigint) FROM originals";
    tables.first(ORIGINALS.name, sql, &[], |row| {
        Ok(OriginalStats {
            versions: row.unsigned(0)?,
            originals: row.unsigned(1)?,
            differences: row.unsigned(2)?,
            bytes: row.unsigned(3)?,
            stored_bytes: row.unsigned(4)?,
        })
    })
}
