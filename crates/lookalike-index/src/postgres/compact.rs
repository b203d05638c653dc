//! Compaction and statistics.

use super::pool::ConnectionPool;
use super::row::column;
use super::snapshot::no_state;
use super::transaction::lock;
use super::write::remove;
use crate::backend::Stats;
use crate::error::IndexError;
use crate::settings::IndexSettings;
use crate::tables::check;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of documents per removal. Other writers can write between removals.
const CHUNK: i64 = 5_000;

/// Removes documents that expired before `now`.
pub(super) fn remove_expired(
    pool: &Arc<ConnectionPool>,
    settings: &IndexSettings,
    wait: Duration,
    now: i64,
) -> Result<(), IndexError> {
    loop {
        let (mut connection, last) = lock(pool, wait)?;
        let sql = "SELECT doc FROM docs WHERE expires <= $1 ORDER BY doc LIMIT $2";
        let rows = connection.query(sql, &[&now, &CHUNK])?;
        let docs = rows.iter().map(|row| column(row, "docs", 0));
        let docs = docs.collect::<Result<Vec<i64>, IndexError>>()?;
        if docs.is_empty() {
            return Ok(());
        }
        remove(&mut connection, settings, &docs, last)?;
    }
}

/// Makes the space of removed rows reusable.
pub(super) fn vacuum(pool: &Arc<ConnectionPool>) -> Result<(), IndexError> {
    let (mut connection, _) = pool.begin("SELECT 1")?;
    connection.execute("VACUUM (ANALYZE) docs, bands, state, originals, versions, duplicates")
}

/// Sizes and counts. There is a posting for each band of each document with shingles, because
/// removing a document removes its postings.
pub(super) fn stats(
    pool: &Arc<ConnectionPool>,
    settings: &IndexSettings,
) -> Result<Stats, IndexError> {
    let (mut connection, _) = pool.begin("BEGIN READ ONLY")?;
    let sql = "SELECT documents, without_shingles, set_bytes, text_bytes, \
               pg_total_relation_size('docs') + pg_total_relation_size('state') \
               + pg_total_relation_size('settings') + pg_total_relation_size('originals') \
               + pg_total_relation_size('versions') + pg_total_relation_size('duplicates'), \
               pg_total_relation_size('bands') FROM state";
    let rows = connection.query(sql, &[])?;
    let row = rows.first().ok_or_else(|| no_state(pool))?;
    let number = |at| column::<i64>(row, "state", at).map(i64::cast_unsigned);
    let documents = number(0)?;
    let without_shingles = number(1)?;
    let originals = check::stats(&mut connection, settings)?;
    Ok(Stats {
        documents,
        without_shingles,
        postings: documents.saturating_sub(without_shingles) * settings.bands as u64,
        segments: 1,
        tail: 0,
        catalogue_bytes: number(4)?,
        set_bytes: number(2)?,
        text_bytes: number(3)?,
        segment_bytes: number(5)?,
        originals,
    })
}
