//! Compaction and statistics.

use super::check_archive;
use super::originals;
use super::pool::ConnectionPool;
use super::row::{column, later};
use super::snapshot::no_state;
use super::transaction::{CountChanges, count_and_commit, lock};
use super::write::remove;
use crate::backend::Stats;
use crate::error::IndexError;
use crate::settings::IndexSettings;
use std::sync::Arc;
use std::time::Duration;

/// Documents of one removal; other writers can write in between.
const CHUNK: i64 = 5_000;

/// Removes documents that expired before `now`, and makes the space of removed rows reusable.
pub(super) fn compact(
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
            break;
        }
        remove(&mut connection, settings, &docs, last)?;
    }
    if settings.store.has_originals() {
        remove_unused_originals(pool, wait)?;
    }
    let (mut connection, _) = pool.begin("SELECT 1")?;
    connection.execute("VACUUM (ANALYZE) docs, bands, state, originals, versions, duplicates")
}

/// Removes originals that no version has and that stay only because others are differences from
/// them; each in a transaction.
fn remove_unused_originals(pool: &Arc<ConnectionPool>, wait: Duration) -> Result<(), IndexError> {
    let mut after = i64::MIN;
    loop {
        let (mut connection, last) = lock(pool, wait)?;
        let Some(number) = originals::next_unused(&mut connection, after)? else { return Ok(()) };
        after = later("originals", after, number)?;
        match originals::detach_from(&mut connection, number) {
            Ok(()) => originals::release(&mut connection, vec![number])?,
            // It stays, for what can still be read of the others.
            Err(IndexError::Damaged { .. }) => continue,
            Err(error) => return Err(error),
        }
        count_and_commit(&mut connection, &CountChanges::default(), last)?;
    }
}

/// Sizes and counts. There is a posting for each band of each document with shingles, since those
/// of removed documents go with them.
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
    let (documents, without_shingles) = (number(0)?, number(1)?);
    let has_originals = settings.store.has_originals();
    let originals = has_originals.then(|| check_archive::stats(&mut connection)).transpose()?;
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
