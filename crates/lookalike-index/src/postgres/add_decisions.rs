//! Adds entries to the log of decisions.

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
