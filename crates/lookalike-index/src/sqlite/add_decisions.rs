//! Adds entries to the log of decisions.

use super::catalogue;
use super::index_state::IndexState;
use crate::checksum;
use crate::decision_log;
use crate::error::IndexError;
use rusqlite::{Connection, params};

/// Adds entries.
///
/// # Errors
/// As [`Backend::add_decisions`](crate::backend::Backend::add_decisions).
pub(super) fn add(state: &IndexState, entries: &[&str]) -> Result<u64, IndexError> {
    decision_log::check(entries)?;
    let mut guard = state.writer.lock();
    let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
    let failed = |error| state.place.database(error);
    writer.check_log().map_err(failed)?;
    writer.transaction(state, |writer, _| {
        let connection = &writer.connection;
        let last = catalogue::create_decisions(connection)
            .and_then(|()| insert(connection, entries))
            .map_err(failed)?;
        writer.head.changes += u64::from(!entries.is_empty());
        Ok(last)
    })
}

fn insert(connection: &Connection, entries: &[&str]) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce(max(number), 0) FROM decisions";
    let mut last: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    let mut statement = connection.prepare_cached("INSERT INTO decisions VALUES(?1, ?2, ?3)")?;
    for entry in entries {
        last += 1;
        let sum = checksum::content(last.cast_unsigned(), entry.as_bytes()).cast_signed();
        statement.execute(params![last, entry, sum])?;
    }
    Ok(last.cast_unsigned())
}
