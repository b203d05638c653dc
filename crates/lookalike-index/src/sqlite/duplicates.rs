//! Reads the table `duplicates`: the ids of documents that were dropped as duplicates.

use super::index_folder::IndexFolder;
use super::posting::id_key;
use crate::duplicate_table::{self, DuplicateCallback};
use crate::error::IndexError;
use rusqlite::{Connection, Row};

/// The sizes of the groups of documents.
///
/// # Errors
/// As [`Snapshot::group_sizes`](crate::backend::Snapshot::group_sizes).
pub(super) fn group_sizes(
    place: &IndexFolder,
    connection: &Connection,
    numbers: &[u64],
) -> Result<Vec<u64>, IndexError> {
    let read = || -> rusqlite::Result<Vec<u64>> {
        let sql = "SELECT count(*) FROM duplicates WHERE keeper = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut size = |number: &u64| {
            let count = statement.query_row([number.cast_signed()], |row| row.get::<_, i64>(0));
            count.map(|count| 1 + count.cast_unsigned())
        };
        numbers.iter().map(&mut size).collect()
    };
    read().map_err(|error| place.database(error))
}

/// Gives the duplicates of documents to `each`.
///
/// # Errors
/// As [`Snapshot::duplicates`](crate::backend::Snapshot::duplicates).
pub(super) fn read(
    place: &IndexFolder,
    connection: &Connection,
    numbers: &[u64],
    each: DuplicateCallback<'_>,
) -> Result<(), IndexError> {
    let failed = |error| place.database(error);
    let sql = "SELECT id, keeper, checksum, id_key FROM duplicates WHERE keeper = ?1 ORDER BY id";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    for number in numbers {
        let mut rows = statement.query([number.cast_signed()]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let (id, keeper) = verified(row).map_err(failed)??;
            each(keeper, id)?;
        }
    }
    Ok(())
}

/// The id and the keeper of a row, whose checksum is verified.
fn verified<'a>(row: &'a Row<'_>) -> rusqlite::Result<Result<(&'a str, u64), IndexError>> {
    let (id, keeper) = (row.get_ref(0)?.as_str()?, row.get::<_, i64>(1)?.cast_unsigned());
    let (sum, key) = (row.get::<_, i64>(2)?.cast_unsigned(), row.get::<_, i64>(3)?);
    // A wrong key is as a wrong checksum: the row is not found by its id.
    let sum = if key == id_key(id.as_bytes()).cast_signed() { sum } else { !sum };
    Ok(duplicate_table::verify(keeper, id, sum).map(|()| (id, keeper)))
}

/// What is wrong with the table, and whether it can be repaired.
///
/// # Errors
/// Read errors.
pub(super) fn problems(
    place: &IndexFolder,
    connection: &Connection,
) -> Result<Vec<(String, bool)>, IndexError> {
    let failed = |error| place.database(error);
    let mut problems = Vec::new();
    let sql = "SELECT id, keeper, checksum, id_key FROM duplicates ORDER BY rowid";
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        if let Err(IndexError::Damaged { what, why }) = verified(row).map_err(failed)? {
            problems.push((format!("{what}: {why}"), false));
        }
    }
    let sql = "SELECT count(*) FROM duplicates WHERE keeper NOT IN (SELECT doc FROM docs)";
    let orphans: i64 = connection.query_row(sql, [], |row| row.get(0)).map_err(failed)?;
    if orphans > 0 {
        problems.push((format!("{orphans} rows have a keeper that is no document"), true));
    }
    Ok(problems)
}
