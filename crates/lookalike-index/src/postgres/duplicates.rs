//! Reads the documents that went as duplicates: the table `duplicates`.

use super::pool::PooledConnection;
use super::row::column;
use crate::duplicate_table::{self, DuplicateCallback};
use crate::error::IndexError;
use postgres::Row;
use std::collections::{BTreeSet, HashMap};

/// Keepers of one request.
const CHUNK: usize = 1024;

/// The sizes of the groups of documents.
///
/// # Errors
/// As [`Snapshot::group_sizes`](crate::backend::Snapshot::group_sizes).
pub(super) fn group_sizes(
    connection: &mut PooledConnection,
    numbers: &[u64],
) -> Result<Vec<u64>, IndexError> {
    let sql = "SELECT keeper, count(*) FROM duplicates WHERE keeper = ANY($1) GROUP BY keeper";
    let mut counts = HashMap::new();
    for keepers in numbers.chunks(CHUNK) {
        connection.stream(sql, &[&signed(keepers)], |row| {
            let number = |at| column::<i64>(row, "duplicates", at).map(i64::cast_unsigned);
            counts.insert(number(0)?, number(1)?);
            Ok(())
        })?;
    }
    Ok(numbers.iter().map(|number| 1 + counts.get(number).unwrap_or(&0)).collect())
}

/// Gives the duplicates of documents to `each`.
///
/// # Errors
/// As [`Snapshot::duplicates`](crate::backend::Snapshot::duplicates).
pub(super) fn read(
    connection: &mut PooledConnection,
    numbers: &[u64],
    each: DuplicateCallback<'_>,
) -> Result<(), IndexError> {
    let sql = "SELECT id, keeper, checksum FROM duplicates WHERE keeper = ANY($1) \
               ORDER BY keeper, id";
    for keepers in numbers.chunks(CHUNK) {
        connection.stream(sql, &[&signed(keepers)], |row| {
            let (id, keeper) = verified(row)?;
            each(keeper, id)
        })?;
    }
    Ok(())
}

/// Those of these ids that are recorded as duplicates.
///
/// # Errors
/// Read errors.
pub(super) fn among(
    connection: &mut PooledConnection,
    ids: &[&str],
) -> Result<BTreeSet<String>, IndexError> {
    let rows = connection.query("SELECT id FROM duplicates WHERE id = ANY($1)", &[&ids])?;
    rows.iter().map(|row| column(row, "duplicates", 0)).collect()
}

/// The id and the keeper of a row, whose checksum is verified.
fn verified(row: &Row) -> Result<(&str, u64), IndexError> {
    let id: &str = column(row, "duplicates", 0)?;
    let keeper = column::<i64>(row, "duplicates", 1)?.cast_unsigned();
    let sum = column::<i64>(row, "duplicates", 2)?.cast_unsigned();
    duplicate_table::verify(keeper, id, sum).map(|()| (id, keeper))
}

fn signed(numbers: &[u64]) -> Vec<i64> {
    numbers.iter().filter_map(|number| i64::try_from(*number).ok()).collect()
}

/// What is wrong with the table, and whether it can be repaired.
///
/// # Errors
/// Read errors.
pub(super) fn problems(
    connection: &mut PooledConnection,
) -> Result<Vec<(String, bool)>, IndexError> {
    let mut problems = Vec::new();
    connection.stream(
        "SELECT id, keeper, checksum FROM duplicates",
        &[],
        |row| match verified(row) {
            Err(IndexError::Damaged { what, why }) => {
                problems.push((format!("{what}: {why}"), false));
                Ok(())
            }
            other => other.map(drop),
        },
    )?;
    let sql = "SELECT count(*) FROM duplicates AS d \
               WHERE NOT EXISTS (SELECT FROM docs WHERE docs.doc = d.keeper)";
    let row = connection.query_one(sql, &[], "its duplicates")?;
    let orphans: i64 = column(&row, "duplicates", 0)?;
    if orphans > 0 {
        problems.push((format!("{orphans} rows have a keeper that is no document"), true));
    }
    Ok(problems)
}
