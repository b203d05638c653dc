//! Records documents that went as duplicates, and follows changes of their keepers.

use super::plan::WritePlan;
use super::pool::{ConnectionPool, PooledConnection};
use super::row::column;
use super::transaction::{CountChanges, MAX_TRIES, count_and_commit, is_conflict_error, lock};
use crate::checksum;
use crate::duplicate_table::{self, DuplicateEntry};
use crate::error::IndexError;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Removes rows whose keeper is no document.
pub(super) const REMOVE_ORPHANS: &str = "
    DELETE FROM duplicates AS d WHERE NOT EXISTS (SELECT FROM docs WHERE docs.doc = d.keeper)";

/// Records duplicates.
///
/// # Errors
/// As [`Backend::add_duplicates`](crate::backend::Backend::add_duplicates).
pub(super) fn add(
    pool: &Arc<ConnectionPool>,
    wait: Duration,
    entries: &[DuplicateEntry<'_>],
) -> Result<u64, IndexError> {
    duplicate_table::check(entries)?;
    let mut tries = 1;
    loop {
        let (mut connection, last_document) = lock(pool, wait)?;
        match attempt(&mut connection, entries, last_document) {
            Err(error) if tries < MAX_TRIES && is_conflict_error(&error) => tries += 1,
            other => return other,
        }
    }
}

fn attempt(
    connection: &mut PooledConnection,
    entries: &[DuplicateEntry<'_>],
    last_document: i64,
) -> Result<u64, IndexError> {
    let mut ids: Vec<&str> = entries.iter().flat_map(|entry| [entry.id, entry.keeper]).collect();
    ids.sort_unstable();
    ids.dedup();
    let documents = numbers(connection, "SELECT id, doc FROM docs WHERE id = ANY($1)", &ids)?;
    let sql = "SELECT id, keeper FROM duplicates WHERE id = ANY($1)";
    let mut recorded = numbers(connection, sql, &ids)?;
    let mut changed = HashMap::<&str, i64>::new();
    let mut count = 0;
    for entry in entries {
        let keeper = documents.get(entry.keeper).copied();
        let Some(keeper) = keeper.filter(|_| !documents.contains_key(entry.id)) else { continue };
        let former = recorded.insert(entry.id.to_owned(), keeper);
        count += u64::from(former.is_none());
        if former != Some(keeper) {
            changed.insert(entry.id, keeper);
        }
    }
    if !changed.is_empty() {
        put(connection, &changed.into_iter().collect::<Vec<_>>())?;
        count_and_commit(connection, &CountChanges::default(), last_document)?;
    }
    Ok(count)
}

/// The numbers that a statement gives for ids.
fn numbers(
    connection: &mut PooledConnection,
    sql: &str,
    ids: &[&str],
) -> Result<HashMap<String, i64>, IndexError> {
    let rows = connection.query(sql, &[&ids])?;
    let numbers =
        rows.iter().map(|row| Ok((column(row, "duplicates", 0)?, column(row, "duplicates", 1)?)));
    numbers.collect()
}

/// Puts rows in place of those of their ids.
fn put(connection: &mut PooledConnection, rows: &[(&str, i64)]) -> Result<(), IndexError> {
    let ids: Vec<&str> = rows.iter().map(|(id, _)| *id).collect();
    let keepers: Vec<i64> = rows.iter().map(|(_, keeper)| *keeper).collect();
    let sum = |(id, keeper): &(&str, i64)| {
        checksum::content(keeper.cast_unsigned(), id.as_bytes()).cast_signed()
    };
    let sums: Vec<i64> = rows.iter().map(sum).collect();
    connection.query("DELETE FROM duplicates WHERE id = ANY($1)", &[&ids])?;
    let sql = "INSERT INTO duplicates (id, keeper, checksum) \
               SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])";
    connection.query(sql, &[&ids, &keepers, &sums]).map(drop)
}

/// Follows a batch of changes: duplicates of documents that go are removed, those of a document
/// that one with the same shingles replaces go to that, and ids of documents are no duplicates.
///
/// # Errors
/// Errors of the server.
pub(super) fn follow(
    connection: &mut PooledConnection,
    ids: &[&str],
    plan: &WritePlan,
) -> Result<(), IndexError> {
    connection.query("DELETE FROM duplicates WHERE id = ANY($1)", &[&ids])?;
    let sql = "DELETE FROM duplicates WHERE keeper = ANY($1) RETURNING id, keeper";
    let rows = connection.query(sql, &[&plan.gone])?;
    let moved: HashMap<i64, i64> = plan.moved.iter().copied().collect();
    let mut kept = Vec::<(&str, i64)>::new();
    for row in &rows {
        if let Some(keeper) = moved.get(&column(row, "duplicates", 1)?) {
            kept.push((column(row, "duplicates", 0)?, *keeper));
        }
    }
    if kept.is_empty() { Ok(()) } else { put(connection, &kept) }
}

/// Removes the duplicates of documents.
///
/// # Errors
/// Errors of the server.
pub(super) fn remove_groups(
    connection: &mut PooledConnection,
    documents: &[i64],
) -> Result<(), IndexError> {
    connection.query("DELETE FROM duplicates WHERE keeper = ANY($1)", &[&documents]).map(drop)
}
