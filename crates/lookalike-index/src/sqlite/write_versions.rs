//! Adds and removes versions of documents, with their originals.

use super::catalogue_state::CatalogueState;
use super::index_folder::IndexFolder;
use super::originals::Originals;
use super::remove_rows::remove_text;
use super::versions::{self, VersionRow};
use crate::entry::IndexEntry;
use crate::error::IndexError;
use crate::original::OriginalHash;
use crate::original_limits::original_of;
use rusqlite::{Connection, OptionalExtension};

/// What a document that is added replaces.
pub(super) enum Former {
    /// Nothing.
    None,
    /// A version with the same original, which goes on under the number of the new document.
    Same(VersionRow),
    /// A version with another original, which ends.
    Other(VersionRow),
}

/// An original on its way into the catalogue.
pub(super) struct NewVersion<'a> {
    pub(super) place: &'a IndexFolder,
    pub(super) connection: &'a Connection,
    pub(super) entry: &'a IndexEntry<'a>,
    sha256: OriginalHash,
    former: Former,
}

impl<'a> NewVersion<'a> {
    /// The version of `entry`, which replaces the document `replaced`.
    ///
    /// # Errors
    /// Errors of SQLite, [`IndexError::Damaged`] for the replaced version,
    /// [`IndexError::Document`] for an entry without an original.
    pub(super) fn new(
        place: &'a IndexFolder,
        connection: &'a Connection,
        entry: &'a IndexEntry<'a>,
        replaced: Option<u32>,
    ) -> Result<Self, IndexError> {
        let sha256 = original_of(entry)?.sha256;
        let row = match replaced {
            Some(number) => versions::of_document(place, connection, u64::from(number))?,
            None => None,
        };
        let former = match row {
            Some(row) if row.version.sha256 == sha256 => Former::Same(row),
            Some(row) => Former::Other(row),
            None => Former::None,
        };
        Ok(Self { place, connection, entry, sha256, former })
    }

    /// Whether the text of the replaced document stays, as that of a version.
    pub(super) fn keeps_former_text(&self) -> bool {
        matches!(self.former, Former::Other(_))
    }

    /// Stores it under the number of its document. `similar` is a document with a similar text.
    ///
    /// # Errors
    /// Errors of SQLite and of the compression.
    pub(super) fn store(self, document: u32, similar: Option<u32>) -> Result<(), IndexError> {
        let Self { place, connection, entry, sha256, former } = self;
        let failed = |error| place.database(error);
        let originals = Originals { place, connection };
        let document = u64::from(document);
        let (number, before) = match former {
            Former::Same(mut row) => {
                delete(connection, row.version.document).map_err(failed)?;
                row.version.document = document;
                row.version.describe(&original_of(entry)?);
                return row.write(connection).map_err(failed);
            }
            Former::Other(mut row) => {
                row.version.ended = Some(entry.added);
                row.write(connection).map_err(failed)?;
                (row.version.number + 1, Some(row.version.original))
            }
            Former::None => (1, None),
        };
        let similar = match (before, similar) {
            (None, Some(similar)) => original_number(connection, similar).map_err(failed)?,
            (before, _) => before,
        };
        let original = original_of(entry)?;
        let stored = match originals.number_of(&sha256)? {
            Some(stored) => stored,
            None => originals.insert(original.bytes, &sha256, similar)?,
        };
        let version = entry.version([number, document, stored], &original);
        VersionRow::new(entry.id, version).write(connection).map_err(failed)
    }
}

/// Removes all versions of the document with a number, their texts, and originals that nothing else
/// needs.
///
/// # Errors
/// Errors of SQLite. Damaged rows are removed as well.
pub(super) fn remove_all(
    place: &IndexFolder,
    connection: &Connection,
    head: &mut CatalogueState,
    document: u32,
) -> Result<(), IndexError> {
    let failed = |error| place.database(error);
    let rows = versions::with_document(connection, u64::from(document)).map_err(failed)?;
    let originals = Originals { place, connection };
    for VersionRow { version, .. } in &rows {
        delete(connection, version.document).map_err(failed)?;
        remove_text(connection, head, version.document as u32).map_err(failed)?;
    }
    // The latest first: it may be a difference from an earlier one.
    for VersionRow { version, .. } in rows.iter().rev() {
        originals.release(version.original)?;
    }
    Ok(())
}

fn delete(connection: &Connection, document: u64) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("DELETE FROM versions WHERE doc = ?1")?;
    statement.execute([document.cast_signed()]).map(drop)
}

/// The number of the original of a document.
fn original_number(connection: &Connection, document: u32) -> rusqlite::Result<Option<u64>> {
    let sql = "SELECT original FROM versions WHERE doc = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let number = statement.query_row([document], |row| row.get::<_, i64>(0)).optional()?;
    Ok(number.map(i64::cast_unsigned))
}
