//! Writes a batch of changes in one transaction: lock, look up ids, delete, insert, count, commit.

use super::copy::copy_in;
use super::document_row::{DocumentRowValues, prepare};
use super::duplicates;
use super::plan::{StoredDocument, WritePlan, ids, plan};
use super::pool::{ConnectionPool, PooledConnection};
use super::postings::Postings;
use super::row::{column, length, signature};
use super::transaction::{CountChanges, MAX_TRIES, count_and_commit, is_conflict_error, lock};
use super::write_duplicates;
use super::write_versions::{self, VersionChanges};
use crate::backend::{Change, ChangeOutcome};
use crate::error::IndexError;
use crate::settings::IndexSettings;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

const COPY_DOCS: &str = "COPY docs (doc, bytes, added, modified, expires, fingerprint, id, sig, \
                         metadata, set, text, checksums) FROM STDIN BINARY";

/// Makes changes, all or none.
pub(super) fn write(
    pool: &Arc<ConnectionPool>,
    settings: &IndexSettings,
    wait: Duration,
    changes: &[Change<'_>],
) -> Result<Vec<ChangeOutcome>, IndexError> {
    // Expensive preparation happens before the lock is taken.
    let ready: Result<Vec<_>, _> = changes.iter().map(|one| prepare(one, settings)).collect();
    let ready = ready?;
    let ids = ids(changes);
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let mut tries = 1;
    loop {
        let (mut connection, last) = lock(pool, wait)?;
        match attempt(&mut connection, settings, changes, &ready, &ids, last) {
            Err(error) if tries < MAX_TRIES && is_conflict_error(&error) => tries += 1,
            other => return other,
        }
    }
}

fn attempt<'a>(
    connection: &mut PooledConnection,
    settings: &IndexSettings,
    changes: &[Change<'a>],
    ready: &[Option<DocumentRowValues<'a>>],
    ids: &[&str],
    last: i64,
) -> Result<Vec<ChangeOutcome>, IndexError> {
    let stored = stored_documents(connection, ids)?;
    let duplicates = duplicates::among(connection, ids)?;
    let plan = plan(changes, &stored, duplicates, last)?;
    if plan.done.iter().all(|done| *done == ChangeOutcome::Absent) {
        return Ok(plan.done);
    }
    let mut versions = None;
    if settings.store.has_originals() {
        versions = Some(VersionChanges::begin(connection, settings, changes, ready, &plan)?);
    }
    let mut count_changes = CountChanges::default();
    delete(connection, settings, &plan.gone, &mut count_changes)?;
    insert(connection, settings, ready, &plan, &mut count_changes)?;
    write_duplicates::follow(connection, ids, &plan)?;
    if let Some(versions) = versions {
        versions.finish(connection)?;
    }
    count_and_commit(connection, &count_changes, plan.last)?;
    Ok(plan.done)
}

/// The stored documents with these ids.
fn stored_documents(
    connection: &mut PooledConnection,
    ids: &[&str],
) -> Result<BTreeMap<String, StoredDocument>, IndexError> {
    let sql = "SELECT id, doc, expires, uuid_send(fingerprint) FROM docs WHERE id = ANY($1)";
    let rows = connection.query(sql, &[&ids])?;
    let stored = rows.iter().map(|row| {
        // A damaged one, which a reader reports, equals no other.
        let fingerprint = column::<Option<&[u8]>>(row, "docs", 3)?.unwrap_or_default();
        let fingerprint = fingerprint.try_into().ok().map(u128::from_be_bytes);
        let (number, expires) = (column(row, "docs", 1)?, column(row, "docs", 2)?);
        Ok((column(row, "docs", 0)?, StoredDocument { number, expires, fingerprint }))
    });
    stored.collect()
}

/// Removes documents with their postings and commits.
pub(super) fn remove(
    connection: &mut PooledConnection,
    settings: &IndexSettings,
    docs: &[i64],
    last: i64,
) -> Result<(), IndexError> {
    if settings.store.has_originals() {
        write_versions::remove_all(connection, docs)?;
    }
    write_duplicates::remove_groups(connection, docs)?;
    let mut count_changes = CountChanges::default();
    delete(connection, settings, docs, &mut count_changes)?;
    count_and_commit(connection, &count_changes, last)
}

fn delete(
    connection: &mut PooledConnection,
    settings: &IndexSettings,
    docs: &[i64],
    count_changes: &mut CountChanges,
) -> Result<(), IndexError> {
    if docs.is_empty() {
        return Ok(());
    }
    let rows = connection.query(
        "DELETE FROM docs WHERE doc = ANY($1) \
         RETURNING doc, sig, octet_length(set), octet_length(text)",
        &[&docs],
    )?;
    connection.query("DELETE FROM category_members WHERE doc = ANY($1)", &[&docs])?;
    let (mut postings, mut damaged) = (Postings::new(settings), Vec::<i64>::new());
    for row in &rows {
        let (doc, bytes): (i64, &[u8]) = (column(row, "docs", 0)?, column(row, "docs", 1)?);
        count_changes.count(-1, bytes.is_empty(), length(row, 2)?, length(row, 3)?);
        match signature(bytes, "") {
            Ok(values) if values.is_empty() => {}
            Ok(values) if values.len() == settings.num_hashes => postings.add(doc, &values),
            _ => damaged.push(doc),
        }
    }
    if !damaged.is_empty() {
        // Their keys are unknown, so the whole table is scanned.
        connection.query("DELETE FROM bands WHERE doc = ANY($1)", &[&damaged])?;
    }
    postings.delete(connection)
}

fn insert(
    connection: &mut PooledConnection,
    settings: &IndexSettings,
    ready: &[Option<DocumentRowValues<'_>>],
    plan: &WritePlan,
    count_changes: &mut CountChanges,
) -> Result<(), IndexError> {
    if plan.kept.is_empty() {
        return Ok(());
    }
    let mut postings = Postings::new(settings);
    copy_in(connection, COPY_DOCS, |rows| {
        for (at, doc) in &plan.kept {
            let Some(Some(ready)) = ready.get(*at) else {
                return Err(io::Error::other(format!("change {at} has no document")));
            };
            let DocumentRowValues { entry, metadata, set, text, .. } = ready;
            rows.row(12)?;
            rows.bigint(*doc)?;
            rows.bigint(entry.bytes.cast_signed())?;
            rows.bigint(entry.added)?;
            for time in [entry.modified, entry.expires] {
                rows.bigint_or_null(time)?;
            }
            rows.bytes(&entry.fingerprint.to_be_bytes())?;
            rows.bytes(entry.id.as_bytes())?;
            rows.signature(entry.signature)?;
            rows.bytes(metadata.as_bytes())?;
            for bytes in [*set, text.as_deref()] {
                rows.bytes_or_null(bytes)?;
            }
            rows.bytes(&ready.checksums(*doc))?;
            postings.add(*doc, entry.signature);
            let len =
                |bytes: Option<&[u8]>| bytes.map_or(0, |bytes| (bytes.len() as u64).cast_signed());
            count_changes.count(1, entry.signature.is_empty(), len(*set), len(text.as_deref()));
        }
        Ok(())
    })?;
    postings.copy(connection, "bands")
}
