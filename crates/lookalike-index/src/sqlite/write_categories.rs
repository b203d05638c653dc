//! Writes categories.

use super::categories;
use super::index_state::IndexState;
use crate::category_table::{self, CategoryMember};
use crate::checksum;
use crate::error::IndexError;
use rusqlite::{Connection, params};

/// Replaces all categories.
///
/// # Errors
/// As [`Backend::replace_categories`](crate::backend::Backend::replace_categories).
pub(super) fn replace(
    state: &IndexState,
    model: &[u8],
    through: u64,
    new: &[CategoryMember],
) -> Result<u64, IndexError> {
    category_table::check(model)?;
    let mut guard = state.writer.lock();
    let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
    let failed = |error| state.place.database(error);
    writer.check_log().map_err(failed)?;
    writer.transaction(state, |writer, _| {
        let connection = &writer.connection;
        let replaced = || -> rusqlite::Result<u64> {
            let sql = "SELECT coalesce(max(number), 0) FROM categories";
            let before: i64 = connection.query_row(sql, [], |row| row.get(0))?;
            let number = before.cast_unsigned() + 1;
            let sum = checksum::content(number, model).cast_signed();
            let row = params![number.cast_signed(), through.cast_signed(), sum, model];
            connection
                .execute("INSERT OR REPLACE INTO categories VALUES(1, ?1, ?2, ?3, ?4)", row)?;
            connection.execute("DELETE FROM category_members", [])?;
            insert(connection, new)?;
            Ok(number)
        };
        let number = replaced().map_err(failed)?;
        writer.head.changes += 1;
        Ok(number)
    })
}

/// Adds members to the categories of model `number`.
///
/// # Errors
/// As [`Backend::add_category_members`](crate::backend::Backend::add_category_members).
pub(super) fn add_members(
    state: &IndexState,
    number: u64,
    through: u64,
    new: &[CategoryMember],
) -> Result<bool, IndexError> {
    let mut guard = state.writer.lock();
    let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
    let failed = |error| state.place.database(error);
    writer.check_log().map_err(failed)?;
    writer.transaction(state, |writer, _| {
        let connection = &writer.connection;
        let stored = categories::state(&state.place, connection)?;
        if stored.is_none_or(|stored| stored.number != number) {
            return Ok(false);
        }
        let added = || -> rusqlite::Result<()> {
            let sql = "UPDATE categories SET through = max(through, ?1)";
            connection.execute(sql, [through.cast_signed()])?;
            insert(connection, new)
        };
        added().map_err(failed)?;
        Ok(true)
    })
}

/// Inserts members whose documents are still there.
fn insert(connection: &Connection, members: &[CategoryMember]) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO category_members SELECT doc, ?2 FROM docs WHERE doc = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    for member in members {
        statement.execute(params![member.document.cast_signed(), member.category])?;
    }
    Ok(())
}
