//! The writing connection of an index.

use crate::error::IndexError;
use crate::folder::catalogue::connection::Catalogue;
use crate::folder::catalogue::state::CatalogueState;
use crate::folder::catalogue::writer_lock::WriterLock;
use crate::folder::index_folder::IndexFolder;
use crate::folder::segments::id_filter::IdFilter;
use crate::folder::upkeep::reserve::LOG_PAGES;
use rusqlite::Connection;
use std::io;
use std::time::Duration;

/// The writing connection and its state.
pub(crate) struct CatalogueWriter {
    pub(crate) connection: Connection,
    /// The row of `state`.
    pub(crate) head: CatalogueState,
    /// Released after the connection is closed.
    lock: WriterLock,
    /// Filter of ids; cleared when segments are rebuilt.
    pub(crate) id_filter: IdFilter,
}

impl CatalogueWriter {
    pub(crate) fn new(connection: Connection, head: CatalogueState, lock: WriterLock) -> Self {
        Self { connection, head, lock, id_filter: IdFilter::default() }
    }

    /// The connection, with the folder of the index.
    pub(crate) fn catalogue<'a>(&'a self, place: &'a IndexFolder) -> Catalogue<'a> {
        Catalogue { place, connection: &self.connection }
    }

    /// Writes the address of this process, a service, to the lock file.
    pub(crate) fn announce_service(&mut self, address: &str) -> io::Result<()> {
        self.lock.announce_service(address)
    }

    /// Checkpoints the log and truncates it.
    pub(crate) fn empty_log(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(Duration::from_millis(100))?;
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let result = self.connection.query_row(sql, [], |_| Ok(()));
        self.connection.busy_timeout(Duration::from_secs(20))?;
        result
    }

    /// Checkpoints the log if it exceeds its limit. SQLite also does this, unless it fails. Without
    /// space for a checkpoint, nothing may be added, because nothing could be removed afterwards.
    pub(crate) fn check_log(&self) -> rusqlite::Result<()> {
        let pages = |mode: &str| -> rusqlite::Result<i64> {
            let sql = format!("PRAGMA wal_checkpoint({mode})");
            let mut statement = self.connection.prepare_cached(&sql)?;
            statement.query_row([], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))
        };
        if pages("NOOP")? > i64::from(LOG_PAGES) {
            pages("PASSIVE")?;
        }
        Ok(())
    }

    /// Rolls back the transaction of a thread that panicked.
    pub(crate) fn roll_back_abandoned(&mut self, place: &IndexFolder) -> Result<(), IndexError> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        let undone = self.connection.execute_batch("ROLLBACK");
        undone.map_err(|error| place.database(error))?;
        // Segment files may have been created in the meantime; their names are not reused.
        let next_segment = self.head.next_segment;
        let head = CatalogueState::read(self.catalogue(place))?;
        self.head = CatalogueState { next_segment: next_segment.max(head.next_segment), ..head };
        Ok(())
    }
}
