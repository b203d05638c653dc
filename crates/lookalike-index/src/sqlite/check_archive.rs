//! Checks originals and versions.

use super::index_state::FolderSnapshot;
use super::originals::Originals;
use super::versions;
use crate::backend::{IndexProblem, OriginalStats};
use crate::error::IndexError;
use rusqlite::Connection;

/// Versions that are checked at a time.
const BATCH: u32 = 1000;
/// What helps against damage of what is stored once.
const REMEDY: &str = "restore a backup, or add its document again";

/// Checks every version and every original of an index that keeps them. The memory of one chain of
/// differences is taken at a time.
///
/// # Errors
/// Read errors; damage is no error but a problem.
pub(super) fn check(
    snapshot: &FolderSnapshot,
    problems: &mut Vec<IndexProblem>,
) -> Result<(), IndexError> {
    if !snapshot.state.settings.store.has_originals() {
        return Ok(());
    }
    check_versions(snapshot, problems)?;
    check_originals(snapshot, problems)?;
    let counts = [
        (
            "documents have no version",
            "SELECT count(*) FROM docs WHERE doc NOT IN (SELECT doc FROM versions)",
        ),
        (
            "versions that have not ended have no document",
            "SELECT count(*) FROM versions
             WHERE ended IS NULL AND doc NOT IN (SELECT doc FROM docs)",
        ),
        (
            "versions have no original",
            "SELECT count(*) FROM versions
             WHERE original NOT IN (SELECT original FROM originals)",
        ),
    ];
    for (what, sql) in counts {
        let count = number(snapshot.connection()?, sql);
        let count = count.map_err(|error| snapshot.state.place.database(error))?;
        if count > 0 {
            push(problems, "versions".to_owned(), &format!("{count} {what}"));
        }
    }
    Ok(())
}

fn check_versions(
    snapshot: &FolderSnapshot,
    problems: &mut Vec<IndexProblem>,
) -> Result<(), IndexError> {
    let (place, connection) = (&snapshot.state.place, snapshot.connection()?);
    let mut from = 0;
    loop {
        place.poll()?;
        let read = versions::from(place, connection, from, i64::MAX as u64, BATCH);
        match read {
            Ok(rows) => match rows.last() {
                Some(last) => from = last.version.document + 1,
                None => return Ok(()),
            },
            // One after the other, up to the one that is damaged.
            Err(IndexError::Damaged { .. }) => {
                match versions::from(place, connection, from, i64::MAX as u64, 1) {
                    Err(IndexError::Damaged { what, why }) => {
                        push(problems, what, &why);
                        let sql = "SELECT min(doc) FROM versions WHERE doc >= ?1";
                        let at = connection.query_row(sql, [from.cast_signed()], |row| row.get(0));
                        let at: i64 = at.map_err(|error| place.database(error))?;
                        let at = place.later("versions", from.cast_signed() - 1, at)?;
                        from = at.cast_unsigned() + 1;
                    }
                    Ok(rows) => match rows.last() {
                        Some(last) => from = last.version.document + 1,
                        None => {
                            return Err(place.damaged_catalogue(
                                "table versions has rows that a second search does not find"
                                    .to_owned(),
                            ));
                        }
                    },
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
    }
}

fn check_originals(
    snapshot: &FolderSnapshot,
    problems: &mut Vec<IndexProblem>,
) -> Result<(), IndexError> {
    let (place, connection) = (&snapshot.state.place, snapshot.connection()?);
    let failed = |error| place.database(error);
    let originals = Originals { place, connection };
    let mut after = i64::MIN;
    loop {
        let sql = "SELECT min(original) FROM originals WHERE original > ?1";
        let next = connection.query_row(sql, [after], |row| row.get::<_, Option<i64>>(0));
        let Some(next) = next.map_err(failed)? else { return Ok(()) };
        after = place.later("originals", after, next)?;
        match originals.read(next.cast_unsigned()) {
            Err(IndexError::Damaged { what, why }) => push(problems, what, &why),
            other => drop(other?),
        }
    }
}

fn push(problems: &mut Vec<IndexProblem>, place: String, what: &str) {
    problems.push(IndexProblem { place, what: format!("{what}; {REMEDY}"), repairable: false });
}

/// Counts of originals, of an index that keeps them.
///
/// # Errors
/// Errors of SQLite.
pub(super) fn stats(connection: &Connection) -> rusqlite::Result<OriginalStats> {
    Ok(OriginalStats {
        versions: number(connection, "SELECT count(*) FROM versions")?,
        originals: number(connection, "SELECT count(*) FROM originals")?,
        differences: number(connection, "SELECT count(*) FROM originals WHERE base IS NOT NULL")?,
        bytes: number(connection, "SELECT coalesce(sum(bytes), 0) FROM originals")?,
        stored_bytes: number(connection, "SELECT coalesce(sum(length(zstd)), 0) FROM originals")?,
    })
}

fn number(connection: &Connection, sql: &str) -> rusqlite::Result<u64> {
    connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
}
