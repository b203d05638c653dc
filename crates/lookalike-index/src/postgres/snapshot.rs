//! Snapshots: read-only transactions.

use super::pool::{ConnectionPool, PooledConnection};
use super::row::{column, columns, record};
use crate::backend::Snapshot;
use crate::entry::{DocumentNumber, IndexRecord, RecordFields};
use crate::error::IndexError;
use crate::original::DocumentVersion;
use crate::settings::IndexSettings;
use crate::tables::{TableConnection as _, TableSnapshot, Tables};
use postgres::SimpleQueryMessage;
use postgres::types::ToSql;
use std::sync::Arc;

/// Maximum number of documents per request; a small number keeps the server's sort small.
const CHUNK: usize = 1024;
/// The server takes a snapshot at the first read, so both statements are sent together.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; \
                     SELECT version, documents FROM state";

/// A snapshot of an index, with a connection of its own.
pub(super) struct PostgresSnapshot {
    connection: PooledConnection,
    version: u64,
    documents: u64,
    settings: IndexSettings,
}

impl PostgresSnapshot {
    pub(super) fn new(
        pool: &Arc<ConnectionPool>,
        settings: &IndexSettings,
    ) -> Result<Self, IndexError> {
        let (connection, response) = pool.begin(BEGIN)?;
        let [version, documents] = numbers(&response).ok_or_else(|| no_state(pool))?;
        Ok(Self {
            connection,
            version: version.cast_unsigned(),
            documents: documents.cast_unsigned(),
            settings: settings.clone(),
        })
    }

    /// The connection, for statements that only this backend needs.
    pub(super) fn connection(&mut self) -> &mut PooledConnection {
        &mut self.connection
    }

    /// Passes the rows of a statement to `each` as they arrive. Returns their number.
    fn stream(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<usize, IndexError> {
        let mut count = 0;
        let mut one = IndexRecord::default();
        self.connection.stream(sql, values, |row| {
            record(row, wanted, &mut one)?;
            count += 1;
            each(&one)
        })?;
        Ok(count)
    }
}

/// The numbers in the first row of a text response.
pub(super) fn numbers<const N: usize>(response: &[SimpleQueryMessage]) -> Option<[i64; N]> {
    let row = response.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    })?;
    let mut numbers = [0; N];
    for (column, number) in numbers.iter_mut().enumerate() {
        *number = row.try_get(column).ok().flatten()?.parse().ok()?;
    }
    Some(numbers)
}

/// The error of a missing row of `state`.
pub(super) fn no_state(pool: &ConnectionPool) -> IndexError {
    IndexError::damaged(format!("table `state` of {}", pool.name()), "its row is missing")
}

impl TableSnapshot for PostgresSnapshot {
    fn settings(&self) -> &IndexSettings {
        &self.settings
    }

    fn with_tables<T>(
        &mut self,
        work: impl FnOnce(Tables<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        work(&mut self.connection)
    }
}

impl Snapshot for PostgresSnapshot {
    fn version(&self) -> u64 {
        self.version
    }

    fn len(&self) -> u64 {
        self.documents
    }

    fn number_of(&mut self, id: &str) -> Result<Option<DocumentNumber>, IndexError> {
        if id.contains('\0') {
            return Ok(None);
        }
        let rows = self.connection.query("SELECT doc FROM docs WHERE id = $1", &[&id])?;
        let number = rows.first().map(|row| column::<i64>(row, "docs", 0)).transpose()?;
        Ok(number.map(DocumentNumber::of_signed))
    }

    fn candidates(
        &mut self,
        keys: &[u64],
        numbers: &mut Vec<DocumentNumber>,
    ) -> Result<(), IndexError> {
        numbers.clear();
        if keys.is_empty() {
            return Ok(());
        }
        let keys: Vec<i64> = keys.iter().map(|key| key.cast_signed()).collect();
        self.connection.stream("SELECT doc FROM bands WHERE key = ANY($1)", &[&keys], |row| {
            numbers.push(DocumentNumber::of_signed(column(row, "bands", 0)?));
            Ok(())
        })?;
        numbers.sort_unstable();
        numbers.dedup();
        Ok(())
    }

    fn records(
        &mut self,
        numbers: &[DocumentNumber],
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let columns = columns(wanted);
        let sql = format!("SELECT {columns} FROM docs WHERE doc = ANY($1) ORDER BY doc");
        for chunk in numbers.chunks(CHUNK) {
            let docs = chunk.iter().filter_map(|number| i64::try_from(number.0).ok());
            let docs: Vec<i64> = docs.collect();
            self.stream(&sql, &[&docs], wanted, each)?;
        }
        Ok(())
    }

    fn version_text(&mut self, version: &DocumentVersion) -> Result<Option<String>, IndexError> {
        self.settings.store.expect_originals(self.connection.pool().name())?;
        let mut text = None;
        let mut is_document = false;
        let wanted = RecordFields { text: true, ..RecordFields::default() };
        self.records(&[version.document], wanted, &mut |record| {
            is_document = true;
            text.clone_from(&record.text);
            Ok(())
        })?;
        if is_document {
            return Ok(text);
        }
        self.connection.ended_text(version.document.signed())
    }

    fn scan(
        &mut self,
        from: DocumentNumber,
        most: usize,
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<usize, IndexError> {
        let Ok(mut from) = i64::try_from(from.0) else { return Ok(0) };
        let columns = columns(wanted);
        let sql = format!("SELECT {columns} FROM docs WHERE doc >= $1 ORDER BY doc LIMIT $2");
        let mut total = 0;
        while total < most {
            let part = CHUNK.min(most - total);
            let limit = (part as u64).cast_signed();
            let mut last = from;
            let count = self.stream(&sql, &[&from, &limit], wanted, &mut |record| {
                last = record.number.signed();
                each(record)
            })?;
            total += count;
            match last.checked_add(1) {
                Some(next) if count == part => from = next,
                _ => break,
            }
        }
        Ok(total)
    }
}
