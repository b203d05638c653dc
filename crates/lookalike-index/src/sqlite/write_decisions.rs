//! Adds entries to the log of decisions, and removes entries that are not in force any more.

use super::index_state::IndexState;
use crate::checksum;
use crate::decision_log;
use crate::error::IndexError;
use rusqlite::{Connection, params};

/// Adds entries.
///
/// # Errors
/// As [`Backend::add_decisions`](crate::backend::Backend::add_decisions).
pub(super) fn add(
    state: &IndexState,
    entries: &[&str],
    last: Option<u64>,
) -> Result<Option<u64>, IndexError> {
    decision_log::check(entries)?;
    let mut guard = state.writer.lock();
    let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
    let failed = |error| state.place.database(error);
    writer.check_log().map_err(failed)?;
    writer.transaction(state, |writer, _| {
        let connection = &writer.connection;
        let before = last_number(connection).map_err(failed)?;
        if last.is_some_and(|last| before > last) {
            return Ok(None);
        }
        let last = insert(connection, before, entries).map_err(failed)?;
        writer.head.changes += u64::from(!entries.is_empty());
        Ok(Some(last))
    })
}

/// Removes entries.
///
/// # Errors
/// As [`Backend::remove_decisions`](crate::backend::Backend::remove_decisions).
pub(super) fn remove(state: &IndexState, numbers: &[u64]) -> Result<u64, IndexError> {
    let mut guard = state.writer.lock();
    let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
    let failed = |error| state.place.database(error);
    writer.check_log().map_err(failed)?;
    writer.transaction(state, |writer, _| {
        let connection = &writer.connection;
        let removed = delete(connection, numbers).map_err(failed)?;
        writer.head.changes += u64::from(removed > 0);
        Ok(removed)
    })
}

/// The number of the last entry; 0 in an empty log.
fn last_number(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce(max(number), 0) FROM decisions";
    connection.query_row(sql, [], |row| row.get(0)).map(i64::cast_unsigned)
}

fn insert(connection: &Connection, before: u64, entries: &[&str]) -> rusqlite::Result<u64> {
    let mut last = before;
    let mut statement = connection.prepare_cached("INSERT INTO decisions VALUES(?1, ?2, ?3)")?;
    for entry in entries {
        last += 1;
        let sum = checksum::content(last, entry.as_bytes()).cast_signed();
        statement.execute(params![last.cast_signed(), entry, sum])?;
    }
    Ok(last)
}

fn delete(connection: &Connection, numbers: &[u64]) -> rusqlite::Result<u64> {
    let last = last_number(connection)?;
    let mut statement = connection.prepare_cached("DELETE FROM decisions WHERE number = ?1")?;
    let mut removed = 0;
    for number in numbers.iter().filter(|number| **number != last) {
        removed += statement.execute([number.cast_signed()])? as u64;
    }
    Ok(removed)
}
