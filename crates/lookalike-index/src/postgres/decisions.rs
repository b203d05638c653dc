//! The log of decisions: the table `decisions`.

use super::pool::{ConnectionPool, PooledConnection};
use super::row::column;
use super::write::{CountChanges, MAX_TRIES, count_and_commit, is_conflict_error, lock};
use crate::checksum;
use crate::decision_log::{self, DecisionCallback};
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
) -> Result<u64, IndexError> {
    decision_log::check(entries)?;
    let mut tries = 1;
    loop {
        let (mut connection, last_document) = lock(pool, wait)?;
        let added = insert(&mut connection, entries).and_then(|last| {
            count_and_commit(&mut connection, &CountChanges::default(), last_document)?;
            Ok(last)
        });
        match added {
            Err(error) if tries < MAX_TRIES && is_conflict_error(&error) => tries += 1,
            other => return other,
        }
    }
}

fn insert(connection: &mut PooledConnection, entries: &[&str]) -> Result<u64, IndexError> {
    let sql = "SELECT coalesce(max(number), 0) FROM decisions";
    let row = connection.query_one(sql, &[], "its decisions")?;
    let first = column::<i64>(&row, "decisions", 0)?.cast_unsigned() + 1;
    let numbers: Vec<i64> =
        (first..).zip(entries).map(|(number, _)| number.cast_signed()).collect();
    let sum = |(number, entry): (u64, &&str)| checksum::content(number, entry.as_bytes());
    let sums: Vec<i64> = (first..).zip(entries).map(|one| sum(one).cast_signed()).collect();
    connection.query(
        "INSERT INTO decisions SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[])",
        &[&numbers, &entries, &sums],
    )?;
    Ok(first - 1 + entries.len() as u64)
}

/// Gives at most `most` entries that are numbered above `after` to `each`.
///
/// # Errors
/// As [`Snapshot::decisions`](crate::backend::Snapshot::decisions).
pub(super) fn read(
    connection: &mut PooledConnection,
    (after, most): (u64, usize),
    each: DecisionCallback<'_>,
) -> Result<usize, IndexError> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let sql = "SELECT number, json, checksum FROM decisions WHERE number > $1 \
               ORDER BY number LIMIT $2";
    let mut count = 0;
    connection.stream(sql, &[&after, &most], |row| {
        let number = column::<i64>(row, "decisions", 0)?.cast_unsigned();
        let json: &str = column(row, "decisions", 1)?;
        let sum = column::<i64>(row, "decisions", 2)?.cast_unsigned();
        decision_log::verify(number, json, sum)?;
        count += 1;
        each(number, json)
    })?;
    Ok(count)
}
