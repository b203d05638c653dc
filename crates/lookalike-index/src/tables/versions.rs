//! Versions of documents: the table `versions`.

use super::{Keys, SideTable, TableRow, Tables, Value};
use crate::checksum;
use crate::entry::shortened_id;
use crate::error::IndexError;
use crate::original::{DocumentVersion, OriginalHash};

pub(crate) const VERSIONS: SideTable = SideTable {
    name: "versions",
    columns: &[
        "doc", "id", "version", "original", "added", "ended", "modified", "type", "name",
        "checksum",
    ],
    id: Some(1),
};

/// The columns of a version and of its original.
const SELECT: &str = "SELECT doc, id, version, versions.original, added, ended, modified, type, \
                      name, versions.checksum, sha256, originals.bytes \
                      FROM versions LEFT JOIN originals USING (original) WHERE";

/// A row of `versions`.
#[derive(Debug, Clone)]
pub(crate) struct VersionRow {
    pub(crate) id: String,
    pub(crate) version: DocumentVersion,
    /// The number of bytes of the hash of its original; `None` if the original is missing.
    hash_bytes: Option<usize>,
    checksum: i64,
}

impl VersionRow {
    fn of(row: &dyn TableRow) -> Result<Self, IndexError> {
        // The hash is missing if the original is missing. Reading the original reports this. Only
        // `verify` reports a hash of another length, so that damaged rows can be removed.
        let sha256 = row.bytes(10)?;
        let version = DocumentVersion {
            document: row.document(0)?,
            number: row.unsigned(2)?,
            original: row.unsigned(3)?,
            added: row.integer(4)?,
            ended: row.optional(5)?,
            modified: row.optional(6)?,
            media_type: row.text(7)?.to_owned(),
            name: row.text(8)?.to_owned(),
            sha256: sha256.and_then(|hash| OriginalHash::try_from(hash).ok()).unwrap_or_default(),
            bytes: row.optional(11)?.unwrap_or(0).cast_unsigned(),
        };
        let hash_bytes = sha256.map(<[u8]>::len);
        Ok(Self { id: row.text(1)?.to_owned(), version, hash_bytes, checksum: row.integer(9)? })
    }

    /// Checks the checksum of the row, and the length of the hash, for the index `index`.
    ///
    /// # Errors
    /// [`IndexError::Damaged`].
    pub(super) fn verify(&self, index: &str) -> Result<(), IndexError> {
        let expected = size_of::<OriginalHash>();
        let why = if self.checksum != checksum::version(&self.id, &self.version) {
            "the checksum of its row is wrong".to_owned()
        } else if let Some(got) = self.hash_bytes.filter(|got| *got != expected) {
            format!("the SHA-256 of its original has {got} bytes, not {expected} bytes")
        } else {
            return Ok(());
        };
        Err(IndexError::damaged(version_name(&self.id, self.version.number, index), &why))
    }
}

/// The name of a version in messages.
pub(crate) fn version_name(id: &str, number: u64, index: &str) -> String {
    format!("version {number} of document {:?} of {index}", shortened_id(id))
}

/// The values of a row, in the order of the columns of [`VERSIONS`].
pub(super) fn values<'a>(id: &'a str, version: &'a DocumentVersion) -> Vec<Value<'a>> {
    vec![
        Value::document(version.document),
        Value::Text(id),
        Value::unsigned(version.number),
        Value::unsigned(version.original),
        Value::Integer(version.added),
        Value::Optional(version.ended),
        Value::Optional(version.modified),
        Value::Text(&version.media_type),
        Value::Text(&version.name),
        Value::Integer(checksum::version(id, version)),
    ]
}

/// The versions of an id, by time.
///
/// # Errors
/// Read errors, [`IndexError::Damaged`] for an invalid row.
pub(super) fn of_id(tables: Tables<'_>, id: &str) -> Result<Vec<VersionRow>, IndexError> {
    let sql = format!("{SELECT} {{keys}} ORDER BY doc");
    let rows = tables.rows_of(VERSIONS.name, &sql, Keys::Ids(&[id]), VersionRow::of)?;
    rows.iter().try_for_each(|row| row.verify(tables.name()))?;
    Ok(rows)
}

/// The versions of documents, unverified.
///
/// # Errors
/// Read errors.
pub(super) fn of_documents(
    tables: Tables<'_>,
    documents: &[i64],
) -> Result<Vec<VersionRow>, IndexError> {
    let sql = format!("{SELECT} {{keys}} ORDER BY doc");
    tables.rows_of(VERSIONS.name, &sql, Keys::Numbers("doc", documents), VersionRow::of)
}

/// At most `most` unverified versions of documents numbered above `after`, in ascending order.
///
/// # Errors
/// Read errors.
pub(super) fn page(
    tables: Tables<'_>,
    after: i64,
    most: i64,
) -> Result<Vec<VersionRow>, IndexError> {
    let sql = format!("{SELECT} doc > $1 ORDER BY doc LIMIT $2");
    let mut last = after;
    let mut rows = Vec::new();
    let values = [Value::Integer(after), Value::Integer(most)];
    tables.each(VERSIONS.name, &sql, &values, &mut |row| {
        last = row.later(0, last)?;
        rows.push(VersionRow::of(row)?);
        Ok(())
    })?;
    Ok(rows)
}
