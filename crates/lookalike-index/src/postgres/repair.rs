//! Rebuilds postings and counts from documents and signatures.

use super::failure::failure;
use super::pool::{ConnectionPool, PooledConnection};
use super::postings::Postings;
use super::row::{column, later, signature};
use super::transaction::lock;
use crate::error::IndexError;
use crate::settings::IndexSettings;
use crate::tables::duplicates;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of documents per page of postings.
const CHUNK: i64 = 20_000;

/// Deletes wrong and repeated rows of `bands` and inserts missing ones. Keeps correct rows, so that
/// readers are not blocked and the table does not grow.
const REPAIR_BANDS: &str = "
    SET LOCAL enable_seqscan = on;
    SET LOCAL enable_hashjoin = on;
    SET LOCAL enable_mergejoin = on;
    ANALYZE wanted_bands;
    DELETE FROM bands WHERE NOT EXISTS (
        SELECT FROM wanted_bands w
        WHERE w.key = bands.key AND w.doc = bands.doc AND w.band = bands.band);
    DELETE FROM bands WHERE ctid IN (
        SELECT ctid FROM (
            SELECT ctid, row_number() OVER (PARTITION BY key, doc, band) AS nth FROM bands
        ) AS numbered WHERE nth > 1);
    INSERT INTO bands (key, doc, band)
        SELECT key, doc, band FROM wanted_bands
        EXCEPT SELECT key, doc, band FROM bands
        ORDER BY key, doc";

/// Recomputes the counts.
pub(super) const COUNT: &str = "
    UPDATE state SET version = version + 1,
        last = greatest(last, (SELECT coalesce(max(doc), 0) FROM docs)),
        documents = (SELECT count(*) FROM docs),
        without_shingles = (SELECT count(*) FROM docs WHERE octet_length(sig) = 0),
        set_bytes = (SELECT coalesce(sum(octet_length(set)), 0) FROM docs),
        text_bytes = (SELECT coalesce(sum(octet_length(text)), 0) FROM docs)";

/// Inserts a missing row of counts, with a version that was never used.
const STATE: &str = "
    INSERT INTO state (version)
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
        WHERE NOT EXISTS (SELECT FROM state)
        ON CONFLICT DO NOTHING";

/// Rebuilds all derived data.
pub(super) fn repair(
    pool: &Arc<ConnectionPool>,
    settings: &IndexSettings,
    wait: Duration,
) -> Result<(), IndexError> {
    pool.begin(STATE)?;
    let (mut connection, _) = lock(pool, wait)?;
    repair_key_index(&mut connection)?;
    connection.execute(
        "CREATE TEMPORARY TABLE wanted_bands (key bigint, doc bigint, band smallint) \
         ON COMMIT DROP",
    )?;
    fill(&mut connection, settings, "wanted_bands")?;
    connection.execute(REPAIR_BANDS)?;
    duplicates::remove_orphans(&mut connection)?;
    connection.execute(COUNT)?;
    connection.commit()?.map_err(|error| failure(pool.name(), &error))
}

/// Copies the postings of all documents into a table.
pub(super) fn fill(
    connection: &mut PooledConnection,
    settings: &IndexSettings,
    table: &str,
) -> Result<(), IndexError> {
    let mut from = i64::MIN;
    loop {
        let (mut postings, next) = page_of_postings(connection, settings, from)?;
        postings.copy(connection, table)?;
        match next {
            Some(next) => from = next,
            None => return Ok(()),
        }
    }
}

/// The postings of a page of documents from number `from` on, and the start of the next page, which
/// is `None` after the last page.
pub(super) fn page_of_postings<'a>(
    connection: &mut PooledConnection,
    settings: &'a IndexSettings,
    from: i64,
) -> Result<(Postings<'a>, Option<i64>), IndexError> {
    let sql = "SELECT doc, sig FROM docs WHERE doc >= $1 ORDER BY doc LIMIT $2";
    let rows = connection.query(sql, &[&from, &CHUNK])?;
    let mut postings = Postings::new(settings);
    for row in &rows {
        // A damaged signature, which `check` reports, has no postings.
        if let Ok(values) = signature(column(row, "docs", 1)?, "") {
            postings.add(column(row, "docs", 0)?, &values);
        }
    }
    let Some(row) = rows.last() else { return Ok((postings, None)) };
    let last = later("docs", from.saturating_sub(1), column(row, "docs", 0)?)?;
    Ok((postings, last.checked_add(1)))
}

/// Repairs the database index of bucket keys.
fn repair_key_index(connection: &mut PooledConnection) -> Result<(), IndexError> {
    let sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('bands_key')";
    let rows = connection.query(sql, &[])?;
    match rows.first().map(|row| column(row, "pg_index", 0)).transpose()? {
        Some(true) => Ok(()),
        Some(false) => connection.execute("REINDEX INDEX bands_key"),
        None => connection.execute("CREATE INDEX bands_key ON bands (key, doc)"),
    }
}
