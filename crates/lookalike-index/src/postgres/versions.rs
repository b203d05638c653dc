//! Reads versions of documents: the table `versions`.

use super::pool::PooledConnection;
use super::row::{column, decompress_text};
use crate::checksum;
use crate::entry::shortened_id;
use crate::error::IndexError;
use crate::original::{DocumentVersion, OriginalHash};
use postgres::Row;
use postgres::types::ToSql;

/// The columns of a version and of its original.
const COLUMNS: &str = "v.doc, v.id, v.version, v.original, v.added, v.ended, v.modified, v.type, \
                       v.name, v.checksum, o.sha256, o.bytes";

/// A version, and the id that it is of.
#[derive(Debug, Clone)]
pub(super) struct VersionRecord {
    pub(super) id: String,
    pub(super) version: DocumentVersion,
    /// Bytes of the hash of its original; `None` where the original is missing.
    hash_bytes: Option<usize>,
    checksum: i64,
}

impl VersionRecord {
    /// Checks that the row is as it was stored.
    ///
    /// # Errors
    /// [`IndexError::Damaged`].
    pub(super) fn verify(&self) -> Result<(), IndexError> {
        let expected = size_of::<OriginalHash>();
        let why = if self.checksum != checksum::version(&self.id, &self.version) {
            "the checksum of its row is wrong".to_owned()
        } else if let Some(got) = self.hash_bytes.filter(|got| *got != expected) {
            format!("the SHA-256 of its original has {got} bytes, not {expected} bytes")
        } else {
            return Ok(());
        };
        Err(damaged(&self.id, self.version.number, &why))
    }
}

/// The versions of an id, by time.
///
/// # Errors
/// Errors of the server, [`IndexError::Damaged`] for a row that is not as it was stored.
pub(super) fn of_id(
    connection: &mut PooledConnection,
    id: &str,
) -> Result<Vec<VersionRecord>, IndexError> {
    if id.contains('\0') {
        return Ok(Vec::new());
    }
    let versions = select(connection, "v.id = $1 ORDER BY v.doc", &[&id])?;
    versions.iter().try_for_each(VersionRecord::verify)?;
    Ok(versions)
}

/// The versions of documents, as they are: nothing is verified.
///
/// # Errors
/// Errors of the server.
pub(super) fn of_documents(
    connection: &mut PooledConnection,
    documents: &[i64],
) -> Result<Vec<VersionRecord>, IndexError> {
    select(connection, "v.doc = ANY($1) ORDER BY v.doc", &[&documents])
}

fn select(
    connection: &mut PooledConnection,
    condition: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<VersionRecord>, IndexError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM versions AS v LEFT JOIN originals AS o USING (original) \
         WHERE {condition}"
    );
    connection.query(&sql, values)?.iter().map(version).collect()
}

fn version(row: &Row) -> Result<VersionRecord, IndexError> {
    let number = |at| column::<i64>(row, "versions", at).map(i64::cast_unsigned);
    // The hash is missing where the original is; `originals::read` reports that. One of another
    // length is reported by `verify`, so that damaged rows can be removed.
    let sha256: Option<&[u8]> = column(row, "originals", 10)?;
    let version = DocumentVersion {
        document: number(0)?,
        number: number(2)?,
        original: number(3)?,
        added: column(row, "versions", 4)?,
        ended: column(row, "versions", 5)?,
        modified: column(row, "versions", 6)?,
        media_type: column(row, "versions", 7)?,
        name: column(row, "versions", 8)?,
        sha256: sha256.and_then(|hash| OriginalHash::try_from(hash).ok()).unwrap_or_default(),
        bytes: column::<Option<i64>>(row, "originals", 11)?.unwrap_or(0).cast_unsigned(),
    };
    let id: String = column(row, "versions", 1)?;
    let hash_bytes = sha256.map(<[u8]>::len);
    Ok(VersionRecord { id, version, hash_bytes, checksum: column(row, "versions", 9)? })
}

/// The text of a version that has ended; `None` if there is no such version, or if it was stored
/// without a text.
///
/// # Errors
/// Errors of the server, [`IndexError::Damaged`] for a text that is not what was stored.
pub(super) fn ended_text(
    connection: &mut PooledConnection,
    document: i64,
) -> Result<Option<String>, IndexError> {
    let sql = "SELECT id, version, text, text_checksum FROM versions \
               WHERE doc = $1 AND ended IS NOT NULL";
    let rows = connection.query(sql, &[&document])?;
    let Some(row) = rows.first() else { return Ok(None) };
    let (id, number): (&str, i64) = (column(row, "versions", 0)?, column(row, "versions", 1)?);
    let Some(text) = column::<Option<&[u8]>>(row, "versions", 2)? else { return Ok(None) };
    let sum = checksum::content(document.cast_unsigned(), text).to_le_bytes();
    if column::<Option<&[u8]>>(row, "versions", 3)? != Some(&sum[..]) {
        let why = "the checksum of its text is wrong";
        return Err(damaged(id, number.cast_unsigned(), why));
    }
    decompress_text(text, id).map(Some)
}

fn damaged(id: &str, number: u64, why: &str) -> IndexError {
    let what = format!("version {number} of document {:?}", shortened_id(id));
    IndexError::Damaged { what, why: why.to_owned() }
}
