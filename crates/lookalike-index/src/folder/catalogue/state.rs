//! The row of `state`: counts and versions of an index.

use crate::error::IndexError;
use crate::folder::catalogue::connection::Catalogue;
use rusqlite::{Connection, params_from_iter};

/// Counts and versions of an index at one snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CatalogueState {
    /// Number of writes that changed documents.
    pub(crate) changes: u64,
    /// Number of changes of the list of segments.
    pub(crate) generation: u64,
    /// The greatest document number ever assigned.
    pub(crate) last: u32,
    /// Number of the next segment file.
    pub(crate) next_segment: u64,
    /// Number of documents.
    pub(crate) documents: u64,
    /// Number of documents without shingles.
    pub(crate) without_shingles: u64,
    /// Bytes of encoded sets.
    pub(crate) set_bytes: u64,
    /// Bytes of compressed texts.
    pub(crate) text_bytes: u64,
}

impl CatalogueState {
    /// Reads the row.
    ///
    /// # Errors
    /// Errors of SQLite, [`IndexError::DamagedCatalogue`] for invalid counts.
    pub(crate) fn read(catalogue: Catalogue<'_>) -> Result<Self, IndexError> {
        let head = catalogue.run(Self::row)?;
        if head.counts().iter().any(|count| *count > i64::MAX as u64) {
            return Err(catalogue
                .place
                .damaged_catalogue("table `state` has a negative count".to_owned()));
        }
        Ok(head)
    }

    fn counts(&self) -> [u64; 7] {
        [
            self.changes,
            self.generation,
            self.next_segment,
            self.documents,
            self.without_shingles,
            self.set_bytes,
            self.text_bytes,
        ]
    }

    fn row(connection: &Connection) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT changes, generation, last, next_segment, documents, without_shingles,
             set_bytes, text_bytes FROM state",
        )?;
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
            })
        })
    }

    /// Writes the row.
    pub(crate) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "UPDATE state SET changes = ?1, generation = ?2, next_segment = ?3, documents = ?4,
             without_shingles = ?5, set_bytes = ?6, text_bytes = ?7, last = ?8",
        )?;
        let numbers = self.counts().into_iter().chain([self.last.into()]);
        statement.execute(params_from_iter(numbers.map(u64::cast_signed)))?;
        Ok(())
    }
}
