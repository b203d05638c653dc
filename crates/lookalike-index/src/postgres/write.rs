//! Writes a batch of changes in one transaction: lock, look up ids, delete, insert, count, commit.

use super::copy::copy_in;
use super::document_row::{DocumentRowValues, prepare};
use super::pool::{ConnectionPool, PooledConnection};
use super::postings::Postings;
use super::row::{column, length, signature};
use super::side_tables::store_text;
use super::transaction::{CountChanges, count_and_commit, in_transaction};
use crate::backend::{Change, ChangeOutcome};
use crate::error::IndexError;
use crate::original::OriginalEntry;
use crate::settings::IndexSettings;
use crate::tables::version_changes::{VersionChanges, batch_originals, remove_all};
use crate::tables::write_plan::{StoredDocument, WritePlan, ids, plan};
use crate::tables::{categories, duplicates};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

const COPY_DOCS: &str = "COPY docs (doc, bytes, added, modified, expires, fingerprint, id, sig, \
                         metadata, set, text, checksums) FROM STDIN BINARY";

/// Applies changes, all or none.
pub(super) fn write(
    pool: &Arc<ConnectionPool>,
    settings: &IndexSettings,
    wait: Duration,
    changes: &[Change<'_>],
) -> Result<Vec<ChangeOutcome>, IndexError> {
    // Do expensive work before the lock is acquired.
    let ready: Result<Vec<_>, _> = changes.iter().map(|one| prepare(one, settings)).collect();
    let ready = ready?;
    let ids = ids(changes);
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let has_originals = settings.store.has_originals();
    let originals = has_originals.then(|| batch_originals(changes)).transpose()?;
    in_transaction(pool, wait, |connection, last| {
        attempt(connection, settings, changes, &ready, originals.as_deref(), &ids, last)
    })
}

fn attempt<'a>(
    connection: &mut PooledConnection,
    settings: &IndexSettings,
    changes: &[Change<'a>],
    ready: &[Option<DocumentRowValues<'a>>],
    originals: Option<&[Option<OriginalEntry<'a>>]>,
    ids: &[&str],
    last: i64,
) -> Result<Vec<ChangeOutcome>, IndexError> {
    let stored = stored_documents(connection, ids)?;
    let duplicates = duplicates::among(connection, ids)?;
    let plan = plan(changes, &stored, duplicates, last, i64::MAX)?;
    if plan.outcomes.iter().all(|outcome| *outcome == ChangeOutcome::Absent) {
        return Ok(plan.outcomes);
    }
    let versions = match originals {
        Some(originals) => {
            Some(VersionChanges::begin(connection, settings, changes, originals, &plan)?)
        }
        None => None,
    };
    let mut count_changes = CountChanges::default();
    delete(connection, settings, &plan.removed, &mut count_changes)?;
    insert(connection, settings, ready, &plan, &mut count_changes)?;
    duplicates::follow(connection, ids, &plan)?;
    if let Some(versions) = versions {
        for (document, at) in versions.finish(connection)?.ended {
            let row = ready.get(at).and_then(Option::as_ref);
            if let Some(text) = row.and_then(|row| row.text.as_deref()) {
                store_text(connection, document, text)?;
            }
        }
    }
    count_and_commit(connection, &count_changes, plan.last)?;
    Ok(plan.outcomes)
}

/// The stored documents with these ids.
fn stored_documents(
    connection: &mut PooledConnection,
    ids: &[&str],
) -> Result<HashMap<String, StoredDocument>, IndexError> {
    let sql = "SELECT id, doc, expires, uuid_send(fingerprint) FROM docs WHERE id = ANY($1)";
    // The server rejects NUL, which no stored id contains.
    let ids: Vec<&str> = ids.iter().copied().filter(|id| !id.contains('\0')).collect();
    let rows = connection.query(sql, &[&ids])?;
    let stored = rows.iter().map(|row| {
        // A damaged fingerprint equals no other. Readers report the damage.
        let fingerprint = column::<Option<&[u8]>>(row, "docs", 3)?.unwrap_or_default();
        let fingerprint = fingerprint.try_into().ok().map(u128::from_be_bytes);
        let number = column(row, "docs", 1)?;
        let expires = column(row, "docs", 2)?;
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
        remove_all(connection, docs)?;
    }
    duplicates::remove_groups(connection, docs)?;
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
    categories::remove(connection, docs)?;
    let mut postings = Postings::new(settings);
    let mut damaged = Vec::<i64>::new();
    for row in &rows {
        let doc: i64 = column(row, "docs", 0)?;
        let bytes: &[u8] = column(row, "docs", 1)?;
        count_changes.count(-1, bytes.is_empty(), length(row, 2)?, length(row, 3)?);
        match signature(bytes, "") {
            Ok(values) if values.is_empty() => {}
            Ok(values) if values.len() == settings.num_hashes => postings.add(doc, &values),
            _ => damaged.push(doc),
        }
    }
    if !damaged.is_empty() {
        // The keys of damaged documents are unknown, so the whole table is scanned.
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
