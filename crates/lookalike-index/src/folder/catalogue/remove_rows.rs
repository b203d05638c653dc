//! Removes the rows of documents.

use crate::folder::catalogue::state::CatalogueState;
use rusqlite::{Connection, OptionalExtension};

/// Removes the rows of a document in the tables of documents, except its text.
pub(crate) fn remove_rows(
    connection: &Connection,
    head: &mut CatalogueState,
    number: u32,
) -> rusqlite::Result<()> {
    let sql = "DELETE FROM docs WHERE doc = ?1 RETURNING length(signature)";
    if let Some(length) = delete(connection, sql, number)? {
        head.documents = head.documents.saturating_sub(1);
        head.without_shingles = head.without_shingles.saturating_sub(u64::from(length == 0));
    }
    let sql = "DELETE FROM sets WHERE doc = ?1 RETURNING length(code)";
    let sets = delete(connection, sql, number)?;
    head.set_bytes = head.set_bytes.saturating_sub(sets.unwrap_or(0));
    Ok(())
}

/// Removes the text of a document.
pub(crate) fn remove_text(
    connection: &Connection,
    head: &mut CatalogueState,
    number: u32,
) -> rusqlite::Result<()> {
    let sql = "DELETE FROM texts WHERE doc = ?1 RETURNING length(zstd)";
    let texts = delete(connection, sql, number)?;
    head.text_bytes = head.text_bytes.saturating_sub(texts.unwrap_or(0));
    Ok(())
}

/// Deletes the row of a document. Returns the length that the statement returns, if the row
/// existed.
fn delete(connection: &Connection, sql: &str, number: u32) -> rusqlite::Result<Option<u64>> {
    let mut statement = connection.prepare_cached(sql)?;
    let length = statement.query_row([number], |row| row.get::<_, i64>(0)).optional()?;
    Ok(length.map(i64::cast_unsigned))
}
