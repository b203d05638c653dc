//! Records documents that went as duplicates, and follows changes of their keepers.

use super::document_numbers::numbers;
use super::index_state::IndexState;
use super::posting::id_key;
use crate::checksum;
use crate::duplicate_table::{self, DuplicateEntry};
use crate::error::IndexError;
use rusqlite::{Connection, OptionalExtension, params};

/// Records duplicates.
///
/// # Errors
/// As [`Backend::add_duplicates`](crate::backend::Backend::add_duplicates).
pub(super) fn add(state: &IndexState, entries: &[DuplicateEntry<'_>]) -> Result<u64, IndexError> {
    duplicate_table::check(entries)?;
    let mut guard = state.writer.lock();
    let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
    let failed = |error| state.place.database(error);
    writer.check_log().map_err(failed)?;
    writer.transaction(state, |writer, view| {
        let connection = &writer.connection;
        let ids = entries.iter().flat_map(|entry| [entry.id, entry.keeper]);
        let id_filter = &mut writer.id_filter;
        let numbers = numbers(&state.place, connection, id_filter, view, ids)?;
        let number = |id: &str| numbers.get(id).copied().flatten();
        let (mut recorded, mut is_changed) = (0, false);
        for entry in entries {
            let (None, Some(keeper)) = (number(entry.id), number(entry.keeper)) else { continue };
            let former = put(connection, entry.id, keeper).map_err(failed)?;
            recorded += u64::from(former.is_none());
            is_changed |= former != Some(keeper);
        }
        writer.head.changes += u64::from(is_changed);
        Ok(recorded)
    })
}

/// Records one duplicate; returns the number of its keeper before.
fn put(connection: &Connection, id: &str, keeper: u32) -> rusqlite::Result<Option<u32>> {
    let key = id_key(id.as_bytes()).cast_signed();
    let sql = "SELECT keeper FROM duplicates WHERE id_key = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let former = statement.query_row(params![key, id], |row| row.get(0)).optional()?;
    if former != Some(keeper) {
        remove(connection, id)?;
        insert(connection, id, keeper)?;
    }
    Ok(former)
}

/// Inserts a row.
pub(super) fn insert(connection: &Connection, id: &str, keeper: u32) -> rusqlite::Result<()> {
    let key = id_key(id.as_bytes()).cast_signed();
    let sum = checksum::content(u64::from(keeper), id.as_bytes()).cast_signed();
    let sql = "INSERT INTO duplicates VALUES(?1, ?2, ?3, ?4)";
    connection.prepare_cached(sql)?.execute(params![key, id, keeper, sum]).map(drop)
}

/// Removes the row of an id; returns true if one existed.
pub(super) fn remove(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    let key = id_key(id.as_bytes()).cast_signed();
    let sql = "DELETE FROM duplicates WHERE id_key = ?1 AND id = ?2";
    Ok(connection.prepare_cached(sql)?.execute(params![key, id])? > 0)
}

/// Removes the rows of a keeper; returns the ids.
pub(super) fn remove_group(connection: &Connection, keeper: u32) -> rusqlite::Result<Vec<String>> {
    let sql = "DELETE FROM duplicates WHERE keeper = ?1 RETURNING id";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map([keeper], |row| row.get(0))?.collect()
}

/// Returns true if any duplicate is recorded.
pub(super) fn any(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM duplicates")?.exists([])
}

/// Removes rows whose keeper is no document.
pub(super) fn remove_orphans(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "DELETE FROM duplicates WHERE keeper NOT IN (SELECT doc FROM docs)";
    connection.execute(sql, []).map(drop)
}
