//! Snapshots: read-only transactions.

use super::categories;
use super::decisions;
use super::duplicates;
use super::originals;
use super::pool::{ConnectionPool, PooledConnection};
use super::row::{column, columns, record};
use super::versions;
use crate::backend::Snapshot;
use crate::category_table::{CategoryMember, CategoryState};
use crate::decision_log::DecisionCallback;
use crate::duplicate_table::DuplicateCallback;
use crate::entry::{IndexRecord, RecordFields};
use crate::error::IndexError;
use crate::original::DocumentVersion;
use crate::settings::IndexSettings;
use postgres::SimpleQueryMessage;
use postgres::types::ToSql;
use std::sync::Arc;

/// Documents of one request, so that the server sorts few.
const CHUNK: usize = 1024;
/// A snapshot is taken at its first read, so both statements are sent together.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; \
                     SELECT version, documents FROM state";

/// A snapshot of an index, with a connection of its own.
pub(super) struct PostgresSnapshot {
    connection: PooledConnection,
    version: u64,
    documents: u64,
    has_originals: bool,
}

impl PostgresSnapshot {
    pub(super) fn new(
        pool: &Arc<ConnectionPool>,
        settings: &IndexSettings,
    ) -> Result<Self, IndexError> {
        let (connection, answer) = pool.begin(BEGIN)?;
        let [version, documents] = numbers(&answer).ok_or_else(|| no_state(pool))?;
        let has_originals = settings.store.has_originals();
        let (version, documents) = (version.cast_unsigned(), documents.cast_unsigned());
        Ok(Self { connection, version, documents, has_originals })
    }

    /// The connection, for statements that only this backend needs.
    pub(super) fn connection(&mut self) -> &mut PooledConnection {
        &mut self.connection
    }

    fn expect_originals(&self) -> Result<(), IndexError> {
        if self.has_originals {
            return Ok(());
        }
        Err(IndexError::NoOriginals { index: self.connection.pool().name().to_owned() })
    }

    /// Passes the rows of a statement to `each` as they arrive; returns their number.
    fn stream(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<usize, IndexError> {
        let (mut count, mut one) = (0, IndexRecord::default());
        self.connection.stream(sql, values, |row| {
            record(row, wanted, &mut one)?;
            count += 1;
            each(&one)
        })?;
        Ok(count)
    }
}

/// The numbers in the first row of a text response.
pub(super) fn numbers<const N: usize>(answer: &[SimpleQueryMessage]) -> Option<[i64; N]> {
    let row = answer.iter().find_map(|message| match message {
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
    IndexError::Damaged {
        what: format!("table `state` of {}", pool.name()),
        why: "its row is missing".to_owned(),
    }
}

impl Snapshot for PostgresSnapshot {
    fn version(&self) -> u64 {
        self.version
    }

    fn len(&self) -> u64 {
        self.documents
    }

    fn number_of(&mut self, id: &str) -> Result<Option<u64>, IndexError> {
        if id.contains('\0') {
            return Ok(None);
        }
        let rows = self.connection.query("SELECT doc FROM docs WHERE id = $1", &[&id])?;
        let number = rows.first().map(|row| column::<i64>(row, "docs", 0)).transpose()?;
        Ok(number.map(i64::cast_unsigned))
    }

    fn candidates(&mut self, keys: &[u64], numbers: &mut Vec<u64>) -> Result<(), IndexError> {
        numbers.clear();
        if keys.is_empty() {
            return Ok(());
        }
        let keys: Vec<i64> = keys.iter().map(|key| key.cast_signed()).collect();
        self.connection.stream("SELECT doc FROM bands WHERE key = ANY($1)", &[&keys], |row| {
            numbers.push(column::<i64>(row, "bands", 0)?.cast_unsigned());
            Ok(())
        })?;
        numbers.sort_unstable();
        numbers.dedup();
        Ok(())
    }

    fn records(
        &mut self,
        numbers: &[u64],
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let columns = columns(wanted);
        let sql = format!("SELECT {columns} FROM docs WHERE doc = ANY($1) ORDER BY doc");
        for chunk in numbers.chunks(CHUNK) {
            let docs = chunk.iter().filter_map(|number| i64::try_from(*number).ok());
            let docs: Vec<i64> = docs.collect();
            self.stream(&sql, &[&docs], wanted, each)?;
        }
        Ok(())
    }

    fn decisions(
        &mut self,
        after: u64,
        most: usize,
        each: DecisionCallback<'_>,
    ) -> Result<usize, IndexError> {
        decisions::read(&mut self.connection, (after, most), each)
    }

    fn categories(&mut self) -> Result<Option<CategoryState>, IndexError> {
        categories::state(&mut self.connection)
    }

    fn category_model(&mut self) -> Result<Option<Vec<u8>>, IndexError> {
        categories::model(&mut self.connection)
    }

    fn category_counts(&mut self) -> Result<Vec<(u32, u64)>, IndexError> {
        categories::counts(&mut self.connection)
    }

    fn category_members(
        &mut self,
        range: (u32, u32),
        after: u64,
        most: usize,
    ) -> Result<Vec<CategoryMember>, IndexError> {
        categories::members(&mut self.connection, range, (after, most))
    }

    fn group_sizes(&mut self, numbers: &[u64]) -> Result<Vec<u64>, IndexError> {
        duplicates::group_sizes(&mut self.connection, numbers)
    }

    fn duplicates(
        &mut self,
        numbers: &[u64],
        each: DuplicateCallback<'_>,
    ) -> Result<(), IndexError> {
        duplicates::read(&mut self.connection, numbers, each)
    }

    fn versions(&mut self, id: &str) -> Result<Vec<DocumentVersion>, IndexError> {
        self.expect_originals()?;
        let versions = versions::of_id(&mut self.connection, id)?;
        Ok(versions.into_iter().map(|stored| stored.version).collect())
    }

    fn original(&mut self, version: &DocumentVersion) -> Result<Vec<u8>, IndexError> {
        self.expect_originals()?;
        let original = originals::read(&mut self.connection, version.original.cast_signed())?;
        Ok(original.bytes)
    }

    fn version_text(&mut self, version: &DocumentVersion) -> Result<Option<String>, IndexError> {
        self.expect_originals()?;
        let (mut text, mut is_document) = (None, false);
        let wanted = RecordFields { text: true, ..RecordFields::default() };
        self.records(&[version.document], wanted, &mut |record| {
            is_document = true;
            text.clone_from(&record.text);
            Ok(())
        })?;
        if is_document {
            return Ok(text);
        }
        versions::ended_text(&mut self.connection, version.document.cast_signed())
    }

    fn scan(
        &mut self,
        from: u64,
        most: usize,
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<usize, IndexError> {
        let Ok(mut from) = i64::try_from(from) else { return Ok(0) };
        let columns = columns(wanted);
        let sql = format!("SELECT {columns} FROM docs WHERE doc >= $1 ORDER BY doc LIMIT $2");
        let mut total = 0;
        while total < most {
            let part = CHUNK.min(most - total);
            let limit = (part as u64).cast_signed();
            let mut last = from;
            let count = self.stream(&sql, &[&from, &limit], wanted, &mut |record| {
                last = record.number.cast_signed();
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
