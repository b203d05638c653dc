//! The row of `state`: counts and versions of an index.

use super::index_folder::IndexFolder;
use crate::error::IndexError;
use rusqlite::{Connection, params};

/// Counts and versions of an index at one snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CatalogueState {
    /// Number of writes that changed documents.
    pub(super) changes: u64,
    /// Number of changes of the list of segments.
    pub(super) generation: u64,
    /// The greatest document number ever assigned.
    pub(super) last: u32,
    /// Number of the next segment file.
    pub(super) next_segment: u64,
    /// Number of documents.
    pub(super) documents: u64,
    /// Number of documents without shingles.
    pub(super) without_shingles: u64,
    /// Bytes of encoded sets.
    pub(super) set_bytes: u64,
    /// Bytes of compressed texts.
    pub(super) text_bytes: u64,
    /// Documents up to this number were stored by version 1 and may have no checksums.
    pub(super) unchecked: u64,
}

impl CatalogueState {
    /// Reads the row.
    ///
    /// # Errors
    /// What SQLite says, [`IndexError::DamagedCatalogue`] for counts that cannot be.
    pub(super) fn read(place: &IndexFolder, connection: &Connection) -> Result<Self, IndexError> {
        let head = Self::row(place, connection).map_err(|error| place.database(error))?;
        let counts = [
            head.changes,
            head.generation,
            head.next_segment,
            head.documents,
            head.without_shingles,
            head.set_bytes,
            head.text_bytes,
            head.unchecked,
        ];
        if counts.iter().any(|count| *count > i64::MAX as u64) {
            return Err(place.damaged("table `state` has a negative count".to_owned()));
        }
        Ok(head)
    }

    fn row(place: &IndexFolder, connection: &Connection) -> rusqlite::Result<Self> {
        let sql = place.sql(
            "SELECT changes, generation, last, next_segment, documents, without_shingles,
             set_bytes, text_bytes, unchecked FROM state",
        );
        let mut statement = connection.prepare_cached(&sql)?;
        statement.query_row([], |row| {
            let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
            Ok(Self {
                changes: number(0)?,
                generation: number(1)?,
                last: row.get(2)?,
                next_segment: number(3)?,
                documents: number(4)?,
                without_shingles: number(5)?,
                set_bytes: number(6)?,
                text_bytes: number(7)?,
                // Version 1 has no such column: no document has checksums.
                unchecked: row
                    .get::<_, Option<i64>>(8)?
                    .map_or(u64::from(u32::MAX), i64::cast_unsigned),
            })
        })
    }

    /// Writes the row.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "UPDATE state SET changes = ?1, generation = ?2, last = ?3, next_segment = ?4,
             documents = ?5, without_shingles = ?6, set_bytes = ?7, text_bytes = ?8,
             unchecked = ?9",
        )?;
        let number = u64::cast_signed;
        statement.execute(params![
            number(self.changes),
            number(self.generation),
            self.last,
            number(self.next_segment),
            number(self.documents),
            number(self.without_shingles),
            number(self.set_bytes),
            number(self.text_bytes),
            number(self.unchecked),
        ])?;
        Ok(())
    }
}
