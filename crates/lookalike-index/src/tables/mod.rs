//! Side tables: the tables that an index in a database has in addition to the tables of documents.
//!
//! | module | tables |
//! |---|---|
//! | `decisions` | the log of decisions |
//! | `categories` | the model of categories, and its members |
//! | `duplicates` | documents that were removed as duplicates |
//! | `versions`, `version_plan`, `version_changes` | versions of documents |
//! | `originals`, `original_writer`, `similar_documents` | originals, stored as differences |
//! | `check` | checks all of them |
//! | `write_plan` | the effect of a batch of changes on documents, which these tables follow |
//!
//! SQLite and PostgreSQL have these tables with the same columns. Their rules are implemented once,
//! in SQL that both understand. A backend implements [`TableConnection`], [`TableSnapshot`] for
//! reading, and [`TableWriter`] for writing.

pub(crate) mod categories;
pub(crate) mod check;
pub(crate) mod decisions;
pub(crate) mod duplicates;
mod original_writer;
pub(crate) mod originals;
mod similar_documents;
mod snapshot;
pub(crate) mod version_changes;
mod version_plan;
pub(crate) mod versions;
pub(crate) mod write_plan;

use crate::entry::DocumentNumber;
use crate::error::IndexError;
use crate::settings::IndexSettings;
use std::collections::HashMap;

/// A side table.
#[derive(Debug)]
pub(crate) struct SideTable {
    /// Its name in both databases.
    pub(crate) name: &'static str,
    /// The columns of an inserted row.
    pub(crate) columns: &'static [&'static str],
    /// The position of `id` among the columns. SQLite finds such rows by the column `id_key`, the
    /// hash of an id.
    #[cfg_attr(
        not(feature = "sqlite"),
        expect(dead_code, reason = "only SQLite has such a column")
    )]
    pub(crate) id: Option<usize>,
}

/// A value of a statement or of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    Integer(i64),
    Optional(Option<i64>),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// Converts a number, limited to `i64::MAX`, which no column exceeds.
    pub(crate) fn clamped(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// The number of a document.
    pub(crate) fn document(number: DocumentNumber) -> Self {
        Self::Integer(number.signed())
    }

    /// An unsigned number, stored as the signed number with the same bits.
    pub(crate) fn unsigned(number: u64) -> Self {
        Self::Integer(number.cast_signed())
    }
}

/// The rows to which a statement applies: the rows with one of several values in a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keys<'a> {
    /// Numbers in the named column.
    Numbers(&'static str, &'a [i64]),
    /// Hashes in the named column.
    Hashes(&'static str, &'a [&'a [u8]]),
    /// Ids, in the column `id`.
    Ids(&'a [&'a str]),
}

/// A row that a statement returns.
pub(crate) trait TableRow {
    /// An integer that is not `NULL`.
    fn integer(&self, column: usize) -> Result<i64, IndexError>;

    /// An integer, or `NULL`.
    fn optional(&self, column: usize) -> Result<Option<i64>, IndexError>;

    /// A text that is not `NULL`.
    fn text(&self, column: usize) -> Result<&str, IndexError>;

    /// Bytes, or `NULL`.
    fn bytes(&self, column: usize) -> Result<Option<&[u8]>, IndexError>;

    /// The integer from which a loop over the rows continues. In a damaged table, the search for a
    /// later integer may return an earlier integer, so that the loop would never end.
    ///
    /// # Errors
    /// An error of damage for an integer that is not above `last`.
    fn later(&self, column: usize, last: i64) -> Result<i64, IndexError>;
}

impl dyn TableRow + '_ {
    /// The number of a document.
    pub(crate) fn document(&self, column: usize) -> Result<DocumentNumber, IndexError> {
        self.integer(column).map(DocumentNumber::of_signed)
    }

    /// An unsigned number, stored as the signed number with the same bits.
    pub(crate) fn unsigned(&self, column: usize) -> Result<u64, IndexError> {
        self.integer(column).map(i64::cast_unsigned)
    }
}

/// Takes the rows of a statement.
pub(crate) type RowCallback<'a> = &'a mut dyn FnMut(&dyn TableRow) -> Result<(), IndexError>;

/// A document, and the number of bucket keys that it shares with another one. The greatest value is
/// the best base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SimilarDocument {
    pub(crate) shared: u32,
    pub(crate) document: i64,
}

impl SimilarDocument {
    /// Counts the keys of each document; `documents` has one entry per key. Returns the document
    /// with the most keys, or the latest of several such documents.
    pub(crate) fn best(documents: impl Iterator<Item = i64>) -> Option<Self> {
        let mut counts = HashMap::<i64, u32>::new();
        for document in documents {
            *counts.entry(document).or_default() += 1;
        }
        counts.into_iter().map(|(document, shared)| Self { shared, document }).max()
    }
}

/// The end of a version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedVersion<'a> {
    /// The id of its document.
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "only SQLite has `id_key`"))]
    pub(crate) id: &'a str,
    /// The number of its document.
    pub(crate) document: i64,
    /// When it ended, in ns since 1970.
    pub(crate) ended: Option<i64>,
    /// The checksum of its row.
    pub(crate) checksum: i64,
}

/// A connection in a transaction.
pub(crate) trait TableConnection {
    /// The name of the index in messages.
    fn name(&self) -> &str;

    /// Runs a statement about a table. The values are `$1`, `$2`, in the order in which the
    /// statement names them. `{id_key}` in the statement is the column of this name, or `NULL` if
    /// the database has no such column.
    ///
    /// # Errors
    /// Errors of the database and of `each`.
    fn each(
        &mut self,
        table: &'static str,
        sql: &str,
        values: &[Value<'_>],
        each: RowCallback<'_>,
    ) -> Result<(), IndexError>;

    /// Runs a statement for some keys. Their condition replaces `{keys}` in the statement. A
    /// backend may run the statement several times, each time for the next part of the keys.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    fn each_of(
        &mut self,
        table: &'static str,
        sql: &str,
        keys: Keys<'_>,
        each: RowCallback<'_>,
    ) -> Result<(), IndexError>;

    /// Inserts rows.
    ///
    /// # Errors
    /// Errors of the database.
    fn insert(
        &mut self,
        table: &'static SideTable,
        rows: &mut dyn Iterator<Item = Vec<Value<'_>>>,
    ) -> Result<(), IndexError>;

    /// For each of several lists of bucket keys, the stored document that shares the most keys, or
    /// the latest of several such documents.
    ///
    /// # Errors
    /// Read errors.
    fn most_similar(
        &mut self,
        keys: &[Vec<u64>],
    ) -> Result<Vec<Option<SimilarDocument>>, IndexError>;

    /// Ends versions whose documents are still stored, and keeps their texts.
    ///
    /// # Errors
    /// Errors of the database.
    fn end_versions(&mut self, ended: &[EndedVersion<'_>]) -> Result<(), IndexError>;

    /// The text of an ended version, by the number of its document; `None` if it was stored without
    /// a text.
    ///
    /// # Errors
    /// Errors of the database, [`IndexError::Damaged`] for a text with a wrong checksum.
    fn ended_text(&mut self, document: i64) -> Result<Option<String>, IndexError>;

    /// The documents with these ids, as ids and numbers.
    ///
    /// # Errors
    /// Errors of the database.
    fn documents(&mut self, ids: &[&str]) -> Result<Vec<(String, i64)>, IndexError>;
}

/// A connection to either database.
pub(crate) type Tables<'a> = &'a mut (dyn TableConnection + 'a);

impl dyn TableConnection + '_ {
    /// Runs a statement that returns no rows.
    fn execute(
        &mut self,
        table: &'static str,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<(), IndexError> {
        self.each(table, sql, values, &mut |_| Ok(()))
    }

    /// The first row of a statement, converted.
    fn first<T>(
        &mut self,
        table: &'static str,
        sql: &str,
        values: &[Value<'_>],
        convert: impl Fn(&dyn TableRow) -> Result<T, IndexError>,
    ) -> Result<Option<T>, IndexError> {
        let mut first = None;
        self.each(table, sql, values, &mut |row| {
            if first.is_none() {
                first = Some(convert(row)?);
            }
            Ok(())
        })?;
        Ok(first)
    }

    /// The integer that a statement returns; 0 without a row.
    fn integer(&mut self, table: &'static str, sql: &str) -> Result<i64, IndexError> {
        Ok(self.first(table, sql, &[], |row| row.integer(0))?.unwrap_or(0))
    }

    /// The rows of a statement for some keys, converted.
    fn rows_of<T>(
        &mut self,
        table: &'static str,
        sql: &str,
        keys: Keys<'_>,
        convert: impl Fn(&dyn TableRow) -> Result<T, IndexError>,
    ) -> Result<Vec<T>, IndexError> {
        let mut rows = Vec::new();
        self.each_of(table, sql, keys, &mut |row| {
            rows.push(convert(row)?);
            Ok(())
        })?;
        Ok(rows)
    }
}

/// A snapshot with side tables.
pub(crate) trait TableSnapshot {
    /// The settings of the index.
    fn settings(&self) -> &IndexSettings;

    /// Runs `work` on the connection of the snapshot.
    ///
    /// # Errors
    /// Errors of `work`, and the error of a lost connection.
    fn with_tables<T>(
        &mut self,
        work: impl FnOnce(Tables<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError>;
}

/// The effect of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing; the transaction may be rolled back.
    Nothing,
    /// Changes that readers cannot observe, so that the version of the index stays the same.
    Invisible,
    /// Changes that readers observe, so that the version of the index increases.
    Visible,
}

impl Effect {
    /// The effect of a transaction that may have changed observable rows.
    fn visible_if(is_changed: bool) -> Self {
        if is_changed { Self::Visible } else { Self::Nothing }
    }
}

/// A backend that changes side tables.
pub(crate) trait TableWriter {
    /// Runs `work` in a transaction of its own, repeatedly if it conflicts with another writer.
    ///
    /// # Errors
    /// Errors of `work`, and write errors. After an error, nothing has changed.
    fn change<T>(
        &self,
        work: impl FnMut(Tables<'_>) -> Result<(T, Effect), IndexError>,
    ) -> Result<T, IndexError>;
}
