//! Adds entries to the log of decisions, and removes entries that are not in force any more.

use super::pool::{ConnectionPool, PooledConnection};
use super::row::column;
use super::transaction::{CountChanges, MAX_TRIES, count_and_commit, is_conflict_error, lock};
use crate::checksum;
use crate::decision_log;
use crate::error::IndexError;
use std::sync::Arc;
use std::time::Duration;

/// Adds entries.
///
/// # Errors
/// As [`Backend::add_decisions`](crate::backend::Backend::add_decisions).
pub(super) fn add(
    pool: &Arc<ConnectionPool>,
    wait: Duration,
    entries: &[&str],
    last: Option<u64>,
) -> Result<Option<u64>, IndexError> {
    decision_log::check(entries)?;
    in_transaction(pool, wait, |connection| {
        let before = last_number(connection)?;
        if last.is_some_and(|last| before > last) {
            return Ok((None, false));
        }
        Ok((Some(insert(connection, before, entries)?), true))
    })
}

/// Removes entries.
///
/// # Errors
/// As [`Backend::remove_decisions`](crate::backend::Backend::remove_decisions).
pub(super) fn remove(
    pool: &Arc<ConnectionPool>,
    wait: Duration,
    numbers: &[u64],
) -> Result<u64, IndexError> {
    let numbers: Vec<i64> = numbers.iter().map(|number| number.cast_signed()).collect();
    in_transaction(pool, wait, |connection| {
        let last = last_number(connection)?.cast_signed();
        let sql = "DELETE FROM decisions WHERE number = ANY($1::bigint[]) AND number <> $2 \
                   RETURNING number";
        let removed = connection.query(sql, &[&numbers, &last])?.len() as u64;
        Ok((removed, removed > 0))
    })
}

/// Changes the log in a transaction, which is tried again after a conflict with another writer.
/// `change` returns whether there is something to commit.
fn in_transaction<T>(
    pool: &Arc<ConnectionPool>,
    wait: Duration,
    mut change: impl FnMut(&mut PooledConnection) -> Result<(T, bool), IndexError>,
) -> Result<T, IndexError> {
    let mut tries = 1;
    loop {
        let (mut connection, last_document) = lock(pool, wait)?;
        let changed = change(&mut connection).and_then(|(changed, is_changed)| {
            if is_changed {
                count_and_commit(&mut connection, &CountChanges::default(), last_document)?;
            }
            Ok(changed)
        });
        match changed {
            Err(error) if tries < MAX_TRIES && is_conflict_error(&error) => tries += 1,
            other => return other,
        }
    }
}

/// The number of the last entry; 0 in an empty log.
fn last_number(connection: &mut PooledConnection) -> Result<u64, IndexError> {
    let sql = "SELECT coalesce(max(number), 0) FROM decisions";
    let row = connection.query_one(sql, &[], "its decisions")?;
    Ok(column::<i64>(&row, "decisions", 0)?.cast_unsigned())
}

fn insert(
    connection: &mut PooledConnection,
    before: u64,
    entries: &[&str],
) -> Result<u64, IndexError> {
    let first = before + 1;
    let numbers: Vec<i64> =
        (first..).zip(entries).map(|(number, _)| number.cast_signed()).collect();
    let sum = |(number, entry): (u64, &&str)| checksum::content(number, entry.as_bytes());
    let sums: Vec<i64> = (first..).zip(entries).map(|one| sum(one).cast_signed()).collect();
    connection.query(
        "INSERT INTO decisions SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[])",
        &[&numbers, &entries, &sums],
    )?;
    Ok(before + entries.len() as u64)
}
