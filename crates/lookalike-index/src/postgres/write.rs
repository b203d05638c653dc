//! Writes a batch of changes in one transaction: lock, look up ids, delete, insert, count, commit.

use super::copy::copy_in;
use super::failure::{is_conflict, is_lost, waiting};
use super::plan::{StoredNumber, WritePlan, ids, plan};
use super::pool::{ConnectionPool, PooledConnection};
use super::postings::Postings;
use super::row::{checksums, column, compress_text, length, signature};
use super::snapshot::{no_state, numbers};
use super::write_versions::{self, VersionChanges};
use crate::backend::{Change, ChangeOutcome};
use crate::checksum::RowFields;
use crate::entry::{IndexEntry, MAX_METADATA_BYTES, shortened_id};
use crate::error::IndexError;
use crate::original::OriginalEntry;
use crate::original_limits::original_of;
use crate::settings::IndexSettings;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of attempts after conflicts.
pub(super) const MAX_TRIES: u32 = 5;
/// Maximum size of a row's set and text together; the limit of the server is 2³⁰ for the row.
const MAX_ROW_BYTES: usize = 1_000_000_000;

/// Number and interval of requests for the outcome of a transaction after a lost connection.
const MAX_POLLS: u32 = 40;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

const COPY_DOCS: &str = "COPY docs (doc, bytes, added, modified, expires, fingerprint, id, sig, \
                         metadata, set, text, checksums) FROM STDIN BINARY";

/// The values of a row, except the number, and the original of the document.
pub(super) struct DocumentRowValues<'a> {
    pub(super) entry: IndexEntry<'a>,
    metadata: String,
    set: Option<&'a [u8]>,
    text: Option<Vec<u8>>,
    /// `None` where the index keeps no originals.
    pub(super) original: Option<OriginalEntry<'a>>,
}

impl DocumentRowValues<'_> {
    /// The compressed text, if the index keeps it.
    pub(super) fn text(&self) -> Option<&[u8]> {
        self.text.as_deref()
    }

    /// The checksums of its row, under a number.
    fn checksums(&self, doc: i64) -> [u8; 40] {
        let Self { entry, metadata, set, text, .. } = self;
        let fingerprint = entry.fingerprint.to_le_bytes();
        let fields = RowFields::of_entry(doc.cast_unsigned(), entry, &fingerprint, &[]);
        let signature: Vec<u8> = entry.signature.iter().flat_map(|v| v.to_le_bytes()).collect();
        let metadata = Some(metadata.as_bytes());
        checksums(&fields, [Some(&signature[..]), metadata, *set, text.as_deref()])
    }
}

/// Changes of the counts.
#[derive(Debug, Default)]
pub(super) struct CountChanges {
    documents: i64,
    without_shingles: i64,
    set_bytes: i64,
    text_bytes: i64,
}

impl CountChanges {
    fn count(&mut self, sign: i64, is_empty: bool, set: i64, text: i64) {
        self.documents += sign;
        self.without_shingles += sign * i64::from(is_empty);
        self.set_bytes += sign * set;
        self.text_bytes += sign * text;
    }
}

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

/// Whether it is the error of a conflict: [`is_conflict`] for an error of the index.
pub(super) fn is_conflict_error(error: &IndexError) -> bool {
    let IndexError::Database { why, .. } = error else { return false };
    why.ends_with("(40001)") || why.ends_with("(40P01)")
}

/// Begins a transaction with the lock of writers, and returns the greatest number assigned.
pub(super) fn lock(
    pool: &Arc<ConnectionPool>,
    wait: Duration,
) -> Result<(PooledConnection, i64), IndexError> {
    let begin = format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; SET LOCAL lock_timeout = {}; \
         SELECT last FROM state FOR UPDATE",
        wait.as_millis().clamp(1, 1_000_000_000)
    );
    let mut tries = 1;
    loop {
        match pool.try_begin(&begin)? {
            Ok((connection, answer)) => {
                let [last] = numbers(&answer).ok_or_else(|| no_state(pool))?;
                return Ok((connection, last));
            }
            Err(error) if is_conflict(&error) && tries < MAX_TRIES => tries += 1,
            Err(error) => return Err(waiting(pool.name(), &error, wait)),
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
    let rows = connection.query("SELECT id, doc, expires FROM docs WHERE id = ANY($1)", &[&ids])?;
    let mut stored = BTreeMap::<String, StoredNumber>::new();
    for row in &rows {
        let number = (column(row, "docs", 1)?, column(row, "docs", 2)?);
        stored.insert(column(row, "docs", 0)?, number);
    }
    let plan = plan(changes, &stored, last)?;
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
    if let Some(versions) = versions {
        versions.finish(connection)?;
    }
    count_and_commit(connection, &count_changes, plan.last)?;
    Ok(plan.done)
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
    let mut count_changes = CountChanges::default();
    delete(connection, settings, docs, &mut count_changes)?;
    count_and_commit(connection, &count_changes, last)
}

fn prepare<'a>(
    change: &Change<'a>,
    settings: &IndexSettings,
) -> Result<Option<DocumentRowValues<'a>>, IndexError> {
    let Some(entry) = change.entry().copied() else { return Ok(None) };
    settings.check_entry(&entry)?;
    let wrong = |why: String| IndexError::Document { id: shortened_id(entry.id), why };
    let metadata = serde_json::to_string(entry.metadata);
    let metadata = metadata.map_err(|error| wrong(format!("its metadata: {error}")))?;
    if metadata.len() > MAX_METADATA_BYTES {
        let got = metadata.len();
        return Err(wrong(format!(
            "its metadata has {got} bytes as JSON, at most {MAX_METADATA_BYTES} are kept: leave \
             some out"
        )));
    }
    let set = settings.store.has_sets().then_some(entry.set);
    let text = entry.text.filter(|_| settings.store.has_texts());
    let text = text.map(|text| compress_text(text, entry.id)).transpose()?;
    let long = set.map_or(0, <[u8]>::len) + text.as_ref().map_or(0, Vec::len);
    if long > MAX_ROW_BYTES {
        return Err(wrong(format!(
            "its set and its compressed text have {long} bytes, PostgreSQL takes \
             {MAX_ROW_BYTES}: divide it, or keep no texts"
        )));
    }
    let original = settings.store.has_originals().then(|| original_of(&entry)).transpose()?;
    Ok(Some(DocumentRowValues { entry, metadata, set, text, original }))
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

/// Updates the counts and commits.
pub(super) fn count_and_commit(
    connection: &mut PooledConnection,
    count_changes: &CountChanges,
    last: i64,
) -> Result<(), IndexError> {
    let pool = Arc::clone(connection.pool());
    let rows = connection.query(
        "UPDATE state SET version = version + 1, last = $1, documents = documents + $2, \
         without_shingles = without_shingles + $3, set_bytes = set_bytes + $4, \
         text_bytes = text_bytes + $5 RETURNING pg_current_xact_id()::text",
        &[
            &last,
            &count_changes.documents,
            &count_changes.without_shingles,
            &count_changes.set_bytes,
            &count_changes.text_bytes,
        ],
    )?;
    let row = rows.first().ok_or_else(|| no_state(&pool))?;
    let transaction: String = column(row, "state", 0)?;
    match connection.commit()? {
        Ok(()) => Ok(()),
        Err(error) if is_lost(&error) => outcome(&pool, &transaction, &error),
        Err(error) => Err(pool.failure(&error)),
    }
}

/// The outcome of a transaction whose connection was lost during the commit: the server reports it
/// once it is reachable and the transaction has ended.
fn outcome(
    pool: &Arc<ConnectionPool>,
    transaction: &str,
    lost: &postgres::Error,
) -> Result<(), IndexError> {
    let mut what = "it is not known whether the batch is stored: look for one of its documents";
    for _ in 0..MAX_POLLS {
        match status(pool, transaction).as_ref().map(Option::as_deref) {
            Ok(Some("committed")) => return Ok(()),
            Ok(Some("aborted")) => {
                what = "nothing of the batch is stored";
                break;
            }
            _ => std::thread::sleep(POLL_INTERVAL),
        }
    }
    let why = format!("{}; {what}", super::failure::reported(lost));
    Err(IndexError::Database { index: pool.name().to_owned(), why, transient: true })
}

/// The status of a transaction; `None` if the server no longer knows it.
fn status(pool: &Arc<ConnectionPool>, transaction: &str) -> Result<Option<String>, IndexError> {
    let (mut connection, _) = pool.begin("BEGIN READ ONLY")?;
    let sql = "SELECT pg_xact_status($1::text::xid8)";
    let row = connection.query_one(sql, &[&transaction], "the status of a transaction")?;
    column(&row, "pg_xact_status", 0)
}
