//! Side tables over a connection.

use super::copy::copy_in;
use super::pool::PooledConnection;
use super::row::{column, decompress_text, later};
use crate::checksum;
use crate::error::IndexError;
use crate::tables::versions::version_name;
use crate::tables::{
    EndedVersion, Keys, RowCallback, SideTable, SimilarDocument, TableConnection, TableRow, Value,
};
use postgres::Row;
use postgres::types::ToSql;
use std::collections::HashMap;

/// Maximum number of keys per statement; a small number keeps the server's sort small.
const CHUNK: usize = 1024;
/// Maximum number of stored documents that are counted per bucket. The latest documents are
/// counted. If a text is repeated more often, one of them is a good base.
const MOST_OF_BUCKET: i64 = 8;

/// A row of the named table.
struct PostgresRow<'a> {
    row: &'a Row,
    table: &'static str,
}

impl TableRow for PostgresRow<'_> {
    fn integer(&self, at: usize) -> Result<i64, IndexError> {
        column(self.row, self.table, at)
    }

    fn optional(&self, at: usize) -> Result<Option<i64>, IndexError> {
        column(self.row, self.table, at)
    }

    fn text(&self, at: usize) -> Result<&str, IndexError> {
        column(self.row, self.table, at)
    }

    fn bytes(&self, at: usize) -> Result<Option<&[u8]>, IndexError> {
        column(self.row, self.table, at)
    }

    fn later(&self, at: usize, last: i64) -> Result<i64, IndexError> {
        later(self.table, last, self.integer(at)?)
    }
}

impl Value<'_> {
    fn parameter(&self) -> &(dyn ToSql + Sync) {
        match self {
            Self::Integer(value) => value,
            Self::Optional(value) => value,
            Self::Text(value) => value,
            Self::Bytes(value) => value,
        }
    }
}

impl TableConnection for PooledConnection {
    fn name(&self) -> &str {
        self.pool().name()
    }

    fn each(
        &mut self,
        table: &'static str,
        sql: &str,
        values: &[Value<'_>],
        each: RowCallback<'_>,
    ) -> Result<(), IndexError> {
        let sql = sql.replace("{id_key}", "NULL::bigint");
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(Value::parameter).collect();
        self.stream(&sql, &values, |row| each(&PostgresRow { row, table }))
    }

    fn each_of(
        &mut self,
        table: &'static str,
        sql: &str,
        keys: Keys<'_>,
        each: RowCallback<'_>,
    ) -> Result<(), IndexError> {
        let name = match keys {
            Keys::Numbers(name, _) | Keys::Hashes(name, _) => name,
            Keys::Ids(_) => "id",
        };
        let sql = sql.replace("{id_key}", "NULL::bigint");
        let sql = sql.replace("{keys}", &format!("{name} = ANY($1)"));
        let mut run = |keys: &(dyn ToSql + Sync)| {
            self.stream(&sql, &[keys], |row| each(&PostgresRow { row, table }))
        };
        match keys {
            Keys::Numbers(_, numbers) => numbers.chunks(CHUNK).try_for_each(|chunk| run(&chunk)),
            Keys::Hashes(_, hashes) => hashes.chunks(CHUNK).try_for_each(|chunk| run(&chunk)),
            Keys::Ids(ids) => {
                // The server rejects NUL, which no stored id contains.
                let ids: Vec<&str> = ids.iter().copied().filter(|id| !id.contains('\0')).collect();
                ids.chunks(CHUNK).try_for_each(|chunk| run(&chunk))
            }
        }
    }

    fn insert(
        &mut self,
        table: &'static SideTable,
        rows: &mut dyn Iterator<Item = Vec<Value<'_>>>,
    ) -> Result<(), IndexError> {
        let mut rows = rows.peekable();
        if rows.peek().is_none() {
            return Ok(());
        }
        let columns = table.columns.join(", ");
        let sql = format!("COPY {} ({columns}) FROM STDIN BINARY", table.name);
        copy_in(self, &sql, |to| {
            for row in rows {
                to.row(i16::try_from(row.len()).unwrap_or(i16::MAX))?;
                for value in row {
                    match value {
                        Value::Integer(value) => to.bigint(value)?,
                        Value::Optional(value) => to.bigint_or_null(value)?,
                        Value::Text(value) => to.bytes(value.as_bytes())?,
                        Value::Bytes(value) => to.bytes(value)?,
                    }
                }
            }
            Ok(())
        })
    }

    fn most_similar(
        &mut self,
        documents: &[Vec<u64>],
    ) -> Result<Vec<Option<SimilarDocument>>, IndexError> {
        let mut keys: Vec<i64> = documents.iter().flatten().map(|key| key.cast_signed()).collect();
        keys.sort_unstable();
        keys.dedup();
        let sql = "SELECT wanted.key, found.doc FROM unnest($1::bigint[]) AS wanted (key) \
                   CROSS JOIN LATERAL (SELECT doc FROM bands WHERE bands.key = wanted.key \
                   ORDER BY doc DESC LIMIT $2) AS found";
        let mut buckets = HashMap::<i64, Vec<i64>>::new();
        self.stream(sql, &[&keys, &MOST_OF_BUCKET], |row| {
            buckets.entry(column(row, "bands", 0)?).or_default().push(column(row, "bands", 1)?);
            Ok(())
        })?;
        let similar = documents.iter().map(|keys| {
            let found = keys.iter().filter_map(|key| buckets.get(&key.cast_signed()));
            SimilarDocument::best(found.flatten().copied())
        });
        Ok(similar.collect())
    }

    fn end_versions(&mut self, ended: &[EndedVersion<'_>]) -> Result<(), IndexError> {
        if ended.is_empty() {
            return Ok(());
        }
        let documents: Vec<i64> = ended.iter().map(|one| one.document).collect();
        let times: Vec<Option<i64>> = ended.iter().map(|one| one.ended).collect();
        let sums: Vec<i64> = ended.iter().map(|one| one.checksum).collect();
        // The last 8 bytes of a document's checksums are the checksum of its text.
        let sql = "UPDATE versions SET ended = now.ended, checksum = now.checksum, \
                   text = docs.text, text_checksum = substring(docs.checksums from 33 for 8) \
                   FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) \
                   AS now (doc, ended, checksum) \
                   JOIN docs ON docs.doc = now.doc WHERE versions.doc = now.doc";
        self.query(sql, &[&documents, &times, &sums]).map(drop)
    }

    fn ended_text(&mut self, document: i64) -> Result<Option<String>, IndexError> {
        let sql = "SELECT id, version, text, text_checksum FROM versions \
                   WHERE doc = $1 AND ended IS NOT NULL";
        let rows = self.query(sql, &[&document])?;
        let Some(row) = rows.first() else { return Ok(None) };
        let id: &str = column(row, "versions", 0)?;
        let number: i64 = column(row, "versions", 1)?;
        let Some(text) = column::<Option<&[u8]>>(row, "versions", 2)? else { return Ok(None) };
        let sum = checksum::content(document.cast_unsigned(), text).to_le_bytes();
        if column::<Option<&[u8]>>(row, "versions", 3)? != Some(&sum[..]) {
            let what = version_name(id, number.cast_unsigned(), self.name());
            return Err(IndexError::damaged(what, "the checksum of its text is wrong"));
        }
        decompress_text(text, id).map(Some)
    }

    fn documents(&mut self, ids: &[&str]) -> Result<Vec<(String, i64)>, IndexError> {
        let rows = self.query("SELECT id, doc FROM docs WHERE id = ANY($1)", &[&ids])?;
        rows.iter().map(|row| Ok((column(row, "docs", 0)?, column(row, "docs", 1)?))).collect()
    }
}

/// Stores the text of a version that a batch has added and ended.
pub(super) fn store_text(
    connection: &mut PooledConnection,
    document: i64,
    text: &[u8],
) -> Result<(), IndexError> {
    let sum = checksum::content(document.cast_unsigned(), text).to_le_bytes();
    let sql = "UPDATE versions SET text = $2, text_checksum = $3 WHERE doc = $1";
    connection.query(sql, &[&document, &text, &&sum[..]]).map(drop)
}
