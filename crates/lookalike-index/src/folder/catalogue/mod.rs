//! The catalogue: the SQLite database of the documents, and its connections. Segments are derived
//! from it and can be rebuilt.

pub(crate) mod connection;
pub(crate) mod document_numbers;
pub(crate) mod read_connection;
pub(crate) mod record_reader;
pub(crate) mod remove_rows;
pub(crate) mod schema;
pub(crate) mod side_tables;
pub(crate) mod state;
pub(crate) mod writer;
pub(crate) mod writer_lock;

use crate::checksum;
use crate::error::IndexError;
use crate::folder::catalogue::connection::Catalogue;
use crate::folder::catalogue::schema::SCHEMA;
use crate::folder::catalogue::state::CatalogueState;
use crate::folder::index_folder::IndexFolder;
use crate::folder::segments::segment::SegmentEntry;
use crate::folder::upkeep::reserve::LOG_PAGES;
use crate::folder::validation;
use crate::settings::IndexSettings;
use rusqlite::{Connection, OpenFlags, Row, params};
use std::path::Path;
use std::time::Duration;

/// `application_id` of the database: the letters `LkAl`.
const APPLICATION: u64 = 0x4c6b_416c;
/// `user_version` of the database.
const CATALOGUE_VERSION: u32 = 1;

/// Creates an empty catalogue.
pub(crate) fn create(place: &IndexFolder, settings: &IndexSettings) -> Result<(), IndexError> {
    let json = settings.to_json(&place.name)?;
    place.new_file(&place.catalogue())?;
    let make = || -> rusqlite::Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(place.catalogue(), flags)?;
        let schema = SCHEMA.join(";\n");
        connection.execute_batch(&format!(
            "PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL;
             PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             BEGIN; PRAGMA application_id = {APPLICATION};
             PRAGMA user_version = {CATALOGUE_VERSION}; {schema};
             INSERT INTO state VALUES(1, 0, 0, 0, 1, 0, 0, 0, 0);"
        ))?;
        let sum = checksum::content(0, json.as_bytes()).cast_signed();
        connection.execute("INSERT INTO settings VALUES(1, ?1, ?2)", params![json, sum])?;
        connection.execute_batch("COMMIT")
    };
    make().map_err(|error| place.database(error))
}

/// Opens the catalogue for writing. The version is not checked.
pub(crate) fn connect(place: &IndexFolder) -> Result<Connection, IndexError> {
    let opened = open(&place.catalogue(), OpenFlags::SQLITE_OPEN_READ_WRITE, 32 << 10);
    let mut connection = opened.map_err(|error| place.database(error))?;
    place.poll_in(&mut connection)?;
    Ok(connection)
}

/// Opens a connection with a cache of `kib` KiB.
pub(crate) fn open(path: &Path, flags: OpenFlags, kib: u32) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_NO_MUTEX | flags)?;
    validation::harden(&connection)?;
    connection.busy_timeout(Duration::from_secs(20))?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.execute_batch(&format!(
        "PRAGMA cache_size = -{kib}; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;
         PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = {LOG_PAGES};"
    ))?;
    // SQLite does not read the file when it opens it. This query fails if the file cannot be read.
    connection.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0))?;
    Ok(connection)
}

/// Checks that the database is a catalogue of this version.
///
/// # Errors
/// [`IndexError::NotAnIndex`] for a database of another program, [`IndexError::Version`] for
/// another version, [`IndexError::DamagedCatalogue`] for a version out of range, and errors of
/// SQLite.
pub(crate) fn check_version(catalogue: Catalogue<'_>) -> Result<(), IndexError> {
    let place = catalogue.place;
    if catalogue.number("PRAGMA application_id")? != APPLICATION {
        let why = "its catalog.sqlite is a database of another program";
        return Err(IndexError::not_an_index(&place.name, why));
    }
    let version = catalogue.number("PRAGMA user_version")?.cast_signed();
    let got = u32::try_from(version).map_err(|_| {
        place.damaged_catalogue(format!("its version is {version}, expected {CATALOGUE_VERSION}"))
    })?;
    if got == CATALOGUE_VERSION {
        return Ok(());
    }
    let index = place.name.clone();
    let expected = CATALOGUE_VERSION;
    Err(IndexError::Version { index, got, expected })
}

/// Reads the settings.
///
/// # Errors
/// [`IndexError::NotAnIndex`] for invalid settings, [`IndexError::Version`] for settings of another
/// version, [`IndexError::DamagedCatalogue`] for a wrong checksum, and errors of SQLite.
pub(crate) fn settings(catalogue: Catalogue<'_>) -> Result<IndexSettings, IndexError> {
    let place = catalogue.place;
    let (json, sum) = catalogue.run(|connection| {
        connection.query_row("SELECT json, checksum FROM settings", [], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
        })
    })?;
    if sum != checksum::content(0, json.as_bytes()) {
        return Err(place.damaged_catalogue("the checksum of its settings is wrong".to_owned()));
    }
    let settings = IndexSettings::from_json(&json, &place.name)?;
    settings.check_sketches(&place.name)?;
    Ok(settings)
}

/// The checked list of segments, by ascending document numbers.
///
/// # Errors
/// Errors of SQLite, [`IndexError::DamagedCatalogue`] for invalid rows.
pub(crate) fn segments(
    catalogue: Catalogue<'_>,
    head: &CatalogueState,
) -> Result<Vec<SegmentEntry>, IndexError> {
    let entries = catalogue.run(segment_rows)?;
    validation::check_segments(catalogue.place, &entries, head)?;
    Ok(entries)
}

fn segment_rows(connection: &Connection) -> rusqlite::Result<Vec<SegmentEntry>> {
    let mut statement = connection.prepare_cached(
        "SELECT name, first, last, level, dropped, checksum FROM segments ORDER BY first",
    )?;
    let rows = statement.query_map([], |row: &Row<'_>| {
        Ok(SegmentEntry {
            name: row.get(0)?,
            first: row.get(1)?,
            last: row.get(2)?,
            level: row.get(3)?,
            dropped: row.get::<_, i64>(4)?.cast_unsigned(),
            checksum: row.get::<_, i64>(5)?.cast_unsigned(),
        })
    })?;
    rows.collect()
}

/// Adds a segment to the list.
pub(crate) fn list_segment(connection: &Connection, entry: &SegmentEntry) -> rusqlite::Result<()> {
    let sql = "INSERT INTO segments VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
    connection.prepare_cached(sql)?.execute(params![
        entry.name,
        entry.first,
        entry.last,
        entry.level,
        entry.dropped.cast_signed(),
        entry.checksum.cast_signed(),
    ])?;
    Ok(())
}

/// Removes a segment from the list.
pub(crate) fn unlist_segment(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM segments WHERE name = ?1")?.execute([name])?;
    Ok(())
}

/// Returns the numbers of the documents from `first` to `last` that were removed by change
/// `changes` or an earlier one, ascending.
pub(crate) fn dead(
    connection: &Connection,
    (first, last): (u32, u32),
    changes: u64,
) -> rusqlite::Result<Vec<u32>> {
    // A row of `docs` takes precedence over a row of `dead`, so postings of existing documents
    // are kept.
    let sql = "SELECT doc FROM dead WHERE doc BETWEEN ?1 AND ?2 AND change <= ?3
        AND NOT EXISTS (SELECT 1 FROM docs WHERE docs.doc = dead.doc) ORDER BY doc";
    let mut statement = connection.prepare_cached(sql)?;
    let rows =
        statement.query_map(params![first, last, changes.cast_signed()], |row| row.get(0))?;
    rows.collect()
}

/// Removes the tombstones of the documents from `first` to `last`, up to change `changes`. The
/// caller has removed the postings of these documents.
pub(crate) fn remove_tombstones(
    connection: &Connection,
    (first, last): (u32, u32),
    changes: u64,
) -> rusqlite::Result<()> {
    let sql = "DELETE FROM dead WHERE doc BETWEEN ?1 AND ?2 AND change <= ?3";
    connection.prepare_cached(sql)?.execute(params![first, last, changes.cast_signed()])?;
    Ok(())
}
