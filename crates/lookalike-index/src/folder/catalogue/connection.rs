//! A connection to the catalogue.

use crate::error::IndexError;
use crate::folder::index_folder::IndexFolder;
use rusqlite::Connection;

/// A connection to the catalogue of a folder.
#[derive(Clone, Copy)]
pub(crate) struct Catalogue<'a> {
    pub(crate) place: &'a IndexFolder,
    pub(crate) connection: &'a Connection,
}

impl<'a> Catalogue<'a> {
    /// Runs statements, and converts their error.
    ///
    /// # Errors
    /// As [`IndexFolder::database`].
    pub(crate) fn run<T>(
        self,
        statements: impl FnOnce(&'a Connection) -> rusqlite::Result<T>,
    ) -> Result<T, IndexError> {
        statements(self.connection).map_err(|error| self.place.database(error))
    }

    /// The number that a statement returns.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn number(self, sql: &str) -> Result<u64, IndexError> {
        let number =
            self.run(|connection| connection.query_row(sql, [], |row| row.get::<_, i64>(0)));
        number.map(i64::cast_unsigned)
    }
}
