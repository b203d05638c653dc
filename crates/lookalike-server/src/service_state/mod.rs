//! State of an index that a server keeps from one run to the next: answers to requests that may be
//! sent again, documents that wait to be looked up, and messages that wait to be sent. The state is
//! a small SQLite file, or in memory without a place for the file.
//!
//! Changes survive the end of the process, however it ends; the last ones before a loss of power
//! may be missing. Each row has a checksum, so that a changed byte is never answered or sent.

pub(crate) mod idempotency;

use crate::http::body::Fingerprint;
use axum::body::Bytes;
use axum::http::StatusCode;
use lookalike::index::time;
use lookalike::store::backend::IndexProblem;
use parking_lot::Mutex;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, params};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The format of the file (`PRAGMA user_version`).
const VERSION: i64 = 1;
/// Identifies the files of this program (`PRAGMA application_id`): `lksv`.
const APPLICATION: i64 = 0x6c6b_7376;
/// The tables, as SQLite keeps their text.
const TABLES: [&str; 3] = [
    "CREATE TABLE answers (key BLOB PRIMARY KEY, ended INTEGER NOT NULL, status INTEGER NOT NULL, \
     body BLOB NOT NULL, fingerprint BLOB NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE documents (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, \
     checksum INTEGER NOT NULL)",
    "CREATE TABLE messages (number INTEGER PRIMARY KEY AUTOINCREMENT, receiver BLOB NOT NULL, \
     created INTEGER NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, checksum INTEGER NOT NULL)",
];
/// How long to wait for another process that uses the file.
const WAIT: Duration = Duration::from_secs(5);
/// How long answers and messages are kept, in ns.
const KEPT: i64 = 24 * 3_600 * 1_000_000_000;
/// Maximum number of answers that are kept, and of their bytes.
const ANSWERS: i64 = 10_000;
const ANSWER_BYTES: i64 = 16 << 20;
/// Documents that wait to be looked up.
const DOCUMENTS: i64 = 100_000;
/// Maximum number of messages that wait for a receiver, and of their bytes.
const MESSAGES: i64 = 1_000;
const MESSAGE_BYTES: i64 = 64 << 20;

/// The hash of the address of a webhook. The address may contain a secret.
pub(crate) type ReceiverHash = [u8; 32];

/// A key and the token of its client, hashed.
pub(crate) type KeyHash = [u8; 32];

/// The answer to a request with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptAnswer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    pub(crate) fingerprint: Fingerprint,
}

/// The state of an index.
pub(crate) struct ServiceState {
    connection: Mutex<Connection>,
    /// Whether the next run has this state.
    pub(crate) is_file: bool,
}

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitingMessage {
    number: i64,
    pub(crate) id: String,
    pub(crate) body: String,
    /// Whether its checksum is wrong; then it must not be sent.
    pub(crate) is_damaged: bool,
}

/// Documents that wait to be looked up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WaitingDocuments {
    pub(crate) ids: Vec<String>,
    /// The number of the last one; `None` if none waits.
    pub(crate) last: Option<i64>,
    /// Number of further documents whose checksum is wrong.
    pub(crate) damaged: u64,
}

/// Why the answer for a key cannot be read.
#[derive(Debug)]
pub(crate) enum KeptAnswerError {
    Database(rusqlite::Error),
    /// The checksum of its row is wrong.
    Damaged,
}

impl From<rusqlite::Error> for KeptAnswerError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl fmt::Display for KeptAnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => error.fmt(f),
            Self::Damaged => f.write_str(
                "the checksum of the stored answer is wrong; send the request with a new key",
            ),
        }
    }
}

/// Why the state of a server cannot be opened.
#[derive(Debug)]
pub struct ServiceStateError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for ServiceStateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, why } = self;
        write!(
            f,
            "{}: {why}; it has what waits to be sent to webhooks, and answers to requests that may \
             be sent again: move it away to begin without them",
            path.display()
        )
    }
}

impl std::error::Error for ServiceStateError {}

impl ServiceState {
    /// Opens the file at a path, and creates it if it is missing. Without a path, the state is in
    /// memory.
    ///
    /// # Errors
    /// The file cannot be read, belongs to another program or version, or is damaged.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, ServiceStateError> {
        let place = path.unwrap_or_else(|| Path::new("the memory")).to_owned();
        let failed = |why: String| ServiceStateError { path: place.clone(), why };
        let connection = match path {
            Some(path) => {
                make_private(path).map_err(|error| failed(error.to_string()))?;
                let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
                    | OpenFlags::SQLITE_OPEN_NOFOLLOW
                    | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                Connection::open_with_flags(absolute(path), flags)
            }
            None => Connection::open_in_memory(),
        };
        let mut connection = connection.map_err(|error| failed(error.to_string()))?;
        prepare(&mut connection).map_err(|error| failed(error.to_string()))?;
        let state = Self { connection: Mutex::new(connection), is_file: path.is_some() };
        let checked = check(&state.connection.lock()).map_err(|error| failed(error.to_string()))?;
        checked.map(|()| state).map_err(failed)
    }

    /// The answer to the request with a key, if it was kept and is not too old.
    ///
    /// # Errors
    /// [`KeptAnswerError::Damaged`] for an answer that differs from the stored one.
    pub(crate) fn answer(&self, key: &KeyHash) -> Result<Option<KeptAnswer>, KeptAnswerError> {
        let connection = self.connection.lock();
        let sql = format!("{ANSWER_ROWS} WHERE key = ?1 AND ended > ?2");
        let mut query = connection.prepare_cached(&sql)?;
        let row = query.query_row(params![key, time::now() - KEPT], |row| {
            if !is_sound::<5>(row)? {
                return Ok(Err(KeptAnswerError::Damaged));
            }
            let status = row.get::<_, i64>(2)?;
            let status =
                u16::try_from(status).ok().and_then(|code| StatusCode::from_u16(code).ok());
            let Some(status) = status else { return Ok(Err(KeptAnswerError::Damaged)) };
            let body: Vec<u8> = row.get(3)?;
            Ok(Ok(KeptAnswer { status, body: Bytes::from(body), fingerprint: row.get(4)? }))
        });
        row.optional()?.transpose()
    }

    /// Keeps an answer. Removes earlier answers that are old or too many.
    pub(crate) fn keep_answer(&self, key: &KeyHash, answer: &KeptAnswer) -> rusqlite::Result<()> {
        let now = time::now();
        let mut connection = self.connection.lock();
        let transaction = connection.transaction()?;
        let KeptAnswer { status, body, fingerprint } = answer;
        let fingerprint: &Fingerprint = fingerprint;
        let status = i64::from(status.as_u16());
        let sum = checksum([
            &key[..],
            &now.to_le_bytes(),
            &status.to_le_bytes(),
            &body[..],
            &fingerprint[..],
        ]);
        transaction
            .prepare_cached("REPLACE INTO answers VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![key, now, status, &body[..], fingerprint, sum])?;
        transaction.execute("DELETE FROM answers WHERE ended <= ?1", [now - KEPT])?;
        transaction
            .prepare_cached(
                "DELETE FROM answers WHERE key IN (SELECT key FROM (SELECT key, row_number() OVER \
                 latest AS n, sum(length(body)) OVER latest AS bytes FROM answers WINDOW latest AS \
                 (ORDER BY ended DESC, rowid DESC ROWS UNBOUNDED PRECEDING)) WHERE n > ?1 OR bytes \
                 > ?2)",
            )?
            .execute([ANSWERS, ANSWER_BYTES])?;
        transaction.commit()
    }

    /// Queues documents that are to be looked up; returns how many do not fit.
    pub(crate) fn queue_documents(
        &self,
        ids: impl Iterator<Item = String>,
    ) -> rusqlite::Result<u64> {
        let mut connection = self.connection.lock();
        let transaction = connection.transaction()?;
        let waiting: i64 =
            transaction.query_row("SELECT count(*) FROM documents", [], |row| row.get(0))?;
        let mut room = DOCUMENTS - waiting;
        let mut dropped = 0;
        let sql = "INSERT INTO documents (id, checksum) VALUES (?1, ?2)";
        let mut insert = transaction.prepare_cached(sql)?;
        for id in ids {
            if room > 0 {
                insert.execute(params![id, checksum([id.as_bytes()])])?;
                room -= 1;
            } else {
                dropped += 1;
            }
        }
        drop(insert);
        transaction.commit()?;
        Ok(dropped)
    }

    /// The documents that wait longest: at most `most`, including damaged ones.
    pub(crate) fn next_documents(&self, most: u32) -> rusqlite::Result<WaitingDocuments> {
        let connection = self.connection.lock();
        let sql = format!("{DOCUMENT_ROWS} ORDER BY number LIMIT ?1");
        let mut query = connection.prepare_cached(&sql)?;
        let mut rows = query.query([i64::from(most)])?;
        let mut waiting = WaitingDocuments { ids: Vec::new(), last: None, damaged: 0 };
        while let Some(row) = rows.next()? {
            waiting.last = Some(row.get(2)?);
            if is_sound::<1>(row)? {
                waiting.ids.push(row.get(0)?);
            } else {
                waiting.damaged += 1;
            }
        }
        Ok(waiting)
    }

    /// Removes documents up to number `last` from the queue, and queues a message about them for
    /// receivers. Does both or nothing. Returns the number of receivers that have no room for the
    /// message.
    pub(crate) fn finish_documents(
        &self,
        last: i64,
        message: Option<(&str, &str)>,
        receivers: &[ReceiverHash],
    ) -> rusqlite::Result<u64> {
        let mut connection = self.connection.lock();
        let transaction = connection.transaction()?;
        transaction.execute("DELETE FROM documents WHERE number <= ?1", [last])?;
        let mut dropped = 0;
        if let Some((id, body)) = message {
            for receiver in receivers {
                dropped += u64::from(!queue_message(&transaction, receiver, id, body)?);
            }
        }
        transaction.commit()?;
        Ok(dropped)
    }

    /// The message that waits longest for a receiver.
    pub(crate) fn first_message(
        &self,
        receiver: &ReceiverHash,
    ) -> rusqlite::Result<Option<WaitingMessage>> {
        let connection = self.connection.lock();
        let sql = format!("{MESSAGE_ROWS} WHERE receiver = ?1 ORDER BY number LIMIT 1");
        let mut query = connection.prepare_cached(&sql)?;
        let row = query.query_row([receiver], |row| {
            let number = row.get(5)?;
            let is_damaged = !is_sound::<4>(row)?;
            // Damaged bytes may be no text.
            let [id, body] = if is_damaged {
                [String::new(), String::new()]
            } else {
                [row.get(2)?, row.get(3)?]
            };
            Ok(WaitingMessage { number, id, body, is_damaged })
        });
        row.optional()
    }

    /// Removes a message that was sent or given up.
    pub(crate) fn remove_message(&self, message: &WaitingMessage) -> rusqlite::Result<()> {
        let connection = self.connection.lock();
        let mut remove = connection.prepare_cached("DELETE FROM messages WHERE number = ?1")?;
        remove.execute([message.number]).map(drop)
    }

    /// Removes messages that wait for too long, or for other receivers than these. Returns their
    /// number.
    pub(crate) fn remove_stale(&self, receivers: &[ReceiverHash]) -> rusqlite::Result<u64> {
        let mut connection = self.connection.lock();
        let transaction = connection.transaction()?;
        let old = time::now() - KEPT;
        let mut removed =
            transaction.execute("DELETE FROM messages WHERE created <= ?1", [old])? as u64;
        let stored: Vec<ReceiverHash> = transaction
            .prepare("SELECT DISTINCT receiver FROM messages")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for receiver in stored.iter().filter(|receiver| !receivers.contains(receiver)) {
            removed +=
                transaction.execute("DELETE FROM messages WHERE receiver = ?1", [receiver])? as u64;
        }
        transaction.commit()?;
        Ok(removed)
    }

    /// The damage of the file: problems that SQLite finds, and rows whose checksum is wrong.
    pub(crate) fn problems(&self) -> rusqlite::Result<Vec<IndexProblem>> {
        let connection = self.connection.lock();
        let place = || connection.path().unwrap_or("the memory of the service").to_owned();
        problems(&connection, &place())
    }

    /// Documents that wait to be looked up, and messages that wait to be sent.
    pub(crate) fn waiting(&self) -> rusqlite::Result<(u64, u64)> {
        self.connection.lock().query_row(
            "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM messages)",
            [],
            |row| {
                let [documents, messages]: [i64; 2] = [row.get(0)?, row.get(1)?];
                Ok((documents.unsigned_abs(), messages.unsigned_abs()))
            },
        )
    }
}

/// Checks the file in which a service keeps answers and messages. The file may be in use. A missing
/// file has no problems.
///
/// # Errors
/// A file that cannot be read, or that another program or version wrote.
/// Damage is returned as problems.
pub fn check_state(path: &Path) -> Result<Vec<IndexProblem>, ServiceStateError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let failed = |why: String| ServiceStateError { path: path.to_owned(), why };
    let open = || -> rusqlite::Result<Result<Vec<IndexProblem>, String>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(absolute(path), flags)?;
        distrust(&connection)?;
        if let Err(why) = check_schema(&connection)? {
            return Ok(Err(why));
        }
        problems(&connection, &path.display().to_string()).map(Ok)
    };
    open().map_err(|error| failed(error.to_string()))?.map_err(failed)
}

/// The values of a row in the order of its checksum, then the checksum.
const ANSWER_ROWS: &str = "SELECT key, ended, status, body, fingerprint, checksum FROM answers";
const DOCUMENT_ROWS: &str = "SELECT id, checksum, number FROM documents";
const MESSAGE_ROWS: &str = "SELECT receiver, created, id, body, checksum, number FROM messages";

/// The checksum of the values of a row: the first bytes of a SHA-256 of each with its length.
fn checksum<const N: usize>(values: [&[u8]; N]) -> i64 {
    let mut hash = Sha256::new();
    for value in values {
        hash.update((value.len() as u64).to_le_bytes());
        hash.update(value);
    }
    let hash: [u8; 32] = hash.finalize().into();
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    i64::from_le_bytes(first)
}

/// Whether the first `N` values of a row have the checksum in the next column.
fn is_sound<const N: usize>(row: &Row<'_>) -> rusqlite::Result<bool> {
    let mut numbers = [[0; 8]; N];
    for (at, number) in numbers.iter_mut().enumerate() {
        *number = row.get_ref(at)?.as_i64().unwrap_or_default().to_le_bytes();
    }
    let mut values: [&[u8]; N] = [&[]; N];
    for (at, value) in values.iter_mut().enumerate() {
        *value = row.get_ref(at)?.as_bytes().unwrap_or(&numbers[at]);
    }
    Ok(row.get_ref(N)?.as_i64().is_ok_and(|stored| stored == checksum(values)))
}

/// The problems that SQLite finds in a file, and rows whose checksum is wrong.
fn problems(connection: &Connection, place: &str) -> rusqlite::Result<Vec<IndexProblem>> {
    let problem = |what: String| IndexProblem {
        place: place.to_owned(),
        what: format!("{what}; stop the service and move the file away to begin without it"),
        repairable: false,
    };
    let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
    let found: Vec<String> =
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut all: Vec<_> = found.into_iter().filter(|line| line != "ok").map(problem).collect();
    let damaged = [
        ("answers", damaged_rows::<5>(connection, ANSWER_ROWS)?),
        ("documents", damaged_rows::<1>(connection, DOCUMENT_ROWS)?),
        ("messages", damaged_rows::<4>(connection, MESSAGE_ROWS)?),
    ];
    for (table, count) in damaged.into_iter().filter(|(_, count)| *count > 0) {
        all.push(problem(format!("the checksums of {count} rows of table {table} are wrong")));
    }
    Ok(all)
}

/// The number of rows whose checksum is wrong.
fn damaged_rows<const N: usize>(connection: &Connection, sql: &str) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        count += u64::from(!is_sound::<N>(row)?);
    }
    Ok(count)
}

/// Creates a missing file. Only the user of the server can read it, because answers and messages
/// are private. SQLite creates the files next to it with the same permissions.
fn make_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The path from the root. In other paths, SQLite refuses links on the way to the current folder.
fn absolute(path: &Path) -> PathBuf {
    let folder = path.parent();
    let name = path.file_name();
    let folder =
        folder.map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let absolute = folder.and_then(|folder| folder.canonicalize().ok());
    absolute.zip(name).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name))
}

/// Distrusts the schema of a file: another program may have written it.
fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(WAIT)?;
    for (setting, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, value)?;
    }
    Ok(())
}

/// Sets a connection up, and creates the tables of a new file.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    distrust(connection)?;
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if tables == 0 && version == 0 {
        for table in TABLES {
            transaction.execute_batch(table)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}

/// Checks that a file belongs to this program and version. The inner error is the reason if it does
/// not.
fn check_schema(connection: &Connection) -> rusqlite::Result<Result<(), String>> {
    let pragma = |name: &str| -> rusqlite::Result<i64> {
        connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
    };
    let application = pragma("application_id")?;
    let version = pragma("user_version")?;
    if application != APPLICATION {
        return Ok(Err("the file is of another program".to_owned()));
    }
    if version != VERSION {
        return Ok(Err(format!("the file has version {version}, expected {VERSION}")));
    }
    let mut query = connection.prepare(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY \
         name",
    )?;
    let tables: Vec<String> =
        query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    if tables != TABLES {
        return Ok(Err("the file has other tables than expected".to_owned()));
    }
    Ok(Ok(()))
}

/// Checks that a file belongs to this program and version and is whole. The inner error is the
/// reason if it does not.
fn check(connection: &Connection) -> rusqlite::Result<Result<(), String>> {
    if let Err(why) = check_schema(connection)? {
        return Ok(Err(why));
    }
    let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if sound != "ok" {
        return Ok(Err(format!("the file is damaged: {sound}")));
    }
    // This follows the check, since it changes the file. Written data survive the process, but
    // SQLite waits for the disk only now and then.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(Ok(()))
}

/// Queues a message, if there is room for it.
fn queue_message(
    transaction: &Transaction<'_>,
    receiver: &ReceiverHash,
    id: &str,
    body: &str,
) -> rusqlite::Result<bool> {
    let (messages, bytes): (i64, i64) = transaction
        .prepare_cached(
            "SELECT count(*), coalesce(sum(length(body)), 0) FROM messages WHERE receiver = ?1",
        )?
        .query_row([receiver], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if messages >= MESSAGES
        || bytes + i64::try_from(body.len()).unwrap_or(i64::MAX / 2) > MESSAGE_BYTES
    {
        return Ok(false);
    }
    let now = time::now();
    let sum = checksum([&receiver[..], &now.to_le_bytes(), id.as_bytes(), body.as_bytes()]);
    transaction
        .prepare_cached(
            "INSERT INTO messages (receiver, created, id, body, checksum) VALUES (?1, ?2, ?3, ?4, \
             ?5)",
        )?
        .execute(params![receiver, now, id, body, sum])?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &[u8]) -> KeptAnswer {
        let body = Bytes::copy_from_slice(body);
        KeptAnswer { status: StatusCode::CREATED, body, fingerprint: [7; 32] }
    }

    fn key(n: u32) -> KeyHash {
        let mut key = [0; 32];
        key[..4].copy_from_slice(&n.to_be_bytes());
        key
    }

    #[test]
    fn service_state_survives_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("service.sqlite");
        let state = ServiceState::open(Some(&path)).unwrap();
        state.keep_answer(&key(1), &answer(b"done")).unwrap();
        assert_eq!(state.queue_documents(["a", "b"].map(str::to_owned).into_iter()), Ok(0));
        let first = state.next_documents(1).unwrap();
        assert_eq!(first.ids, ["a"]);
        state
            .finish_documents(first.last.unwrap(), Some(("m1", "{}")), &[[1; 32], [2; 32]])
            .unwrap();
        drop(state);
        let state = ServiceState::open(Some(&path)).unwrap();
        let kept = state.answer(&key(1)).unwrap().unwrap();
        assert_eq!((kept.status, &kept.body[..]), (StatusCode::CREATED, &b"done"[..]));
        assert_eq!(kept.fingerprint, [7; 32]);
        assert!(state.answer(&key(2)).unwrap().is_none());
        assert_eq!(state.next_documents(9).unwrap().ids, ["b"]);
        let first = state.first_message(&[1; 32]).unwrap().unwrap();
        assert_eq!((first.id.as_str(), first.body.as_str()), ("m1", "{}"));
        assert_eq!(state.waiting(), Ok((1, 2)));
        state.remove_message(&first).unwrap();
        assert_eq!(state.first_message(&[1; 32]), Ok(None));
        // Messages to receivers that no longer exist are removed.
        assert_eq!(state.remove_stale(&[[1; 32]]), Ok(1));
        assert_eq!(state.waiting(), Ok((1, 0)));
    }

    #[test]
    #[cfg(unix)]
    fn state_files_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let state = ServiceState::open(Some(&folder.path().join("s.sqlite"))).unwrap();
        state.keep_answer(&key(1), &answer(b"done")).unwrap();
        for name in ["s.sqlite", "s.sqlite-wal", "s.sqlite-shm"] {
            let mode = std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        let missing = ServiceState::open(Some(&folder.path().join("none/s.sqlite")));
        assert!(missing.is_err());
    }

    #[test]
    fn stored_answers_and_messages_are_limited() {
        let state = ServiceState::open(None).unwrap();
        assert!(!state.is_file);
        for n in 0..20 {
            state.keep_answer(&key(n), &answer(&vec![0; 1 << 20])).unwrap();
        }
        assert!(state.answer(&key(3)).unwrap().is_none());
        assert!((4..20).all(|n| state.answer(&key(n)).unwrap().is_some()));
        let ids = (0..DOCUMENTS + 5).map(|n| n.to_string());
        assert_eq!(state.queue_documents(ids), Ok(5));
        for n in 0..MESSAGES {
            let id = n.to_string();
            assert_eq!(state.finish_documents(0, Some((&id, "{}")), &[[1; 32]]), Ok(0));
        }
        assert_eq!(state.finish_documents(0, Some(("x", "{}")), &[[1; 32], [2; 32]]), Ok(1));
        let large = "x".repeat(40 << 20);
        assert_eq!(state.finish_documents(0, Some(("y", &large)), &[[3; 32]]), Ok(0));
        assert_eq!(state.finish_documents(0, Some(("z", &large)), &[[3; 32]]), Ok(1));
    }

    #[test]
    fn old_answers_and_messages_go() {
        let state = ServiceState::open(None).unwrap();
        state.keep_answer(&key(1), &answer(b"a")).unwrap();
        state.finish_documents(0, Some(("m", "{}")), &[[1; 32]]).unwrap();
        let age = |table: &str, column: &str| {
            let change = format!("UPDATE {table} SET {column} = {column} - ?1");
            state.connection.lock().execute(&change, [KEPT + 1]).unwrap();
        };
        age("answers", "ended");
        age("messages", "created");
        assert!(state.answer(&key(1)).unwrap().is_none());
        state.keep_answer(&key(2), &answer(b"b")).unwrap();
        let left: i64 = state
            .connection
            .lock()
            .query_row("SELECT count(*) FROM answers", [], |row| row.get(0))
            .unwrap();
        assert_eq!(left, 1);
        assert_eq!(state.remove_stale(&[[1; 32]]), Ok(1));
    }

    /// A file with an answer, a document and a message, of which a statement changes some bytes.
    fn damaged(sql: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("service.sqlite");
        let state = ServiceState::open(Some(&path)).unwrap();
        state.keep_answer(&key(1), &answer(b"done")).unwrap();
        state.queue_documents(std::iter::once("a".to_owned())).unwrap();
        state.finish_documents(0, Some(("m", "{}")), &[[1; 32]]).unwrap();
        assert_eq!(state.problems(), Ok(Vec::new()));
        assert_eq!(state.connection.lock().execute(sql, []), Ok(1), "{sql}");
        drop(state);
        (folder, path)
    }

    #[test]
    fn damaged_answers_are_not_repeated() {
        for set in ["body = X'646f6e66'", "status = 404", "fingerprint = zeroblob(32)"] {
            let (_folder, path) = damaged(&format!("UPDATE answers SET {set}"));
            let state = ServiceState::open(Some(&path)).unwrap();
            let error = state.answer(&key(1)).unwrap_err();
            assert!(matches!(error, KeptAnswerError::Damaged), "{set}: {error}");
        }
    }

    #[test]
    fn damaged_messages_are_marked() {
        for set in ["body = '{1}'", "body = X'ff'", "id = 'n'"] {
            let (_folder, path) = damaged(&format!("UPDATE messages SET {set}"));
            let state = ServiceState::open(Some(&path)).unwrap();
            assert!(state.first_message(&[1; 32]).unwrap().unwrap().is_damaged, "{set}");
        }
    }

    #[test]
    fn damaged_documents_are_counted() {
        let (_folder, path) = damaged("UPDATE documents SET id = 'b'");
        let waiting = ServiceState::open(Some(&path)).unwrap().next_documents(9).unwrap();
        assert_eq!(waiting, WaitingDocuments { ids: Vec::new(), last: Some(1), damaged: 1 });
    }

    #[test]
    fn a_check_names_damaged_tables() {
        for (table, set) in [("answers", "body"), ("documents", "id"), ("messages", "body")] {
            let (_folder, path) = damaged(&format!("UPDATE {table} SET {set} = 'x'"));
            let found = check_state(&path).unwrap();
            let message = format!("the checksums of 1 rows of table {table} are wrong");
            assert!(found.len() == 1 && found[0].what.contains(&message), "{found:?}");
            assert_eq!(ServiceState::open(Some(&path)).unwrap().problems().unwrap().len(), 1);
        }
        assert_eq!(check_state(Path::new("/absent/service.sqlite")).unwrap(), []);
    }

    #[test]
    fn foreign_state_files_stay_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let refused = |name: &str| {
            let before = std::fs::read(path(name)).unwrap();
            let error = ServiceState::open(Some(&path(name))).err().unwrap().to_string();
            assert_eq!(std::fs::read(path(name)).unwrap(), before, "{name}");
            error
        };
        std::fs::write(path("text"), "no database at all, but some text ".repeat(40)).unwrap();
        assert!(refused("text").contains("move it away"));
        let other = Connection::open(path("other")).unwrap();
        other.execute_batch("CREATE TABLE answers (key)").unwrap();
        assert!(refused("other").contains("of another program"));
        drop(ServiceState::open(Some(&path("newer"))).unwrap());
        let change =
            |name: &str, sql: &str| Connection::open(path(name)).unwrap().execute_batch(sql);
        change("newer", "PRAGMA journal_mode = DELETE; PRAGMA user_version = 2").unwrap();
        assert!(refused("newer").contains("version 2, expected 1"));
        drop(ServiceState::open(Some(&path("more"))).unwrap());
        change("more", "PRAGMA journal_mode = DELETE; CREATE TABLE further (a)").unwrap();
        assert!(refused("more").contains("other tables"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(path("absent"), path("link")).unwrap();
            assert!(ServiceState::open(Some(&path("link"))).is_err());
            assert!(!path("absent").exists());
        }
    }
}
