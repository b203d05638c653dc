//! Transactions of writers: the lock, the counts, and the commit.

use super::failure::{is_conflict, is_lost, waiting};
use super::pool::{ConnectionPool, PooledConnection};
use super::row::column;
use super::snapshot::{no_state, numbers};
use crate::error::IndexError;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of attempts after conflicts.
const MAX_TRIES: u32 = 5;
/// Maximum number and interval of requests for the outcome of a transaction after a lost
/// connection.
const MAX_POLLS: u32 = 40;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Changes of the counts.
#[derive(Debug, Default)]
pub(super) struct CountChanges {
    documents: i64,
    without_shingles: i64,
    set_bytes: i64,
    text_bytes: i64,
}

impl CountChanges {
    /// Adds a document to the counts, with the lengths of its set and its text. `sign` is -1 to
    /// subtract the document.
    pub(super) fn count(&mut self, sign: i64, is_empty: bool, set: i64, text: i64) {
        self.documents += sign;
        self.without_shingles += sign * i64::from(is_empty);
        self.set_bytes += sign * set;
        self.text_bytes += sign * text;
    }
}

/// Returns true for an index error that is a conflict, see [`is_conflict`].
fn is_conflict_error(error: &IndexError) -> bool {
    let IndexError::Database { why, .. } = error else { return false };
    why.ends_with("(40001)") || why.ends_with("(40P01)")
}

/// Begins a transaction with the lock of writers, and returns the greatest assigned number.
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
            Ok((connection, response)) => {
                let [last] = numbers(&response).ok_or_else(|| no_state(pool))?;
                return Ok((connection, last));
            }
            Err(error) if is_conflict(&error) && tries < MAX_TRIES => tries += 1,
            Err(error) => return Err(waiting(pool.name(), &error, wait)),
        }
    }
}

/// Runs `work` in a transaction, with the lock of writers and the greatest assigned number. Runs it
/// again after a conflict with another writer. `work` commits if there is something to commit.
pub(super) fn in_transaction<T>(
    pool: &Arc<ConnectionPool>,
    wait: Duration,
    mut work: impl FnMut(&mut PooledConnection, i64) -> Result<T, IndexError>,
) -> Result<T, IndexError> {
    let mut tries = 1;
    loop {
        let (mut connection, last) = lock(pool, wait)?;
        match work(&mut connection, last) {
            Err(error) if tries < MAX_TRIES && is_conflict_error(&error) => tries += 1,
            other => return other,
        }
    }
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

/// The outcome of a transaction whose connection was lost during the commit. The server reports the
/// outcome once the server is reachable and the transaction has ended.
fn outcome(
    pool: &Arc<ConnectionPool>,
    transaction: &str,
    lost: &postgres::Error,
) -> Result<(), IndexError> {
    let mut state = "it is not known whether the batch is stored: look for one of its documents";
    for _ in 0..MAX_POLLS {
        match status(pool, transaction).as_ref().map(Option::as_deref) {
            Ok(Some("committed")) => return Ok(()),
            Ok(Some("aborted")) => {
                state = "nothing of the batch is stored";
                break;
            }
            _ => std::thread::sleep(POLL_INTERVAL),
        }
    }
    let why = format!("{}; {state}", super::failure::reported(lost));
    Err(IndexError::transient(pool.name(), why))
}

/// The status of a transaction; `None` if the server no longer knows it.
fn status(pool: &Arc<ConnectionPool>, transaction: &str) -> Result<Option<String>, IndexError> {
    let (mut connection, _) = pool.begin("BEGIN READ ONLY")?;
    let sql = "SELECT pg_xact_status($1::text::xid8)";
    let row = connection.query_one(sql, &[&transaction], "the status of a transaction")?;
    column(&row, "pg_xact_status", 0)
}
