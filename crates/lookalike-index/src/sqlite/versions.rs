//! Versions of documents in the catalogue, the table `versions`.

use super::index_folder::IndexFolder;
use super::posting::id_key;
use crate::checksum;
use crate::entry::shortened_id;
use crate::error::IndexError;
use crate::original::{DocumentVersion, OriginalHash};
use rusqlite::{Connection, Row, params};

/// The columns of a version and of its original.
const COLUMNS: &str = "doc, id, version, versions.original, added, ended, modified, type, name,
    versions.checksum, sha256, bytes";

/// A row of `versions`.
#[derive(Debug, Clone)]
pub(super) struct VersionRow {
    pub(super) id: String,
    pub(super) version: DocumentVersion,
    /// Bytes of the hash of its original; `None` where the original is missing.
    hash_bytes: Option<usize>,
    checksum: i64,
}

impl VersionRow {
    pub(super) fn new(id: &str, version: DocumentVersion) -> Self {
        let hash_bytes = Some(version.sha256.len());
        Self { id: id.to_owned(), version, hash_bytes, checksum: 0 }
    }

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
        // The hash is missing where the original is; `read` of the original reports that. One of
        // another length is reported by `verify`, so that damaged rows can be removed.
        let sha256: Option<Vec<u8>> = row.get(10)?;
        let hash_bytes = sha256.as_ref().map(Vec::len);
        let version = DocumentVersion {
            document: number(0)?,
            number: number(2)?,
            original: number(3)?,
            added: row.get(4)?,
            ended: row.get(5)?,
            modified: row.get(6)?,
            media_type: row.get(7)?,
            name: row.get(8)?,
            sha256: sha256.and_then(|hash| OriginalHash::try_from(hash).ok()).unwrap_or_default(),
            bytes: row.get::<_, Option<i64>>(11)?.unwrap_or(0).cast_unsigned(),
        };
        Ok(Self { id: row.get(1)?, version, hash_bytes, checksum: row.get(9)? })
    }

    /// The checksum of its columns.
    fn computed_checksum(&self) -> i64 {
        checksum::version(&self.id, &self.version)
    }

    /// Checks that the row is as it was stored.
    ///
    /// # Errors
    /// [`IndexError::Damaged`].
    pub(super) fn verify(&self, place: &IndexFolder) -> Result<(), IndexError> {
        let expected = size_of::<OriginalHash>();
        let why = if self.checksum != self.computed_checksum() {
            "the checksum of its row is wrong".to_owned()
        } else if let Some(got) = self.hash_bytes.filter(|got| *got != expected) {
            format!("the SHA-256 of its original has {got} bytes, not {expected} bytes")
        } else {
            return Ok(());
        };
        let (number, id) = (self.version.number, shortened_id(&self.id));
        let what = format!("version {number} of document {id:?} of {}", place.name);
        Err(IndexError::Damaged { what, why })
    }

    /// Writes the row, in place of that of its document if there is one.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT OR REPLACE INTO versions VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
            ?11)";
        let version = &self.version;
        connection.prepare_cached(sql)?.execute(params![
            version.document.cast_signed(),
            key(&self.id),
            self.id,
            version.number.cast_signed(),
            version.original.cast_signed(),
            version.added,
            version.ended,
            version.modified,
            version.media_type,
            version.name,
            self.computed_checksum(),
        ])?;
        Ok(())
    }
}

/// What the versions of an id are found by.
fn key(id: &str) -> i64 {
    id_key(id.as_bytes()).cast_signed()
}

/// The versions of an id, by time.
///
/// # Errors
/// Errors of SQLite, [`IndexError::Damaged`] for an invalid row.
pub(super) fn of_id(
    place: &IndexFolder,
    connection: &Connection,
    id: &str,
) -> Result<Vec<VersionRow>, IndexError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM versions LEFT JOIN originals USING (original)
         WHERE id_key = ?1 AND id = ?2 ORDER BY doc"
    );
    let read = || -> rusqlite::Result<Vec<VersionRow>> {
        let mut statement = connection.prepare_cached(&sql)?;
        statement.query_map(params![key(id), id], VersionRow::of)?.collect()
    };
    verified(place, read())
}

/// All versions of the id that the version of a document has, by time, as they are: nothing is
/// verified.
pub(super) fn with_document(
    connection: &Connection,
    document: u64,
) -> rusqlite::Result<Vec<VersionRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM versions LEFT JOIN originals USING (original)
         WHERE (id_key, id) = (SELECT id_key, id FROM versions WHERE doc = ?1) ORDER BY doc"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map([document.cast_signed()], VersionRow::of)?.collect()
}

/// The version of a document.
///
/// # Errors
/// As [`of_id`].
pub(super) fn of_document(
    place: &IndexFolder,
    connection: &Connection,
    document: u64,
) -> Result<Option<VersionRow>, IndexError> {
    Ok(from(place, connection, document, document, 1)?.pop())
}

/// At most `most` versions whose documents have numbers from `from` to `to`, ascending.
///
/// # Errors
/// As [`of_id`].
pub(super) fn from(
    place: &IndexFolder,
    connection: &Connection,
    from: u64,
    to: u64,
    most: u32,
) -> Result<Vec<VersionRow>, IndexError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM versions LEFT JOIN originals USING (original)
         WHERE doc BETWEEN ?1 AND ?2 ORDER BY doc LIMIT ?3"
    );
    let read = || -> rusqlite::Result<Vec<VersionRow>> {
        let mut statement = connection.prepare_cached(&sql)?;
        let range = params![from.cast_signed(), to.cast_signed(), most];
        statement.query_map(range, VersionRow::of)?.collect()
    };
    let rows = verified(place, read())?;
    let mut last = from.cast_signed().saturating_sub(1);
    for row in &rows {
        last = place.later("versions", last, row.version.document.cast_signed())?;
    }
    Ok(rows)
}

fn verified(
    place: &IndexFolder,
    rows: rusqlite::Result<Vec<VersionRow>>,
) -> Result<Vec<VersionRow>, IndexError> {
    let rows = rows.map_err(|error| place.database(error))?;
    rows.iter().try_for_each(|row| row.verify(place))?;
    Ok(rows)
}
