//! Checks originals and versions, and counts them.

use super::originals;
use super::pool::PooledConnection;
use super::row::{column, later};
use super::versions;
use crate::backend::{IndexProblem, OriginalStats};
use crate::error::IndexError;

/// Versions that are checked at a time.
const BATCH: i64 = 1000;
/// What helps against damage of what is stored once.
const REMEDY: &str = "restore a backup, or add its document again";

/// What is counted, and what the count is of.
const COUNTS: [(&str, &str); 3] = [
    (
        "documents have no version",
        "SELECT count(*) FROM docs \
         WHERE NOT EXISTS (SELECT FROM versions WHERE versions.doc = docs.doc)",
    ),
    (
        "versions that have not ended have no document",
        "SELECT count(*) FROM versions WHERE ended IS NULL \
         AND NOT EXISTS (SELECT FROM docs WHERE docs.doc = versions.doc)",
    ),
    (
        "versions have no original",
        "SELECT count(*) FROM versions WHERE NOT EXISTS \
         (SELECT FROM originals WHERE originals.original = versions.original)",
    ),
];

/// Checks every version and every original. The memory of one chain of differences is taken at a
/// time.
///
/// # Errors
/// Read errors; damage is no error but a problem.
pub(super) fn check(
    connection: &mut PooledConnection,
    problems: &mut Vec<IndexProblem>,
) -> Result<(), IndexError> {
    check_versions(connection, problems)?;
    check_originals(connection, problems)?;
    for (what, sql) in COUNTS {
        let row = connection.query_one(sql, &[], "its versions")?;
        let count: i64 = column(&row, "versions", 0)?;
        if count > 0 {
            push(problems, "versions".to_owned(), &format!("{count} {what}"));
        }
    }
    Ok(())
}

fn check_versions(
    connection: &mut PooledConnection,
    problems: &mut Vec<IndexProblem>,
) -> Result<(), IndexError> {
    let sql = "SELECT doc, ended IS NOT NULL FROM versions WHERE doc > $1 ORDER BY doc LIMIT $2";
    let mut after = i64::MIN;
    loop {
        let rows = connection.query(sql, &[&after, &BATCH])?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = later("versions", after, column(last, "versions", 0)?)?;
        for row in &rows {
            let (doc, is_ended): (i64, bool) =
                (column(row, "versions", 0)?, column(row, "versions", 1)?);
            let stored = versions::of_documents(connection, &[doc])?;
            let mut seen = stored.iter().try_for_each(versions::VersionRecord::verify);
            if is_ended && seen.is_ok() {
                seen = versions::ended_text(connection, doc).map(drop);
            }
            note(seen, problems)?;
        }
    }
}

fn check_originals(
    connection: &mut PooledConnection,
    problems: &mut Vec<IndexProblem>,
) -> Result<(), IndexError> {
    let sql = "SELECT min(original) FROM originals WHERE original > $1";
    let mut after = i64::MIN;
    loop {
        let row = connection.query_one(sql, &[&after], "its originals")?;
        let Some(next) = column::<Option<i64>>(&row, "originals", 0)? else { return Ok(()) };
        after = later("originals", after, next)?;
        note(originals::read(connection, next).map(drop), problems)?;
    }
}

/// Makes a problem of damage.
fn note(read: Result<(), IndexError>, problems: &mut Vec<IndexProblem>) -> Result<(), IndexError> {
    match read {
        Err(IndexError::Damaged { what, why }) => push(problems, what, &why),
        other => other?,
    }
    Ok(())
}

fn push(problems: &mut Vec<IndexProblem>, place: String, what: &str) {
    problems.push(IndexProblem { place, what: format!("{what}; {REMEDY}"), repairable: false });
}

/// Counts of originals, of an index that keeps them.
///
/// # Errors
/// Read errors.
pub(super) fn stats(connection: &mut PooledConnection) -> Result<OriginalStats, IndexError> {
    let sql = "SELECT (SELECT count(*) FROM versions), count(*), count(base), \
               coalesce(sum(bytes), 0)::bigint, coalesce(sum(octet_length(zstd)), 0)::bigint \
               FROM originals";
    let row = connection.query_one(sql, &[], "its originals")?;
    let number = |at| column::<i64>(&row, "originals", at).map(i64::cast_unsigned);
    Ok(OriginalStats {
        versions: number(0)?,
        originals: number(1)?,
        differences: number(2)?,
        bytes: number(3)?,
        stored_bytes: number(4)?,
    })
}
