//! Adds checksums to rows of version 1.

use super::catalogue_writer::CatalogueWriter;
use super::index_state::IndexState;
use crate::checksum::{RowFields, content};
use crate::error::IndexError;
use rusqlite::{Connection, Row, params};

/// Documents of one transaction.
const BATCH: u32 = 2000;

/// Adds the checksums that are missing.
pub(super) fn fill(state: &IndexState, writer: &mut CatalogueWriter) -> Result<(), IndexError> {
    let (mut from, to) = (0, writer.head.unchecked);
    while from < to {
        from = writer.transaction(state, |writer, _| {
            let filled = fill_some(&writer.connection, from, to);
            let last = filled.map_err(|error| state.place.database(error))?;
            state.place.later("docs", from.cast_signed(), last.cast_signed())?;
            if last >= to {
                writer.head.unchecked = 0;
            }
            Ok(last)
        })?;
    }
    Ok(())
}

/// Adds those of a batch of documents after `from`; returns the last one, `to` at the end.
fn fill_some(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<u64> {
    let range = params![from.cast_signed(), to.cast_signed(), BATCH];
    let last: Option<i64> = connection
        .prepare_cached(
            "SELECT max(doc) FROM
             (SELECT doc FROM docs WHERE doc > ?1 AND doc <= ?2 ORDER BY doc LIMIT ?3)",
        )?
        .query_row(range, |row| row.get(0))?;
    let Some(last) = last else { return Ok(to) };
    let mut fields = Vec::new();
    let mut docs = Vec::new();
    let sql = "SELECT doc, id, fingerprint, bytes, added, modified, expires, metadata, signature
        FROM docs WHERE checksum IS NULL AND doc > ?1 AND doc <= ?2";
    each(connection, sql, (from, last), |row| {
        let number = row.get::<_, i64>(0)?.cast_unsigned();
        let checksum = RowFields {
            number,
            id: row.get_ref(1)?.as_bytes()?,
            fingerprint: row.get_ref(2)?.as_blob()?,
            bytes: row.get::<_, i64>(3)?.cast_unsigned(),
            added: row.get(4)?,
            modified: row.get(5)?,
            expires: row.get(6)?,
            metadata: row.get_ref(7)?.as_bytes()?,
        }
        .checksum(&mut fields);
        docs.push((number, checksum, content(number, row.get_ref(8)?.as_blob()?)));
        Ok(())
    })?;
    let sql = "UPDATE docs SET checksum = ?2, signature_checksum = ?3 WHERE doc = ?1";
    for (number, checksum, signature) in docs {
        let row = [number, checksum, signature].map(u64::cast_signed);
        connection.prepare_cached(sql)?.execute(row)?;
    }
    for (table, column) in [("sets", "code"), ("texts", "zstd")] {
        let mut sums = Vec::new();
        let sql = format!(
            "SELECT doc, {column} FROM {table} WHERE checksum IS NULL AND doc > ?1 AND doc <= ?2"
        );
        each(connection, &sql, (from, last), |row| {
            let number = row.get::<_, i64>(0)?.cast_unsigned();
            sums.push([number, content(number, row.get_ref(1)?.as_blob()?)]);
            Ok(())
        })?;
        let sql = format!("UPDATE {table} SET checksum = ?2 WHERE doc = ?1");
        for row in sums {
            connection.prepare_cached(&sql)?.execute(row.map(u64::cast_signed))?;
        }
    }
    Ok(last.cast_unsigned())
}

fn each(
    connection: &Connection,
    sql: &str,
    (from, last): (u64, i64),
    mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([from.cast_signed(), last])?;
    while let Some(row) = rows.next()? {
        each(row)?;
    }
    Ok(())
}
